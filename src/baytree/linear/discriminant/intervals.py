"""Intervals of discriminant analysis: what is expected of the scores of a row, and how they vary, given the scatter.

The inverse covariance W is Wishart's with ν degrees of freedom about the estimate, the mean of class k normal about its own
with covariance W⁻¹ / n_k (a posterior under the usual flat prior; Geisser 1964). With d and f the whitened distances of a
row from the means of two classes, the square (d − e)'W(d − e) has mean d² + p/n, and the two squares covary by 2 (d'f)² / ν;
log det W covaries with the square by 2 d² / ν.

Where one W serves all classes, its posterior mean is surer than tables are, and the inverse that is right on average, which
is (ν − p − 1) / ν of it, less sure; half of that step holds at the level that is asked for (benchmarks/INTERVALS.md).
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
    table: Table, seen: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...], level: float
) -> np.ndarray:
    """Of the probability of each class under one covariance. [n_rows, n_classes, 2]"""
    pooled = _ready(seen, choice, columns)
    sphere = sphering(pooled, columns)
    places, (start, of_start) = pooled.mean @ sphere, _priors(pooled, choice)
    out, n, nu = np.empty((len(table), len(start), 2)), _rows(pooled), divisor(pooled.seen, choice)
    rank = sphere.shape[1]
    tempered = max(nu - (rank + 1) / 2, nu / 2) / nu
    for rows, x in pooled.design.blocks(table):
        apart = (x @ sphere)[:, None] - places  # [n_rows, n_classes, rank]
        inner = np.einsum("nkp,nlp->nkl", apart, apart)
        square = np.einsum("nkk->nk", inner)
        covariance = inner**2 / (2 * nu)
        np.einsum("nkk->nk", covariance)[:] += square / n + rank / (2 * n**2) + of_start
        out[rows] = score_intervals(start - (tempered * square + rank / n) / 2, covariance, level)
    return out


def quadratic_intervals(
    table: Table, seen: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...], level: float
) -> np.ndarray:
    """Of the probability of each class under a covariance each. [n_rows, n_classes, 2]"""
    pooled = _ready(seen, choice, columns)
    found, is_weak = class_correlations(pooled, choice)
    if is_weak.any():
        raise no_interval("a class has too few rows for a covariance of its own, so how sure it is cannot be told")
    whiten = [inverse_factor(covariance) for covariance in found]
    (start, of_start), n, p = _priors(pooled, choice), _rows(pooled), len(pooled.design)
    nu = np.array([class_divisor(float(each), choice) for each in n])
    log_det, of_log_det = _log_det_moments(nu, p)
    start = start + log_det / 2 + [np.log(np.diag(root)).sum() for root in whiten]
    out = np.empty((len(table), len(start), 2))
    for rows, x in pooled.design.blocks(table):
        square = np.stack(
            [np.square((x - mean) @ root.T).sum(axis=1) for mean, root in zip(pooled.mean, whiten, strict=True)], axis=1
        )
        variance = of_start + of_log_det / 4 + square**2 / (2 * nu) + square / n + p / (2 * n**2) - square / nu
        out[rows] = score_intervals(start - (square + p / n) / 2, variance, level)
    return out


def _ready(seen: Scatter, choice: DiscriminantOptions, columns: tuple[Column, ...]) -> PooledCovariance:
    if np.any(choice.shrinkage):
        raise no_interval("a covariance that was shrunk is off by an amount that nobody knows; set shrinkage=None")
    return pool(seen, choice, columns)


def _rows(pooled: PooledCovariance) -> np.ndarray:
    return np.maximum(pooled.seen.weight, 1e-300)


def _priors(pooled: PooledCovariance, choice: DiscriminantOptions) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the logarithm of each class's prior; of a class that was never seen, that it never is."""
    weight = pooled.seen.weight
    if choice.priors is None:
        mean, variance = log_amount_moments(weight + JEFFREYS)
    else:
        mean, variance = np.log(np.maximum(choice.priors, 1e-300)), np.zeros(len(weight))
    return np.where(pooled.prior > 0, mean, LOG_ZERO), np.where(pooled.prior > 0, variance, 0.0)


def _log_det_moments(nu: np.ndarray, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of log det W, W Wishart's about the identity: of log χ²(ν − i) / ν, i from 0 to p − 1."""
    half = (nu[:, None] - np.arange(p)) / 2
    if not (half > 0).all():
        raise no_interval("a class has no more rows than columns, so how sure its covariance is cannot be told")
    mean, variance = log_amount_moments(half)
    return (mean - np.log(nu[:, None] / 2)).sum(axis=1), variance.sum(axis=1)
