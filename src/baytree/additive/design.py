"""Rows of an additive model as bins: identical rows are grouped, so that no sum depends on the order of the rows.

A term is a curve (one axis) or a surface (two). Its coefficients are those of its cells; cells without rows and without
neighbours to borrow from keep the value 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from baytree.additive.axis import Axis
from baytree.data.encoding.table import Table
from baytree.folds.content_folds import mix_bits

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class GroupedRows(msgspec.Struct, frozen=True):
    """Groups of rows with equal bins and, for classes, an equal label; sorted by a hash of their contents."""

    axes: tuple[Axis, ...]  # by column, of those that vary
    bins: tuple[np.ndarray, ...]  # int64 [n_groups], of each axis
    weight: np.ndarray  # float64 [n_groups]
    label: np.ndarray  # class codes, or the mean of the numbers of the group
    content: np.ndarray  # uint64 [n_groups], hash of the bins that ignores the order of columns, and the label
    within: float = 0.0  # weighted sum of squares of numbers about the means of their groups

    def __len__(self) -> int:
        return len(self.weight)

    def position(self, column: int) -> int:
        """Index of the axis of a column, −1 if it has none."""
        return next((k for k, axis in enumerate(self.axes) if axis.column == column), -1)


def group_rows(table: Table, axes: Sequence[Axis]) -> GroupedRows:
    """Rows of a table in groups."""
    bins = [axis.bins(np.ascontiguousarray(table.values[axis.column])) for axis in axes]
    is_number = table.schema.target.classes is None
    label = np.asarray(table.label, np.float64 if is_number else np.int64)
    key = np.zeros(len(table), np.uint64) if is_number else mix_bits(label.view(np.uint64))
    content = np.zeros(len(table), np.uint64)
    for each in bins:
        mixed = mix_bits(each.view(np.uint64) + _MULTIPLIER)
        key = mix_bits(key * _MULTIPLIER + mixed)
        content += mixed
    order = (
        np.lexsort((table.weight, label, key)) if is_number or not table.is_unweighted else np.argsort(key, kind="stable")
    )
    ordered = [each[order] for each in bins]
    key, label, weight = key[order], label[order], table.weight[order]
    is_first = np.ones(len(key), bool)
    np.not_equal(key[1:], key[:-1], out=is_first[1:])
    first = np.flatnonzero(is_first)
    total = np.add.reduceat(weight, first)
    within = 0.0
    if is_number:
        mean = np.add.reduceat(weight * label, first) / total
        within = float((weight * (label - np.repeat(mean, np.diff(np.append(first, len(key))))) ** 2).sum())
        label = mean
    else:
        label = label[first]
    content = mix_bits(content[order][first])
    return GroupedRows(tuple(axes), tuple(each[first] for each in ordered), total, label, content, within)


class TermCells(msgspec.Struct, frozen=True):
    """Cells of a term and the cell of each group of rows."""

    axes: tuple[int, ...]  # indices of axes
    shape: tuple[int, ...]  # bins of known values and missing, of each axis
    cell: np.ndarray  # int64 [n_groups]
    penalty: np.ndarray  # float64 [n_cells, n_cells], scaled
    weight: np.ndarray  # float64 [n_cells], of the rows
    is_pooled: bool  # whether its strength is pooled with those of other terms
    direction: int = 0  # 1 or −1: the values never fall or never rise over the known bins

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.weight)


def curve_cells(rows: GroupedRows, k: int, *, is_ordered: bool, direction: int = 0) -> TermCells:
    """Term of one axis."""
    axis, cell = rows.axes[k], rows.bins[k]
    weight = np.bincount(cell, rows.weight, axis.n_bins)
    roughness = np.zeros((axis.n_bins, axis.n_bins))
    roughness[: axis.n_known, : axis.n_known] = differences(axis.n_known) if is_ordered else np.eye(axis.n_known)
    roughness[-1, -1] = 1.0
    return TermCells((k,), (axis.n_bins,), cell, scaled(roughness, weight), weight, True, direction)


def surface_cells(rows: GroupedRows, pair: tuple[int, int], own: tuple[Axis, Axis], ordered: tuple[bool, bool]) -> TermCells:
    """Term of two axes, which may be coarser than those of the curves."""
    codes = [coarsened(rows.axes[k], rows.bins[k], axis) for k, axis in zip(pair, own, strict=True)]
    shape = own[0].n_bins, own[1].n_bins
    cell = codes[0] * shape[1] + codes[1]
    weight = np.bincount(cell, rows.weight, shape[0] * shape[1])
    first, second = (_side(axis, is_ordered) for axis, is_ordered in zip(own, ordered, strict=True))
    roughness = np.kron(first, np.eye(shape[1])) + np.kron(np.eye(shape[0]), second)
    return TermCells(pair, shape, cell, scaled(roughness, weight), weight, False)


def _side(axis: Axis, is_ordered: bool) -> np.ndarray:
    """Roughness along one axis of a surface: differences of neighbours, or from the mean; missing from the mean."""
    n = axis.n_bins
    centred = np.eye(n) - 1.0 / n
    if not is_ordered:
        return centred
    roughness = np.zeros((n, n))
    roughness[:-1, :-1] = differences(n - 1)
    return roughness + np.outer(centred[-1], centred[-1])


def coarsened(fine: Axis, bins: np.ndarray, coarse: Axis) -> np.ndarray:
    """Bins of a coarser axis."""
    if len(fine.bin_of_level):
        new = np.full(fine.n_bins, coarse.n_known, np.int64)
        new[fine.bin_of_level] = coarse.bin_of_level
        return new[bins]
    new = np.append(np.searchsorted(coarse.cuts, np.append(fine.cuts, np.inf), side="left"), coarse.n_known)
    return new.astype(np.int64)[bins]


def differences(n: int) -> np.ndarray:
    """Sum of squared differences of neighbours as a quadratic form. [n, n]"""
    step = np.diff(np.eye(n), axis=0)
    return step.T @ step


def scaled(roughness: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Penalty with which a strength of 1 means unit variance of the term over the rows; its weighted mean is penalised too.

    The intercept is free, so the penalty on the mean makes it 0 and changes nothing else.
    """
    share = weight / weight.sum()
    variance = np.diag(share) - np.outer(share, share)
    full = roughness + np.outer(share, share) * max(float(np.trace(roughness)), 1.0)
    factor = float(np.trace(np.linalg.solve(full, variance)))
    return full * max(factor, 1e-12)
