"""The scatter of a table's rows, in one read of them.

A target of numbers as one more column, the last: then the scatter of the rows holds all that least squares needs.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import SparseColumns, Table
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema, Target
from baytree.linear.design.feature_layout import VALUE, FeatureLayout, as_matrix, columns_with_missing, features_of
from baytree.linear.scatter.scatter import Scatter
from baytree.parallel.blas import chunks, in_order

_BLOCK = 1024  # rows: a block of a hundred features stays in the second-level cache

_LARGEST = 2**31  # bytes of covariances

_SAFE = 1e140  # squares of numbers beyond it, or below its inverse, leave the range of doubles


def scatter_of(table: Table, pooled: bool) -> Scatter:
    """Weight, mean and scatter of each class, with one scatter matrix for all classes where they are pooled."""
    return _scatter(table, as_matrix(table), pooled)


def scatter_with_target(table: Table) -> Scatter:
    """Weight, mean and scatter of all rows as one class, their target of numbers the last feature: see `beside_target`."""
    return _scatter(beside_target(table, np.zeros(len(table), np.int32), 1), as_matrix(table), True)


def scatters_with_target(table: Table, group: np.ndarray, n_groups: int) -> list[Scatter]:
    """The same of each group of rows, in one read of them all. group int32 [n_rows]"""
    return _scatter(beside_target(table, group, n_groups), as_matrix(table), False).by_class()


def _scatter(table: Table, whole: np.ndarray | None, pooled: bool) -> Scatter:
    hopeful = features_of(table.schema, "dummies", np.zeros(len(table.values), bool))
    _refuse_too_wide(table, hopeful, pooled)
    if whole is not None:  # a gap would make a mean NaN: reading once and hoping is faster than looking first
        seen = _observe(_Features(table, hopeful, whole), pooled)
        if np.isfinite(seen.mean).all():
            return seen
    return _observe(
        _Features(table, _filled(table, features_of(table.schema, "dummies", columns_with_missing(table)))), pooled
    )


class _Features(msgspec.Struct, frozen=True):
    """The features of a table's rows; `whole` is the caller's own matrix of them, with or without the last."""

    table: Table
    layout: FeatureLayout
    whole: np.ndarray | None = None

    def of(self, rows: slice) -> np.ndarray:
        """The features of these rows. [n_rows, n_features]"""
        if self.whole is None:
            return self.layout.matrix(self.table, rows)
        if self.whole.shape[1] == len(self.layout):
            return self.whole[rows]
        return np.column_stack([self.whole[rows], self.table.values[-1][rows]])


def _observe(features: _Features, pooled: bool) -> Scatter:
    pivot = _pivot(features)
    with np.errstate(over="ignore", invalid="ignore"):
        seen = _sums(_Block(features, pivot, np.ones(len(pivot)), pooled))
    if np.isnan(seen.mean).any() and features.whole is not None:
        return seen  # gaps, or infinities that are about to be refused
    return seen if _is_safe(seen) else _sums(_Block(features, pivot, _units(features, pivot), pooled))


def _refuse_too_wide(table: Table, layout: FeatureLayout, pooled: bool) -> None:
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
    raise ValueError(f"{needs}, or use a tree, or for classes LogisticRegression or NaiveBayesClassifier")


class _Block(msgspec.Struct, frozen=True):
    """The rows of a table as the kernel wants them: about a pivot and in units."""

    features: _Features
    pivot: np.ndarray
    unit: np.ndarray
    pooled: bool

    @property
    def table(self) -> Table:
        """The rows, their classes and weights."""
        return self.features.table

    def rows(self, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        """The features of these rows, and what to subtract from them."""
        x = np.ascontiguousarray(self.features.of(rows))
        if (self.unit == 1).all():
            return x, self.pivot
        return x / self.unit - self.pivot / self.unit, np.zeros(len(self.unit))


def _sums(block: _Block) -> Scatter:
    """One read of the rows: class means of each block, scatter about them, then the scatter of the block means."""
    parts = in_order(lambda rows: _chunk(block, rows), chunks(len(block.table)))
    totals, means = (np.concatenate([part[i] for part in parts]) for i in range(2))
    spread = np.sum([part[2] for part in parts], axis=0)
    return _joined(block, totals, means, spread)


def _chunk(block: _Block, rows: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights [n_blocks, n_classes], means [n_blocks, n_classes, p] and scatter about them, of a run of rows."""
    table, p, n_classes = block.table, len(block.pivot), block.table.n_classes
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
    return Scatter(block.features.layout, block.pivot, block.unit, weight, mean, spread, block.pooled)


def _filled(table: Table, layout: FeatureLayout) -> FeatureLayout:
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


def _pivot(features: _Features) -> np.ndarray:
    """A number near the middle of each feature: the median of about a hundred rows; 0 for marks."""
    table, layout = features.table, features.layout
    if features.whole is not None and len(table):
        some = features.of(slice(None, None, max(1, len(table) // 101)))
        return np.nan_to_num(np.sort(some, axis=0)[len(some) // 2], posinf=0.0, neginf=0.0)
    pivot, numbers = np.zeros(len(layout)), layout.level == VALUE
    pivot[numbers] = layout.fill[layout.source[numbers]]
    return pivot


def _units(features: _Features, pivot: np.ndarray) -> np.ndarray:
    """The power of two next to each feature's largest distance from its pivot."""
    largest = np.zeros(len(pivot))
    for first in range(0, len(features.table), _BLOCK):
        with np.errstate(over="ignore"):
            apart = np.abs(features.of(slice(first, first + _BLOCK)) - pivot)
        largest = np.maximum(largest, apart.max(axis=0))
    exponent = np.clip(np.frexp(np.minimum(largest, np.finfo(np.float64).max))[1] + 1, -1000, 1000)
    return np.where((largest > 0) & (features.layout.level == VALUE), np.exp2(exponent.astype(np.float64)), 1.0)


def _is_safe(seen: Scatter) -> bool:
    square = np.einsum("kjj->j", seen.spread)
    near = np.abs(seen.mean) < _SAFE
    seen_to_vary = (square > _SAFE**-2) | ((square == 0) & (seen.mean == 0).all(axis=0))
    return bool(near.all() and (square < _SAFE**2).all() and seen_to_vary.all())


def with_target(schema: Schema, n_groups: int = 1) -> Schema:
    """The schema whose last column is the target, a number, and whose classes are groups of rows."""
    target = Column(schema.target.name, Kind.NUMERIC)
    return msgspec.structs.replace(schema, columns=(*schema.columns, target), target=Target("", tuple(range(n_groups))))


def beside_target(table: Table, group: np.ndarray, n_groups: int) -> Table:
    """The table with its target as the last column, its rows in groups. group int32 [n_rows]"""
    values, label = table.values, table.label
    if isinstance(values, SparseColumns):
        from scipy.sparse import hstack

        values = SparseColumns(hstack([values.matrix, label[:, None]], format="csr"))
    else:
        values = (*values, label)
    return Table(with_target(table.schema, n_groups), values, table.weight, group, table.is_unweighted)
