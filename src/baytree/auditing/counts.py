"""Additive statistics of an audit: counts of binned columns by fold and class, and a small sample of rows.

The sample, evenly spaced rows, gives the cut points of numeric columns. The counts are one pass over all rows and add up
over partitions. Cross-validated scores of a single column are functions of them: train on all folds but one.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, Self

import msgspec
import numpy as np

from baytree.data.encoding.table import Table, Tokens, is_missing
from baytree.data.inference.number_checks import Extremes
from baytree.data.schema.column import Kind
from baytree.engine.partitions import Partitions
from baytree.folds.content_folds import mix_bits
from baytree.statistics import binning
from baytree.statistics.containers import every_nth

N_FOLDS = 5

SAMPLE_ROWS = 4000  # enough to place cut points, and few enough to fit a tree in milliseconds

MAX_CELLS = 4_000_000  # folds × codes × classes of one column: 32 MB; columns with more levels are not counted by class

QUANTILES = 24  # bins of a numeric column, besides the cut points that separate classes

MAX_COLUMNS = 1000  # columns that are examined; more would take longer than an audit may


def sample_of(rows: Partitions) -> Table:
    """At most `SAMPLE_ROWS` evenly spaced rows."""
    step = max(1, -(-rows.n_rows // SAMPLE_ROWS))
    return rows.gather() if step == 1 else rows.gather(partial(_every_nth_row, step))


def _every_nth_row(step: int, table: Table) -> Table:
    return table.take(np.arange(len(table))[every_nth(step, table.first, len(table))])


class CountedBins(NamedTuple):
    """How the values of one column become codes: cut points of numbers, or the number of levels."""

    cuts: np.ndarray | None  # ascending; None for levels
    n_codes: int  # without the code −1 of missing values

    def codes(self, values: np.ndarray) -> np.ndarray:
        """Code of each value, −1 if it is missing. int32 [n_rows]"""
        return values if self.cuts is None else binning.bin_codes(values, self.cuts)


def bins_of(sample: Table, n_columns: int) -> tuple[CountedBins | None, ...]:
    """Bins of the first columns of a table; None for text, and for too many levels."""
    return tuple(_bins(sample, j) for j in range(n_columns))


def _bins(sample: Table, j: int) -> CountedBins | None:
    column, values = sample.schema.columns[j], sample.values[j]
    if isinstance(values, Tokens):
        return None
    if column.kind is not Kind.NUMERIC:
        n = len(column.levels)
        return CountedBins(None, n) if n * N_FOLDS * max(sample.n_classes, 3) <= MAX_CELLS else None
    cuts = binning.quantile_cuts(values, np.ones(len(values)), QUANTILES)
    if sample.n_classes > 1:
        cuts = np.union1d(cuts, binning.mdl_cuts(values, sample.label, sample.n_classes))
    return CountedBins(cuts, len(cuts) + 1)


class AuditCounts(msgspec.Struct, frozen=True):
    """Sums over rows, by fold and code of each column: rows of each class, or 1, y and y² of a numeric target.

    The first code of each column stands for missing values. Additive over partitions.
    """

    columns: tuple[np.ndarray, ...]  # float64 [n_folds, 1 + n_codes, n_outputs]; no codes if the column is not counted
    n_missing: np.ndarray  # int64 [n_columns]
    extremes: tuple[Extremes | None, ...]  # of numeric columns
    n_rows: int

    @classmethod
    def of(cls, bins: tuple[CountedBins | None, ...], centre: float, table: Table) -> Self:
        """Sums of one partition; numeric targets are centred first, so that squares do not cancel."""
        fold = fold_of_rows(table.first, len(table))
        columns, missing, extremes = [], [], []
        for own, values in zip(bins, table.values, strict=False):
            missing.append(int(is_missing(values).sum()))
            columns.append(np.zeros((N_FOLDS, 0, 0)) if own is None else _sums(own, values, fold, table, centre))
            extremes.append(None if own is None or own.cuts is None else Extremes.of(values))
        return cls(tuple(columns), np.array(missing, np.int64), tuple(extremes), len(table))

    def __add__(self, other: Self) -> Self:
        columns = tuple(mine + theirs for mine, theirs in zip(self.columns, other.columns, strict=True))
        each = zip(self.extremes, other.extremes, strict=True)
        extremes = tuple(None if mine is None or theirs is None else mine + theirs for mine, theirs in each)
        return type(self)(columns, self.n_missing + other.n_missing, extremes, self.n_rows + other.n_rows)


def fold_of_rows(first: int, n_rows: int) -> np.ndarray:
    """Pseudo-random fold of each row, by its index in the whole table: int64 [n_rows]."""
    index = np.arange(first, first + n_rows, dtype=np.uint64)
    return (mix_bits(index + np.uint64(1)) % np.uint64(N_FOLDS)).astype(np.int64)


def _sums(bins: CountedBins, values: np.ndarray, fold: np.ndarray, table: Table, centre: float) -> np.ndarray:
    cell = fold * (bins.n_codes + 1) + bins.codes(values) + 1
    shape, n_cells = (N_FOLDS, bins.n_codes + 1), N_FOLDS * (bins.n_codes + 1)
    if table.n_classes:
        counts = np.bincount(cell * table.n_classes + table.label, minlength=n_cells * table.n_classes)
        return counts.reshape(*shape, table.n_classes).astype(np.float64)
    y = table.label - centre
    sums = [np.bincount(cell, weight, n_cells) for weight in (np.ones(len(y)), y, y * y)]
    return np.stack(sums, axis=1).reshape(*shape, 3)


def skill_of_classes(counts: np.ndarray) -> float:
    """Cross-validated accuracy of the most frequent class of each code, from counts [n_folds, n_codes, n_classes].

    >>> skill_of_classes(np.array([[[4.0, 0.0], [0.0, 4.0]], [[4.0, 1.0], [0.0, 3.0]]]))
    0.9375
    """
    total = counts.sum(axis=0)
    correct = 0.0
    for held_out in counts:
        train = total - held_out
        majority = int(train.sum(axis=0).argmax())
        best = np.where(train.sum(axis=1) > 0, train.argmax(axis=1), majority)
        correct += held_out[np.arange(len(best)), best].sum()
    return float(correct / total.sum())


def r_squared(sums: np.ndarray) -> float:
    """Cross-validated R² of predicting the mean of each code, from sums of 1, y and y² [n_folds, n_codes, 3]."""
    total = sums.sum(axis=0)
    rows, y, squares = total.sum(axis=0)
    spread = squares - y * y / rows
    if not spread > 0:
        return 0.0
    error = 0.0
    for held_out in sums:
        train = total - held_out
        overall = train[:, 1].sum() / max(train[:, 0].sum(), 1.0)
        mean = np.where(train[:, 0] > 0, train[:, 1] / np.maximum(train[:, 0], 1.0), overall)
        error += float((held_out[:, 2] - 2 * mean * held_out[:, 1] + mean**2 * held_out[:, 0]).sum())
    return 1.0 - error / float(spread)
