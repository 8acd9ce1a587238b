"""In how many ways groups could have been formed, in natural logarithms: the numbers outgrow doubles."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p

import numpy as np

from baytree import _core


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
