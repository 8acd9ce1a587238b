"""Rows of a logistic regression in blocks, one per partition: `DenseRows` and `SparseRows`. Each method is one map-reduce.

Coefficients are an array theta [k, q]: k scores (one for two classes), q features of which the last is the constant 1.
Weights sum to 1, so the loss is a mean. `DenseRows` may hold unstandardised features and then converts gradients and
Hessians to standard units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Self, TypeVar

import msgspec
import numpy as np

from baytree.engine.partitions import LocalPartitionValues, PartitionValues
from baytree.engine.worker_results import StatisticTuple
from baytree.folds.structured_folds import is_test, is_train
from baytree.linear.logistic.dense_block import DenseBlock
from baytree.linear.logistic.objective import LossGradient
from baytree.linear.logistic.sparse_block import SparseBlock
from baytree.statistics.containers import Maximum, RowArrays

P = TypeVar("P", DenseBlock, SparseBlock)


class RowBlocks(msgspec.Struct, Generic[P], frozen=True):
    """Rows of a problem in blocks; the weights of all blocks sum to 1."""

    pieces: PartitionValues[P]
    n_rows: int
    q: int  # number of features, including the constant
    k: int  # number of scores: 1 for two classes

    def labels(self) -> np.ndarray:
        """Label of each row. int32 [n_rows]"""
        return self.pieces.map_reduce(lambda piece: RowArrays.of(piece.first, piece.label)).arrays[0]

    def weights(self) -> np.ndarray:
        """Weight of each row. float64 [n_rows]"""
        return self.pieces.map_reduce(lambda piece: RowArrays.of(piece.first, piece.weight)).arrays[0]

    def against_rest(self, c: int) -> Self:
        """Two-class rows: class `c` against all others."""
        return self._with(lambda p: msgspec.structs.replace(p, label=(p.label == c).astype(np.int32), k=1), k=1)

    def fold_weights(self, n_folds: int) -> np.ndarray:
        """Total weight of each fold. float64 [n_folds]"""
        return self.pieces.map_reduce(lambda p: np.array([p.weight[is_test(p.fold, f)].sum() for f in range(n_folds)]))

    def has_others(self, fold: int) -> bool:
        """Whether training rows of this fold have positive weight."""
        return self.pieces.map_reduce(lambda p: int(np.count_nonzero(p.weight[is_train(p.fold, fold)]))) > 0

    def without(self, fold: int) -> Self:
        """Training rows of this fold, with weights that sum to 1."""
        return self._weighed(self.pieces.apply(lambda p: p.take(np.flatnonzero(is_train(p.fold, fold)))))

    def only(self, fold: int) -> Self:
        """Test rows of this fold, with weights that sum to 1."""
        return self._weighed(self.pieces.apply(lambda p: p.take(np.flatnonzero(is_test(p.fold, fold)))))

    def in_folds(self, fold: np.ndarray) -> Self:
        """Rows with an array of folds (see `folds.structured_folds.as_array`), whose numbers begin at 0."""
        return self._with(lambda p: msgspec.structs.replace(p, fold=fold[p.first : p.first + len(p)]))

    def dealt(self, index: np.ndarray, weight: np.ndarray, fold: np.ndarray) -> Self:
        """Selected rows (possibly repeated), each with its weight and fold. [n]"""
        return self._weighed(self.pieces.apply(lambda piece: _dealt(piece, index, weight, fold)))

    def _with(self, make: Callable[[P], P], **changes: int) -> Self:
        return msgspec.structs.replace(self, pieces=self.pieces.apply(make), **changes)

    def _weighed(self, pieces: PartitionValues[P]) -> Self:
        """Rows with weights scaled to sum to 1."""
        total = pieces.map_reduce(lambda piece: float(piece.weight.sum()))
        weighed = pieces.apply(lambda piece: msgspec.structs.replace(piece, weight=piece.weight / total))
        return msgspec.structs.replace(self, pieces=weighed)


def _dealt(piece: P, index: np.ndarray, weight: np.ndarray, fold: np.ndarray) -> P:
    in_block = (index >= piece.first) & (index < piece.first + len(piece))
    return msgspec.structs.replace(piece.take(index[in_block] - piece.first), weight=weight[in_block], fold=fold[in_block])


_MAX_GATHERED = 5_000_000  # values; up to this many are gathered from remote rows for the first steps: 40 MB


class DenseRows(RowBlocks[DenseBlock], frozen=True):
    """Dense features: in the design's units, or as in the caller's array and converted on the fly.

    A feature of the model is (x − centre) / scale; the constant 1 comes after the last.
    """

    centre: np.ndarray  # float64 [q − 1]
    scale: np.ndarray  # float64 [q − 1]

    def every(self, step: int) -> DenseRows:
        """Every `step`-th row; gathered from remote partitions if these are at most some megabytes, to save passes."""
        sampled = self.pieces.apply(lambda piece: piece.every(step))
        is_gathered = self.is_remote and self.n_rows * self.q <= step * _MAX_GATHERED
        return self._weighed(LocalPartitionValues(sampled.gather()) if is_gathered else sampled)

    @property
    def is_remote(self) -> bool:
        """Whether each map-reduce reads the rows again, so that requests should be combined."""
        return not isinstance(self.pieces, LocalPartitionValues)

    def columns(self, features: np.ndarray) -> DenseRows:
        """Rows with some of the features; the constant, last, must be among them."""
        kept, pieces = features[:-1], self.pieces.apply(lambda piece: piece.columns(features))
        return msgspec.structs.replace(
            self, pieces=pieces, q=len(features), centre=self.centre[kept], scale=self.scale[kept]
        )

    def loss_gradient(self, theta: np.ndarray) -> LossGradient:
        """Loss and gradient at these coefficients."""
        coefficient, intercept = self.raw(theta)
        raw = self.pieces.map_reduce(lambda piece: piece.loss_gradient(coefficient, intercept))
        return LossGradient(raw.loss, self.to_units(raw.gradient))

    def hessian(self, theta: np.ndarray) -> np.ndarray:
        """Hessian of the mean loss. [k * q, k * q]"""
        coefficient, intercept = self.raw(theta)
        return self._in_units(self.pieces.map_reduce(lambda piece: piece.hessian(coefficient, intercept)))

    def slope_and_curvature(self, theta: np.ndarray) -> LossGradient:
        """Loss, gradient and Hessian in one pass."""
        coefficient, intercept = self.raw(theta)
        raw = self.pieces.map_reduce(lambda piece: _slope_and_curvature(piece, coefficient, intercept))
        assert raw.hessian is not None
        return LossGradient(raw.loss, self.to_units(raw.gradient), self._in_units(raw.hessian))

    def slopes(self, thetas: Sequence[np.ndarray]) -> list[LossGradient]:
        """Loss and gradient at each of several coefficients, in one pass."""
        each = [self.raw(theta) for theta in thetas]
        results = self.pieces.map_reduce(lambda piece: StatisticTuple(tuple(piece.loss_gradient(*raw) for raw in each)))
        return [LossGradient(raw.loss, self.to_units(raw.gradient)) for raw in results.values]

    def _in_units(self, raw: np.ndarray) -> np.ndarray:
        """Hessian in standard units from the one of the stored features."""
        blocks = raw.reshape(self.k, self.q, self.k, self.q).transpose(0, 2, 1, 3)
        return self._products_in_units(blocks).transpose(0, 2, 1, 3).reshape(raw.shape)

    def _products_in_units(self, raw: np.ndarray) -> np.ndarray:
        """Sums of products of two features, in standard units: Σ (x − c)(y − d) = Σxy − c Σy − d Σx + cd Σ1. [..., q, q]"""
        centre, scale = np.append(self.centre, 0.0), np.append(self.scale, 1.0)
        half = raw[..., -1:, -1:] / 2
        rows, columns = raw[..., -1:, :] - half * centre, raw[..., :, -1:] - half * centre[:, None]
        return (raw - centre[:, None] * rows - columns * centre) / (scale[:, None] * scale)

    def to_units(self, summed: np.ndarray) -> np.ndarray:
        """Sums over rows in standard units from those of the stored features; the constant is last. [..., q]"""
        standardised = summed.copy()
        standardised[..., :-1] -= self.centre * standardised[..., -1:]
        standardised[..., :-1] /= self.scale
        return standardised

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """Scores of all rows at coefficients of any number of classes. [n_rows, n_scores]"""
        coefficient, intercept = self.raw(theta)
        return self.pieces.map_reduce(lambda piece: RowArrays.of(piece.first, piece.scores(coefficient, intercept))).arrays[
            0
        ]

    def largest_score(self, theta: np.ndarray) -> float:
        """Largest |score| of any row."""
        coefficient, intercept = self.raw(theta)
        scores = self.pieces.apply(lambda piece: np.abs(piece.scores(coefficient, intercept)))
        return float(scores.map_reduce(lambda score: Maximum(score.max(initial=0.0))).value)

    def gram_product(self, theta: np.ndarray) -> np.ndarray:
        """X'WX theta, for one score. [q]"""
        coefficient, intercept = self.raw(theta)
        total = self.pieces.map_reduce(
            lambda piece: piece.weighted_sum(piece.scores(coefficient, intercept)[:, 0] * piece.weight)
        )
        return np.append((total[:-1] - total[-1] * self.centre) / self.scale, total[-1])

    def variances(self) -> np.ndarray:
        """Weighted variance of each feature, in the design's units. [q − 1]"""
        centre, total = self.centre, self.pieces.map_reduce(lambda piece: float(piece.weight.sum()))
        mean, square = self.pieces.map_reduce(lambda piece: piece.moments(centre)) / total
        return (square - mean**2) / self.scale**2

    def sizes(self) -> np.ndarray:
        """Weighted standard deviation of each feature, in the design's units; 1 for constant ones. [q]"""
        return _sizes(np.append(self.variances(), 0.0))

    def row_hashes(self) -> np.ndarray:
        """Hash of each row's features. uint64 [n_rows]"""
        centre, scale = self.centre, self.scale  # local variables: a closure over self would send the rows to the workers
        return self.pieces.map_reduce(lambda piece: RowArrays.of(piece.first, piece.row_hashes(centre, scale))).arrays[0]

    def raw(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and intercepts for the stored features."""
        coefficient = theta[:, :-1] / self.scale
        return coefficient, theta[:, -1] - coefficient @ self.centre


def _sizes(variance: np.ndarray) -> np.ndarray:
    return np.where(variance > 1e-12, np.sqrt(np.maximum(variance, 0.0)), 1.0)


def _slope_and_curvature(piece: DenseBlock, coefficient: np.ndarray, start: np.ndarray) -> LossGradient:
    """Loss, gradient and Hessian with respect to the stored features of a block."""
    return msgspec.structs.replace(piece.loss_gradient(coefficient, start), hessian=piece.hessian(coefficient, start))


class SparseRows(RowBlocks[SparseBlock], frozen=True):
    """Sparse features, in the design's units."""

    rescales: bool = False  # whether folds rescale features, as those of dense rows; words are not rescaled

    def columns(self, features: np.ndarray) -> SparseRows:
        """Rows with some of the features (ascending)."""
        return self._with(lambda piece: piece.columns(features), q=len(features))

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """Scores of all rows at coefficients of any number of classes. [n_rows, n_scores]"""
        return self.pieces.map_reduce(lambda piece: RowArrays.of(piece.first, piece.scores(theta))).arrays[0]

    def gathered(self) -> SparseBlock:
        """All rows as one local block, for coordinate descent."""
        return SparseBlock.joined(self.pieces.gather())

    def loss_gradient(self, theta: np.ndarray) -> LossGradient:
        """Loss and gradient at these coefficients."""
        return self.pieces.map_reduce(lambda piece: piece.slope_and_shares(theta)[0])

    def hessian_diagonal(self, theta: np.ndarray) -> np.ndarray:
        """Diagonal of the Hessian of the mean loss. [k, q]"""
        return self.pieces.map_reduce(lambda piece: piece.hessian_diagonal(theta))

    def gram_product(self, theta: np.ndarray) -> np.ndarray:
        """X'WX theta, for one score. [q]"""
        return self.pieces.map_reduce(lambda piece: piece.weighted_sum(piece.scores(theta)[:, 0] * piece.weight))

    def sizes(self) -> np.ndarray:
        """Weighted standard deviation of each feature; 1 for constant ones, and if folds do not rescale features. [q]"""
        if not self.rescales:
            return np.ones(self.q)
        mean, square = self.pieces.map_reduce(lambda piece: piece.moments())
        return _sizes(square - mean**2)

    def row_hashes(self) -> np.ndarray:
        """Hash of each row's features. uint64 [n_rows]"""
        return self.pieces.map_reduce(lambda piece: RowArrays.of(piece.first, piece.row_hashes())).arrays[0]
