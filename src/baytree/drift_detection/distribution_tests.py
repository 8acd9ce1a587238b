"""Tests of whether a column's distribution has changed, and distances between the two distributions.

Values are tested by Pearson's chi-squared test on pooled cells, missing values by chi-squared or, if rare, Fisher's exact
test (Fisher, 1935); p-values are adjusted by Holm (1979).
"""

from __future__ import annotations

from math import lgamma
from typing import NamedTuple

import numpy as np

from baytree import _core
from baytree.statistics.binning import chi_square, chi_square_tail
from baytree.statistics.counts import Counts
from baytree.statistics.profile import MAX_BUCKETS, Histogram

MAX_CELLS = 12  # cells of a numeric column in the test: more show finer changes, and need more rows

MIN_EXPECTED_ROWS = 5.0  # expected rows of a cell, below which the chi-squared approximation is poor (Cochran's rule)


class DistributionPair(NamedTuple):
    """Weights of the training rows and the new rows in the same cells, in order; missing values separately."""

    points: np.ndarray  # [n_cells], numbers, or codes of levels
    before: np.ndarray  # [n_cells]
    now: np.ndarray  # [n_cells]
    missing_before: float
    missing_now: float

    def known_by(self, proportion: float) -> DistributionPair:
        """Scale the training weights to the sample of rows that the profile is based on: other rows are no evidence."""
        if proportion == 1.0:
            return self
        return self._replace(before=self.before * proportion, missing_before=self.missing_before * proportion)

    @property
    def is_ordered(self) -> bool:
        """Whether the cells are ordered, that is, numeric."""
        return self.points.dtype.kind == "f"


def pair_distributions(before: Histogram | Counts, now: Histogram | Counts) -> DistributionPair:
    """Distributions of training and new rows on common cells."""
    if isinstance(before, Histogram) and isinstance(now, Histogram):
        wider = max(int(before.exponent[0]), int(now.exponent[0]))
        _, edges, before_places, now_places = _core.united_buckets(before.edges, now.edges, wider, MAX_BUCKETS)
        before_cells, now_cells = (
            _cell_weights(before, before_places, len(edges)),
            _cell_weights(now, now_places, len(edges)),
        )
        return DistributionPair(np.asarray(edges), before_cells, now_cells, _missing(before.counts), _missing(now.counts))
    assert isinstance(before, Counts)
    assert isinstance(now, Counts)
    codes = np.arange(len(before.known()))
    return DistributionPair(codes, before.known().sum(axis=1), now.known().sum(axis=1), _missing(before), _missing(now))


def distance(pair: DistributionPair, n_new: int = 0) -> float:
    """Distance from 0 to 1: Kolmogorov–Smirnov for numbers, total variation for levels.

    New levels are part of `missing_now`; here they count as levels of their own, and missing values are excluded.
    """
    total_before, total_now = pair.before.sum(), pair.now.sum() + n_new
    if not total_before or not total_now:
        return 0.0 if total_before == total_now else 1.0
    difference = pair.before / total_before - pair.now / total_now
    if pair.is_ordered:
        return float(np.abs(np.cumsum(difference)).max())
    return float((np.abs(difference).sum() + n_new / total_now) / 2)


def chances(pair: DistributionPair, n_new: int) -> list[float]:
    """p-values of a column: of its values, and of its missing values if there are any."""
    missing = [pair.missing_before, pair.missing_now - n_new]
    known = [float(pair.before.sum()), float(pair.now.sum()) + n_new]
    tests = [_values_p(pair, n_new) if all(known) else 1.0]
    if any(missing):
        tests.append(missing_chance(missing[0], known[0], missing[1], known[1]))
    return tests


def _values_p(pair: DistributionPair, n_new: int) -> float:
    """p-value of a chi-squared test on the pooled cells and the new levels."""
    cells = _equal_count_cells(pair) if pair.is_ordered else np.stack([pair.before, pair.now])
    return chi_square_tail(*chi_square(_pooled(np.concatenate([cells, [[0.0], [float(n_new)]]], axis=1))))


def missing_chance(missing_before: float, known_before: float, missing_now: float, known_now: float) -> float:
    """p-value of equal proportions of missing values in training and now.

    Chi-squared; if fewer than `MIN_EXPECTED_ROWS` rows are expected in a cell, Fisher's exact test, twice its smaller tail.
    """
    table = np.array([[missing_before, known_before], [missing_now, known_now]], float)
    total = table.sum()
    if not total or (np.outer(table.sum(axis=1), table.sum(axis=0)) / total).min() >= MIN_EXPECTED_ROWS:
        return chi_square_tail(*chi_square(table))
    whole = np.rint(table).astype(int)
    n_now, n_missing = int(whole[1].sum()), int(whole[:, 0].sum())
    low, high = max(0, n_now - int(whole[:, 1].sum())), min(n_now, n_missing)
    log_ways = np.array(
        [_log_choose(n_missing, k) + _log_choose(whole[:, 1].sum(), n_now - k) for k in range(low, high + 1)]
    )
    probability = np.exp(log_ways - log_ways.max())
    observed = int(whole[1, 0]) - low
    return min(1.0, 2 * float(min(probability[: observed + 1].sum(), probability[observed:].sum()) / probability.sum()))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def adjust_holm(chances: list[float]) -> list[float]:
    """Holm's adjusted p-values (family-wise error rate).

    >>> adjust_holm([0.0625, 1.0, 0.25])
    [0.1875, 1.0, 0.5]
    """
    order = np.argsort(chances, kind="stable")
    adjusted, largest = [1.0] * len(chances), 0.0
    for rank, k in enumerate(order.tolist()):
        largest = max(largest, min(1.0, (len(chances) - rank) * chances[k]))
        adjusted[k] = largest
    return adjusted


def _cell_weights(sketch: Histogram, position: np.ndarray, n_cells: int) -> np.ndarray:
    return np.bincount(position, sketch.counts.known().sum(axis=1), n_cells)


def _missing(counts: Counts) -> float:
    return float(counts.cells.rounded()[0].sum())


def _equal_count_cells(pair: DistributionPair) -> np.ndarray:
    """Pool neighbouring numbers so that all cells have about equally many rows of both tables: [2, n_cells]."""
    total = pair.before + pair.now
    if not total.sum():
        return np.zeros((2, 0))
    quantile = (np.cumsum(total) - total / 2) / total.sum()
    cell = np.minimum((quantile * MAX_CELLS).astype(int), MAX_CELLS - 1)
    return np.stack([np.bincount(cell, side, MAX_CELLS) for side in (pair.before, pair.now)])


def _pooled(table: np.ndarray) -> np.ndarray:
    """Merge rare cells into one, so that every cell has enough expected rows in both tables."""
    total = table.sum(axis=0)
    smaller_proportion = table.sum(axis=1).min() / max(table.sum(), 1.0)
    is_rare = total * smaller_proportion < MIN_EXPECTED_ROWS
    rare = table[:, is_rare].sum(axis=1, keepdims=True)
    frequent = table[:, ~is_rare]
    if not rare.sum():
        return frequent
    if rare.sum() * smaller_proportion >= MIN_EXPECTED_ROWS or not frequent.shape[1]:
        return np.concatenate([frequent, rare], axis=1)
    smallest = int(np.argmin(frequent.sum(axis=0)))
    frequent[:, smallest] += rare[:, 0]
    return frequent
