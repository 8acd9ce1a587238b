"""Conversion of fitted scikit-learn models to baytree models: parameters are copied, nothing is refitted."""
