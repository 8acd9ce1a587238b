"""Search for pairs of columns whose joint effect is not the sum of their curves.

Each pair is a coarse grid. On one half of the rows, chosen by their contents, each cell gets a Newton step of the residuals;
the other half says what these steps gain, and vice versa. A pair is admitted if it gains, and if the gain is unlikely for a
pair without an effect; the more pairs are searched, the more unlikely it must be.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from baytree.additive.axis import Axis, coarse_axis
from baytree.additive.design import GroupedRows, coarsened

SEARCH_BINS = 8  # of known values along each side of the grids that are searched

_PRIOR_INFORMATION = 10.0  # added to the information of a cell; shrinks the steps of cells with few rows


class Working(NamedTuple):
    """Residuals and weights of one score at the fitted curves."""

    gradient: np.ndarray  # [n_groups]
    weight: np.ndarray  # [n_groups]


def find_pairs(
    rows: GroupedRows, working: Sequence[Working], max_pairs: int, without: frozenset[int] = frozenset()
) -> list[tuple[int, int]]:
    """Pairs of axes that are admitted, the largest gain first; axes in `without` take part in no pair."""
    usable = [k for k in range(len(rows.axes)) if k not in without]
    candidates = list(combinations(usable, 2))
    if not candidates or max_pairs < 1:
        return []
    coarse = {k: _codes(rows, k) for k in usable}
    limit = float(np.sqrt(np.log(len(candidates) + 1)))
    half = (rows.content >> np.uint64(40)).astype(np.int64) & 1
    gains = [(_gain(coarse[j], coarse[k], half, working, limit), j, k) for j, k in candidates]
    admitted = sorted((each for each in gains if each[0] > 0), key=lambda each: (-each[0], each[1:]))
    return [(j, k) for _, j, k in admitted[:max_pairs]]


def pair_axis(rows: GroupedRows, k: int, n_bins: int) -> Axis:
    """Axis of a surface, with at most `n_bins` bins of known values."""
    axis = rows.axes[k]
    return coarse_axis(axis, np.bincount(rows.bins[k], rows.weight, axis.n_bins), n_bins)


def _codes(rows: GroupedRows, k: int) -> tuple[np.ndarray, int]:
    """Coarse bin of each group, and the number of bins."""
    axis = pair_axis(rows, k, SEARCH_BINS)
    return coarsened(rows.axes[k], rows.bins[k], axis), axis.n_bins


def _gain(
    first: tuple[np.ndarray, int], second: tuple[np.ndarray, int], half: np.ndarray, working: Sequence[Working], limit: float
) -> float:
    """Gain of log-likelihood of a pair on rows that did not choose its values; 0 if it may be chance."""
    n_cells = first[1] * second[1]
    cell = (half * first[1] + first[0]) * second[1] + second[0]
    gain = variance = 0.0
    for score in working:
        gradient = np.bincount(cell, score.gradient, 2 * n_cells).reshape(2, -1)
        weight = np.bincount(cell, score.weight, 2 * n_cells).reshape(2, -1)
        step = gradient / (weight + _PRIOR_INFORMATION)
        for own, other in ((0, 1), (1, 0)):
            spread = float(weight[other] @ step[own] ** 2)
            gain += float(gradient[other] @ step[own]) - spread / 2
            variance += spread
    is_significant = gain > 0 and gain + variance / 2 > limit * np.sqrt(variance)
    return gain if is_significant else 0.0
