"""What is known of the rows before a design is learnt: storage, total weight, missing values; and moments of blocks of rows.

All classes here are statistics: those of partitions add up to that of the table.
"""

from __future__ import annotations

from itertools import chain

import msgspec
import numpy as np

from baytree.data.encoding.table import SparseColumns, Table, Tokens, Values, is_missing
from baytree.data.schema.column import Column, Kind
from baytree.linear.design.feature_layout import FeatureLayout, as_matrix
from baytree.parallel.blas import chunks, in_order

Moments = tuple[np.ndarray, np.ndarray]  # weighted mean and standard deviation (divisor n) of each feature


class RowStorage(msgspec.Struct, frozen=True):
    """Storage of the rows (dense matrix, sparse, or columns) and their total weight. Dense only if every partition
    is dense.
    """

    weight: float
    is_matrix: bool  # one row-major array of numbers
    is_sparse: bool  # a sparse matrix

    @classmethod
    def of(cls, table: Table) -> RowStorage:
        """Storage of the rows of one partition."""
        whole = as_matrix(table)
        is_matrix = whole is not None and whole.strides[1] == whole.itemsize
        return cls(float(table.weight.sum()), is_matrix, isinstance(table.values, SparseColumns))

    def __add__(self, other: RowStorage) -> RowStorage:
        return RowStorage(self.weight + other.weight, self.is_matrix and other.is_matrix, self.is_sparse and other.is_sparse)


class RowSummary(msgspec.Struct, frozen=True):
    """Storage of all rows, which columns have missing values, the moments of a complete plain matrix, and else a sample of
    rows.
    """

    lie: RowStorage
    gaps: np.ndarray  # bool [n_columns]
    moments: Moments | None = None
    some: Table | None = None  # about a hundred rows, for pivots

    @property
    def weight(self) -> float:
        """Total weight of the rows."""
        return self.lie.weight


def row_matrix(table: Table) -> np.ndarray:
    """Rows that are stored as one matrix. float64 [n_rows, n_columns]"""
    whole = as_matrix(table)
    assert whole is not None
    return whole


class KnownValues(msgspec.Struct, frozen=True):
    """Per column with levels or missing values: weight of the known values, the first known number, and the weight of each
    level.
    """

    weight: np.ndarray  # float64 [n_columns]; 0 for text, and for numbers without missing values
    number: np.ndarray  # float64 [n_columns], NaN if there is none or the column has levels only
    levels: tuple[np.ndarray, ...]  # [n_columns] of [n_levels]

    @classmethod
    def of(cls, gaps: np.ndarray, table: Table) -> KnownValues:
        """Known values of one partition. `gaps` (bool [n_columns]) flags the columns with missing values."""
        each = zip(table.schema.columns, table.values, gaps, strict=True)
        columns = [_known(column, values, table.weight, has_gaps) for column, values, has_gaps in each]
        weight, number = np.array([w for w, _, _ in columns]), np.array([x for _, x, _ in columns])
        return cls(weight, number, tuple(levels for _, _, levels in columns))

    def __add__(self, other: KnownValues) -> KnownValues:
        number = np.where(np.isnan(self.number), other.number, self.number)
        levels = tuple(mine + theirs for mine, theirs in zip(self.levels, other.levels, strict=True))
        return KnownValues(self.weight + other.weight, number, levels)


def _known(column: Column, values: Values, weight: np.ndarray, has_gaps: bool) -> tuple[float, float, np.ndarray]:
    if isinstance(values, Tokens) or (column.kind is Kind.NUMERIC and not has_gaps):
        return 0.0, np.nan, np.zeros(0)
    known = ~is_missing(values)
    own = weight * known
    is_counted = own > 0
    number = float(values[np.argmax(is_counted)]) if is_counted.any() else np.nan
    if column.kind is Kind.NUMERIC:
        return float(own.sum()), number, np.zeros(0)
    return float(own.sum()), number, np.bincount(values[known], weight[known], max(len(column.levels), 1))


BLOCK_ROWS = 1024  # rows per block


class Blocks(msgspec.Struct, frozen=True):
    """Weight, mean and sum of squares about the mean of blocks of rows, in row order."""

    totals: list[float]
    means: list[np.ndarray]
    squares: list[np.ndarray]

    def __add__(self, other: Blocks) -> Blocks:
        return Blocks(self.totals + other.totals, self.means + other.means, self.squares + other.squares)


def blocks_of(table: Table, layout: FeatureLayout, whole: np.ndarray | None, frame: tuple[np.ndarray, np.ndarray]) -> Blocks:
    """Moments of the blocks of a table, read from `whole` if the rows are one matrix. `frame` is (pivot, unit)."""
    runs = in_order(lambda rows: _of_run(table, layout, whole, frame, rows), chunks(len(table)))
    return Blocks(*(list(chain.from_iterable(lists)) for lists in zip(*runs, strict=True)))


def _of_run(
    table: Table, layout: FeatureLayout, whole: np.ndarray | None, frame: tuple[np.ndarray, np.ndarray], rows: slice
) -> tuple[list, list, list]:
    """Weight, mean and sum of squares about the mean of each block in a slice of rows, about a pivot and in a unit."""
    pivot, unit = frame
    is_plain = bool((unit == 1).all())
    totals, means, squares = [], [], []
    for first in range(rows.start, rows.stop, BLOCK_ROWS):
        own = slice(first, min(first + BLOCK_ROWS, rows.stop))
        weight = table.weight[own]
        total = weight.sum()
        x = whole[own] if whole is not None else layout.matrix(table, own)
        with np.errstate(over="ignore", invalid="ignore"):
            x = x - pivot if is_plain else x / unit - pivot / unit
            mean = weight @ x / total if total > 0 else np.zeros(len(layout))
            x -= mean
            totals.append(total)
            means.append(mean)
            squares.append(weight @ np.square(x, out=x))
    return totals, means, squares
