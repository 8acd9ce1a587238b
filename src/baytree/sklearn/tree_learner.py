"""Learner of scikit-learn's trees: node sizes in rows or fractions, class weights, pruning by impurity.

Cost-complexity pruning uses the impurity of a node as its risk, as scikit-learn does. `sklearn_tree` converts a tree to
scikit-learn's own arrays, nodes in depth-first order; `plot_tree`, `export_text`, `decision_path` and SHAP's TreeExplainer
read nothing else.
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
    """Minimum node sizes: numbers of rows, or fractions of the training rows, and a fraction of their weight."""

    split: float
    leaf: float
    weight_share: float

    def within(self, stopping: Stopping, rows: Partitions) -> Stopping:
        """Stopping rule for these rows."""
        leaf = number_of_rows("min_samples_leaf", self.leaf, 1, rows.n_rows)
        split = max(number_of_rows("min_samples_split", self.split, 2, rows.n_rows), 2 * leaf)
        if not self.weight_share:
            return msgspec.structs.replace(stopping, min_split=split, min_leaf=leaf, counts_rows=True)
        table = rows.gather()
        if leaf > 1 and not table.is_unweighted:
            raise ValueError("min_weight_fraction_leaf with min_samples_leaf above 1 and sample weights is not supported")
        min_weight = max(leaf if leaf > 1 else 0.0, self.weight_share * float(table.weight.sum()))
        return msgspec.structs.replace(stopping, min_split=0.0, min_leaf=min_weight)


@dataclass(frozen=True)
class ImpurityTree:
    """Tree learner with class weights and pruning by impurity."""

    policy: Policy
    sizes: Sizes
    class_weight: ClassWeights
    ccp_alpha: float

    def learn(self, rows: Partitions) -> FitResult:
        """Grow and prune a tree on these rows."""
        weighed = self._weighed(rows)
        policy = msgspec.structs.replace(self.policy, stopping=self.sizes.within(self.policy.stopping, weighed))
        result = TreeLearner(policy).learn(weighed)
        tree = with_majorities(cast(Tree, result.model), gaps_of(rows.gather()))
        return msgspec.structs.replace(result, model=prune_by_impurity(tree, self.ccp_alpha))

    def _weighed(self, rows: Partitions) -> Partitions:
        if self.class_weight == ClassWeights():
            return rows
        table = rows.gather()
        class_counts = np.bincount(table.label, minlength=table.n_classes).astype(np.float64)
        factor = self.class_weight.of(table.schema.classes, class_counts)[table.label]
        return LocalPartitions(
            msgspec.structs.replace(table, weight=table.weight * factor, is_unweighted=False), rows.n_jobs
        )


def with_majorities(tree: Tree, gaps: np.ndarray) -> Tree:
    """Tree that sends missing values, in columns without any in training, to the larger branch (the second if equal).

    `gaps`: which columns have missing values in training. bool [n_columns]
    """
    inner = (tree.column >= 0) & ~gaps[tree.column]
    second = np.minimum(tree.first + 1, len(tree) - 1)
    side = np.where(tree.rows[tree.first] > tree.rows[second], 0, 1)
    return msgspec.structs.replace(tree, missing=np.where(inner, side, tree.missing).astype(np.int32))


def gaps_of(table: Table) -> np.ndarray:
    """Which columns have a missing value in some row. bool [n_columns]"""
    return np.array([is_missing(values).any() for values in table.values], bool)


def number_of_rows(name: str, value: Any, minimum: int, n_rows: int) -> int:
    """A number of rows, or a fraction of them, as a number; other values raise ValueError."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    is_fraction = isinstance(value, float | np.floating) and 0 < value <= 1
    if not is_fraction and not (is_whole and value >= minimum):
        ranges = f"an int in the range [{minimum}, inf) or a float in the range (0.0, 1.0]"
        raise ValueError(f"The '{name}' parameter must be {ranges}. Got {value!r} instead.")
    return int(value) if is_whole else max(ceil(float(value) * n_rows), minimum)


def impurity_path(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Penalties at which splits are pruned, ascending from 0, and the total impurity of the remaining leaves."""
    pruning_path = path(_by_impurity(tree))
    alphas, impurities = (pruning_path.cp * pruning_path.root)[::-1], (pruning_path.risk * (pruning_path.root or 1.0))[::-1]
    if len(alphas) == 0 or alphas[0] > 0:
        alphas, impurities = np.append(0.0, alphas), np.append(_leaves_impurity(tree), impurities)
    return alphas, impurities


def prune_by_impurity(tree: Tree, alpha: float) -> Tree:
    """Remove splits that are worth no more than the penalty per leaf."""
    if alpha <= 0:
        return tree
    valued = _by_impurity(tree)
    return prune_to(tree, valued.complexity * float(valued.risk[0]) > alpha)


def _by_impurity(tree: Tree) -> Tree:
    return with_complexity(msgspec.structs.replace(tree, risk=tree.impurity * tree.weight / tree.weight[0]))


def _leaves_impurity(tree: Tree) -> float:
    return float((tree.impurity * tree.weight)[tree.column < 0].sum() / tree.weight[0])


_LEAF, _UNUSED = -1, -2  # scikit-learn's codes: child of a leaf; column and threshold of a leaf


def places_in_order(tree: Tree) -> np.ndarray:
    """Position of each node in depth-first order. int64 [n_nodes]"""
    position = np.empty(len(tree), np.int64)
    position[np.fromiter(preorder(tree), np.int64, len(tree))] = np.arange(len(tree))
    return position


def is_of_cuts(tree: Tree) -> bool:
    """Whether every test is a threshold with two branches; scikit-learn's arrays can represent nothing else."""
    is_cut = (tree.branches == 2) & (tree.levels == 0) & (tree.missing != SPREAD)
    return bool(is_cut[tree.column >= 0].all())


def sklearn_tree(tree: Tree, n_features: int) -> Any:
    """scikit-learn's own `Tree` with the same nodes."""
    if not is_of_cuts(tree):
        raise AttributeError(
            "tree_ has scikit-learn's arrays, which only represent numeric thresholds, and this tree tests levels; use "
            "nodes(), rules() or model_"
        )
    order, position = np.fromiter(preorder(tree), np.int64, len(tree)), places_in_order(tree)
    column, inner = tree.column[order], tree.column[order] >= 0
    kind, dtype = _kind_and_dtype()
    nodes = np.zeros(len(tree), dtype)
    nodes["left_child"] = np.where(inner, position[tree.first[order]], _LEAF)
    nodes["right_child"] = np.where(inner, position[np.minimum(tree.first[order] + 1, len(tree) - 1)], _LEAF)
    nodes["feature"] = np.where(inner, column, _UNUSED)
    nodes["threshold"] = np.where(inner, tree.cut[order], float(_UNUSED))
    nodes["impurity"] = tree.impurity[order]
    nodes["n_node_samples"] = tree.rows[order]
    nodes["weighted_n_node_samples"] = tree.weight[order]
    nodes["missing_go_to_left"] = inner & (tree.missing[order] == 0)
    converted = kind(n_features, np.array([max(tree.n_classes, 1)], np.intp), 1)
    values = np.ascontiguousarray(tree.value[order][:, None, :])
    converted.__setstate__({"max_depth": int(depths(tree).max()), "node_count": len(tree), "nodes": nodes, "values": values})
    return converted


@cache
def _kind_and_dtype() -> tuple[type, np.dtype]:
    """Class of scikit-learn's `tree_`, and dtype of its nodes, read from a fitted tree."""
    fitted = DecisionTreeRegressor().fit([[0.0]], [0.0]).tree_
    return type(fitted), fitted.__getstate__()["nodes"].dtype


def ways(tree: Tree) -> Any:
    """Indicator of the nodes on the path to each node, in depth-first order. Sparse int64 [n_nodes, n_nodes]"""
    from scipy.sparse import csr_matrix

    position, above = places_in_order(tree), parents(tree)
    order = np.argsort(position)
    paths: list[list[int]] = [[]] * len(tree)
    for node in order.tolist():
        path_above = [] if node == 0 else paths[position[above[node]]]
        paths[position[node]] = [*path_above, int(position[node])]
    ends = np.concatenate([[0], np.cumsum([len(each) for each in paths])])
    indices = np.array([node for each in paths for node in each], np.int64)
    return csr_matrix((np.ones(len(indices), np.int64), indices, ends), shape=(len(tree), len(tree)))
