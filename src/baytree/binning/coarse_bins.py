"""Coarse bins of a column: which partition of its fine bins is best under the user's limits."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import numpy as np

from baytree.binning.fine_bins import FineBins
from baytree.binning.objective import OBJECTIVE_OF, rates
from baytree.binning.optimal import SHAPES, Intervals, Partition, neighbours_of, optimal_partition
from baytree.data.schema.column import Kind

MONOTONE = (None, "auto", *SHAPES)

_WORTH_A_TURN = 1.1  # objective of a peak or valley relative to up or down, above which "auto" takes it


class BinningOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Checked settings of a binning."""

    max_bins: int = 6
    min_bin: float = 0.05  # proportion of all rows
    monotone: str | None = "auto"
    objective: str = "information_value"
    rare: float = 0.01  # proportion of all rows below which nominal levels are pooled


class CoarseBins(msgspec.Struct, frozen=True):
    """Bins as sets of cells of the fine bins, in order; special values and missing are bins of their own, if they occur."""

    cells: tuple[tuple[int, ...], ...]
    shape: str | None = None  # of the rates, if there was a constraint


def coarse_bins(fine: FineBins, options: BinningOptions) -> CoarseBins:
    """Bins with the best objective."""
    groups = _ordered_groups(fine, options)
    apart = [(cell,) for cell in range(fine.n_ordered, len(fine.sums)) if fine.weight[cell] > 0]
    if not groups:
        return CoarseBins(tuple(apart))
    best, shape = _best_shape(_intervals(fine, groups, options), fine, options)
    merged = [tuple(cell for group in groups[a:b] for cell in group) for a, b in pairwise(best.bounds)]
    return CoarseBins((*merged, *apart), shape)


def _best_shape(intervals: Intervals, fine: FineBins, options: BinningOptions) -> tuple[Partition, str | None]:
    """Best partition under the constraint, and its shape; "auto" chooses the shape."""
    given = None if fine.column.kind is Kind.NOMINAL or not _has_rate(fine) else options.monotone
    if given != "auto":
        return optimal_partition(intervals, options.max_bins, given), given
    neighbours = neighbours_of(intervals)
    found = {shape: optimal_partition(intervals, options.max_bins, shape, neighbours) for shape in SHAPES}
    straight = max(("up", "down"), key=lambda shape: found[shape].objective)
    turned = max(("peak", "valley"), key=lambda shape: found[shape].objective)
    is_worth = found[turned].objective > _WORTH_A_TURN * max(found[straight].objective, 0.0)
    chosen = turned if is_worth and len(found[turned].bounds) > 3 else straight
    return found[chosen], chosen


def _has_rate(fine: FineBins) -> bool:
    return fine.is_number or fine.sums.shape[1] == 2


def _ordered_groups(fine: FineBins, options: BinningOptions) -> list[tuple[int, ...]]:
    """Cells that the partition may separate: intervals in their order; levels by rate, the rare ones together."""
    present = np.flatnonzero(fine.weight[: fine.n_ordered] > 0)
    if fine.column.kind is not Kind.NOMINAL:
        return _with_empty(present.tolist(), fine.n_ordered)
    is_rare = fine.weight[present] < options.rare * fine.weight.sum()
    groups = [(int(cell),) for cell in present[~is_rare]]
    if is_rare.any():
        groups.append(tuple(present[is_rare].tolist()))
    sums = np.array([fine.sums[list(group)].sum(axis=0) for group in groups]).reshape(len(groups), -1)
    return [groups[k] for k in np.argsort(_scores(sums, fine), kind="stable")]


def _with_empty(present: list[int], n: int) -> list[tuple[int, ...]]:
    """Each present cell, with the empty cells above it: every interval belongs to a bin."""
    if not present:
        return []
    starts = [0, *present[1:], n]
    return [tuple(range(a, b)) for a, b in pairwise(starts)]


def _scores(sums: np.ndarray, fine: FineBins) -> np.ndarray:
    """Order of levels: by rate, or for three and more classes along the first principal component of their proportions."""
    if _has_rate(fine) or len(sums) < 2:
        return rates(sums, is_number=fine.is_number)
    weight = sums.sum(axis=1, keepdims=True)
    centred = sums / weight - sums.sum(axis=0) / sums.sum()
    vector = np.linalg.eigh((centred * weight).T @ centred)[1][:, -1]
    return centred @ (vector * np.sign(vector[np.argmax(np.abs(vector))]))


def _intervals(fine: FineBins, groups: list[tuple[int, ...]], options: BinningOptions) -> Intervals:
    sums = np.array([fine.sums[list(group)].sum(axis=0) for group in groups])
    cumulative = np.concatenate([np.zeros((1, sums.shape[1])), np.cumsum(sums, axis=0)])
    of_bin = np.maximum(cumulative[None] - cumulative[:, None], 0.0) if not fine.is_number else _differences(cumulative)
    weight = of_bin[..., 0] if fine.is_number else of_bin.sum(axis=-1)
    gain = OBJECTIVE_OF[options.objective](of_bin, fine.sums.sum(axis=0))
    return Intervals.of(gain, rates(of_bin, is_number=fine.is_number), weight, options.min_bin * float(fine.weight.sum()))


def _differences(cumulative: np.ndarray) -> np.ndarray:
    return cumulative[None] - cumulative[:, None]
