"""Association measures and tests with p-values: functions of a contingency table, or of numbers and groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from baytree.statistics import binning
from baytree.statistics.binning import entropy


class TestResult(NamedTuple):
    """Statistic with its p-value and name."""

    statistic: float
    p: float
    name: str


def mutual_information(counts: np.ndarray) -> float:
    """I(level; class) in bits of a table of counts [n_levels, n_classes]; never negative."""
    return max(float(entropy(counts.sum(axis=0)) + entropy(counts.sum(axis=1)) - entropy(counts.ravel())), 0.0)


def information_gain(counts: np.ndarray, missing: float = 0.0) -> float:
    """Information gain in bits, times the proportion of rows with a known level."""
    return mutual_information(counts) * _known_proportion(counts, missing)


def gain_ratio(counts: np.ndarray, missing: float = 0.0) -> float:
    """Information gain divided by the entropy of the level; missing values count as a level in the latter, as in C4.5."""
    split = float(entropy(np.append(counts.sum(axis=1), missing)))
    return information_gain(counts, missing) / split if split > 0 else 0.0


def symmetric_uncertainty(counts: np.ndarray, missing: float = 0.0) -> float:
    """2 I / (H(level) + H(class)), between 0 and 1, times the proportion of rows with a known level."""
    both = float(entropy(counts.sum(axis=1)) + entropy(counts.sum(axis=0)))
    return 2 * mutual_information(counts) / both * _known_proportion(counts, missing) if both > 0 else 0.0


def chi_square(counts: np.ndarray) -> TestResult:
    """Pearson's test of independence of level and class, with (rows − 1)(columns − 1) degrees of freedom.

    >>> chi_square(np.array([[10.0, 20.0], [20.0, 10.0]])).statistic.__round__(3)
    6.667
    """
    statistic, degrees = binning.chi_square(counts)
    return TestResult(statistic, binning.chi_square_tail(statistic, degrees), "chi²")


def cramers_v(counts: np.ndarray) -> TestResult:
    """Cramér's V: √(chi² / (n (min(rows, columns) − 1))), between 0 and 1, with the p-value of chi²."""
    test = chi_square(counts)
    shape = (np.count_nonzero(counts.sum(axis=1)), np.count_nonzero(counts.sum(axis=0)))
    if min(shape) < 2:
        return TestResult(0.0, 1.0, "Cramér's V")
    return TestResult(float(np.sqrt(test.statistic / (counts.sum() * (min(shape) - 1)))), test.p, "Cramér's V")


def pearson(x: np.ndarray, y: np.ndarray, name: str = "Pearson") -> TestResult:
    """Pearson correlation, from centred sums, with the p-value of Student's t."""
    x, y = _centred(x), _centred(y)
    size = np.sqrt((x @ x) * (y @ y))
    if len(x) < 3 or not size > 0:
        return TestResult(0.0, 1.0, name)
    r = float(np.clip((x @ y) / size, -1, 1))
    t = np.inf if abs(r) == 1 else abs(r) * np.sqrt((len(x) - 2) / (1 - r * r))
    return TestResult(r, float(2 * special.stdtr(len(x) - 2, -t)), name)


def spearman(x: np.ndarray, y: np.ndarray) -> TestResult:
    """Spearman correlation; ties get their mean rank."""
    return pearson(_ranks(x), _ranks(y), "Spearman")


def anova(values: np.ndarray, group: np.ndarray, n_groups: int) -> TestResult:
    """One-way F test that all groups have the same mean."""
    between, within, degrees = _sums_of_squares(values, group, n_groups)
    if min(degrees) < 1 or between + within == 0:
        return TestResult(0.0, 1.0, "F")
    f = np.inf if within == 0 else (between / degrees[0]) / (within / degrees[1])
    return TestResult(float(f), float(special.fdtrc(*degrees, f)) if np.isfinite(f) else 0.0, "F")


def correlation_ratio(values: np.ndarray, group: np.ndarray, n_groups: int) -> TestResult:
    """Correlation ratio η, the root of the proportion of variance between groups, with the p-value of F."""
    between, within, _ = _sums_of_squares(values, group, n_groups)
    eta = np.sqrt(between / (between + within)) if between + within > 0 else 0.0
    return TestResult(float(eta), anova(values, group, n_groups).p, "η")


def kruskal_wallis(values: np.ndarray, group: np.ndarray, n_groups: int) -> TestResult:
    """η of the ranks, √(H / (n − 1)), with the p-value of the Kruskal–Wallis H; ties get their mean rank.

    For two groups it is the absolute Spearman correlation of the values with the group.
    """
    between, within, (degrees, _) = _sums_of_squares(_ranks(values), group, n_groups)
    if degrees < 1 or between + within == 0:
        return TestResult(0.0, 1.0, "η of ranks")
    proportion = between / (between + within)
    return TestResult(
        float(np.sqrt(proportion)), float(special.chdtrc(degrees, (len(values) - 1) * proportion)), "η of ranks"
    )


def regression_f(x: np.ndarray, y: np.ndarray) -> TestResult:
    """F test of the slope of y on x."""
    r = pearson(x, y)
    f = np.inf if abs(r.statistic) == 1 else r.statistic**2 * (len(x) - 2) / (1 - r.statistic**2)
    return TestResult(float(f) if len(x) > 2 else 0.0, r.p, "F")


def _known_proportion(counts: np.ndarray, missing: float) -> float:
    total = counts.sum()
    return float(total / (total + missing)) if total else 0.0


def _centred(values: np.ndarray) -> np.ndarray:
    """Centred values in a scale of their own, so that offsets do not cancel and squares neither overflow nor underflow."""
    if not len(values) or values.min() == values.max():
        return np.zeros(len(values))
    _, exponent = np.frexp(np.abs(values).max())
    scaled = np.ldexp(values, -int(exponent) - 1)  # a power of two, so that nothing is rounded
    shifted = scaled - scaled[0]
    centred = shifted / np.abs(shifted).max()
    return centred - centred.mean()


def _ranks(values: np.ndarray) -> np.ndarray:
    distinct, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse] if len(distinct) else values


def _sums_of_squares(values: np.ndarray, group: np.ndarray, n_groups: int) -> tuple[float, float, tuple[int, int]]:
    """Sums of squares between and within the groups, in a common unit, and their degrees of freedom."""
    values = _centred(values)
    n = np.bincount(group, minlength=n_groups)
    mean = np.bincount(group, values, n_groups) / np.maximum(n, 1)
    within = values - mean[group]
    n_used = int(np.count_nonzero(n))
    degrees = (n_used - 1, len(values) - n_used)
    return float((n * mean**2).sum()), float(within @ within), degrees
