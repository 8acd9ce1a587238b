"""The estimates of a first lecture: one chance, or one mean and its variance, by MLE, MAP and posterior."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from baytree.display.results import TextResult
from baytree.display.terminal import in_columns, number
from baytree.param_validation import finite


class Bernoulli(TextResult, msgspec.Struct, frozen=True):
    """A chance that was estimated from successes and failures.

    Attributes
    ----------
    successes, failures : float
        What was seen.
    mle : float
        successes / n, the chance under which what was seen is likeliest.
    map : float
        The mode of the posterior; where it has none, both counts being below 1, the mle.
    mean : float
        The mean of the posterior, which is the chance that the next one is a success.
    alpha, beta : float
        The posterior is Beta(alpha, beta).
    """

    successes: float
    failures: float
    mle: float
    map: float
    mean: float
    alpha: float
    beta: float

    def __str__(self) -> str:
        n = number(self.successes + self.failures)
        rows = [
            ["mle", f"{self.mle:.4f}", f"{number(self.successes)} / {n}"],
            ["map", f"{self.map:.4f}", f"mode of Beta({self.alpha:g}, {self.beta:g})"],
            ["posterior mean", f"{self.mean:.4f}", f"{self.alpha:g} / {self.alpha + self.beta:g}"],
        ]
        return "\n".join([f"{number(self.successes)} of {n}", *in_columns(rows, "<><")])


class NormalEstimate(TextResult, msgspec.Struct, frozen=True):
    """A mean and a variance that were estimated from numbers.

    Attributes
    ----------
    n : int
        How many numbers were seen.
    mle : tuple of float
        Their mean and variance (divisor n).
    map : tuple of float
        The mode of the posterior of mean and variance together.
    mean : tuple of float
        The posterior means of mean and variance; the latter infinite below three numbers without a prior.
    m, k, a, b : float
        The posterior is Normal–Inverse-Gamma(m, k, a, b): variance ~ IG(a, b), mean ~ N(m, variance / k).
    """

    n: int
    mle: tuple[float, float]
    map: tuple[float, float]
    mean: tuple[float, float]
    m: float
    k: float
    a: float
    b: float

    def __str__(self) -> str:
        estimates = (("mle", self.mle), ("map", self.map), ("posterior mean", self.mean))
        rows = [["", "mean", "variance"], *([name, f"{m:.6g}", f"{v:.6g}"] for name, (m, v) in estimates)]
        next_one = f"the next number: Student t, {2 * self.a:g} degrees, centre {self.m:.6g}, scale {self._scale():.6g}"
        return "\n".join([f"{self.n} numbers", *in_columns(rows, "<>"), next_one])

    def _scale(self) -> float:
        return float(np.sqrt(self.b / self.a * (1 + 1 / self.k)))


def estimate_bernoulli(successes: ArrayLike, n: float | None = None, alpha: float = 1.0, beta: float = 1.0) -> Bernoulli:
    """The chance of a success by MLE, MAP and posterior mean, under a Beta(alpha, beta) prior.

    Parameters
    ----------
    successes : float or array-like of bool or 0 and 1
        How many of `n` were successes; or what was seen, one by one.
    n : float, optional
        How many were tried, where `successes` is a number.
    alpha : float, default=1.0
        The pseudo-count of successes; 1 and 1 is Laplace's rule.
    beta : float, default=1.0
        The pseudo-count of failures.

    Returns
    -------
    Bernoulli
        The estimates; `print` shows them side by side.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.estimate_bernoulli(3, 4))
    3 of 4
    mle             0.7500  3 / 4
    map             0.7500  mode of Beta(4, 2)
    posterior mean  0.6667  4 / 6
    """
    won, lost = _tried(successes, n)
    a, b = finite("alpha", alpha, 0) + won, finite("beta", beta, 0) + lost
    if a + b <= 0:
        raise ValueError("nothing was seen and nothing is believed beforehand; give alpha and beta above 0")
    mle = won / (won + lost) if won + lost else float("nan")
    mode = (a - 1) / (a + b - 2) if min(a, b) >= 1 and a + b > 2 else mle
    return Bernoulli(won, lost, mle, mode, a / (a + b), a, b)


def estimate_normal(
    values: ArrayLike, m0: float = 0.0, k0: float = 0.0, a0: float = -0.5, b0: float = 0.0
) -> NormalEstimate:
    """Mean and variance of a normal distribution by MLE, MAP and posterior, under a Normal–Inverse-Gamma prior.

    Parameters
    ----------
    values : array-like of float
        What was seen; missing values do not count.
    m0 : float, default=0.0
        The mean that is believed beforehand.
    k0 : float, default=0.0
        How many numbers that belief is worth.
    a0 : float, default=-0.5
        Of the variance's prior IG(a0, b0), which is worth 2 a0 numbers of variance b0 / a0. By default, with k0 = 0, it is
        the reference prior 1 / variance, under which the posterior mean is the plain mean.
    b0 : float, default=0.0
        See `a0`.

    Returns
    -------
    NormalEstimate
        The estimates; `print` shows them side by side.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.estimate_normal([1.0, 2.0, 3.0, 6.0, 8.0]))
    5 numbers
                    mean  variance
    mle                4       6.8
    map                4   4.85714
    posterior mean     4        17
    the next number: Student t, 4 degrees, centre 4, scale 3.19374
    """
    seen = np.asarray(values, float).ravel()
    seen = seen[~np.isnan(seen)]
    if np.isinf(seen).any() or len(seen) < 2:
        raise ValueError("give at least two finite numbers")
    n, mean, squares = len(seen), float(seen.mean()), float(seen.var() * len(seen))
    k, a = finite("k0", k0, 0) + n, a0 + n / 2
    m = (k0 * m0 + n * mean) / k
    b = b0 + squares / 2 + k0 * n * (mean - m0) ** 2 / (2 * k)
    if a <= 0 or b < 0:
        raise ValueError(f"a0={a0!r}, b0={b0!r}: the posterior has no such variance; give larger ones")
    expected = b / (a - 1) if a > 1 else float("inf")
    return NormalEstimate(n, (mean, squares / n), (m, b / (a + 1.5)), (m, expected), m, k, a, b)


def _tried(successes: ArrayLike, n: float | None) -> tuple[float, float]:
    if n is not None:
        won = finite("successes", successes, 0)
        if won > finite("n", n, 0):
            raise ValueError(f"successes={successes!r} of n={n!r}: give at most n")
        return won, n - won
    seen = np.asarray(successes)
    if seen.ndim != 1 or not np.isin(seen, [0, 1]).all():
        raise ValueError("give the number of successes and n, or what was seen as a list of True and False")
    return float(seen.sum()), float(len(seen) - seen.sum())
