"""In how many ways groups could have been formed, in natural logarithms: the numbers outgrow doubles."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p

import numpy as np


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
