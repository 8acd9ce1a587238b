"""What every fitted tree estimator shows: its nodes, sizes, importances, and smaller versions of itself."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from baytree import settings as given
from baytree.estimators.tree_views import TreeReading
from baytree.learner import Learner
from baytree.table.schema import Schema
from baytree.tree.grow.costs import Weighing
from baytree.tree.learner import refuse_text
from baytree.tree.model import routing as reading
from baytree.tree.model.chaid_model import ChaidModel
from baytree.tree.model.structure import Tree, depths, importances
from baytree.tree.prune import cost_complexity as pruning
from baytree.tree.view.importance import ImportanceTable, importance_table
from baytree.tree.view.nodes import nodes


class TreeFace(TreeReading):
    """The fitted tree, read in many ways. Mixed into the tree estimators."""

    _accepts_infinite = True
    model_: Any
    schema_: Schema

    @property
    def tree_(self) -> Tree:
        """The tree as flat arrays. Where levels were merged its tests read codes: of a numeric column those of its bins."""
        check_is_fitted(self, "model_")
        return self.model_.tree if isinstance(self.model_, ChaidModel) else self.model_

    @property
    def n_nodes_(self) -> int:
        """The number of nodes, leaves included."""
        return len(self.tree_)

    @property
    def n_leaves_(self) -> int:
        """The number of leaves."""
        return self.tree_.n_leaves

    @property
    def depth_(self) -> int:
        """The number of tests on the longest way from the root to a leaf."""
        return int(depths(self.tree_).max())

    @property
    def feature_importances_(self) -> np.ndarray:
        """What each column's tests gained of the criterion, as shares of the whole: [n_columns]."""
        return importances(self.tree_, len(self.schema_))

    def importances(self) -> ImportanceTable:
        """The same as a table, the most important column first: gains of its tests and as a substitute, tests and weight."""
        return importance_table(self.tree_, self.schema_)

    def nodes(self) -> list[dict[str, Any]]:
        """One dict per node, depth first, in the words of the table; the groups of a binned column are its bins in words."""
        bins = self._bins()
        return nodes(self.tree_, self.schema_ if bins is None else bins.schema(self.schema_))

    def apply(self, X: Any) -> np.ndarray:
        """The id of the node where each row comes to rest: [n_rows]."""
        check_is_fitted(self, "model_")
        table = self._encoded(X)
        return self.model_.leaves(table) if isinstance(self.model_, ChaidModel) else reading.leaves(self.model_, table)

    def cost_complexity_path(self, X: Any = None, y: Any = None) -> pruning.Path:
        """The nested trees of cost-complexity pruning; with rows, of the tree that they grow."""
        if X is None:
            return pruning.path(self.tree_)
        from sklearn.base import clone

        return clone(self).fit(X, y).cost_complexity_path()

    def _learner(self, schema: Schema, **for_rows: Any) -> Learner:
        refuse_text(schema)
        return self._algorithm(schema, **for_rows)

    def _algorithm(self, schema: Schema) -> Learner:
        """The parameters, checked, as a learner of trees."""
        raise NotImplementedError(f"{type(self).__name__} must say how it grows")

    def prune(self, how: str = "cost_complexity", *args: Any, **options: Any) -> Self:
        """A new estimator with a smaller tree: see `baytree.tree.prune.PRUNERS`."""
        return _pruned(self, how, *args, **options)

    def snip(self, node_id: int) -> Self:
        """A new estimator in which this node is a leaf; `undo()` gives back the one before."""
        return _pruned(self, "snip", node_id)

    def undo(self) -> Self:
        """The estimator before the last `snip` or `prune`."""
        before = getattr(self, "_before", None)
        if before is None:
            raise ValueError("nothing has been pruned, so there is nothing to undo")
        return before


def weighing_of(priors: Any, costs: Any, classes: Sequence[Any]) -> Weighing:
    """What the classes weigh: probabilities that sum to 1, and the costs of mistakes."""
    shares = given.priors("priors", priors, classes)
    if shares is not None and abs(shares.amounts.sum() - 1) > 1e-6:
        raise ValueError(f"priors={priors!r}: give probabilities that sum to 1")
    return Weighing(shares, given.costs(costs, classes))


def _pruned(estimator: TreeFace, how: str, *args: Any, **options: Any) -> Any:
    if how not in pruning.PRUNERS:
        raise ValueError(f"how={how!r}: give one of {', '.join(map(repr, pruning.PRUNERS))}")
    smaller = copy.copy(estimator)
    tree = pruning.PRUNERS[how](estimator.tree_, *args, **options)
    smaller.model_ = ChaidModel(tree, estimator.model_.bins) if isinstance(estimator.model_, ChaidModel) else tree
    smaller._before = estimator
    return smaller
