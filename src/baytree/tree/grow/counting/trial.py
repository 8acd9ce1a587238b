"""What a column could do at a node, from its counts alone: groups of its codes, and how significant they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, groupby
from math import inf, log
from typing import Any

import msgspec
import numpy as np

from baytree.engine.threads import streamed
from baytree.tree.grow.counting.candidate import Candidate, Grouping, Rules
from baytree.tree.grow.counting.coding import Coding
from baytree.tree.grow.counting.counted import NodeCounts
from baytree.tree.grow.counting.groups import TIE
from baytree.tree.grow.counting.merging import merge, settle
from baytree.tree.grow.impurity import gain_of
from baytree.tree.grow.policy import Criterion
from baytree.tree.model.structure import LEAST_LOG
from baytree.tree.view.split_tests import p_values


class Trial(msgspec.Struct, frozen=True, dict=True):
    """What became of a column at a node: its groups of codes and how significant they are, in natural logarithms.

    Which group each code belongs to is made when it is asked for: of a node's columns one wins.
    """

    node: int
    column: int
    n_codes: int
    is_ordered: bool
    present: np.ndarray  # the codes that occur
    seen: np.ndarray  # float64 [n_present, n_sums], what each of them holds
    grouping: Grouping  # of the codes that occur, the missing one last
    log_p: float
    log_adjusted: float  # not cut at p = 1

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return self.grouping.n_groups

    @property
    def log_multiplier(self) -> float:
        """Bonferroni's."""
        return self.grouping.log_multiplier

    @cached_property
    def floating(self) -> int:
        """The group of missing values, −1 where the node has none."""
        is_level = len(self._known) < len(self.grouping.group_of)
        return int(self.grouping.group_of[-1]) if is_level else self.grouping.floating

    @cached_property
    def group_of(self) -> np.ndarray:
        """The group of every code: int32 [n_codes]."""
        return _with_absent(self._group_of_present, self._known, self.is_ordered)

    @property
    def sums(self) -> np.ndarray:
        """What each group holds: float64 [n_groups, n_sums]."""
        sums = np.zeros((self.n_groups, self.seen.shape[1]))
        np.add.at(sums, np.append(self._group_of_present, self.floating)[self.present], self.seen)  # −1 reads the last entry
        return sums

    @property
    def _known(self) -> np.ndarray:
        return self.present[self.present >= 0]

    @property
    def _group_of_present(self) -> np.ndarray:
        """int32 [n_codes]: −1 where no row has the code."""
        group_of = np.full(self.n_codes, -1, np.int32)
        group_of[self._known] = self.grouping.group_of[: len(self._known)]
        return group_of


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """How the winner among the columns of a node is found."""

    alpha_split: float = 0.05  # a split's adjusted p must not be above
    criterion: Criterion | None = None  # what the groups of a column are worth; None judges by the adjusted p
    min_gain: float = 0.0  # of the criterion, in units of weight


def in_words(trial: Trial, coding: Coding) -> dict[str, Any]:
    """A trial in the words of the table: its groups, p, Bonferroni's multiplier and the adjusted p."""
    return {
        "node": trial.node,
        "column": coding.schema.columns[trial.column].name,
        "groups": coding.groups(trial.column, trial.group_of, trial.n_groups),
        "missing": trial.floating if trial.floating >= 0 else None,
        **p_values(trial.log_p, trial.log_multiplier, trial.log_adjusted),
    }


def trials(counts: NodeCounts, opened: dict[int, int], coding: Coding, rules: Rules) -> list[Trial]:
    """A trial for each open node (its number: its place among the counts) and column.

    Merges advance side by side, but not so many that memory grows; threads take those that do, which do not depend on them.
    """
    batches = _side_by_side(_candidates(counts, opened, coding, rules.test == "mean"))
    return [*chain.from_iterable(streamed(lambda batch: _settled(batch, coding, rules), batches))]


def winners(tried: list[Trial], choice: Choice) -> Iterator[Trial]:
    """The best trial at each node, where one is good enough; the first column of several."""
    threshold = log(choice.alpha_split) if choice.alpha_split > 0 else -inf
    for _, of_node in groupby(tried, lambda trial: trial.node):
        useful = [trial for trial in of_node if trial.n_groups > 1 and (trial.log_p < 0 or choice.alpha_split <= 1)]
        if choice.criterion is not None:
            useful = _most_useful(useful, choice.criterion, choice.min_gain)
        least = min((trial.log_adjusted for trial in useful), default=inf)
        if useful and least <= threshold:
            yield next(trial for trial in useful if trial.log_adjusted <= least + TIE * abs(least))


_SIDE_BY_SIDE = 200_000  # pairs


class _Waiting(msgspec.Struct, frozen=True):
    """A column at a node whose codes are to be merged."""

    node: int
    column: int
    present: np.ndarray  # the codes that occur
    sums: np.ndarray  # [n_present, n_sums]
    candidate: Candidate


def _candidates(counts: NodeCounts, opened: dict[int, int], coding: Coding, is_mean: bool) -> Iterator[_Waiting]:
    each = list(zip(counts.cells, coding.n_codes, coding.is_ordered, strict=True))
    for node, place in opened.items():
        for column, (cells, n_codes, is_ordered) in enumerate(each):
            present, sums = cells.of(place, n_codes)
            yield _Waiting(node, column, present, sums, _candidate(present, sums, is_ordered, is_mean))


def _side_by_side(candidates: Iterable[_Waiting]) -> Iterator[list[_Waiting]]:
    """The columns in order, as many together as have so many pairs of codes."""
    batch: list[_Waiting] = []
    n_pairs = 0
    for each in candidates:
        batch.append(each)
        n_pairs += len(each.present) ** 2
        if n_pairs > _SIDE_BY_SIDE:
            yield batch
            batch, n_pairs = [], 0
    yield batch


def _candidate(present: np.ndarray, sums: np.ndarray, is_ordered: bool, is_mean: bool) -> Candidate:
    """Missing values are the last level of a nominal column, and float in an ordered one."""
    weight = sums[:, 0] if is_mean else sums.sum(axis=1)
    if len(present) == 0 or present[0] >= 0:
        return Candidate(statistics=sums, weight=weight, is_ordered=is_ordered, is_mean=is_mean)
    if not is_ordered:
        last = np.roll(np.arange(len(present)), -1)
        return Candidate(statistics=sums[last], weight=weight[last], is_ordered=False, is_mean=is_mean)
    return Candidate(
        statistics=sums[1:],
        weight=weight[1:],
        is_ordered=True,
        floating=sums[0],
        floating_weight=float(weight[0]),
        is_mean=is_mean,
    )


def _settled(waiting: list[_Waiting], coding: Coding, rules: Rules) -> list[Trial]:
    groupings = settle([merge(each.candidate, rules) for each in waiting], rules.test)
    return [_trial(each, grouping, coding) for each, grouping in zip(waiting, groupings, strict=True)]


def _trial(each: _Waiting, grouping: Grouping, coding: Coding) -> Trial:
    return Trial(
        node=each.node,
        column=each.column,
        n_codes=coding.n_codes[each.column],
        is_ordered=coding.is_ordered[each.column],
        present=each.present,
        seen=each.sums,
        grouping=grouping,
        log_p=max(grouping.log_p, LEAST_LOG),
        log_adjusted=max(grouping.adjusted, LEAST_LOG),
    )


def _with_absent(group_of: np.ndarray, known: np.ndarray, is_ordered: bool) -> np.ndarray:
    """Levels without rows differ from nothing: they join the level before them, or, without order, the first group."""
    if len(known) in (0, len(group_of)):
        return group_of
    if not is_ordered:
        return np.where(group_of < 0, 0, group_of).astype(np.int32)
    before = np.maximum(np.searchsorted(known, np.arange(len(group_of)), side="right") - 1, 0)
    return group_of[known[before]]


def _most_useful(tried: list[Trial], criterion: Criterion, min_gain: float) -> list[Trial]:
    """The trial whose groups gain most of a criterion, the first of equals; none where all gain too little."""
    worth = [gain_of(trial.sums, criterion) for trial in tried]
    most = max(worth, default=0.0)
    if most <= max(min_gain, 1e-12 * float(tried[0].sums.sum() if tried else 0.0)):
        return []
    return [next(trial for trial, gain in zip(tried, worth, strict=True) if gain >= most * (1 - TIE))]
