"""Least squares from the normal equations, without the features that follow from earlier ones.

A feature is used if, in the order of the columns, the features before it leave more than one part in 1e9 of its variance
unexplained. So of collinear columns the later ones are left out, as R's `lm` does.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _warnings
from baytree.data.schema.schema import Schema
from baytree.linear.regression.normal_equations import NormalEquations
from baytree.parallel.blas import run_lapack

_OWN = 1e-9  # of a feature's variance, that earlier ones must leave unexplained

_PANEL = 64  # features

_NAMED = 8  # columns of a warning

_LEAST = 1e-6  # standard coefficient of a feature that takes part in a collinearity


class LeastSquaresSolution(msgspec.Struct, frozen=True):
    """Coefficients in standard units, and the features that could be used."""

    standard: np.ndarray  # [n_features], 0 for those that are not used
    used: np.ndarray  # int [rank], in order
    root: np.ndarray  # [rank, rank], the inverse Cholesky factor of their correlations
    unexplained: float  # share of the target's variance

    @property
    def inverse(self) -> np.ndarray:
        """The inverse of the used features' correlations. [rank, rank]"""
        return self.root.T @ self.root


def least_squares(normal: NormalEquations) -> LeastSquaresSolution:
    """The coefficients of least squares; what could not be used is told by `collinear` and `normal.varies`."""
    used = independent(normal)
    gram, right = normal.gram[np.ix_(used, used)], normal.right[used]
    factor = run_lapack(np.linalg.cholesky, gram)
    root = run_lapack(np.linalg.inv, factor)
    whitened = root @ right
    standard = np.zeros(normal.n_features)
    standard[used] = root.T @ whitened
    unexplained = 0.0 if normal.is_constant else max(0.0, 1 - float(whitened @ whitened))
    return LeastSquaresSolution(standard, used, root, unexplained)


def independent(normal: NormalEquations) -> np.ndarray:
    """The features that vary and that no earlier ones determine, in order. int [rank]"""
    varying = np.flatnonzero(normal.varies)
    gram = normal.gram[np.ix_(varying, varying)]
    return varying[_all(gram) if _is_clear(gram) else _one_by_one(gram)]


def collinear(normal: NormalEquations, used: np.ndarray) -> np.ndarray:
    """The features that vary but follow from earlier ones. int32"""
    rest = normal.varies.copy()
    rest[used] = False
    return np.flatnonzero(rest).astype(np.int32)


def warn_of_collinear(normal: NormalEquations, solution: LeastSquaresSolution, schema: Schema) -> None:
    """Name each feature that is not used, and the columns it follows from."""
    names = normal.design.names(schema.columns)
    for feature in collinear(normal, solution.used)[:_NAMED]:
        share = solution.root.T @ (solution.root @ normal.gram[solution.used, feature])
        parents = [names[f] for f in solution.used[np.abs(share) > _LEAST] if f < feature]
        shown = ", ".join(map(repr, parents[:_NAMED])) + (f" and {len(parents) - _NAMED} more" if parents[_NAMED:] else "")
        _warnings.warn(f"{names[feature]!r} is collinear with {shown}: it is not used, and they carry its effect")
    if len(more := collinear(normal, solution.used)[_NAMED:]):
        _warnings.warn(f"{len(more)} more features are collinear with earlier ones, and not used")


def _all(gram: np.ndarray) -> np.ndarray:
    return np.arange(len(gram))


def _is_clear(gram: np.ndarray) -> bool:
    """Whether each feature has a part of its own: the squared pivots are what the earlier ones leave of its variance."""
    try:
        return bool(np.square(run_lapack(np.linalg.cholesky, gram).diagonal()).min(initial=1.0) > _OWN)
    except np.linalg.LinAlgError:
        return False


def _one_by_one(gram: np.ndarray) -> np.ndarray:
    """The features with a part of their own, by Cholesky's elimination in order, a panel of features at a time."""
    factor, used = np.zeros_like(gram), []
    for first in range(0, len(gram), _PANEL):
        panel = slice(first, first + _PANEL)
        done = factor[: len(used)]
        left = gram[panel, first:] - done[:, panel].T @ done[:, first:]
        for j in range(len(left)):
            if left[j, j] > _OWN:
                row = factor[len(used), first:] = left[j] / np.sqrt(left[j, j])
                left[j + 1 :] -= row[j + 1 : len(left), None] * row
                used.append(first + j)
    return np.array(used, int)
