"""Constraints on trees: monotone predictions, and warnings of columns that an algorithm cannot test.

Monotone: the search takes only thresholds whose children are in order. A descendant could still cross the prediction of
the other side, so each node is clipped to bounds: a threshold of a monotone column separates its two children at the
mean of their predictions, as is usual in boosting. For classes, the monotone quantity is the probability of a class or
any later one, for each class; with two classes, that of the second.

Unused columns: C4.5 has no test for identifiers with many rare levels, and the Bonferroni multiplier of CHAID can exceed
what any p-value could make up for.
"""

from __future__ import annotations

from functools import partial

import msgspec
import numpy as np

from baytree import _warnings
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column, Kind
from baytree.engine.partitions import Partitions, WeightRange
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import ClassCosts
from baytree.tree.policy.policy import Branching, Criterion, Policy, ReferenceProgram, SplitSelection
from baytree.tree.search.counted.significance_tests import min_adjusted_p


def enforce_monotone(tree: Tree, direction: np.ndarray, costs: ClassCosts) -> Tree:
    """Tree with monotone predictions; `direction` is int [n_columns]: 1 up, −1 down, 0 unconstrained."""
    tails = _tails(tree)
    bounded = _bounded(tree, direction, tails)
    is_changed = (bounded != tails).any(axis=1)
    if not is_changed.any():
        return tree
    value, prediction = tree.value.copy(), tree.prediction.copy()
    value[is_changed] = _values(bounded[is_changed], tree.n_classes)
    if tree.n_classes:
        prediction[is_changed] = costs.best(value[is_changed])
    return msgspec.structs.replace(tree, value=value, prediction=prediction)


def _tails(tree: Tree) -> np.ndarray:
    """Probability of each class but the first or any later one, or the mean, [n_nodes, n_tails]."""
    if not tree.n_classes:
        return tree.value
    return np.cumsum(tree.value[:, :0:-1], axis=1)[:, ::-1]


def _values(tails: np.ndarray, n_classes: int) -> np.ndarray:
    if not n_classes:
        return tails
    ends = np.ones((len(tails), 1)), np.zeros((len(tails), 1))
    return -np.diff(np.concatenate([ends[0], tails, ends[1]], axis=1), axis=1)


def _bounded(tree: Tree, direction: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """Tails clipped to the bounds of the thresholds above each node; a child comes after its parent."""
    low, high = np.full(tails.shape, -np.inf), np.full(tails.shape, np.inf)
    bounded = tails.copy()
    for node in np.flatnonzero(tree.column >= 0):
        children = slice(tree.first[node], tree.first[node] + tree.branches[node])
        low[children], high[children] = low[node], high[node]
        sign = direction[tree.column[node]]
        if sign and np.isfinite(tree.cut[node]):  # above an infinite threshold are only rows with missing values
            pair = np.clip(tails[children][:2], low[node], high[node])
            first, second = tree.first[node], tree.first[node] + 1
            high[first if sign > 0 else second] = low[second if sign > 0 else first] = pair.mean(axis=0)
        bounded[children] = np.clip(tails[children], low[children], high[children])
    return bounded


_MIN_IDENTIFIER_LEVELS = 0.3  # levels per row from which a column may be a row identifier and is checked; only for a warning

_NO_TEST = (
    "column {name!r} is not used: too few of its {n} levels have min_objects={least:g} rows for a C4.5 split; "
    "drop the column, or group its levels with subset=True"
)

_NO_SPLIT = (
    "column {name!r} is not used: with {n} levels and so few rows, its Bonferroni-adjusted p-value cannot be significant; "
    "drop the column, or use coarser levels"
)


def warn_unused_columns(rows: Partitions, policy: Policy) -> None:
    """Warn of columns that C4.5 or CHAID cannot test."""
    if policy.arithmetic in (ReferenceProgram.C45, ReferenceProgram.J48) and policy.branching is not Branching.GROUPED:
        _warn_untestable(rows, policy)
    if policy.choose is SplitSelection.ADJUSTED_P and policy.criterion is Criterion.CHI2 and not policy.merging.exhaustive:
        _warn_unsplittable(rows, policy)


def _warn_untestable(rows: Partitions, policy: Policy) -> None:
    """C4.5: a test needs two branches of at least `min_objects`, which the levels of an identifier do not reach."""
    min_leaf, n_required = policy.stopping.min_leaf, 1 if policy.branching is Branching.ONE_LEVEL else 2
    for j, column in enumerate(rows.schema):
        if _has_many_levels(column, rows.n_rows):
            weight = rows.map_reduce(partial(_level_weights, j, len(column.levels)), rows_per_part=None)
            if np.count_nonzero(weight >= min_leaf) < n_required:
                _warnings.warn(_NO_TEST.format(name=column.name, n=len(column.levels), least=min_leaf))


def _level_weights(j: int, n_levels: int, table: Table) -> np.ndarray:
    codes = table.values[j]
    return np.bincount(codes[codes >= 0], table.weight[codes >= 0], n_levels)


def _has_many_levels(column: Column, n_rows: int) -> bool:
    return column.kind is not Kind.NUMERIC and len(column.levels) >= max(3, _MIN_IDENTIFIER_LEVELS * n_rows)


def _warn_unsplittable(rows: Partitions, policy: Policy) -> None:
    """CHAID: the Bonferroni multiplier can be so large that not even pure groups are significant."""
    weight, alpha = rows.map_reduce(WeightRange.of, rows_per_part=None).total, policy.stopping.alpha
    if alpha is None or weight < policy.stopping.min_split:
        return
    n_classes = len(rows.schema.classes)
    for column in rows.schema:
        n = len(column.levels) if column.kind is Kind.NOMINAL else 0
        if min(n, n_classes) > 1 and min_adjusted_p(n, n_classes, weight) > alpha:
            _warnings.warn(_NO_SPLIT.format(name=column.name, n=n))
