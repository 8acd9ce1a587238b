"""Candidate tests of the exact search, and the branch that each sends each row to.

Numeric and ordinal columns: the thresholds between all neighbouring values, or a limited number at quantiles of weight.
Nominal columns: all bipartitions of few levels; of many, each level against the rest, and thresholds in the order of the
proportion of a class (Breiman et al. 1984). If values are missing, every test is offered with such rows on either side,
and one more test separates them from the rest.

Tests are thresholds of ranks: a chain ranks all rows along a column, and its tests are the thresholds between neighbouring
ranks. A column with missing values has a chain for either side of these; a bipartition of levels is a chain of one test.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from baytree.data.encoding.table import Table, is_missing
from baytree.data.schema.column import Column, Kind
from baytree.tree.model.tree import CandidateTests

MAX_GROUPS = 32  # of the levels of a column, unless `max_tests` limits them


class Chain(NamedTuple):
    """Ranks of the rows along a column, and the tests between neighbouring ranks."""

    column: int
    ranks: np.ndarray  # int32 [n_rows], of which those of rows with weight are 0, 1, …, n_tests
    cut: np.ndarray  # float64 [n_tests], NaN if the test is by levels
    branch_of: np.ndarray  # int32 [n_levels], empty for thresholds
    missing: np.ndarray  # int32 [n_tests]


class Tests(NamedTuple):
    """Tests, chain after chain, and the ranks that tell the branch of each row."""

    offered: CandidateTests
    ranks: np.ndarray  # int32 [n_chains, n_rows]
    chain: np.ndarray  # int [n_tests]
    rank: np.ndarray  # int32 [n_tests], highest rank of the first branch

    def takes_second(self, test: int, table: Table) -> np.ndarray:
        """Whether each row of a table takes the second branch of a test, bool [n_rows]."""
        offered, values = self.offered, np.asarray(table.values[self.offered.column[test]])
        if not offered.levels[test]:
            return np.where(is_missing(values), offered.missing[test] == 1, values > offered.cut[test])
        start = offered.start[test]
        branch = np.append(offered.branch_of[start : start + offered.levels[test]], -1)[values]  # −1: a missing value
        return np.where(branch >= 0, branch == 1, offered.missing[test] == 1)

    def sides(self, rows: np.ndarray) -> np.ndarray:
        """Whether each of these rows takes the second branch of each test, bool [n_tests, n_rows]."""
        return self.ranks[:, rows][self.chain] > self.rank[:, None]

    def subset(self, tests: np.ndarray) -> Tests:
        """These tests alone, in this order."""
        offered = self.offered
        levels = offered.levels[tests]
        entries = [offered.branch_of[offered.start[t] : offered.start[t] + offered.levels[t]] for t in tests[levels > 0]]
        kept = CandidateTests(
            column=offered.column[tests],
            cut=offered.cut[tests],
            start=(np.cumsum(levels) - levels).astype(np.int32),
            levels=levels,
            branch_of=np.concatenate([np.zeros(0, np.int32), *entries]),
            missing=offered.missing[tests],
        )
        return Tests(kept, self.ranks, self.chain[tests], self.rank[tests])


def tests_of(table: Table, weight: np.ndarray, max_tests: int | None, max_thresholds: int | None) -> Tests:
    """Tests of a table with row weights int64 [n_rows]; at most `max_tests` thresholds or groups per column.

    `max_thresholds` limits the thresholds further: they are some of those without it.

    A chain that ranks the rows with weight like an earlier one is left out: its tests could never win.
    """
    chains, seen, is_weighted = [], set(), weight > 0
    n_groups = MAX_GROUPS if max_tests is None else max_tests
    n_thresholds = min((n for n in (max_tests, max_thresholds) if n is not None), default=None)
    for j, column in enumerate(table.schema):
        values = np.asarray(table.values[j])
        for chain in _column_chains(j, column, values, _Rows(weight, table.label, table.n_classes), n_thresholds, n_groups):
            key = (chain.ranks if is_weighted.all() else chain.ranks[is_weighted]).tobytes()
            if len(chain.cut) and key not in seen:
                seen.add(key), chains.append(chain)
    return _joined(chains, len(table))


def different_tests(tests: Tests, is_weighted: np.ndarray) -> Tests:
    """Tests in the order of columns and thresholds, without those that divide the rows like an earlier one."""
    offered = tests.offered
    place = np.where(offered.levels > 0, np.arange(len(offered)), 0)
    cut, missing = (np.where(offered.levels > 0, 0, values) for values in (offered.cut, offered.missing))
    order, seen, kept = np.lexsort((missing, cut, place, offered.column)), set(), []
    sides = tests.sides(is_weighted)
    packed = np.packbits(sides ^ sides[:, :1], axis=1)  # a test and its complement divide the rows alike
    seen.add(np.zeros_like(packed[:1]).tobytes())
    for test in order.tolist():
        if (key := packed[test].tobytes()) not in seen:
            seen.add(key), kept.append(test)
    return tests.subset(np.array(kept, np.intp))


class _Rows(NamedTuple):
    weight: np.ndarray  # int64 [n_rows]
    label: np.ndarray  # int [n_rows]
    n_classes: int


def _joined(chains: list[Chain], n_rows: int) -> Tests:
    n_tests = np.array([len(chain.cut) for chain in chains], np.intp)
    levels = np.repeat(np.array([len(chain.branch_of) for chain in chains], np.int32), n_tests)
    empty = (np.zeros(0, np.int32),)
    offered = CandidateTests(
        column=np.repeat(np.array([chain.column for chain in chains], np.int32), n_tests),
        cut=np.concatenate([np.zeros(0), *(chain.cut for chain in chains)]),
        start=(np.cumsum(levels) - levels).astype(np.int32),
        levels=levels,
        branch_of=np.concatenate([*empty, *(chain.branch_of for chain in chains)]),
        missing=np.concatenate([*empty, *(chain.missing for chain in chains)]),
    )
    return Tests(
        offered,
        np.array([chain.ranks for chain in chains], np.int32).reshape(len(chains), n_rows),
        np.repeat(np.arange(len(chains)), n_tests),
        np.concatenate([*empty, *(np.arange(n, dtype=np.int32) for n in n_tests)]),
    )


def _column_chains(
    j: int, column: Column, values: np.ndarray, rows: _Rows, n_thresholds: int | None, n_groups: int
) -> Iterator[Chain]:
    if column.kind is Kind.NOMINAL:
        yield from _level_chains(j, len(column.levels), values, rows, n_groups)
    else:
        yield from _threshold_chains(j, values, rows.weight, n_thresholds)


def _threshold_chains(j: int, values: np.ndarray, weight: np.ndarray, most: int | None) -> Iterator[Chain]:
    absent, is_weighted, no_levels = is_missing(values), weight > 0, np.zeros(0, np.int32)
    is_known = ~absent & is_weighted
    cuts = _cuts(values[is_known].astype(np.float64), weight[is_known], most)
    ranks = np.searchsorted(cuts, values).astype(np.int32)  # a value equal to a cut is in the first branch
    if not (absent & is_weighted).any():
        above = weight.sum() - np.cumsum(_exact_sums(ranks[is_known], weight[is_known], len(cuts) + 1))[:-1]
        ranks[absent] = 0
        yield Chain(j, ranks, cuts, no_levels, (2 * above > weight.sum()).astype(np.int32))
        return
    yield Chain(j, np.where(absent, 0, ranks).astype(np.int32), cuts, no_levels, np.zeros(len(cuts), np.int32))
    if is_known.any():
        last = np.where(absent, len(cuts) + 1, ranks).astype(np.int32)
        yield Chain(j, last, np.append(cuts, np.inf), no_levels, np.ones(len(cuts) + 1, np.int32))


def _cuts(values: np.ndarray, weight: np.ndarray, most: int | None) -> np.ndarray:
    """Midpoints of neighbouring values, ascending; of more than `most`, those nearest to quantiles of weight."""
    distinct = np.unique(values)
    low, high = distinct[:-1], distinct[1:]
    with np.errstate(invalid="ignore", over="ignore"):
        midpoint = low + (high - low) / 2
    cuts = np.where((low <= midpoint) & (midpoint < high), midpoint, low)
    if most is None or len(cuts) <= most:
        return cuts
    cumulative = np.cumsum(_exact_sums(np.searchsorted(distinct, values), weight, len(distinct)))
    quantile = cumulative[-1] * np.arange(1, most + 1) / (most + 1)
    after = np.searchsorted(cumulative[:-1], quantile).clip(1, len(cuts) - 1)
    nearest = np.where(quantile - cumulative[after - 1] <= cumulative[after] - quantile, after - 1, after)
    return cuts[np.unique(nearest)]


def _level_chains(j: int, n_levels: int, codes: np.ndarray, rows: _Rows, most: int) -> Iterator[Chain]:
    is_known = codes >= 0
    cell = codes[is_known] * rows.n_classes + rows.label[is_known]
    counts = _exact_sums(cell, rows.weight[is_known], n_levels * rows.n_classes).reshape(n_levels, rows.n_classes)
    of_level, missing_weight = counts.sum(axis=1), rows.weight[~is_known].sum()

    def chain(second: np.ndarray, missing: int) -> Chain:
        branch_of = np.where(of_level > 0, second, -1).astype(np.int32)
        branch = np.append(branch_of, -1)[codes]  # the code of a missing value is −1
        ranks = np.where(branch >= 0, branch, missing).astype(np.int32)
        return Chain(j, ranks, np.array([np.nan]), branch_of, np.array([missing], np.int32))

    for second in _bipartitions(counts, most):
        weight_above = of_level[second].sum()
        for missing in (0, 1) if missing_weight else (int(2 * weight_above > rows.weight.sum()),):
            yield chain(second, missing)
    if missing_weight and of_level.any():
        yield chain(np.zeros(n_levels, np.bool_), 1)


def _bipartitions(counts: np.ndarray, most: int) -> Iterator[np.ndarray]:
    """Levels of the second branch, bool [n_levels], from counts [n_levels, n_classes].

    All bipartitions if there are at most `most`; else each level against the rest, and thresholds by class proportion.
    """
    weight = counts.sum(axis=1)
    present = np.flatnonzero(weight > 0)
    n_ways = 2 ** min(len(present) - 1, 31) - 1 if len(present) else 0
    if n_ways <= most:
        for code in range(1, n_ways + 1):
            second = np.zeros(len(weight), np.bool_)
            second[present[1:][(code >> np.arange(len(present) - 1)) & 1 == 1]] = True
            yield second
        return
    heaviest = present[np.argsort(-weight[present], kind="stable")][:most]
    for level in np.sort(heaviest).tolist():
        second = weight > 0
        second[level] = False
        yield second
    classes = range(1, 2) if counts.shape[1] == 2 else range(counts.shape[1])  # with two classes both orders agree
    for c in classes:
        yield from _bipartitions_by_proportion(counts[:, c], weight, max(1, most // len(classes)))


def _bipartitions_by_proportion(count: np.ndarray, weight: np.ndarray, most: int) -> Iterator[np.ndarray]:
    """Bipartitions of levels ordered by their proportion of one class (Breiman et al. 1984)."""
    proportion = np.divide(count, weight, out=np.full(len(weight), -1.0), where=weight > 0)
    present = weight > 0
    for cut in _cuts(proportion[present], weight[present], most).tolist():
        yield proportion > cut


def _exact_sums(place: np.ndarray, weight: np.ndarray, n: int) -> np.ndarray:
    """Exact sum of the weights at each index, int64 [n]: doubles hold whole numbers up to the sum of all weights."""
    return np.bincount(place, weight, minlength=n).astype(np.int64)
