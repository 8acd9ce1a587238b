"""Sparse rows of a logistic regression, and what they say about coefficients: loss, gradient, diagonal of the Hessian."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.runs import Runs
from baytree.linear.design.sparse import SparseMatrix
from baytree.linear.logistic.loss import Slope


class SparseRows(msgspec.Struct, frozen=True):
    """Features in compressed form, the constant 1 last in each row, and the same by feature."""

    x: SparseMatrix
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

        def part(rows: slice) -> Slope:
            gradient = np.zeros_like(weight)
            loss = _core.sparse_slope(
                x.start, x.code, x.value, self.label, self.weight, weight, rows.start, rows.stop, share, gradient
            )
            return Slope(loss, gradient.T)

        return Runs(n, count=4, least=1024).total(part), share

    def take(self, index: np.ndarray) -> SparseRows:
        """These rows."""
        length = np.diff(self.x.start)[index]
        start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        entry = np.repeat(self.x.start[index] - start[:-1], length) + np.arange(start[-1])
        x = SparseMatrix(start, self.x.code[entry], self.x.value[entry], self.x.n_features)
        return msgspec.structs.replace(self, x=x, label=self.label[index], weight=self.weight[index])

    def columns(self, features: np.ndarray) -> SparseRows:
        """The rows with these features only (ascending)."""
        place = np.full(self.q, -1, np.int32)
        place[features] = np.arange(len(features), dtype=np.int32)
        code = place[self.x.code]
        kept = np.flatnonzero(code >= 0)
        start = np.searchsorted(kept, self.x.start).astype(np.int64)
        return msgspec.structs.replace(self, x=SparseMatrix(start, code[kept], self.x.value[kept], len(features)))

    def hessian_diagonal(self, theta: np.ndarray) -> np.ndarray:
        """The second derivative of the mean loss by each coefficient alone. [k, q]"""
        from scipy.sparse import csr_array

        share = self.slope_and_shares(theta)[1]
        squares = csr_array((np.square(self.x.value), self.x.code, self.x.start), shape=(len(self.label), self.q))
        return (squares.T @ (self.weight[:, None] * share * (1 - share))).T

    def weighted_sum(self, weight: np.ndarray) -> np.ndarray:
        """The sum of the rows, each times a number. [q]"""
        return np.bincount(self.x.code, np.repeat(weight, np.diff(self.x.start)) * self.x.value, minlength=self.q)

    def by_feature(self) -> SparseMatrix:
        """The transpose: for each feature its rows."""
        x = self.x
        order = np.argsort(x.code, kind="stable")
        row = np.repeat(np.arange(len(x), dtype=np.int32), np.diff(x.start))
        start = np.concatenate([[0], np.cumsum(np.bincount(x.code, minlength=x.n_features))]).astype(np.int64)
        return SparseMatrix(start, row[order], x.value[order], len(x))
