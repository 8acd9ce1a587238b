"""Candidate tests of the exact search, and the branch that each sends each row to.

Numeric and ordinal columns: thresholds between neighbouring values, at quantiles of weight if there are many. Nominal
columns: all bipartitions of few levels; of many, each level against the rest, and thresholds in the order of the
proportion of a class (Breiman et al. 1984). If values are missing, every test is offered with such rows on either side,
and one more test separates them from the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from baytree.data.encoding.table import Table, is_missing
from baytree.data.schema.column import Column, Kind
from baytree.tree.model.tree import CandidateTests


class CandidateTest(NamedTuple):
    """Test of one column."""

    column: int
    cut: float  # NaN if the test is by levels
    branch_of: np.ndarray  # int32 [n_levels], empty for a threshold
    missing: int


class Tests(NamedTuple):
    """Tests, and the branch of each row."""

    offered: CandidateTests
    is_second: np.ndarray  # bool [n_tests, n_rows], whether the row takes the second branch


class _Rows(NamedTuple):
    weight: np.ndarray  # int64 [n_rows]
    label: np.ndarray  # int [n_rows]
    n_classes: int


def tests_of(table: Table, weight: np.ndarray, max_tests: int) -> Tests:
    """Tests of a table with row weights int64 [n_rows], at most `max_tests` thresholds or groups per column.

    A test that divides the rows like an earlier one is left out: it could never win.
    """
    tests, sides, seen = [], [], set()
    is_weighted = weight > 0
    for j, column in enumerate(table.schema):
        values = np.asarray(table.values[j])
        for test in _column_tests(j, column, values, _Rows(weight, table.label, table.n_classes), max_tests):
            side = _takes_second(test, values)
            first = side[is_weighted] ^ (side[is_weighted][:1])  # a test and its complement divide the rows alike
            if not first.any() or (key := np.packbits(first).tobytes()) in seen:
                continue
            seen.add(key), tests.append(test), sides.append(side)
    return Tests(_packed(tests), np.array(sides, np.bool_).reshape(len(sides), len(table)))


def _packed(tests: list[CandidateTest]) -> CandidateTests:
    levels = np.array([len(test.branch_of) for test in tests], np.int32)
    return CandidateTests(
        column=np.array([test.column for test in tests], np.int32),
        cut=np.array([test.cut for test in tests], np.float64),
        start=(np.cumsum(levels) - levels).astype(np.int32),
        levels=levels,
        branch_of=np.concatenate([np.zeros(0, np.int32), *(test.branch_of for test in tests)]),
        missing=np.array([test.missing for test in tests], np.int32),
    )


def _takes_second(test: CandidateTest, values: np.ndarray) -> np.ndarray:
    """Whether each row takes the second branch, bool [n_rows]."""
    if not len(test.branch_of):
        return np.where(is_missing(values), test.missing == 1, values > test.cut)
    branch = np.append(test.branch_of, -1)[values]  # the code of a missing value is −1
    return np.where(branch >= 0, branch == 1, test.missing == 1)


def _column_tests(j: int, column: Column, values: np.ndarray, rows: _Rows, most: int) -> Iterator[CandidateTest]:
    if column.kind is Kind.NOMINAL:
        yield from _level_tests(j, len(column.levels), values, rows, most)
    else:
        yield from _threshold_tests(j, values, rows.weight, most)


def _threshold_tests(j: int, values: np.ndarray, weight: np.ndarray, most: int) -> Iterator[CandidateTest]:
    is_known = ~is_missing(values) & (weight > 0)
    no_levels, missing_weight = np.zeros(0, np.int32), weight[~is_known].sum()
    for cut in _cuts(values[is_known].astype(np.float64), weight[is_known], most).tolist():
        weight_above = weight[is_known & (values > cut)].sum()
        for missing in (0, 1) if missing_weight else (int(2 * weight_above > weight.sum()),):
            yield CandidateTest(j, cut, no_levels, missing)
    if missing_weight:
        yield CandidateTest(j, np.inf, no_levels, 1)


def _cuts(values: np.ndarray, weight: np.ndarray, most: int) -> np.ndarray:
    """Midpoints of neighbouring values, ascending; of more than `most`, those nearest to quantiles of weight."""
    distinct, index = np.unique(values, return_inverse=True)
    low, high = distinct[:-1], distinct[1:]
    with np.errstate(invalid="ignore", over="ignore"):
        midpoint = low + (high - low) / 2
    cuts = np.where((low <= midpoint) & (midpoint < high), midpoint, low)
    if len(cuts) <= most:
        return cuts
    cumulative = np.cumsum(_exact_sums(index, weight, len(distinct)))
    quantile = cumulative[-1] * np.arange(1, most + 1) / (most + 1)
    after = np.searchsorted(cumulative[:-1], quantile).clip(1, len(cuts) - 1)
    nearest = np.where(quantile - cumulative[after - 1] <= cumulative[after] - quantile, after - 1, after)
    return cuts[np.unique(nearest)]


def _level_tests(j: int, n_levels: int, codes: np.ndarray, rows: _Rows, most: int) -> Iterator[CandidateTest]:
    is_known = codes >= 0
    cell = codes[is_known] * rows.n_classes + rows.label[is_known]
    counts = _exact_sums(cell, rows.weight[is_known], n_levels * rows.n_classes).reshape(n_levels, rows.n_classes)
    of_level, missing_weight = counts.sum(axis=1), rows.weight[~is_known].sum()
    for second in _bipartitions(counts, most):
        branch_of = np.where(of_level > 0, second, -1).astype(np.int32)
        weight_above = of_level[second].sum()
        for missing in (0, 1) if missing_weight else (int(2 * weight_above > rows.weight.sum()),):
            yield CandidateTest(j, np.nan, branch_of, missing)
    if missing_weight:
        yield CandidateTest(j, np.nan, np.where(of_level > 0, 0, -1).astype(np.int32), 1)


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
    """Exact sum of the weights at each index, int64 [n]."""
    total = np.zeros(n, np.int64)
    np.add.at(total, place, weight)
    return total
