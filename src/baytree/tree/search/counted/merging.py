"""CHAID's merging: the levels of a column become groups, by joining again and again the two that differ least.

Kass (1980). The core merges by the tests that it knows, without re-splitting; these and ordered classes are at home here.
Each merge is a generator: it yields statistics [n_tables, n_groups, n_statistics] that it wants tested and is
sent their log p, so that the merges of many columns and nodes advance side by side and share each call of the test.

The cells of a level's counts by node and column, as merging reads them.

The groups of all columns' codes at all nodes of a level, and how likely it is that they do not differ.

One call of the core tells it by the tests and rules that the core knows; what else there is, merges in Python.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from math import inf, log

import msgspec
import numpy as np

from baytree import _core
from baytree.parallel import threads
from baytree.tree.search.counted.counts import CodeSums
from baytree.tree.search.counted.groups import (
    MOST_LEVELS,
    Grouping,
    Groups,
    LevelCandidate,
    MergeRules,
    in_order,
    is_line,
    least_size,
    reduced,
    resplit_group,
    runs,
    totals,
)
from baytree.tree.search.counted.significance_tests import KERNELS, test_groups

Merge = Generator[np.ndarray, np.ndarray, Grouping]


def merge(candidate: LevelCandidate, rules: MergeRules) -> Merge:
    """Groups of a column's levels, by the rules."""
    group_of = yield from _merge_known(candidate, rules)
    floating = -1
    if candidate.floating is not None:
        floating = yield from _place_floating(candidate, candidate.floating, group_of, rules)
    n_groups = int(max(group_of.max(initial=-1), floating)) + 1
    log_p = yield from _whole(totals(candidate, group_of, floating))
    return Grouping(group_of=group_of, floating=floating, n_groups=n_groups, log_p=log_p)


def run_merges(merges: Sequence[Merge], test: str) -> list[Grouping]:
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


def _merge_known(candidate: LevelCandidate, rules: MergeRules) -> Generator[np.ndarray, np.ndarray, np.ndarray]:
    """The groups of the levels that are known; very many levels are first put into runs."""
    run_of = runs(candidate)
    n_runs = int(run_of.max(initial=-1)) + 1
    if n_runs < 2:
        return run_of
    united = candidate if n_runs == len(run_of) else reduced(candidate, run_of)
    groups = Groups(united.statistics, united.weight, united.is_ordered)
    left, right = (np.arange(n_runs - 1), np.arange(1, n_runs)) if united.is_ordered else np.triu_indices(n_runs, 1)
    yield from groups.measure(left, right)
    step = _merge_exhaustively if rules.exhaustive else _merge_similar
    group_of = yield from step(groups, united, rules)
    return in_order(group_of[run_of])


def _merge_similar(
    groups: Groups, candidate: LevelCandidate, rules: MergeRules
) -> Generator[np.ndarray, np.ndarray, np.ndarray]:
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
            yield from resplit_group(groups, k, candidate, rules.alpha_resplit, least)
    return groups.group_of()


def _merge_exhaustively(
    groups: Groups, candidate: LevelCandidate, rules: MergeRules
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


def _place_floating(
    candidate: LevelCandidate, floating: np.ndarray, group_of: np.ndarray, rules: MergeRules
) -> Generator[np.ndarray, np.ndarray, int]:
    """The group of the rows without a value: their own, or the most similar one if that gives the smaller p."""
    n_groups = int(group_of.max(initial=-1)) + 1
    if n_groups == 0:
        return 0
    known = totals(candidate, group_of, -1)
    log_p = yield np.stack([known, np.broadcast_to(floating, known.shape)], axis=1)
    nearest = int(np.argmax(log_p))
    least = least_size(candidate.weight.sum() + candidate.floating_weight, rules)
    if candidate.floating_weight < least:
        return nearest
    apart = yield from _whole(totals(candidate, group_of, n_groups))
    joined = yield from _whole(totals(candidate, group_of, nearest))
    return nearest if joined < apart else n_groups


def _whole(statistics: np.ndarray) -> Generator[np.ndarray, np.ndarray, float]:
    log_p = yield statistics[None]
    return float(log_p[0])


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


class CountedColumn(msgspec.Struct, frozen=True):
    """What a level's nodes hold of a column."""

    cells: CodeSums
    n_codes: int
    is_ordered: bool
    is_mean: bool  # the sums are weight, Σ y, Σ y² and not weights per class
    weight: np.ndarray  # float64 [n_cells]

    @classmethod
    def of(cls, cells: CodeSums, n_codes: int, is_ordered: bool, is_mean: bool) -> CountedColumn:
        """With the weight of each code."""
        return cls(cells, n_codes, is_ordered, is_mean, cells.sums[:, 0].copy() if is_mean else cells.sums.sum(axis=1))

    def candidate(self, first: int, last: int, has_missing: bool) -> LevelCandidate:
        """The codes of a node. Missing values are the last level of a nominal column, and float in an ordered one."""
        sums, weight, is_mean = self.cells.sums[first:last], self.weight[first:last], self.is_mean
        if not has_missing:
            return LevelCandidate(statistics=sums, weight=weight, is_ordered=self.is_ordered, is_mean=is_mean)
        if not self.is_ordered:
            last_level = np.roll(np.arange(len(sums)), -1)
            return LevelCandidate(statistics=sums[last_level], weight=weight[last_level], is_ordered=False, is_mean=is_mean)
        return LevelCandidate(
            statistics=sums[1:],
            weight=weight[1:],
            is_ordered=True,
            floating=sums[0],
            floating_weight=float(weight[0]),
            is_mean=is_mean,
        )


class CellIndex(msgspec.Struct, frozen=True):
    """The cells of each node of each column."""

    first: np.ndarray  # int64 [n_nodes, n_columns]
    last: np.ndarray  # int64 [n_nodes, n_columns], exclusive
    has_missing: np.ndarray  # bool [n_nodes, n_columns], the first cell is that of missing values

    @classmethod
    def of(cls, columns: list[CountedColumn], places: np.ndarray) -> CellIndex:
        """Of the nodes in these places."""
        keys, n_codes = [column.cells.key for column in columns], np.array([column.n_codes for column in columns], np.int64)
        return cls(*_core.node_spans(keys, n_codes, places))

    def cells(self, at: int, column: int) -> tuple[int, int, bool]:
        """Of a node, by its place among them: the first and the last, and whether the first is that of missing values."""
        return int(self.first[at, column]), int(self.last[at, column]), bool(self.has_missing[at, column])


class MergedColumns(msgspec.Struct, frozen=True):
    """The groups of each column's codes at each node, and log p that they do not differ."""

    n_groups: np.ndarray  # int32 [n_nodes, n_columns]
    log_p: np.ndarray  # float64 [n_nodes, n_columns]
    group: list[np.ndarray]  # [n_columns], int32 [n_cells]


def merge_all_columns(columns: list[CountedColumn], where: CellIndex, rules: MergeRules) -> MergedColumns:
    """By the rules."""
    by_core = rules.test in KERNELS and rules.alpha_resplit is None
    return _in_core(columns, where, rules) if by_core else _side_by_side(columns, where, rules)


def _in_core(columns: list[CountedColumn], where: CellIndex, rules: MergeRules) -> MergedColumns:
    """By the tests that the core knows."""
    run, run_of = _runs(columns, where)
    is_long = (where.last - where.first).sum() >= _WORTH_A_THREAD
    n_groups, log_p, group = _core.try_columns(
        [(column.cells.sums, column.weight, column.is_ordered) for column in columns],
        (where.first, where.last, run, where.has_missing),
        run_of,
        rules.test,
        _core.TrialRules(
            log(rules.alpha_merge) if rules.alpha_merge > 0 else -inf,
            rules.min_leaf,
            rules.min_prob,
            bool(rules.exhaustive),
            MOST_LEVELS,
        ),
        threads.free() if is_long else 1,
    )
    return MergedColumns(n_groups, log_p, group)


_WORTH_A_THREAD = 1 << 13  # cells


def _runs(columns: list[CountedColumn], where: CellIndex) -> tuple[np.ndarray, np.ndarray]:
    """Where the runs of a column's levels begin at each node, −1 where the core finds them or levels are few, and these."""
    begin, found, n = np.full(where.first.shape, -1, np.int64), [np.zeros(0, np.int32)], 0
    unknown = [not (column.is_ordered or is_line(column.cells.sums.shape[1], column.is_mean)) for column in columns]
    for at, column in np.argwhere((where.last - where.first > MOST_LEVELS) & unknown).tolist():
        own = columns[column].candidate(*where.cells(at, column))
        if len(own.weight) > MOST_LEVELS:
            begin[at, column] = n
            found.append(runs(own))
            n += len(own.weight)
    return begin, np.concatenate(found)


def _side_by_side(columns: list[CountedColumn], where: CellIndex, rules: MergeRules) -> MergedColumns:
    """By rules that the core does not know: merges advance together, but not so many that memory grows."""
    shape = where.first.shape
    judged = MergedColumns(np.zeros(shape, np.int32), np.zeros(shape), [np.zeros(len(c.weight), np.int32) for c in columns])
    for batch in threads.map_streamed(lambda pairs: _settled(columns, where, rules, pairs), _batches(where)):
        for (at, column), (n_groups, log_p, group) in batch:
            judged.n_groups[at, column], judged.log_p[at, column] = n_groups, log_p
            judged.group[column][where.first[at, column] : where.last[at, column]] = group
    return judged


Pair = tuple[int, int]  # the place of a node, and a column

_TOGETHER = 200_000  # pairs of codes


def _batches(where: CellIndex) -> Iterator[list[Pair]]:
    """Nodes and columns in order, as many together as have so many pairs of codes."""
    batch: list[Pair] = []
    n_pairs = 0
    for (at, column), n_codes in np.ndenumerate(where.last - where.first):
        batch.append((at, column))
        n_pairs += int(n_codes) ** 2
        if n_pairs > _TOGETHER:
            yield batch
            batch, n_pairs = [], 0
    yield batch


def _settled(
    columns: list[CountedColumn], where: CellIndex, rules: MergeRules, pairs: list[Pair]
) -> list[tuple[Pair, tuple[int, float, np.ndarray]]]:
    candidates = [columns[column].candidate(*where.cells(at, column)) for at, column in pairs]
    groupings = run_merges([merge(each, rules) for each in candidates], rules.test)
    found = []
    for pair, grouping in zip(pairs, groupings, strict=True):
        group = grouping.group_of
        if where.has_missing[pair]:  # its cell is the first one
            group = np.append(grouping.floating, group) if columns[pair[1]].is_ordered else np.roll(group, 1)
        found.append((pair, (grouping.n_groups, grouping.log_p, group)))
    return found
