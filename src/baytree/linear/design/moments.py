"""Weighted mean and standard deviation of features, without overflow or cancellation, by map-reduce over the partitions.

Squares are taken about a pivot (a median of about a hundred rows), block by block, and the blocks are combined (Chan, Golub
and LeVeque 1983). If squares would overflow or underflow, values are first divided by a power of two near the feature's
size, which is exact. `summarize_rows` is the first pass over the rows; `moments_of` and `moments_by_counts` serve the other
cases.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.engine.partitions import Partitions
from baytree.engine.worker_results import TableList, concatenate_tables
from baytree.linear.design.feature_layout import MAX_DENSE_FEATURES, VALUE, FeatureLayout, columns_with_missing, side_by_side
from baytree.linear.design.row_summary import BLOCK_ROWS, Moments, RowStorage, RowSummary, blocks_of, row_matrix
from baytree.parallel.blas import RowChunks
from baytree.statistics.containers import Maximum, RowArrays, every_nth

_PIVOT_SAMPLE_ROWS = 101  # rows whose median is the pivot

_MAX_COPY_ROWS = 1 << 18  # rows; a partition with at most that many is copied, which costs little memory

_MIN_SAFE = 1e-140  # squares of smaller numbers underflow

_MIN_DOUBLE, _MAX_DOUBLE = 5e-324, np.finfo(np.float64).max


def summarize_rows(rows: Partitions) -> RowSummary:
    """First pass over the rows: storage, missing values and, for a plain matrix without missing values, its moments.

    The moments of a matrix are computed before missing values are looked for: usually there are none, and looking first
    would read it twice.
    """
    gaps = rows.submit(columns_with_missing, rows_per_part=None)
    sample = rows.submit(
        partial(TableList.of, partial(_some_rows, max(1, rows.n_rows // _PIVOT_SAMPLE_ROWS))), rows_per_part=None
    )
    storage = rows.map_reduce(RowStorage.of, rows_per_part=None)
    if storage.is_matrix:
        mean, deviation = _matrix_moments(rows, storage.weight)
        if np.isfinite(mean).all() and np.isfinite(deviation).all() and (deviation > _MIN_SAFE).all():
            return RowSummary(storage, np.zeros(len(mean), bool), (mean, deviation))
    return RowSummary(storage, gaps(), some=None if storage.is_sparse else concatenate_tables(sample().tables))


def _some_rows(step: int, table: Table) -> Table:
    """About a hundred rows. The pivot is a value among them, so that a constant column gets a deviation of exactly 0."""
    return table.take(np.arange(len(table))[every_nth(step, table.first, len(table))])


def moments_of(rows: Partitions, layout: FeatureLayout, look: RowSummary) -> Moments:
    """Weighted mean and standard deviation (divisor n) of each feature, one block of rows at a time."""
    numeric = layout.level == VALUE
    if look.lie.is_sparse and numeric.all() and not look.gaps.any():
        return _sparse_moments(rows, layout, look)
    if len(layout) <= MAX_DENSE_FEATURES or numeric.all():
        return _dense_moments(rows, layout, look)
    return _by_counts(rows, layout, look)


def moments_by_counts(rows: Partitions, layout: FeatureLayout, look: RowSummary) -> Moments:
    """Moments of each feature; those of 0/1 features follow from the weight of their rows, without a dense matrix."""
    needs_general = look.lie.is_sparse or bool((layout.level == VALUE).all())
    return (moments_of if needs_general else _by_counts)(rows, layout, look)


def _by_counts(rows: Partitions, layout: FeatureLayout, look: RowSummary) -> Moments:
    numeric = np.flatnonzero(layout.level == VALUE)
    mean = rows.map_reduce(partial(_weight_of_marks, layout), rows_per_part=None) / look.weight
    deviation = np.sqrt(np.maximum(mean * (1 - mean), 0.0))
    if len(numeric):
        mean[numeric], deviation[numeric] = _dense_moments(rows, layout.take(numeric), look)
    return mean, deviation


def _matrix_moments(rows: Partitions, weight: float) -> Moments:
    step = max(1, rows.n_rows // _PIVOT_SAMPLE_ROWS)
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
        for first in range(rows.start, rows.stop, BLOCK_ROWS):  # short sums: rounding grows with the number of terms
            own = np.zeros_like(sums)
            _core.column_moments(whole, weight, pivot, first, min(first + BLOCK_ROWS, rows.stop), own[0], own[1])
            sums += own
        return sums

    with np.errstate(over="ignore", invalid="ignore"):
        return RowChunks(len(whole)).total(part)


def _dense_moments(rows: Partitions, layout: FeatureLayout, look: RowSummary) -> Moments:
    assert look.some is not None
    pivot, has_gaps = _middle(layout.matrix(look.some)), bool(look.gaps.any())
    with np.errstate(over="ignore", invalid="ignore"):
        mean, deviation = _moments_in(rows, layout, has_gaps, pivot, np.ones(len(layout)))
    is_unsafe = ~(np.isfinite(mean) & np.isfinite(deviation)) | ((deviation < _MIN_SAFE) & (layout.level == VALUE))
    if is_unsafe.any():  # squares overflowed or underflowed, or the column is constant
        units = _units(rows.map_reduce(partial(_distance, layout, pivot), rows_per_part=None).value)
        mean, deviation = _moments_in(rows, layout, has_gaps, pivot, np.where(is_unsafe, units, 1.0))
    return mean, deviation


def _moments_in(rows: Partitions, layout: FeatureLayout, has_gaps: bool, pivot: np.ndarray, unit: np.ndarray) -> Moments:
    """Mean and standard deviation, from squares of (value − pivot) / unit."""
    blocks = rows.map_reduce(
        lambda table: blocks_of(table, layout, _complete(table, layout, has_gaps), (pivot, unit)), rows_per_part=None
    )
    proportion = np.array(blocks.totals) / np.sum(blocks.totals)
    mean = proportion @ np.array(blocks.means)
    variance = np.sum(blocks.squares, axis=0) / np.sum(blocks.totals) + proportion @ np.square(blocks.means - mean)
    is_plain = bool((unit == 1).all())
    return (pivot / unit + mean) * unit, unit * np.sqrt(variance) if is_plain else _in_range(unit, np.sqrt(variance))


def _in_range(unit: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """unit · spread clipped to positive finite doubles, so that one can divide by it; 0 stays 0."""
    with np.errstate(over="ignore"):
        return np.where(spread > 0, np.clip(unit * spread, _MIN_DOUBLE, _MAX_DOUBLE), 0.0)


def _distance(layout: FeatureLayout, pivot: np.ndarray, table: Table) -> Maximum:
    """Largest distance of each feature from its pivot."""
    largest = np.zeros(len(layout))
    for first in range(0, len(table), BLOCK_ROWS):
        x = layout.matrix(table, slice(first, min(first + BLOCK_ROWS, len(table))))
        with np.errstate(over="ignore"):
            largest = np.maximum(largest, np.abs(x - pivot).max(axis=0))
    return Maximum(largest)


def _units(largest: np.ndarray) -> np.ndarray:
    """Power of two above each distance; 1 for a distance of 0."""
    exponent = np.clip(np.frexp(np.minimum(largest, _MAX_DOUBLE))[1] + 1, -1000, 1000).astype(np.float64)
    return np.where(largest > 0, np.exp2(exponent), 1.0)


def _weight_of_marks(layout: FeatureLayout, table: Table) -> np.ndarray:
    """Weight of the rows in which each 0/1 feature is 1; 0 for numeric features. [n_features]"""
    weight = np.zeros(len(layout))
    for own, feature in layout.one_hot_entries(table):
        weight += np.bincount(feature, table.weight[own], minlength=len(layout))
    return weight


def _sparse_moments(rows: Partitions, layout: FeatureLayout, look: RowSummary) -> Moments:
    """Mean and standard deviation of the columns of a sparse matrix, whose unstored entries are 0."""
    mean = rows.map_reduce(lambda table: _stored_sum(table, table.values.matrix.data, look.weight), rows_per_part=None)

    def squares(table: Table) -> np.ndarray:
        matrix = table.values.matrix
        squared = np.square(matrix.data - mean[matrix.indices])
        ones = np.ones(len(squared))
        return np.stack([_stored_sum(table, each, look.weight) for each in (squared, ones)])

    squared, stored = rows.map_reduce(squares, rows_per_part=None)
    variance = squared + np.maximum(1 - stored, 0.0) * mean**2
    return mean[layout.source], np.sqrt(variance)[layout.source]


def _stored_sum(table: Table, stored: np.ndarray, total: float) -> np.ndarray:
    """Σ (row weight / total) · value per column, for values at the stored entries."""
    matrix = table.values.matrix
    return type(matrix)((stored, matrix.indices, matrix.indptr), shape=matrix.shape).T @ (table.weight / total)


def _complete(table: Table, layout: FeatureLayout, has_gaps: bool) -> np.ndarray | None:
    """Rows as a matrix if the features are the columns and nothing must be imputed (few rows are copied); else None."""
    if has_gaps:
        return None
    is_plain = len(layout) == layout.n_columns and len(table) <= _MAX_COPY_ROWS and table.schema.is_numbers
    return side_by_side(table) if is_plain else layout.view(table)


def _middle(some: np.ndarray) -> np.ndarray:
    return np.sort(some, axis=0)[len(some) // 2]
