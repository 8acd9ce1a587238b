"""The backward pass: for each number of terms a good subset, and the number that generalised cross-validation prefers.

Everything follows from one triangular factor of the basis, so that the rows are read once.
"""

from __future__ import annotations

import msgspec
import numpy as np

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

    def first(self, count: int) -> Factor:
        """The same of the first terms: their part of a triangular factor is one by itself."""
        return Factor(self.r[:count, :count], self.z[:count], self.rest + float(np.square(self.z[count:]).sum()))

    def of_prefixes(self) -> np.ndarray:
        """The RSS of the first 1, 2, … terms."""
        explained = np.square(self.z).sum(axis=1)
        return self.rest + np.append(np.cumsum(explained[::-1])[::-1][1:], 0.0)

    def without_each(self) -> np.ndarray:
        """By how much the RSS rises without each of the terms."""
        inverse = np.linalg.inv(self.r)
        return np.square(inverse @ self.z).sum(axis=1) / np.square(inverse).sum(axis=1)

    def solution(self) -> np.ndarray:
        """The coefficients of least squares. [n_terms, n_responses]"""
        return np.linalg.solve(self.r, self.z)


def prune(factor: Factor, options: Options, n_rows: int) -> Pruned:
    """The subsets on the way from all terms to the constant alone, and the best of them."""
    order = list(range(len(factor.r)))
    if factor.z.shape[1] > 1 or len(order) <= 2:
        subsets, rss = _eliminated(factor, order)
    else:
        subsets, rss = _best_prefixes(factor, order)
    gcv = np.array([options.gcv(r, k + 1, n_rows) for k, r in enumerate(rss)])
    size = int(np.argmin(gcv)) + 1 if options.prune else len(gcv)
    return Pruned(tuple(np.sort(subset) for subset in subsets), _or_nothing(rss), _or_nothing(gcv), size)


def _eliminated(factor: Factor, order: list[int]) -> tuple[list[list[int]], np.ndarray]:
    """Plain backward elimination: again and again the term whose loss costs least goes."""
    subsets, rss = [list(order)], [factor.rest]
    while len(order) > 1:
        own = factor.take(order)
        order.pop(1 + int(np.argmin(own.without_each()[1:])))
        subsets.append(list(order))
        rss.append(factor.take(order).rest)
    return subsets[::-1], np.array(rss[::-1])


def _best_prefixes(factor: Factor, order: list[int]) -> tuple[list[list[int]], np.ndarray]:
    """The same, but every prefix of every order met on the way is a subset of its size: subsets need not be nested."""
    subsets = [order[: k + 1] for k in range(len(order))]
    rss, ordered = factor.of_prefixes(), factor
    for size in range(len(order), 2, -1):
        worst = 1 + int(np.argmin(ordered.first(size).without_each()[1:]))
        order = [*order[:worst], *order[worst + 1 : size], order[worst], *order[size:]]
        ordered = factor.take(order)
        found = ordered.of_prefixes()
        for k in np.flatnonzero(found < rss):
            if set(order[: k + 1]) != set(subsets[k]):
                subsets[k], rss[k] = order[: k + 1], found[k]
    return subsets, rss


def _or_nothing(values: np.ndarray) -> np.ndarray:
    return np.where(values < _NOTHING, 0.0, values)
