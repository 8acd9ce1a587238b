"""Tree/policy/__init__.py."""
