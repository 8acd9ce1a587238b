"""`FeatureLayout`: which features a table has, and how a row becomes a vector.

A numeric column (or an ordinal one, by rank) is one feature, a nominal column one 0/1 feature per level; a column with
missing values has one more feature, the missing indicator. The layout also holds the values that missing ones are imputed
with. Centring, scaling and the reference level belong to `Design`. `check_integers` and `check_floats` validate arrays of
records read from files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import numpy as np

from baytree.data.encoding.matrices import matrices
from baytree.data.encoding.table import SparseColumns, Table, Tokens, Values, is_missing, refuse_infinite
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema

VALUE = -1  # level code of a feature that is the column's number or rank

MISSING = -2  # level code of a missing indicator

MAX_DENSE_FEATURES = 2000  # features; above it, one-hot features are handled by index and never stored densely

_COPY_ROWS = 4096  # rows per block when columns are copied into a matrix: fits the cache

_BLOCK_ROWS = 2048  # rows per block: a hundred features of them fit the cache


class FeatureLayout(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="layout"):
    """Features in column order, and the imputed value of each column: a number (`fill`) or a level (`mode`)."""

    source: np.ndarray  # int32 [n_features], the column of each feature, ascending
    level: np.ndarray  # int32 [n_features], VALUE, MISSING, or the level of a one-hot feature
    fill: np.ndarray  # float64 [n_columns], finite
    mode: np.ndarray  # int32 [n_columns], a level; -1: a missing value sets no level

    def __post_init__(self) -> None:
        check_integers("layout", source=self.source, level=self.level, mode=self.mode)
        check_floats("layout", fill=self.fill)
        if len(self.source) != len(self.level) or len(self.fill) != len(self.mode):
            raise ValueError("layout: source and level, and fill and mode, must have equal lengths")
        if len(self.source) and (self.source.min() < 0 or self.source.max() >= len(self.fill)):
            raise ValueError("layout: a feature belongs to a column that does not exist")
        if (np.diff(self.source) < 0).any() or (len(self.level) and self.level.min() < MISSING):
            raise ValueError("layout: features must be in column order and have valid level codes")

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless every feature is possible for its column in the schema."""
        if self.n_columns != len(schema):
            raise ValueError("layout: the number of columns differs from the schema")
        for j, column in enumerate(schema.columns):
            level = self.level[self.of_column(j)]
            n_levels = 0 if column.kind in (Kind.NUMERIC, Kind.TEXT) else len(column.levels)
            if (level >= n_levels).any() or not -1 <= self.mode[j] < max(n_levels, 1) or len(np.unique(level)) < len(level):
                raise ValueError(f"layout: column {column.name!r} has no such level")
            if (level == VALUE).any() and ((level >= 0).any() or column.kind in (Kind.NOMINAL, Kind.TEXT)):
                raise ValueError(f"layout: column {column.name!r} is not numeric")

    def __len__(self) -> int:
        return len(self.source)

    @property
    def n_columns(self) -> int:
        """Number of columns of the tables that this layout reads."""
        return len(self.fill)

    def of_column(self, column: int) -> slice:
        """Slice of the features of a column."""
        first, last = np.searchsorted(self.source, [column, column + 1])
        return slice(int(first), int(last))

    def take(self, features: np.ndarray) -> FeatureLayout:
        """Layout of some of the features (ascending indices)."""
        return FeatureLayout(self.source[features], self.level[features], self.fill, self.mode)

    def names(self, columns: tuple[Column, ...]) -> list[str]:
        """Names of the features, such as `age`, `colour=red`, `age is missing`."""
        return [_name(columns[j], int(level)) for j, level in zip(self.source, self.level, strict=True)]

    def matrix(self, table: Table, rows: slice = slice(None)) -> np.ndarray:
        """Raw features of some rows, missing values imputed. float64 [n_rows, n_features]"""
        values = table.values if rows == slice(None) else table.rows(*rows.indices(len(table))[:2]).values
        if isinstance(values, SparseColumns):
            values = tuple(values.matrix.toarray().T)
        if self._takes_all_as_they_are(values):
            stacked = np.stack(tuple(values), axis=1)
            return np.where(np.isnan(stacked), self.fill, stacked)
        return self._written(values, np.zeros((len(range(*rows.indices(len(table)))), len(self))))

    def by_feature(self, table: Table) -> np.ndarray:
        """Raw features of all rows, one feature after another in memory. float64 [n_features, n_rows]"""
        if isinstance(table.values, SparseColumns):
            return np.ascontiguousarray(self.matrix(table).T)
        if self._takes_all_as_they_are(table.values):
            stacked = np.stack(tuple(table.values))
            return np.where(np.isnan(stacked), self.fill[:, None], stacked)
        return self._written(table.values, np.zeros((len(self), len(table))).T).T

    def _takes_all_as_they_are(self, values: Iterable[Any]) -> bool:
        """Whether the features are exactly the columns, all float64. (In integer codes a missing value is −1, not NaN.)"""
        return self._is_plain and len(self) > 0 and all(column.dtype.kind == "f" for column in values)

    def _written(self, values: Iterable[Values], out: np.ndarray) -> np.ndarray:
        # once for all columns: for few rows it takes longer than the rest
        ends = np.searchsorted(self.source, np.arange(self.n_columns + 1)).tolist()
        for j, column in enumerate(values):
            if ends[j] < ends[j + 1]:
                self._write(out[:, ends[j] : ends[j + 1]], self.level[ends[j] : ends[j + 1]], j, column)
        return out

    def one_hot_entries(self, table: Table) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each column with 0/1 features: the rows in which one of them is 1, and the index of that feature."""
        for j, values in enumerate(table.values):
            features, level = self.of_column(j), self.level[self.of_column(j)]
            is_absent = is_missing(values)
            if (level == MISSING).any():
                rows = np.flatnonzero(is_absent)
                yield rows, np.full(len(rows), features.start + int(np.argmax(level == MISSING)))
            if (level >= 0).any():
                codes = np.where(is_absent, self.mode[j], values)
                index = np.full(max(int(level.max()), int(codes.max(initial=0))) + 2, -1)
                index[level[level >= 0]] = features.start + np.flatnonzero(level >= 0)
                feature = index[codes]  # a code of -1 reads the last entry, which is -1
                yield np.flatnonzero(feature >= 0), feature[feature >= 0]

    def view(self, table: Table) -> np.ndarray | None:
        """The caller's matrix without a copy, if every feature is one of its columns; missing values are still NaN. Else
        None.
        """
        return as_matrix(table) if self._is_plain and len(self) else None

    @property
    def _is_plain(self) -> bool:
        """Whether every column is one feature: its number or its rank."""
        return len(self) == self.n_columns and bool((self.level == VALUE).all())

    def _write(self, out: np.ndarray, levels: np.ndarray, column: int, values: np.ndarray | Tokens) -> None:
        if isinstance(values, Tokens):  # words are sparse features: see `Design.text`
            out[:, levels == MISSING] = values.missing[:, None]
            return
        is_absent = is_missing(values)
        for index in np.flatnonzero(levels < 0):
            out[:, index] = is_absent if levels[index] == MISSING else np.where(is_absent, self.fill[column], values)
        level_features = np.flatnonzero(levels >= 0)
        if len(level_features):
            _mark(out, np.where(is_absent, self.mode[column], values), levels, level_features)


def features_of(schema: Schema, ordinal: str, gaps: np.ndarray) -> FeatureLayout:
    """Layout for the rows of a schema: all levels of nominal columns, and an indicator for each column with missing values.

    `gaps` (bool [n_columns]) flags the columns with missing values. Imputed values are not set yet (0 and -1).
    """
    source, level = [], []
    for j, column in enumerate(schema.columns):
        levels = [*_levels(column, ordinal), *([MISSING] if gaps[j] else [])]
        source += [j] * len(levels)
        level += levels
    return FeatureLayout(
        np.array(source, np.int32), np.array(level, np.int32), np.zeros(len(schema)), np.full(len(schema), -1, np.int32)
    )


def columns_with_missing(table: Table) -> np.ndarray:
    """Which columns have missing values; infinite values raise an error. bool [n_columns]"""
    if isinstance(table.values, SparseColumns):
        stored = table.values.matrix
        return np.bincount(stored.indices[np.isnan(stored.data)], minlength=stored.shape[1]) > 0
    whole = as_matrix(table)
    if whole is None:
        refuse_infinite(table.schema, table.values)
        return np.array([_has_gaps(values) for values in table.values], bool)
    found = np.zeros(whole.shape[1], bool)
    # by rows: a loop over columns would read the whole matrix once per column
    for first in range(0, len(whole), _BLOCK_ROWS):
        block = whole[first : first + _BLOCK_ROWS]
        with np.errstate(over="ignore", invalid="ignore"):
            is_complete = np.isfinite(block.sum())  # a finite sum proves that nothing is missing
        if not is_complete:
            if np.isinf(block).any():
                refuse_infinite(table.schema, table.values)
            found |= np.isnan(block).any(axis=0)
    return found


def side_by_side(table: Table) -> np.ndarray:
    """Columns of a numeric table as one row-major matrix: the caller's own array if possible, else a copy. float64 [n_rows,
    n_columns]
    """
    whole = as_matrix(table)
    if whole is not None and whole.strides[1] == whole.itemsize:
        return whole
    out = np.empty((len(table), len(table.values)))
    for first in range(0, len(table), _COPY_ROWS):
        rows = slice(first, first + _COPY_ROWS)
        out[rows] = np.array([values[rows] for values in table.values]).T
    return out


def as_matrix(table: Table) -> np.ndarray | None:
    """View of all columns as one matrix if they are numeric columns of one array, else None. float64 [n_rows, n_columns]"""
    plain = all(column.kind is Kind.NUMERIC for column in table.schema.columns)
    if not plain or isinstance(table.values, SparseColumns) or not len(table):
        return None
    if isinstance(table.values, tuple) and len(table.values) > 8 and table.values[0].base is None:
        return None  # the first column owns its memory, so the columns are not one array
    whole = next(matrices(table, range(len(table.values))), None)
    if whole is None or whole.shape[1] != len(table.values) or whole.flags.owndata:
        return None
    return whole


def _has_gaps(values: np.ndarray | Tokens) -> bool:
    return bool(is_missing(values).any())


def _levels(column: Column, ordinal: str) -> list[int]:
    if column.kind is Kind.TEXT:
        return []
    if column.kind is Kind.NUMERIC or (column.kind is Kind.ORDINAL and ordinal == "rank"):
        return [VALUE]
    return list(range(len(column.levels)))


def _name(column: Column, level: int) -> str:
    if level == VALUE:
        return column.name
    return f"{column.name} is missing" if level == MISSING else f"{column.name}={column.show(level)}"


def _mark(out: np.ndarray, codes: np.ndarray, levels: np.ndarray, marks: np.ndarray) -> None:
    """Set the feature of each row's level to 1; a level without a feature (reference level, missing) sets none."""
    position = np.full(max(int(levels.max()), int(codes.max(initial=0))) + 2, -1)
    position[levels[marks]] = marks
    feature = position[codes]  # a code of -1 reads the last entry, which is -1
    rows = np.flatnonzero(feature >= 0)
    out[rows, feature[rows]] = 1.0


def check_integers(what: str, **arrays: np.ndarray) -> None:
    """Raise ValueError unless all arrays are one-dimensional int32."""
    for name, array in arrays.items():
        if array.dtype != np.int32 or array.ndim != 1:
            raise ValueError(f"{what}: {name} must be a one-dimensional int32 array")


def check_floats(what: str, **arrays: np.ndarray) -> None:
    """Raise ValueError unless all arrays are finite float64."""
    for name, array in arrays.items():
        if array.dtype != np.float64 or not np.isfinite(array).all():
            raise ValueError(f"{what}: {name} must be a finite float64 array")
