"""Rows in folds, and the statistic of each fold, in one read of the rows: folds are dealt here and travel with parts."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.engine.parts import Made, Parts
from baytree.folds.contents import are_repetitions, dealt, repeated_rows, row_keys
from baytree.folds.cv import CV, read_cv
from baytree.linear.regression.statistic import Products
from baytree.statistics.strung import Strung
from baytree.table.table import Table


class Folded(msgspec.Struct, frozen=True):
    """Rows, and the fold of each."""

    table: Table
    fold: np.ndarray  # int64 [n_rows], 0, 1, …


class OfFolds(msgspec.Struct, frozen=True):
    """The statistic of each fold."""

    folds: tuple[Products, ...]

    def __add__(self, other: OfFolds) -> OfFolds:
        return OfFolds(tuple(mine + theirs for mine, theirs in zip(self.folds, other.folds, strict=True)))


def products_of_folds(rows: Made[Folded], n_folds: int) -> tuple[Products, ...]:
    """The statistic of each fold."""
    return rows.total(lambda own: OfFolds(tuple(Products.of_groups(own.table, own.fold, n_folds)))).folds


def in_folds(rows: Parts, cv: CV | np.ndarray) -> tuple[Made[Folded], int]:
    """The rows in the folds that `cv` asks for, and how many these are; a number deals rows by what is in them."""
    if isinstance(cv, int):
        return _by_contents(rows, cv)
    if not isinstance(cv, np.ndarray):
        label = rows.total(lambda table: Strung.of(table.first, table.label), rows_per_part=None).arrays[0]
        cv = read_cv(cv, rows.n_rows, label, is_classification=False).of_rows(rows.n_rows)
    names, fold = np.unique(cv, return_inverse=True)
    return rows.made(lambda table: Folded(table, fold[table.first : table.first + len(table)])), len(names)


def _by_contents(rows: Parts, n_folds: int) -> tuple[Made[Folded], int]:
    """Rows are dealt by their keys, a row of weight 2 as two; the keys are all that leaves a part."""
    single = rows.made(repeated_rows if are_repetitions(rows) else lambda table: table)
    first, length, key = single.total(_keys).arrays
    if len(key) < 2:
        raise ValueError(f"cv={n_folds} needs at least 2 rows; the table has 1 sample")
    n_folds = min(n_folds, len(key))
    fold, start = dealt(key, None, n_folds), dict(zip(first.tolist(), np.cumsum(length) - length, strict=True))
    return single.made(lambda table: Folded(table, fold[start[table.first] :][: len(table)])), n_folds


def _keys(table: Table) -> Strung:
    """Where rows stand, how many they are, and their keys."""
    return Strung.of(table.first, np.array([table.first]), np.array([len(table)]), row_keys(table))
