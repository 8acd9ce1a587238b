"""Columns that an algorithm can never test, told before anybody wonders where they are."""

from __future__ import annotations

from functools import partial

import numpy as np

from baytree import notices
from baytree.engine.parts import Parts
from baytree.engine.rounds.number_of_rows import Weight
from baytree.table.schema import Column, Kind
from baytree.table.table import Table
from baytree.tree.grow.counting.bonferroni import smallest_adjusted
from baytree.tree.grow.policy import Arithmetic, Branching, Choose, Criterion, Policy

_MANY_LEVELS = 0.3  # of the rows: so many are a column's names for rows rather than for kinds of rows
_NO_TEST = (
    "column {name!r} is not used: hardly any of its {n} levels occurs min_objects={least:g} times, so C4.5 has no test "
    "for it; leave it out, or unite levels by subset=True"
)
_NO_SPLIT = (
    "column {name!r} is not used: with {n} levels among so few rows, the adjustment for the ways to merge them is larger "
    "than any p-value can make up for; leave it out, or take coarser levels"
)


def warn_of_unused_columns(rows: Parts, policy: Policy) -> None:
    """Warns of the columns that C4.5 or CHAID have no test for."""
    if policy.arithmetic in (Arithmetic.C45, Arithmetic.J48) and policy.branching is not Branching.GROUPED:
        _warn_of_columns_without_a_test(rows, policy)
    if policy.choose is Choose.ADJUSTED_P and policy.criterion is Criterion.CHI2 and not policy.merging.exhaustive:
        _warn_of_columns_without_a_split(rows, policy)


def _warn_of_columns_without_a_test(rows: Parts, policy: Policy) -> None:
    """A test needs two branches of `min_objects`, which the levels of an identifier never are."""
    least, n_needed = policy.stopping.min_leaf, 1 if policy.branching is Branching.ONE_LEVEL else 2
    for j, column in enumerate(rows.schema):
        if _has_many_levels(column, rows.n_rows):
            weight = rows.total(partial(_level_weights, j, len(column.levels)), rows_per_part=None)
            if np.count_nonzero(weight >= least) < n_needed:
                notices.warn(_NO_TEST.format(name=column.name, n=len(column.levels), least=least))


def _level_weights(j: int, n_levels: int, table: Table) -> np.ndarray:
    codes = table.values[j]
    return np.bincount(codes[codes >= 0], table.weight[codes >= 0], n_levels)


def _has_many_levels(column: Column, n_rows: int) -> bool:
    return column.kind is not Kind.NUMERIC and len(column.levels) >= max(3, _MANY_LEVELS * n_rows)


def _warn_of_columns_without_a_split(rows: Parts, policy: Policy) -> None:
    """Bonferroni's factor can be so large that not even groups of pure classes are significant."""
    weight, alpha = rows.total(Weight.of, rows_per_part=None).total, policy.stopping.alpha
    if alpha is None or weight < policy.stopping.min_split:
        return
    n_classes = len(rows.schema.classes)
    for column in rows.schema:
        n = len(column.levels) if column.kind is Kind.NOMINAL else 0
        if min(n, n_classes) > 1 and smallest_adjusted(n, n_classes, weight) > alpha:
            notices.warn(_NO_SPLIT.format(name=column.name, n=n))
