"""Intervals of discriminant probabilities: mean and variance of the scores of a row, given the scatter.

Under the usual flat prior (Geisser 1964), the inverse covariance W has a Wishart posterior with ν degrees of freedom about
the estimate, and the mean of class k a normal one with covariance W⁻¹ / n_k. With d and f the whitened distances of a row
from the means of two classes, the square (d − e)'W(d − e) has mean d² + p/n, and the two squares have covariance 2 (d'f)² /
ν; log det W and the square have 2 d² / ν.

If one W serves all classes, its posterior mean gives intervals that are too narrow, and the unbiased inverse, (ν − p − 1) /
ν of it, too wide; half of that correction reaches the requested level (benchmarks/INTERVALS.md).
"""

from __future__ import annotations

import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column
from baytree.linear.discriminant.covariance import DiscriminantOptions, PooledCovariance, class_divisor, divisor, pool
from baytree.linear.discriminant.derive import class_correlations, inverse_factor, sphering
from baytree.linear.linear_model import LOG_ZERO
from baytree.linear.scatter.scatter import Scatter
from baytree.uncertainty.intervals import JEFFREYS, log_amount_moments, no_interval, score_intervals


def linear_intervals(
    table: Table, scatter: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...], level: float
) -> np.ndarray:
    """Intervals of the class probabilities under one covariance. [n_rows, n_classes, 2]"""
    pooled = _ready(scatter, choice, columns)
    sphere = sphering(pooled, columns)
    projected_means, (log_prior, log_prior_variance) = pooled.mean @ sphere, _priors(pooled, choice)
    out, n, nu = np.empty((len(table), len(log_prior), 2)), _rows(pooled), divisor(pooled.seen, choice)
    rank = sphere.shape[1]
    tempered = max(nu - (rank + 1) / 2, nu / 2) / nu
    for rows, x in pooled.design.blocks(table):
        distance = (x @ sphere)[:, None] - projected_means  # [n_rows, n_classes, rank]
        inner = np.einsum("nkp,nlp->nkl", distance, distance)
        square = np.einsum("nkk->nk", inner)
        covariance = inner**2 / (2 * nu)
        np.einsum("nkk->nk", covariance)[:] += square / n + rank / (2 * n**2) + log_prior_variance
        out[rows] = score_intervals(log_prior - (tempered * square + rank / n) / 2, covariance, level)
    return out


def quadratic_intervals(
    table: Table, scatter: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...], level: float
) -> np.ndarray:
    """Intervals of the class probabilities under one covariance per class. [n_rows, n_classes, 2]"""
    pooled = _ready(scatter, choice, columns)
    found, is_weak = class_correlations(pooled, choice)
    if is_weak.any():
        raise no_interval("a class has too few rows for its own covariance, so its uncertainty cannot be estimated")
    whiten = [inverse_factor(covariance) for covariance in found]
    (log_prior, log_prior_variance), n, p = _priors(pooled, choice), _rows(pooled), len(pooled.design)
    nu = np.array([class_divisor(float(each), choice) for each in n])
    log_det, log_det_variance = _log_det_moments(nu, p)
    log_prior = log_prior + log_det / 2 + [np.log(np.diag(factor)).sum() for factor in whiten]
    out = np.empty((len(table), len(log_prior), 2))
    for rows, x in pooled.design.blocks(table):
        square = np.stack(
            [np.square((x - mean) @ factor.T).sum(axis=1) for mean, factor in zip(pooled.mean, whiten, strict=True)], axis=1
        )
        variance = (
            log_prior_variance + log_det_variance / 4 + square**2 / (2 * nu) + square / n + p / (2 * n**2) - square / nu
        )
        out[rows] = score_intervals(log_prior - (square + p / n) / 2, variance, level)
    return out


def _ready(scatter: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...]) -> PooledCovariance:
    if np.any(choice.shrinkage):
        raise no_interval("a shrunk covariance has an unknown bias; set shrinkage=None")
    return pool(scatter, choice, columns)


def _rows(pooled: PooledCovariance) -> np.ndarray:
    return np.maximum(pooled.seen.weight, 1e-300)


def _priors(pooled: PooledCovariance, choice: DiscriminantOptions) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each class's log prior; a class without rows has the log prior LOG_ZERO without variance."""
    weight = pooled.seen.weight
    if choice.priors is None:
        mean, variance = log_amount_moments(weight + JEFFREYS)
    else:
        mean, variance = np.log(np.maximum(choice.priors, 1e-300)), np.zeros(len(weight))
    return np.where(pooled.prior > 0, mean, LOG_ZERO), np.where(pooled.prior > 0, variance, 0.0)


def _log_det_moments(nu: np.ndarray, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of log det W for W Wishart about the identity: sums of those of log χ²(ν − i) / ν, i from 0 to p −
    1.
    """
    half = (nu[:, None] - np.arange(p)) / 2
    if not (half > 0).all():
        raise no_interval("a class has no more rows than columns, so the uncertainty of its covariance cannot be estimated")
    mean, variance = log_amount_moments(half)
    return (mean - np.log(nu[:, None] / 2)).sum(axis=1), variance.sum(axis=1)
