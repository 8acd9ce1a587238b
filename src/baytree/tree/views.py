"""Reading a tree: what every tree estimator can tell of what it has learnt.

Each method is one call of a function that reads (tree, schema); the functions live in rooms of their own.
"""

from __future__ import annotations

from typing import Any

from baytree.table import Schema
from baytree.tree import rules as rule_list
from baytree.tree import text
from baytree.tree.bins import Bins
from baytree.tree.structure import Tree


class TreeReading:
    """The readings of a fitted tree. The estimator's `model_` holds a `tree`, and `bins` where numbers were coded."""

    model_: Any
    schema_: Schema
    tree_: Tree

    def rules(self) -> list[rule_list.Rule]:
        """One IF–THEN rule for each leaf, with its support and probability."""
        return rule_list.rules(self.tree_, self.schema_, self._bins())

    def export_text(self, max_depth: int | None = None, max_levels: int | None = 12) -> str:
        """The tree as indented text."""
        return text.export_text(self.tree_, self.schema_, self._bins(), max_depth=max_depth, max_levels=max_levels)

    def _bins(self) -> Bins | None:
        return getattr(self.model_, "bins", None)
