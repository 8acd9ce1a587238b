"""Tests of all columns at all open nodes of a level, from their counts, and the winner at each node.

Merging groups the codes of each column; Bonferroni's multiplier adjusts its p-value (Kass 1980); `SplitChoice` selects
the column by adjusted p-value or by a criterion.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import inf, log
from typing import Any

import msgspec
import numpy as np

from baytree.tree.inspection.node_records import p_values
from baytree.tree.model.tree import MIN_LOG_P
from baytree.tree.policy.impurity import gain_of
from baytree.tree.policy.policy import Criterion
from baytree.tree.search.counted.counts import BinEncoder, DepthCounts
from baytree.tree.search.counted.groups import TIE_TOLERANCE, MergeRules
from baytree.tree.search.counted.merging import CellIndex, CountedColumn, MergedColumns, merge_columns
from baytree.tree.search.counted.significance_tests import log_multiplier


class SplitChoice(msgspec.Struct, frozen=True, kw_only=True):
    """How the best column of a node is selected."""

    alpha_split: float = 0.05  # maximum adjusted p-value of a split
    criterion: Criterion | None = None  # criterion by which columns compete; None: by adjusted p-value
    min_gain: float = 0.0  # of the criterion, in units of weight


class DepthTests(msgspec.Struct, frozen=True):
    """Merged groups and p-values of every column at the open nodes of a level.

    `ColumnTest` objects are built on demand, since only one column per node wins.
    """

    nodes: list[int]  # −1 if the node is no longer in the tree
    columns: list[CountedColumn]
    cells: CellIndex
    merged: MergedColumns
    log_multiplier: np.ndarray  # float64 [n_nodes, n_columns]
    log_adjusted: np.ndarray  # float64 [n_nodes, n_columns], not truncated at p = 1

    def column_test(self, index: int, column: int) -> ColumnTest:
        """Test of a column at a node, given by its index among `nodes`."""
        column_counts, (first, last, _) = self.columns[column], self.cells.cells(index, column)
        return ColumnTest(
            node=self.nodes[index],
            column=column,
            n_codes=column_counts.n_codes,
            is_ordered=column_counts.is_ordered,
            present=column_counts.cells.key[first:last] % (column_counts.n_codes + 1) - 1,
            sums_by_code=column_counts.cells.sums[first:last],
            group=self.merged.group[column][first:last],
            n_groups=int(self.merged.n_groups[index, column]),
            log_p=max(float(self.merged.log_p[index, column]), MIN_LOG_P),
            log_multiplier=float(self.log_multiplier[index, column]),
            log_adjusted=float(self.log_adjusted[index, column]),
        )

    def trials(self) -> Iterator[ColumnTest]:
        """Yield all tests, node by node."""
        for index, node in enumerate(self.nodes):
            if node >= 0:
                yield from (self.column_test(index, column) for column in range(len(self.columns)))

    def winners(self, choice: SplitChoice) -> Iterator[ColumnTest]:
        """Yield the best test of each node, if it is good enough; ties go to the first column."""
        threshold = log(choice.alpha_split) if choice.alpha_split > 0 else -inf
        is_useful = (self.merged.n_groups > 1) & ((self.merged.log_p < 0) | (choice.alpha_split <= 1))
        if choice.criterion is not None:
            is_useful = self._largest_gain(is_useful, choice.criterion, choice.min_gain)
        adjusted = np.where(is_useful, self.log_adjusted, inf)
        smallest = adjusted.min(axis=1, initial=inf)
        has_winner = np.flatnonzero(is_useful.any(axis=1) & (smallest <= threshold))
        best = smallest[has_winner, None]
        column = np.argmax(is_useful[has_winner] & (adjusted[has_winner] <= best + TIE_TOLERANCE * np.abs(best)), axis=1)
        return map(self.column_test, has_winner.tolist(), column.tolist())

    def _largest_gain(self, is_useful: np.ndarray, criterion: Criterion, min_gain: float) -> np.ndarray:
        """Mark the test of largest gain at each node, the first of equals; none if all gains are too small."""
        is_best = np.zeros_like(is_useful)
        for index in range(len(self.nodes)):
            tests = [self.column_test(index, column) for column in np.flatnonzero(is_useful[index]).tolist()]
            gains = [gain_of(test.sums, criterion) for test in tests]
            largest = max(gains, default=0.0)
            if largest > max(min_gain, 1e-12 * float(tests[0].sums.sum() if tests else 0.0)):
                best = next(test for test, gain in zip(tests, gains, strict=True) if gain >= largest * (1 - TIE_TOLERANCE))
                is_best[index, best.column] = True
        return is_best


def compute_column_tests(
    counts: DepthCounts, opened: dict[int, int], columns: list[tuple[int, bool]], rules: MergeRules
) -> DepthTests:
    """Tests of columns (number of codes, is ordered) at open nodes (node id to index in the counts)."""
    is_mean = rules.test == "mean"
    column_counts = [CountedColumn.of(cells, *column, is_mean) for cells, column in zip(counts.cells, columns, strict=True)]
    cells = CellIndex.of(column_counts, np.array(list(opened.values()), np.int64))
    merged = merge_columns(column_counts, cells, rules)
    multiplier = _multipliers(column_counts, cells, merged.n_groups, rules.exhaustive)
    adjusted = np.maximum(np.where(merged.log_p < 0, merged.log_p + multiplier, 0.0), MIN_LOG_P)
    return DepthTests(list(opened), column_counts, cells, merged, multiplier, adjusted)


def _multipliers(columns: list[CountedColumn], cells: CellIndex, n_groups: np.ndarray, exhaustive: bool | str) -> np.ndarray:
    """Log of Bonferroni's multiplier of each node and column."""
    is_ordered = np.broadcast_to([column.is_ordered for column in columns], n_groups.shape)
    arguments = (cells.last - cells.first, n_groups, is_ordered, cells.has_missing & is_ordered)
    pairs = zip(*(array.ravel().tolist() for array in arguments), strict=True)
    return np.array([log_multiplier(*pair, exhaustive) for pair in pairs]).reshape(n_groups.shape)


class ColumnTest(msgspec.Struct, frozen=True, dict=True):
    """Test of a column at a node: its groups of codes and their significance, in natural logarithms."""

    node: int
    column: int
    n_codes: int
    is_ordered: bool
    present: np.ndarray  # codes that occur, with −1 first if values are missing
    sums_by_code: np.ndarray  # float64 [n_present, n_sums], sums of each
    group: np.ndarray  # int32 [n_present]
    n_groups: int
    log_p: float
    log_multiplier: float  # Bonferroni's multiplier
    log_adjusted: float  # not truncated at p = 1

    @property
    def floating(self) -> int:
        """Group of missing values, −1 if the node has none."""
        return int(self.group[0]) if len(self.present) and self.present[0] < 0 else -1

    @cached_property
    def group_of(self) -> np.ndarray:
        """Group of each code, int32 [n_codes]."""
        is_known = self.present >= 0
        present, group_of = self.present[is_known], np.full(self.n_codes, -1, np.int32)
        group_of[present] = self.group[is_known]
        return _with_absent(group_of, present, self.is_ordered)

    @property
    def sums(self) -> np.ndarray:
        """Sums of each group, float64 [n_groups, n_sums]."""
        sums = np.zeros((self.n_groups, self.sums_by_code.shape[1]))
        np.add.at(sums, self.group, self.sums_by_code)
        return sums


def describe_column_test(test: ColumnTest, coding: BinEncoder) -> dict[str, Any]:
    """Dict of a test in terms of the table: groups, p-value, Bonferroni multiplier and adjusted p-value."""
    return {
        "node": test.node,
        "column": coding.schema.columns[test.column].name,
        "groups": coding.groups(test.column, test.group_of, test.n_groups),
        "missing": test.floating if test.floating >= 0 else None,
        **p_values(test.log_p, test.log_multiplier, test.log_adjusted),
    }


def _with_absent(group_of: np.ndarray, present: np.ndarray, is_ordered: bool) -> np.ndarray:
    """Assign levels without rows, which differ from no other: to the group before them or, if unordered, to the first."""
    if len(present) in (0, len(group_of)):
        return group_of
    if not is_ordered:
        return np.where(group_of < 0, 0, group_of).astype(np.int32)
    preceding = np.maximum(np.searchsorted(present, np.arange(len(group_of)), side="right") - 1, 0)
    return group_of[present[preceding]]
