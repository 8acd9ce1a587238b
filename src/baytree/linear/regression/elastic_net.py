"""Lasso, ridge and elastic net from the normal equations, and cross-validation of λ from statistics alone.

Objective over b: RSS / 2n + λ (l1_ratio · |b|₁ + (1 − l1_ratio) / 2 · |b|²), with a free intercept, b on columns divided by
their standard deviation (divisor n) or, without standardisation, on the columns unchanged. glmnet documents the same, but
its program first divides the target by its standard deviation, so that its |b|² term uses λ / sd(y).

Coordinate descent runs on correlations (covariance updates; Friedman, Hastie and Tibshirani 2010); when sweeps converge
slowly, as with nearly collinear columns, the non-zero coefficients are solved for directly. In cross-validation the rows are
read once: the training statistic is total − fold, and the squared error of a fold is a quadratic form of the fold's own
statistic.
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

_MAX_ROUNDS = 20  # rounds of sweeps and direct solutions

_SWEEP_TOLERANCE = 1e-26  # squared change, in standard units, at which sweeps end

_KKT_TOLERANCE = 1e-12  # violation of optimality, in standard units

_MAX_FACTOR = 1e140  # bound of penalty factors, so that their squares do not overflow

MIN_L1_RATIO = 1e-3  # l1_ratio assumed for the first λ of a ridge path: a ridge never sets coefficients to 0


def max_lambda(normal: NormalEquations, options: RegressionOptions) -> float:
    """Smallest λ at which a lasso selects no column; for a ridge, one at which coefficients are close to 0."""
    factor = _factor(normal, options)
    if not options.l1_share:
        gradient = np.abs(normal.right) * _ridge_unit(normal, options) / factor**2
    else:
        gradient = np.abs(normal.right) * normal.deviation / factor
    return float(gradient.max(initial=0.0)) / max(options.l1_share, MIN_L1_RATIO)


def solve_path(normal: NormalEquations, options: RegressionOptions, lambdas: np.ndarray) -> np.ndarray:
    """Coefficients in standard units at each λ, warm-started from the previous one. [n, n_features]"""
    coefficients = np.zeros((len(lambdas), normal.n_features))
    last = np.zeros(normal.n_features)
    for i, lambda_ in enumerate(lambdas):
        last = coefficients[i] = minimum(normal, options, float(lambda_), last)
    return coefficients


def minimum(normal: NormalEquations, options: RegressionOptions, lambda_: float, start: np.ndarray) -> np.ndarray:
    """Coefficients in standard units at one λ. [n_features]"""
    factor = _factor(normal, options)
    with np.errstate(over="ignore"):
        ridge = np.minimum(lambda_ * (1 - options.l1_share) * factor**2 / _ridge_unit(normal, options), _MAX_FACTOR)
        lasso = np.minimum(lambda_ * options.l1_share * factor / normal.deviation, _MAX_FACTOR)
    ridge = np.where(normal.varies, ridge, 1.0)  # a feature that does not vary stays 0
    if not lasso.any():
        return solve(normal.gram + np.diag(ridge), normal.right)
    target, slope = start.copy(), normal.gram @ start - normal.right
    quadratic = ElasticNetQuadratic(normal.gram, ridge, lasso)
    for _ in range(_MAX_ROUNDS):
        quadratic.sweep(target, slope, _SWEEP_TOLERANCE)
        slope = normal.gram @ target - normal.right  # recomputed, because sweeps accumulate rounding
        if violation(target, slope, ridge, lasso) <= _KKT_TOLERANCE:
            break
        target, slope = quadratic.polished(target, slope)
    return target


def violation(target: np.ndarray, slope: np.ndarray, ridge: np.ndarray, lasso: np.ndarray) -> float:
    """Largest KKT violation: distance of 0 from the subgradient."""
    smooth_gradient = slope + ridge * target
    distance = np.where(
        target != 0, np.abs(smooth_gradient + lasso * np.sign(target)), np.maximum(np.abs(smooth_gradient) - lasso, 0.0)
    )
    return float(distance.max(initial=0.0))


def _ridge_unit(normal: NormalEquations, options: RegressionOptions) -> float:
    """Unit of λ in the ridge term: 1, or the target's standard deviation as in glmnet's program."""
    return normal.deviation if options.conventions == "glmnet" else 1.0


def _factor(normal: NormalEquations, options: RegressionOptions) -> np.ndarray:
    """Size of each feature in units of the penalty: 1 (standardised) or 1 / sd. [n_features]"""
    if options.standardize:
        return np.ones(normal.n_features)
    return 1 / np.clip(normal.design.scale, 1 / _MAX_FACTOR, _MAX_FACTOR)


def held_out_errors(
    pairs: Sequence[tuple[CrossProducts, CrossProducts]], lambdas: np.ndarray, schema: Schema, options: RegressionOptions
) -> tuple[np.ndarray, np.ndarray]:
    """Mean squared error of the test rows of each fold under the path of its training rows [n_folds, n], and the weights of
    the test rows [n_folds].
    """
    with _warnings.capture():  # columns that are constant without a fold deserve no warning
        loss = np.array([_loss(train, test, lambdas, schema, options) for train, test in pairs])
    return loss, np.array([test.weight for _, test in pairs])


def _loss(
    rest: CrossProducts, fold: CrossProducts, lambdas: np.ndarray, schema: Schema, options: RegressionOptions
) -> np.ndarray:
    rest, fold = rest.beside(fold)
    normal = normal_equations(rest, schema, options)
    held_out = coded_like(fold.scatter, normal.coded.layout, with_target(schema).columns, options)
    with np.errstate(over="ignore"):
        return normal.mean_square(held_out, solve_path(normal, options, lambdas)) * normal.deviation**2
