"""What the classifiers of Quinlan's family share beyond the face of all trees."""

from __future__ import annotations

import msgspec

from baytree.estimators.base import Classifier
from baytree.estimators.tree.face import TreeFace
from baytree.given import FrameLike, TargetLike
from baytree.table import labels
from baytree.table.sample import labelled
from baytree.table.table import Table


class QuinlanClassifier(TreeFace, Classifier):
    """A classifier whose model is a multiway tree with fractional cases."""

    def _labelled(self, X: FrameLike, y: TargetLike) -> Table:
        """Rows with labels, encoded by the schema of the fit."""
        table = self._encoded(X)
        label = labelled(X, y, self._labels, type(self).__name__)[1]
        return msgspec.structs.replace(table, label=labels.recode(label, self.schema_.target))
