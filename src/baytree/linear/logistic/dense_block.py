"""Dense rows of one partition of a logistic regression: loss, gradient and Hessian, additive over slices of rows.

Coefficients and intercepts here refer to the features as stored (`DenseRows` converts to standard units); the constant
feature 1 comes after the last stored one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

import msgspec
import numpy as np

from baytree import _core
from baytree.linear.logistic.objective import LossGradient, losses, residuals
from baytree.parallel.blas import RowChunks, chunks, in_order
from baytree.statistics.containers import every_nth

_BLOCK = 1024

_MAX_DENSITY = 0.4  # proportion of non-zero numbers up to which a product over these alone is faster than BLAS

NO_FOLDS = np.zeros(0, np.int64)


class DenseBlock(msgspec.Struct, frozen=True):
    """Dense features with labels and weights; either the caller's own array or in the design's units."""

    x: np.ndarray  # float64 [n_rows, q − 1]
    label: np.ndarray  # int32 [n_rows]
    weight: np.ndarray  # float64 [n_rows]; weights of all blocks sum to 1
    k: int  # number of scores: 1 for two classes
    first: int = 0  # index of the first row in the table
    fold: np.ndarray = NO_FOLDS  # int64 [n_rows]; empty if there are no folds

    @classmethod
    def joined(cls, pieces: list[DenseBlock]) -> DenseBlock:
        """Concatenate blocks."""
        if len(pieces) == 1:
            return pieces[0]
        x, label, weight = (np.concatenate([getattr(p, name) for p in pieces]) for name in ("x", "label", "weight"))
        return cls(x, label, weight, pieces[0].k)

    def __len__(self) -> int:
        return len(self.x)

    def arrays(self) -> Sequence[np.ndarray]:
        """Arrays from which `from_arrays` rebuilds this object, without folds."""
        return [self.x, self.label, self.weight, np.array([self.k, self.first])]

    @classmethod
    def from_arrays(cls, arrays: Sequence[np.ndarray]) -> Self:
        """Rebuild the object from `arrays()`."""
        x, label, weight, sizes = arrays
        return cls(x, label, weight, *sizes.tolist())

    @property
    def q(self) -> int:
        """Number of features, including the constant."""
        return self.x.shape[1] + 1

    @property
    def runs(self) -> RowChunks:
        """Slices of rows over which results are added up."""
        return RowChunks(len(self.x))

    def every(self, step: int) -> DenseBlock:
        """Every `step`-th row of the table."""
        selected = every_nth(step, self.first, len(self))
        x, label = np.ascontiguousarray(self.x[selected]), np.ascontiguousarray(self.label[selected])
        return msgspec.structs.replace(self, x=x, label=label, weight=self.weight[selected])

    def take(self, index: np.ndarray) -> DenseBlock:
        """Some of the rows."""
        return msgspec.structs.replace(self, x=self.x[index], label=self.label[index], weight=self.weight[index])

    def columns(self, features: np.ndarray) -> DenseBlock:
        """Rows with some of the features; the constant, last, must be among them."""
        return msgspec.structs.replace(self, x=np.ascontiguousarray(self.x[:, features[:-1]]))

    def row_hashes(self, centre: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Hash of each row's features in the design's units. uint64 [n_rows]"""
        key = np.empty(len(self.x), np.uint64)
        if not len(key):
            return key
        in_order(lambda own: _core.row_hashes(self.x[own], centre, scale, key[own]), chunks(len(key)))
        return key

    def moments(self, centre: np.ndarray) -> np.ndarray:
        """Weighted sums of each feature about a centre, and of their squares. [2, q − 1]"""

        def part(rows: slice) -> np.ndarray:
            sums = np.zeros((2, self.q - 1))
            if rows.stop > rows.start:
                _core.column_moments(self.x, self.weight, centre, rows.start, rows.stop, sums[0], sums[1])
            return sums

        return self.runs.total(part)

    def scores(self, coefficient: np.ndarray, start: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Scores of some rows. [n, k]"""
        return self.x[rows] @ coefficient.T + start

    def weighted_sum(self, weight: np.ndarray) -> np.ndarray:
        """Weighted sum of the rows, and of the weights. [q]"""
        return np.append(weight @ self.x, weight.sum())

    def loss_gradient(self, coefficient: np.ndarray, start: np.ndarray) -> LossGradient:
        """Loss and gradient of all rows at these coefficients, with respect to the stored features."""
        return self.runs.total(lambda rows: self._slope(coefficient, start, rows))

    def hessian(self, coefficient: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Hessian of the mean loss with respect to the stored features. [k * q, k * q]"""
        return self.runs.total(lambda rows: self._curvature(coefficient, start, rows))

    def _slope(self, coefficient: np.ndarray, start: np.ndarray, rows: slice) -> LossGradient:
        loss, gradient = 0.0, np.zeros((self.k, self.q))
        if self.k == 1:
            return LossGradient(self._one_slope(coefficient[0], float(start[0]), rows, gradient[0]), gradient)
        for x, weight, label in self._blocks(rows):
            row_loss, probability = losses(x @ coefficient.T + start, label)
            residual = residuals(probability, label, weight)
            loss += float(weight @ row_loss)
            gradient[:, :-1] += residual.T @ x
            gradient[:, -1] += residual.sum(axis=0)
        return LossGradient(loss, gradient)

    def _one_slope(self, coefficient: np.ndarray, start: float, rows: slice, gradient: np.ndarray) -> float:
        loss = 0.0
        for first in range(rows.start, rows.stop, 8 * _BLOCK):  # short sums: rounding grows with the number of terms
            block_gradient = np.zeros_like(gradient)
            last = min(first + 8 * _BLOCK, rows.stop)
            loss += _core.dense_slope(self.x, self.label, self.weight, coefficient, start, first, last, block_gradient)
            gradient += block_gradient
        return loss

    def _curvature(self, coefficient: np.ndarray, start: np.ndarray, rows: slice) -> np.ndarray:
        hessian = np.zeros((self.k * self.q, self.k * self.q))
        if self.k == 1:
            return self._one_curvature(coefficient[0], float(start[0]), rows, hessian)
        for x, weight, label in self._blocks(rows):
            _add_curvature(hessian, x, weight, losses(x @ coefficient.T + start, label)[1])
        return hessian

    def _one_curvature(self, coefficient: np.ndarray, start: float, rows: slice, hessian: np.ndarray) -> np.ndarray:
        buffer = np.empty((_BLOCK, self.q))
        for first in range(rows.start, rows.stop, _BLOCK):
            last = min(first + _BLOCK, rows.stop)
            scaled = buffer[: last - first]
            _core.curvature_rows(self.x, self.label, self.weight, coefficient, start, first, last, scaled)
            hessian += _squares(scaled)
        return hessian

    def _blocks(self, rows: slice) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        for first in range(rows.start, rows.stop, _BLOCK):
            block = slice(first, min(first + _BLOCK, rows.stop))
            yield self.x[block], self.weight[block], self.label[block]


def _add_curvature(hessian: np.ndarray, x: np.ndarray, weight: np.ndarray, probability: np.ndarray) -> None:
    """Add the multinomial Hessian: blocks X' diag(w p_k) X, minus Z'Z with Z_k = √w p_k X."""
    k, q = probability.shape[1], x.shape[1] + 1
    root = np.sqrt(weight)
    z = np.hstack([_times(x, root * probability[:, c]) for c in range(k)])
    hessian -= z.T @ z
    for c in range(k):
        scaled = _times(x, root * np.sqrt(probability[:, c]))
        block = slice(c * q, (c + 1) * q)
        hessian[block, block] += scaled.T @ scaled


def _squares(rows: np.ndarray) -> np.ndarray:
    """rows' rows, skipping zeros if there are many (one-hot features). rows [n, q]"""
    if np.count_nonzero(rows[::8]) > _MAX_DENSITY * rows[::8].size:
        return rows.T @ rows
    out = np.zeros((rows.shape[1], rows.shape[1]))
    _core.sparse_squares(rows, out)
    return out


def _times(x: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Rows multiplied by a factor each, with the constant 1 appended. [n, q]"""
    out = np.empty((len(x), x.shape[1] + 1))
    np.multiply(x, factor[:, None], out=out[:, :-1])
    out[:, -1] = factor
    return out
