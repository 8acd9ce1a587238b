"""Exact known weight and total of columns per class: the statistic of Bernoulli, Poisson and multinomial events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

import msgspec
import numpy as np

from baytree.data.encoding.matrices import matrices
from baytree.data.encoding.table import SparseColumns, Table, Tokens
from baytree.data.schema.schema import Schema
from baytree.statistics.counts import Counts
from baytree.statistics.exact_sum import ExactSum, joined
from baytree.statistics.moments import Moments

_COLUMNS_PER_CHUNK = 64  # columns that are copied at a time: a copy of the whole table would double its memory


class Totals(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="totals"):
    """Exact weight of the known values of each column in each class, and their weighted sum."""

    weight: ExactSum  # [n_columns, n_classes]
    total: ExactSum  # [n_columns, n_classes]

    @classmethod
    def of(cls, table: Table, columns: Sequence[int]) -> Self:
        """Totals of non-negative counts; raises ValueError for negative ones."""
        if isinstance(table.values, SparseColumns):
            entries = sparse_entries(table, columns)
            _refuse_negative(entries.count, None, table.schema)
            return cls(*_sparse_totals(table, entries, entries.count, len(columns)))
        return cls(*_dense_totals(table, _count_matrices(table, columns)))

    @classmethod
    def above(cls, table: Table, columns: Sequence[int], threshold: float) -> Self:
        """Totals of the indicator that a value exceeds the threshold."""
        if isinstance(table.values, SparseColumns) and threshold >= 0:
            entries = sparse_entries(table, columns)
            is_above = np.where(np.isnan(entries.count), np.nan, entries.count > threshold)
            return cls(*_sparse_totals(table, entries, is_above, len(columns)))
        return cls(*_dense_totals(table, _indicator_matrices(table, columns, threshold)))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.weight + other.weight, self.total + other.total)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.weight - other.weight, self.total - other.total)

    def recoded(self, levels: list[np.ndarray], classes: np.ndarray) -> Self:
        """Same totals with recoded classes; −1 for a new class."""
        return type(self)(self.weight.take(classes, 1), self.total.take(classes, 1))

    def level_weights(self) -> np.ndarray | None:
        """None: numeric columns have no levels."""
        return None

    def check(self, n_columns: int, n_classes: int) -> None:
        """Raise ValueError unless there is a cell for each column and class."""
        for field in (self.weight, self.total):
            field.check((n_columns, n_classes))

    def rounded(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights and totals as doubles in a common unit, so that quotients are correct: [n_columns, n_classes] each."""
        exponent = max(0, self.weight.magnitude - 900, self.total.magnitude - 900)
        return self.weight.rounded(exponent), self.total.rounded(exponent)


def sparse_entries(table: Table, columns: Sequence[int]) -> Tokens:
    """Stored values of a sparse table as bags; codes are indices into `columns`."""
    matrix = table.values.matrix
    if tuple(columns) != tuple(range(matrix.shape[1])):
        matrix = matrix[:, list(columns)]
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    start, code = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)
    return Tokens(start, code, np.ascontiguousarray(matrix.data, np.float64), np.zeros(0, bool))


def entry_totals(entries: Tokens, value: np.ndarray, table: Table, n_columns: int) -> ExactSum:
    """Weighted sum of the entries' values for each column and class: [n_columns, n_classes]."""
    length = np.diff(entries.start)
    label = np.repeat(table.label, length)
    weighted = value if table.is_unweighted else value * np.repeat(table.weight, length)
    cells = Counts.of(entries.code, label, weighted, n_columns, table.n_classes).cells
    return cells.take(np.arange(1, n_columns + 1))


def class_weights(table: Table, rows: np.ndarray | None = None) -> ExactSum:
    """Weight of each class over all or some rows: [1, n_classes]."""
    label = table.label if rows is None else table.label[rows]
    weight = None if table.is_unweighted else table.weight if rows is None else table.weight[rows]
    cells = Counts.of(np.zeros(len(label), np.int32), label, weight, 1, table.n_classes).cells
    return cells.take(np.arange(1, 2))


def refuse_negative(table: Table, columns: Sequence[int]) -> None:
    """Raise ValueError with the first negative count, if there is one."""
    if isinstance(table.values, SparseColumns):
        return _refuse_negative(sparse_entries(table, columns).count, None, table.schema)
    for j in columns:
        _refuse_negative(table.values[j], j, table.schema)
    return None


def _refuse_negative(values: np.ndarray, column: int | None, schema: Schema) -> None:
    if not (values < 0).any():
        return
    if column is None:
        raise ValueError(f"Negative values in data: {values[values < 0][0]:g} is not a count; use a gaussian event")
    row = int(np.argmax(values < 0))
    raise ValueError(
        f"Negative values in data: column {schema.columns[column].name!r}, row {row}: {values[row]:g} is no count; "
        "use a gaussian event"
    )


def _count_matrices(table: Table, columns: Sequence[int]) -> Iterator[np.ndarray]:
    refuse_negative(table, columns)
    return matrices(table, columns)


def _indicator_matrices(table: Table, columns: Sequence[int], threshold: float) -> Iterator[np.ndarray]:
    for matrix in matrices(table, columns):
        for first in range(0, matrix.shape[1], _COLUMNS_PER_CHUNK):
            chunk = matrix[:, first : first + _COLUMNS_PER_CHUNK]
            if np.isinf(chunk).any():
                raise ValueError("a value is infinite")
            yield np.where(np.isnan(chunk), np.nan, chunk > threshold)


def _dense_totals(table: Table, stripes: Iterator[np.ndarray]) -> tuple[ExactSum, ExactSum]:
    weight = None if table.is_unweighted else table.weight
    moments = [Moments.of(matrix, table.label, weight, table.n_classes) for matrix in stripes]
    fields = ([part.weight for part in moments], [part.total for part in moments])
    known, total = (joined(field, 1) for field in fields)
    return _by_column(known), _by_column(total)


def _by_column(cells: ExactSum) -> ExactSum:
    return ExactSum(np.ascontiguousarray(np.swapaxes(cells.limbs, 0, 1)), cells.low)


def _sparse_totals(table: Table, entries: Tokens, value: np.ndarray, n_columns: int) -> tuple[ExactSum, ExactSum]:
    weight = class_weights(table).take(np.zeros(n_columns, np.int64))
    unknown = np.isnan(value)
    total = entry_totals(entries, np.where(unknown, 0.0, value), table, n_columns)
    if unknown.any():
        weight = weight - entry_totals(entries, unknown.astype(np.float64), table, n_columns)
    return weight, total
