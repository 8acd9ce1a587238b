"""Is it chance? Intervals of cross-validated scores, and tests between models that answered for the same rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

LEVEL = 0.95

SIGNIFICANCE = 0.05


class Interval(NamedTuple):
    """An estimate and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


class Paired(NamedTuple):
    """The mean of differences on the same folds, its standard error, and the one-sided p-value that it is not above 0."""

    mean: float
    error: float
    p: float


class PairedTest(NamedTuple):
    """Whether two models that answered for the same rows differ: `difference` is the first less the second."""

    metric: str
    difference: float
    corrected_t: float
    mcnemar: float

    def __str__(self) -> str:
        tests = f"p = {self.corrected_t:.3g} by the corrected resampled t"
        also = "" if np.isnan(self.mcnemar) else f", p = {self.mcnemar:.3g} by McNemar"
        return f"{self.metric}: difference {self.difference:+.4f}, {tests}{also}"


def corrected_interval(scores: np.ndarray, ratio: float) -> Interval:
    """The mean of the folds' scores and its interval by the corrected resampled t (Nadeau and Bengio 2003).

    The folds share their training rows, so the variance s²/J is too small; s² (1/J + n_test / n_train) is used instead.
    `ratio` is n_test / n_train.
    """
    from scipy.special import stdtrit  # imported by who asks: models are learnt and scored without it

    scores = scores[~np.isnan(scores)]
    if len(scores) < 2:
        return Interval(float(scores[0]) if len(scores) else np.nan, np.nan, np.nan)
    mean, error = float(scores.mean()), _corrected_error(scores, ratio)
    reach = float(stdtrit(len(scores) - 1, (1 + LEVEL) / 2)) * error
    return Interval(mean, mean - reach, mean + reach)


def paired(differences: np.ndarray, ratio: float) -> Paired:
    """The differences of two models' scores on the same folds, by the corrected resampled t.

    >>> paired(np.array([0.25, 0.25, 0.25]), 0.5)
    Paired(mean=0.25, error=0.0, p=0.0)
    """
    differences = differences[~np.isnan(differences)]
    if not len(differences):
        return Paired(np.nan, np.nan, np.nan)
    mean, two_sided = float(differences.mean()), corrected_t(differences, ratio)
    error = _corrected_error(differences, ratio) if len(differences) > 1 else np.nan
    return Paired(mean, error, two_sided / 2 if mean > 0 else 1 - two_sided / 2)


def corrected_t(differences: np.ndarray, ratio: float) -> float:
    """The two-sided p-value that two models score alike, from the differences of their scores on the same folds."""
    from scipy.special import stdtr

    differences = differences[~np.isnan(differences)]
    if len(differences) < 2:
        return np.nan
    error = _corrected_error(differences, ratio)
    if error == 0:
        return 1.0 if differences.mean() == 0 else 0.0
    return float(2 * stdtr(len(differences) - 1, -abs(differences.mean()) / error))


def mcnemar(is_right: np.ndarray, other_is_right: np.ndarray) -> float:
    """McNemar's exact p-value that two models are right equally often, from the rows where only one of them is.

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
    """score(all rows), and the percentiles of score(rows drawn with replacement)."""
    rng = np.random.default_rng(seed)
    drawn = np.array([score(rng.integers(0, n_rows, n_rows)) for _ in range(n_times)])
    drawn = drawn[~np.isnan(drawn)]
    low, high = np.percentile(drawn, [50 * (1 - LEVEL), 50 * (1 + LEVEL)]) if len(drawn) else (np.nan, np.nan)
    return Interval(float(score(np.arange(n_rows))), float(low), float(high))


def within(interval: Interval, bounds: tuple[float, float]) -> Interval:
    """The interval without what no score can be."""
    low, high = bounds
    return Interval(interval.mean, float(np.maximum(interval.low, low)), float(np.minimum(interval.high, high)))


def _corrected_error(scores: np.ndarray, ratio: float) -> float:
    if np.ptp(scores) == 0:
        return 0.0
    return float(np.sqrt(scores.var(ddof=1) * (1 / len(scores) + ratio)))
