"""Parallel/__init__.py."""
