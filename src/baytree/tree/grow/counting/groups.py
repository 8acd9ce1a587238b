"""The groups of a column's levels while they merge, and part again."""

from __future__ import annotations

from collections.abc import Generator
from itertools import combinations
from math import inf, log

import numpy as np

from baytree.tree.grow.counting.candidate import Candidate
from baytree.tree.grow.counting.level_runs import by_outcome

TIE = 1e-11  # log p closer than this, relatively, are equal
TRIED_PARTS = 10  # re-splitting tries every way to part up to so many levels, and ordered cuts beyond


class Groups:
    """The groups as they merge. A group lives in the place of its first level; −inf marks pairs that cannot merge."""

    def __init__(self, statistics: np.ndarray, weight: np.ndarray, is_ordered: bool) -> None:
        self.statistics, self.weight = statistics.copy(), weight.copy()
        self.is_ordered = is_ordered
        self.members = [[k] for k in range(len(weight))]
        self.alive = np.ones(len(weight), bool)
        self.log_p = np.full((len(weight), len(weight)), -inf)

    def __len__(self) -> int:
        return int(np.count_nonzero(self.alive))

    def partners(self, k: int) -> np.ndarray:
        """The groups that may merge with group k."""
        others = np.flatnonzero(self.alive)
        at = int(np.searchsorted(others, k))
        return others[[i for i in (at - 1, at + 1) if 0 <= i < len(others)]] if self.is_ordered else np.delete(others, at)

    def measure(self, left: np.ndarray, right: np.ndarray) -> Generator[np.ndarray, np.ndarray, None]:
        """Tests these pairs."""
        low, high = np.minimum(left, right), np.maximum(left, right)
        if len(low):
            self.log_p[low, high] = yield np.stack([self.statistics[low], self.statistics[high]], axis=1)

    def closest(self) -> tuple[int, int]:
        """The pair that differs least, the first of several; what rounding can feign is no difference."""
        most = self.log_p.max()
        return divmod(int(np.argmax(self.log_p >= most + TIE * most)), len(self.alive))

    def join(self, k: int, other: int) -> Generator[np.ndarray, np.ndarray, None]:
        """Merges the second group into the first."""
        self.statistics[k] += self.statistics[other]
        self.weight[k] += self.weight[other]
        self.members[k] = sorted(self.members[k] + self.members[other])
        self._forget(other)
        partners = self.partners(k)
        yield from self.measure(np.full(len(partners), k), partners)

    def part(self, k: int, taken: list[int], candidate: Candidate) -> Generator[np.ndarray, np.ndarray, None]:
        """Splits a group in two: these levels, and the others."""
        sides = taken, [level for level in self.members[k] if level not in set(taken)]
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
        """int32 [n_levels]: the group of each level."""
        group_of = np.zeros(len(self.alive), np.int32)
        for group, k in enumerate(np.flatnonzero(self.alive)):
            group_of[self.members[k]] = group
        return group_of

    def _forget(self, k: int) -> None:
        self.alive[k] = False
        self.log_p[k, :] = self.log_p[:, k] = -inf


def part_again(
    groups: Groups, k: int, candidate: Candidate, alpha: float, least: float
) -> Generator[np.ndarray, np.ndarray, None]:
    """Splits a merged group where two parts of it differ significantly (Kass' step 3)."""
    parts = [
        part
        for part in _parts(groups.members[k], candidate)
        if least <= candidate.weight[part].sum() <= groups.weight[k] - least
    ]
    if not parts:
        return
    sides = np.array([candidate.statistics[part].sum(axis=0) for part in parts])
    log_p = yield np.stack([sides, groups.statistics[k] - sides], axis=1)
    first = int(np.argmin(log_p))
    if log_p[first] <= log(alpha):
        yield from groups.part(k, parts[first], candidate)


def _parts(members: list[int], candidate: Candidate) -> list[list[int]]:
    """The ways to part levels in two: cuts of their order, or every way while they are few; the first level comes along."""
    if not candidate.is_ordered and len(members) <= TRIED_PARTS:
        rest = members[1:]
        return [[members[0], *chosen] for size in range(len(rest)) for chosen in combinations(rest, size)]
    order = members
    if not candidate.is_ordered:
        order = [members[i] for i in by_outcome(candidate.statistics[members], candidate.is_mean)]
    cuts = [sorted(order[:cut]) for cut in range(1, len(order))]
    return [part if members[0] in part else [m for m in members if m not in set(part)] for part in cuts]
