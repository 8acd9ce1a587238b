"""What saying nothing brings: how many rows are answered, and how many of those right, as more confidence is asked for."""

from __future__ import annotations

import msgspec
import numpy as np


class Answered(msgspec.Struct, frozen=True):
    """A point for each different threshold, the surest rows first; rows that are as sure come together."""

    least: np.ndarray  # [n], the least confidence of an answer, falling
    share: np.ndarray  # [n], of rows that are then answered, rising to 1
    accuracy: np.ndarray  # [n], of right answers among them

    @classmethod
    def of(cls, sure: np.ndarray, is_right: np.ndarray, weight: np.ndarray) -> Answered:
        """Of rows with what they are sure of, whether that is right, and their weight. [n_rows] each"""
        order = np.argsort(-sure, kind="stable")
        last = np.append(np.flatnonzero(np.diff(sure[order])), len(order) - 1)
        total, right = np.cumsum(weight[order])[last], np.cumsum((weight * is_right)[order])[last]
        return cls(sure[order][last], total / total[-1], right / np.maximum(total, 1e-300))


def at_least(thresholds: np.ndarray, least: np.ndarray, share: np.ndarray, accuracy: np.ndarray) -> np.ndarray:
    """The share answered, and the accuracy of those, at each threshold; NaN where nobody is answered. [n, 2]

    >>> at_least(np.array([0.5, 0.8, 0.95]), np.array([0.9, 0.6]), np.array([0.25, 1.0]), np.array([1.0, 0.75])).tolist()
    [[1.0, 0.75], [0.25, 1.0], [0.0, nan]]
    """
    place = np.searchsorted(-least, -thresholds, side="right")  # how many points are at least as sure
    shares, accuracies = np.append(0.0, share)[place], np.append(np.nan, accuracy)[place]
    return np.stack([shares, accuracies], axis=1)
