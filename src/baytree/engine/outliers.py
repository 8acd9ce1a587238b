"""Columns whose spread is one far value's alone: in units of it, all others are nearly the same number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import msgspec
import numpy as np

from baytree import _warnings
from baytree.data.encoding.table import DenseColumns, SparseColumns, Table
from baytree.data.frames.arrays import are_number_columns
from baytree.data.schema.column import Kind
from baytree.engine.partitions import Partitions
from baytree.statistics.containers import RowArrays, every_nth

_ALIKE = 1e-3  # of the spread: where half of a column lies closer together, models in these units hardly see it

_SAMPLE = 101  # rows that are looked at


class Outliers:
    """The columns of numbers of these rows; made before the round that finds their spread, it costs none of its own."""

    def __init__(self, rows: Partitions):
        self.rows, columns = rows, rows.schema.columns
        self.numbers: Sequence[int] = range(len(columns))
        if not (are_number_columns(columns) or rows.schema.is_numbers):
            self.numbers = [j for j, column in enumerate(columns) if column.kind is Kind.NUMERIC]
        step, middle = max(1, rows.n_rows // _SAMPLE), rows.n_rows // 2
        self._some = rows.submit(partial(_some, self.numbers, step, middle), None) if self.numbers else None

    def warn(self, columns: Iterable[int], spread: np.ndarray) -> None:
        """Name each of these columns that its farthest value has made useless, the value, and the remedy.

        `spread` has the standard deviation of each of the columns; those that hold no numbers are passed over.
        """
        asked = np.fromiter(columns, np.int64)
        is_number = np.isin(asked, self.numbers)
        asked, spread = asked[is_number], spread[is_number]
        at = np.searchsorted(self.numbers, asked)
        if self._some is None or not len(asked):
            return
        some, other = self._some().arrays
        if not len(other):
            return  # a sparse matrix, most of which is 0
        # halves: the distance between two doubles may be none
        close = np.flatnonzero(~(np.abs(some[0, at] / 2 - other[0, at] / 2) > _ALIKE * spread))
        found = asked[close[_are_alike(some[:, at[close]], spread[close])]].tolist()
        if found:
            far = self.rows.map_reduce(partial(_farthest, found), rows_per_part=None)
            _warn([self.rows.schema.columns[j].name for j in found], far.value)


def _some(columns: Sequence[int], step: int, middle: int, table: Table) -> RowArrays:
    """A hundred rows of the whole, as far as they are in this part, and the one in the middle."""
    if isinstance(table.values, SparseColumns):
        return RowArrays.of(table.first, np.zeros((0, len(columns))), np.zeros((0, len(columns))))
    own = every_nth(step, table.first, len(table))
    at = slice(middle - table.first, middle - table.first + 1) if table.first <= middle else slice(0)
    if isinstance(table.values, DenseColumns) and list(columns) == list(range(len(table.values))):
        return RowArrays.of(table.first, table.values.matrix[own], table.values.matrix[at])
    each = [table.values[j] for j in columns]
    chosen = [np.stack([values[rows] for values in each], axis=1) for rows in (own, at)]
    return RowArrays.of(table.first, *chosen)


def _are_alike(some: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Whether half of the known rows of each column [n_rows, n_columns] lie closer together than its spread tells apart."""
    if not some.size:
        return np.zeros(some.shape[1], bool)
    known = (~np.isnan(some)).sum(axis=0)
    half = np.minimum(known // 2, len(some) - 1)[None]  # numbers that are not known are sorted behind all others
    middle = np.take_along_axis(np.sort(some / 2, axis=0), half, axis=0)
    apart = np.take_along_axis(np.sort(np.abs(some / 2 - middle), axis=0), half, axis=0)[0]
    return (known >= 3) & (apart > 0) & (apart < _ALIKE * spread)


class _Far(msgspec.Struct, frozen=True):
    """The number of each column that is farthest from 0."""

    value: np.ndarray

    def __add__(self, other: _Far) -> _Far:
        return _Far(np.where(~(np.abs(other.value) > np.abs(self.value)), self.value, other.value))


def _farthest(columns: list[int], table: Table) -> _Far:
    return _Far(np.array([_far(table.values[j]) for j in columns]))


def _far(values: np.ndarray) -> float:
    return float(values[np.nanargmax(np.abs(values))]) if not np.isnan(values).all() else 0.0


def _warn(names: list[str], far: np.ndarray) -> None:
    for name, value in zip(names, far, strict=True):
        _warnings.warn(
            f"column {name!r}: the value {value:g} is so far from the others that, in units of the spread it makes, they "
            "are nearly the same; remove or clip it, or use a tree"
        )
