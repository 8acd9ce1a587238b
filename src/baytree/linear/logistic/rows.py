"""Rows in pieces, one of each part, and what may be asked of dense and of sparse ones alike: one round each.

Dense rows of a logistic regression, and what they say about coefficients: each answer is one round over their pieces.

Coefficients are an array theta [k, q]: k scores (one where there are two classes), q features, of which the last is the
constant 1. Weights sum to 1, so the loss is a mean.

Sparse rows of a logistic regression, and what they say about coefficients: each answer is one round over their pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Self, TypeVar

import msgspec
import numpy as np

from baytree.engine.partitions import LocalPartitionValues, PartitionValues
from baytree.engine.worker_results import StatisticTuple
from baytree.linear.logistic.dense_block import DenseBlock
from baytree.linear.logistic.objective import LossGradient
from baytree.linear.logistic.sparse_block import SparseBlock
from baytree.statistics.containers import Maximum, RowArrays

P = TypeVar("P", DenseBlock, SparseBlock)


class RowBlocks(msgspec.Struct, Generic[P], frozen=True):
    """The rows of a task in pieces, whose weights sum to 1."""

    pieces: PartitionValues[P]
    n_rows: int
    q: int  # features, the constant included
    k: int  # scores: one where there are two classes

    def labels(self) -> np.ndarray:
        """The label of each row. int32 [n_rows]"""
        return self.pieces.map_reduce(lambda piece: RowArrays.of(piece.first, piece.label)).arrays[0]

    def weights(self) -> np.ndarray:
        """The weight of each row. [n_rows]"""
        return self.pieces.map_reduce(lambda piece: RowArrays.of(piece.first, piece.weight)).arrays[0]

    def against_rest(self, c: int) -> Self:
        """The rows of two classes: one, and all others."""
        return self._with(lambda p: msgspec.structs.replace(p, label=(p.label == c).astype(np.int32), k=1), k=1)

    def fold_weights(self, n_folds: int) -> np.ndarray:
        """The weight of each fold. [n_folds]"""
        return self.pieces.map_reduce(lambda p: np.array([p.weight[p.fold == f].sum() for f in range(n_folds)]))

    def has_others(self, fold: int) -> bool:
        """Whether rows that are not in this fold weigh anything."""
        return self.pieces.map_reduce(lambda p: int(np.count_nonzero(np.where(p.fold == fold, 0.0, p.weight)))) > 0

    def without(self, fold: int) -> Self:
        """The rows of all other folds."""
        return self._weighed(self.pieces.apply(lambda p: p.take(np.flatnonzero(p.fold != fold))))

    def only(self, fold: int) -> Self:
        """The rows of this fold."""
        return self._weighed(self.pieces.apply(lambda p: p.take(np.flatnonzero(p.fold == fold))))

    def in_folds(self, fold: np.ndarray) -> Self:
        """The rows in these folds. int64 [n_rows]"""
        return self._with(lambda p: msgspec.structs.replace(p, fold=fold[p.first : p.first + len(p)]))

    def dealt(self, index: np.ndarray, weight: np.ndarray, fold: np.ndarray) -> Self:
        """These rows, each with its share of the weight and its fold. [n]"""
        return self._weighed(self.pieces.apply(lambda piece: _dealt(piece, index, weight, fold)))

    def _with(self, make: Callable[[P], P], **changes: int) -> Self:
        return msgspec.structs.replace(self, pieces=self.pieces.apply(make), **changes)

    def _weighed(self, pieces: PartitionValues[P]) -> Self:
        """The same with weights that sum to 1."""
        total = pieces.map_reduce(lambda piece: float(piece.weight.sum()))
        weighed = pieces.apply(lambda piece: msgspec.structs.replace(piece, weight=piece.weight / total))
        return msgspec.structs.replace(self, pieces=weighed)


def _dealt(piece: P, index: np.ndarray, weight: np.ndarray, fold: np.ndarray) -> P:
    own = (index >= piece.first) & (index < piece.first + len(piece))
    return msgspec.structs.replace(piece.take(index[own] - piece.first), weight=weight[own], fold=fold[own])


_BROUGHT = 5_000_000  # numbers of rows that are brought here for the first steps: 40 MB


class DenseRows(RowBlocks[DenseBlock], frozen=True):
    """Features side by side: in the design's units, or as the caller has them and brought to those units on the way.

    A feature of the model is (x − centre) / scale; the constant 1 comes after the last.
    """

    centre: np.ndarray  # float64 [q − 1]
    scale: np.ndarray  # float64 [q − 1]

    def every(self, step: int) -> DenseRows:
        """One row of every few; brought here where that saves rounds and they are no more than some megabytes."""
        some = self.pieces.apply(lambda piece: piece.every(step))
        is_brought = self.is_remote and self.n_rows * self.q <= step * _BROUGHT
        return self._weighed(LocalPartitionValues(some.gather()) if is_brought else some)

    @property
    def is_remote(self) -> bool:
        """Whether a round reads the rows anew, so that what can be asked at once should be."""
        return not isinstance(self.pieces, LocalPartitionValues)

    def columns(self, features: np.ndarray) -> DenseRows:
        """The rows with these features only; the constant, last, is always among them."""
        own, pieces = features[:-1], self.pieces.apply(lambda piece: piece.columns(features))
        return msgspec.structs.replace(self, pieces=pieces, q=len(features), centre=self.centre[own], scale=self.scale[own])

    def loss_gradient(self, theta: np.ndarray) -> LossGradient:
        """What all rows say at these coefficients."""
        coefficient, start = self.raw(theta)
        raw = self.pieces.map_reduce(lambda piece: piece.loss_gradient(coefficient, start))
        return LossGradient(raw.loss, self.to_units(raw.gradient))

    def hessian(self, theta: np.ndarray) -> np.ndarray:
        """The second derivatives of the mean loss. [k * q, k * q]"""
        coefficient, start = self.raw(theta)
        return self._in_units(self.pieces.map_reduce(lambda piece: piece.hessian(coefficient, start)))

    def slope_and_curvature(self, theta: np.ndarray) -> LossGradient:
        """Both in one round."""
        coefficient, start = self.raw(theta)
        raw = self.pieces.map_reduce(lambda piece: _slope_and_curvature(piece, coefficient, start))
        assert raw.hessian is not None
        return LossGradient(raw.loss, self.to_units(raw.gradient), self._in_units(raw.hessian))

    def slopes(self, thetas: Sequence[np.ndarray]) -> list[LossGradient]:
        """What all rows say at each of these, in one round."""
        each = [self.raw(theta) for theta in thetas]
        seen = self.pieces.map_reduce(lambda piece: StatisticTuple(tuple(piece.loss_gradient(*raw) for raw in each)))
        return [LossGradient(raw.loss, self.to_units(raw.gradient)) for raw in seen.values]

    def _in_units(self, raw: np.ndarray) -> np.ndarray:
        """A curvature by the features as they lie in the pieces, by those of the model."""
        blocks = raw.reshape(self.k, self.q, self.k, self.q).transpose(0, 2, 1, 3)
        return self._products_in_units(blocks).transpose(0, 2, 1, 3).reshape(raw.shape)

    def _products_in_units(self, raw: np.ndarray) -> np.ndarray:
        """Sums of products of two features, likewise: Σ (x − c)(y − d) = Σxy − c Σy − d Σx + cd Σ1. [..., q, q]"""
        centre, scale = np.append(self.centre, 0.0), np.append(self.scale, 1.0)
        half = raw[..., -1:, -1:] / 2
        rows, columns = raw[..., -1:, :] - half * centre, raw[..., :, -1:] - half * centre[:, None]
        return (raw - centre[:, None] * rows - columns * centre) / (scale[:, None] * scale)

    def to_units(self, summed: np.ndarray) -> np.ndarray:
        """Sums by the features as they lie in the pieces, by those of the model; the constant is last. [..., q]"""
        made = summed.copy()
        made[..., :-1] -= self.centre * made[..., -1:]
        made[..., :-1] /= self.scale
        return made

    def largest_score(self, theta: np.ndarray) -> float:
        """The largest |score| of any row."""
        coefficient, start = self.raw(theta)
        scores = self.pieces.apply(lambda piece: np.abs(piece.scores(coefficient, start)))
        return float(scores.map_reduce(lambda score: Maximum(score.max(initial=0.0))).value)

    def gram_product(self, theta: np.ndarray) -> np.ndarray:
        """X'WX theta, of one score. [q]"""
        coefficient, start = self.raw(theta)
        total = self.pieces.map_reduce(
            lambda piece: piece.weighted_sum(piece.scores(coefficient, start)[:, 0] * piece.weight)
        )
        return np.append((total[:-1] - total[-1] * self.centre) / self.scale, total[-1])

    def variances(self) -> np.ndarray:
        """The variance of each feature among the rows that count. [q − 1]"""
        centre, total = self.centre, self.pieces.map_reduce(lambda piece: float(piece.weight.sum()))
        mean, square = self.pieces.map_reduce(lambda piece: piece.moments(centre)) / total
        return (square - mean**2) / self.scale**2

    def sizes(self) -> np.ndarray:
        """The standard deviation of each feature among the rows that count, in the design's units. [q]"""
        variance = np.append(self.variances(), 0.0)
        return np.where(variance > 1e-12, np.sqrt(np.maximum(variance, 0.0)), 1.0)

    def row_hashes(self) -> np.ndarray:
        """A number made from each row's features. uint64 [n_rows]"""
        centre, scale = self.centre, self.scale  # what a function holds travels to the rows, and the rows must not
        return self.pieces.map_reduce(lambda piece: RowArrays.of(piece.first, piece.row_hashes(centre, scale))).arrays[0]

    def raw(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The coefficients and the start for features as they lie in the pieces."""
        coefficient = theta[:, :-1] / self.scale
        return coefficient, theta[:, -1] - coefficient @ self.centre


def _slope_and_curvature(piece: DenseBlock, coefficient: np.ndarray, start: np.ndarray) -> LossGradient:
    """Both, by the features as they lie in the piece."""
    return msgspec.structs.replace(piece.loss_gradient(coefficient, start), hessian=piece.hessian(coefficient, start))


class SparseRows(RowBlocks[SparseBlock], frozen=True):
    """Features in compressed form, in the design's units."""

    def columns(self, features: np.ndarray) -> SparseRows:
        """The rows with these features only (ascending)."""
        return self._with(lambda piece: piece.columns(features), q=len(features))

    def gathered(self) -> SparseBlock:
        """All rows on this machine, for steps that go from coefficient to coefficient."""
        return SparseBlock.joined(self.pieces.gather())

    def loss_gradient(self, theta: np.ndarray) -> LossGradient:
        """What all rows say at these coefficients."""
        return self.pieces.map_reduce(lambda piece: piece.slope_and_shares(theta)[0])

    def hessian_diagonal(self, theta: np.ndarray) -> np.ndarray:
        """The second derivative of the mean loss by each coefficient alone. [k, q]"""
        return self.pieces.map_reduce(lambda piece: piece.hessian_diagonal(theta))

    def gram_product(self, theta: np.ndarray) -> np.ndarray:
        """X'WX theta, of one score. [q]"""
        return self.pieces.map_reduce(lambda piece: piece.weighted_sum(piece.scores(theta)[:, 0] * piece.weight))

    def sizes(self) -> np.ndarray:
        """Each feature counts as it is. [q]"""
        return np.ones(self.q)

    def row_hashes(self) -> np.ndarray:
        """A number made from each row's features. uint64 [n_rows]"""
        return self.pieces.map_reduce(lambda piece: RowArrays.of(piece.first, piece.row_hashes())).arrays[0]
