"""Tests of whether groups of rows differ in the target, each a function of additive statistics of the groups.

A test takes statistics [n_tables, n_groups, n_statistics] and gives log p for each table. The statistics of a group are
its weight per class, or, for a target that is a number, its weight, sum and sum of squares about a centre.

In how many ways groups could have been formed, in natural logarithms: the numbers outgrow doubles.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p

import numpy as np

from baytree import _core

KERNELS = ("pearson", "likelihood_ratio", "mean")  # χ², χ² and F, in the core

CLASS_TESTS = ("pearson", "likelihood_ratio", "row_effects")


def test_groups(tables: np.ndarray, test: str) -> np.ndarray:
    """log p that the groups of each table do not differ; empty groups and classes do not count."""
    return _core.test_groups(np.ascontiguousarray(tables), test) if test in KERNELS else row_effects(tables)


def row_effects(tables: np.ndarray) -> np.ndarray:
    """log p of ordered classes: the row-effects model log m_ij = α_i + β_j + x_i·j against x = 0 (Goodman 1979).

    The statistic is twice the gain in log-likelihood, with one degree of freedom for each group beyond the first.
    """
    group, label = tables.sum(axis=2), tables.sum(axis=1)
    share = label / np.maximum(label.sum(axis=1, keepdims=True), 1e-300)
    independent = group[:, :, None] * share[:, None, :]
    fitted = _fit_row_effects(tables, share)
    ratio = np.divide(fitted, independent, out=np.ones_like(fitted), where=(tables > 0) & (fitted > 0))
    statistic = np.maximum(2.0 * (tables * np.log(ratio)).sum(axis=(1, 2)), 0.0)
    degrees = np.maximum((group > 0).sum(axis=1) - 1, 0) * ((label > 0).sum(axis=1) > 1)
    return _core.chi2_log_tail(np.where(statistic <= _ROUNDING * group.sum(axis=1), 0.0, statistic), degrees.astype(float))


_ROUNDING = 1e-13  # of the weight: what the fit alone adds to the statistic


def _fit_row_effects(tables: np.ndarray, share: np.ndarray) -> np.ndarray:
    """What the row-effects model expects, by Newton's method on all tables at once.

    Each group keeps its weight; the unknowns are β (classes) and x (groups), with the classes' scores centred. A ridge
    far below the precision of p makes the equations solvable where a class, a group or the fit itself runs to infinity.
    """
    n_tables, n_groups, n_classes = tables.shape
    weight = tables.sum(axis=2)
    score = np.arange(n_classes) - (n_classes - 1) / 2.0
    with np.errstate(divide="ignore"):
        beta = np.log(share)
    offset = np.zeros((n_tables, n_classes))
    slope = np.zeros((n_tables, n_groups))
    best = _log_likelihood(tables, beta, offset, slope, score)
    for _ in range(_NEWTON_STEPS):
        d_offset, d_slope = _newton_step(tables, _shares(beta, offset, slope, score), weight, score)
        offset, slope, better = _half_steps(tables, (beta, offset, slope, score), (d_offset, d_slope), best)
        if np.all(better - best <= 1e-12 * np.maximum(1.0, np.abs(best))):
            break
        best = better
    return weight[:, :, None] * _shares(beta, offset, slope, score)


_NEWTON_STEPS = 60

_RIDGE = 1e-10


def _shares(beta: np.ndarray, offset: np.ndarray, slope: np.ndarray, score: np.ndarray) -> np.ndarray:
    exponent = (beta + offset)[:, None, :] + slope[:, :, None] * score
    exponent -= exponent.max(axis=2, keepdims=True)
    share = np.exp(exponent)
    return share / share.sum(axis=2, keepdims=True)


def _log_likelihood(
    tables: np.ndarray, beta: np.ndarray, offset: np.ndarray, slope: np.ndarray, score: np.ndarray
) -> np.ndarray:
    share = _shares(beta, offset, slope, score)
    return (tables * np.log(np.where(tables > 0, np.maximum(share, 1e-300), 1.0))).sum(axis=(1, 2))


def _newton_step(
    tables: np.ndarray, share: np.ndarray, weight: np.ndarray, score: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    n_groups, n_classes = tables.shape[1:]
    expected = weight[:, :, None] * share
    surplus = tables - expected
    gradient = np.concatenate([surplus.sum(axis=1), surplus @ score], axis=1)
    centre = share @ score  # [n_tables, n_groups]
    spread = expected * (score - centre[:, :, None])  # how the classes of a group answer to its slope
    hessian = np.zeros((len(tables), n_classes + n_groups, n_classes + n_groups))
    hessian[:, :n_classes, :n_classes] = -np.einsum("tij,tik->tjk", expected, share)
    diagonal = np.arange(n_classes + n_groups)
    hessian[:, diagonal[:n_classes], diagonal[:n_classes]] += expected.sum(axis=1)
    hessian[:, :n_classes, n_classes:] = spread.transpose(0, 2, 1)
    hessian[:, n_classes:, :n_classes] = spread
    hessian[:, diagonal[n_classes:], diagonal[n_classes:]] = spread @ score
    hessian[:, diagonal, diagonal] += _RIDGE * np.maximum(weight.sum(axis=1), 1.0)[:, None]
    step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
    return step[:, :n_classes], step[:, n_classes:]


def _half_steps(
    tables: np.ndarray, place: tuple[np.ndarray, ...], step: tuple[np.ndarray, np.ndarray], best: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The place after a step, each table's step halved until it does no harm."""
    beta, offset, slope, score = place
    length = np.ones(len(tables))
    for _ in range(30):
        reached = offset + length[:, None] * step[0], slope + length[:, None] * step[1]
        likelihood = _log_likelihood(tables, beta, *reached, score)
        is_worse = ~(likelihood >= best)
        if not is_worse.any():
            break
        length[is_worse] *= 0.5
    length[is_worse] = 0.0
    offset, slope = offset + length[:, None] * step[0], slope + length[:, None] * step[1]
    return offset, slope, np.where(is_worse, best, likelihood)


@lru_cache(maxsize=65536)
def log_multiplier(n: int, n_groups: int, is_ordered: bool, is_floating: bool, exhaustive: bool | str) -> float:
    """log of Bonferroni's factor: in how many ways n levels, the floating one too, could have formed so many groups."""
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


def smallest_adjusted(n_levels: int, n_classes: int, weight: float) -> float:
    """The smallest adjusted p that unordered levels can reach by Pearson's test.

    With r groups and r or more classes χ² is at most n (r − 1); more groups than classes reach no larger one.
    """
    least = 1.0
    for n_groups in range(2, min(n_levels, n_classes) + 1):
        freedom = (n_groups - 1) * (n_classes - 1)
        log_p = float(_core.chi2_log_tail(np.array([weight * (n_groups - 1)]), np.array([float(freedom)]))[0])
        least = min(least, exp(min(0.0, log_p + log_stirling(n_levels, n_groups))))
    return least


@lru_cache(maxsize=65536)
def log_binomial(n: int, k: int) -> float:
    """log C(n, k), the ways to choose; −inf where there is none."""
    if k < 0 or k > n:
        return float("-inf")
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


@lru_cache(maxsize=65536)
def log_stirling(n: int, k: int) -> float:
    """log S₂(n, k), the ways to part n things into k groups.

    By S₂(n, k) = k·S₂(n−1, k) + S₂(n−1, k−1), whose terms are all positive: the alternating sum cancels. Where n is so
    much larger than k that the sum cannot cancel, it is shorter.
    """
    if not 0 < k <= n:
        return 0.0 if n == k else float("-inf")
    if n > _LONG and k * exp(-n / k) < 0.1:
        return _stirling_sum(n, k)
    row = np.full(k + 1, -np.inf)
    row[0], ranks = 0.0, np.log(np.arange(1, k + 1))
    for _ in range(n):
        row[1:] = np.logaddexp(ranks + row[1:], row[:-1])
        row[0] = -np.inf
    return float(row[k])


_LONG = 200


def _stirling_sum(n: int, k: int) -> float:
    """S₂(n, k) = Σ_j (−1)^j C(k, j) (k − j)^n / k!"""
    terms = ((-1) ** j * exp(log_binomial(k, j) + n * log1p(-j / k)) for j in range(k))
    return n * log(k) - lgamma(k + 1) + log(sum(terms))
