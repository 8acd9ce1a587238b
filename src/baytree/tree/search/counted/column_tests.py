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
from baytree.tree.model.tree import LEAST_LOG
from baytree.tree.policy.impurity import gain_of
from baytree.tree.policy.policy import Criterion
from baytree.tree.search.counted.counts import BinEncoder, DepthCounts
from baytree.tree.search.counted.groups import TIE, MergeRules
from baytree.tree.search.counted.merging import CellIndex, CountedColumn, MergedColumns, merge_all_columns
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
    where: CellIndex
    judged: MergedColumns
    log_multiplier: np.ndarray  # float64 [n_nodes, n_columns]
    log_adjusted: np.ndarray  # float64 [n_nodes, n_columns], not truncated at p = 1

    def trial(self, at: int, column: int) -> ColumnTest:
        """Test of a column at a node, given by its index among `nodes`."""
        counted, (first, last, _) = self.columns[column], self.where.cells(at, column)
        return ColumnTest(
            node=self.nodes[at],
            column=column,
            n_codes=counted.n_codes,
            is_ordered=counted.is_ordered,
            present=counted.cells.key[first:last] % (counted.n_codes + 1) - 1,
            seen=counted.cells.sums[first:last],
            group=self.judged.group[column][first:last],
            n_groups=int(self.judged.n_groups[at, column]),
            log_p=max(float(self.judged.log_p[at, column]), LEAST_LOG),
            log_multiplier=float(self.log_multiplier[at, column]),
            log_adjusted=float(self.log_adjusted[at, column]),
        )

    def trials(self) -> Iterator[ColumnTest]:
        """Yield all tests, node by node."""
        for at, node in enumerate(self.nodes):
            if node >= 0:
                yield from (self.trial(at, column) for column in range(len(self.columns)))

    def winners(self, choice: SplitChoice) -> Iterator[ColumnTest]:
        """Yield the best test of each node, if it is good enough; ties go to the first column."""
        threshold = log(choice.alpha_split) if choice.alpha_split > 0 else -inf
        is_useful = (self.judged.n_groups > 1) & ((self.judged.log_p < 0) | (choice.alpha_split <= 1))
        if choice.criterion is not None:
            is_useful = self._most_useful(is_useful, choice.criterion, choice.min_gain)
        adjusted = np.where(is_useful, self.log_adjusted, inf)
        smallest = adjusted.min(axis=1, initial=inf)
        has_winner = np.flatnonzero(is_useful.any(axis=1) & (smallest <= threshold))
        best = smallest[has_winner, None]
        column = np.argmax(is_useful[has_winner] & (adjusted[has_winner] <= best + TIE * np.abs(best)), axis=1)
        return map(self.trial, has_winner.tolist(), column.tolist())

    def _most_useful(self, is_useful: np.ndarray, criterion: Criterion, min_gain: float) -> np.ndarray:
        """Mark the test of largest gain at each node, the first of equals; none if all gains are too small."""
        most_useful = np.zeros_like(is_useful)
        for at in range(len(self.nodes)):
            tried = [self.trial(at, column) for column in np.flatnonzero(is_useful[at]).tolist()]
            gains = [gain_of(trial.sums, criterion) for trial in tried]
            largest = max(gains, default=0.0)
            if largest > max(min_gain, 1e-12 * float(tried[0].sums.sum() if tried else 0.0)):
                best = next(trial for trial, gain in zip(tried, gains, strict=True) if gain >= largest * (1 - TIE))
                most_useful[at, best.column] = True
        return most_useful


def compute_column_tests(
    counts: DepthCounts, opened: dict[int, int], columns: list[tuple[int, bool]], rules: MergeRules
) -> DepthTests:
    """Tests of columns (number of codes, is ordered) at open nodes (node id to index in the counts)."""
    is_mean = rules.test == "mean"
    counted = [CountedColumn.of(cells, *column, is_mean) for cells, column in zip(counts.cells, columns, strict=True)]
    where = CellIndex.of(counted, np.array(list(opened.values()), np.int64))
    merged = merge_all_columns(counted, where, rules)
    multiplier = _multipliers(counted, where, merged.n_groups, rules.exhaustive)
    adjusted = np.maximum(np.where(merged.log_p < 0, merged.log_p + multiplier, 0.0), LEAST_LOG)
    return DepthTests(list(opened), counted, where, merged, multiplier, adjusted)


def _multipliers(columns: list[CountedColumn], where: CellIndex, n_groups: np.ndarray, exhaustive: bool | str) -> np.ndarray:
    """Log of Bonferroni's multiplier of each node and column."""
    is_ordered = np.broadcast_to([column.is_ordered for column in columns], n_groups.shape)
    each = (where.last - where.first, n_groups, is_ordered, where.has_missing & is_ordered)
    pairs = zip(*(array.ravel().tolist() for array in each), strict=True)
    return np.array([log_multiplier(*pair, exhaustive) for pair in pairs]).reshape(n_groups.shape)


class ColumnTest(msgspec.Struct, frozen=True, dict=True):
    """Test of a column at a node: its groups of codes and their significance, in natural logarithms."""

    node: int
    column: int
    n_codes: int
    is_ordered: bool
    present: np.ndarray  # codes that occur, with −1 first if values are missing
    seen: np.ndarray  # float64 [n_present, n_sums], sums of each
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
        sums = np.zeros((self.n_groups, self.seen.shape[1]))
        np.add.at(sums, self.group, self.seen)
        return sums


def describe_column_test(trial: ColumnTest, coding: BinEncoder) -> dict[str, Any]:
    """Dict of a test in terms of the table: groups, p-value, Bonferroni multiplier and adjusted p-value."""
    return {
        "node": trial.node,
        "column": coding.schema.columns[trial.column].name,
        "groups": coding.groups(trial.column, trial.group_of, trial.n_groups),
        "missing": trial.floating if trial.floating >= 0 else None,
        **p_values(trial.log_p, trial.log_multiplier, trial.log_adjusted),
    }


def _with_absent(group_of: np.ndarray, known: np.ndarray, is_ordered: bool) -> np.ndarray:
    """Assign levels without rows, which differ from no other: to the group before them or, if unordered, to the first."""
    if len(known) in (0, len(group_of)):
        return group_of
    if not is_ordered:
        return np.where(group_of < 0, 0, group_of).astype(np.int32)
    before = np.maximum(np.searchsorted(known, np.arange(len(group_of)), side="right") - 1, 0)
    return group_of[known[before]]
