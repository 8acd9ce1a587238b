"""Weighted mean and standard deviation of each feature, for numbers of any size.

Squares are taken about a pivot among the values; where they would leave the range of doubles, in a unit that is a power of
two near the column's own size, so that nothing is lost.
"""

from __future__ import annotations

from itertools import chain

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.blas import chunks, in_order
from baytree.engine.runs import Runs
from baytree.linear.design.features import VALUE, WIDE, Layout, as_matrix, gaps_of
from baytree.table.table import SparseColumns, Table

_ROWS = 1024
_TINY = 1e-140  # below it, squares leave the range of doubles
_LEAST, _MOST = 5e-324, np.finfo(np.float64).max


class Look(msgspec.Struct, frozen=True):
    """What one read of a table tells: which columns have gaps and, for a plain matrix without any, its moments."""

    gaps: np.ndarray  # bool [n_columns]
    moments: tuple[np.ndarray, np.ndarray] | None = None


def look_at(table: Table) -> Look:
    """The gaps of a table. A matrix is summed in the hope that it has none: looking first would read it twice."""
    whole = as_matrix(table)
    if whole is not None and whole.strides[1] == whole.itemsize:
        pivot = _middle(whole[:: max(1, len(whole) // 101)])
        mean, spread = _plain_moments(whole, table.weight, pivot)
        if np.isfinite(mean).all() and np.isfinite(spread).all() and (spread > _TINY).all():
            return Look(np.zeros(whole.shape[1], bool), (mean, spread))
    return Look(gaps_of(table))


def moments_of(table: Table, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean and standard deviation (divisor n) of each feature, a block of rows at a time."""
    if isinstance(table.values, SparseColumns) and (layout.level == VALUE).all() and not gaps_of(table).any():
        return _sparse_moments(table, layout)
    numbers = layout.level == VALUE
    if len(layout) <= WIDE or numbers.all():
        return _dense_moments(table, layout)
    mean, spread = _mark_moments(table, layout)
    mean[numbers], spread[numbers] = _dense_moments(table, layout.take(np.flatnonzero(numbers)))
    return mean, spread


def _dense_moments(table: Table, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    pivot = _pivot(table, layout)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, spread = _moments_in(table, layout, pivot, np.ones(len(layout)))
    unsafe = ~(np.isfinite(mean) & np.isfinite(spread)) | ((spread < _TINY) & (layout.level == VALUE))
    if unsafe.any():  # squares left the range of doubles, or the column is constant
        mean, spread = _moments_in(table, layout, pivot, np.where(unsafe, _units(table, layout, pivot), 1.0))
    return mean, spread


def _plain_moments(whole: np.ndarray, weight: np.ndarray, pivot: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    def part(rows: slice) -> np.ndarray:
        sums = np.zeros((2, whole.shape[1]))
        for first in range(rows.start, rows.stop, _ROWS):  # few rows to a sum: rounding grows with their number
            own = np.zeros_like(sums)
            _core.column_moments(whole, weight, pivot, first, min(first + _ROWS, rows.stop), own[0], own[1])
            sums += own
        return sums

    with np.errstate(over="ignore", invalid="ignore"):
        mean, square = Runs(len(whole)).total(part) / weight.sum()
        return pivot + mean, np.sqrt(np.maximum(square - mean**2, 0.0))


def _moments_in(table: Table, layout: Layout, pivot: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation, with squares taken of (value − pivot) / unit."""
    whole = _complete(table, layout)

    def part(rows: slice) -> tuple[list, list, list]:
        return _block_moments(table, layout, whole, (pivot, unit), rows)

    parts = zip(*in_order(part, chunks(len(table))), strict=True)
    totals, means, squares = (list(chain.from_iterable(lists)) for lists in parts)
    share = np.array(totals) / np.sum(totals)
    mean = share @ np.array(means)
    variance = np.sum(squares, axis=0) / np.sum(totals) + share @ np.square(means - mean)
    is_plain = bool((unit == 1).all())
    return (pivot / unit + mean) * unit, unit * np.sqrt(variance) if is_plain else _in_range(unit, np.sqrt(variance))


def _in_range(unit: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """unit · spread as doubles that can be divided by: where there is spread, neither 0 nor infinite."""
    with np.errstate(over="ignore"):
        return np.where(spread > 0, np.clip(unit * spread, _LEAST, _MOST), 0.0)


def _units(table: Table, layout: Layout, pivot: np.ndarray) -> np.ndarray:
    """The power of two above each feature's largest distance from its pivot; 1 where there is none."""
    largest = np.zeros(len(layout))
    for first in range(0, len(table), _ROWS):
        x = layout.matrix(table, slice(first, min(first + _ROWS, len(table))))
        with np.errstate(over="ignore"):
            largest = np.maximum(largest, np.abs(x - pivot).max(axis=0))
    exponent = np.clip(np.frexp(np.minimum(largest, _MOST))[1] + 1, -1000, 1000).astype(np.float64)
    return np.where(largest > 0, np.exp2(exponent), 1.0)


def _block_moments(
    table: Table, layout: Layout, whole: np.ndarray | None, frame: tuple[np.ndarray, np.ndarray], rows: slice
) -> tuple[list, list, list]:
    """Weight, mean and sum of squares about it, of each block of a run of rows, about a pivot and in a unit."""
    pivot, unit = frame
    is_plain = bool((unit == 1).all())
    totals, means, squares = [], [], []
    for first in range(rows.start, rows.stop, _ROWS):
        own = slice(first, min(first + _ROWS, rows.stop))
        weight = table.weight[own]
        total = weight.sum()
        x = whole[own] if whole is not None else layout.matrix(table, own)
        x = x - pivot if is_plain else x / unit - pivot / unit
        mean = weight @ x / total if total > 0 else np.zeros(len(layout))
        x -= mean
        totals.append(total)
        means.append(mean)
        squares.append(weight @ np.square(x, out=x))
    return totals, means, squares


def _mark_moments(table: Table, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the features that are 0 or 1, from counts; 0 for numbers."""
    share = table.weight / table.weight.sum()
    mean = np.zeros(len(layout))
    for own, feature in layout.marks(table):
        mean += np.bincount(feature, share[own], minlength=len(layout))
    return mean, np.sqrt(np.maximum(mean * (1 - mean), 0.0))


def _sparse_moments(table: Table, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the columns of a sparse matrix; what is not stored is 0."""
    matrix, share = table.values.matrix, table.weight / table.weight.sum()

    def total(stored: np.ndarray) -> np.ndarray:
        return type(matrix)((stored, matrix.indices, matrix.indptr), shape=matrix.shape).T @ share

    mean = total(matrix.data)
    apart = np.square(matrix.data - mean[matrix.indices])
    variance = total(apart) + np.maximum(1 - total(np.ones(len(apart))), 0.0) * mean**2
    return mean[layout.source], np.sqrt(variance)[layout.source]


def _pivot(table: Table, layout: Layout) -> np.ndarray:
    """A value of each feature, the median of about a hundred rows, so that a constant column is exactly constant."""
    step = max(1, len(table) // 101)
    whole = _complete(table, layout)
    return _middle(whole[::step] if whole is not None else layout.matrix(table.take(np.arange(0, len(table), step))))


def _complete(table: Table, layout: Layout) -> np.ndarray | None:
    """The caller's own matrix, if the features are its columns and no gap has to be filled."""
    whole = layout.view(table)
    return None if whole is None or gaps_of(table).any() else whole


def _middle(some: np.ndarray) -> np.ndarray:
    return np.sort(some, axis=0)[len(some) // 2]
