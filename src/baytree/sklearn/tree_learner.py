"""The learner behind scikit-learn's trees: sizes of nodes in rows or shares, weights of classes, pruning by impurity.

Cost-complexity pruning by impurity, as scikit-learn has it: the risk of a node is its share of the criterion.

A tree of this library as scikit-learn's: the same nodes in depth-first order, under its names.

`plot_tree`, `export_text`, `decision_path` and SHAP's explainer of trees read nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import ceil
from typing import Any, cast

import msgspec
import numpy as np
from sklearn.tree import DecisionTreeRegressor

from baytree.base.learner import FitResult
from baytree.data.encoding.table import Table, is_missing
from baytree.engine.partitions import LocalPartitions, Partitions
from baytree.param_validation import ClassWeights
from baytree.tree.learner import TreeLearner
from baytree.tree.model.arrays import SPREAD
from baytree.tree.model.traversal import depths, parents, preorder
from baytree.tree.model.tree import Tree
from baytree.tree.policy.policy import Policy, Stopping
from baytree.tree.pruning.cost_complexity import path, prune_to, with_complexity


@dataclass(frozen=True)
class Sizes:
    """How large nodes must be: numbers of rows, or shares of those that are learnt from, and a share of their weight."""

    split: float
    leaf: float
    weight_share: float

    def within(self, stopping: Stopping, rows: Partitions) -> Stopping:
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

    def learn(self, rows: Partitions) -> FitResult:
        """The tree of these rows."""
        weighed = self._weighed(rows)
        policy = msgspec.structs.replace(self.policy, stopping=self.sizes.within(self.policy.stopping, weighed))
        learnt = TreeLearner(policy).learn(weighed)
        tree = with_majorities(cast(Tree, learnt.model), gaps_of(rows.gather()))
        return msgspec.structs.replace(learnt, model=prune_by_impurity(tree, self.ccp_alpha))

    def _weighed(self, rows: Partitions) -> Partitions:
        if self.class_weight == ClassWeights():
            return rows
        table = rows.gather()
        counted = np.bincount(table.label, minlength=table.n_classes).astype(np.float64)
        factor = self.class_weight.of(table.schema.classes, counted)[table.label]
        return LocalPartitions(
            msgspec.structs.replace(table, weight=table.weight * factor, is_unweighted=False), rows.n_jobs
        )


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


def impurity_path(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """The penalties at which splits go, rising from 0, and the impurity of the leaves that are left at each."""
    found = path(_by_impurity(tree))
    alphas, impurities = (found.cp * found.root)[::-1], (found.risk * (found.root or 1.0))[::-1]
    if len(alphas) == 0 or alphas[0] > 0:
        alphas, impurities = np.append(0.0, alphas), np.append(_leaves_impurity(tree), impurities)
    return alphas, impurities


def prune_by_impurity(tree: Tree, alpha: float) -> Tree:
    """The tree without the splits that are worth no more than a penalty per leaf."""
    if alpha <= 0:
        return tree
    valued = _by_impurity(tree)
    return prune_to(tree, valued.complexity * float(valued.risk[0]) > alpha)


def _by_impurity(tree: Tree) -> Tree:
    return with_complexity(msgspec.structs.replace(tree, risk=tree.impurity * tree.weight / tree.weight[0]))


def _leaves_impurity(tree: Tree) -> float:
    return float((tree.impurity * tree.weight)[tree.column < 0].sum() / tree.weight[0])


_LEAF, _UNUSED = -1, -2  # of children, and of columns and cuts


def places_in_order(tree: Tree) -> np.ndarray:
    """int64 [n_nodes]: the place of each node in depth-first order."""
    place = np.empty(len(tree), np.int64)
    place[np.fromiter(preorder(tree), np.int64, len(tree))] = np.arange(len(tree))
    return place


def is_of_cuts(tree: Tree) -> bool:
    """Whether every test is one cut with two branches, which is all that scikit-learn's arrays can say."""
    is_cut = (tree.branches == 2) & (tree.levels == 0) & (tree.missing != SPREAD)
    return bool(is_cut[tree.column >= 0].all())


def sklearn_tree(tree: Tree, n_features: int) -> Any:
    """scikit-learn's own `Tree` with these nodes."""
    if not is_of_cuts(tree):
        raise AttributeError(
            "tree_ has scikit-learn's arrays, which know cuts of numbers only, and this tree tests levels; use nodes(), "
            "rules() or model_"
        )
    order, place = np.fromiter(preorder(tree), np.int64, len(tree)), places_in_order(tree)
    column, inner = tree.column[order], tree.column[order] >= 0
    kind, dtype = _kind_and_dtype()
    nodes = np.zeros(len(tree), dtype)
    nodes["left_child"] = np.where(inner, place[tree.first[order]], _LEAF)
    nodes["right_child"] = np.where(inner, place[np.minimum(tree.first[order] + 1, len(tree) - 1)], _LEAF)
    nodes["feature"] = np.where(inner, column, _UNUSED)
    nodes["threshold"] = np.where(inner, tree.cut[order], float(_UNUSED))
    nodes["impurity"] = tree.impurity[order]
    nodes["n_node_samples"] = tree.rows[order]
    nodes["weighted_n_node_samples"] = tree.weight[order]
    nodes["missing_go_to_left"] = inner & (tree.missing[order] == 0)
    made = kind(n_features, np.array([max(tree.n_classes, 1)], np.intp), 1)
    values = np.ascontiguousarray(tree.value[order][:, None, :])
    made.__setstate__({"max_depth": int(depths(tree).max()), "node_count": len(tree), "nodes": nodes, "values": values})
    return made


@cache
def _kind_and_dtype() -> tuple[type, np.dtype]:
    """The class of scikit-learn's `tree_`, and the type of its nodes, as a fitted tree has them."""
    fitted = DecisionTreeRegressor().fit([[0.0]], [0.0]).tree_
    return type(fitted), fitted.__getstate__()["nodes"].dtype


def ways(tree: Tree) -> Any:
    """Which nodes lie on the way to each, in depth-first order: a sparse matrix [n_nodes, n_nodes] of 1."""
    from scipy.sparse import csr_matrix

    place, above = places_in_order(tree), parents(tree)
    order = np.argsort(place)
    on_the_way: list[list[int]] = [[]] * len(tree)
    for node in order.tolist():
        mine = [] if node == 0 else on_the_way[place[above[node]]]
        on_the_way[place[node]] = [*mine, int(place[node])]
    ends = np.concatenate([[0], np.cumsum([len(each) for each in on_the_way])])
    indices = np.array([node for each in on_the_way for node in each], np.int64)
    return csr_matrix((np.ones(len(indices), np.int64), indices, ends), shape=(len(tree), len(tree)))
