"""Warnings about columns whose standard deviation is dominated by one outlier.

In units of such a standard deviation all other values are nearly equal, so a model on standardised features cannot use the
column. The check reads about a hundred rows, in a pass that another statistic needs anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import msgspec
import numpy as np

from baytree import _warnings
from baytree.data.encoding.table import DenseColumns, SparseColumns, Table
from baytree.data.frames.arrays import are_number_columns
from baytree.data.schema.column import Kind
from baytree.engine.aggregates import Detail, Marginals, as_query
from baytree.engine.partitions import Partitions
from baytree.statistics.containers import RowArrays, every_nth

_MIN_MEDIAN_DEVIATION = (
    1e-3  # standard deviations; if half of the values are closer to the median, the column is nearly constant
)

_SAMPLE_ROWS = (
    101  # rows in the sample: enough to see whether half of a column is nearly constant; odd, so that the median is a value
)


class Outliers:
    """Sample of the numeric columns.

    Create it before the pass that computes their standard deviations: then it needs no pass of its own.
    """

    def __init__(self, rows: Partitions):
        self.rows, columns = rows, rows.schema.columns
        self.numbers: Sequence[int] = range(len(columns))
        if not (are_number_columns(columns) or rows.schema.is_numbers):
            self.numbers = [j for j, column in enumerate(columns) if column.kind is Kind.NUMERIC]
        step, middle = max(1, rows.n_rows // _SAMPLE_ROWS), rows.n_rows // 2
        self._sample_query = rows.submit(partial(_sample, self.numbers, step, middle), None) if self.numbers else None

    def warn(self, columns: Iterable[int], spread: np.ndarray) -> None:
        """Warn of each of these columns that one outlier dominates, naming the column, the value and the remedy.

        `spread` has the standard deviation of each of the columns; columns that are not numeric are ignored.
        """
        numeric = np.fromiter(columns, np.int64)
        is_number = np.isin(numeric, self.numbers)
        numeric, spread = numeric[is_number], spread[is_number]
        index = np.searchsorted(self.numbers, numeric)
        if self._sample_query is None or not len(numeric):
            return
        sample, middle_row = self._sample_query().arrays
        if not len(middle_row):
            return  # a sparse matrix, which is mostly 0
        # halved, because the distance between two doubles may overflow
        close = np.flatnonzero(~(np.abs(sample[0, index] / 2 - middle_row[0, index] / 2) > _MIN_MEDIAN_DEVIATION * spread))
        affected = numeric[close[_are_nearly_equal(sample[:, index[close]], spread[close])]].tolist()
        if affected:
            largest = self.rows.map_reduce(partial(_largest_values, affected), rows_per_part=None)
            _warn([self.rows.schema.columns[j].name for j in affected], largest.value)


def _sample_form(columns: Sequence[int], _step: int, _middle: int) -> Marginals:
    n_columns = max(columns, default=-1) + 1
    details = [Detail.BUCKETS if j in set(columns) else Detail.NOTHING for j in range(n_columns)]
    return Marginals(tuple(details), observe=partial(_sample_by_weight, columns))


def _sample_by_weight(columns: Sequence[int], table: Table) -> RowArrays:
    """Evenly spaced values of the rows that weighted rows stand for, which are ordered by class and value."""
    ends = np.cumsum(table.weight)
    rows = np.searchsorted(ends, (np.arange(_SAMPLE_ROWS) + 0.5) * (ends[-1] / _SAMPLE_ROWS))
    sample = np.stack([table.values[j][np.minimum(rows, len(ends) - 1)] for j in columns], axis=1)
    return RowArrays.of(0, sample, sample[len(sample) // 2][None])


@as_query(_sample_form)
def _sample(columns: Sequence[int], step: int, middle: int, table: Table) -> RowArrays:
    """The part of a sample of evenly spaced rows of the whole table that is in this partition, and the middle row."""
    if isinstance(table.values, SparseColumns):
        return RowArrays.of(table.first, np.zeros((0, len(columns))), np.zeros((0, len(columns))))
    sampled = every_nth(step, table.first, len(table))
    middle_rows = slice(middle - table.first, middle - table.first + 1) if table.first <= middle else slice(0)
    if isinstance(table.values, DenseColumns) and list(columns) == list(range(len(table.values))):
        return RowArrays.of(table.first, table.values.matrix[sampled], table.values.matrix[middle_rows])
    numeric = [table.values[j] for j in columns]
    chosen = [np.stack([values[rows] for values in numeric], axis=1) for rows in (sampled, middle_rows)]
    return RowArrays.of(table.first, *chosen)


def _are_nearly_equal(sample: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Whether half of the values of each column [n_rows, n_columns] are within `_MIN_MEDIAN_DEVIATION` of the median.

    The distance is in standard deviations; columns with fewer than three values or distance 0 are not. bool [n_columns]
    """
    if not sample.size:
        return np.zeros(sample.shape[1], bool)
    n_observed = (~np.isnan(sample)).sum(axis=0)
    half = np.minimum(n_observed // 2, len(sample) - 1)[None]  # NaN sorts last
    middle = np.take_along_axis(np.sort(sample / 2, axis=0), half, axis=0)
    distance = np.take_along_axis(np.sort(np.abs(sample / 2 - middle), axis=0), half, axis=0)[0]
    return (n_observed >= 3) & (distance > 0) & (distance < _MIN_MEDIAN_DEVIATION * spread)


class _LargestValues(msgspec.Struct, frozen=True):
    """Value of largest magnitude in each column."""

    value: np.ndarray

    def __add__(self, other: _LargestValues) -> _LargestValues:
        return _LargestValues(np.where(~(np.abs(other.value) > np.abs(self.value)), self.value, other.value))


def _largest_form(columns: list[int]) -> Marginals:
    return Marginals(tuple(Detail.BUCKETS if j in columns else Detail.NOTHING for j in range(max(columns) + 1)))


@as_query(_largest_form)
def _largest_values(columns: list[int], table: Table) -> _LargestValues:
    return _LargestValues(np.array([_largest_value(table.values[j]) for j in columns]))


def _largest_value(values: np.ndarray) -> float:
    return float(values[np.nanargmax(np.abs(values))]) if not np.isnan(values).all() else 0.0


def _warn(names: list[str], values: np.ndarray) -> None:
    for name, value in zip(names, values, strict=True):
        _warnings.warn(
            f"column {name!r}: the value {value:g} is so far from the others that it dominates the standard deviation, and "
            "in units of it they are nearly equal; remove or clip it, or use a tree"
        )
