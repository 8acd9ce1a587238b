"""Rows in pieces, one of each part, and what may be asked of dense and of sparse ones alike: one round each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Self, TypeVar

import msgspec
import numpy as np

from baytree.engine.parts import Made
from baytree.linear.logistic.rows.dense_piece import DensePiece
from baytree.linear.logistic.rows.sparse_piece import SparsePiece
from baytree.statistics.strung import Strung

P = TypeVar("P", DensePiece, SparsePiece)


class Pieces(msgspec.Struct, Generic[P], frozen=True):
    """The rows of a task in pieces, whose weights sum to 1."""

    pieces: Made[P]
    n_rows: int
    q: int  # features, the constant included
    k: int  # scores: one where there are two classes

    def labels(self) -> np.ndarray:
        """The label of each row. int32 [n_rows]"""
        return self.pieces.total(lambda piece: Strung.of(piece.first, piece.label)).arrays[0]

    def weights(self) -> np.ndarray:
        """The weight of each row. [n_rows]"""
        return self.pieces.total(lambda piece: Strung.of(piece.first, piece.weight)).arrays[0]

    def against_rest(self, c: int) -> Self:
        """The rows of two classes: one, and all others."""
        return self._with(lambda p: msgspec.structs.replace(p, label=(p.label == c).astype(np.int32), k=1), k=1)

    def fold_weights(self, n_folds: int) -> np.ndarray:
        """The weight of each fold. [n_folds]"""
        return self.pieces.total(lambda p: np.array([p.weight[p.fold == f].sum() for f in range(n_folds)]))

    def has_others(self, fold: int) -> bool:
        """Whether rows that are not in this fold weigh anything."""
        return self.pieces.total(lambda p: int(np.count_nonzero(np.where(p.fold == fold, 0.0, p.weight)))) > 0

    def without(self, fold: int) -> Self:
        """The rows of all other folds."""
        return self._weighed(self.pieces.made(lambda p: p.take(np.flatnonzero(p.fold != fold))))

    def only(self, fold: int) -> Self:
        """The rows of this fold."""
        return self._weighed(self.pieces.made(lambda p: p.take(np.flatnonzero(p.fold == fold))))

    def in_folds(self, fold: np.ndarray) -> Self:
        """The rows in these folds. int64 [n_rows]"""
        return self._with(lambda p: msgspec.structs.replace(p, fold=fold[p.first : p.first + len(p)]))

    def dealt(self, index: np.ndarray, weight: np.ndarray, fold: np.ndarray) -> Self:
        """These rows, each with its share of the weight and its fold. [n]"""
        return self._weighed(self.pieces.made(lambda piece: _dealt(piece, index, weight, fold)))

    def _with(self, make: Callable[[P], P], **changes: int) -> Self:
        return msgspec.structs.replace(self, pieces=self.pieces.made(make), **changes)

    def _weighed(self, pieces: Made[P]) -> Self:
        """The same with weights that sum to 1."""
        total = pieces.total(lambda piece: float(piece.weight.sum()))
        weighed = pieces.made(lambda piece: msgspec.structs.replace(piece, weight=piece.weight / total))
        return msgspec.structs.replace(self, pieces=weighed)


def _dealt(piece: P, index: np.ndarray, weight: np.ndarray, fold: np.ndarray) -> P:
    own = (index >= piece.first) & (index < piece.first + len(piece))
    return msgspec.structs.replace(piece.take(index[own] - piece.first), weight=weight[own], fold=fold[own])
