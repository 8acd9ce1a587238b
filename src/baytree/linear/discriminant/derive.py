"""Derive discriminant models from a `Scatter`: Gaussian classes with one covariance (linear, LDA) or one each (quadratic,
QDA).

The linear rule spheres the pooled covariance by its eigenvectors in correlation units, keeps the directions that have
variance, and measures distances to the class means along the axes on which the means differ (Rao 1948). The quadratic rule
whitens each class by the inverse Cholesky factor of its own covariance, blended with the pooled one if it has no full rank.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree import _warnings
from baytree.data.schema.column import Column
from baytree.linear.discriminant.covariance import (
    MIN_EIGENVALUE,
    DiscriminantOptions,
    PooledCovariance,
    class_divisor,
    pool,
    shrunk,
    without,
)
from baytree.linear.discriminant.model import CONSTANT_WHITENING, LinearDiscriminant, QuadraticDiscriminant
from baytree.linear.linear_model import LOG_ZERO, LinearModel
from baytree.linear.scatter.scatter import Scatter
from baytree.linear.scatter.transform import warn_of_columns
from baytree.parallel.blas import run_lapack

_MIN_AXIS_RATIO = 1e-4  # relative to the first axis: axes on which the means differ less are rounding

_MIN_VARIANCE = 1e-6  # relative to the mean variance: smallest variance of a class covariance that was blended

_MIN_FULL_RANK_EIGENVALUE = 1e-12  # smallest eigenvalue of a class correlation matrix that counts as full rank


def derive_linear(scatter: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...]) -> LinearDiscriminant:
    """Linear discriminant model: axes, and scores that are linear in the features."""
    return linear_rule(pool(scatter, choice, columns), choice, columns)


def linear_rule(pooled: PooledCovariance, choice: DiscriminantOptions, columns: tuple[Column, ...]) -> LinearDiscriminant:
    """Linear discriminant model of a pooled covariance."""
    sphere = sphering(pooled, columns)
    axes, singular_value = _axes(pooled, sphere, choice)
    projected_means = pooled.mean @ axes  # [n_classes, n_axes]
    intercept = _log(pooled.prior) - (projected_means**2).sum(axis=1) / 2
    linear = LinearModel(pooled.design, projected_means @ axes.T, intercept, "softmax")
    return LinearDiscriminant(linear, axes, singular_value, pooled.mean, pooled.correlation, pooled.prior)


def derive_quadratic(
    scatter: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...], classes: tuple[Any, ...]
) -> QuadraticDiscriminant:
    """Quadratic discriminant model: one covariance per class, blended with the pooled one if it has no full rank (with a
    warning).
    """
    pooled = pool(scatter, choice, columns)
    found, is_weak = class_correlations(pooled, choice)
    _warn_weak([str(name) for name, weak in zip(classes, is_weak & (pooled.seen.weight > 0), strict=True) if weak])
    return quadratic_rule(pooled, found)


def quadratic_rule(pooled: PooledCovariance, found: list[np.ndarray]) -> QuadraticDiscriminant:
    """Quadratic discriminant model of one covariance per class, in units of the pooled one."""
    whiten = np.array([inverse_factor(covariance) for covariance in found])
    intercept = _log(pooled.prior) + np.log(np.einsum("kjj->kj", whiten)).sum(axis=1)
    constant = np.flatnonzero(~pooled.varies)
    whiten[:, constant, constant] = CONSTANT_WHITENING  # a constant column is uninformative, whatever value a new row has
    return QuadraticDiscriminant(pooled.design, pooled.mean, whiten, intercept, pooled.prior)


def class_correlations(pooled: PooledCovariance, choice: DiscriminantOptions) -> tuple[list[np.ndarray], np.ndarray]:
    """Full-rank covariance of each class in units of the pooled one, and which classes had to be blended for that (bool
    [n_classes]).
    """
    unit, varies = np.outer(pooled.scale, pooled.scale), pooled.varies
    scatter, found = pooled.seen, []
    amounts = np.broadcast_to(choice.shrinkage, len(scatter.weight))
    used = np.eye(len(varies)) if choice.is_diagonal else np.ones((len(varies), len(varies)))
    for spread, weight, amount in zip(scatter.spread * used, scatter.weight, amounts, strict=True):
        found.append(without(varies, shrunk(spread / class_divisor(weight, choice) / unit, float(amount), varies)))
    is_weak = np.array([not _has_full_rank(own) for own in found])
    for k in np.flatnonzero(is_weak):
        found[k] = without(varies, _blended(found[k], pooled, float(scatter.weight[k])) * used)
    return found, is_weak


def sphering(pooled: PooledCovariance, columns: tuple[Column, ...]) -> np.ndarray:
    """Directions along which the pooled covariance is the identity, without collinear ones. [n_features, rank]"""
    eigenvalue, eigenvector = run_lapack(np.linalg.eigh, pooled.correlation)
    is_kept = eigenvalue > MIN_EIGENVALUE
    if is_kept.sum() < pooled.varies.sum():
        load = np.sqrt(np.square(eigenvector[:, ~is_kept]).sum(axis=1)) * pooled.varies
        warn_of_columns("collinear within classes", load > 0.1 * load.max(), pooled.seen, columns, "they share one effect")
    return eigenvector[:, is_kept] / np.sqrt(eigenvalue[is_kept])


def inverse_factor(covariance: np.ndarray) -> np.ndarray:
    """Inverse of the Cholesky factor, which whitens the covariance."""
    try:
        return run_lapack(lambda c: np.linalg.solve(np.linalg.cholesky(c), np.eye(len(c))), covariance)
    except np.linalg.LinAlgError:  # an eigenvalue near 0 that rounding has made negative
        eigenvalue, eigenvector = np.linalg.eigh(covariance)
        repaired = (eigenvector * np.maximum(eigenvalue, 1e-9 * eigenvalue.max())) @ eigenvector.T
        return run_lapack(lambda c: np.linalg.solve(np.linalg.cholesky(c), np.eye(len(c))), repaired)


def _axes(pooled: PooledCovariance, sphere: np.ndarray, choice: DiscriminantOptions) -> tuple[np.ndarray, np.ndarray]:
    """Axes on which the class means differ, strongest first, and their singular values."""
    n_classes = np.count_nonzero(pooled.seen.weight)
    degrees = max(n_classes - 1, 1) if choice.covariance == "unbiased" else n_classes
    size = np.sqrt(pooled.seen.weight.sum() * pooled.prior / degrees)
    _, singular_value, axis = np.linalg.svd(size[:, None] * (pooled.mean @ sphere), full_matrices=False)
    is_kept = (singular_value > _MIN_AXIS_RATIO * singular_value.max(initial=0.0))[: max(n_classes - 1, 0)]
    axes = sphere @ axis[: len(is_kept)][is_kept].T
    largest = np.abs(axes).argmax(axis=0) if axes.size else np.zeros(0, int)
    sign = np.where(axes[largest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    return np.ascontiguousarray(axes * sign), singular_value[: len(is_kept)][is_kept]


def _has_full_rank(correlation: np.ndarray) -> bool:
    diagonal = correlation.diagonal()
    if not (diagonal > 0).all():
        return False
    scale = np.sqrt(diagonal)
    return bool(
        run_lapack(np.linalg.eigvalsh, correlation / np.outer(scale, scale)).min(initial=np.inf)
        > _MIN_FULL_RANK_EIGENVALUE * len(scale)
    )


def _blended(own: np.ndarray, pooled: PooledCovariance, weight: float) -> np.ndarray:
    """Class covariance with a proportion of the pooled one that grows with columns per row, plus a variance floor."""
    p = np.count_nonzero(pooled.varies)
    proportion = (p + 1) / (p + 1 + weight)
    blend = (1 - proportion) * own + proportion * pooled.correlation
    floor = _MIN_VARIANCE * max(blend.diagonal()[pooled.varies].sum() / max(p, 1), _MIN_VARIANCE)
    return blend + floor * np.eye(len(blend))


def _log(prior: np.ndarray) -> np.ndarray:
    return np.log(prior, out=np.full_like(prior, LOG_ZERO), where=prior > 0)


def _warn_weak(names: list[str]) -> None:
    if names:
        _warnings.warn(
            f"class {', '.join(names)}: too few rows, or columns that are collinear within the class, to estimate its own "
            "covariance; it was blended with the covariance of all classes. Leave out columns or set shrinkage"
        )
