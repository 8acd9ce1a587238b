"""The tests that an exact search may choose from, and what they say of rows.

Numbers and ranks are cut between neighbouring values, where there are many at quantiles of weight; few levels are parted
in every way, of many each is held against the rest, and all are cut in the order of their share of a class. Where values
are missing, every test is offered twice, with such rows on either side, and once more they stand alone against the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from baytree.data.encoding.table import Table, is_missing
from baytree.data.schema.column import Column, Kind
from baytree.tree.model.tree import CandidateTests


class CandidateTest(NamedTuple):
    """A test of one column."""

    column: int
    cut: float  # NaN where the test is by levels
    branch_of: np.ndarray  # int32 [n_levels], none where it is a cut
    missing: int


class Tests(NamedTuple):
    """Tests, and where each sends each row."""

    offered: CandidateTests
    is_second: np.ndarray  # bool [n_tests, n_rows], the row takes the second branch


class _Rows(NamedTuple):
    weight: np.ndarray  # int64 [n_rows]
    label: np.ndarray  # int [n_rows]
    n_classes: int


def tests_of(table: Table, weight: np.ndarray, max_tests: int) -> Tests:
    """The tests of a table whose rows have these weights, int64 [n_rows], with at most so many cuts or groups a column.

    A test that parts the rows as an earlier one does is left out: it could never win.
    """
    found, sides, seen = [], [], set()
    is_there = weight > 0
    for j, column in enumerate(table.schema):
        values = np.asarray(table.values[j])
        for test in _of_column(j, column, values, _Rows(weight, table.label, table.n_classes), max_tests):
            side = _second(test, values)
            first = side[is_there] ^ (side[is_there][:1])  # a test and its opposite part rows alike
            if not first.any() or (key := np.packbits(first).tobytes()) in seen:
                continue
            seen.add(key), found.append(test), sides.append(side)
    return Tests(_packed(found), np.array(sides, np.bool_).reshape(len(sides), len(table)))


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


def _second(test: CandidateTest, values: np.ndarray) -> np.ndarray:
    """bool [n_rows]: which rows take the second branch."""
    if not len(test.branch_of):
        return np.where(is_missing(values), test.missing == 1, values > test.cut)
    branch = np.append(test.branch_of, -1)[values]  # the code of a missing value is -1
    return np.where(branch >= 0, branch == 1, test.missing == 1)


def _of_column(j: int, column: Column, values: np.ndarray, rows: _Rows, most: int) -> Iterator[CandidateTest]:
    if column.kind is Kind.NOMINAL:
        yield from _by_levels(j, len(column.levels), values, rows, most)
    else:
        yield from _by_cuts(j, values, rows.weight, most)


def _by_cuts(j: int, values: np.ndarray, weight: np.ndarray, most: int) -> Iterator[CandidateTest]:
    known = ~is_missing(values) & (weight > 0)
    no_levels, lacks = np.zeros(0, np.int32), weight[~known].sum()
    for cut in _cuts(values[known].astype(np.float64), weight[known], most).tolist():
        above = weight[known & (values > cut)].sum()
        for missing in (0, 1) if lacks else (int(2 * above > weight.sum()),):
            yield CandidateTest(j, cut, no_levels, missing)
    if lacks:
        yield CandidateTest(j, np.inf, no_levels, 1)


def _cuts(values: np.ndarray, weight: np.ndarray, most: int) -> np.ndarray:
    """Half-way between neighbouring values; of more than `most`, those nearest to quantiles of weight. Ascending."""
    distinct, place = np.unique(values, return_inverse=True)
    low, high = distinct[:-1], distinct[1:]
    with np.errstate(invalid="ignore", over="ignore"):
        middle = low + (high - low) / 2
    cuts = np.where((low <= middle) & (middle < high), middle, low)
    if len(cuts) <= most:
        return cuts
    below = np.cumsum(_weights(place, weight, len(distinct)))
    wanted = below[-1] * np.arange(1, most + 1) / (most + 1)
    after = np.searchsorted(below[:-1], wanted).clip(1, len(cuts) - 1)
    nearest = np.where(wanted - below[after - 1] <= below[after] - wanted, after - 1, after)
    return cuts[np.unique(nearest)]


def _by_levels(j: int, n_levels: int, codes: np.ndarray, rows: _Rows, most: int) -> Iterator[CandidateTest]:
    known = codes >= 0
    cell = codes[known] * rows.n_classes + rows.label[known]
    counts = _weights(cell, rows.weight[known], n_levels * rows.n_classes).reshape(n_levels, rows.n_classes)
    of_level, lacks = counts.sum(axis=1), rows.weight[~known].sum()
    for second in _groups(counts, most):
        branch_of = np.where(of_level > 0, second, -1).astype(np.int32)
        above = of_level[second].sum()
        for missing in (0, 1) if lacks else (int(2 * above > rows.weight.sum()),):
            yield CandidateTest(j, np.nan, branch_of, missing)
    if lacks:
        yield CandidateTest(j, np.nan, np.where(of_level > 0, 0, -1).astype(np.int32), 1)


def _groups(counts: np.ndarray, most: int) -> Iterator[np.ndarray]:
    """bool [n_levels]: the levels of the second branch, from counts [n_levels, n_classes].

    In every way if there are no more than `most`; else all but one, and those above a cut in the order of their shares.
    """
    weight = counts.sum(axis=1)
    present = np.flatnonzero(weight > 0)
    n_ways = 2 ** min(len(present) - 1, 31) - 1 if len(present) else 0
    if n_ways <= most:
        for way in range(1, n_ways + 1):
            second = np.zeros(len(weight), np.bool_)
            second[present[1:][(way >> np.arange(len(present) - 1)) & 1 == 1]] = True
            yield second
        return
    heaviest = present[np.argsort(-weight[present], kind="stable")][:most]
    for level in np.sort(heaviest).tolist():
        second = weight > 0
        second[level] = False
        yield second
    classes = range(1, 2) if counts.shape[1] == 2 else range(counts.shape[1])  # of two classes both orders are the same
    for c in classes:
        yield from _by_share(counts[:, c], weight, max(1, most // len(classes)))


def _by_share(count: np.ndarray, weight: np.ndarray, most: int) -> Iterator[np.ndarray]:
    """The same for levels in the order of their share of one class (Breiman et al. 1984)."""
    share = np.divide(count, weight, out=np.full(len(weight), -1.0), where=weight > 0)
    present = weight > 0
    for cut in _cuts(share[present], weight[present], most).tolist():
        yield share > cut


def _weights(place: np.ndarray, weight: np.ndarray, n: int) -> np.ndarray:
    """int64 [n]: the weight at each place, exactly."""
    total = np.zeros(n, np.int64)
    np.add.at(total, place, weight)
    return total
