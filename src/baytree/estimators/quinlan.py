"""What the classifiers of Quinlan's family share beyond the face of all trees."""

from __future__ import annotations

import copy
from typing import Any, Self

import msgspec
from sklearn.utils.validation import check_is_fitted

from baytree.estimators.base import Classifier
from baytree.estimators.tree_face import TreeFace
from baytree.table import labels
from baytree.table.table import Table


class QuinlanClassifier(TreeFace, Classifier):
    """A classifier whose model is a multiway tree with fractional cases."""

    _before: Any

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
