"""What the classifiers of Quinlan's family share: moderate weights, and pruning of a fitted tree by errors."""

from __future__ import annotations

import copy
from typing import Any, Self

import msgspec
import numpy as np
from sklearn.utils.validation import check_is_fitted

from baytree import labels
from baytree.estimator import Classifier
from baytree.table import Table
from baytree.tree.face import TreeFace

_MODERATE = 2.0**40  # weights within a factor of this around 1 are taken as they are


class QuinlanClassifier(TreeFace, Classifier):
    """A classifier whose model is a multiway tree with fractional cases."""

    def _scaled(self, table: Table) -> Table:
        """The table with its weights brought near 1 if they are extreme: their sums must neither overflow nor vanish."""
        largest = float(table.weight.max())
        if 1 / _MODERATE <= largest <= _MODERATE:
            return table
        return msgspec.structs.replace(table, weight=np.ldexp(table.weight, -int(np.frexp(largest)[1])))

    def _labelled(self, X: Any, y: Any) -> Table:
        """Rows with labels, encoded by the schema of the fit."""
        check_is_fitted(self, "model_")
        label = self._split(X, y)[1]
        table = self._encoded(X)
        return msgspec.structs.replace(table, label=labels.recode(label, self.schema_.target))

    def _with_tree(self, tree: Any, changes: dict[str, Any]) -> Self:
        """The same estimator with another tree and other parameters; `undo` leads back here."""
        other = copy.copy(self).set_params(**changes)
        other.model_, other._before = tree, self
        return other
