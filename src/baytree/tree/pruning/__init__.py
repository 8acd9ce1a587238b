"""Pruning: smaller trees, or averages of them, from a grown tree."""

from __future__ import annotations

from baytree.tree.pruning.cost_complexity import path, prune_to, with_complexity
from baytree.tree.pruning.pessimistic_error import Z_TABLE, pessimism

__all__ = ["Z_TABLE", "path", "pessimism", "prune_to", "with_complexity"]
