"""Sparse rows of one partition of a logistic regression: loss, gradient and Hessian diagonal, additive over slices
of rows.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.linear.design.sparse import SparseMatrix, stacked
from baytree.linear.logistic.dense_block import NO_FOLDS
from baytree.linear.logistic.objective import LossGradient
from baytree.parallel.blas import RowChunks

_MIX = np.uint64(0x9E3779B97F4A7C15)


class SparseBlock(msgspec.Struct, frozen=True):
    """Sparse features with labels and weights; the constant 1 is the last entry of each row."""

    x: SparseMatrix
    label: np.ndarray  # int32 [n_rows]
    weight: np.ndarray  # float64 [n_rows]; weights of all blocks sum to 1
    k: int
    first: int = 0  # index of the first row in the table
    fold: np.ndarray = NO_FOLDS  # int64 [n_rows]; empty if there are no folds
    hashes: np.ndarray | None = None  # uint64 [n_rows], of the features in dense form if they have one

    @classmethod
    def joined(cls, pieces: list[SparseBlock]) -> SparseBlock:
        """Concatenate blocks."""
        if len(pieces) == 1:
            return pieces[0]
        label, weight = (np.concatenate([getattr(p, name) for p in pieces]) for name in ("label", "weight"))
        return cls(stacked([piece.x for piece in pieces]), label, weight, pieces[0].k)

    def __len__(self) -> int:
        return len(self.label)

    @property
    def q(self) -> int:
        """Number of features, including the constant."""
        return self.x.n_features

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """Scores of all rows. [n_rows, k]"""
        return self.x.product(theta.T)

    def slope_and_shares(self, theta: np.ndarray) -> tuple[LossGradient, np.ndarray]:
        """Loss and gradient of all rows, and the class probabilities of each row [n_rows, k]."""
        x, n = self.x, len(self.label)
        weight = np.ascontiguousarray(theta.T)
        probability = np.empty((n, self.k))

        def part(rows: slice) -> LossGradient:
            gradient = np.zeros_like(weight)
            loss = _core.sparse_slope(
                x.start, x.code, x.value, self.label, self.weight, weight, rows.start, rows.stop, probability, gradient
            )
            return LossGradient(loss, gradient.T)

        return RowChunks(n, max_chunks=4, min_rows=1024).total(part), probability

    def hessian_diagonal(self, theta: np.ndarray) -> np.ndarray:
        """Diagonal of the Hessian of the mean loss. [k, q]"""
        from scipy.sparse import csr_array

        probability = self.slope_and_shares(theta)[1]
        squares = csr_array((np.square(self.x.value), self.x.code, self.x.start), shape=(len(self.label), self.q))
        return (squares.T @ (self.weight[:, None] * probability * (1 - probability))).T

    def weighted_sum(self, weight: np.ndarray) -> np.ndarray:
        """Weighted sum of the rows. [q]"""
        return np.bincount(self.x.code, np.repeat(weight, np.diff(self.x.start)) * self.x.value, minlength=self.q)

    def moments(self) -> np.ndarray:
        """Weighted sums of each feature and of its square. [2, q]"""
        weight = np.repeat(self.weight, np.diff(self.x.start))
        return np.array([np.bincount(self.x.code, weight * v, minlength=self.q) for v in (self.x.value, self.x.value**2)])

    def take(self, index: np.ndarray) -> SparseBlock:
        """Some of the rows."""
        length = np.diff(self.x.start)[index]
        start = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        entry = np.repeat(self.x.start[index] - start[:-1], length) + np.arange(start[-1])
        x = SparseMatrix(start, self.x.code[entry], self.x.value[entry], self.x.n_features)
        hashes = None if self.hashes is None else self.hashes[index]
        return msgspec.structs.replace(self, x=x, label=self.label[index], weight=self.weight[index], hashes=hashes)

    def columns(self, features: np.ndarray) -> SparseBlock:
        """Rows with some of the features (ascending)."""
        new_index = np.full(self.q, -1, np.int32)
        new_index[features] = np.arange(len(features), dtype=np.int32)
        code = new_index[self.x.code]
        kept = np.flatnonzero(code >= 0)
        start = np.searchsorted(kept, self.x.start).astype(np.int64)
        return msgspec.structs.replace(self, x=SparseMatrix(start, code[kept], self.x.value[kept], len(features)))

    def by_feature(self) -> SparseMatrix:
        """Transpose: the rows of each feature."""
        x = self.x
        order = np.argsort(x.code, kind="stable")
        row = np.repeat(np.arange(len(x), dtype=np.int32), np.diff(x.start))
        start = np.concatenate([[0], np.cumsum(np.bincount(x.code, minlength=x.n_features))]).astype(np.int64)
        return SparseMatrix(start, row[order], x.value[order], len(x))

    def row_hashes(self) -> np.ndarray:
        """Hash of each row's features, independent of their order. uint64 [n_rows]"""
        if self.hashes is not None:
            return self.hashes
        entry = _mixed(self.x.value) ^ (self.x.code.astype(np.uint64) * _MIX)
        return np.add.reduceat(entry * _MIX, self.x.start[:-1])  # no row is empty: it has at least its constant


def _mixed(values: np.ndarray) -> np.ndarray:
    bits = np.round(values, 9).view(np.uint64) * _MIX  # rounded, because sums over repeated rows differ in the last bits
    bits ^= bits >> np.uint64(29)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    return bits ^ (bits >> np.uint64(32))
