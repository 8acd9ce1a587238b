"""Trees whose answers follow columns: from one side of a cut to the other they do not fall, or do not rise.

The search takes such cuts only. What lies below a cut could still cross to the other side's answers, so every node answers
between bounds: a cut of a column that is followed parts them at the middle of its two children, as is usual in boosting.
Of classes, what is followed is the probability of a class or any later one, for each class; of two, that of the second.

Columns that an algorithm can never test, told before anybody wonders where they are.
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
from baytree.tree.search.counted.significance_tests import smallest_adjusted


def enforce_monotone(tree: Tree, direction: np.ndarray, costs: ClassCosts) -> Tree:
    """The tree with answers that follow columns: int [n_columns], 1 up, −1 down, 0 where nothing is asked for."""
    tails = _tails(tree)
    within = _within(tree, direction, tails)
    is_moved = (within != tails).any(axis=1)
    if not is_moved.any():
        return tree
    value, prediction = tree.value.copy(), tree.prediction.copy()
    value[is_moved] = _values(within[is_moved], tree.n_classes)
    if tree.n_classes:
        prediction[is_moved] = costs.best(value[is_moved])
    return msgspec.structs.replace(tree, value=value, prediction=prediction)


def _tails(tree: Tree) -> np.ndarray:
    """[n_nodes, n_tails]: the probability of each class but the first or any later one; or the mean."""
    if not tree.n_classes:
        return tree.value
    return np.cumsum(tree.value[:, :0:-1], axis=1)[:, ::-1]


def _values(tails: np.ndarray, n_classes: int) -> np.ndarray:
    if not n_classes:
        return tails
    ends = np.ones((len(tails), 1)), np.zeros((len(tails), 1))
    return -np.diff(np.concatenate([ends[0], tails, ends[1]], axis=1), axis=1)


def _within(tree: Tree, direction: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """The tails, each between the bounds that the cuts above its node leave: a child comes after its parent."""
    low, high = np.full(tails.shape, -np.inf), np.full(tails.shape, np.inf)
    within = tails.copy()
    for node in np.flatnonzero(tree.column >= 0):
        children = slice(tree.first[node], tree.first[node] + tree.branches[node])
        low[children], high[children] = low[node], high[node]
        way = direction[tree.column[node]]
        if way and np.isfinite(tree.cut[node]):  # above a cut at infinity are only rows without a value
            pair = np.clip(tails[children][:2], low[node], high[node])
            first, second = tree.first[node], tree.first[node] + 1
            high[first if way > 0 else second] = low[second if way > 0 else first] = pair.mean(axis=0)
        within[children] = np.clip(tails[children], low[children], high[children])
    return within


_MANY_LEVELS = 0.3  # of the rows: so many are a column's names for rows rather than for kinds of rows

_NO_TEST = (
    "column {name!r} is not used: hardly any of its {n} levels occurs min_objects={least:g} times, so C4.5 has no test "
    "for it; leave it out, or unite levels by subset=True"
)

_NO_SPLIT = (
    "column {name!r} is not used: with {n} levels among so few rows, the adjustment for the ways to merge them is larger "
    "than any p-value can make up for; leave it out, or take coarser levels"
)


def warn_unused_columns(rows: Partitions, policy: Policy) -> None:
    """Warns of the columns that C4.5 or CHAID have no test for."""
    if policy.arithmetic in (ReferenceProgram.C45, ReferenceProgram.J48) and policy.branching is not Branching.GROUPED:
        _warn_of_columns_without_a_test(rows, policy)
    if policy.choose is SplitSelection.ADJUSTED_P and policy.criterion is Criterion.CHI2 and not policy.merging.exhaustive:
        _warn_of_columns_without_a_split(rows, policy)


def _warn_of_columns_without_a_test(rows: Partitions, policy: Policy) -> None:
    """A test needs two branches of `min_objects`, which the levels of an identifier never are."""
    least, n_needed = policy.stopping.min_leaf, 1 if policy.branching is Branching.ONE_LEVEL else 2
    for j, column in enumerate(rows.schema):
        if _has_many_levels(column, rows.n_rows):
            weight = rows.map_reduce(partial(_level_weights, j, len(column.levels)), rows_per_part=None)
            if np.count_nonzero(weight >= least) < n_needed:
                _warnings.warn(_NO_TEST.format(name=column.name, n=len(column.levels), least=least))


def _level_weights(j: int, n_levels: int, table: Table) -> np.ndarray:
    codes = table.values[j]
    return np.bincount(codes[codes >= 0], table.weight[codes >= 0], n_levels)


def _has_many_levels(column: Column, n_rows: int) -> bool:
    return column.kind is not Kind.NUMERIC and len(column.levels) >= max(3, _MANY_LEVELS * n_rows)


def _warn_of_columns_without_a_split(rows: Partitions, policy: Policy) -> None:
    """Bonferroni's factor can be so large that not even groups of pure classes are significant."""
    weight, alpha = rows.map_reduce(WeightRange.of, rows_per_part=None).total, policy.stopping.alpha
    if alpha is None or weight < policy.stopping.min_split:
        return
    n_classes = len(rows.schema.classes)
    for column in rows.schema:
        n = len(column.levels) if column.kind is Kind.NOMINAL else 0
        if min(n, n_classes) > 1 and smallest_adjusted(n, n_classes, weight) > alpha:
            _warnings.warn(_NO_SPLIT.format(name=column.name, n=n))
