"""Tests of whether groups of rows differ in the target, each a function of additive statistics of the groups.

A test maps statistics [n_tables, n_groups, n_statistics] to the log p-value of each table. The statistics of a group
are its class weights or, for a numeric target, its weight, sum and sum of squares about a centre. `log_multiplier` is
the Bonferroni multiplier for the number of possible groupings (Kass 1980), in natural logarithms, because it exceeds
the range of doubles.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p

import numpy as np

from baytree import _core

KERNELS = ("pearson", "likelihood_ratio", "mean")  # χ², χ² and F tests, in the core

CLASS_TESTS = ("pearson", "likelihood_ratio", "row_effects")


def test_groups(tables: np.ndarray, test: str) -> np.ndarray:
    """Log p of the test that the groups of each table do not differ; empty groups and classes are ignored."""
    return _core.test_groups(np.ascontiguousarray(tables), test) if test in KERNELS else row_effects(tables)


def row_effects(tables: np.ndarray) -> np.ndarray:
    """Log p for ordered classes: the row-effects model log m_ij = α_i + β_j + x_i·j against x = 0 (Goodman 1979).

    The statistic is twice the gain in log-likelihood, with one degree of freedom for each group beyond the first.
    """
    group, label = tables.sum(axis=2), tables.sum(axis=1)
    proportion = label / np.maximum(label.sum(axis=1, keepdims=True), 1e-300)
    independent = group[:, :, None] * proportion[:, None, :]
    fitted = _fit_row_effects(tables, proportion)
    ratio = np.divide(fitted, independent, out=np.ones_like(fitted), where=(tables > 0) & (fitted > 0))
    statistic = np.maximum(2.0 * (tables * np.log(ratio)).sum(axis=(1, 2)), 0.0)
    degrees = np.maximum((group > 0).sum(axis=1) - 1, 0) * ((label > 0).sum(axis=1) > 1)
    return _core.chi2_log_tail(
        np.where(statistic <= _FIT_TOLERANCE * group.sum(axis=1), 0.0, statistic), degrees.astype(float)
    )


_FIT_TOLERANCE = 1e-13  # statistic relative to the weight that is rounding error of the fit and counts as 0


def _fit_row_effects(tables: np.ndarray, proportion: np.ndarray) -> np.ndarray:
    """Expected counts of the row-effects model, by Newton's method on all tables together.

    Each group keeps its weight; the unknowns are β (classes) and x (groups), with centred class scores. A ridge far
    below the precision of p keeps the equations solvable if a class, a group or the fit itself diverges.
    """
    n_tables, n_groups, n_classes = tables.shape
    weight = tables.sum(axis=2)
    score = np.arange(n_classes) - (n_classes - 1) / 2.0
    with np.errstate(divide="ignore"):
        beta = np.log(proportion)
    offset = np.zeros((n_tables, n_classes))
    effect = np.zeros((n_tables, n_groups))
    likelihood = _log_likelihood(tables, beta, offset, effect, score)
    for _ in range(_MAX_NEWTON_STEPS):
        d_offset, d_effect = _newton_step(tables, _probabilities(beta, offset, effect, score), weight, score)
        offset, effect, new_likelihood = _backtrack(tables, (beta, offset, effect, score), (d_offset, d_effect), likelihood)
        if np.all(new_likelihood - likelihood <= 1e-12 * np.maximum(1.0, np.abs(likelihood))):
            break
        likelihood = new_likelihood
    return weight[:, :, None] * _probabilities(beta, offset, effect, score)


_MAX_NEWTON_STEPS = 60  # Newton converges in a few; the bound ends fits that diverge because a cell is empty

_RIDGE = 1e-10  # relative to the weight: keeps the Hessian invertible and is below the precision of p


def _probabilities(beta: np.ndarray, offset: np.ndarray, slope: np.ndarray, score: np.ndarray) -> np.ndarray:
    exponent = (beta + offset)[:, None, :] + slope[:, :, None] * score
    exponent -= exponent.max(axis=2, keepdims=True)
    probability = np.exp(exponent)
    return probability / probability.sum(axis=2, keepdims=True)


def _log_likelihood(
    tables: np.ndarray, beta: np.ndarray, offset: np.ndarray, slope: np.ndarray, score: np.ndarray
) -> np.ndarray:
    probability = _probabilities(beta, offset, slope, score)
    return (tables * np.log(np.where(tables > 0, np.maximum(probability, 1e-300), 1.0))).sum(axis=(1, 2))


def _newton_step(
    tables: np.ndarray, probability: np.ndarray, weight: np.ndarray, score: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    n_groups, n_classes = tables.shape[1:]
    expected = weight[:, :, None] * probability
    residual = tables - expected
    gradient = np.concatenate([residual.sum(axis=1), residual @ score], axis=1)
    centre = probability @ score  # [n_tables, n_groups]
    covariance = expected * (score - centre[:, :, None])  # covariance of class indicators and scores within each group
    hessian = np.zeros((len(tables), n_classes + n_groups, n_classes + n_groups))
    hessian[:, :n_classes, :n_classes] = -np.einsum("tij,tik->tjk", expected, probability)
    diagonal = np.arange(n_classes + n_groups)
    hessian[:, diagonal[:n_classes], diagonal[:n_classes]] += expected.sum(axis=1)
    hessian[:, :n_classes, n_classes:] = covariance.transpose(0, 2, 1)
    hessian[:, n_classes:, :n_classes] = covariance
    hessian[:, diagonal[n_classes:], diagonal[n_classes:]] = covariance @ score
    hessian[:, diagonal, diagonal] += _RIDGE * np.maximum(weight.sum(axis=1), 1.0)[:, None]
    step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
    return step[:, :n_classes], step[:, n_classes:]


def _backtrack(
    tables: np.ndarray,
    parameters: tuple[np.ndarray, ...],
    step: tuple[np.ndarray, np.ndarray],
    likelihood_before: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parameters after a step, each table's step halved until its likelihood does not decrease."""
    beta, offset, slope, score = parameters
    length = np.ones(len(tables))
    for _ in range(30):
        candidate = offset + length[:, None] * step[0], slope + length[:, None] * step[1]
        likelihood = _log_likelihood(tables, beta, *candidate, score)
        is_worse = ~(likelihood >= likelihood_before)
        if not is_worse.any():
            break
        length[is_worse] *= 0.5
    length[is_worse] = 0.0
    offset, slope = offset + length[:, None] * step[0], slope + length[:, None] * step[1]
    return offset, slope, np.where(is_worse, likelihood_before, likelihood)


@lru_cache(maxsize=65536)
def log_multiplier(n: int, n_groups: int, is_ordered: bool, is_floating: bool, exhaustive: bool | str) -> float:
    """Log of Bonferroni's multiplier: number of ways to form `n_groups` groups of n levels, including a floating one."""
    if n < 2 or n_groups < 1:
        return 0.0
    if exhaustive:
        pairs = n * (n - 1) / 2
        return log(pairs if is_ordered else pairs * (n + 1) / (1 if exhaustive == "ibm" else 3))
    if not is_ordered:
        return log_stirling(n, n_groups)
    if not is_floating:
        return log_binomial(n - 1, n_groups - 1)
    alone = log_binomial(n - 2, n_groups - 2)
    joined = log(n_groups) + log_binomial(n - 2, n_groups - 1)
    return float(np.logaddexp(alone, joined))


def min_adjusted_p(n_levels: int, n_classes: int, weight: float) -> float:
    """Smallest adjusted p-value that unordered levels can reach with Pearson's test.

    With r groups and at least r classes, χ² is at most n (r − 1); more groups than classes do not increase it.
    """
    smallest = 1.0
    for n_groups in range(2, min(n_levels, n_classes) + 1):
        freedom = (n_groups - 1) * (n_classes - 1)
        log_p = float(_core.chi2_log_tail(np.array([weight * (n_groups - 1)]), np.array([float(freedom)]))[0])
        smallest = min(smallest, exp(min(0.0, log_p + log_stirling(n_levels, n_groups))))
    return smallest


@lru_cache(maxsize=65536)
def log_binomial(n: int, k: int) -> float:
    """log C(n, k), the log of the binomial coefficient; −inf if it is 0."""
    if k < 0 or k > n:
        return float("-inf")
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


@lru_cache(maxsize=65536)
def log_stirling(n: int, k: int) -> float:
    """log S₂(n, k), the Stirling number of the second kind: partitions of n items into k groups.

    By the recurrence S₂(n, k) = k·S₂(n−1, k) + S₂(n−1, k−1), whose terms are positive; the alternating sum would
    cancel. If n is so much larger than k that the sum cannot cancel, the sum is used, which is shorter.
    """
    if not 0 < k <= n:
        return 0.0 if n == k else float("-inf")
    if n > _MIN_SUM_ITEMS and k * exp(-n / k) < 0.1:
        return _stirling_sum(n, k)
    row = np.full(k + 1, -np.inf)
    row[0], ranks = 0.0, np.log(np.arange(1, k + 1))
    for _ in range(n):
        row[1:] = np.logaddexp(ranks + row[1:], row[:-1])
        row[0] = -np.inf
    return float(row[k])


_MIN_SUM_ITEMS = 200  # items from which the alternating sum replaces the recurrence, whose time grows with n·k


def _stirling_sum(n: int, k: int) -> float:
    """S₂(n, k) = Σ_j (−1)^j C(k, j) (k − j)^n / k!"""
    terms = ((-1) ** j * exp(log_binomial(k, j) + n * log1p(-j / k)) for j in range(k))
    return n * log(k) - lgamma(k + 1) + log(sum(terms))
