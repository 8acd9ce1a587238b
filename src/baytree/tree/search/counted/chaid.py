"""CHAID's growth: at every node the column whose merged groups differ most significantly becomes the split (Kass 1980).

All open nodes of a depth are looked at together, by one round of counting; what follows is a function of the counts.

A tree whose branches are groups of levels that do not differ: CHAID's merging under any criterion of several branches.
"""

from __future__ import annotations

from math import inf
from typing import Any

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.engine.partitions import ROWS_PER_PART, Partitions, PartitionValues, WeightRange
from baytree.parallel import threads
from baytree.tree.model.arrays import LEAF, STOP
from baytree.tree.model.builder import build
from baytree.tree.model.tree import ExtraThresholds, Significance, Tree
from baytree.tree.policy.impurity import impurity_of
from baytree.tree.policy.policy import SUITS, Criterion, Missing, Policy, SplitSelection
from baytree.tree.pruning.cost_complexity import prune_to_n_leaves, with_complexity
from baytree.tree.search.counted.column_tests import ColumnTest, DepthTests, SplitChoice, compute_column_tests
from baytree.tree.search.counted.counts import BinEncoder, DepthCounts, OpenDepth, centres, count
from baytree.tree.search.counted.groups import MergeRules


class ChaidSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a tree: how levels merge, and when a node is split."""

    rules: MergeRules
    choice: SplitChoice = SplitChoice()
    min_split: float = 20
    max_depth: int | None = None
    bins: int = 10
    min_impurity: float = 0.0  # of the criterion, per unit of weight

    @property
    def is_mean(self) -> bool:
        """Whether the target is a number."""
        return self.rules.test == "mean"


class ChaidResult(msgspec.Struct, frozen=True):
    """A tree, and what every column could have done at every node that was looked at."""

    tree: Tree
    tried: list[DepthTests]
    coding: BinEncoder


def grow(rows: Partitions, growth: ChaidSettings) -> ChaidResult:
    """The tree of these rows."""
    coding = BinEncoder.of(rows, growth.bins)
    coded = rows.apply(coding.coded, ROWS_PER_PART)
    columns = list(zip(coding.n_codes, coding.is_ordered, strict=True))
    nodes, fresh, levels = [_Node(0)], [0], []
    while fresh:
        counts, opened = _look(coded, nodes, fresh, growth, coding)
        if not opened:
            break
        with threads.limit_threads(rows.n_jobs):
            levels.append(compute_column_tests(counts, opened, columns, growth.rules))
        fresh = [child for winner in levels[-1].winners(growth.choice) for child in _split(nodes, winner, growth.is_mean)]
    return ChaidResult(_tree(nodes, coding, growth.is_mean), levels, coding)


class _Node:
    """A node while the tree grows."""

    def __init__(self, depth: int, expected: np.ndarray | None = None) -> None:
        self.depth, self.expected = depth, expected  # the weight of each class, as the split that made the node tells it
        self.n_rows, self.statistics = 0, np.zeros(0)  # weight per class, or weight, mean and squares about the mean
        self.first, self.missing = 0, STOP
        self.trial: ColumnTest | None = None


def _look(
    rows: PartitionValues[Table], nodes: list[_Node], fresh: list[int], growth: ChaidSettings, coding: BinEncoder
) -> tuple[DepthCounts, dict[int, int]]:
    """Counts the rows of new nodes, and the columns of those that may be split; the latter by node and place."""
    level = _level(nodes, fresh, coding, np.array([_may_count(nodes[k], growth) for k in fresh]))
    weight = mean = None
    if growth.is_mean:
        weight, mean, differ = centres(rows, level)
        level = msgspec.structs.replace(level, is_open=level.is_open & differ & (weight >= growth.min_split))
    counts = count(rows, level, mean)
    statistics = counts.sums if weight is None or mean is None else np.column_stack([weight, mean, counts.sums])
    for place, k in enumerate(fresh):
        nodes[k].n_rows, nodes[k].statistics = int(counts.rows[place]), statistics[place]
    may_split = (place for place in np.flatnonzero(level.is_open) if _is_mixed(nodes[fresh[place]], growth))
    return counts, {fresh[place]: int(place) for place in may_split}


def _may_count(node: _Node, growth: ChaidSettings) -> bool:
    """Whether a node may be split, by what its parent's split tells of it."""
    if growth.max_depth is not None and node.depth >= growth.max_depth:
        return False
    expected = node.expected
    return expected is None or bool(expected.sum() >= growth.min_split and np.count_nonzero(expected) > 1)


def _is_mixed(node: _Node, growth: ChaidSettings) -> bool:
    """Whether a node that was counted has rows enough that differ enough."""
    statistics = node.statistics
    if growth.is_mean:
        return growth.min_impurity <= 0 or bool(statistics[2] / statistics[0] > growth.min_impurity)
    if statistics.sum() < growth.min_split or np.count_nonzero(statistics) < 2:
        return False
    criterion = growth.choice.criterion or Criterion.GINI
    return growth.min_impurity <= 0 or bool(impurity_of(statistics[None], criterion)[0] > growth.min_impurity)


def _split(nodes: list[_Node], winner: ColumnTest, is_mean: bool) -> range:
    """Opens the children of a node."""
    node = nodes[winner.node]
    node.trial, node.first = winner, len(nodes)
    sizes = winner.sums[:, 0] if is_mean else winner.sums.sum(axis=1)
    node.missing = winner.floating if winner.floating >= 0 else int(np.argmax(sizes))
    nodes += [_Node(node.depth + 1, None if is_mean else sums) for sums in winner.sums]
    return range(node.first, len(nodes))


def _level(nodes: list[_Node], fresh: list[int], coding: BinEncoder, is_open: np.ndarray) -> OpenDepth:
    """What a part of the rows needs to find its new nodes: the tests so far, over codes."""
    n_levels = np.array([len(node.trial.group_of) if node.trial else 0 for node in nodes], np.int32)
    n = len(nodes)
    tests = _links(nodes) | _maps([node.trial.group_of for node in nodes if node.trial], n_levels)
    tests |= {"cut": np.zeros(n), "strict": np.zeros(n, bool), "share": np.zeros(n)}
    place_of = np.full(n, -1, np.int32)
    place_of[fresh] = np.arange(len(fresh))
    return OpenDepth(tests, place_of, is_open, coding.n_codes)


def _tree(nodes: list[_Node], coding: BinEncoder, is_mean: bool) -> Tree:
    """The nodes as flat arrays: groups of bins become cuts."""
    n, splits = len(nodes), [(k, node.trial) for k, node in enumerate(nodes) if node.trial]
    cuts = {k: coding.cuts(trial.column, trial.group_of) for k, trial in splits}
    n_levels = np.zeros(n, np.int32)
    for k, trial in splits:
        n_levels[k] = len(trial.group_of) if cuts[k] is None else 0
    return build(
        **_links(nodes),
        **_maps([trial.group_of for k, trial in splits if cuts[k] is None], n_levels),
        **_cuts(n, {k: each for k, each in cuts.items() if each is not None}),
        rows=np.array([node.n_rows for node in nodes], np.int64),
        significance=Significance(
            np.array([k for k, _ in splits], np.int32),
            np.array([trial.log_p for _, trial in splits], float),
            np.array([trial.log_multiplier for _, trial in splits], float),
            np.array([trial.floating >= 0 for _, trial in splits], bool),
        ),
        **_contents(nodes, is_mean),
    )


def _links(nodes: list[_Node]) -> dict[str, Any]:
    return {
        "column": np.array([node.trial.column if node.trial else LEAF for node in nodes], np.int32),
        "first": np.array([node.first for node in nodes], np.int32),
        "branches": np.array([node.trial.n_groups if node.trial else 0 for node in nodes], np.int32),
        "missing": np.array([node.missing for node in nodes], np.int32),
    }


def _maps(groups: list[np.ndarray], n_levels: np.ndarray) -> dict[str, Any]:
    start = (np.cumsum(n_levels) - n_levels).astype(np.int32)
    return {"start": start, "levels": n_levels, "branch_of": np.concatenate([np.zeros(0, np.int32), *groups])}


def _cuts(n: int, cuts: dict[int, np.ndarray]) -> dict[str, Any]:
    """The first cut of each node, infinite where known values are not parted, and the others."""
    first = np.full(n, np.nan)
    for k, each in cuts.items():
        first[k] = each[0] if len(each) else np.inf
    node = np.repeat(list(cuts), [max(len(each) - 1, 0) for each in cuts.values()]).astype(np.int32)
    return {
        "cut": first,
        "more_cuts": ExtraThresholds(node, np.concatenate([np.zeros(0), *(each[1:] for each in cuts.values())])),
    }


def _contents(nodes: list[_Node], is_mean: bool) -> dict[str, Any]:
    """What the nodes hold: weights, predictions, impurity (Gini's, or the variance) and what splits take from it."""
    statistics = np.array([node.statistics for node in nodes])  # [n_nodes, n_statistics]
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


TESTS = {criterion: suits.test for criterion, suits in SUITS.items() if suits.test}  # by adjusted p

GAINS = tuple(criterion for criterion, suits in SUITS.items() if suits.merged and not suits.test)  # merge by Pearson's test


def grow_merged(rows: Partitions, policy: Policy) -> ChaidResult:
    """The tree of a policy in which levels, ranks and bins of a numeric column merge while they do not differ.

    The merged columns then compete by the criterion, or by their p-value, adjusted for the number of ways to merge. With
    `alpha` a split must be significant, so adjusted. CHAID's own trees know significance only, and no penalties.
    """
    _refuse(policy)
    stop = policy.stopping
    growth = ChaidSettings(
        rules=_rules(policy),
        choice=SplitChoice(
            alpha_split=inf if stop.alpha is None else stop.alpha,
            criterion=None if policy.criterion in TESTS else policy.criterion,
            min_gain=stop.min_gain * rows.map_reduce(WeightRange.of, rows_per_part=None).total,
        ),
        min_split=stop.min_split,
        max_depth=stop.max_depth,
        bins=policy.merging.bins,
        min_impurity=stop.min_impurity,
    )
    merged = grow(rows, growth)
    if policy.choose is SplitSelection.ADJUSTED_P:
        return merged
    merged = msgspec.structs.replace(merged, tree=with_complexity(merged.tree))
    return merged if stop.max_leaves is None else _with_leaves(merged, stop.max_leaves)


def _rules(policy: Policy) -> MergeRules:
    merging = policy.merging
    return MergeRules(
        test=TESTS.get(policy.criterion, "pearson"),
        alpha_merge=merging.alpha,
        alpha_resplit=merging.alpha_resplit,
        exhaustive=merging.exhaustive,
        min_leaf=policy.stopping.min_leaf,
        min_prob=merging.min_prob,
    )


def _with_leaves(merged: ChaidResult, max_leaves: int) -> ChaidResult:
    """The tree cut back to so many leaves, the trials at the nodes that are left."""
    before = merged.tree
    tree = prune_to_n_leaves(
        msgspec.structs.replace(before, rows=np.arange(len(before))), max_leaves
    )  # to know the nodes again
    place = {int(k): now for now, k in enumerate(tree.rows)}
    tried = [msgspec.structs.replace(level, nodes=[place.get(k, -1) for k in level.nodes]) for level in merged.tried]
    return msgspec.structs.replace(merged, tree=msgspec.structs.replace(tree, rows=before.rows[tree.rows]), tried=tried)


def _refuse(policy: Policy) -> None:
    if policy.criterion not in TESTS and policy.criterion not in GAINS:
        known = ", ".join(repr(c.value) for c in (*TESTS, *GAINS) if SUITS[c].binary and not SUITS[c].numbers)
        raise ValueError(f"criterion={policy.criterion.value!r} compares two branches; with branching='merge' give {known}")
    if policy.missing not in (Missing.LEARNED, Missing.CATEGORY):
        raise ValueError(
            f"missing={policy.missing.value!r} does not go with branching='merge', where missing values are a level that "
            "merges like the others; give 'learned' or 'category'"
        )
