"""CHAID's merging (Kass 1980): the levels of a column become groups by repeatedly joining the two that differ least.

The core merges by the tests that it implements, without re-splitting; re-splitting and ordered classes are done here.
Each merge in Python is a generator: it yields statistics [n_tables, n_groups, n_statistics] to be tested and is sent
their log p, so that the merges of many columns and nodes advance together and share each call of the test. `CellIndex`
locates the counts of each node and column.
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
    MAX_LEVELS,
    Grouping,
    Groups,
    LevelCandidate,
    MergeRules,
    assign_runs,
    combine_runs,
    is_one_dimensional,
    min_group_weight,
    renumber_groups,
    resplit_group,
    totals,
)
from baytree.tree.search.counted.significance_tests import KERNELS, test_groups

Merge = Generator[np.ndarray, np.ndarray, Grouping]


def merge(candidate: LevelCandidate, rules: MergeRules) -> Merge:
    """Merge the levels of a column, and place its missing values."""
    group_of = yield from _merge_levels(candidate, rules)
    floating = -1
    if candidate.floating is not None:
        floating = yield from _assign_floating(candidate, candidate.floating, group_of, rules)
    n_groups = int(max(group_of.max(initial=-1), floating)) + 1
    log_p = yield from _test_all_groups(totals(candidate, group_of, floating))
    return Grouping(group_of=group_of, floating=floating, n_groups=n_groups, log_p=log_p)


def run_merges(merges: Sequence[Merge], test: str) -> list[Grouping]:
    """Run merges together and return their results."""
    results: dict[int, Grouping] = {}
    pending = {k: next(generator) for k, generator in enumerate(merges)}
    while pending:
        results_of_tests = _test_pending(pending, test)
        pending = {}
        for k, log_p in results_of_tests.items():
            try:
                pending[k] = merges[k].send(log_p)
            except StopIteration as done:
                results[k] = done.value
    return [results[k] for k in range(len(merges))]


def _merge_levels(candidate: LevelCandidate, rules: MergeRules) -> Generator[np.ndarray, np.ndarray, np.ndarray]:
    """Groups of the known levels; very many levels are first combined into runs."""
    run_of = assign_runs(candidate)
    n_runs = int(run_of.max(initial=-1)) + 1
    if n_runs < 2:
        return run_of
    reduced_candidate = candidate if n_runs == len(run_of) else combine_runs(candidate, run_of)
    groups = Groups(reduced_candidate.statistics, reduced_candidate.weight, reduced_candidate.is_ordered)
    left, right = (
        (np.arange(n_runs - 1), np.arange(1, n_runs)) if reduced_candidate.is_ordered else np.triu_indices(n_runs, 1)
    )
    yield from groups.measure(left, right)
    merge_rule = _merge_exhaustively if rules.exhaustive else _merge_similar
    group_of = yield from merge_rule(groups, reduced_candidate, rules)
    return renumber_groups(group_of[run_of])


def _merge_similar(
    groups: Groups, candidate: LevelCandidate, rules: MergeRules
) -> Generator[np.ndarray, np.ndarray, np.ndarray]:
    min_size = min_group_weight(candidate.weight.sum() + candidate.floating_weight, rules)
    threshold = log(rules.alpha_merge) if rules.alpha_merge > 0 else -inf
    known_groupings: set[bytes] = set()
    while len(groups) > 1:
        k, other = groups.closest()
        is_similar = len(groups) > 2 and groups.log_p[k, other] > threshold
        if not is_similar and groups.weight[groups.alive].min() >= min_size:
            break
        yield from groups.join(k, other)
        if (
            rules.alpha_resplit is not None
            and len(groups.members[k]) > 2
            and groups.group_of().tobytes() not in known_groupings
        ):
            known_groupings.add(groups.group_of().tobytes())  # the same groups are never split twice, so merging terminates
            yield from resplit_group(groups, k, candidate, rules.alpha_resplit, min_size)
    return groups.group_of()


def _merge_exhaustively(
    groups: Groups, candidate: LevelCandidate, rules: MergeRules
) -> Generator[np.ndarray, np.ndarray, np.ndarray]:
    """Merge down to two groups whatever p, then take the step of smallest p, the first of several (Biggs et al. 1991)."""
    min_size = min_group_weight(candidate.weight.sum() + candidate.floating_weight, rules)
    smallest_log_p, best_groups = inf, np.zeros(0, np.int64)
    while True:
        if groups.weight[groups.alive].min() >= min_size or len(groups) == 1:
            log_p = yield from _test_all_groups(groups.statistics[groups.alive])
            if log_p < smallest_log_p or not len(best_groups):
                smallest_log_p, best_groups = log_p, groups.group_of()
        if len(groups) == 1 or (len(groups) == 2 and len(best_groups)):
            return best_groups
        yield from groups.join(*groups.closest())


def _assign_floating(
    candidate: LevelCandidate, floating: np.ndarray, group_of: np.ndarray, rules: MergeRules
) -> Generator[np.ndarray, np.ndarray, int]:
    """Group of the missing values: their own, or the most similar one if that gives a smaller p."""
    n_groups = int(group_of.max(initial=-1)) + 1
    if n_groups == 0:
        return 0
    known_totals = totals(candidate, group_of, -1)
    log_p = yield np.stack([known_totals, np.broadcast_to(floating, known_totals.shape)], axis=1)
    nearest = int(np.argmax(log_p))
    min_size = min_group_weight(candidate.weight.sum() + candidate.floating_weight, rules)
    if candidate.floating_weight < min_size:
        return nearest
    separate = yield from _test_all_groups(totals(candidate, group_of, n_groups))
    joined = yield from _test_all_groups(totals(candidate, group_of, nearest))
    return nearest if joined < separate else n_groups


def _test_all_groups(statistics: np.ndarray) -> Generator[np.ndarray, np.ndarray, float]:
    log_p = yield statistics[None]
    return float(log_p[0])


def _test_pending(waiting: dict[int, np.ndarray], test: str) -> dict[int, np.ndarray]:
    """log p of all pending tables; tables with the same number of groups are tested together."""
    results: dict[int, np.ndarray] = {}
    by_groups: dict[int, list[int]] = {}
    for k, tables in waiting.items():
        by_groups.setdefault(tables.shape[1], []).append(k)
    for keys in by_groups.values():
        log_p = _in_blocks(np.concatenate([waiting[k] for k in keys]), test)
        ends = np.cumsum([len(waiting[k]) for k in keys])
        results.update(zip(keys, np.split(log_p, ends[:-1]), strict=True))
    return results


_BLOCK_CELLS = 1 << 18  # cells of tables that are tested per call of the core, which bounds the working memory (2 MB)


def _in_blocks(tables: np.ndarray, test: str) -> np.ndarray:
    size = max(1, _BLOCK_CELLS // max(1, tables.shape[1] * tables.shape[2]))
    return np.concatenate([test_groups(tables[k : k + size], test) for k in range(0, len(tables), size)])


class CountedColumn(msgspec.Struct, frozen=True):
    """Cells of a column at the nodes of a level."""

    cells: CodeSums
    n_codes: int
    is_ordered: bool
    is_mean: bool  # the sums are weight, Σ y, Σ y² instead of class weights
    weight: np.ndarray  # float64 [n_cells]

    @classmethod
    def of(cls, cells: CodeSums, n_codes: int, is_ordered: bool, is_mean: bool) -> CountedColumn:
        """Column with the weight of each code."""
        return cls(cells, n_codes, is_ordered, is_mean, cells.sums[:, 0].copy() if is_mean else cells.sums.sum(axis=1))

    def candidate(self, first: int, last: int, has_missing: bool) -> LevelCandidate:
        """Levels of a node. Missing values are the last level of a nominal column, and floating in an ordered one."""
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
    """Cells of each node in each column."""

    first: np.ndarray  # int64 [n_nodes, n_columns]
    last: np.ndarray  # int64 [n_nodes, n_columns], exclusive
    has_missing: np.ndarray  # bool [n_nodes, n_columns], the first cell holds missing values

    @classmethod
    def of(cls, columns: list[CountedColumn], nodes: np.ndarray) -> CellIndex:
        """Index of the nodes with these ids in the counts."""
        keys, n_codes = [column.cells.key for column in columns], np.array([column.n_codes for column in columns], np.int64)
        return cls(*_core.node_spans(keys, n_codes, nodes))

    def cells(self, node: int, column: int) -> tuple[int, int, bool]:
        """First and last cell of a node, by its index, and whether the first holds missing values."""
        return int(self.first[node, column]), int(self.last[node, column]), bool(self.has_missing[node, column])


class MergedColumns(msgspec.Struct, frozen=True):
    """Groups of each column's codes at each node, and log p of the test that they do not differ."""

    n_groups: np.ndarray  # int32 [n_nodes, n_columns]
    log_p: np.ndarray  # float64 [n_nodes, n_columns]
    group: list[np.ndarray]  # [n_columns], int32 [n_cells]


def merge_columns(columns: list[CountedColumn], cells: CellIndex, rules: MergeRules) -> MergedColumns:
    """Merge the levels of every column at every open node; return groups and log p-values."""
    by_core = rules.test in KERNELS and rules.alpha_resplit is None
    return _merge_in_core(columns, cells, rules) if by_core else _merge_in_python(columns, cells, rules)


def _merge_in_core(columns: list[CountedColumn], cells: CellIndex, rules: MergeRules) -> MergedColumns:
    """Merge in the core, by the tests that it implements."""
    run, run_of = _runs(columns, cells)
    is_long = (cells.last - cells.first).sum() >= _MIN_PARALLEL_CELLS
    n_groups, log_p, group = _core.try_columns(
        [(column.cells.sums, column.weight, column.is_ordered) for column in columns],
        (cells.first, cells.last, run, cells.has_missing),
        run_of,
        rules.test,
        _core.TrialRules(
            log(rules.alpha_merge) if rules.alpha_merge > 0 else -inf,
            rules.min_leaf,
            rules.min_prob,
            bool(rules.exhaustive),
            MAX_LEVELS,
        ),
        threads.free() if is_long else 1,
    )
    return MergedColumns(n_groups, log_p, group)


_MIN_PARALLEL_CELLS = 1 << 13  # cells; below this one thread is faster


def _runs(columns: list[CountedColumn], cells: CellIndex) -> tuple[np.ndarray, np.ndarray]:
    """Start of the runs of each column at each node (−1 if levels are few or the core finds them), and the runs."""
    begin, all_runs, n = np.full(cells.first.shape, -1, np.int64), [np.zeros(0, np.int32)], 0
    unknown = [
        not (column.is_ordered or is_one_dimensional(column.cells.sums.shape[1], column.is_mean)) for column in columns
    ]
    for node, column in np.argwhere((cells.last - cells.first > MAX_LEVELS) & unknown).tolist():
        candidate = columns[column].candidate(*cells.cells(node, column))
        if len(candidate.weight) > MAX_LEVELS:
            begin[node, column] = n
            all_runs.append(assign_runs(candidate))
            n += len(candidate.weight)
    return begin, np.concatenate(all_runs)


def _merge_in_python(columns: list[CountedColumn], cells: CellIndex, rules: MergeRules) -> MergedColumns:
    """Merge in Python, by rules that the core does not know, in batches that bound the memory."""
    shape = cells.first.shape
    merged = MergedColumns(np.zeros(shape, np.int32), np.zeros(shape), [np.zeros(len(c.weight), np.int32) for c in columns])
    for batch in threads.map_streamed(lambda pairs: _merge_batch(columns, cells, rules, pairs), _batches(cells)):
        for (node, column), (n_groups, log_p, group) in batch:
            merged.n_groups[node, column], merged.log_p[node, column] = n_groups, log_p
            merged.group[column][cells.first[node, column] : cells.last[node, column]] = group
    return merged


Pair = tuple[int, int]  # index of a node, and a column

_MAX_BATCH_PAIRS = 200_000  # pairs of codes whose p-values are in memory together


def _batches(cells: CellIndex) -> Iterator[list[Pair]]:
    """Batches of nodes and columns, each with a bounded number of pairs of codes."""
    batch: list[Pair] = []
    n_pairs = 0
    for (node, column), n_codes in np.ndenumerate(cells.last - cells.first):
        batch.append((node, column))
        n_pairs += int(n_codes) ** 2
        if n_pairs > _MAX_BATCH_PAIRS:
            yield batch
            batch, n_pairs = [], 0
    yield batch


def _merge_batch(
    columns: list[CountedColumn], cells: CellIndex, rules: MergeRules, pairs: list[Pair]
) -> list[tuple[Pair, tuple[int, float, np.ndarray]]]:
    candidates = [columns[column].candidate(*cells.cells(node, column)) for node, column in pairs]
    groupings = run_merges([merge(generator, rules) for generator in candidates], rules.test)
    results = []
    for pair, grouping in zip(pairs, groupings, strict=True):
        group = grouping.group_of
        if cells.has_missing[pair]:  # their cell is the first one
            group = np.append(grouping.floating, group) if columns[pair[1]].is_ordered else np.roll(group, 1)
        results.append((pair, (grouping.n_groups, grouping.log_p, group)))
    return results
