"""The learner behind scikit-learn's trees: sizes of nodes in rows or shares, weights of classes, pruning by impurity."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, cast

import msgspec
import numpy as np

from baytree.engine.parts import InMemory, Parts
from baytree.learner import Learnt
from baytree.settings import ClassWeights
from baytree.sklearn.impurity_pruning import prune_by_impurity
from baytree.table.table import Table, is_missing
from baytree.tree.grow.policy import Policy, Stopping
from baytree.tree.learner import TreeLearner
from baytree.tree.model.structure import Tree


@dataclass(frozen=True)
class Sizes:
    """How large nodes must be: numbers of rows, or shares of those that are learnt from, and a share of their weight."""

    split: float
    leaf: float
    weight_share: float

    def within(self, stopping: Stopping, rows: Parts) -> Stopping:
        """The rule of stopping for these rows."""
        leaf = number_of_rows("min_samples_leaf", self.leaf, 1, rows.n_rows)
        split = max(number_of_rows("min_samples_split", self.split, 2, rows.n_rows), 2 * leaf)
        if not self.weight_share:
            return msgspec.structs.replace(stopping, min_split=split, min_leaf=leaf, counts_rows=True)
        table = rows.gather()
        if leaf > 1 and not table.is_unweighted:
            raise ValueError("min_weight_fraction_leaf with min_samples_leaf above 1 and sample weights is not supported")
        least = max(leaf if leaf > 1 else 0.0, self.weight_share * float(table.weight.sum()))
        return msgspec.structs.replace(stopping, min_split=0.0, min_leaf=least)


@dataclass(frozen=True)
class ImpurityTree:
    """A learner of trees whose rows count by their class, and which is pruned by impurity."""

    policy: Policy
    sizes: Sizes
    class_weight: ClassWeights
    ccp_alpha: float

    def learn(self, rows: Parts) -> Learnt:
        """The tree of these rows."""
        weighed = self._weighed(rows)
        policy = msgspec.structs.replace(self.policy, stopping=self.sizes.within(self.policy.stopping, weighed))
        learnt = TreeLearner(policy).learn(weighed)
        tree = with_majorities(cast(Tree, learnt.model), gaps_of(rows.gather()))
        return msgspec.structs.replace(learnt, model=prune_by_impurity(tree, self.ccp_alpha))

    def _weighed(self, rows: Parts) -> Parts:
        if self.class_weight == ClassWeights():
            return rows
        table = rows.gather()
        counted = np.bincount(table.label, minlength=table.n_classes).astype(np.float64)
        factor = self.class_weight.of(table.schema.classes, counted)[table.label]
        return InMemory(msgspec.structs.replace(table, weight=table.weight * factor, is_unweighted=False), rows.n_jobs)


def with_majorities(tree: Tree, gaps: np.ndarray) -> Tree:
    """The tree in which values that miss for the first time go where more rows went, to the second branch on equality.

    `gaps` tells which columns missed some in training. bool [n_columns]
    """
    inner = (tree.column >= 0) & ~gaps[tree.column]
    second = np.minimum(tree.first + 1, len(tree) - 1)
    side = np.where(tree.rows[tree.first] > tree.rows[second], 0, 1)
    return msgspec.structs.replace(tree, missing=np.where(inner, side, tree.missing).astype(np.int32))


def gaps_of(table: Table) -> np.ndarray:
    """Which columns miss a value in some row. bool [n_columns]"""
    return np.array([is_missing(values).any() for values in table.values], bool)


def number_of_rows(name: str, value: Any, least: int, n_rows: int) -> int:
    """A number of rows, or a share of them, as a number."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    is_share = isinstance(value, float | np.floating) and 0 < value <= 1
    if not is_share and not (is_whole and value >= least):
        ranges = f"an int in the range [{least}, inf) or a float in the range (0.0, 1.0]"
        raise ValueError(f"The '{name}' parameter must be {ranges}. Got {value!r} instead.")
    return int(value) if is_whole else max(ceil(float(value) * n_rows), least)
