"""Rows ready for logistic regression, and what they say about coefficients: loss, gradient, curvature.

Coefficients are an array theta [k, q]: k scores (one where there are two classes), q features, of which the last is the
constant 1. Weights sum to 1, so the loss is a mean. What rows say adds up over parts of them.
"""

from __future__ import annotations

import msgspec
import numpy as np

from .. import _core
from ..table import SparseColumns, Table
from .design import Design, Sparse
from .layout import VALUE
from .threads import chunks, in_order

_BLOCK = 1024


class Slope(msgspec.Struct, frozen=True):
    """Mean loss, its gradient and, where asked for, its curvature. A sum over rows."""

    loss: float
    gradient: np.ndarray  # [k, q]
    curvature: np.ndarray | None = None  # [k * q, k * q]

    def __add__(self, other: Slope) -> Slope:
        curvature = None if self.curvature is None else self.curvature + other.curvature
        return Slope(self.loss + other.loss, self.gradient + other.gradient, curvature)


class DenseRows(msgspec.Struct, frozen=True):
    """Features side by side, the constant 1 last."""

    x: np.ndarray  # float64 [n_rows, q]
    label: np.ndarray  # int32 [n_rows]
    weight: np.ndarray  # float64 [n_rows], sums to 1
    k: int

    @property
    def q(self) -> int:
        """The number of features, the constant included."""
        return self.x.shape[1]

    def with_weight(self, weight: np.ndarray) -> DenseRows:
        """The same rows with other weights."""
        return msgspec.structs.replace(self, weight=weight / weight.sum())

    def every(self, step: int) -> DenseRows:
        """One row of every few."""
        rows = slice(None, None, step)
        weight = self.weight[rows]
        return DenseRows(np.ascontiguousarray(self.x[rows]), self.label[rows], weight / weight.sum(), self.k)

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """The scores of all rows. [n_rows, k]"""
        return self.x @ theta.T

    def slope(self, theta: np.ndarray, curvature: bool = False) -> Slope:
        """What all rows say at these coefficients."""
        parts = in_order(lambda rows: self._part(theta, rows, curvature), chunks(len(self.x)))
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def columns(self, features: np.ndarray) -> DenseRows:
        """The rows with these features only."""
        return msgspec.structs.replace(self, x=np.ascontiguousarray(self.x[:, features]))

    def _part(self, theta: np.ndarray, rows: slice, curvature: bool) -> Slope:
        k, q = theta.shape
        loss, gradient = 0.0, np.zeros((k, q))
        bend = np.zeros((k * q, k * q)) if curvature else None
        for first in range(rows.start, rows.stop, _BLOCK):
            own = slice(first, min(first + _BLOCK, rows.stop))
            x, weight = self.x[own], self.weight[own]
            lost, share = losses(x @ theta.T, self.label[own])
            loss += float(weight @ lost)
            gradient += residuals(share, self.label[own], weight).T @ x
            if bend is not None:
                _add_curvature(bend, x, weight, share)
        return Slope(loss, gradient, bend)


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
        return Slope(sum(loss for loss, _ in parts), sum(gradient for _, gradient in parts).T), share

    def by_feature(self) -> Sparse:
        """The transpose: for each feature its rows."""
        x = self.x
        order = np.argsort(x.code, kind="stable")
        row = np.repeat(np.arange(len(x), dtype=np.int32), np.diff(x.start))
        start = np.concatenate([[0], np.cumsum(np.bincount(x.code, minlength=x.n_features))]).astype(np.int64)
        return Sparse(start, row[order], x.value[order], len(x))


def rows_of(table: Table, design: Design, weight: np.ndarray, k: int) -> tuple[DenseRows | SparseRows, np.ndarray]:
    """A table's rows in the design's units, and how far each feature lies above its centred form. [q]"""
    weight = weight / weight.sum()
    if not _is_better_compressed(table, design):
        return DenseRows(_with_constant(table, design), table.label, weight, k), np.zeros(len(design) + 1)
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
    """X' diag(w p (1 − p)) X; with several classes, the blocks X' diag(w p_k) X less Z'Z, Z_k = √w p_k X."""
    k, q = share.shape[1], x.shape[1]
    if k == 1:
        scaled = x * np.sqrt(weight * share[:, 0] * (1 - share[:, 0]))[:, None]
        bend += scaled.T @ scaled
        return
    root = np.sqrt(weight)[:, None]
    z = ((root * share)[:, :, None] * x[:, None, :]).reshape(len(x), k * q)
    bend -= z.T @ z
    for c in range(k):
        scaled = x * (root[:, 0] * np.sqrt(share[:, c]))[:, None]
        own = slice(c * q, (c + 1) * q)
        bend[own, own] += scaled.T @ scaled


def _with_constant(table: Table, design: Design) -> np.ndarray:
    x = np.empty((len(table), len(design) + 1))
    x[:, -1] = 1.0

    def fill(rows: slice) -> None:
        for first in range(rows.start, rows.stop, _BLOCK):
            own = slice(first, min(first + _BLOCK, rows.stop))
            x[own, :-1] = design.features(table, own)

    in_order(fill, chunks(len(table)))
    return x


def _constant_last(x: Sparse) -> Sparse:
    n = len(x)
    start = x.start + np.arange(n + 1)
    entry = np.arange(len(x.code)) + np.repeat(np.arange(n), np.diff(x.start))
    code, value = np.full(len(x.code) + n, x.n_features, np.int32), np.ones(len(x.code) + n)
    code[entry], value[entry] = x.code, x.value
    return Sparse(start, code, value, x.n_features + 1)
