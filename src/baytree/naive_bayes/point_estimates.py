"""MLE, MAP and posterior mean of one probability, of the probabilities of some levels, or of one normal distribution, for
teaching.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from baytree.data.encoding.read_target import read_classes
from baytree.display.results import TextResult
from baytree.display.terminal import in_columns, number, plain
from baytree.param_validation import finite


class BernoulliEstimate(TextResult, msgspec.Struct, frozen=True):
    """Estimates of a success probability from successes and failures.

    Attributes
    ----------
    successes, failures : float
        Observed weights.
    mle : float
        successes / n, the maximum likelihood estimate.
    map : float
        Mode of the posterior; the mle if both parameters are below 1 or their sum is at most 2.
    mean : float
        Mean of the posterior, which is the predictive probability of a success.
    alpha, beta : float
        Parameters of the posterior Beta(alpha, beta).
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


class CategoricalEstimate(TextResult, msgspec.Struct, frozen=True):
    """Estimates of the probabilities of levels from counts.

    Attributes
    ----------
    levels : tuple
        The levels, in the order given.
    counts : tuple of float
        Observed weights.
    mle : dict of float by level
        count / n; NaN without observations.
    map : dict of float by level
        Mode of the posterior; the mle if some pseudo-count is below 1.
    mean : dict of float by level
        Posterior mean, (count + alpha) / (n + Σ alpha), which is the predictive probability of the level.
    alpha : dict of float by level
        Parameters of the posterior Dirichlet distribution.
    """

    levels: tuple[Any, ...]
    counts: tuple[float, ...]
    mle: dict[Any, float]
    map: dict[Any, float]
    mean: dict[Any, float]
    alpha: dict[Any, float]

    def __str__(self) -> str:
        total = sum(self.alpha.values())
        rows = [
            [plain(level), number(n), f"{self.mle[level]:.4f}", f"{self.map[level]:.4f}", f"{self.mean[level]:.4f}",
             f"{self.alpha[level]:g} / {total:g}"]
            for level, n in zip(self.levels, self.counts, strict=True)
        ]  # fmt: skip
        return "\n".join(in_columns([["", "count", "mle", "map", "posterior mean", ""], *rows], "<>>>>>"))


class NormalEstimate(TextResult, msgspec.Struct, frozen=True):
    """Estimates of the mean and variance of a normal distribution.

    Attributes
    ----------
    n : int
        Number of values.
    mle : tuple of float
        Sample mean and variance (divisor n).
    map : tuple of float
        Mode of the joint posterior of mean and variance.
    mean : tuple of float
        Posterior means of mean and variance; the latter is infinite below three values without a prior.
    m, k, a, b : float
        Parameters of the posterior Normal–Inverse-Gamma(m, k, a, b): variance ~ IG(a, b), mean ~ N(m, variance / k).
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
        predictive = f"the next number: Student t, {2 * self.a:g} degrees, centre {self.m:.6g}, scale {self._scale():.6g}"
        return "\n".join([f"{self.n} numbers", *in_columns(rows, "<>"), predictive])

    def _scale(self) -> float:
        return float(np.sqrt(self.b / self.a * (1 + 1 / self.k)))


def estimate_bernoulli(
    successes: ArrayLike, n: float | None = None, alpha: float = 1.0, beta: float = 1.0
) -> BernoulliEstimate:
    """Probability of success by MLE, MAP and posterior mean, under a Beta(alpha, beta) prior.

    Parameters
    ----------
    successes : float or array-like of bool or 0 and 1
        Number of successes among `n` trials, or the outcomes one by one.
    n : float, optional
        Number of trials, if `successes` is a number.
    alpha : float, default=1.0
        Pseudo-count of successes; alpha = beta = 1 is Laplace's rule.
    beta : float, default=1.0
        Pseudo-count of failures.

    Returns
    -------
    BernoulliEstimate
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
    n_success, n_failure = _successes_and_failures(successes, n)
    a, b = finite("alpha", alpha, 0) + n_success, finite("beta", beta, 0) + n_failure
    if a + b <= 0:
        raise ValueError("no outcomes and no prior: give alpha and beta above 0")
    mle = n_success / (n_success + n_failure) if n_success + n_failure else float("nan")
    mode = (a - 1) / (a + b - 2) if min(a, b) >= 1 and a + b > 2 else mle
    return BernoulliEstimate(n_success, n_failure, mle, mode, a / (a + b), a, b)


def estimate_categorical(
    values: ArrayLike | None = None, alpha: float | Mapping[Any, float] = 0.0, *, counts: Mapping[Any, float] | None = None
) -> CategoricalEstimate:
    """Probabilities of levels by MLE, MAP and posterior mean, under a Dirichlet prior.

    Parameters
    ----------
    values : array-like, optional
        Observed levels, one per row; missing values are ignored.
    alpha : float or dict by level, default=0.0
        Pseudo-count of every level, or of each; 1 is Laplace's rule (add-one smoothing). A dict may name levels that were
        not observed.
    counts : dict, optional
        Count of each level, instead of `values`.

    Returns
    -------
    CategoricalEstimate
        The estimates; `print` shows them side by side.

    Examples
    --------
    >>> import baytree as bt
    >>> print(bt.estimate_categorical(counts={"red": 5, "blue": 0, "green": 7}, alpha=1))
           count     mle     map  posterior mean
    red        5  0.4167  0.4167          0.4000  6 / 15
    blue       0  0.0000  0.0000          0.0667  1 / 15
    green      7  0.5833  0.5833          0.5333  8 / 15
    """
    if (values is None) == (counts is None):
        raise ValueError("give either the values of the rows or counts={'red': 5, 'blue': 0}")
    found = dict(counts) if counts is not None else _counts_of_values(values)
    prior = alpha if isinstance(alpha, Mapping) else dict.fromkeys(found, alpha)
    levels = tuple(dict.fromkeys([*found, *prior]))
    if not levels:
        raise ValueError("there are no levels: the values are empty or all missing")
    n = np.array([finite(f"counts[{level!r}]", found.get(level, 0), 0) for level in levels])
    posterior = n + np.array([finite(f"alpha of {plain(level)}", prior.get(level, 0), 0) for level in levels])
    if posterior.sum() <= 0:
        raise ValueError("no counts and no prior: give alpha above 0")
    mle = n / n.sum() if n.sum() else np.full(len(n), np.nan)
    has_mode = (posterior >= 1).all() and posterior.sum() > len(posterior)
    mode = (posterior - 1) / (posterior.sum() - len(posterior)) if has_mode else mle
    by_level = (
        dict(zip(levels, each.tolist(), strict=True)) for each in (mle, mode, posterior / posterior.sum(), posterior)
    )
    return CategoricalEstimate(levels, tuple(n.tolist()), *by_level)


def estimate_normal(
    values: ArrayLike, m0: float = 0.0, k0: float = 0.0, a0: float = -0.5, b0: float = 0.0
) -> NormalEstimate:
    """Mean and variance of a normal distribution by MLE, MAP and posterior, under a Normal–Inverse-Gamma prior.

    Parameters
    ----------
    values : array-like of float
        Observed values; missing values are ignored.
    m0 : float, default=0.0
        Prior mean.
    k0 : float, default=0.0
        Weight of the prior mean, as a number of observations.
    a0 : float, default=-0.5
        Shape of the prior IG(a0, b0) of the variance, which weighs as much as 2 a0 observations of variance b0 / a0. The
        default, with k0 = 0, is the reference prior 1 / variance, under which the posterior mean is the sample mean.
    b0 : float, default=0.0
        Scale of the prior of the variance; see `a0`.

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
    observed = np.asarray(values, float).ravel()
    observed = observed[~np.isnan(observed)]
    if np.isinf(observed).any() or len(observed) < 2:
        raise ValueError("give at least two finite numbers")
    n, mean, squares = len(observed), float(observed.mean()), float(observed.var() * len(observed))
    k, a = finite("k0", k0, 0) + n, a0 + n / 2
    m = (k0 * m0 + n * mean) / k
    b = b0 + squares / 2 + k0 * n * (mean - m0) ** 2 / (2 * k)
    if a <= 0 or b < 0:
        raise ValueError(f"a0={a0!r}, b0={b0!r}: the posterior of the variance is improper; give larger values")
    expected = b / (a - 1) if a > 1 else float("inf")
    return NormalEstimate(n, (mean, squares / n), (m, b / (a + 1.5)), (m, expected), m, k, a, b)


def _counts_of_values(values: Any) -> dict[Any, int]:
    read = read_classes(values, "values")
    counts = np.bincount(read.values[read.values >= 0], minlength=len(read.target.classes or ()))
    return dict(zip(read.target.classes or (), counts.tolist(), strict=True))


def _successes_and_failures(successes: ArrayLike, n: float | None) -> tuple[float, float]:
    if n is not None:
        n_success = finite("successes", successes, 0)
        if n_success > finite("n", n, 0):
            raise ValueError(f"successes={successes!r} of n={n!r}: give at most n")
        return n_success, n - n_success
    outcomes = np.asarray(successes)
    if outcomes.ndim != 1 or not np.isin(outcomes, [0, 1]).all():
        raise ValueError("give the number of successes and n, or the outcomes as a list of True and False")
    return float(outcomes.sum()), float(len(outcomes) - outcomes.sum())
