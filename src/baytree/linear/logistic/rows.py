"""Rows ready for logistic regression, and what they say about coefficients: loss, gradient, curvature.

Coefficients are an array theta [k, q]: k scores (one where there are two classes), q features, of which the last is the
constant 1. Weights sum to 1, so the loss is a mean. What rows say adds up over parts of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import product
from operator import add

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.blas import chunks, in_order
from baytree.linear.design.design import Design, Sparse
from baytree.linear.design.features import VALUE
from baytree.table.table import SparseColumns, Table

_BLOCK = 1024


class Slope(msgspec.Struct, frozen=True):
    """Mean loss and its gradient. A sum over rows."""

    loss: float
    gradient: np.ndarray  # [k, q]

    def __add__(self, other: Slope) -> Slope:
        return Slope(self.loss + other.loss, self.gradient + other.gradient)


class DenseRows(msgspec.Struct, frozen=True):
    """Features side by side: in the design's units, or as the caller has them and brought to those units on the way.

    A feature of the model is (x − centre) / scale; the constant 1 comes after the last.
    """

    x: np.ndarray  # float64 [n_rows, q − 1]
    centre: np.ndarray  # float64 [q − 1]
    scale: np.ndarray  # float64 [q − 1]
    label: np.ndarray  # int32 [n_rows]
    weight: np.ndarray  # float64 [n_rows], sums to 1
    k: int

    @property
    def q(self) -> int:
        """The number of features, the constant included."""
        return self.x.shape[1] + 1

    def with_weight(self, weight: np.ndarray) -> DenseRows:
        """The same rows with other weights."""
        return msgspec.structs.replace(self, weight=weight / weight.sum())

    def every(self, step: int) -> DenseRows:
        """One row of every few."""
        weight, label = self.weight[::step], np.ascontiguousarray(self.label[::step])
        x = np.ascontiguousarray(self.x[::step])
        return msgspec.structs.replace(self, x=x, label=label, weight=weight / weight.sum())

    def take(self, index: np.ndarray) -> DenseRows:
        """These rows."""
        return msgspec.structs.replace(self, x=self.x[index], label=self.label[index], weight=self.weight[index])

    def columns(self, features: np.ndarray) -> DenseRows:
        """The rows with these features only; the constant, last, is always among them."""
        own = features[:-1]
        x = np.ascontiguousarray(self.x[:, own])
        return msgspec.structs.replace(self, x=x, centre=self.centre[own], scale=self.scale[own])

    def scores(self, theta: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """The scores of these rows. [n, k]"""
        coefficient, start = self._raw(theta)
        return self.x[rows] @ coefficient.T + start

    def weighted_sum(self, weight: np.ndarray) -> np.ndarray:
        """The sum of the rows, each times a number. [q]"""
        total = weight.sum()
        return np.append((weight @ self.x - total * self.centre) / self.scale, total)

    def variances(self) -> np.ndarray:
        """The variance of each feature among the rows that count. [q − 1]"""

        def part(rows: slice) -> np.ndarray:
            sums = np.zeros((2, self.q - 1))
            _core.column_moments(self.x, self.weight, self.centre, rows.start, rows.stop, sums[0], sums[1])
            return sums

        mean, square = reduce(add, in_order(part, chunks(len(self.x)))) / self.weight.sum()
        return (square - mean**2) / self.scale**2

    def slope(self, theta: np.ndarray) -> Slope:
        """What all rows say at these coefficients."""
        coefficient, start = self._raw(theta)
        parts = in_order(lambda rows: self._slope(coefficient, start, rows), chunks(len(self.x)))
        raw = reduce(add, parts)
        return Slope(raw.loss, raw.gradient @ self.chain().T)

    def curvature(self, theta: np.ndarray) -> np.ndarray:
        """The second derivatives of the mean loss. [k * q, k * q]"""
        coefficient, start = self._raw(theta)
        raw = reduce(add, in_order(lambda rows: self._curvature(coefficient, start, rows), chunks(len(self.x))))
        chain = self.chain()
        edges = [slice(c * self.q, (c + 1) * self.q) for c in range(self.k)]
        for one, other in product(edges, edges):
            raw[one, other] = chain @ raw[one, other] @ chain.T
        return raw

    def _raw(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        coefficient = theta[:, :-1] / self.scale
        return coefficient, theta[:, -1] - coefficient @ self.centre

    def chain(self) -> np.ndarray:
        """Features of the model as a linear map of those of the rows, the constant last. [q, q]"""
        chain = np.diag(np.append(1 / self.scale, 1.0))
        chain[:-1, -1] = -self.centre / self.scale
        return chain

    def _slope(self, coefficient: np.ndarray, start: np.ndarray, rows: slice) -> Slope:
        loss, gradient = 0.0, np.zeros((self.k, self.q))
        if self.k == 1:
            return Slope(self._one_slope(coefficient[0], float(start[0]), rows, gradient[0]), gradient)
        for x, weight, label in self._blocks(rows):
            lost, share = losses(x @ coefficient.T + start, label)
            residual = residuals(share, label, weight)
            loss += float(weight @ lost)
            gradient[:, :-1] += residual.T @ x
            gradient[:, -1] += residual.sum(axis=0)
        return Slope(loss, gradient)

    def _one_slope(self, coefficient: np.ndarray, start: float, rows: slice, gradient: np.ndarray) -> float:
        loss = 0.0
        for first in range(rows.start, rows.stop, 8 * _BLOCK):  # few rows to a sum: rounding grows with their number
            own = np.zeros_like(gradient)
            last = min(first + 8 * _BLOCK, rows.stop)
            loss += _core.dense_slope(self.x, self.label, self.weight, coefficient, start, first, last, own)
            gradient += own
        return loss

    def _curvature(self, coefficient: np.ndarray, start: np.ndarray, rows: slice) -> np.ndarray:
        bend = np.zeros((self.k * self.q, self.k * self.q))
        if self.k == 1:
            return self._one_curvature(coefficient[0], float(start[0]), rows, bend)
        for x, weight, label in self._blocks(rows):
            _add_curvature(bend, x, weight, losses(x @ coefficient.T + start, label)[1])
        return bend

    def _one_curvature(self, coefficient: np.ndarray, start: float, rows: slice, bend: np.ndarray) -> np.ndarray:
        buffer = np.empty((_BLOCK, self.q))
        for first in range(rows.start, rows.stop, _BLOCK):
            last = min(first + _BLOCK, rows.stop)
            bent = buffer[: last - first]
            _core.bent_rows(self.x, self.label, self.weight, coefficient, start, first, last, bent)
            bend += bent.T @ bent
        return bend

    def _blocks(self, rows: slice) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        for first in range(rows.start, rows.stop, _BLOCK):
            own = slice(first, min(first + _BLOCK, rows.stop))
            yield self.x[own], self.weight[own], self.label[own]


class SparseRows(msgspec.Struct, frozen=True):
    """Features in compressed form, the constant 1 last in each row, and the same by feature."""

    x: Sparse
    label: np.ndarray  # int32 [n_rows]
    weight: np.ndarray  # float64 [n_rows], sums to 1
    k: int

    @property
    def q(self) -> int:
        """The number of features, the constant included."""
        return self.x.n_features

    def with_weight(self, weight: np.ndarray) -> SparseRows:
        """The same rows with other weights."""
        return msgspec.structs.replace(self, weight=weight / weight.sum())

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """The scores of all rows. [n_rows, k]"""
        return self.x.product(theta.T)

    def slope(self, theta: np.ndarray) -> Slope:
        """What all rows say at these coefficients."""
        return self.slope_and_shares(theta)[0]

    def slope_and_shares(self, theta: np.ndarray) -> tuple[Slope, np.ndarray]:
        """What all rows say, and the share of each class in each row. [n_rows, k]"""
        x, n = self.x, len(self.label)
        weight = np.ascontiguousarray(theta.T)
        share = np.empty((n, self.k))

        def part(rows: slice) -> tuple[float, np.ndarray]:
            gradient = np.zeros_like(weight)
            loss = _core.sparse_slope(
                x.start, x.code, x.value, self.label, self.weight, weight, rows.start, rows.stop, share, gradient
            )
            return loss, gradient

        parts = in_order(part, chunks(n, count=4, least=1024))
        return reduce(add, (Slope(loss, gradient.T) for loss, gradient in parts)), share

    def take(self, index: np.ndarray) -> SparseRows:
        """These rows."""
        length = np.diff(self.x.start)[index]
        start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        entry = np.repeat(self.x.start[index] - start[:-1], length) + np.arange(start[-1])
        x = Sparse(start, self.x.code[entry], self.x.value[entry], self.x.n_features)
        return msgspec.structs.replace(self, x=x, label=self.label[index], weight=self.weight[index])

    def columns(self, features: np.ndarray) -> SparseRows:
        """The rows with these features only (ascending)."""
        place = np.full(self.q, -1, np.int32)
        place[features] = np.arange(len(features), dtype=np.int32)
        code = place[self.x.code]
        kept = np.flatnonzero(code >= 0)
        start = np.searchsorted(kept, self.x.start).astype(np.int64)
        return msgspec.structs.replace(self, x=Sparse(start, code[kept], self.x.value[kept], len(features)))

    def bends(self, theta: np.ndarray) -> np.ndarray:
        """The second derivative of the mean loss by each coefficient alone. [k, q]"""
        from scipy.sparse import csr_array

        share = self.slope_and_shares(theta)[1]
        squares = csr_array((np.square(self.x.value), self.x.code, self.x.start), shape=(len(self.label), self.q))
        return (squares.T @ (self.weight[:, None] * share * (1 - share))).T

    def weighted_sum(self, weight: np.ndarray) -> np.ndarray:
        """The sum of the rows, each times a number. [q]"""
        return np.bincount(self.x.code, np.repeat(weight, np.diff(self.x.start)) * self.x.value, minlength=self.q)

    def by_feature(self) -> Sparse:
        """The transpose: for each feature its rows."""
        x = self.x
        order = np.argsort(x.code, kind="stable")
        row = np.repeat(np.arange(len(x), dtype=np.int32), np.diff(x.start))
        start = np.concatenate([[0], np.cumsum(np.bincount(x.code, minlength=x.n_features))]).astype(np.int64)
        return Sparse(start, row[order], x.value[order], len(x))


def rows_of(
    table: Table, design: Design, weight: np.ndarray, k: int, has_gaps: bool
) -> tuple[DenseRows | SparseRows, np.ndarray]:
    """A table's rows in the design's units, and how far each feature lies above its centred form. [q]"""
    weight = weight / weight.sum()
    if not _is_better_compressed(table, design):
        return _dense(table, design, weight, k, has_gaps), np.zeros(len(design) + 1)
    x, above = design.compressed(table)
    x = _constant_last(x)
    _core.check_sparse(x.start, x.code, x.value, x.n_features)
    return SparseRows(x, np.ascontiguousarray(table.label), weight, k), np.append(above, 0.0)


def _is_better_compressed(table: Table, design: Design) -> bool:
    """Text always; many marks, or a sparse matrix, where dense rows would be large."""
    if design.words:
        return True
    cells = len(table) * len(design)
    if isinstance(table.values, SparseColumns):
        return cells > 2_000_000 and design.stored(table) is not None and table.values.matrix.nnz < 0.3 * cells
    return cells > 50_000_000 and (design.layout.level != VALUE).mean() > 0.8


def losses(score: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """−log share of each row's own class, and the shares. score [n, k] → [n], [n, k]"""
    if score.shape[1] == 1:
        z = score[:, 0]
        small = np.exp(-np.abs(z))
        loss = np.maximum(np.where(label == 1, -z, z), 0.0) + np.log1p(small)
        return loss, (np.where(z >= 0, 1.0, small) / (1 + small))[:, None]
    score = score - score.max(axis=1, keepdims=True)
    share = np.exp(score)
    total = share.sum(axis=1)
    loss = np.log(total) - score[np.arange(len(score)), label]
    return loss, share / total[:, None]


def residuals(share: np.ndarray, label: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """weight · (share − truth). [n, k]"""
    residual = share.copy()
    if share.shape[1] == 1:
        residual[:, 0] -= label
    else:
        residual[np.arange(len(label)), label] -= 1.0
    return residual * weight[:, None]


def _add_curvature(bend: np.ndarray, x: np.ndarray, weight: np.ndarray, share: np.ndarray) -> None:
    """The blocks X' diag(w p_k) X less Z'Z, Z_k = √w p_k X, of several classes."""
    k, q = share.shape[1], x.shape[1] + 1
    root = np.sqrt(weight)
    z = np.hstack([_times(x, root * share[:, c]) for c in range(k)])
    bend -= z.T @ z
    for c in range(k):
        scaled = _times(x, root * np.sqrt(share[:, c]))
        own = slice(c * q, (c + 1) * q)
        bend[own, own] += scaled.T @ scaled


def _times(x: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Rows times a number each, the constant 1 appended. [n, q]"""
    out = np.empty((len(x), x.shape[1] + 1))
    np.multiply(x, factor[:, None], out=out[:, :-1])
    out[:, -1] = factor
    return out


def _dense(table: Table, design: Design, weight: np.ndarray, k: int, has_gaps: bool) -> DenseRows:
    """The caller's own matrix where its columns are not far from 0 in their own units, else a copy in standard units."""
    p = len(design)
    whole = design.layout.view(table)
    usual = (np.abs(design.centre) / 8 <= design.scale) & (design.scale > 1e-100) & (design.scale < 1e100)
    near = p <= 500 and bool(usual.all())
    if whole is not None and near and whole.strides[1] == 8 and not has_gaps:
        return DenseRows(whole, design.centre, design.scale, np.ascontiguousarray(table.label), weight, k)
    x = np.empty((len(table), p))

    def fill(rows: slice) -> None:
        for first in range(rows.start, rows.stop, _BLOCK):
            own = slice(first, min(first + _BLOCK, rows.stop))
            x[own] = design.features(table, own)

    in_order(fill, chunks(len(table)))
    return DenseRows(x, np.zeros(p), np.ones(p), np.ascontiguousarray(table.label), weight, k)


def _constant_last(x: Sparse) -> Sparse:
    n = len(x)
    start = x.start + np.arange(n + 1)
    entry = np.arange(len(x.code)) + np.repeat(np.arange(n), np.diff(x.start))
    code, value = np.full(len(x.code) + n, x.n_features, np.int32), np.ones(len(x.code) + n)
    code[entry], value[entry] = x.code, x.value
    return Sparse(start, code, value, x.n_features + 1)
