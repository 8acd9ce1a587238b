"""What all columns could do at all open nodes of a level, from their counts alone, and which of them wins at each node."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log

import msgspec
import numpy as np

from baytree.tree.grow.counting.bonferroni import log_multiplier
from baytree.tree.grow.counting.candidate import Rules
from baytree.tree.grow.counting.counted import NodeCounts
from baytree.tree.grow.counting.groups import TIE
from baytree.tree.grow.counting.level_cells import Column, Where
from baytree.tree.grow.counting.level_judging import Judged, judge
from baytree.tree.grow.counting.trial import Trial
from baytree.tree.grow.impurity import gain_of
from baytree.tree.grow.policy import Criterion
from baytree.tree.model.structure import LEAST_LOG


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """How the winner among the columns of a node is found."""

    alpha_split: float = 0.05  # a split's adjusted p must not be above
    criterion: Criterion | None = None  # what the groups of a column are worth; None judges by the adjusted p
    min_gain: float = 0.0  # of the criterion, in units of weight


class LevelTrials(msgspec.Struct, frozen=True):
    """What became of every column at the open nodes of a level.

    A trial is made when it is asked for: of a node's columns one wins.
    """

    nodes: list[int]  # −1 where the node is no longer in the tree
    columns: list[Column]
    where: Where
    judged: Judged
    log_multiplier: np.ndarray  # float64 [n_nodes, n_columns]
    log_adjusted: np.ndarray  # float64 [n_nodes, n_columns], not cut at p = 1

    def trial(self, at: int, column: int) -> Trial:
        """Of a node, by its place among them, and a column."""
        each, (first, last, _) = self.columns[column], self.where.cells(at, column)
        return Trial(
            node=self.nodes[at],
            column=column,
            n_codes=each.n_codes,
            is_ordered=each.is_ordered,
            present=each.cells.key[first:last] % (each.n_codes + 1) - 1,
            seen=each.cells.sums[first:last],
            group=self.judged.group[column][first:last],
            n_groups=int(self.judged.n_groups[at, column]),
            log_p=max(float(self.judged.log_p[at, column]), LEAST_LOG),
            log_multiplier=float(self.log_multiplier[at, column]),
            log_adjusted=float(self.log_adjusted[at, column]),
        )

    def trials(self) -> Iterator[Trial]:
        """All of them, node by node."""
        for at, node in enumerate(self.nodes):
            if node >= 0:
                yield from (self.trial(at, column) for column in range(len(self.columns)))

    def winners(self, choice: Choice) -> Iterator[Trial]:
        """The best trial at each node, where one is good enough; the first column of several."""
        threshold = log(choice.alpha_split) if choice.alpha_split > 0 else -inf
        is_useful = (self.judged.n_groups > 1) & ((self.judged.log_p < 0) | (choice.alpha_split <= 1))
        if choice.criterion is not None:
            is_useful = self._most_useful(is_useful, choice.criterion, choice.min_gain)
        adjusted = np.where(is_useful, self.log_adjusted, inf)
        least = adjusted.min(axis=1, initial=inf)
        won = np.flatnonzero(is_useful.any(axis=1) & (least <= threshold))
        best = least[won, None]
        column = np.argmax(is_useful[won] & (adjusted[won] <= best + TIE * np.abs(best)), axis=1)
        return map(self.trial, won.tolist(), column.tolist())

    def _most_useful(self, is_useful: np.ndarray, criterion: Criterion, min_gain: float) -> np.ndarray:
        """At each node the trial that gains most of a criterion, the first of equals; none where all gain too little."""
        most_useful = np.zeros_like(is_useful)
        for at in range(len(self.nodes)):
            tried = [self.trial(at, column) for column in np.flatnonzero(is_useful[at]).tolist()]
            worth = [gain_of(trial.sums, criterion) for trial in tried]
            most = max(worth, default=0.0)
            if most > max(min_gain, 1e-12 * float(tried[0].sums.sum() if tried else 0.0)):
                best = next(trial for trial, gain in zip(tried, worth, strict=True) if gain >= most * (1 - TIE))
                most_useful[at, best.column] = True
        return most_useful


def tried(counts: NodeCounts, opened: dict[int, int], columns: list[tuple[int, bool]], rules: Rules) -> LevelTrials:
    """What columns (their number of codes, and whether they are ordered) can do at nodes (their places in the counts)."""
    is_mean = rules.test == "mean"
    each = [Column.of(cells, *column, is_mean) for cells, column in zip(counts.cells, columns, strict=True)]
    where = Where.of(each, np.array(list(opened.values()), np.int64))
    judged = judge(each, where, rules)
    multiplier = _multipliers(each, where, judged.n_groups, rules.exhaustive)
    adjusted = np.maximum(np.where(judged.log_p < 0, judged.log_p + multiplier, 0.0), LEAST_LOG)
    return LevelTrials(list(opened), each, where, judged, multiplier, adjusted)


def _multipliers(columns: list[Column], where: Where, n_groups: np.ndarray, exhaustive: bool | str) -> np.ndarray:
    """log of Bonferroni's factor of each node and column."""
    is_ordered = np.broadcast_to([column.is_ordered for column in columns], n_groups.shape)
    each = (where.last - where.first, n_groups, is_ordered, where.has_missing & is_ordered)
    pairs = zip(*(array.ravel().tolist() for array in each), strict=True)
    return np.array([log_multiplier(*pair, exhaustive) for pair in pairs]).reshape(n_groups.shape)
