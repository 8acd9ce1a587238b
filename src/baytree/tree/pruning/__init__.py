"""Smaller trees from a grown one."""
