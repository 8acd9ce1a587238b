"""Compute the `Scatter` of a table's rows in one pass over them.

Rows are read in blocks; the class means and the scatter of each block are combined at the end (Chan, Golub and LeVeque
1983). Squares are taken about a pivot and, if they would overflow or underflow, in units of a power of two. For regression,
`beside_target` appends the target as the last column, so that the scatter of all rows holds everything that least squares
needs.
"""

from __future__ import annotations

from functools import partial

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import SparseColumns, Table
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema, Target
from baytree.engine.aggregates import FeatureProducts
from baytree.linear.design.feature_layout import VALUE, FeatureLayout, as_matrix, columns_with_missing, features_of
from baytree.linear.scatter.scatter import Scatter
from baytree.parallel.blas import chunks, in_order

_BLOCK_ROWS = 1024  # rows per block: a hundred features of them fit the second-level cache

_MAX_COVARIANCE_BYTES = 2**31  # bytes; a larger covariance is refused

_MAX_SAFE = 1e140  # squares of numbers above it, or below its inverse, overflow or underflow


def scatter_of(table: Table, pooled: bool) -> Scatter:
    """Weight, mean and scatter of each class; one scatter matrix for all classes if `pooled`."""
    return _scatter(table, as_matrix(table), pooled)


def scatter_form(pooled: bool, has_target: bool = False) -> FeatureProducts:
    """Request for the sums that make up a `Scatter`, for engines without rows."""

    def features(schema: Schema, missing: np.ndarray, middle: np.ndarray) -> FeatureLayout:
        own = with_target(schema) if has_target else schema
        layout = features_of(own, "dummies", missing)
        is_value = np.isin(np.arange(len(own)), layout.source[layout.level == VALUE])
        return msgspec.structs.replace(layout, fill=np.where(is_value, middle, layout.fill))

    return FeatureProducts(features, partial(_scatter_of_sums, pooled), has_target)


def _scatter_of_sums(
    pooled: bool, layout: FeatureLayout, pivot: np.ndarray, weight: np.ndarray, sums: np.ndarray, products: np.ndarray
) -> Scatter:
    """Scatter from sums about a pivot: weight [n_classes], sums [n_classes, p] and products [n_classes, p, p]."""
    mean = np.divide(sums, weight[:, None], out=np.zeros_like(sums), where=weight[:, None] > 0)
    spread = products - weight[:, None, None] * mean[:, :, None] * mean[:, None, :]
    spread = spread.sum(axis=0, keepdims=True) if pooled else spread
    return Scatter(layout, pivot, np.ones(len(pivot)), weight, mean, spread, pooled)


def scatter_with_target(table: Table) -> Scatter:
    """Weight, mean and scatter of all rows as one class, with the numeric target as the last feature (see
    `beside_target`).
    """
    return _scatter(beside_target(table, np.zeros(len(table), np.int32), 1), as_matrix(table), True)


def scatters_with_target(table: Table, group: np.ndarray, n_groups: int) -> list[Scatter]:
    """The same for each group of rows, in one pass. group int32 [n_rows]"""
    return _scatter(beside_target(table, group, n_groups), as_matrix(table), False).by_class()


def _scatter(table: Table, whole: np.ndarray | None, pooled: bool) -> Scatter:
    optimistic_layout = features_of(table.schema, "dummies", np.zeros(len(table.values), bool))
    _check_width(table, optimistic_layout, pooled)
    # optimistic: a missing value makes a mean NaN, and looking for one first would read the rows twice
    if whole is not None:
        statistic = _observe(_Features(table, optimistic_layout, whole), pooled)
        if np.isfinite(statistic.mean).all():
            return statistic
    return _observe(
        _Features(table, _filled(table, features_of(table.schema, "dummies", columns_with_missing(table)))), pooled
    )


class _Features(msgspec.Struct, frozen=True):
    """Features of a table's rows. `whole` is the caller's own matrix of them, with or without the target as last column."""

    table: Table
    layout: FeatureLayout
    whole: np.ndarray | None = None

    def of(self, rows: slice) -> np.ndarray:
        """Features of some rows. float64 [n_rows, n_features]"""
        if self.whole is None:
            return self.layout.matrix(self.table, rows)
        if self.whole.shape[1] == len(self.layout):
            return self.whole[rows]
        return np.column_stack([self.whole[rows], self.table.values[-1][rows]])


def _observe(features: _Features, pooled: bool) -> Scatter:
    pivot = _pivot(features)
    with np.errstate(over="ignore", invalid="ignore"):
        statistic = _sums(_Block(features, pivot, np.ones(len(pivot)), pooled))
    if np.isnan(statistic.mean).any() and features.whole is not None:
        return statistic  # missing values, or infinite ones that raise an error later
    return statistic if _is_safe(statistic) else _sums(_Block(features, pivot, _units(features, pivot), pooled))


def _check_width(table: Table, layout: FeatureLayout, pooled: bool) -> None:
    """Raise ValueError if the covariance would need more than `_MAX_COVARIANCE_BYTES`, before memory is allocated."""
    size = 8 * len(layout) ** 2 * (1 if pooled else max(table.n_classes, 1))
    if size <= _MAX_COVARIANCE_BYTES:
        return
    column = table.schema.columns[int(np.bincount(layout.source).argmax())]
    needs = f"a covariance of {len(layout):,} features needs {size / 2**30:,.0f} GiB"
    if column.levels:
        needs = f"column {column.name!r} has {len(column.levels):,} levels: {needs}; leave it out"
    else:
        needs = f"{needs}; select columns first (SelectFeatures)"
    raise ValueError(f"{needs}, or use a tree or, for classification, LogisticRegression or NaiveBayesClassifier")


class _Block(msgspec.Struct, frozen=True):
    """Rows of a table as the kernel reads them: relative to a pivot and in units."""

    features: _Features
    pivot: np.ndarray
    unit: np.ndarray
    pooled: bool

    @property
    def table(self) -> Table:
        """Rows, classes and weights."""
        return self.features.table

    def rows(self, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        """Features of some rows, and the vector to subtract from them."""
        x = np.ascontiguousarray(self.features.of(rows))
        if (self.unit == 1).all():
            return x, self.pivot
        return x / self.unit - self.pivot / self.unit, np.zeros(len(self.unit))


def _sums(block: _Block) -> Scatter:
    """Scatter in one pass: class means and scatter of each block, plus the scatter of the block means."""
    chunk_results = in_order(lambda rows: _chunk(block, rows), chunks(len(block.table)))
    totals, means = (np.concatenate([part[i] for part in chunk_results]) for i in range(2))
    spread = np.sum([part[2] for part in chunk_results], axis=0)
    return _joined(block, totals, means, spread)


def _chunk(block: _Block, rows: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights [n_blocks, n_classes], means [n_blocks, n_classes, p] and summed scatter of the blocks in a slice of rows."""
    table, p, n_classes = block.table, len(block.pivot), block.table.n_classes
    spread = np.zeros((1 if block.pooled else n_classes, p, p))
    starts = range(rows.start, rows.stop, _BLOCK_ROWS)
    totals, means = np.zeros((len(starts), n_classes)), np.zeros((len(starts), n_classes * p))
    buffer = np.empty(_BLOCK_ROWS * p)
    for i, first in enumerate(starts):
        own = slice(first, min(first + _BLOCK_ROWS, rows.stop))
        x, centre = block.rows(own)
        label, weight = np.ascontiguousarray(table.label[own]), np.ascontiguousarray(table.weight[own])
        order = np.arange(len(label)) if block.pooled else np.argsort(label, kind="stable")
        position = np.empty(len(label), np.int64)
        position[order] = np.arange(len(label))
        _core.centre_classes(x, label, weight, centre, position, totals[i], means[i], buffer)
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
    deviations = (means - mean) * np.sqrt(totals)[:, :, None]  # [n_blocks, n_classes, n_features]
    for k in range(len(weight)):
        spread[0 if block.pooled else k] += deviations[:, k].T @ deviations[:, k]
    return Scatter(block.features.layout, block.pivot, block.unit, weight, mean, spread, block.pooled)


def _filled(table: Table, layout: FeatureLayout) -> FeatureLayout:
    """Layout that imputes a number near the middle of each column, so that sums stay small."""
    fill = layout.fill.copy()
    if isinstance(table.values, SparseColumns):  # most values are 0, and so is the fill
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
    """Pivot of each feature: the median of about a hundred rows; 0 for 0/1 features."""
    table, layout = features.table, features.layout
    if features.whole is not None and len(table):
        sample = features.of(slice(None, None, max(1, len(table) // 101)))
        return np.nan_to_num(np.sort(sample, axis=0)[len(sample) // 2], posinf=0.0, neginf=0.0)
    pivot, is_number = np.zeros(len(layout)), layout.level == VALUE
    pivot[is_number] = layout.fill[layout.source[is_number]]
    return pivot


def _units(features: _Features, pivot: np.ndarray) -> np.ndarray:
    """Power of two above each numeric feature's largest distance from its pivot; 1 for 0/1 features."""
    largest = np.zeros(len(pivot))
    for first in range(0, len(features.table), _BLOCK_ROWS):
        with np.errstate(over="ignore"):
            distance = np.abs(features.of(slice(first, first + _BLOCK_ROWS)) - pivot)
        largest = np.maximum(largest, distance.max(axis=0))
    exponent = np.clip(np.frexp(np.minimum(largest, np.finfo(np.float64).max))[1] + 1, -1000, 1000)
    return np.where((largest > 0) & (features.layout.level == VALUE), np.exp2(exponent.astype(np.float64)), 1.0)


def _is_safe(scatter: Scatter) -> bool:
    square = np.einsum("kjj->j", scatter.spread)
    is_finite_square = np.abs(scatter.mean) < _MAX_SAFE
    varies = (square > _MAX_SAFE**-2) | ((square == 0) & (scatter.mean == 0).all(axis=0))
    return bool(is_finite_square.all() and (square < _MAX_SAFE**2).all() and varies.all())


def with_target(schema: Schema, n_groups: int = 1) -> Schema:
    """Schema whose last column is the numeric target, and whose classes are groups of rows."""
    target = Column(schema.target.name, Kind.NUMERIC)
    return msgspec.structs.replace(schema, columns=(*schema.columns, target), target=Target("", tuple(range(n_groups))))


def beside_target(table: Table, group: np.ndarray, n_groups: int) -> Table:
    """Table with its target as the last column and its rows in groups. group int32 [n_rows]"""
    values, label = table.values, table.label
    if isinstance(values, SparseColumns):
        from scipy.sparse import hstack

        values = SparseColumns(hstack([values.matrix, label[:, None]], format="csr"))
    else:
        values = (*values, label)
    return Table(with_target(table.schema, n_groups), values, table.weight, group, table.is_unweighted)
