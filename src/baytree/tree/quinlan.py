"""What the classifiers of Quinlan's family share: how a fitted tree is read."""

from __future__ import annotations

from typing import Any, Self

import msgspec
import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from baytree import labels
from baytree.estimator import Classifier
from baytree.table import Table
from baytree.tree.mixture import leaves
from baytree.tree.nodes import nodes
from baytree.tree.structure import Tree, depths, importances
from baytree.tree.views import TreeReading

_MODERATE = 2.0**40  # weights within a factor of this around 1 are taken as they are


class QuinlanClassifier(TreeReading, Classifier):
    """A classifier whose model is a multiway tree with fractional cases."""

    _accepts_infinite = True

    @property
    def tree_(self) -> Tree:
        """The fitted tree as flat arrays."""
        check_is_fitted(self, "model_")
        return self.model_.tree

    @property
    def n_nodes_(self) -> int:
        """The number of nodes, leaves included."""
        return len(self.tree_)

    @property
    def n_leaves_(self) -> int:
        """The number of leaves, those without training rows included."""
        return self.tree_.n_leaves

    @property
    def depth_(self) -> int:
        """The number of tests on the longest path."""
        return int(depths(self.tree_).max())

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of each column in the information gained."""
        return importances(self.tree_, len(self.schema_))

    def nodes(self) -> list[dict[str, Any]]:
        """One dict per node, depth first."""
        return nodes(self.tree_, self.schema_)

    def apply(self, X: Any) -> np.ndarray:
        """The leaf of each row; where a value is missing, along the branch with the largest share."""
        return leaves(self.tree_, self._encoded(X))

    def _scaled(self, table: Table) -> Table:
        """The table with its weights brought near 1 if they are extreme: their sums must neither overflow nor vanish."""
        largest = float(table.weight.max())
        if 1 / _MODERATE <= largest <= _MODERATE:
            return table
        return msgspec.structs.replace(table, weight=np.ldexp(table.weight, -int(np.frexp(largest)[1])))

    def _labelled(self, X: Any, y: Any) -> Table:
        """Rows with labels, encoded by the schema of the fit."""
        label = self._split(X, y)[1]
        table = self._encoded(X.drop(columns=y) if isinstance(y, str) else X)
        return msgspec.structs.replace(table, label=labels.recode(label, self.schema_.target))

    def _copy(self, changes: dict[str, Any]) -> Self:
        """A fitted estimator of its own with the same model."""
        check_is_fitted(self, "model_")
        copy = clone(self).set_params(**changes)
        for name, value in vars(self).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(copy, name, value)
        return copy
