"""Reading a tree: what every tree estimator can tell of what it has learnt.

Each method is one call of a function that reads (tree, schema); the functions live in rooms of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree.table import Schema
from baytree.tree import nodes as node_list
from baytree.tree import rules as rule_list
from baytree.tree import text
from baytree.tree.bins import Bins
from baytree.tree.structure import Tree, depths, importances

export_text = text.export_text


class TreeReading:
    """The readings of a fitted tree. The estimator's `model_` holds a `tree`, and `bins` where numbers were coded."""

    model_: Any
    schema_: Schema

    @property
    def tree_(self) -> Tree:
        """The tree as flat arrays."""
        return self._fitted().tree

    @property
    def n_nodes_(self) -> int:
        """The number of nodes."""
        return len(self.tree_)

    @property
    def n_leaves_(self) -> int:
        """The number of leaves."""
        return self.tree_.n_leaves

    @property
    def depth_(self) -> int:
        """The largest number of tests on a way to a leaf."""
        return int(depths(self.tree_).max())

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of each column that was given in what the splits gain."""
        share = importances(self.tree_, len(self.schema_.columns))
        by_name = dict(zip(self.schema_.names, share, strict=True))
        return np.array([by_name.get(name, 0.0) for name in self.schema_.inputs or self.schema_.names])

    def nodes(self) -> list[dict[str, Any]]:
        """One dict per node, depth first."""
        bins = self._bins()
        return node_list.nodes(self.tree_, bins.schema(self.schema_) if bins else self.schema_)

    def rules(self) -> list[rule_list.Rule]:
        """One IF–THEN rule for each leaf, with its support and probability."""
        return rule_list.rules(self.tree_, self.schema_, self._bins())

    def export_text(self, max_depth: int | None = None, max_levels: int | None = 12) -> str:
        """The tree as indented text."""
        return text.export_text(self.tree_, self.schema_, self._bins(), max_depth=max_depth, max_levels=max_levels)

    def apply(self, X: Any) -> np.ndarray:
        """The id of the leaf of each row."""
        return self._fitted().leaves(self._encoded(X))

    def _fitted(self) -> Any:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "model_")
        return self.model_

    def _bins(self) -> Bins | None:
        return getattr(self._fitted(), "bins", None)
