"""The backward pass: for each number of terms a good subset, and the number that generalised cross-validation prefers.

Everything follows from one triangular factor of the basis, so that the rows are read once.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.linear.splines.options import Options

_NOTHING = 1e-10


class Pruned(msgspec.Struct, frozen=True):
    """A subset of terms for each number of them, its RSS and GCV, and the number that is chosen."""

    subsets: tuple[np.ndarray, ...]  # terms, ascending; of 1, 2, … terms
    rss: np.ndarray  # float64 [n_terms]
    gcv: np.ndarray  # float64 [n_terms]
    size: int

    @property
    def kept(self) -> np.ndarray:
        """The terms that remain."""
        return self.subsets[self.size - 1]


class Factor(msgspec.Struct, frozen=True):
    """A basis and responses on orthonormal axes: |y − Bc|² = |z − Rc|² + rest."""

    r: np.ndarray  # float64 [n_terms, n_terms]
    z: np.ndarray  # float64 [n_terms, n_responses]
    rest: float

    @classmethod
    def of(cls, basis: np.ndarray, y: np.ndarray) -> Factor:
        """Of columns [n_rows, n_terms] and responses [n_rows, n_responses]."""
        q, r = np.linalg.qr(basis)
        z = q.T @ y
        left = y - q @ z
        return cls(r, z, float(np.square(left - q @ (q.T @ left)).sum()))

    def take(self, terms: list[int] | np.ndarray) -> Factor:
        """The same of some terms, in their order; what the others explain is left over."""
        q, r = np.linalg.qr(self.r[:, terms], mode="complete")
        z = q.T @ self.z
        return Factor(r[: len(terms)], z[: len(terms)], self.rest + float(np.square(z[len(terms) :]).sum()))

    def solution(self) -> np.ndarray:
        """The coefficients of least squares. [n_terms, n_responses]"""
        return np.linalg.solve(self.r, self.z)


def prune(factor: Factor, options: Options, n_rows: int) -> Pruned:
    """The subsets on the way from all terms to the constant alone, and the best of them.

    A single response tries every prefix of every order that is met on the way; several ones eliminate term after term.
    """
    tries_prefixes = factor.z.shape[1] == 1 and len(factor.r) > 2
    r, z = np.ascontiguousarray(factor.r), np.ascontiguousarray(factor.z)
    subsets, rss = _core.backward_subsets(r, z, factor.rest, tries_prefixes)
    gcv = np.array([options.gcv(r, k + 1, n_rows) for k, r in enumerate(rss)])
    size = int(np.argmin(gcv)) + 1 if options.prune else len(gcv)
    return Pruned(tuple(subsets), or_nothing(rss), or_nothing(gcv), size)


def or_nothing(values: np.ndarray) -> np.ndarray:
    """Sums of squares; 0 for what is rounding alone."""
    return np.where(values < _NOTHING, 0.0, values)
