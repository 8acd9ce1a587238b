"""Terms: products of hinges of features, and their columns for rows."""

from __future__ import annotations

import msgspec
import numpy as np

RISING, FALLING, LINEAR = 1, -1, 0


class Hinge(msgspec.Struct, frozen=True):
    """max(0, x − cut), max(0, cut − x), or x itself."""

    feature: int
    side: int  # RISING, FALLING or LINEAR
    cut: float = 0.0  # 0 for LINEAR

    def of(self, x: np.ndarray) -> np.ndarray:
        """The hinge of these numbers."""
        if self.side == LINEAR:
            return x
        return np.maximum(0.0, x - self.cut if self.side == RISING else self.cut - x)


Term = tuple[Hinge, ...]


def column_of(term: Term, x: np.ndarray) -> np.ndarray:
    """The product of a term's hinges, from the left; x [n_features, n_rows] → [n_rows]"""
    product = np.ones(x.shape[1])
    for hinge in term:
        product = product * hinge.of(x[hinge.feature])
    return product


def columns_of(terms: list[Term], x: np.ndarray) -> np.ndarray:
    """The columns of all terms side by side. [n_rows, n_terms]"""
    return np.stack([column_of(term, x) for term in terms], axis=1)
