"""Cut points of numeric columns (information gain, minimum description length, quantiles), entropy, chi-square, and p-values
adjusted for several tests.

Bins are closed above: a value equal to a cut point belongs to the lower bin. Missing values are ignored when cut points are
chosen and get the code −1. The MDL search is that of Fayyad and Irani (1993).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from baytree import _core

QUANTILE_BINS = 10  # default number of bins of similar weight (deciles)


def best_cut(values: np.ndarray, label: np.ndarray, n_classes: int, times: np.ndarray | None = None) -> np.ndarray:
    """Cut point with the largest information gain over all midpoints of distinct values, [1] or [0] if none gains.

    `times` is the number of times each row counts; None means once.

    >>> best_cut(np.array([1.0, 2.0, 8.0, np.nan]), np.array([0, 0, 1, 1], np.int32), 2)
    array([5.])
    """
    values, order = _sorted(values)
    position, *_ = _core.best_entropy_cut(values, order, label, *_multiplicities(times, order), n_classes)
    return _midpoints(values, order, np.array([position] if position else [], np.int64))


def mdl_cuts(values: np.ndarray, label: np.ndarray, n_classes: int, times: np.ndarray | None = None) -> np.ndarray:
    """Cut points accepted by Fayyad and Irani (1993): each gains more bits than its own description costs.

    `times` is the number of times each row counts; None means once.

    >>> mdl_cuts(np.repeat([1.0, 2.0, 3.0], 30), np.repeat(np.array([0, 1, 0], np.int32), 30), 2)
    array([1.5, 2.5])
    """
    values, order = _sorted(values)
    positions = _core.mdl_cuts(values, order, label, *_multiplicities(times, order), n_classes)
    return _midpoints(values, order, positions)


def mdl_cuts_of_weights(value: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Cut points of ascending values with weights [n_values, n_classes], by minimum description length.

    The same search as `mdl_cuts`, from a statistic instead of rows.

    >>> mdl_cuts_of_weights(np.arange(20.0), np.repeat(np.eye(2), 10, axis=0)).tolist()
    [9.5]
    """
    index, label = np.nonzero(weight)  # in order of value, so ascending
    values, order = value[index], np.arange(len(index))
    if not len(values):
        return np.empty(0)
    positions = _core.mdl_cuts(values, order, label.astype(np.int32), weight[index, label], _UNUSED, weight.shape[1])
    return _midpoints(values, order, positions)


def quantile_cuts(values: np.ndarray, weight: np.ndarray, n_bins: int = QUANTILE_BINS) -> np.ndarray:
    """Upper edges of bins of similar weight, without the last; each is an observed value, few values get a bin each.

    >>> quantile_cuts(np.arange(8.0), np.ones(8), 4), quantile_cuts(np.array([1.0, 2.0, 2.0, 5.0, np.nan]), np.ones(5), 2)
    (array([1., 3., 5.]), array([2.]))
    """
    known = ~np.isnan(values)
    distinct, index = np.unique(values[known], return_inverse=True)
    return cuts_of_counts(distinct, np.bincount(index, weight[known], len(distinct)), n_bins)


def cuts_of_counts(value: np.ndarray, weight: np.ndarray, n_bins: int = QUANTILE_BINS) -> np.ndarray:
    """Quantile cut points from ascending values and the weight of each; see `quantile_cuts`."""
    if len(value) <= n_bins:
        return value[:-1] + 0.0
    cumulative = np.cumsum(weight)
    goal = cumulative[-1] * np.arange(1, n_bins) / n_bins
    last = np.searchsorted(cumulative, goal * (1 - 1e-12))  # ascending, like the goals
    last = last[last < len(value) - 1]
    is_new = np.ones(len(last), bool)
    np.not_equal(last[1:], last[:-1], out=is_new[1:])
    return value[last[is_new]] + 0.0


def bin_codes(values: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Bin of each value, −1 if it is missing: int32 [n_rows].

    >>> bin_codes(np.array([0.5, 1.0, 7.0, np.nan]), np.array([1.0, 5.0]))
    array([ 0,  0,  2, -1], dtype=int32)
    """
    bins = np.empty(len(values), np.uint32)
    _core.code_intervals(np.ascontiguousarray(values, np.float64), cuts, bins)
    return bins.view(np.int32) - 1


_UNUSED = np.empty(0)  # placeholder for row weights, or for the table of n log₂ n if rows are weighted


def _multiplicities(times: np.ndarray | None, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Multiplicity of each row, and n log₂ n of every possible count."""
    if times is None:
        return _UNUSED, _entropies(len(order))
    return np.ascontiguousarray(times, np.float64), _entropies(int(times[order].sum()))


def _sorted(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Contiguous values, and the rows in ascending order of their known values."""
    values = np.ascontiguousarray(values)
    order = np.argsort(values)  # NaN sorts last
    return values, order[: len(values) - int(np.isnan(values).sum())]


@lru_cache(maxsize=2)
def _entropies(n_rows: int) -> np.ndarray:
    """n log₂ n for every count up to n_rows."""
    counts = np.arange(n_rows + 1, dtype=np.float64)
    counts[1:] *= np.log2(counts[1:])
    return counts


def _midpoints(values: np.ndarray, order: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Midpoints below these positions of the sorted values, always strictly below the upper value."""
    low, high = values[order[positions - 1]], values[order[positions]]
    middle = low + (high - low) / 2
    return np.where(middle < high, middle, low)


def entropy(weights: np.ndarray) -> np.ndarray:
    """Entropy in bits of distributions given by weights, over the last axis; 0 if all weights are 0.

    >>> entropy(np.array([9.0, 5.0])).round(3)
    np.float64(0.94)
    """
    total = weights.sum(axis=-1, keepdims=True)
    proportion = weights / np.maximum(total, 1e-300)
    return -(proportion * np.log2(np.where(proportion > 0, proportion, 1.0))).sum(axis=-1)


def chi_square(counts: np.ndarray) -> tuple[float, int]:
    """Pearson's chi-square of a table [n_levels, n_classes] and its degrees of freedom, without empty rows and columns.

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
    """p-value of a chi-square statistic; 1 without degrees of freedom."""
    if degrees < 1:
        return 1.0
    return float(np.exp(_core.chi2_log_tail(np.array([statistic]), np.array([float(degrees)]))[0]))


def bonferroni(p: np.ndarray) -> np.ndarray:
    """Bonferroni-adjusted p-values, which bound the family-wise error rate; NaN stays NaN."""
    return np.minimum(p * np.count_nonzero(~np.isnan(p)), 1.0)


def false_discovery_rate(p: np.ndarray) -> np.ndarray:
    """Benjamini–Hochberg adjusted p-values, which bound the false discovery rate; NaN stays NaN."""
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(-p[known], kind="stable")]
    scaled = p[order] * len(order) / np.arange(len(order), 0, -1)
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled), 1.0)
    return adjusted
