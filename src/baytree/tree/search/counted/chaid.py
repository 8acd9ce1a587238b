"""CHAID (Kass 1980): at each node the column whose merged groups differ most significantly is split.

All open nodes of a depth are handled together: one map-reduce pass counts them, and the splits are a function of the
counts. `grow_merged` also merges levels for other multiway criteria, which then select the column instead of the
adjusted p-value.
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
    """Settings of a tree: how levels merge, and when a node is split."""

    rules: MergeRules
    choice: SplitChoice = SplitChoice()
    min_split: float = 20
    max_depth: int | None = None
    bins: int = 10
    min_impurity: float = 0.0  # of the criterion, per unit of weight

    @property
    def is_mean(self) -> bool:
        """Whether the target is numeric."""
        return self.rules.test == "mean"


class ChaidResult(msgspec.Struct, frozen=True):
    """A tree, and the test of every column at every node that was examined."""

    tree: Tree
    column_tests: list[DepthTests]
    coding: BinEncoder


def grow(rows: Partitions, growth: ChaidSettings) -> ChaidResult:
    """Grow the tree of these rows."""
    coding = BinEncoder.of(rows, growth.bins)
    coded = rows.apply(coding.coded, ROWS_PER_PART)
    columns = list(zip(coding.n_codes, coding.is_ordered, strict=True))
    nodes, new_nodes, levels = [_Node(0)], [0], []
    while new_nodes:
        counts, opened = _count_new_nodes(coded, nodes, new_nodes, growth, coding)
        if not opened:
            break
        with threads.limit_threads(rows.n_jobs):
            levels.append(compute_column_tests(counts, opened, columns, growth.rules))
        new_nodes = [
            child for winner in levels[-1].winners(growth.choice) for child in _split(nodes, winner, growth.is_mean)
        ]
    return ChaidResult(_tree(nodes, coding, growth.is_mean), levels, coding)


class _Node:
    """Node of a growing tree."""

    def __init__(self, depth: int, expected: np.ndarray | None = None) -> None:
        self.depth, self.expected = depth, expected  # class weights, known from the parent's split
        self.n_rows, self.statistics = 0, np.zeros(0)  # class weights, or weight, mean and squares about the mean
        self.first, self.missing = 0, STOP
        self.test: ColumnTest | None = None


def _count_new_nodes(
    rows: PartitionValues[Table], nodes: list[_Node], new_nodes: list[int], growth: ChaidSettings, coding: BinEncoder
) -> tuple[DepthCounts, dict[int, int]]:
    """Count the rows of new nodes, and the columns of those that may be split; also return the latter by node and index."""
    level = _level(nodes, new_nodes, coding, np.array([_may_count(nodes[k], growth) for k in new_nodes]))
    weight = mean = None
    if growth.is_mean:
        weight, mean, differ = centres(rows, level)
        level = msgspec.structs.replace(level, is_open=level.is_open & differ & (weight >= growth.min_split))
    counts = count(rows, level, mean)
    statistics = counts.sums if weight is None or mean is None else np.column_stack([weight, mean, counts.sums])
    for index, k in enumerate(new_nodes):
        nodes[k].n_rows, nodes[k].statistics = int(counts.rows[index]), statistics[index]
    may_split = (index for index in np.flatnonzero(level.is_open) if _is_mixed(nodes[new_nodes[index]], growth))
    return counts, {new_nodes[index]: int(index) for index in may_split}


def _may_count(node: _Node, growth: ChaidSettings) -> bool:
    """Whether a node may be split, by its class weights in the parent's split."""
    if growth.max_depth is not None and node.depth >= growth.max_depth:
        return False
    expected = node.expected
    return expected is None or bool(expected.sum() >= growth.min_split and np.count_nonzero(expected) > 1)


def _is_mixed(node: _Node, growth: ChaidSettings) -> bool:
    """Whether a counted node has enough rows and is impure enough."""
    statistics = node.statistics
    if growth.is_mean:
        return growth.min_impurity <= 0 or bool(statistics[2] / statistics[0] > growth.min_impurity)
    if statistics.sum() < growth.min_split or np.count_nonzero(statistics) < 2:
        return False
    criterion = growth.choice.criterion or Criterion.GINI
    return growth.min_impurity <= 0 or bool(impurity_of(statistics[None], criterion)[0] > growth.min_impurity)


def _split(nodes: list[_Node], winner: ColumnTest, is_mean: bool) -> range:
    """Split a node and append its children."""
    node = nodes[winner.node]
    node.test, node.first = winner, len(nodes)
    sizes = winner.sums[:, 0] if is_mean else winner.sums.sum(axis=1)
    node.missing = winner.floating if winner.floating >= 0 else int(np.argmax(sizes))
    nodes += [_Node(node.depth + 1, None if is_mean else sums) for sums in winner.sums]
    return range(node.first, len(nodes))


def _level(nodes: list[_Node], new_nodes: list[int], coding: BinEncoder, is_open: np.ndarray) -> OpenDepth:
    """What a partition needs to find the new nodes: the tests so far, over codes."""
    n_levels = np.array([len(node.test.group_of) if node.test else 0 for node in nodes], np.int32)
    n = len(nodes)
    tests = _link_fields(nodes) | _branch_maps([node.test.group_of for node in nodes if node.test], n_levels)
    tests |= {"cut": np.zeros(n), "strict": np.zeros(n, bool), "share": np.zeros(n)}
    index_of = np.full(n, -1, np.int32)
    index_of[new_nodes] = np.arange(len(new_nodes))
    return OpenDepth(tests, index_of, is_open, coding.n_codes)


def _tree(nodes: list[_Node], coding: BinEncoder, is_mean: bool) -> Tree:
    """Tree of the nodes; groups of bins become thresholds."""
    n, splits = len(nodes), [(k, node.test) for k, node in enumerate(nodes) if node.test]
    thresholds = {k: coding.thresholds(test.column, test.group_of) for k, test in splits}
    n_levels = np.zeros(n, np.int32)
    for k, test in splits:
        n_levels[k] = len(test.group_of) if thresholds[k] is None else 0
    return build(
        **_link_fields(nodes),
        **_branch_maps([test.group_of for k, test in splits if thresholds[k] is None], n_levels),
        **_threshold_fields(n, {k: each for k, each in thresholds.items() if each is not None}),
        rows=np.array([node.n_rows for node in nodes], np.int64),
        significance=Significance(
            np.array([k for k, _ in splits], np.int32),
            np.array([test.log_p for _, test in splits], float),
            np.array([test.log_multiplier for _, test in splits], float),
            np.array([test.floating >= 0 for _, test in splits], bool),
        ),
        **_statistic_fields(nodes, is_mean),
    )


def _link_fields(nodes: list[_Node]) -> dict[str, Any]:
    return {
        "column": np.array([node.test.column if node.test else LEAF for node in nodes], np.int32),
        "first": np.array([node.first for node in nodes], np.int32),
        "branches": np.array([node.test.n_groups if node.test else 0 for node in nodes], np.int32),
        "missing": np.array([node.missing for node in nodes], np.int32),
    }


def _branch_maps(groups: list[np.ndarray], n_levels: np.ndarray) -> dict[str, Any]:
    start = (np.cumsum(n_levels) - n_levels).astype(np.int32)
    return {"start": start, "levels": n_levels, "branch_of": np.concatenate([np.zeros(0, np.int32), *groups])}


def _threshold_fields(n: int, thresholds_of: dict[int, np.ndarray]) -> dict[str, Any]:
    """First threshold of each node, infinite if known values are not separated, and the further ones."""
    first = np.full(n, np.nan)
    for k, thresholds in thresholds_of.items():
        first[k] = thresholds[0] if len(thresholds) else np.inf
    node = np.repeat(list(thresholds_of), [max(len(thresholds) - 1, 0) for thresholds in thresholds_of.values()]).astype(
        np.int32
    )
    return {
        "cut": first,
        "more_cuts": ExtraThresholds(
            node, np.concatenate([np.zeros(0), *(thresholds[1:] for thresholds in thresholds_of.values())])
        ),
    }


def _statistic_fields(nodes: list[_Node], is_mean: bool) -> dict[str, Any]:
    """Weights, predictions, impurity (Gini or variance) and gains of the nodes."""
    statistics = np.array([node.statistics for node in nodes])  # [n_nodes, n_statistics]
    weight = statistics[:, 0].copy() if is_mean else statistics.sum(axis=1)
    counts = np.zeros((len(nodes), 0)) if is_mean else statistics
    value = statistics[:, 1:2].copy() if is_mean else counts / weight[:, None]
    risk = statistics[:, 2].copy() if is_mean else weight - counts.max(axis=1)
    impurity = risk / weight if is_mean else 1.0 - (value**2).sum(axis=1)
    gain, proportion = np.zeros(len(nodes)), np.ones(len(nodes))
    for k, node in enumerate(nodes):
        if node.test:
            children = slice(node.first, node.first + node.test.n_groups)
            gain[k] = weight[k] * impurity[k] - weight[children] @ impurity[children]
            proportion[children] = weight[children] / weight[k]
    return {
        "weight": weight, "counts": counts, "value": value, "risk": risk, "impurity": impurity,
        "gain": np.maximum(gain, 0.0), "share": np.minimum(proportion, 1.0),
        "prediction": np.argmax(value, axis=1).astype(np.int32),
    }  # fmt: skip


TESTS = {criterion: suits.test for criterion, suits in SUITS.items() if suits.test}  # by adjusted p-value

# levels merge by Pearson's test
GAINS = tuple(criterion for criterion, suits in SUITS.items() if suits.merged and not suits.test)


def grow_merged(rows: Partitions, policy: Policy) -> ChaidResult:
    """Grow the tree of a policy in which levels, ordinal codes or bins of a numeric column merge while they do not differ.

    The merged columns then compete by the criterion, or by their p-value adjusted for the number of ways to merge. With
    `alpha`, a split must be significant after adjustment. CHAID's own trees have no complexity penalties.
    """
    _check_supported(policy)
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
    result = grow(rows, growth)
    if policy.choose is SplitSelection.ADJUSTED_P:
        return result
    result = msgspec.structs.replace(result, tree=with_complexity(result.tree))
    return result if stop.max_leaves is None else _prune_to_max_leaves(result, stop.max_leaves)


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


def _prune_to_max_leaves(result: ChaidResult, max_leaves: int) -> ChaidResult:
    """Tree pruned to `max_leaves` leaves, with the tests of the remaining nodes."""
    unpruned = result.tree
    # node ids in place of the rows identify the nodes after pruning
    tree = prune_to_n_leaves(msgspec.structs.replace(unpruned, rows=np.arange(len(unpruned))), max_leaves)
    new_id = {int(k): new for new, k in enumerate(tree.rows)}
    column_tests = [
        msgspec.structs.replace(level, nodes=[new_id.get(k, -1) for k in level.nodes]) for level in result.column_tests
    ]
    return msgspec.structs.replace(
        result, tree=msgspec.structs.replace(tree, rows=unpruned.rows[tree.rows]), column_tests=column_tests
    )


def _check_supported(policy: Policy) -> None:
    if policy.criterion not in TESTS and policy.criterion not in GAINS:
        supported = ", ".join(repr(c.value) for c in (*TESTS, *GAINS) if SUITS[c].binary and not SUITS[c].numbers)
        raise ValueError(
            f"criterion={policy.criterion.value!r} supports binary splits only; with branching='merge' use {supported}"
        )
    if policy.missing not in (Missing.LEARNED, Missing.CATEGORY):
        raise ValueError(
            f"missing={policy.missing.value!r} is not supported with branching='merge', where missing values are a "
            "level that merges like the others; use 'learned' or 'category'"
        )
