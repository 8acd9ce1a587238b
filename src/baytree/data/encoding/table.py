"""Encoded table: values of the columns, labels and weights of rows, encoded by a schema and validated once.

Learners only see this representation, never a data frame, and need not validate values again. Also here: checks of the
number of rows and columns, and of infinite numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from baytree.data.frames.raw import RawFrame
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema


class Tokens(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Encoded text column in compressed sparse row form: the vocabulary codes of each row and their counts."""

    start: np.ndarray  # int64 [n_rows + 1]
    code: np.ndarray  # int32 [n_entries], ascending within a row
    count: np.ndarray  # float64 [n_entries]
    missing: np.ndarray  # bool [n_rows]

    def __len__(self) -> int:
        return len(self.start) - 1

    def take(self, rows: np.ndarray) -> Tokens:
        """Return these rows (indices)."""
        length = np.diff(self.start)[rows]
        start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        entry = np.repeat(self.start[rows] - start[:-1], length) + np.arange(start[-1])
        return Tokens(start, self.code[entry], self.count[entry], self.missing[rows])


class SparseColumns(msgspec.Struct, frozen=True):
    """Columns of a sparse matrix, each made dense on access; entries that are not stored are 0."""

    matrix: Any  # scipy.sparse CSR, float64 [n_rows, n_columns]

    def __len__(self) -> int:
        return self.matrix.shape[1]

    def __getitem__(self, column: int) -> np.ndarray:
        if not 0 <= column < len(self):
            raise IndexError(column)
        return self.matrix[:, [column]].toarray().ravel()

    def __iter__(self) -> Iterator[np.ndarray]:
        by_column = self.matrix.tocsc()
        return (by_column[:, [j]].toarray().ravel() for j in range(len(self)))


class DenseColumns(msgspec.Struct, frozen=True):
    """Numeric columns that are one array; avoids one object per column in wide tables."""

    matrix: np.ndarray  # float64 [n_rows, n_columns], possibly a view of the caller's array

    def __len__(self) -> int:
        return self.matrix.shape[1]

    def __getitem__(self, column: int) -> np.ndarray:
        return self.matrix[:, column]

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self.matrix.T)


Values = np.ndarray | Tokens


def is_missing(values: Values) -> np.ndarray:
    """Return which rows of an encoded column are missing: bool [n_rows].

    >>> is_missing(np.array([0, -1, 2], np.int32)), is_missing(np.array([np.nan, 1.5]))
    (array([False,  True, False]), array([ True, False]))
    """
    if isinstance(values, Tokens):
        return values.missing
    return np.isnan(values) if values.dtype.kind == "f" else values < 0


class Table(msgspec.Struct, frozen=True):
    """Rows encoded by a schema and validated: lengths, types, ranges, finite weights.

    values[j] is float64 with NaN (numeric), int32 codes with -1 (ordinal, nominal), or `Tokens` (text). Numeric columns may
    be strided views of the caller's array and must not be written to. `label` is int32 class codes, float64 numbers, or
    None; `weight` is float64 and always present.
    """

    schema: Schema
    values: Any  # tuple[Values, ...], DenseColumns or SparseColumns
    weight: np.ndarray  # [n_rows]
    label: Any = None  # [n_rows]
    is_unweighted: bool = False  # every weight is 1
    first: int = 0  # index of the first row in the table of which this is a slice

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def n_classes(self) -> int:
        """Number of classes of the target; 0 without classes."""
        return len(self.schema.classes)

    def rows(self, first: int, last: int) -> Table:
        """Return rows first … last − 1 as a table that shares memory."""
        part = slice(first, last)
        return Table(
            self.schema,
            self._each(lambda values: _slice(values, first, last)),
            self.weight[part],
            None if self.label is None else self.label[part],
            self.is_unweighted,
            self.first + first,
        )

    def take(self, rows: np.ndarray) -> Table:
        """Return these rows (indices or a mask)."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows  # convert once; numpy would do it for every column
        return Table(
            self.schema,
            self._each(lambda values: _take(values, rows)),
            self.weight[rows],
            None if self.label is None else self.label[rows],
            self.is_unweighted,
        )

    def select(self, columns: Sequence[int]) -> Table:
        """Return these columns, in this order."""
        schema = msgspec.structs.replace(self.schema, columns=tuple(self.schema.columns[j] for j in columns))
        if isinstance(self.values, SparseColumns):
            values = SparseColumns(self.values.matrix[:, list(columns)])
        else:
            values = tuple(self.values[j] for j in columns)
        return Table(schema, values, self.weight, self.label, self.is_unweighted, self.first)

    def _each(self, part: Callable[[Any], Any]) -> Any:
        if isinstance(self.values, (SparseColumns, DenseColumns)):
            return type(self.values)(part(self.values.matrix))
        return tuple(part(values) for values in self.values)


def holds_infinite(column: Column, values: Any) -> bool:
    """Return whether a column contains an infinite number."""
    if column.kind is not Kind.NUMERIC:
        return False
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        total = values.sum()  # a finite sum proves that no element is infinite
    return not np.isfinite(total) and bool(np.isinf(values).any())


def refuse_infinite(schema: Schema, values: Iterable[Any]) -> None:
    """Raise a ValueError that names the column and row of the first infinite number."""
    for column, column_values in zip(schema.columns, values, strict=True):
        if not holds_infinite(column, column_values):
            continue
        row = int(np.argmax(np.isinf(column_values)))
        raise ValueError(
            f"column {column.name!r}, row {row}: {column_values[row]} is infinity; "
            "replace it by a large number, or by NaN if it is missing"
        )


def _slice(values: Values, first: int, last: int) -> Values:
    if not isinstance(values, Tokens):
        return values[first:last]
    start = values.start[first : last + 1]
    entries = slice(start[0], start[-1])
    return Tokens(start - start[0], values.code[entries], values.count[entries], values.missing[first:last])


def _take(values: Values, rows: np.ndarray) -> Values:
    if not isinstance(values, Tokens):
        return values[rows]
    return values.take(rows)


def check_shape(frame: RawFrame, n_labels: int, name: str) -> None:
    """Raise a ValueError for no rows, no columns, or a different number of labels."""
    columns = n_columns(frame)
    if frame.n_rows == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape=(0, {columns})) while a minimum of 1 is required by {name}.")
    if columns == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape=({frame.n_rows}, 0)) while a minimum of 1 is required by {name}."
        )
    if n_labels != frame.n_rows:
        raise ValueError(f"X has {frame.n_rows} rows, but y has {n_labels}: inconsistent numbers of samples")


def check_columns(frame: RawFrame, schema: Schema, name: str) -> None:
    """Raise a ValueError if columns are matched by position and their number differs from the schema."""
    if schema.is_named and frame.is_named:
        return
    columns = n_columns(frame)
    if columns != len(schema.inputs):
        raise ValueError(f"X has {columns} features, but {name} is expecting {len(schema.inputs)} features as input")


def n_columns(frame: RawFrame) -> int:
    """Return the number of given columns."""
    return frame.matrix.shape[1] if frame.matrix is not None else len(frame.columns)
