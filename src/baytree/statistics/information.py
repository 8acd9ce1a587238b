"""What a table of counts tells: entropies, and whether rows and columns are independent."""

from __future__ import annotations

import numpy as np

from baytree import _core


def entropy(weights: np.ndarray) -> np.ndarray:
    """H in bits of distributions given by weights, over the last axis; 0 where all weights are.

    >>> entropy(np.array([9.0, 5.0])).round(3)
    np.float64(0.94)
    """
    total = weights.sum(axis=-1, keepdims=True)
    share = weights / np.maximum(total, 1e-300)
    return -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=-1)


def chi_square(counts: np.ndarray) -> tuple[float, int]:
    """Pearson's statistic of a table [n_levels, n_classes] and its degrees of freedom; empty rows and columns do not count.

    >>> chi_square(np.array([[10.0, 20.0], [20.0, 10.0]]))[0].__round__(3)
    6.667
    """
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    degrees = (counts.shape[0] - 1) * (counts.shape[1] - 1)
    if degrees < 1:
        return 0.0, 0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    return float(((counts - expected) ** 2 / expected).sum()), degrees


def chi_square_tail(statistic: float, degrees: int) -> float:
    """The chance of a statistic at least as large where rows and columns are independent; 1 without degrees of freedom."""
    if degrees < 1:
        return 1.0
    return float(np.exp(_core.chi2_log_tail(np.array([statistic]), np.array([float(degrees)]))[0]))
