"""Intervals of answers: of the share of a class among rows that were counted, of scores in logs, of a mean.

All are read per class or number: a level of 0.95 means that each of them holds the truth in 95 of 100 tables, not all at
once. Every interval is under the model's own assumptions: it tells how much the answer owes to the rows that happened to
be seen, not whether classes are normal or columns independent.
"""

from __future__ import annotations

import numpy as np

JEFFREYS = (
    0.5  # what is added to the count of a class and of all others: its intervals hold at any share (Brown and others 2001)
)


def no_interval(reason: str) -> ValueError:
    """The refusal of a model whose answers have no honest interval, with the way out."""
    return ValueError(f"{reason}; prediction sets keep their promise with any model: see bt.conformal")


def holding(intervals: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """The intervals, none of which leaves out the answer that it is about: [..., 2] for answers [...]."""
    low, high = np.minimum(intervals[..., 0], answers), np.maximum(intervals[..., 1], answers)
    return np.stack([low, high], axis=-1)


def share_moments(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each class's share after Jeffreys, from counts [n, n_classes]: each class against the others."""
    total = counts.sum(axis=1, keepdims=True) + 2 * JEFFREYS
    mean = (counts + JEFFREYS) / total
    return mean, mean * (1 - mean) / (total + 1)


def share_intervals(mean: np.ndarray, variance: np.ndarray, level: float) -> np.ndarray:
    """The quantiles of the Beta distribution with these moments; of a count of 0 from 0 on, of all up to 1: [..., 2]."""
    from scipy.special import betaincinv  # predicting without intervals stays free of scipy

    size = np.maximum(mean * (1 - mean) / np.maximum(variance, 1e-300) - 1, 1e-300)
    a, b = mean * size, (1 - mean) * size
    low, high = betaincinv(a, b, (1 - level) / 2), betaincinv(a, b, (1 + level) / 2)
    least = JEFFREYS * (1 + 1e-9)
    return np.stack([np.where(a <= least, 0.0, low), np.where(b <= least, 1.0, high)], axis=-1)


def score_intervals(mean: np.ndarray, covariance: np.ndarray, level: float) -> np.ndarray:
    """Of the softmax of scores: normal on the scale of each class's log-odds against all others, [n_rows, n_classes, 2].

    `covariance` is [n_rows, n_classes, n_classes], or [n_rows, n_classes] for scores that vary independently. The log-odds
    of class k change with score k as 1, with each other score as minus its class's share among the others.
    """
    from statistics import NormalDist  # whoever only predicts does without it

    out, reach = np.ones((*mean.shape, 2)), NormalDist().inv_cdf((1 + level) / 2)
    for k in range(mean.shape[1] if mean.shape[1] > 1 else 0):  # a class without others is certain
        others = np.delete(mean, k, axis=1)
        top = others.max(axis=1)
        rest = top + np.log(np.exp(others - top[:, None]).sum(axis=1))
        change = -np.exp(np.minimum(mean - rest[:, None], 0.0))
        change[:, k] = 1.0
        deviation = np.sqrt(np.maximum(_variances(change, covariance), 0.0))
        for side, sign in enumerate((-1, 1)):
            out[:, k, side] = _sigmoid(mean[:, k] - rest + sign * reach * deviation)
    return out


def log_amount_moments(amount: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the logarithm of Gamma variables: shares that are Dirichlet's, up to what all of them share."""
    from scipy.special import digamma, polygamma

    return digamma(amount), polygamma(1, amount)


def mean_intervals(mean: np.ndarray, variance: np.ndarray, degrees: np.ndarray | float, level: float) -> np.ndarray:
    """Student's: mean ± t √variance, [n_rows, 2]."""
    from scipy.special import stdtrit

    reach = stdtrit(degrees, (1 + level) / 2) * np.sqrt(variance)
    return np.stack([mean - reach, mean + reach], axis=-1)


def _variances(change: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    if covariance.ndim == 2:
        return np.einsum("nk,nk->n", change**2, covariance)
    return np.einsum("nk,nkl,nl->n", change, covariance, change)


def _sigmoid(score: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(score / 2))  # at any size
