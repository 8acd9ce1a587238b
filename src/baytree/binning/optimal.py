"""Optimal partition of ordered cells into at most a number of bins, by dynamic programming.

The objective is a sum over bins. Without a constraint the state is the end of the last bin; with one it is the last bin,
because the next bin is compared with its rate. The result is exact: it equals the best of all partitions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SHAPES = ("up", "down", "peak", "valley")

_TIE = 1e-12  # relative difference of objectives below which fewer bins are taken


class Partition(NamedTuple):
    """Boundaries 0 = b₀ < b₁ < … < n of the bins, and the objective."""

    bounds: tuple[int, ...]
    objective: float


class Intervals(NamedTuple):
    """Gain, rate and validity of each possible bin: cells i … j − 1. [n + 1, n + 1]"""

    gain: np.ndarray  # −inf where the bin is not allowed
    rate: np.ndarray

    @classmethod
    def of(cls, gain: np.ndarray, rate: np.ndarray, weight: np.ndarray, min_weight: float) -> Intervals:
        """Bins with i < j and at least this weight; all cells together are always allowed."""
        n = len(gain) - 1
        start, end = np.arange(n + 1)[:, None], np.arange(n + 1)
        is_allowed = (start < end) & (weight >= min_weight * (1 - 1e-12))
        is_allowed[0, n] = True
        return cls(np.where(is_allowed, gain, -np.inf), rate)


def optimal_partition(
    intervals: Intervals, max_bins: int, shape: str | None = None, neighbours: Neighbours | None = None
) -> Partition:
    """Partition of largest objective into at most `max_bins` bins; the fewest bins of those that are equally good.

    `shape` constrains the rates of neighbouring bins: "up" and "down" (never falling, never rising), "peak" and "valley"
    (up, then down; down, then up), or None. `neighbours` may be shared by several shapes.
    """
    if shape is None:
        return _best(_unconstrained(intervals, max_bins))
    sign = 1.0 if shape in ("up", "peak") else -1.0
    signed = Intervals(intervals.gain, sign * intervals.rate)
    known = neighbours_of(intervals) if neighbours is None else neighbours
    rising, falling = known if sign > 0 else known[::-1]
    return _best(_constrained(signed, max_bins, rising, falling if shape in ("peak", "valley") else None))


def _best(candidates: list[Partition]) -> Partition:
    """The fewest bins among the best partitions of each number of bins, which are in ascending order."""
    best = candidates[0]
    for each in candidates[1:]:
        if each.objective > best.objective + _TIE * max(abs(best.objective), abs(each.objective)):
            best = each
    return best


def _unconstrained(intervals: Intervals, max_bins: int) -> list[Partition]:
    gain, n = intervals.gain, len(intervals.gain) - 1
    value, before = gain[0], []  # value[j]: best objective of the cells before j
    found = [Partition((0, n), float(value[n]))]
    for _ in range(1, min(max_bins, n)):
        total = value[:, None] + gain
        before.append(np.argmax(total, axis=0))
        value = total[before[-1], np.arange(n + 1)]
        if value[n] == -np.inf:
            break
        bounds = [n]
        for previous in reversed(before):
            bounds.append(int(previous[bounds[-1]]))
        found.append(Partition((0, *reversed(bounds)), float(value[n])))
    return found


def _constrained(intervals: Intervals, max_bins: int, rising: _Successors, falling: _Successors | None) -> list[Partition]:
    """Best partitions whose rates never fall, or, with `falling`, that turn once and never rise afterwards."""
    n = len(intervals.gain) - 1
    start = np.full_like(intervals.gain, -np.inf)
    start[0] = intervals.gain[0]
    up, down = [start], [np.full_like(start, -np.inf)]  # by number of bins; value[i, j]: the last bin is cells i … j − 1
    found = [Partition((0, n), float(start[0, n]))]
    for k in range(1, min(max_bins, n)):
        up.append(intervals.gain + rising.best_before(up[-1]))
        turned = falling.best_before(np.maximum(up[k - 1], down[-1])) if falling is not None else None
        down.append(down[0] if turned is None else intervals.gain + turned)
        objective = max(float(up[k][:, n].max()), float(down[k][:, n].max()))
        if objective > -np.inf:
            found.append(Partition(_traced(intervals.rate, up, down, k), objective))
    return found


class _Successors:
    """For each bin (i, j), the best value of a bin (h, i) before it whose rate is at most its own."""

    def __init__(self, rate: np.ndarray):
        n = len(rate) - 1
        is_bin = np.arange(n + 1)[:, None] < np.arange(n + 1)
        own = np.where(is_bin, rate, np.inf)  # column i: rates of the bins (h, i)
        order = np.argsort(own, axis=0, kind="stable")
        ascending = np.take_along_axis(own, order, axis=0)
        count = np.stack([np.searchsorted(ascending[:, i], rate[i], side="right") for i in range(n + 1)])  # [i, j]
        # positions in flat arrays: numpy gathers them several times faster than along an axis
        self.order = order * (n + 1) + np.arange(n + 1)
        self.last = count * (n + 1) + np.arange(n + 1)[:, None]

    def best_before(self, value: np.ndarray) -> np.ndarray:
        """max over h of value[h, i] with rate[h, i] ≤ rate[i, j]. [i, j]"""
        padded = np.full((len(value) + 1, len(value)), -np.inf)
        np.maximum.accumulate(value.take(self.order), axis=0, out=padded[1:])
        return padded.take(self.last)


class Neighbours(NamedTuple):
    """Which bins may come before a bin if the rates never fall, and if they never rise."""

    rising: _Successors
    falling: _Successors


def neighbours_of(intervals: Intervals) -> Neighbours:
    """Neighbours of all bins."""
    return Neighbours(_Successors(intervals.rate), _Successors(-intervals.rate))


def _traced(rate: np.ndarray, up: list[np.ndarray], down: list[np.ndarray], k: int) -> tuple[int, ...]:
    """Boundaries of the best partition into k + 1 bins."""
    j = len(rate) - 1
    is_down = bool(down[k][:, j].max() > up[k][:, j].max())
    i = int(np.argmax((down if is_down else up)[k][:, j]))
    bounds = [j, i]
    while i > 0:
        k -= 1
        own, before = rate[i, bounds[-2]], rate[:, i]
        if is_down:
            value = np.where(before >= own, np.maximum(up[k][:, i], down[k][:, i]), -np.inf)
            h = int(np.argmax(value))
            is_down = bool(down[k][h, i] > up[k][h, i])
        else:
            h = int(np.argmax(np.where(before <= own, up[k][:, i], -np.inf)))
        i = h
        bounds.append(i)
    return tuple(reversed(bounds))
