"""The backward pass: for each number of terms a good subset, and the number that generalised cross-validation prefers.

Everything follows from one triangular factor of the basis, so that the rows are read once.

What features are worth: in how many of the subsets of pruning they occur, and what those subsets gain.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.display.terminal import aligned
from baytree.linear.coefficients import FeatureTable
from baytree.linear.mars.features import MarsOptions
from baytree.linear.mars.model import Term

_NOTHING = 1e-10


class PrunedTerms(msgspec.Struct, frozen=True):
    """A subset of terms for each number of them, its RSS and GCV, and the number that is chosen."""

    subsets: tuple[np.ndarray, ...]  # terms, ascending; of 1, 2, … terms
    rss: np.ndarray  # float64 [n_terms]
    gcv: np.ndarray  # float64 [n_terms]
    size: int

    @property
    def kept(self) -> np.ndarray:
        """The terms that remain."""
        return self.subsets[self.size - 1]


class TriangularFactor(msgspec.Struct, frozen=True):
    """A basis and responses on orthonormal axes: |y − Bc|² = |z − Rc|² + rest."""

    r: np.ndarray  # float64 [n_terms, n_terms]
    z: np.ndarray  # float64 [n_terms, n_responses]
    rest: float

    @classmethod
    def of(cls, basis: np.ndarray, y: np.ndarray) -> TriangularFactor:
        """Of columns [n_rows, n_terms] and responses [n_rows, n_responses]."""
        q, r = np.linalg.qr(basis)
        z = q.T @ y
        left = y - q @ z
        return cls(r, z, float(np.square(left - q @ (q.T @ left)).sum()))

    def take(self, terms: list[int] | np.ndarray) -> TriangularFactor:
        """The same of some terms, in their order; what the others explain is left over."""
        q, r = np.linalg.qr(self.r[:, terms], mode="complete")
        z = q.T @ self.z
        return TriangularFactor(r[: len(terms)], z[: len(terms)], self.rest + float(np.square(z[len(terms) :]).sum()))

    def solution(self) -> np.ndarray:
        """The coefficients of least squares. [n_terms, n_responses]"""
        return np.linalg.solve(self.r, self.z)


def prune(factor: TriangularFactor, options: MarsOptions, n_rows: int) -> PrunedTerms:
    """The subsets on the way from all terms to the constant alone, and the best of them.

    A single response tries every prefix of every order that is met on the way; several ones eliminate term after term.
    """
    tries_prefixes = factor.z.shape[1] == 1 and len(factor.r) > 2
    r, z = np.ascontiguousarray(factor.r), np.ascontiguousarray(factor.z)
    subsets, rss = _core.backward_subsets(r, z, factor.rest, tries_prefixes)
    gcv = np.array([options.gcv(r, k + 1, n_rows) for k, r in enumerate(rss)])
    size = int(np.argmin(gcv)) + 1 if options.prune else len(gcv)
    return PrunedTerms(tuple(subsets), or_nothing(rss), or_nothing(gcv), size)


def or_nothing(values: np.ndarray) -> np.ndarray:
    """Sums of squares; 0 for what is rounding alone."""
    return np.where(values < _NOTHING, 0.0, values)


class SplineImportance(msgspec.Struct, frozen=True):
    """A feature by three measures; `gcv` and `rss` are roots of what was gained, the greatest 100."""

    feature: str
    column: str
    nsubsets: int
    gcv: float
    rss: float
    is_used: bool


class SplineImportanceTable(FeatureTable, frozen=True):
    """The features by what they are worth, the most important first; prints as a table."""

    def __str__(self) -> str:
        rows = [[r.feature, r.nsubsets, f"{r.gcv:.1f}", f"{r.rss:.1f}", "" if r.is_used else "not used"] for r in self.rows]
        return aligned(["feature", "nsubsets", "gcv", "rss", ""], rows)


def worth_of(terms: list[Term], pruned: PrunedTerms, n_features: int) -> np.ndarray:
    """The subsets, from two terms to the one chosen, in which each feature occurs, and their gains. [n_features, 3]"""
    worth = np.zeros((n_features, 3))
    for size in range(2, pruned.size + 1):
        own = sorted({hinge.feature for k in pruned.subsets[size - 1] for hinge in terms[k]})
        gcv, rss = (values[size - 2] - values[size - 1] for values in (pruned.gcv, pruned.rss))
        worth[own] += (1.0, gcv if np.isfinite(gcv) else 0.0, rss)
    return worth


def importance_table(worth: np.ndarray, names: list[str], columns: list[str], used: set[int]) -> SplineImportanceTable:
    """The features by the number of subsets, then by GCV, then as they came."""
    order = sorted(range(len(worth)), key=lambda f: (-worth[f, 0], -worth[f, 1], f))
    share = np.sign(worth) * 100 * np.sqrt(np.abs(worth) / np.maximum(np.abs(worth).max(axis=0, initial=0.0), 1e-300))
    return SplineImportanceTable(
        tuple(
            SplineImportance(names[f], columns[f], int(worth[f, 0]), float(share[f, 1]), float(share[f, 2]), f in used)
            for f in order
        )
    )
