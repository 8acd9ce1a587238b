"""Discriminant analysis as a function of one statistic: Gaussian classes with one covariance (linear) or their own.

The linear rule spheres the pooled covariance by its eigenvectors in correlation units, keeps the directions that carry
spread, and measures distances to the class means along the axes on which the means differ (Rao 1948).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree import _warnings
from baytree.data.schema.column import Column
from baytree.linear.discriminant.covariance import (
    KEPT,
    DiscriminantOptions,
    PooledCovariance,
    class_divisor,
    pool,
    shrunk,
    without,
)
from baytree.linear.discriminant.model import UNSEEN, LinearDiscriminant, QuadraticDiscriminant
from baytree.linear.linear_model import LOG_ZERO, LinearModel
from baytree.linear.scatter.scatter import Scatter
from baytree.linear.scatter.transform import warn_of_columns
from baytree.parallel.blas import run_lapack

_AXIS = 1e-4  # axes on which the means differ by less than this share of the first are rounding

_LEAST = 1e-6  # of the mean variance: the least of a class that borrows from the others

_FULL = 1e-12  # smallest eigenvalue of a class's own correlation matrix that counts as full rank


def derive_linear(seen: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...]) -> LinearDiscriminant:
    """The linear rule: axes, and scores that are linear in the features."""
    return linear_rule(pool(seen, choice, columns), choice, columns)


def linear_rule(pooled: PooledCovariance, choice: DiscriminantOptions, columns: tuple[Column, ...]) -> LinearDiscriminant:
    """The rule of a pooled covariance."""
    sphere = sphering(pooled, columns)
    axes, strength = _axes(pooled, sphere, choice)
    place = pooled.mean @ axes  # [n_classes, n_axes]
    start = _log(pooled.prior) - (place**2).sum(axis=1) / 2
    linear = LinearModel(pooled.design, place @ axes.T, start, "softmax")
    return LinearDiscriminant(linear, axes, strength, pooled.mean, pooled.correlation, pooled.prior)


def derive_quadratic(
    seen: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...], classes: tuple[Any, ...]
) -> QuadraticDiscriminant:
    """The quadratic rule: a covariance per class, blended with the pooled one where it has no full rank."""
    pooled = pool(seen, choice, columns)
    found, is_weak = class_correlations(pooled, choice)
    _warn_weak([str(name) for name, weak in zip(classes, is_weak & (pooled.seen.weight > 0), strict=True) if weak])
    return quadratic_rule(pooled, found)


def quadratic_rule(pooled: PooledCovariance, found: list[np.ndarray]) -> QuadraticDiscriminant:
    """The rule of a covariance for each class, in the units of the pooled one."""
    whiten = np.array([inverse_factor(covariance) for covariance in found])
    start = _log(pooled.prior) + np.log(np.einsum("kjj->kj", whiten)).sum(axis=1)
    same = np.flatnonzero(~pooled.varies)
    whiten[:, same, same] = UNSEEN  # a column that never varied tells nothing, whatever it will be
    return QuadraticDiscriminant(pooled.design, pooled.mean, whiten, start, pooled.prior)


def class_correlations(pooled: PooledCovariance, choice: DiscriminantOptions) -> tuple[list[np.ndarray], np.ndarray]:
    """The covariance of each class in the units of the pooled one, of full rank, and whether it had to borrow for that."""
    unit, varies = np.outer(pooled.scale, pooled.scale), pooled.varies
    seen, found = pooled.seen, []
    amounts = np.broadcast_to(choice.shrinkage, len(seen.weight))
    for spread, weight, amount in zip(seen.spread, seen.weight, amounts, strict=True):
        found.append(without(varies, shrunk(spread / class_divisor(weight, choice) / unit, float(amount), varies)))
    is_weak = np.array([not _has_full_rank(own) for own in found])
    for k in np.flatnonzero(is_weak):
        found[k] = without(varies, _blended(found[k], pooled, float(seen.weight[k])))
    return found, is_weak


def sphering(pooled: PooledCovariance, columns: tuple[Column, ...]) -> np.ndarray:
    """The directions along which the pooled covariance is the identity, collinear ones left out. [p, rank]"""
    root, vector = run_lapack(np.linalg.eigh, pooled.correlation)
    kept = root > KEPT
    if kept.sum() < pooled.varies.sum():
        load = np.sqrt(np.square(vector[:, ~kept]).sum(axis=1)) * pooled.varies
        warn_of_columns("collinear within classes", load > 0.1 * load.max(), pooled.seen, columns, "they share one effect")
    return vector[:, kept] / np.sqrt(root[kept])


def inverse_factor(covariance: np.ndarray) -> np.ndarray:
    """The inverse of the Cholesky factor: whitens the covariance."""
    try:
        return run_lapack(lambda c: np.linalg.solve(np.linalg.cholesky(c), np.eye(len(c))), covariance)
    except np.linalg.LinAlgError:  # a direction of next to no spread, which rounding has made less than none
        root, vector = np.linalg.eigh(covariance)
        raised = (vector * np.maximum(root, 1e-9 * root.max())) @ vector.T
        return run_lapack(lambda c: np.linalg.solve(np.linalg.cholesky(c), np.eye(len(c))), raised)


def _axes(pooled: PooledCovariance, sphere: np.ndarray, choice: DiscriminantOptions) -> tuple[np.ndarray, np.ndarray]:
    """The axes on which the class means differ, strongest first, and how much."""
    n_classes = np.count_nonzero(pooled.seen.weight)
    free = max(n_classes - 1, 1) if choice.covariance == "unbiased" else n_classes
    size = np.sqrt(pooled.seen.weight.sum() * pooled.prior / free)
    _, strength, axis = np.linalg.svd(size[:, None] * (pooled.mean @ sphere), full_matrices=False)
    kept = (strength > _AXIS * strength.max(initial=0.0))[: max(n_classes - 1, 0)]
    axes = sphere @ axis[: len(kept)][kept].T
    largest = np.abs(axes).argmax(axis=0) if axes.size else np.zeros(0, int)
    sign = np.where(axes[largest, np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    return np.ascontiguousarray(axes * sign), strength[: len(kept)][kept]


def _has_full_rank(correlation: np.ndarray) -> bool:
    diagonal = correlation.diagonal()
    if not (diagonal > 0).all():
        return False
    scale = np.sqrt(diagonal)
    return bool(
        run_lapack(np.linalg.eigvalsh, correlation / np.outer(scale, scale)).min(initial=np.inf) > _FULL * len(scale)
    )


def _blended(own: np.ndarray, pooled: PooledCovariance, weight: float) -> np.ndarray:
    """A class's covariance with a share of the pooled one that grows with columns per row, and a floor."""
    p = np.count_nonzero(pooled.varies)
    share = (p + 1) / (p + 1 + weight)
    both = (1 - share) * own + share * pooled.correlation
    floor = _LEAST * max(both.diagonal()[pooled.varies].sum() / max(p, 1), _LEAST)
    return both + floor * np.eye(len(both))


def _log(prior: np.ndarray) -> np.ndarray:
    return np.log(prior, out=np.full_like(prior, LOG_ZERO), where=prior > 0)


def _warn_weak(names: list[str]) -> None:
    if names:
        _warnings.warn(
            f"class {', '.join(names)}: too few rows, or columns that are collinear within the class, for a covariance of "
            "its own; it was blended with the covariance of all classes. Leave columns out or set shrinkage"
        )
