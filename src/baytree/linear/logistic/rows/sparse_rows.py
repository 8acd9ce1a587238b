"""Sparse rows of a logistic regression, and what they say about coefficients: each answer is one round over their pieces."""

from __future__ import annotations

import numpy as np

from baytree.linear.logistic.rows.loss import Slope
from baytree.linear.logistic.rows.pieces import Pieces
from baytree.linear.logistic.rows.sparse_piece import SparsePiece
from baytree.statistics.strung import Strung


class SparseRows(Pieces[SparsePiece], frozen=True):
    """Features in compressed form, in the design's units."""

    def columns(self, features: np.ndarray) -> SparseRows:
        """The rows with these features only (ascending)."""
        return self._with(lambda piece: piece.columns(features), q=len(features))

    def gathered(self) -> SparsePiece:
        """All rows on this machine, for steps that go from coefficient to coefficient."""
        return SparsePiece.joined(self.pieces.gather())

    def slope(self, theta: np.ndarray) -> Slope:
        """What all rows say at these coefficients."""
        return self.pieces.total(lambda piece: piece.slope_and_shares(theta)[0])

    def hessian_diagonal(self, theta: np.ndarray) -> np.ndarray:
        """The second derivative of the mean loss by each coefficient alone. [k, q]"""
        return self.pieces.total(lambda piece: piece.hessian_diagonal(theta))

    def image(self, theta: np.ndarray) -> np.ndarray:
        """X'WX theta, of one score. [q]"""
        return self.pieces.total(lambda piece: piece.weighted_sum(piece.scores(theta)[:, 0] * piece.weight))

    def sizes(self) -> np.ndarray:
        """Each feature counts as it is. [q]"""
        return np.ones(self.q)

    def keys(self) -> np.ndarray:
        """A number made from each row's features. uint64 [n_rows]"""
        return self.pieces.total(lambda piece: Strung.of(piece.first, piece.keys())).arrays[0]
