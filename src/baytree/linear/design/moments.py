"""Mean and spread of features, weighted, whatever the size of the columns, in rounds over the parts of the rows.

Squares are taken about a pivot among the values; where they would leave the range of doubles, in a unit that is a power of
two near the column's own size, so that nothing is lost.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.engine.partitions import Partitions
from baytree.engine.worker_results import TableList, concatenate_tables
from baytree.linear.design.feature_layout import VALUE, WIDE, FeatureLayout, columns_with_missing, side_by_side
from baytree.linear.design.row_summary import ROWS, Moments, RowStorage, RowSummary, blocks_of, row_matrix
from baytree.parallel.blas import RowChunks
from baytree.statistics.containers import Maximum, RowArrays, every_nth

_SAMPLE = 101  # rows of which a pivot is the median

_FEW = 1 << 18  # rows of which a copy costs little memory: a part has fewer

_TINY = 1e-140  # below it, squares leave the range of doubles

_LEAST, _MOST = 5e-324, np.finfo(np.float64).max


def summarize_rows(rows: Partitions) -> RowSummary:
    """The gaps of the rows. A matrix is summed in the hope that it has none: looking first would read it twice."""
    gaps = rows.submit(columns_with_missing, rows_per_part=None)
    some = rows.submit(partial(TableList.of, partial(_some_rows, max(1, rows.n_rows // _SAMPLE))), rows_per_part=None)
    lie = rows.map_reduce(RowStorage.of, rows_per_part=None)
    if lie.is_matrix:
        mean, spread = _matrix_moments(rows, lie.weight)
        if np.isfinite(mean).all() and np.isfinite(spread).all() and (spread > _TINY).all():
            return RowSummary(lie, np.zeros(len(mean), bool), (mean, spread))
    return RowSummary(lie, gaps(), some=None if lie.is_sparse else concatenate_tables(some().tables))


def _some_rows(step: int, table: Table) -> Table:
    """About a hundred rows: a pivot is a value among them, so that a constant column is exactly constant."""
    return table.take(np.arange(len(table))[every_nth(step, table.first, len(table))])


def moments_of(rows: Partitions, layout: FeatureLayout, look: RowSummary) -> Moments:
    """Weighted mean and standard deviation (divisor n) of each feature, a block of rows at a time."""
    numbers = layout.level == VALUE
    if look.lie.is_sparse and numbers.all() and not look.gaps.any():
        return _sparse_moments(rows, layout, look)
    if len(layout) <= WIDE or numbers.all():
        return _dense_moments(rows, layout, look)
    return _by_counts(rows, layout, look)


def moments_by_counts(rows: Partitions, layout: FeatureLayout, look: RowSummary) -> Moments:
    """The same, those of marks from the weight of the rows that have them: even few are not written side by side."""
    is_otherwise = look.lie.is_sparse or bool((layout.level == VALUE).all())
    return (moments_of if is_otherwise else _by_counts)(rows, layout, look)


def _by_counts(rows: Partitions, layout: FeatureLayout, look: RowSummary) -> Moments:
    numbers = np.flatnonzero(layout.level == VALUE)
    mean = rows.map_reduce(partial(_weight_of_marks, layout), rows_per_part=None) / look.weight
    spread = np.sqrt(np.maximum(mean * (1 - mean), 0.0))
    if len(numbers):
        mean[numbers], spread[numbers] = _dense_moments(rows, layout.take(numbers), look)
    return mean, spread


def _matrix_moments(rows: Partitions, weight: float) -> Moments:
    step = max(1, rows.n_rows // _SAMPLE)
    pivot = _middle(rows.map_reduce(partial(_matrix_rows, step), rows_per_part=None).arrays[0])
    with np.errstate(over="ignore", invalid="ignore"):
        mean, square = rows.map_reduce(partial(_matrix_sums, pivot), rows_per_part=None) / weight
        return pivot + mean, np.sqrt(np.maximum(square - mean**2, 0.0))


def _matrix_rows(step: int, table: Table) -> RowArrays:
    whole = row_matrix(table)
    return RowArrays.of(table.first, whole[every_nth(step, table.first, len(whole))])


def _matrix_sums(pivot: np.ndarray, table: Table) -> np.ndarray:
    """Weighted sums of values about a pivot, and of their squares. [2, n_columns]"""
    whole, weight = row_matrix(table), table.weight

    def part(rows: slice) -> np.ndarray:
        sums = np.zeros((2, whole.shape[1]))
        for first in range(rows.start, rows.stop, ROWS):  # few rows to a sum: rounding grows with their number
            own = np.zeros_like(sums)
            _core.column_moments(whole, weight, pivot, first, min(first + ROWS, rows.stop), own[0], own[1])
            sums += own
        return sums

    with np.errstate(over="ignore", invalid="ignore"):
        return RowChunks(len(whole)).total(part)


def _dense_moments(rows: Partitions, layout: FeatureLayout, look: RowSummary) -> Moments:
    assert look.some is not None
    pivot, has_gaps = _middle(layout.matrix(look.some)), bool(look.gaps.any())
    with np.errstate(over="ignore", invalid="ignore"):
        mean, spread = _moments_in(rows, layout, has_gaps, pivot, np.ones(len(layout)))
    unsafe = ~(np.isfinite(mean) & np.isfinite(spread)) | ((spread < _TINY) & (layout.level == VALUE))
    if unsafe.any():  # squares left the range of doubles, or the column is constant
        units = _units(rows.map_reduce(partial(_distance, layout, pivot), rows_per_part=None).value)
        mean, spread = _moments_in(rows, layout, has_gaps, pivot, np.where(unsafe, units, 1.0))
    return mean, spread


def _moments_in(rows: Partitions, layout: FeatureLayout, has_gaps: bool, pivot: np.ndarray, unit: np.ndarray) -> Moments:
    """Mean and standard deviation, with squares taken of (value − pivot) / unit."""
    blocks = rows.map_reduce(
        lambda table: blocks_of(table, layout, _complete(table, layout, has_gaps), (pivot, unit)), rows_per_part=None
    )
    share = np.array(blocks.totals) / np.sum(blocks.totals)
    mean = share @ np.array(blocks.means)
    variance = np.sum(blocks.squares, axis=0) / np.sum(blocks.totals) + share @ np.square(blocks.means - mean)
    is_plain = bool((unit == 1).all())
    return (pivot / unit + mean) * unit, unit * np.sqrt(variance) if is_plain else _in_range(unit, np.sqrt(variance))


def _in_range(unit: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """unit · spread as doubles that can be divided by: where there is spread, neither 0 nor infinite."""
    with np.errstate(over="ignore"):
        return np.where(spread > 0, np.clip(unit * spread, _LEAST, _MOST), 0.0)


def _distance(layout: FeatureLayout, pivot: np.ndarray, table: Table) -> Maximum:
    """Each feature's largest distance from its pivot."""
    largest = np.zeros(len(layout))
    for first in range(0, len(table), ROWS):
        x = layout.matrix(table, slice(first, min(first + ROWS, len(table))))
        with np.errstate(over="ignore"):
            largest = np.maximum(largest, np.abs(x - pivot).max(axis=0))
    return Maximum(largest)


def _units(largest: np.ndarray) -> np.ndarray:
    """The power of two above each distance; 1 where there is none."""
    exponent = np.clip(np.frexp(np.minimum(largest, _MOST))[1] + 1, -1000, 1000).astype(np.float64)
    return np.where(largest > 0, np.exp2(exponent), 1.0)


def _weight_of_marks(layout: FeatureLayout, table: Table) -> np.ndarray:
    """The weight of the rows that have each of the features that are 0 or 1; 0 for numbers."""
    weight = np.zeros(len(layout))
    for own, feature in layout.one_hot_entries(table):
        weight += np.bincount(feature, table.weight[own], minlength=len(layout))
    return weight


def _sparse_moments(rows: Partitions, layout: FeatureLayout, look: RowSummary) -> Moments:
    """Mean and standard deviation of the columns of a sparse matrix; what is not stored is 0."""
    mean = rows.map_reduce(lambda table: _stored_sum(table, table.values.matrix.data, look.weight), rows_per_part=None)

    def squares(table: Table) -> np.ndarray:
        matrix = table.values.matrix
        apart = np.square(matrix.data - mean[matrix.indices])
        ones = np.ones(len(apart))
        return np.stack([_stored_sum(table, each, look.weight) for each in (apart, ones)])

    apart, stored = rows.map_reduce(squares, rows_per_part=None)
    variance = apart + np.maximum(1 - stored, 0.0) * mean**2
    return mean[layout.source], np.sqrt(variance)[layout.source]


def _stored_sum(table: Table, stored: np.ndarray, total: float) -> np.ndarray:
    """Σ share of the row · number, by column, of numbers in the places of those that are stored."""
    matrix = table.values.matrix
    return type(matrix)((stored, matrix.indices, matrix.indptr), shape=matrix.shape).T @ (table.weight / total)


def _complete(table: Table, layout: FeatureLayout, has_gaps: bool) -> np.ndarray | None:
    """The rows as a matrix, if the features are their columns and no gap has to be filled; a copy where they are few."""
    if has_gaps:
        return None
    is_plain = len(layout) == layout.n_columns and len(table) <= _FEW and table.schema.is_numbers
    return side_by_side(table) if is_plain else layout.view(table)


def _middle(some: np.ndarray) -> np.ndarray:
    return np.sort(some, axis=0)[len(some) // 2]
