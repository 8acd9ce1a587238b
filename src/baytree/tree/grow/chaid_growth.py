"""CHAID's growth: at every node the column whose merged groups differ most significantly becomes the split (Kass 1980).

All open nodes of a depth are looked at together. A node needs only the statistics of each level of each column.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from math import inf, log

import msgspec
import numpy as np

from baytree.table.schema import Kind
from baytree.table.table import Table
from baytree.tree.grow.bins import Bins
from baytree.tree.grow.impurity import gain_of, impurity_of
from baytree.tree.grow.merging import TIE, Candidate, Grouping, Rules, merge, settle
from baytree.tree.grow.policy import Criterion
from baytree.tree.model.chaid_model import ChaidModel, Trial
from baytree.tree.model.structure import LEAF, STOP, Surrogates, Tree


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a tree: how levels merge, and when a node is split."""

    rules: Rules
    alpha_split: float = 0.05
    min_split: float = 20
    max_depth: int | None = None
    bins: int = 10
    criterion: Criterion | None = None  # what the groups of a column are worth; None judges by the adjusted p
    min_gain: float = 0.0  # of the criterion, in units of weight
    min_impurity: float = 0.0  # of the criterion, per unit of weight


def grow(table: Table, growth: Growth) -> ChaidModel:
    """The tree of a table."""
    bins = Bins.of(table, growth.bins)
    rows = _Rows(bins.coded(table))
    nodes = [_Node(rows, np.arange(len(table)), 0)]
    trials: list[Trial] = []
    opened = [0]
    while opened:
        tried = _try_columns(rows, nodes, [k for k in opened if _may_split(rows, nodes[k], growth)], growth.rules)
        trials += tried
        opened = [child for winner in _winners(tried, growth, rows, nodes) for child in _split(rows, nodes, winner)]
    return ChaidModel(_tree(rows, nodes), bins, tuple(trials))


class _Node:
    """A node while the tree grows."""

    def __init__(self, of: _Rows, rows: np.ndarray, depth: int) -> None:
        self.rows, self.n_rows, self.depth = rows, len(rows), depth
        self.statistics = of.of_rows(rows)
        self.first = 0
        self.trial: Trial | None = None
        self.missing = STOP


class _Rows:
    """The training rows as codes, and the statistics of any part of them."""

    def __init__(self, table: Table) -> None:
        self.codes = table.values
        self.n_levels = [len(column.levels) for column in table.schema]
        self.weight = table.weight
        self.is_unweighted = table.is_unweighted
        self.is_mean = table.n_classes == 0
        self.n_classes = table.n_classes
        self.label = table.label
        self.is_ordered = [column.kind is not Kind.NOMINAL for column in table.schema]

    def of_rows(self, rows: np.ndarray) -> np.ndarray:
        """[n_statistics] of these rows: weight per class, or weight, mean and squares about the mean."""
        weight, label = self.weight[rows], self.label[rows]
        if not self.is_mean:
            return np.bincount(label, weight, self.n_classes)
        total = weight.sum()
        mean = float(weight @ label / total)
        mean += float(weight @ (label - mean) / total)  # the second pass takes away what the first one rounded
        return np.array([total, mean, float(weight @ (label - mean) ** 2)])

    def impurity(self, statistics: np.ndarray, criterion: Criterion) -> float:
        """The criterion per unit of weight, or the variance."""
        return float(statistics[2] / statistics[0] if self.is_mean else impurity_of(statistics[None], criterion)[0])

    def of_levels(self, rows: np.ndarray, j: int, centre: float) -> tuple[np.ndarray, np.ndarray]:
        """The codes that occur in these rows, and their statistics [n_codes, n_statistics]."""
        code = self.codes[j][rows]
        if len(rows) < self.n_levels[j]:
            present, code = np.unique(code, return_inverse=True)
            return present, self._totals(code, rows, len(present), centre)
        totals = self._totals(code + 1, rows, int(self.n_levels[j]) + 1, centre)
        present = np.flatnonzero((totals[:, 0] if self.is_mean else totals.sum(axis=1)) > 0)
        return present - 1, totals[present]

    def _totals(self, code: np.ndarray, rows: np.ndarray, n: int, centre: float) -> np.ndarray:
        weight = None if self.is_unweighted else self.weight[rows]
        if not self.is_mean:
            cell = code.astype(np.int64) * self.n_classes + self.label[rows]
            return np.bincount(cell, weight, n * self.n_classes).reshape(n, self.n_classes).astype(np.float64)
        y = self.label[rows] - centre
        weight = np.ones(len(rows)) if weight is None else weight
        return np.stack([np.bincount(code, weight * y**power, n) for power in (0, 1, 2)], axis=1)


def _may_split(rows: _Rows, node: _Node, growth: Growth) -> bool:
    if growth.max_depth is not None and node.depth >= growth.max_depth:
        return False
    if (node.statistics[0] if rows.is_mean else node.statistics.sum()) < growth.min_split:
        return False
    if growth.min_impurity > 0 and rows.impurity(node.statistics, growth.criterion or Criterion.GINI) <= growth.min_impurity:
        return False
    label = rows.label[node.rows]
    return bool((label != label[0]).any())


def _try_columns(rows: _Rows, nodes: list[_Node], opened: list[int], rules: Rules) -> list[Trial]:
    """A trial for each open node and column; merges advance side by side, but not so many that memory grows."""
    trials: list[Trial] = []
    waiting: list[tuple[int, int, np.ndarray, Candidate]] = []
    n_pairs = 0
    for candidate in _candidates(rows, nodes, opened):
        waiting.append(candidate)
        n_pairs += len(candidate[2]) ** 2
        if n_pairs > _SIDE_BY_SIDE:
            trials += _trials(rows, waiting, rules)
            waiting, n_pairs = [], 0
    return trials + _trials(rows, waiting, rules)


_SIDE_BY_SIDE = 200_000  # pairs


def _candidates(rows: _Rows, nodes: list[_Node], opened: list[int]) -> Iterator[tuple[int, int, np.ndarray, Candidate]]:
    for k in opened:
        centre = float(nodes[k].statistics[1]) if rows.is_mean else 0.0
        for j in range(len(rows.codes)):
            present, statistics = rows.of_levels(nodes[k].rows, j, centre)
            yield k, j, present, _candidate(rows, j, present, statistics)


def _candidate(rows: _Rows, j: int, present: np.ndarray, statistics: np.ndarray) -> Candidate:
    """Missing values are the last level of a nominal column, and float in an ordered one."""
    weight = statistics[:, 0] if rows.is_mean else statistics.sum(axis=1)
    if len(present) == 0 or present[0] >= 0:
        return Candidate(statistics=statistics, weight=weight, is_ordered=rows.is_ordered[j], is_mean=rows.is_mean)
    if not rows.is_ordered[j]:
        last = np.roll(np.arange(len(present)), -1)
        return Candidate(statistics=statistics[last], weight=weight[last], is_ordered=False, is_mean=rows.is_mean)
    return Candidate(
        statistics=statistics[1:],
        weight=weight[1:],
        is_ordered=True,
        floating=statistics[0],
        floating_weight=float(weight[0]),
        is_mean=rows.is_mean,
    )


def _trials(rows: _Rows, waiting: list[tuple[int, int, np.ndarray, Candidate]], rules: Rules) -> list[Trial]:
    groupings = settle([merge(candidate, rules) for *_, candidate in waiting], rules.test)
    return [_trial(rows, k, j, present, grouping) for (k, j, present, _), grouping in zip(waiting, groupings, strict=True)]


def _trial(rows: _Rows, k: int, j: int, present: np.ndarray, grouping: Grouping) -> Trial:
    known = present[present >= 0]
    floating = grouping.floating
    if len(known) < len(grouping.group_of):
        floating = int(grouping.group_of[-1])
    group_of = np.full(int(rows.n_levels[j]), -1, np.int32)
    group_of[known] = grouping.group_of[: len(known)]
    return Trial(
        node=k,
        column=j,
        group_of=_with_absent(group_of, known, rows.is_ordered[j]),
        floating=floating,
        n_groups=grouping.n_groups,
        log_p=max(grouping.log_p, _LEAST_LOG),
        log_multiplier=grouping.log_multiplier,
        log_adjusted=max(grouping.adjusted, _LEAST_LOG),
    )


_LEAST_LOG = -1e300  # p = 0, for groups that leave no variance at all


def _with_absent(group_of: np.ndarray, known: np.ndarray, is_ordered: bool) -> np.ndarray:
    """Levels without rows differ from nothing: they join the level before them, or, without order, the first group."""
    if not len(known):
        return group_of
    if not is_ordered:
        return np.where(group_of < 0, 0, group_of).astype(np.int32)
    before = np.maximum(np.searchsorted(known, np.arange(len(group_of)), side="right") - 1, 0)
    return group_of[known[before]]


def _winners(trials: list[Trial], growth: Growth, rows: _Rows, nodes: list[_Node]) -> Iterator[Trial]:
    """The best trial at each node, where one is good enough; the first column of several."""
    threshold = log(growth.alpha_split) if growth.alpha_split > 0 else -inf
    for k, of_node in groupby(trials, lambda trial: trial.node):
        useful = [trial for trial in of_node if trial.n_groups > 1 and (trial.log_p < 0 or growth.alpha_split <= 1)]
        if growth.criterion is not None:
            useful = _most_useful(rows, nodes[k], useful, growth)
        least = min((trial.log_adjusted for trial in useful), default=inf)
        if useful and least <= threshold:
            yield next(trial for trial in useful if trial.log_adjusted <= least + TIE * abs(least))


def _most_useful(rows: _Rows, node: _Node, trials: list[Trial], growth: Growth) -> list[Trial]:
    """The trial whose groups gain most of a criterion, the first of equals; none where all gain too little."""
    criterion = growth.criterion or Criterion.GINI
    worth = [gain_of(_counts(rows, node, trial), criterion) for trial in trials]
    most = max(worth, default=0.0)
    if most <= max(growth.min_gain, 1e-12 * float(node.statistics.sum())):
        return []
    return [next(trial for trial, gain in zip(trials, worth, strict=True) if gain >= most * (1 - TIE))]


def _counts(rows: _Rows, node: _Node, trial: Trial) -> np.ndarray:
    """float64 [n_groups, n_classes]: the weight of each class in each group."""
    branch = np.append(trial.group_of, trial.floating)[rows.codes[trial.column][node.rows]]
    cell = branch.astype(np.int64) * rows.n_classes + rows.label[node.rows]
    return np.bincount(cell, rows.weight[node.rows], trial.n_groups * rows.n_classes).reshape(trial.n_groups, -1)


def _split(rows: _Rows, nodes: list[_Node], winner: Trial) -> range:
    """Opens the children of a node."""
    node = nodes[winner.node]
    code = rows.codes[winner.column][node.rows]
    branch = np.append(winner.group_of, winner.floating)[code]  # code −1 reads the last entry
    node.trial, node.first = winner, len(nodes)
    sizes = np.bincount(branch, rows.weight[node.rows], winner.n_groups)
    node.missing = winner.floating if winner.floating >= 0 else int(np.argmax(sizes))
    nodes += [_Node(rows, node.rows[branch == group], node.depth + 1) for group in range(winner.n_groups)]
    node.rows = node.rows[:0]  # its children have them now
    return range(node.first, len(nodes))


def _tree(rows: _Rows, nodes: list[_Node]) -> Tree:
    """The nodes as flat arrays."""
    n = len(nodes)
    statistics = np.array([node.statistics for node in nodes])  # [n_nodes, n_statistics]
    inner = [node for node in nodes if node.trial is not None]
    branch_of = [node.trial.group_of for node in inner if node.trial]
    levels = np.array([len(node.trial.group_of) if node.trial else 0 for node in nodes], np.int32)
    return Tree(
        column=np.array([node.trial.column if node.trial else LEAF for node in nodes], np.int32),
        first=np.array([node.first for node in nodes], np.int32),
        branches=np.array([node.trial.n_groups if node.trial else 0 for node in nodes], np.int32),
        cut=np.full(n, np.nan),
        strict=np.zeros(n, bool),
        mirrored=np.zeros(n, bool),
        start=(np.cumsum(levels) - levels).astype(np.int32),
        levels=levels,
        branch_of=np.concatenate([np.zeros(0, np.int32), *branch_of]),
        missing=np.array([node.missing for node in nodes], np.int32),
        rows=np.array([node.n_rows for node in nodes], np.int64),
        complexity=np.zeros(n),
        surrogates=Surrogates.none(),
        **_contents(statistics, nodes, rows.is_mean),
    )


def _contents(statistics: np.ndarray, nodes: list[_Node], is_mean: bool) -> dict[str, np.ndarray]:
    """What the nodes hold: weights, predictions, impurity (Gini's, or the variance) and what splits take from it."""
    weight = statistics[:, 0].copy() if is_mean else statistics.sum(axis=1)
    counts = np.zeros((len(nodes), 0)) if is_mean else statistics
    value = statistics[:, 1:2].copy() if is_mean else counts / weight[:, None]
    risk = statistics[:, 2].copy() if is_mean else weight - counts.max(axis=1)
    impurity = risk / weight if is_mean else 1.0 - (value**2).sum(axis=1)
    gain, share = np.zeros(len(nodes)), np.ones(len(nodes))
    for k, node in enumerate(nodes):
        if node.trial:
            children = slice(node.first, node.first + node.trial.n_groups)
            gain[k] = weight[k] * impurity[k] - weight[children] @ impurity[children]
            share[children] = weight[children] / weight[k]
    return {
        "weight": weight, "counts": counts, "value": value, "risk": risk, "impurity": impurity,
        "gain": np.maximum(gain, 0.0), "share": np.minimum(share, 1.0),
        "prediction": np.argmax(value, axis=1).astype(np.int32),
    }  # fmt: skip
