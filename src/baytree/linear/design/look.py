"""What is known of all rows before a design is learnt: how they lie, what they weigh, where there are gaps."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.linear.design.feature_layout import as_matrix
from baytree.table.schema import Column, Kind
from baytree.table.table import SparseColumns, Table, Tokens, Values, is_missing

Moments = tuple[np.ndarray, np.ndarray]  # weighted mean and standard deviation (divisor n) of each feature


class Lie(msgspec.Struct, frozen=True):
    """How rows lie in memory, and their weight; a matrix in one part only is none."""

    weight: float
    is_matrix: bool  # one array of numbers, row after row
    is_sparse: bool  # a sparse matrix

    @classmethod
    def of(cls, table: Table) -> Lie:
        """How these rows lie."""
        whole = as_matrix(table)
        is_matrix = whole is not None and whole.strides[1] == whole.itemsize
        return cls(float(table.weight.sum()), is_matrix, isinstance(table.values, SparseColumns))

    def __add__(self, other: Lie) -> Lie:
        return Lie(self.weight + other.weight, self.is_matrix and other.is_matrix, self.is_sparse and other.is_sparse)


class Look(msgspec.Struct, frozen=True):
    """How all rows lie, which columns have gaps and, of a plain matrix without any, its moments; else some of the rows."""

    lie: Lie
    gaps: np.ndarray  # bool [n_columns]
    moments: Moments | None = None
    some: Table | None = None  # a hundred rows

    @property
    def weight(self) -> float:
        """The weight of all rows."""
        return self.lie.weight


def row_matrix(table: Table) -> np.ndarray:
    """The columns of rows that lie as a matrix. [n_rows, n_columns]"""
    whole = as_matrix(table)
    assert whole is not None
    return whole


class Known(msgspec.Struct, frozen=True):
    """The weight of the known values of each column with levels or gaps, the first of them, and the weight of each level."""

    weight: np.ndarray  # float64 [n_columns]; 0 for text, and for numbers without gaps
    number: np.ndarray  # float64 [n_columns], NaN where there is none, or the column has levels only
    levels: tuple[np.ndarray, ...]  # [n_columns] of [n_levels]

    @classmethod
    def of(cls, gaps: np.ndarray, table: Table) -> Known:
        """What is known in these rows, where it is known which columns have gaps."""
        each = zip(table.schema.columns, table.values, gaps, strict=True)
        found = [_known(column, values, table.weight, has_gaps) for column, values, has_gaps in each]
        weight, number = np.array([w for w, _, _ in found]), np.array([x for _, x, _ in found])
        return cls(weight, number, tuple(levels for _, _, levels in found))

    def __add__(self, other: Known) -> Known:
        number = np.where(np.isnan(self.number), other.number, self.number)
        levels = tuple(mine + theirs for mine, theirs in zip(self.levels, other.levels, strict=True))
        return Known(self.weight + other.weight, number, levels)


def _known(column: Column, values: Values, weight: np.ndarray, has_gaps: bool) -> tuple[float, float, np.ndarray]:
    if isinstance(values, Tokens) or (column.kind is Kind.NUMERIC and not has_gaps):
        return 0.0, np.nan, np.zeros(0)
    known = ~is_missing(values)
    own = weight * known
    has = own > 0
    number = float(values[np.argmax(has)]) if has.any() else np.nan
    if column.kind is Kind.NUMERIC:
        return float(own.sum()), number, np.zeros(0)
    return float(own.sum()), number, np.bincount(values[known], weight[known], max(len(column.levels), 1))
