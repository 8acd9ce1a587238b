"""The features of a table: which number each column, level or gap becomes, and how a row turns into a vector.

A column of numbers (or of ranks) is one feature, a nominal column one feature per level, and a column with gaps has
one more feature that tells where they are. A layout is learnt from no more than that; centring, scaling and the choice
of a reference level belong to the `Design`.

What the arrays of a record must be: a file could hold anything.
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

VALUE = -1  # the feature is the column's number or rank

MISSING = -2  # the feature is 1 where the column has a gap

WIDE = 2000  # features; from here on, marks are told by their place and never written side by side

_TURNED = 4096  # rows whose columns are put side by side at a time, within the cache

_ROWS = 2048  # rows of a block: a hundred features of them stay in the cache


class FeatureLayout(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="layout"):
    """Features in column order, and what stands in for a gap: a number (`fill`) or a level (`mode`) per column."""

    source: np.ndarray  # int32 [n_features], the column of each feature, ascending
    level: np.ndarray  # int32 [n_features], VALUE, MISSING, or the level that the feature marks
    fill: np.ndarray  # float64 [n_columns], finite
    mode: np.ndarray  # int32 [n_columns], a level, or -1: a gap marks no level

    def __post_init__(self) -> None:
        check_integers("layout", source=self.source, level=self.level, mode=self.mode)
        check_floats("layout", fill=self.fill)
        if len(self.source) != len(self.level) or len(self.fill) != len(self.mode):
            raise ValueError("layout: source and level, fill and mode must be of one length")
        if len(self.source) and (self.source.min() < 0 or self.source.max() >= len(self.fill)):
            raise ValueError("layout: a feature belongs to a column that does not exist")
        if (np.diff(self.source) < 0).any() or (len(self.level) and self.level.min() < MISSING):
            raise ValueError("layout: features must be in column order, levels must not be negative")

    def check(self, schema: Schema) -> None:
        """Raises an error unless every feature is one that the columns of a schema can have."""
        if self.n_columns != len(schema):
            raise ValueError("layout: another number of columns than in the schema")
        for j, column in enumerate(schema.columns):
            level = self.level[self.of_column(j)]
            n_levels = 0 if column.kind in (Kind.NUMERIC, Kind.TEXT) else len(column.levels)
            if (level >= n_levels).any() or not -1 <= self.mode[j] < max(n_levels, 1) or len(np.unique(level)) < len(level):
                raise ValueError(f"layout: column {column.name!r} has no such level")
            if (level == VALUE).any() and ((level >= 0).any() or column.kind in (Kind.NOMINAL, Kind.TEXT)):
                raise ValueError(f"layout: column {column.name!r} is no number")

    def __len__(self) -> int:
        return len(self.source)

    @property
    def n_columns(self) -> int:
        """The number of columns of the tables that this layout reads."""
        return len(self.fill)

    def of_column(self, column: int) -> slice:
        """The features of a column."""
        first, last = np.searchsorted(self.source, [column, column + 1])
        return slice(int(first), int(last))

    def take(self, features: np.ndarray) -> FeatureLayout:
        """The layout of these features only (ascending)."""
        return FeatureLayout(self.source[features], self.level[features], self.fill, self.mode)

    def names(self, columns: tuple[Column, ...]) -> list[str]:
        """What each feature is called: `age`, `colour=red`, `age is missing`."""
        return [_name(columns[j], int(level)) for j, level in zip(self.source, self.level, strict=True)]

    def matrix(self, table: Table, rows: slice = slice(None)) -> np.ndarray:
        """The features of these rows, gaps filled. [n_rows, n_features]"""
        values = table.values if rows == slice(None) else table.rows(*rows.indices(len(table))[:2]).values
        if isinstance(values, SparseColumns):
            values = tuple(values.matrix.toarray().T)
        if self._takes_all_as_they_are(values):
            wide = np.stack(tuple(values), axis=1)
            return np.where(np.isnan(wide), self.fill, wide)
        return self._written(values, np.zeros((len(range(*rows.indices(len(table)))), len(self))))

    def by_feature(self, table: Table) -> np.ndarray:
        """The same of all rows, feature after feature. [n_features, n_rows]"""
        if isinstance(table.values, SparseColumns):
            return np.ascontiguousarray(self.matrix(table).T)
        if self._takes_all_as_they_are(table.values):
            wide = np.stack(tuple(table.values))
            return np.where(np.isnan(wide), self.fill[:, None], wide)
        return self._written(table.values, np.zeros((len(self), len(table))).T).T

    def _takes_all_as_they_are(self, values: Iterable[Any]) -> bool:
        """Whether the features are the columns, all of them numbers: a gap among ranks is −1."""
        return self._is_plain and len(self) > 0 and all(column.dtype.kind == "f" for column in values)

    def _written(self, values: Iterable[Values], out: np.ndarray) -> np.ndarray:
        bound = np.searchsorted(self.source, np.arange(self.n_columns + 1)).tolist()  # once: it takes longer than few rows
        for j, column in enumerate(values):
            if bound[j] < bound[j + 1]:
                self._write(out[:, bound[j] : bound[j + 1]], self.level[bound[j] : bound[j + 1]], j, column)
        return out

    def one_hot_entries(self, table: Table) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """For each column, the rows in which one of its marks is 1, and the feature that is."""
        for j, values in enumerate(table.values):
            own, level = self.of_column(j), self.level[self.of_column(j)]
            gap = is_missing(values)
            if (level == MISSING).any():
                rows = np.flatnonzero(gap)
                yield rows, np.full(len(rows), own.start + int(np.argmax(level == MISSING)))
            if (level >= 0).any():
                codes = np.where(gap, self.mode[j], values)
                place = np.full(max(int(level.max()), int(codes.max(initial=0))) + 2, -1)
                place[level[level >= 0]] = own.start + np.flatnonzero(level >= 0)
                at = place[codes]  # a code of -1 reads the last entry, which is -1
                yield np.flatnonzero(at >= 0), at[at >= 0]

    def view(self, table: Table) -> np.ndarray | None:
        """The caller's own matrix, uncopied, where every feature is a number column of it; gaps are still NaN."""
        return as_matrix(table) if self._is_plain and len(self) else None

    @property
    def _is_plain(self) -> bool:
        """Whether every column is one feature, its number or its rank."""
        return len(self) == self.n_columns and bool((self.level == VALUE).all())

    def _write(self, out: np.ndarray, levels: np.ndarray, column: int, values: np.ndarray | Tokens) -> None:
        if isinstance(values, Tokens):  # its words are sparse and live elsewhere
            out[:, levels == MISSING] = values.missing[:, None]
            return
        gap = is_missing(values)
        for place in np.flatnonzero(levels < 0):
            out[:, place] = gap if levels[place] == MISSING else np.where(gap, self.fill[column], values)
        marks = np.flatnonzero(levels >= 0)
        if len(marks):
            _mark(out, np.where(gap, self.mode[column], values), levels, marks)


def features_of(schema: Schema, ordinal: str, gaps: np.ndarray) -> FeatureLayout:
    """The layout of rows of a schema: all levels of nominal columns, and an indicator where a column has gaps.

    `gaps` tells which columns have some. bool [n_columns]
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
    """Which columns have missing values; an infinite one is refused on the way. bool [n_columns]"""
    if isinstance(table.values, SparseColumns):
        stored = table.values.matrix
        return np.bincount(stored.indices[np.isnan(stored.data)], minlength=stored.shape[1]) > 0
    whole = as_matrix(table)
    if whole is None:
        refuse_infinite(table.schema, table.values)
        return np.array([_has_gaps(values) for values in table.values], bool)
    found = np.zeros(whole.shape[1], bool)
    for first in range(0, len(whole), _ROWS):  # column by column, each would read the whole matrix again
        block = whole[first : first + _ROWS]
        with np.errstate(over="ignore", invalid="ignore"):
            is_complete = np.isfinite(block.sum())  # a finite sum tells at once that nothing is missing
        if not is_complete:
            if np.isinf(block).any():
                refuse_infinite(table.schema, table.values)
            found |= np.isnan(block).any(axis=0)
    return found


def side_by_side(table: Table) -> np.ndarray:
    """The columns of a table of numbers as one matrix: their own, or a copy. float64 [n_rows, n_columns]"""
    whole = as_matrix(table)
    if whole is not None and whole.strides[1] == whole.itemsize:
        return whole
    out = np.empty((len(table), len(table.values)))
    for first in range(0, len(table), _TURNED):
        own = slice(first, first + _TURNED)
        out[own] = np.array([values[own] for values in table.values]).T
    return out


def as_matrix(table: Table) -> np.ndarray | None:
    """All columns as one matrix, if they are number columns that lie in one array: no copy is made. [n_rows, n_columns]"""
    plain = all(column.kind is Kind.NUMERIC for column in table.schema.columns)
    if not plain or isinstance(table.values, SparseColumns) or not len(table):
        return None
    if isinstance(table.values, tuple) and len(table.values) > 8 and table.values[0].base is None:
        return None  # a column of its own: not all lie together
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
    """Set the feature of each row's level to 1; a level without a feature (the reference, a gap) marks nothing."""
    position = np.full(max(int(levels.max()), int(codes.max(initial=0))) + 2, -1)
    position[levels[marks]] = marks
    at = position[codes]  # a code of -1 reads the last entry, which is -1
    rows = np.flatnonzero(at >= 0)
    out[rows, at[rows]] = 1.0


def check_integers(what: str, **arrays: np.ndarray) -> None:
    """Refuse arrays that are not flat int32."""
    for name, array in arrays.items():
        if array.dtype != np.int32 or array.ndim != 1:
            raise ValueError(f"{what}: {name} must be a vector of int32")


def check_floats(what: str, **arrays: np.ndarray) -> None:
    """Refuse arrays that are not finite float64."""
    for name, array in arrays.items():
        if array.dtype != np.float64 or not np.isfinite(array).all():
            raise ValueError(f"{what}: {name} must hold finite float64 numbers")
