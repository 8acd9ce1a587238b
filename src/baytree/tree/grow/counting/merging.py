"""CHAID's merging: the levels of a column become groups, by joining again and again the two that differ least.

Kass (1980). The core merges by the tests that it knows; what else there is (re-splitting, ordered classes) happens here.
Each merge is a generator: it yields statistics [n_tables, n_groups, n_statistics] that it wants tested and is
sent their log p, so that the merges of many columns and nodes advance side by side and share each call of the test.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import combinations
from math import exp, inf, log

import msgspec
import numpy as np

from baytree import _core
from baytree.tree.grow.counting.association import KERNELS, test_groups
from baytree.tree.grow.counting.multipliers import log_binomial, log_stirling

MOST_LEVELS = 400  # beyond, levels are first put into so many runs of similar outcome
TIE = 1e-11  # log p closer than this, relatively, are equal
TRIED_PARTS = 10  # re-splitting tries every way to part up to so many levels, and ordered cuts beyond


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """When levels merge and groups part again."""

    test: str = "pearson"
    alpha_merge: float = 0.05
    alpha_resplit: float | None = None
    exhaustive: bool | str = False
    min_leaf: float = 7
    min_prob: float = 0.01


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A column's levels at a node, before merging."""

    statistics: np.ndarray  # [n_levels, n_statistics] of the levels that occur, in order
    weight: np.ndarray  # [n_levels]
    is_ordered: bool  # only neighbours may merge
    floating: np.ndarray | None = None  # [n_statistics] of the rows without a value, where these join any group
    floating_weight: float = 0.0
    is_mean: bool = False  # the statistics are weight, Σ y, Σ y² and not weights per class


class Grouping(msgspec.Struct, frozen=True, kw_only=True):
    """A column's levels after merging, and how significant they are."""

    group_of: np.ndarray  # int32 [n_levels]; groups in the order of their first levels
    floating: int  # the group of the rows without a value, −1 where there are none
    n_groups: int
    log_p: float
    log_multiplier: float

    @property
    def adjusted(self) -> float:
        """log of p times the number of ways to form the groups, not cut at 1; p = 1 stays 1."""
        return self.log_p + self.log_multiplier if self.log_p < 0 else 0.0


Merge = Generator[np.ndarray, np.ndarray, Grouping]


def merge(candidate: Candidate, rules: Rules) -> Merge:
    """Groups of a column's levels, by the rules."""
    group_of = yield from _merge_known(candidate, rules)
    floating = -1
    if candidate.floating is not None:
        floating = yield from _place_floating(candidate, candidate.floating, group_of, rules)
    n_groups = int(max(group_of.max(initial=-1), floating)) + 1
    log_p = yield from _whole(_totals(candidate, group_of, floating))
    return Grouping(
        group_of=group_of,
        floating=floating,
        n_groups=n_groups,
        log_p=log_p,
        log_multiplier=log_multiplier(candidate, n_groups, rules.exhaustive),
    )


def settle(merges: Sequence[Merge], test: str) -> list[Grouping]:
    """The results of merges that advance side by side."""
    results: dict[int, Grouping] = {}
    waiting = {k: next(each) for k, each in enumerate(merges)}
    while waiting:
        answers = _answer(waiting, test)
        waiting = {}
        for k, answer in answers.items():
            try:
                waiting[k] = merges[k].send(answer)
            except StopIteration as done:
                results[k] = done.value
    return [results[k] for k in range(len(merges))]


def log_multiplier(candidate: Candidate, n_groups: int, exhaustive: bool | str) -> float:
    """log of Bonferroni's factor: in how many ways the levels that occur could have formed so many groups."""
    n = len(candidate.weight) + (candidate.floating is not None)
    if n < 2 or n_groups < 1:
        return 0.0
    if exhaustive:
        pairs = n * (n - 1) / 2
        return log(pairs if candidate.is_ordered else pairs * (n + 1) / (1 if exhaustive == "ibm" else 3))
    if not candidate.is_ordered:
        return log_stirling(n, n_groups)
    if candidate.floating is None:
        return log_binomial(n - 1, n_groups - 1)
    alone = log_binomial(n - 2, n_groups - 2)
    joined = log(n_groups) + log_binomial(n - 2, n_groups - 1)
    return float(np.logaddexp(alone, joined))


def smallest_adjusted(n_levels: int, n_classes: int, weight: float) -> float:
    """The smallest adjusted p that unordered levels can reach by Pearson's test.

    With r groups and r or more classes χ² is at most n (r − 1); more groups than classes reach no larger one.
    """
    least = 1.0
    for n_groups in range(2, min(n_levels, n_classes) + 1):
        freedom = (n_groups - 1) * (n_classes - 1)
        log_p = float(_core.chi2_log_tail(np.array([weight * (n_groups - 1)]), np.array([float(freedom)]))[0])
        least = min(least, exp(min(0.0, log_p + log_stirling(n_levels, n_groups))))
    return least


def least_size(weight: float, rules: Rules) -> float:
    """The weight below which a group must merge: a share of the node's, or `min_leaf` if that is less."""
    return min(np.ceil(rules.min_prob * weight * (1 - 1e-12)), rules.min_leaf)


# --- one column ---------------------------------------------------------------------------------------------------------


class _Groups:
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


def _merge_known(candidate: Candidate, rules: Rules) -> Generator[np.ndarray, np.ndarray, np.ndarray]:
    """The groups of the levels that are known; very many levels are first put into runs."""
    run_of = _runs(candidate)
    n_runs = int(run_of.max(initial=-1)) + 1
    if n_runs < 2:
        return run_of
    reduced = candidate if n_runs == len(run_of) else _reduced(candidate, run_of)
    if rules.test in KERNELS and rules.alpha_resplit is None:
        return _in_order(_merge_in_core(reduced, rules)[run_of])
    groups = _Groups(reduced.statistics, reduced.weight, reduced.is_ordered)
    left, right = (np.arange(n_runs - 1), np.arange(1, n_runs)) if reduced.is_ordered else np.triu_indices(n_runs, 1)
    yield from groups.measure(left, right)
    step = _merge_exhaustively if rules.exhaustive else _merge_similar
    group_of = yield from step(groups, reduced, rules)
    return _in_order(group_of[run_of])


def _merge_in_core(candidate: Candidate, rules: Rules) -> np.ndarray:
    least = least_size(candidate.weight.sum() + candidate.floating_weight, rules)
    return _core.merge_levels(
        np.ascontiguousarray(candidate.statistics),
        np.ascontiguousarray(candidate.weight),
        rules.test,
        candidate.is_ordered,
        bool(rules.exhaustive),
        log(rules.alpha_merge) if rules.alpha_merge > 0 else -inf,
        least,
    )


def _merge_similar(groups: _Groups, candidate: Candidate, rules: Rules) -> Generator[np.ndarray, np.ndarray, np.ndarray]:
    least = least_size(candidate.weight.sum() + candidate.floating_weight, rules)
    threshold = log(rules.alpha_merge) if rules.alpha_merge > 0 else -inf
    seen: set[bytes] = set()
    while len(groups) > 1:
        k, other = groups.closest()
        is_alike = len(groups) > 2 and groups.log_p[k, other] > threshold
        if not is_alike and groups.weight[groups.alive].min() >= least:
            break
        yield from groups.join(k, other)
        if rules.alpha_resplit is not None and len(groups.members[k]) > 2 and groups.group_of().tobytes() not in seen:
            seen.add(groups.group_of().tobytes())  # the same groups never part twice, so that merging ends
            yield from _part_again(groups, k, candidate, rules.alpha_resplit, least)
    return groups.group_of()


def _merge_exhaustively(
    groups: _Groups, candidate: Candidate, rules: Rules
) -> Generator[np.ndarray, np.ndarray, np.ndarray]:
    """Down to two groups, whatever p; then the step with the smallest p of all, the first of several (Biggs et al. 1991)."""
    least = least_size(candidate.weight.sum() + candidate.floating_weight, rules)
    best, best_groups = inf, np.zeros(0, np.int64)
    while True:
        if groups.weight[groups.alive].min() >= least or len(groups) == 1:
            log_p = yield from _whole(groups.statistics[groups.alive])
            if log_p < best or not len(best_groups):
                best, best_groups = log_p, groups.group_of()
        if len(groups) == 1 or (len(groups) == 2 and len(best_groups)):
            return best_groups
        yield from groups.join(*groups.closest())


def _part_again(
    groups: _Groups, k: int, candidate: Candidate, alpha: float, least: float
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
        order = [members[i] for i in _by_outcome(candidate.statistics[members], candidate.is_mean)]
    cuts = [sorted(order[:cut]) for cut in range(1, len(order))]
    return [part if members[0] in part else [m for m in members if m not in set(part)] for part in cuts]


def _place_floating(
    candidate: Candidate, floating: np.ndarray, group_of: np.ndarray, rules: Rules
) -> Generator[np.ndarray, np.ndarray, int]:
    """The group of the rows without a value: their own, or the most similar one if that gives the smaller p."""
    n_groups = int(group_of.max(initial=-1)) + 1
    if n_groups == 0:
        return 0
    known = _totals(candidate, group_of, -1)
    log_p = yield np.stack([known, np.broadcast_to(floating, known.shape)], axis=1)
    nearest = int(np.argmax(log_p))
    least = least_size(candidate.weight.sum() + candidate.floating_weight, rules)
    if candidate.floating_weight < least:
        return nearest
    apart = yield from _whole(_totals(candidate, group_of, n_groups))
    joined = yield from _whole(_totals(candidate, group_of, nearest))
    return nearest if joined < apart else n_groups


def _whole(statistics: np.ndarray) -> Generator[np.ndarray, np.ndarray, float]:
    log_p = yield statistics[None]
    return float(log_p[0])


def _totals(candidate: Candidate, group_of: np.ndarray, floating: int) -> np.ndarray:
    """[n_groups, n_statistics]"""
    n_groups = int(max(group_of.max(initial=-1), floating)) + 1
    totals = np.zeros((n_groups, candidate.statistics.shape[1]))
    np.add.at(totals, group_of, candidate.statistics)
    if floating >= 0:
        totals[floating] += candidate.floating
    return totals


def _answer(waiting: dict[int, np.ndarray], test: str) -> dict[int, np.ndarray]:
    """log p of every table that is waited for; tables with as many groups are tested together."""
    answers: dict[int, np.ndarray] = {}
    by_groups: dict[int, list[int]] = {}
    for k, tables in waiting.items():
        by_groups.setdefault(tables.shape[1], []).append(k)
    for keys in by_groups.values():
        log_p = _in_blocks(np.concatenate([waiting[k] for k in keys]), test)
        ends = np.cumsum([len(waiting[k]) for k in keys])
        answers.update(zip(keys, np.split(log_p, ends[:-1]), strict=True))
    return answers


_BLOCK = 1 << 18  # numbers that a test looks at together, so that its working space stays small


def _in_blocks(tables: np.ndarray, test: str) -> np.ndarray:
    size = max(1, _BLOCK // max(1, tables.shape[1] * tables.shape[2]))
    return np.concatenate([test_groups(tables[k : k + size], test) for k in range(0, len(tables), size)])


def _runs(candidate: Candidate) -> np.ndarray:
    """int32 [n_levels]: each level its own run, or, where levels are very many, runs of similar outcome and weight."""
    n = len(candidate.weight)
    if n <= MOST_LEVELS:
        return np.arange(n, dtype=np.int32)
    order = np.arange(n) if candidate.is_ordered else _by_outcome(candidate.statistics, candidate.is_mean)
    reached = np.cumsum(candidate.weight[order]) - candidate.weight[order] / 2
    run_of = np.empty(n, np.int32)
    run_of[order] = np.minimum(reached / reached[-1] * MOST_LEVELS, MOST_LEVELS - 1).astype(np.int32)
    return _in_order(run_of)


def _reduced(candidate: Candidate, run_of: np.ndarray) -> Candidate:
    statistics = np.zeros((int(run_of.max()) + 1, candidate.statistics.shape[1]))
    np.add.at(statistics, run_of, candidate.statistics)
    return msgspec.structs.replace(candidate, statistics=statistics, weight=np.bincount(run_of, candidate.weight))


def _by_outcome(statistics: np.ndarray, is_mean: bool) -> np.ndarray:
    """Levels in the order of their means, or along the direction in which their shares of classes differ most."""
    if is_mean:
        return np.argsort(statistics[:, 1] / statistics[:, 0], kind="stable")
    share = statistics / statistics.sum(axis=1, keepdims=True)
    centred = share - share.mean(axis=0)
    direction = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    return np.argsort(np.round(centred @ direction, 12), kind="stable")


def _in_order(group_of: np.ndarray) -> np.ndarray:
    """The same groups, numbered in the order of their first levels."""
    _, first, inverse = np.unique(group_of, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse]
