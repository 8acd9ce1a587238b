"""Dense rows of a logistic regression, and what they say about coefficients: each answer is one round over their pieces.

Coefficients are an array theta [k, q]: k scores (one where there are two classes), q features, of which the last is the
constant 1. Weights sum to 1, so the loss is a mean.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from baytree.engine.gathering import Several
from baytree.engine.parts import Kept
from baytree.linear.logistic.rows.dense_piece import DensePiece
from baytree.linear.logistic.rows.loss import Slope
from baytree.linear.logistic.rows.pieces import Pieces
from baytree.statistics.largest import Largest
from baytree.statistics.strung import Strung

_BROUGHT = 5_000_000  # numbers of rows that are brought here for the first steps: 40 MB


class DenseRows(Pieces[DensePiece], frozen=True):
    """Features side by side: in the design's units, or as the caller has them and brought to those units on the way.

    A feature of the model is (x − centre) / scale; the constant 1 comes after the last.
    """

    centre: np.ndarray  # float64 [q − 1]
    scale: np.ndarray  # float64 [q − 1]

    def every(self, step: int) -> DenseRows:
        """One row of every few; brought here where that saves rounds and they are no more than some megabytes."""
        some = self.pieces.made(lambda piece: piece.every(step))
        is_brought = self.is_far and self.n_rows * self.q <= step * _BROUGHT
        return self._weighed(Kept(some.gather()) if is_brought else some)

    @property
    def is_far(self) -> bool:
        """Whether a round reads the rows anew, so that what can be asked at once should be."""
        return not isinstance(self.pieces, Kept)

    def columns(self, features: np.ndarray) -> DenseRows:
        """The rows with these features only; the constant, last, is always among them."""
        own, pieces = features[:-1], self.pieces.made(lambda piece: piece.columns(features))
        return msgspec.structs.replace(self, pieces=pieces, q=len(features), centre=self.centre[own], scale=self.scale[own])

    def slope(self, theta: np.ndarray) -> Slope:
        """What all rows say at these coefficients."""
        coefficient, start = self.raw(theta)
        raw = self.pieces.total(lambda piece: piece.slope(coefficient, start))
        return Slope(raw.loss, self.to_units(raw.gradient))

    def curvature(self, theta: np.ndarray) -> np.ndarray:
        """The second derivatives of the mean loss. [k * q, k * q]"""
        coefficient, start = self.raw(theta)
        return self._in_units(self.pieces.total(lambda piece: piece.curvature(coefficient, start)))

    def slope_and_curvature(self, theta: np.ndarray) -> Slope:
        """Both in one round."""
        coefficient, start = self.raw(theta)
        raw = self.pieces.total(lambda piece: _slope_and_curvature(piece, coefficient, start))
        assert raw.curvature is not None
        return Slope(raw.loss, self.to_units(raw.gradient), self._in_units(raw.curvature))

    def slopes(self, thetas: Sequence[np.ndarray]) -> list[Slope]:
        """What all rows say at each of these, in one round."""
        each = [self.raw(theta) for theta in thetas]
        seen = self.pieces.total(lambda piece: Several(tuple(piece.slope(*raw) for raw in each)))
        return [Slope(raw.loss, self.to_units(raw.gradient)) for raw in seen.values]

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
        scores = self.pieces.made(lambda piece: np.abs(piece.scores(coefficient, start)))
        return float(scores.total(lambda score: Largest(score.max(initial=0.0))).value)

    def image(self, theta: np.ndarray) -> np.ndarray:
        """X'WX theta, of one score. [q]"""
        coefficient, start = self.raw(theta)
        total = self.pieces.total(lambda piece: piece.weighted_sum(piece.scores(coefficient, start)[:, 0] * piece.weight))
        return np.append((total[:-1] - total[-1] * self.centre) / self.scale, total[-1])

    def variances(self) -> np.ndarray:
        """The variance of each feature among the rows that count. [q − 1]"""
        centre, total = self.centre, self.pieces.total(lambda piece: float(piece.weight.sum()))
        mean, square = self.pieces.total(lambda piece: piece.moments(centre)) / total
        return (square - mean**2) / self.scale**2

    def sizes(self) -> np.ndarray:
        """The standard deviation of each feature among the rows that count, in the design's units. [q]"""
        variance = np.append(self.variances(), 0.0)
        return np.where(variance > 1e-12, np.sqrt(np.maximum(variance, 0.0)), 1.0)

    def keys(self) -> np.ndarray:
        """A number made from each row's features. uint64 [n_rows]"""
        centre, scale = self.centre, self.scale  # what a function holds travels to the rows, and the rows must not
        return self.pieces.total(lambda piece: Strung.of(piece.first, piece.keys(centre, scale))).arrays[0]

    def raw(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The coefficients and the start for features as they lie in the pieces."""
        coefficient = theta[:, :-1] / self.scale
        return coefficient, theta[:, -1] - coefficient @ self.centre


def _slope_and_curvature(piece: DensePiece, coefficient: np.ndarray, start: np.ndarray) -> Slope:
    """Both, by the features as they lie in the piece."""
    return msgspec.structs.replace(piece.slope(coefficient, start), curvature=piece.curvature(coefficient, start))
