"""A part's dense rows of a logistic regression, and what they say about coefficients: loss, gradient, Hessian.

Coefficients and start are those of the features as they lie here; the constant 1 comes after the last feature. What rows
say adds up over runs of them.
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

_SPARSE = 0.4  # share of numbers that are not 0, up to which products of rows by these alone are quicker than by BLAS

NO_FOLDS = np.zeros(0, np.int64)


class DenseBlock(msgspec.Struct, frozen=True):
    """Features side by side, as the caller has them or in the design's units."""

    x: np.ndarray  # float64 [n_rows, q − 1]
    label: np.ndarray  # int32 [n_rows]
    weight: np.ndarray  # float64 [n_rows]; those of all pieces sum to 1
    k: int  # scores: one where there are two classes
    first: int = 0  # rows before these
    fold: np.ndarray = NO_FOLDS  # int64 [n_rows], where rows are dealt

    def __len__(self) -> int:
        return len(self.x)

    def arrays(self) -> Sequence[np.ndarray]:
        """All that these rows are, before they are dealt into folds."""
        return [self.x, self.label, self.weight, np.array([self.k, self.first])]

    @classmethod
    def from_arrays(cls, arrays: Sequence[np.ndarray]) -> Self:
        """The rows that had these arrays."""
        x, label, weight, known = arrays
        return cls(x, label, weight, *known.tolist())

    @property
    def q(self) -> int:
        """The number of features, the constant included."""
        return self.x.shape[1] + 1

    @property
    def runs(self) -> RowChunks:
        """The rows in runs, over which what they say is added up."""
        return RowChunks(len(self.x))

    def every(self, step: int) -> DenseBlock:
        """One row of every few."""
        own = every_nth(step, self.first, len(self))
        x, label = np.ascontiguousarray(self.x[own]), np.ascontiguousarray(self.label[own])
        return msgspec.structs.replace(self, x=x, label=label, weight=self.weight[own])

    def take(self, index: np.ndarray) -> DenseBlock:
        """These rows."""
        return msgspec.structs.replace(self, x=self.x[index], label=self.label[index], weight=self.weight[index])

    def columns(self, features: np.ndarray) -> DenseBlock:
        """The rows with these features only; the constant, last, is always among them."""
        return msgspec.structs.replace(self, x=np.ascontiguousarray(self.x[:, features[:-1]]))

    def row_hashes(self, centre: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """A number made from each row's features in the design's units. uint64 [n_rows]"""
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
        """The scores of these rows. [n, k]"""
        return self.x[rows] @ coefficient.T + start

    def weighted_sum(self, weight: np.ndarray) -> np.ndarray:
        """The sum of the rows, each times a number, and of these numbers. [q]"""
        return np.append(weight @ self.x, weight.sum())

    def loss_gradient(self, coefficient: np.ndarray, start: np.ndarray) -> LossGradient:
        """What all rows say at these coefficients, by the features as they lie here."""
        return self.runs.total(lambda rows: self._slope(coefficient, start, rows))

    def hessian(self, coefficient: np.ndarray, start: np.ndarray) -> np.ndarray:
        """The second derivatives of the mean loss, by the features as they lie here. [k * q, k * q]"""
        return self.runs.total(lambda rows: self._curvature(coefficient, start, rows))

    def _slope(self, coefficient: np.ndarray, start: np.ndarray, rows: slice) -> LossGradient:
        loss, gradient = 0.0, np.zeros((self.k, self.q))
        if self.k == 1:
            return LossGradient(self._one_slope(coefficient[0], float(start[0]), rows, gradient[0]), gradient)
        for x, weight, label in self._blocks(rows):
            lost, share = losses(x @ coefficient.T + start, label)
            residual = residuals(share, label, weight)
            loss += float(weight @ lost)
            gradient[:, :-1] += residual.T @ x
            gradient[:, -1] += residual.sum(axis=0)
        return LossGradient(loss, gradient)

    def _one_slope(self, coefficient: np.ndarray, start: float, rows: slice, gradient: np.ndarray) -> float:
        loss = 0.0
        for first in range(rows.start, rows.stop, 8 * _BLOCK):  # few rows to a sum: rounding grows with their number
            own = np.zeros_like(gradient)
            last = min(first + 8 * _BLOCK, rows.stop)
            loss += _core.dense_slope(self.x, self.label, self.weight, coefficient, start, first, last, own)
            gradient += own
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
            own = slice(first, min(first + _BLOCK, rows.stop))
            yield self.x[own], self.weight[own], self.label[own]


def _add_curvature(hessian: np.ndarray, x: np.ndarray, weight: np.ndarray, share: np.ndarray) -> None:
    """The blocks X' diag(w p_k) X less Z'Z, Z_k = √w p_k X, of several classes."""
    k, q = share.shape[1], x.shape[1] + 1
    root = np.sqrt(weight)
    z = np.hstack([_times(x, root * share[:, c]) for c in range(k)])
    hessian -= z.T @ z
    for c in range(k):
        scaled = _times(x, root * np.sqrt(share[:, c]))
        own = slice(c * q, (c + 1) * q)
        hessian[own, own] += scaled.T @ scaled


def _squares(rows: np.ndarray) -> np.ndarray:
    """rows' rows; one-hot features are mostly 0. rows [n, q]"""
    if np.count_nonzero(rows[::8]) > _SPARSE * rows[::8].size:
        return rows.T @ rows
    out = np.zeros((rows.shape[1], rows.shape[1]))
    _core.sparse_squares(rows, out)
    return out


def _times(x: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Rows times a number each, the constant 1 appended. [n, q]"""
    out = np.empty((len(x), x.shape[1] + 1))
    np.multiply(x, factor[:, None], out=out[:, :-1])
    out[:, -1] = factor
    return out
