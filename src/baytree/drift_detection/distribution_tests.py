"""Two distributions of a column beside each other: how far apart they are, and whether chance alone would do that."""

from __future__ import annotations

from math import lgamma
from typing import NamedTuple

import numpy as np

from baytree import _core
from baytree.statistics.binning import chi_square, chi_square_tail
from baytree.statistics.counts import Counts
from baytree.statistics.profile import MOST_BUCKETS, Histogram

MOST_CELLS = 12  # of the numbers of a column in the test

LEAST_EXPECTED = 5.0  # rows of a cell, below which the chi-squared distribution is no good description


class DistributionPair(NamedTuple):
    """The weights of training and of new rows in the same cells, in order; missing values apart."""

    points: np.ndarray  # [n_cells], numbers, or codes of levels
    before: np.ndarray  # [n_cells]
    now: np.ndarray  # [n_cells]
    missing_before: float
    missing_now: float

    def known_by(self, share: float) -> DistributionPair:
        """The same pair where only a share of the training rows was looked at: the others are no evidence of their own."""
        if share == 1.0:
            return self
        return self._replace(before=self.before * share, missing_before=self.missing_before * share)

    @property
    def is_ordered(self) -> bool:
        """Whether the cells are of numbers."""
        return self.points.dtype.kind == "f"


def pair_distributions(before: Histogram | Counts, now: Histogram | Counts) -> DistributionPair:
    """What training and new rows have in the cells of both."""
    if isinstance(before, Histogram) and isinstance(now, Histogram):
        wider = max(int(before.exponent[0]), int(now.exponent[0]))
        _, edges, mine, theirs = _core.united_buckets(before.edges, now.edges, wider, MOST_BUCKETS)
        cells, more = _placed(before, mine, len(edges)), _placed(now, theirs, len(edges))
        return DistributionPair(np.asarray(edges), cells, more, _missing(before.counts), _missing(now.counts))
    assert isinstance(before, Counts)
    assert isinstance(now, Counts)
    codes = np.arange(len(before.known()))
    return DistributionPair(codes, before.known().sum(axis=1), now.known().sum(axis=1), _missing(before), _missing(now))


def distance(pair: DistributionPair, n_new: int = 0) -> float:
    """Between 0 and 1: the largest difference of the shares up to a number, or half the sum of those of all levels.

    New levels are in `missing_now`; here they are levels of their own, and what is missing is left out.
    """
    total_before, total_now = pair.before.sum(), pair.now.sum() + n_new
    if not total_before or not total_now:
        return 0.0 if total_before == total_now else 1.0
    difference = pair.before / total_before - pair.now / total_now
    if pair.is_ordered:
        return float(np.abs(np.cumsum(difference)).max())
    return float((np.abs(difference).sum() + n_new / total_now) / 2)


def chances(pair: DistributionPair, n_new: int) -> list[float]:
    """The p of each test of a column: of the distribution of its values, and of its missing values where there are any."""
    missing = [pair.missing_before, pair.missing_now - n_new]
    known = [float(pair.before.sum()), float(pair.now.sum()) + n_new]
    tests = [_chance_of_values(pair, n_new) if all(known) else 1.0]
    if any(missing):
        tests.append(missing_chance(missing[0], known[0], missing[1], known[1]))
    return tests


def _chance_of_values(pair: DistributionPair, n_new: int) -> float:
    """The chance of so large a chi-squared statistic, of cells and new levels in both."""
    cells = _few(pair) if pair.is_ordered else np.stack([pair.before, pair.now])
    return chi_square_tail(*chi_square(_pooled(np.concatenate([cells, [[0.0], [float(n_new)]]], axis=1))))


def missing_chance(missing_before: float, known_before: float, missing_now: float, known_now: float) -> float:
    """The chance of proportions of missing values that differ as much, if they are the same in training and now.

    Chi-squared; where fewer than `LEAST_EXPECTED` rows are expected in a cell, Fisher's exact test, twice its smaller tail.
    """
    table = np.array([[missing_before, known_before], [missing_now, known_now]], float)
    total = table.sum()
    if not total or (np.outer(table.sum(axis=1), table.sum(axis=0)) / total).min() >= LEAST_EXPECTED:
        return chi_square_tail(*chi_square(table))
    whole = np.rint(table).astype(int)
    n_now, n_missing = int(whole[1].sum()), int(whole[:, 0].sum())
    least, most = max(0, n_now - int(whole[:, 1].sum())), min(n_now, n_missing)
    ways = np.array([_log_choose(n_missing, k) + _log_choose(whole[:, 1].sum(), n_now - k) for k in range(least, most + 1)])
    share = np.exp(ways - ways.max())
    place = int(whole[1, 0]) - least
    return min(1.0, 2 * float(min(share[: place + 1].sum(), share[place:].sum()) / share.sum()))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def adjust_holm(chances: list[float]) -> list[float]:
    """Holm's adjusted p of each of several tests: the chance that any of them is as small, if nothing has changed.

    >>> adjust_holm([0.0625, 1.0, 0.25])
    [0.1875, 1.0, 0.5]
    """
    order = np.argsort(chances, kind="stable")
    adjusted, largest = [1.0] * len(chances), 0.0
    for rank, k in enumerate(order.tolist()):
        largest = max(largest, min(1.0, (len(chances) - rank) * chances[k]))
        adjusted[k] = largest
    return adjusted


def _placed(sketch: Histogram, place: np.ndarray, n_cells: int) -> np.ndarray:
    return np.bincount(place, sketch.counts.known().sum(axis=1), n_cells)


def _missing(counts: Counts) -> float:
    return float(counts.cells.rounded()[0].sum())


def _few(pair: DistributionPair) -> np.ndarray:
    """Neighbouring numbers together, so that both tables have about equally many rows in each cell: [2, n_cells]."""
    total = pair.before + pair.now
    if not total.sum():
        return np.zeros((2, 0))
    reached = (np.cumsum(total) - total / 2) / total.sum()
    place = np.minimum((reached * MOST_CELLS).astype(int), MOST_CELLS - 1)
    return np.stack([np.bincount(place, side, MOST_CELLS) for side in (pair.before, pair.now)])


def _pooled(table: np.ndarray) -> np.ndarray:
    """The table with rare cells in one, so that every cell has some rows to be expected in both."""
    total = table.sum(axis=0)
    share = table.sum(axis=1).min() / max(table.sum(), 1.0)
    is_rare = total * share < LEAST_EXPECTED
    rare = table[:, is_rare].sum(axis=1, keepdims=True)
    kept = table[:, ~is_rare]
    if not rare.sum():
        return kept
    if rare.sum() * share >= LEAST_EXPECTED or not kept.shape[1]:
        return np.concatenate([kept, rare], axis=1)
    least = int(np.argmin(kept.sum(axis=0)))
    kept[:, least] += rare[:, 0]
    return kept
