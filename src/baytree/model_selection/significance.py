"""Significance of cross-validated scores: confidence intervals and paired tests between models."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

LEVEL = 0.95

SIGNIFICANCE = 0.05


class Interval(NamedTuple):
    """Estimate with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


class Paired(NamedTuple):
    """Mean of paired differences, its standard error, and the one-sided p-value of the hypothesis that it is at most 0."""

    mean: float
    error: float
    p: float


class PairedTest(NamedTuple):
    """Tests whether two models differ on the same rows; `difference` is the first minus the second."""

    metric: str
    difference: float
    corrected_t: float
    mcnemar: float

    def __str__(self) -> str:
        tests = f"p = {self.corrected_t:.3g} by the corrected resampled t"
        also = "" if np.isnan(self.mcnemar) else f", p = {self.mcnemar:.3g} by McNemar"
        return f"{self.metric}: difference {self.difference:+.4f}, {tests}{also}"


def corrected_interval(scores: np.ndarray, ratio: float) -> Interval:
    """Mean of the folds' scores with its interval by the corrected resampled t test (Nadeau and Bengio 2003).

    Folds share training rows, so the variance s²/J is too small; s² (1/J + n_test / n_train) is used instead. `ratio` is
    n_test / n_train.
    """
    from scipy.special import stdtrit  # imported on use: training and scoring do not need scipy

    scores = scores[~np.isnan(scores)]
    if len(scores) < 2:
        return Interval(float(scores[0]) if len(scores) else np.nan, np.nan, np.nan)
    mean, standard_error = float(scores.mean()), _corrected_error(scores, ratio)
    half_width = float(stdtrit(len(scores) - 1, (1 + LEVEL) / 2)) * standard_error
    return Interval(mean, mean - half_width, mean + half_width)


def paired(differences: np.ndarray, ratio: float) -> Paired:
    """Differences of two models' scores on the same folds, by the corrected resampled t test.

    >>> paired(np.array([0.25, 0.25, 0.25]), 0.5)
    Paired(mean=0.25, error=0.0, p=0.0)
    """
    differences = differences[~np.isnan(differences)]
    if not len(differences):
        return Paired(np.nan, np.nan, np.nan)
    mean, two_sided = float(differences.mean()), corrected_t(differences, ratio)
    standard_error = _corrected_error(differences, ratio) if len(differences) > 1 else np.nan
    return Paired(mean, standard_error, two_sided / 2 if mean > 0 else 1 - two_sided / 2)


def corrected_t(differences: np.ndarray, ratio: float) -> float:
    """Two-sided p-value of equal scores, from the differences of two models on the same folds."""
    from scipy.special import stdtr

    differences = differences[~np.isnan(differences)]
    if len(differences) < 2:
        return np.nan
    standard_error = _corrected_error(differences, ratio)
    if standard_error == 0:
        return 1.0 if differences.mean() == 0 else 0.0
    return float(2 * stdtr(len(differences) - 1, -abs(differences.mean()) / standard_error))


def mcnemar(is_right: np.ndarray, other_is_right: np.ndarray) -> float:
    """McNemar's exact p-value of equal accuracy, from the rows that only one of two models predicts correctly.

    >>> mcnemar(np.array([True] * 8 + [False]), np.array([False] * 8 + [True])).__round__(4)
    0.0391
    """
    from scipy.special import bdtr

    only = int((is_right & ~other_is_right).sum())
    n = only + int((other_is_right & ~is_right).sum())
    if n == 0:
        return 1.0
    return float(min(1.0, 2 * bdtr(min(only, n - only), n, 0.5)))


def bootstrap_interval(score: Callable[[np.ndarray], float], n_rows: int, n_times: int = 200, seed: int = 0) -> Interval:
    """score(all rows) with percentiles of score(rows drawn with replacement)."""
    rng = np.random.default_rng(seed)
    bootstrapped = np.array([score(rng.integers(0, n_rows, n_rows)) for _ in range(n_times)])
    bootstrapped = bootstrapped[~np.isnan(bootstrapped)]
    low, high = np.percentile(bootstrapped, [50 * (1 - LEVEL), 50 * (1 + LEVEL)]) if len(bootstrapped) else (np.nan, np.nan)
    return Interval(float(score(np.arange(n_rows))), float(low), float(high))


def within(interval: Interval, bounds: tuple[float, float]) -> Interval:
    """Interval clipped to the range of the metric."""
    low, high = bounds
    return Interval(interval.mean, float(np.maximum(interval.low, low)), float(np.minimum(interval.high, high)))


def _corrected_error(scores: np.ndarray, ratio: float) -> float:
    if np.ptp(scores) == 0:
        return 0.0
    return float(np.sqrt(scores.var(ddof=1) * (1 / len(scores) + ratio)))
