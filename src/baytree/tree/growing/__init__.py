"""Tree/growing/__init__.py."""
