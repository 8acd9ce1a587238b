"""The scatter of a table's rows, in one read of them."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.blas import chunks, in_order
from baytree.linear.design.features import VALUE, Layout, features_of
from baytree.linear.discriminant.scatter import Scatter
from baytree.table.table import SparseColumns, Table

_BLOCK = 1024  # rows: a block of a hundred features stays in the second-level cache
_LARGEST = 2**31  # bytes of covariances
_SAFE = 1e140  # squares of numbers beyond it, or below its inverse, leave the range of doubles


def scatter_of(table: Table, pooled: bool) -> Scatter:
    """Weight, mean and scatter of each class, with one scatter matrix for all classes where they are pooled."""
    hopeful = features_of(table, "dummies", np.zeros(len(table.values), bool))
    _refuse_too_wide(table, hopeful, pooled)
    whole = hopeful.view(table)
    if whole is not None:  # a gap would make a mean NaN: reading once and hoping is faster than looking first
        seen = _observe(table, hopeful, whole, pooled)
        if np.isfinite(seen.mean).all():
            return seen
    return _observe(table, _filled(table, features_of(table, "dummies")), None, pooled)


def _observe(table: Table, layout: Layout, whole: np.ndarray | None, pooled: bool) -> Scatter:
    pivot = _pivot(table, layout, whole)
    with np.errstate(over="ignore", invalid="ignore"):
        seen = _sums(table, layout, whole, pivot, np.ones(len(layout)), pooled)
    if np.isnan(seen.mean).any() and whole is not None:
        return seen  # gaps, or infinities that are about to be refused
    return seen if _is_safe(seen) else _sums(table, layout, whole, pivot, _units(table, layout, whole, pivot), pooled)


def _refuse_too_wide(table: Table, layout: Layout, pooled: bool) -> None:
    """Refuse a covariance that would fill the memory, before any is taken."""
    size = 8 * len(layout) ** 2 * (1 if pooled else max(table.n_classes, 1))
    if size <= _LARGEST:
        return
    column = table.schema.columns[int(np.bincount(layout.source).argmax())]
    needs = f"a covariance of {len(layout):,} features needs {size / 2**30:,.0f} GiB"
    if column.levels:
        needs = f"column {column.name!r} has {len(column.levels):,} levels: {needs}; leave it out"
    else:
        needs = f"{needs}; choose columns first (SelectFeatures)"
    raise ValueError(f"{needs}, or use LogisticRegression, NaiveBayesClassifier or a tree")


class _Block(msgspec.Struct, frozen=True):
    """The rows of a table as the kernel wants them."""

    table: Table
    layout: Layout
    whole: np.ndarray | None  # the caller's own matrix
    pivot: np.ndarray
    unit: np.ndarray
    pooled: bool

    def rows(self, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        """The features of these rows, and what to subtract from them."""
        x = self.layout.matrix(self.table, rows) if self.whole is None else np.ascontiguousarray(self.whole[rows])
        if (self.unit == 1).all():
            return x, self.pivot
        return x / self.unit - self.pivot / self.unit, np.zeros(len(self.unit))


def _sums(
    table: Table, layout: Layout, whole: np.ndarray | None, pivot: np.ndarray, unit: np.ndarray, pooled: bool
) -> Scatter:
    """One read of the rows: class means of each block, scatter about them, then the scatter of the block means."""
    block = _Block(table, layout, whole, pivot, unit, pooled)
    parts = in_order(lambda rows: _chunk(block, rows), chunks(len(table)))
    totals, means = (np.concatenate([part[i] for part in parts]) for i in range(2))
    spread = np.sum([part[2] for part in parts], axis=0)
    return _joined(block, totals, means, spread)


def _chunk(block: _Block, rows: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights [n_blocks, n_classes], means [n_blocks, n_classes, p] and scatter about them, of a run of rows."""
    table, p, n_classes = block.table, len(block.layout), block.table.n_classes
    spread = np.zeros((1 if block.pooled else n_classes, p, p))
    starts = range(rows.start, rows.stop, _BLOCK)
    totals, means = np.zeros((len(starts), n_classes)), np.zeros((len(starts), n_classes * p))
    buffer = np.empty(_BLOCK * p)
    for i, first in enumerate(starts):
        own = slice(first, min(first + _BLOCK, rows.stop))
        x, centre = block.rows(own)
        label, weight = np.ascontiguousarray(table.label[own]), np.ascontiguousarray(table.weight[own])
        order = np.arange(len(label)) if block.pooled else np.argsort(label, kind="stable")
        place = np.empty(len(label), np.int64)
        place[order] = np.arange(len(label))
        _core.centre_classes(x, label, weight, centre, place, totals[i], means[i], buffer)
        _add_products(spread, buffer[: len(label) * p].reshape(len(label), p), label[order], block.pooled)
    return totals, means.reshape(len(starts), n_classes, p), spread


def _add_products(spread: np.ndarray, centred: np.ndarray, label: np.ndarray, pooled: bool) -> None:
    if pooled:
        spread[0] += centred.T @ centred
        return
    present, first = np.unique(label, return_index=True)
    for k, a, b in zip(present, first, [*first[1:], len(label)], strict=True):
        spread[k] += centred[a:b].T @ centred[a:b]


def _joined(block: _Block, totals: np.ndarray, means: np.ndarray, spread: np.ndarray) -> Scatter:
    weight = totals.sum(axis=0)
    mean = (
        np.einsum("bk,bkj->kj", totals, means) * np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0)[:, None]
    )
    rows = (means - mean) * np.sqrt(totals)[:, :, None]  # [n_blocks, n_classes, n_features]
    for k in range(len(weight)):
        spread[0 if block.pooled else k] += rows[:, k].T @ rows[:, k]
    return Scatter(block.layout, block.pivot, block.unit, weight, mean, spread, block.pooled)


def _filled(table: Table, layout: Layout) -> Layout:
    """The layout with a number near the column's own in place of a gap, so that sums stay small."""
    fill = layout.fill.copy()
    if isinstance(table.values, SparseColumns):  # most values are 0
        return layout
    for j, values in enumerate(table.values):
        if values.dtype.kind == "f":
            known = values[:: max(1, len(values) // 101)]
            known = known[~np.isnan(known)]
            fill[j] = _first_known(values) if not len(known) else np.sort(known)[len(known) // 2]
    return msgspec.structs.replace(layout, fill=fill)


def _first_known(values: np.ndarray) -> float:
    known = np.flatnonzero(~np.isnan(values))
    return float(values[known[0]]) if len(known) else 0.0


def _pivot(table: Table, layout: Layout, whole: np.ndarray | None) -> np.ndarray:
    """A number near the middle of each feature: the median of about a hundred rows; 0 for marks."""
    pivot = np.zeros(len(layout))
    if whole is not None and len(table):
        step = max(1, len(table) // 101)
        return np.nan_to_num(np.sort(whole[::step], axis=0)[len(whole[::step]) // 2], posinf=0.0, neginf=0.0)
    numbers = layout.level == VALUE
    pivot[numbers] = layout.fill[layout.source[numbers]]
    return pivot


def _units(table: Table, layout: Layout, whole: np.ndarray | None, pivot: np.ndarray) -> np.ndarray:
    """The power of two next to each feature's largest distance from its pivot."""
    largest = np.zeros(len(layout))
    for first in range(0, len(table), _BLOCK):
        rows = slice(first, first + _BLOCK)
        x = whole[rows] if whole is not None else layout.matrix(table, rows)
        with np.errstate(over="ignore"):
            largest = np.maximum(largest, np.abs(x - pivot).max(axis=0))
    exponent = np.clip(np.frexp(np.minimum(largest, np.finfo(np.float64).max))[1] + 1, -1000, 1000)
    return np.where((largest > 0) & (layout.level == VALUE), np.exp2(exponent.astype(np.float64)), 1.0)


def _is_safe(seen: Scatter) -> bool:
    square = np.einsum("kjj->j", seen.spread)
    near = np.abs(seen.mean) < _SAFE
    seen_to_vary = (square > _SAFE**-2) | ((square == 0) & (seen.mean == 0).all(axis=0))
    return bool(near.all() and (square < _SAFE**2).all() and seen_to_vary.all())
