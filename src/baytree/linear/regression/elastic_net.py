"""Lasso, ridge and elastic net from the normal equations: coordinate descent on correlations.

Where sweeps are slow, as between columns that say nearly the same, the coefficients that are not 0 are solved for directly.

min over b: RSS / 2n + λ (l1_ratio · |b|₁ + (1 − l1_ratio) / 2 · |b|²), the intercept free, b on columns divided by their
standard deviation (divisor n) or, without standardisation, on the columns as they are. glmnet documents the same, but its
program divides the target by its standard deviation first, so that its |b|² counts λ / sd(y).

Choosing the strength of the penalty from statistics alone: all − of(fold) is learnt from, of(fold) is what it misses.

The rows are read once. The squared error of a fold's rows is a quadratic form of the fold's own statistic.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baytree import _warnings
from baytree.data.schema.schema import Schema
from baytree.linear.elastic_net import ElasticNetQuadratic, solve
from baytree.linear.regression.normal_equations import NormalEquations, RegressionOptions, coded_like, normal_equations
from baytree.linear.regression.statistic import CrossProducts
from baytree.linear.scatter.observe import with_target

_ROUNDS = 20  # of sweeps and direct solutions

_SWEPT = 1e-26  # squared change, in standard units, at which sweeps end

_OPTIMAL = 1e-12  # violation of optimality, in standard units

_FAR = 1e140  # squares of factors must be doubles

LEAST_SHARE = 1e-3  # of |b|₁, for the strength at which a path begins: a ridge alone never keeps nothing


def max_lambda(normal: NormalEquations, options: RegressionOptions) -> float:
    """The smallest λ at which a lasso keeps no column; of a ridge, one that keeps next to nothing."""
    factor = _factor(normal, options)
    if not options.l1_share:
        slope = np.abs(normal.right) * _ridge_unit(normal, options) / factor**2
    else:
        slope = np.abs(normal.right) * normal.deviation / factor
    return float(slope.max(initial=0.0)) / max(options.l1_share, LEAST_SHARE)


def solve_path(normal: NormalEquations, options: RegressionOptions, lambdas: np.ndarray) -> np.ndarray:
    """The coefficients in standard units at each strength, each starting where the last one ended. [n, n_features]"""
    found = np.zeros((len(lambdas), normal.n_features))
    last = np.zeros(normal.n_features)
    for i, lambda_ in enumerate(lambdas):
        last = found[i] = minimum(normal, options, float(lambda_), last)
    return found


def minimum(normal: NormalEquations, options: RegressionOptions, lambda_: float, start: np.ndarray) -> np.ndarray:
    """The coefficients in standard units at one strength. [n_features]"""
    factor = _factor(normal, options)
    with np.errstate(over="ignore"):
        ridge = np.minimum(lambda_ * (1 - options.l1_share) * factor**2 / _ridge_unit(normal, options), _FAR)
        lasso = np.minimum(lambda_ * options.l1_share * factor / normal.deviation, _FAR)
    ridge = np.where(normal.varies, ridge, 1.0)  # a feature that does not vary stays 0
    if not lasso.any():
        return solve(normal.gram + np.diag(ridge), normal.right)
    target, slope = start.copy(), normal.gram @ start - normal.right
    quadratic = ElasticNetQuadratic(normal.gram, ridge, lasso)
    for _ in range(_ROUNDS):
        quadratic.sweep(target, slope, _SWEPT)
        slope = normal.gram @ target - normal.right  # anew: sweeps have rounded it
        if violation(target, slope, ridge, lasso) <= _OPTIMAL:
            break
        target, slope = quadratic.polished(target, slope)
    return target


def violation(target: np.ndarray, slope: np.ndarray, ridge: np.ndarray, lasso: np.ndarray) -> float:
    """The largest distance of 0 from the subgradient."""
    smooth = slope + ridge * target
    apart = np.where(target != 0, np.abs(smooth + lasso * np.sign(target)), np.maximum(np.abs(smooth) - lasso, 0.0))
    return float(apart.max(initial=0.0))


def _ridge_unit(normal: NormalEquations, options: RegressionOptions) -> float:
    """What λ of a ridge is counted in: 1 or, as glmnet's program does, a standard deviation of the target."""
    return normal.deviation if options.conventions == "glmnet" else 1.0


def _factor(normal: NormalEquations, options: RegressionOptions) -> np.ndarray:
    """Each feature's size in units of the penalty: 1, or 1 / sd. [n_features]"""
    if options.standardize:
        return np.ones(normal.n_features)
    return 1 / np.clip(normal.design.scale, 1 / _FAR, _FAR)


def held_out_errors(
    total: CrossProducts, folds: Sequence[CrossProducts], lambdas: np.ndarray, schema: Schema, options: RegressionOptions
) -> tuple[np.ndarray, np.ndarray]:
    """The mean squared error of each fold's rows under the path of all others, and the folds' weights. [n_folds, n]"""
    with _warnings.capture():  # what a fold makes constant is no fault of the table
        loss = np.array([_loss(total - fold, fold, lambdas, schema, options) for fold in folds])
    return loss, np.array([fold.weight for fold in folds])


def _loss(
    rest: CrossProducts, fold: CrossProducts, lambdas: np.ndarray, schema: Schema, options: RegressionOptions
) -> np.ndarray:
    rest, fold = rest.beside(fold)
    normal = normal_equations(rest, schema, options)
    held = coded_like(fold.scatter, normal.coded.layout, with_target(schema).columns, options)
    with np.errstate(over="ignore"):
        return normal.mean_square(held, solve_path(normal, options, lambdas)) * normal.deviation**2
