"""Levels of a column at a node while CHAID merges them: candidates, groups, re-splitting, and the result.

Also the reduction of very many levels to runs of similar outcome, and the ordering of levels by outcome.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import combinations
from math import inf, log

import msgspec
import numpy as np


class MergeRules(msgspec.Struct, frozen=True, kw_only=True):
    """When levels merge and when groups are split again."""

    test: str = "pearson"
    alpha_merge: float = 0.05
    alpha_resplit: float | None = None
    exhaustive: bool | str = False
    min_leaf: float = 7
    min_prob: float = 0.01


class LevelCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """Levels of a column at a node, before merging."""

    statistics: np.ndarray  # [n_levels, n_statistics] of the levels that occur, in order
    weight: np.ndarray  # [n_levels]
    is_ordered: bool  # only adjacent levels may merge
    # [n_statistics] of the rows with a missing value, if these may join any group ("floating")
    floating: np.ndarray | None = None
    floating_weight: float = 0.0
    is_mean: bool = False  # the statistics are weight, Σ y, Σ y² instead of class weights


class Grouping(msgspec.Struct, frozen=True, kw_only=True):
    """Levels of a column after merging, and their significance."""

    group_of: np.ndarray  # int32 [n_levels]; groups in the order of their first levels
    floating: int  # group of the missing values, −1 if there are none
    n_groups: int
    log_p: float


def min_group_weight(weight: float, rules: MergeRules) -> float:
    """Weight below which a group must be merged: a proportion of the node's weight, or `min_leaf` if that is less."""
    return min(np.ceil(rules.min_prob * weight * (1 - 1e-12)), rules.min_leaf)


def totals(candidate: LevelCandidate, group_of: np.ndarray, floating: int) -> np.ndarray:
    """Statistics of each group, [n_groups, n_statistics]; missing values count in group `floating` unless that is −1."""
    n_groups = int(max(group_of.max(initial=-1), floating)) + 1
    totals = np.zeros((n_groups, candidate.statistics.shape[1]))
    np.add.at(totals, group_of, candidate.statistics)
    if floating >= 0:
        totals[floating] += candidate.floating
    return totals


TIE_TOLERANCE = 1e-11  # relative difference of log p within which two tests tie; above rounding error of the tests

MAX_BIPARTITION_LEVELS = (
    10  # levels of a group whose 2^(n−1) bipartitions are all tried; of more levels only ordered ones are
)


class Groups:
    """Groups of levels during merging. A group is stored at the index of its first level; −inf marks pairs that cannot
    merge.
    """

    def __init__(self, statistics: np.ndarray, weight: np.ndarray, is_ordered: bool) -> None:
        self.statistics, self.weight = statistics.copy(), weight.copy()
        self.is_ordered = is_ordered
        self.members = [[k] for k in range(len(weight))]
        self.alive = np.ones(len(weight), bool)
        self.log_p = np.full((len(weight), len(weight)), -inf)

    def __len__(self) -> int:
        return int(np.count_nonzero(self.alive))

    def partners(self, k: int) -> np.ndarray:
        """Groups that may merge with group k."""
        others = np.flatnonzero(self.alive)
        position = int(np.searchsorted(others, k))
        return (
            others[[i for i in (position - 1, position + 1) if 0 <= i < len(others)]]
            if self.is_ordered
            else np.delete(others, position)
        )

    def measure(self, left: np.ndarray, right: np.ndarray) -> Generator[np.ndarray, np.ndarray, None]:
        """Test these pairs of groups."""
        low, high = np.minimum(left, right), np.maximum(left, right)
        if len(low):
            self.log_p[low, high] = yield np.stack([self.statistics[low], self.statistics[high]], axis=1)

    def closest(self) -> tuple[int, int]:
        """The pair that differs least, the first of several; differences within rounding error count as ties."""
        largest = self.log_p.max()
        return divmod(int(np.argmax(self.log_p >= largest + TIE_TOLERANCE * largest)), len(self.alive))

    def join(self, k: int, other: int) -> Generator[np.ndarray, np.ndarray, None]:
        """Merge the second group into the first."""
        self.statistics[k] += self.statistics[other]
        self.weight[k] += self.weight[other]
        self.members[k] = sorted(self.members[k] + self.members[other])
        self._forget(other)
        partners = self.partners(k)
        yield from self.measure(np.full(len(partners), k), partners)

    def split(self, k: int, members: list[int], candidate: LevelCandidate) -> Generator[np.ndarray, np.ndarray, None]:
        """Split a group in two: these levels, and the others."""
        sides = members, [level for level in self.members[k] if level not in set(members)]
        for side in sides:
            self.members[side[0]], self.alive[side[0]] = side, True
            self.statistics[side[0]] = candidate.statistics[side].sum(axis=0)
            self.weight[side[0]] = candidate.weight[side].sum()
        for side in sides:
            self.log_p[side[0], :] = self.log_p[:, side[0]] = -inf
        for side in sides:
            partners = self.partners(side[0])
            yield from self.measure(np.full(len(partners), side[0]), partners)

    def group_of(self) -> np.ndarray:
        """Group of each level, int32 [n_levels]."""
        group_of = np.zeros(len(self.alive), np.int32)
        for group, k in enumerate(np.flatnonzero(self.alive)):
            group_of[self.members[k]] = group
        return group_of

    def _forget(self, k: int) -> None:
        self.alive[k] = False
        self.log_p[k, :] = self.log_p[:, k] = -inf


def resplit_group(
    groups: Groups, k: int, candidate: LevelCandidate, alpha: float, min_weight: float
) -> Generator[np.ndarray, np.ndarray, None]:
    """Split a merged group if two parts of it differ significantly (step 3 of Kass 1980)."""
    parts = [
        part
        for part in _bipartitions(groups.members[k], candidate)
        if min_weight <= candidate.weight[part].sum() <= groups.weight[k] - min_weight
    ]
    if not parts:
        return
    sides = np.array([candidate.statistics[part].sum(axis=0) for part in parts])
    log_p = yield np.stack([sides, groups.statistics[k] - sides], axis=1)
    first = int(np.argmin(log_p))
    if log_p[first] <= log(alpha):
        yield from groups.split(k, parts[first], candidate)


def _bipartitions(members: list[int], candidate: LevelCandidate) -> list[list[int]]:
    """Bipartitions of levels: by order, or all if there are few; each part contains the first level."""
    if not candidate.is_ordered and len(members) <= MAX_BIPARTITION_LEVELS:
        others = members[1:]
        return [
            [members[0], *members_beside_first]
            for size in range(len(others))
            for members_beside_first in combinations(others, size)
        ]
    order = members
    if not candidate.is_ordered:
        order = [members[i] for i in by_outcome(candidate.statistics[members], candidate.is_mean)]
    cuts = [sorted(order[:cut]) for cut in range(1, len(order))]
    return [part if members[0] in part else [m for m in members if m not in set(part)] for part in cuts]


# levels of a column at a node; more are first combined into so many runs of similar outcome, because merging takes the cube
# of the number of levels (docs/decisions/0011)
MAX_LEVELS = 400


def assign_runs(candidate: LevelCandidate) -> np.ndarray:
    """Run of each level, int32 [n_levels]: its own, or, for very many levels, runs of similar outcome and weight."""
    n = len(candidate.weight)
    if n <= MAX_LEVELS:
        return np.arange(n, dtype=np.int32)
    order = np.arange(n) if candidate.is_ordered else by_outcome(candidate.statistics, candidate.is_mean)
    midpoint = np.cumsum(candidate.weight[order]) - candidate.weight[order] / 2
    run_of = np.empty(n, np.int32)
    run_of[order] = np.minimum(midpoint / midpoint[-1] * MAX_LEVELS, MAX_LEVELS - 1).astype(np.int32)
    return renumber_groups(run_of)


def combine_runs(candidate: LevelCandidate, run_of: np.ndarray) -> LevelCandidate:
    """Candidate whose levels are the runs."""
    statistics = np.zeros((int(run_of.max()) + 1, candidate.statistics.shape[1]))
    np.add.at(statistics, run_of, candidate.statistics)
    return msgspec.structs.replace(candidate, statistics=statistics, weight=np.bincount(run_of, candidate.weight))


def is_one_dimensional(n_statistics: int, is_mean: bool) -> bool:
    """Whether outcomes are one-dimensional: means, or proportions of two classes."""
    return is_mean or n_statistics == 2


def by_outcome(statistics: np.ndarray, is_mean: bool) -> np.ndarray:
    """Order of levels by mean, or along the first principal component of their class proportions."""
    if is_mean:
        return np.argsort(statistics[:, 1] / statistics[:, 0], kind="stable")
    proportion = statistics / statistics.sum(axis=1, keepdims=True)
    score = (
        proportion[:, 1] if is_one_dimensional(proportion.shape[1], is_mean) else proportion @ _first_component(proportion)
    )
    return np.argsort(np.round(score, 12), kind="stable")


def _first_component(proportion: np.ndarray) -> np.ndarray:
    """First principal component; its largest entry (the last of equals) is positive, since rounding decides the sign
    otherwise.
    """
    centred = proportion - proportion.mean(axis=0)
    direction = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    size = np.abs(direction)
    return direction * np.sign(direction[np.flatnonzero(size > size.max() - 1e-6)[-1]])


def renumber_groups(group_of: np.ndarray) -> np.ndarray:
    """Renumber groups in the order of their first levels."""
    n = len(group_of)
    first = np.full(int(group_of.max(initial=-1)) + 1, n)
    first[group_of[::-1]] = np.arange(n)[::-1]  # on repeated assignment the last one wins
    new_id = np.empty(len(first), np.int32)
    new_id[np.argsort(first, kind="stable")] = np.arange(len(first))
    return new_id[group_of]
