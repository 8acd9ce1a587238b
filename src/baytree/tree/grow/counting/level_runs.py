"""Very many levels in fewer runs, and groups in the order of their levels."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.tree.grow.counting.candidate import Candidate

MOST_LEVELS = 400  # beyond, levels are first put into so many runs of similar outcome


def runs(candidate: Candidate) -> np.ndarray:
    """int32 [n_levels]: each level its own run, or, where levels are very many, runs of similar outcome and weight."""
    n = len(candidate.weight)
    if n <= MOST_LEVELS:
        return np.arange(n, dtype=np.int32)
    order = np.arange(n) if candidate.is_ordered else by_outcome(candidate.statistics, candidate.is_mean)
    reached = np.cumsum(candidate.weight[order]) - candidate.weight[order] / 2
    run_of = np.empty(n, np.int32)
    run_of[order] = np.minimum(reached / reached[-1] * MOST_LEVELS, MOST_LEVELS - 1).astype(np.int32)
    return in_order(run_of)


def reduced(candidate: Candidate, run_of: np.ndarray) -> Candidate:
    """The candidate whose levels are runs."""
    statistics = np.zeros((int(run_of.max()) + 1, candidate.statistics.shape[1]))
    np.add.at(statistics, run_of, candidate.statistics)
    return msgspec.structs.replace(candidate, statistics=statistics, weight=np.bincount(run_of, candidate.weight))


def is_line(n_statistics: int, is_mean: bool) -> bool:
    """Whether outcomes are numbers: means, or shares of two classes."""
    return is_mean or n_statistics == 2


def by_outcome(statistics: np.ndarray, is_mean: bool) -> np.ndarray:
    """Levels in the order of their means, or along the direction in which their shares of classes differ most."""
    if is_mean:
        return np.argsort(statistics[:, 1] / statistics[:, 0], kind="stable")
    share = statistics / statistics.sum(axis=1, keepdims=True)
    along = share[:, 1] if is_line(share.shape[1], is_mean) else share @ _widest_direction(share)
    return np.argsort(np.round(along, 12), kind="stable")


def _widest_direction(share: np.ndarray) -> np.ndarray:
    """The direction in which rows differ most. Its largest part (the last of equals) is positive: rounding gave the sign."""
    centred = share - share.mean(axis=0)
    direction = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    size = np.abs(direction)
    return direction * np.sign(direction[np.flatnonzero(size > size.max() - 1e-6)[-1]])


def in_order(group_of: np.ndarray) -> np.ndarray:
    """The same groups, numbered in the order of their first levels."""
    n = len(group_of)
    first = np.full(int(group_of.max(initial=-1)) + 1, n)
    first[group_of[::-1]] = np.arange(n)[::-1]  # of several assignments the last one stays
    place = np.empty(len(first), np.int32)
    place[np.argsort(first, kind="stable")] = np.arange(len(first))
    return place[group_of]
