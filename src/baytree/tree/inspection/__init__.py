"""Inspection of trees: node records, details, importances and drawings."""

from __future__ import annotations

from baytree.tree.inspection.node_records import draw, groups

__all__ = ["draw", "groups"]
