"""Cross-validation folds: as users request them (`cv=`, `splitters.py`), or by a hash of the rows' contents
(`content_folds.py`).
"""
