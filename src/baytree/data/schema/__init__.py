"""Data/schema/__init__.py."""
