"""Least squares from the normal equations, without features that are collinear with earlier ones.

A feature is used if the features before it, in column order, leave more than 1e-9 of its variance unexplained. Of collinear
columns the later ones are dropped, as in R's `lm`.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _warnings
from baytree.data.schema.schema import Schema
from baytree.linear.regression.normal_equations import NormalEquations
from baytree.parallel.blas import run_lapack

_MIN_UNEXPLAINED = 1e-9  # proportion of a feature's variance that earlier features must leave unexplained

_PANEL_FEATURES = 64  # features

_MAX_NAMED = 8  # maximum number of columns named in a warning

_MIN_COEFFICIENT = 1e-6  # minimum standardised coefficient of a feature that takes part in a collinearity


class LeastSquaresSolution(msgspec.Struct, frozen=True):
    """Least-squares coefficients in standard units, and the features that were used."""

    standard: np.ndarray  # [n_features], 0 for unused features
    used: np.ndarray  # int [rank], ascending
    root: np.ndarray  # [rank, rank], the inverse Cholesky factor of their correlations
    unexplained: float  # proportion of the target's variance

    @property
    def inverse(self) -> np.ndarray:
        """Inverse of the correlation matrix of the used features. [rank, rank]"""
        return self.root.T @ self.root


def least_squares(normal: NormalEquations) -> LeastSquaresSolution:
    """Least-squares solution; `collinear` and `normal.varies` say which features were not used."""
    used = independent(normal)
    gram, right = normal.gram[np.ix_(used, used)], normal.right[used]
    factor = run_lapack(np.linalg.cholesky, gram)
    inverse_root = run_lapack(np.linalg.inv, factor)
    whitened = inverse_root @ right
    standard = np.zeros(normal.n_features)
    standard[used] = inverse_root.T @ whitened
    unexplained = 0.0 if normal.is_constant else max(0.0, 1 - float(whitened @ whitened))
    return LeastSquaresSolution(standard, used, inverse_root, unexplained)


def independent(normal: NormalEquations) -> np.ndarray:
    """Features that vary and are not collinear with earlier ones, in order. int [rank]"""
    varying = np.flatnonzero(normal.varies)
    gram = normal.gram[np.ix_(varying, varying)]
    return varying[_all(gram) if _is_clear(gram) else _solve_one_by_one(gram)]


def collinear(normal: NormalEquations, used: np.ndarray) -> np.ndarray:
    """Features that vary but are collinear with earlier ones. int32"""
    unused = normal.varies.copy()
    unused[used] = False
    return np.flatnonzero(unused).astype(np.int32)


def warn_of_collinear(normal: NormalEquations, solution: LeastSquaresSolution, schema: Schema) -> None:
    """Warn of each unused feature, with the columns it is collinear with."""
    names = normal.design.names(schema.columns)
    for feature in collinear(normal, solution.used)[:_MAX_NAMED]:
        coefficient = solution.root.T @ (solution.root @ normal.gram[solution.used, feature])
        parents = [names[f] for f in solution.used[np.abs(coefficient) > _MIN_COEFFICIENT] if f < feature]
        shown = ", ".join(map(repr, parents[:_MAX_NAMED])) + (
            f" and {len(parents) - _MAX_NAMED} more" if parents[_MAX_NAMED:] else ""
        )
        _warnings.warn(f"{names[feature]!r} is collinear with {shown}: it is not used, and its effect is part of theirs")
    if len(more := collinear(normal, solution.used)[_MAX_NAMED:]):
        _warnings.warn(f"{len(more)} more features are collinear with earlier ones and not used")


def _all(gram: np.ndarray) -> np.ndarray:
    return np.arange(len(gram))


def _is_clear(gram: np.ndarray) -> bool:
    """Whether no feature is collinear with earlier ones: squared Cholesky pivots are the unexplained variances."""
    try:
        return bool(np.square(run_lapack(np.linalg.cholesky, gram).diagonal()).min(initial=1.0) > _MIN_UNEXPLAINED)
    except np.linalg.LinAlgError:
        return False


def _solve_one_by_one(gram: np.ndarray) -> np.ndarray:
    """Indices of the non-collinear features, by Cholesky elimination in order, a panel of features at a time."""
    factor, used = np.zeros_like(gram), []
    for first in range(0, len(gram), _PANEL_FEATURES):
        panel = slice(first, first + _PANEL_FEATURES)
        finished = factor[: len(used)]
        remaining = gram[panel, first:] - finished[:, panel].T @ finished[:, first:]
        for j in range(len(remaining)):
            if remaining[j, j] > _MIN_UNEXPLAINED:
                row = factor[len(used), first:] = remaining[j] / np.sqrt(remaining[j, j])
                remaining[j + 1 :] -= row[j + 1 : len(remaining), None] * row
                used.append(first + j)
    return np.array(used, int)
