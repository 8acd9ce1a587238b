"""Intervals of answers: of the share of a class among rows that were counted, of scores in logs, of a mean.

All are read per class or number: a level of 0.95 means that each of them holds the truth in 95 of 100 tables, not all at
once. Every interval is under the model's own assumptions: it tells how much the answer owes to the rows that happened to
be seen, not whether classes are normal or columns independent.

Conformal ranks: where a new row stands among the rows that were seen (Vovk, Gammerman and Shafer 2005).
"""

from __future__ import annotations

import numpy as np

JEFFREYS = (
    0.5  # what is added to the count of a class and of all others: its intervals hold at any share (Brown and others 2001)
)


def no_interval(reason: str) -> ValueError:
    """The refusal of a model whose answers have no honest interval, with the way out."""
    return ValueError(f"{reason}; prediction sets keep their promise with any model: see bt.conformal")


def widen_to_include(intervals: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """The intervals, none of which leaves out the answer that it is about: [..., 2] for answers [...]."""
    low, high = np.minimum(intervals[..., 0], answers), np.maximum(intervals[..., 1], answers)
    return np.stack([low, high], axis=-1)


def proportion_moments(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each class's share after Jeffreys, from counts [n, n_classes]: each class against the others."""
    total = counts.sum(axis=1, keepdims=True) + 2 * JEFFREYS
    mean = (counts + JEFFREYS) / total
    return mean, mean * (1 - mean) / (total + 1)


def proportion_intervals(mean: np.ndarray, variance: np.ndarray, level: float) -> np.ndarray:
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


TIE = 1e-9  # relative: rows that are alike must not be told apart by rounding


def weight_up_to(seen: np.ndarray, weight: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The weight of the rows seen [n] whose conformity is at most that of each new one, [...]: ties count."""
    order = np.argsort(seen, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(weight[order])])
    return total[np.searchsorted(seen[order], new * (1 + TIE) + 1e-300, side="right")]


def least_conforming(seen: np.ndarray, weight: np.ndarray, alpha: float) -> float:
    """The least conformity with which an answer is kept: more than α of the rows seen, and itself, conform no better.

    >>> least_conforming(np.array([0.2, 0.5, 0.9]), np.ones(3), 0.3)  # the worst of four is below it
    0.2
    """
    order = np.argsort(seen, kind="stable")
    rank = (np.concatenate([[0.0], np.cumsum(weight[order])]) + 1) / (weight.sum() + 1)
    place = int(np.argmax(rank > alpha * (1 + TIE)))
    return float(seen[order][place - 1]) if place else 0.0


def lower_bounds(values: np.ndarray, weight: np.ndarray, alpha: float) -> np.ndarray:
    """For each new row the largest of its values [n_seen, n_new] below which at most α of the weight lies, −∞ counted as one
    more: the ⌊α (n + 1)⌋-th smallest, −∞ where that is none."""
    order = np.argsort(values, axis=0, kind="stable")
    ranked = np.take_along_axis(values, order, axis=0)
    below = np.cumsum(weight[order], axis=0)
    allowed = alpha * (weight.sum() + 1) * (1 + TIE)
    place = (below <= allowed).sum(axis=0)
    return np.where(place > 0, np.take_along_axis(ranked, np.maximum(place - 1, 0)[None], axis=0)[0], -np.inf)
