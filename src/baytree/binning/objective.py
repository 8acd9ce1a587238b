"""Objectives of coarse bins, each a sum over the bins: information value, log-likelihood, and explained sum of squares."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

OBJECTIVES = ("information_value", "log_likelihood", "squared_error")

HALF_A_ROW = 0.5  # stands for a class without rows in a bin, whose weight of evidence would be infinite


def weight_of_evidence(sums: np.ndarray, total: np.ndarray) -> np.ndarray:
    """log of the bin's proportion of the second class over its proportion of the first; 0 for an empty bin.

    sums [..., 2], total [2] → [...]. A class without rows counts as half a row.
    """
    proportion = np.where(sums > 0, sums, HALF_A_ROW) / total
    return np.where(sums.sum(axis=-1) > 0, np.log(proportion[..., 1] / proportion[..., 0]), 0.0)


def information_value(sums: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Difference of the two proportions times the weight of evidence. sums [..., 2], total [2] → [...]"""
    proportion = sums / total
    return (proportion[..., 1] - proportion[..., 0]) * weight_of_evidence(sums, total)


def log_likelihood(sums: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Log-likelihood of the classes in a bin above that of the classes overall. sums [..., n_classes] → [...]"""
    prior = total / total.sum()
    weight = sums.sum(axis=-1, keepdims=True)
    rate = sums / np.where(weight > 0, weight, 1.0)
    return (sums * np.log(np.where(sums > 0, rate, 1.0) / np.where(sums > 0, prior, 1.0))).sum(axis=-1)


def squared_error(sums: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Sum of squares that the bin's mean explains. sums [..., 3]: weight, total, total square → [...]"""
    deviation = sums[..., 1] - sums[..., 0] * (total[1] / total[0])
    return deviation * deviation / np.where(sums[..., 0] > 0, sums[..., 0], 1.0)


Objective = Callable[[np.ndarray, np.ndarray], np.ndarray]

OBJECTIVE_OF: dict[str, Objective] = {
    "information_value": information_value,
    "log_likelihood": log_likelihood,
    "squared_error": squared_error,
}


def rates(sums: np.ndarray, *, is_number: bool) -> np.ndarray:
    """Mean of the target, or the proportion of the second of two classes. sums [..., k] → [...]"""
    weight = sums[..., 0] if is_number else sums.sum(axis=-1)
    return sums[..., 1] / np.where(weight > 0, weight, 1.0)
