"""Pruning: smaller trees, or averages of them, from a grown tree."""
