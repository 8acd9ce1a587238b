"""Dense rows of a logistic regression, and what they say about coefficients: loss, gradient, Hessian.

Coefficients are an array theta [k, q]: k scores (one where there are two classes), q features, of which the last is the
constant 1. Weights sum to 1, so the loss is a mean. What rows say adds up over runs of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.runs import Runs
from baytree.linear.logistic.loss import Slope, losses, residuals

_BLOCK = 1024


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

    @property
    def runs(self) -> Runs:
        """The rows in runs, over which what they say is added up."""
        return Runs(len(self.x))

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

        mean, square = self.runs.total(part) / self.weight.sum()
        return (square - mean**2) / self.scale**2

    def slope(self, theta: np.ndarray) -> Slope:
        """What all rows say at these coefficients."""
        coefficient, start = self._raw(theta)
        raw = self.runs.total(lambda rows: self._slope(coefficient, start, rows))
        return Slope(raw.loss, raw.gradient @ self.chain().T)

    def curvature(self, theta: np.ndarray) -> np.ndarray:
        """The second derivatives of the mean loss. [k * q, k * q]"""
        coefficient, start = self._raw(theta)
        raw = self.runs.total(lambda rows: self._curvature(coefficient, start, rows))
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
            hessian += scaled.T @ scaled
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


def _times(x: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Rows times a number each, the constant 1 appended. [n, q]"""
    out = np.empty((len(x), x.shape[1] + 1))
    np.multiply(x, factor[:, None], out=out[:, :-1])
    out[:, -1] = factor
    return out
