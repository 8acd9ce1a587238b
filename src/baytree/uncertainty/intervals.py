"""Intervals of predictions: class proportions from counts, probabilities from scores, and means; plus conformal ranks.

Intervals hold per class or number: at level 0.95, each of them covers the truth in 95 of 100 tables, not all jointly. They
are conditional on the model's assumptions: they show how much a prediction depends on the sample, not whether classes are
normal or columns independent. The conformal functions rank a new row among the calibration rows (Vovk, Gammerman and Shafer
2005).
"""

from __future__ import annotations

import numpy as np

# Jeffreys pseudo-count of a class and of its complement: good coverage at any proportion (Brown, Cai and DasGupta 2001)
JEFFREYS = 0.5


def no_interval(reason: str) -> ValueError:
    """The ValueError of a model that has no valid intervals; its message names conformal prediction sets as the
    alternative.
    """
    return ValueError(f"{reason}; prediction sets have guaranteed coverage with any model: see bt.conformal")


def widen_to_include(intervals: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """Intervals widened to contain the prediction they belong to: [..., 2] for predictions [...]."""
    low, high = np.minimum(intervals[..., 0], predictions), np.maximum(intervals[..., 1], predictions)
    return np.stack([low, high], axis=-1)


def proportion_moments(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each class proportion with a Jeffreys prior, each class against the others. counts [n,
    n_classes]
    """
    total = counts.sum(axis=1, keepdims=True) + 2 * JEFFREYS
    mean = (counts + JEFFREYS) / total
    return mean, mean * (1 - mean) / (total + 1)


def proportion_intervals(mean: np.ndarray, variance: np.ndarray, level: float) -> np.ndarray:
    """Quantiles of the Beta distribution with these moments; from 0 for a count of 0, up to 1 for a count of all.
    [..., 2]
    """
    from scipy.special import betaincinv  # local import: prediction without intervals does not need scipy

    concentration = np.maximum(mean * (1 - mean) / np.maximum(variance, 1e-300) - 1, 1e-300)
    a, b = mean * concentration, (1 - mean) * concentration
    low, high = betaincinv(a, b, (1 - level) / 2), betaincinv(a, b, (1 + level) / 2)
    threshold = JEFFREYS * (1 + 1e-9)
    return np.stack([np.where(a <= threshold, 0.0, low), np.where(b <= threshold, 1.0, high)], axis=-1)


def score_intervals(mean: np.ndarray, covariance: np.ndarray, level: float) -> np.ndarray:
    """Intervals of the softmax of scores, normal on the scale of each class's log-odds against all others. [n_rows,
    n_classes, 2]

    `covariance` is [n_rows, n_classes, n_classes], or [n_rows, n_classes] for independent scores. By the delta method, the
    log-odds of class k have derivative 1 with respect to score k, and minus the other class's proportion among the others
    with respect to each other score.
    """
    from statistics import NormalDist  # local import: prediction alone does not need it

    out, quantile = np.ones((*mean.shape, 2)), NormalDist().inv_cdf((1 + level) / 2)
    for k in range(mean.shape[1] if mean.shape[1] > 1 else 0):  # a single class is certain
        others = np.delete(mean, k, axis=1)
        largest = others.max(axis=1)
        log_sum_others = largest + np.log(np.exp(others - largest[:, None]).sum(axis=1))
        gradient = -np.exp(np.minimum(mean - log_sum_others[:, None], 0.0))
        gradient[:, k] = 1.0
        deviation = np.sqrt(np.maximum(_variances(gradient, covariance), 0.0))
        for side, sign in enumerate((-1, 1)):
            out[:, k, side] = _sigmoid(mean[:, k] - log_sum_others + sign * quantile * deviation)
    return out


def log_amount_moments(amount: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the log of Gamma variables, which are Dirichlet proportions up to a common factor."""
    from scipy.special import digamma, polygamma

    return digamma(amount), polygamma(1, amount)


def mean_intervals(mean: np.ndarray, variance: np.ndarray, degrees: np.ndarray | float, level: float) -> np.ndarray:
    """Student intervals: mean ± t √variance. [n_rows, 2]"""
    from scipy.special import stdtrit

    half_width = stdtrit(degrees, (1 + level) / 2) * np.sqrt(variance)
    return np.stack([mean - half_width, mean + half_width], axis=-1)


def _variances(change: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    if covariance.ndim == 2:
        return np.einsum("nk,nk->n", change**2, covariance)
    return np.einsum("nk,nkl,nl->n", change, covariance, change)


def _sigmoid(score: np.ndarray) -> np.ndarray:
    return 0.5 * (1 + np.tanh(score / 2))  # does not overflow


TIE_TOLERANCE = 1e-9  # relative difference below which scores are equal, so that rounding does not distinguish equal rows


def weight_up_to(observed: np.ndarray, weight: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Weight of the calibration rows [n] whose conformity is at most that of each new row [...], ties included."""
    order = np.argsort(observed, kind="stable")
    total = np.concatenate([[0.0], np.cumsum(weight[order])])
    return total[np.searchsorted(observed[order], new * (1 + TIE_TOLERANCE) + 1e-300, side="right")]


def least_conforming(observed: np.ndarray, weight: np.ndarray, alpha: float) -> float:
    """Smallest conformity with which a label stays in the set: more than α of the calibration rows and the new one are no
    larger.

    >>> least_conforming(np.array([0.2, 0.5, 0.9]), np.ones(3), 0.3)  # the worst of four is below it
    0.2
    """
    order = np.argsort(observed, kind="stable")
    rank = (np.concatenate([[0.0], np.cumsum(weight[order])]) + 1) / (weight.sum() + 1)
    index = int(np.argmax(rank > alpha * (1 + TIE_TOLERANCE)))
    return float(observed[order][index - 1]) if index else 0.0


def lower_bounds(values: np.ndarray, weight: np.ndarray, alpha: float) -> np.ndarray:
    """Lower conformal bound of each new row: the largest of its values [n_calibration, n_new] below which at most α of the
    weight lies.

    −∞ counts as one more row. The result is the ⌊α (n + 1)⌋-th smallest value, −∞ if there is none. float64 [n_new]
    """
    order = np.argsort(values, axis=0, kind="stable")
    sorted_values = np.take_along_axis(values, order, axis=0)
    cumulative = np.cumsum(weight[order], axis=0)
    allowed = alpha * (weight.sum() + 1) * (1 + TIE_TOLERANCE)
    index = (cumulative <= allowed).sum(axis=0)
    return np.where(index > 0, np.take_along_axis(sorted_values, np.maximum(index - 1, 0)[None], axis=0)[0], -np.inf)
