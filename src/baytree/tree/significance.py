"""How unlikely a statistic is by chance, in natural logarithms: p = 1e-400 is a number like any other.

Needed while a tree grows; predicting never comes here, so that it stays free of scipy.
"""

from __future__ import annotations

from functools import lru_cache
from math import lgamma, log

import numpy as np
from scipy import special

_TINY = 1e-280  # below, ordinary doubles lose digits and the tail is summed in logs


def chi2_log_tail(statistic: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """log P(χ² ≥ statistic); 0 where there are no degrees of freedom."""
    shape, x = np.maximum(degrees, 1) / 2.0, np.asarray(statistic) / 2.0
    tail = _log_of(special.gammaincc(shape, x), special.gammainc(shape, x))
    for far in np.flatnonzero(~(tail > log(_TINY))):
        tail[far] = _far_gamma_tail(shape[far], x[far])
    tail[np.asarray(degrees) == 0] = 0.0
    return tail


def f_log_tail(statistic: np.ndarray, between: np.ndarray, within: np.ndarray) -> np.ndarray:
    """log P(F ≥ statistic) for these degrees of freedom between and within groups; 0 where either is missing."""
    is_known = (between > 0) & (within > 0)
    a, b = np.where(is_known, within, 1) / 2.0, np.where(is_known, between, 1) / 2.0
    y = 1.0 / (1.0 + statistic * b / a)  # 0 for an infinite statistic
    tail = _log_of(special.betainc(a, b, y), special.betaincc(a, b, y))
    for far in np.flatnonzero(~(tail > log(_TINY)) & (y > 0)):
        tail[far] = _far_beta_tail(a[far], b[far], y[far])
    return np.where(is_known, tail, 0.0)


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
    if n > _LONG and k * np.exp(-n / k) < 0.1:
        return _stirling_sum(n, k)
    row = np.full(k + 1, -np.inf)
    row[0], ranks = 0.0, np.log(np.arange(1, k + 1))
    for _ in range(n):
        row[1:] = np.logaddexp(ranks + row[1:], row[:-1])
        row[0] = -np.inf
    return float(row[k])


_LONG = 200


def _log_of(tail: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """log of the tail, from whichever of the tail and the rest is small and hence precise."""
    with np.errstate(divide="ignore"):
        return np.where(tail > 0.5, np.log1p(-np.minimum(rest, 0.5)), np.log(tail))


def _far_gamma_tail(shape: float, x: float) -> float:
    """log Q(a, x) for whole or half a: e^{−x} times a finite sum of positive terms, x^k / Γ(k + 1) for k < a."""
    power = np.arange(shape % 1, shape)
    terms = power * log(x) - special.gammaln(power + 1)
    if shape % 1:
        terms = np.append(terms, log(special.erfcx(np.sqrt(x))))
    return float(special.logsumexp(terms) - x)


def _far_beta_tail(a: float, b: float, y: float) -> float:
    """log I_y(a, b) for small y: the leading term times a hypergeometric series of positive terms."""
    n = np.arange(_series_length(a, b, y))
    series = special.logsumexp(np.cumsum(np.append(0.0, np.log(y * (a + b + n) / (a + 1 + n)))))
    return float(a * log(y) + b * np.log1p(-y) - log(a) - special.betaln(a, b) + series)


def _series_length(a: float, b: float, y: float) -> int:
    """Terms until the ratio of neighbours has fallen below 1 and 40 more e-folds are gone."""
    crest = max(0.0, (y * (a + b) - (a + 1)) / (1 - y))
    return int(min(2_000_000, crest + 100 + 80 / -log(y * (a + b + 2 * crest + 100) / (a + 1 + 2 * crest + 100))))


def _stirling_sum(n: int, k: int) -> float:
    j = np.arange(k)
    terms = special.gammaln(k + 1) - special.gammaln(j + 1) - special.gammaln(k - j + 1) + n * np.log1p(-j / k)
    return float(n * log(k) - lgamma(k + 1) + log(np.sum(np.where(j % 2, -1.0, 1.0) * np.exp(terms))))
