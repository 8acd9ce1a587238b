"""Backward pass of MARS (Friedman 1991): a subset of terms of each size, the size of minimum GCV, and feature importance.

All residual sums of squares follow from one QR factor of the basis, so the rows are read once. Feature importance counts in
how many of the pruning subsets a feature occurs, and how much GCV and RSS fell with those subsets.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.display.terminal import aligned
from baytree.linear.coefficients import FeatureTable
from baytree.linear.mars.features import MarsOptions
from baytree.linear.mars.model import Term

_ROUNDING_TOLERANCE = 1e-10  # smaller criteria are rounding error and count as 0


class PrunedTerms(msgspec.Struct, frozen=True):
    """A subset of terms for each number of terms, its RSS and GCV, and the chosen size."""

    subsets: tuple[np.ndarray, ...]  # ascending term indices; subsets of 1, 2, … terms
    rss: np.ndarray  # float64 [n_terms]
    gcv: np.ndarray  # float64 [n_terms]
    size: int

    @property
    def kept(self) -> np.ndarray:
        """Indices of the selected terms."""
        return self.subsets[self.size - 1]


class TriangularFactor(msgspec.Struct, frozen=True):
    """QR factor of a basis and rotated responses: |y − Bc|² = |z − Rc|² + rest."""

    r: np.ndarray  # float64 [n_terms, n_terms]
    z: np.ndarray  # float64 [n_terms, n_responses]
    rest: float

    @classmethod
    def of(cls, basis: np.ndarray, y: np.ndarray) -> TriangularFactor:
        """Factor of a basis [n_rows, n_terms] and responses [n_rows, n_responses]."""
        q, r = np.linalg.qr(basis)
        z = q.T @ y
        residual = y - q @ z
        return cls(r, z, float(np.square(residual - q @ (q.T @ residual)).sum()))

    def take(self, terms: list[int] | np.ndarray) -> TriangularFactor:
        """Factor of some terms, in the given order; what only the others explain is added to `rest`."""
        q, r = np.linalg.qr(self.r[:, terms], mode="complete")
        z = q.T @ self.z
        return TriangularFactor(r[: len(terms)], z[: len(terms)], self.rest + float(np.square(z[len(terms) :]).sum()))

    def solution(self) -> np.ndarray:
        """Least-squares coefficients. [n_terms, n_responses]"""
        return np.linalg.solve(self.r, self.z)


def prune(factor: TriangularFactor, options: MarsOptions, n_rows: int) -> PrunedTerms:
    """Subsets from all terms down to the constant, and the best size.

    With a single response, every prefix of every order of terms met during elimination is a candidate; several responses use
    plain backward elimination.
    """
    tries_prefixes = factor.z.shape[1] == 1 and len(factor.r) > 2
    r, z = np.ascontiguousarray(factor.r), np.ascontiguousarray(factor.z)
    subsets, rss = _core.backward_subsets(r, z, factor.rest, tries_prefixes)
    gcv = np.array([options.gcv(r, k + 1, n_rows) for k, r in enumerate(rss)])
    size = int(np.argmin(gcv)) + 1 if options.prune else len(gcv)
    return PrunedTerms(tuple(subsets), or_nothing(rss), or_nothing(gcv), size)


def or_nothing(values: np.ndarray) -> np.ndarray:
    """Sums of squares, with rounding errors replaced by 0."""
    return np.where(values < _ROUNDING_TOLERANCE, 0.0, values)


class SplineImportance(msgspec.Struct, frozen=True):
    """Importance of a feature by three measures; `gcv` and `rss` are square roots of the gains, scaled to a maximum
    of 100.
    """

    feature: str
    column: str
    nsubsets: int
    gcv: float
    rss: float
    is_used: bool


class SplineImportanceTable(FeatureTable, frozen=True):
    """Feature importance, most important first; prints as a table."""

    def __str__(self) -> str:
        rows = [[r.feature, r.nsubsets, f"{r.gcv:.1f}", f"{r.rss:.1f}", "" if r.is_used else "not used"] for r in self.rows]
        return aligned(["feature", "nsubsets", "gcv", "rss", ""], rows)


def criterion_of(terms: list[Term], pruned: PrunedTerms, n_features: int) -> np.ndarray:
    """Number of subsets, from two terms to the chosen size, that contain each feature, and their gains in GCV and RSS.
    [n_features, 3]
    """
    score = np.zeros((n_features, 3))
    for size in range(2, pruned.size + 1):
        features = sorted({hinge.feature for k in pruned.subsets[size - 1] for hinge in terms[k]})
        gcv, rss = (values[size - 2] - values[size - 1] for values in (pruned.gcv, pruned.rss))
        score[features] += (1.0, gcv if np.isfinite(gcv) else 0.0, rss)
    return score


def importance_table(score: np.ndarray, names: list[str], columns: list[str], used: set[int]) -> SplineImportanceTable:
    """Importance table, ordered by number of subsets, then GCV, then feature order."""
    order = sorted(range(len(score)), key=lambda f: (-score[f, 0], -score[f, 1], f))
    scaled = np.sign(score) * 100 * np.sqrt(np.abs(score) / np.maximum(np.abs(score).max(axis=0, initial=0.0), 1e-300))
    return SplineImportanceTable(
        tuple(
            SplineImportance(names[f], columns[f], int(score[f, 0]), float(scaled[f, 1]), float(scaled[f, 2]), f in used)
            for f in order
        )
    )
