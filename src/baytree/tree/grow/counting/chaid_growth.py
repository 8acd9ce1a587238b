"""CHAID's growth: at every node the column whose merged groups differ most significantly becomes the split (Kass 1980).

All open nodes of a depth are looked at together, by one round of counting; what follows is a function of the counts.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from baytree.engine import threads
from baytree.engine.parts import ROWS_PER_PART, Made, Parts
from baytree.table.table import Table
from baytree.tree.grow.counting.candidate import Rules
from baytree.tree.grow.counting.coding import Coding
from baytree.tree.grow.counting.counted import Level, NodeCounts, centres, count
from baytree.tree.grow.counting.level_trials import Choice, LevelTrials, tried
from baytree.tree.grow.counting.trial import Trial
from baytree.tree.grow.impurity import impurity_of
from baytree.tree.grow.policy import Criterion
from baytree.tree.model.build import build
from baytree.tree.model.places import LEAF, STOP
from baytree.tree.model.structure import MoreCuts, Significance, Tree


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a tree: how levels merge, and when a node is split."""

    rules: Rules
    choice: Choice = Choice()
    min_split: float = 20
    max_depth: int | None = None
    bins: int = 10
    min_impurity: float = 0.0  # of the criterion, per unit of weight

    @property
    def is_mean(self) -> bool:
        """Whether the target is a number."""
        return self.rules.test == "mean"


class Merged(msgspec.Struct, frozen=True):
    """A tree, and what every column could have done at every node that was looked at."""

    tree: Tree
    tried: list[LevelTrials]
    coding: Coding


def grow(rows: Parts, growth: Growth) -> Merged:
    """The tree of these rows."""
    coding = Coding.of(rows, growth.bins)
    coded = rows.made(coding.coded, ROWS_PER_PART)
    columns = list(zip(coding.n_codes, coding.is_ordered, strict=True))
    nodes, fresh, levels = [_Node(0)], [0], []
    while fresh:
        counts, opened = _look(coded, nodes, fresh, growth, coding)
        if not opened:
            break
        with threads.at_most(rows.n_jobs):
            levels.append(tried(counts, opened, columns, growth.rules))
        fresh = [child for winner in levels[-1].winners(growth.choice) for child in _split(nodes, winner, growth.is_mean)]
    return Merged(_tree(nodes, coding, growth.is_mean), levels, coding)


class _Node:
    """A node while the tree grows."""

    def __init__(self, depth: int, expected: np.ndarray | None = None) -> None:
        self.depth, self.expected = depth, expected  # the weight of each class, as the split that made the node tells it
        self.n_rows, self.statistics = 0, np.zeros(0)  # weight per class, or weight, mean and squares about the mean
        self.first, self.missing = 0, STOP
        self.trial: Trial | None = None


def _look(
    rows: Made[Table], nodes: list[_Node], fresh: list[int], growth: Growth, coding: Coding
) -> tuple[NodeCounts, dict[int, int]]:
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


def _may_count(node: _Node, growth: Growth) -> bool:
    """Whether a node may be split, by what its parent's split tells of it."""
    if growth.max_depth is not None and node.depth >= growth.max_depth:
        return False
    expected = node.expected
    return expected is None or bool(expected.sum() >= growth.min_split and np.count_nonzero(expected) > 1)


def _is_mixed(node: _Node, growth: Growth) -> bool:
    """Whether a node that was counted has rows enough that differ enough."""
    statistics = node.statistics
    if growth.is_mean:
        return growth.min_impurity <= 0 or bool(statistics[2] / statistics[0] > growth.min_impurity)
    if statistics.sum() < growth.min_split or np.count_nonzero(statistics) < 2:
        return False
    criterion = growth.choice.criterion or Criterion.GINI
    return growth.min_impurity <= 0 or bool(impurity_of(statistics[None], criterion)[0] > growth.min_impurity)


def _split(nodes: list[_Node], winner: Trial, is_mean: bool) -> range:
    """Opens the children of a node."""
    node = nodes[winner.node]
    node.trial, node.first = winner, len(nodes)
    sizes = winner.sums[:, 0] if is_mean else winner.sums.sum(axis=1)
    node.missing = winner.floating if winner.floating >= 0 else int(np.argmax(sizes))
    nodes += [_Node(node.depth + 1, None if is_mean else sums) for sums in winner.sums]
    return range(node.first, len(nodes))


def _level(nodes: list[_Node], fresh: list[int], coding: Coding, is_open: np.ndarray) -> Level:
    """What a part of the rows needs to find its new nodes: the tests so far, over codes."""
    n_levels = np.array([len(node.trial.group_of) if node.trial else 0 for node in nodes], np.int32)
    n = len(nodes)
    tests = _links(nodes) | _maps([node.trial.group_of for node in nodes if node.trial], n_levels)
    tests |= {"cut": np.zeros(n), "strict": np.zeros(n, bool), "share": np.zeros(n)}
    place_of = np.full(n, -1, np.int32)
    place_of[fresh] = np.arange(len(fresh))
    return Level(tests, place_of, is_open, coding.n_codes)


def _tree(nodes: list[_Node], coding: Coding, is_mean: bool) -> Tree:
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
    return {"cut": first, "more_cuts": MoreCuts(node, np.concatenate([np.zeros(0), *(each[1:] for each in cuts.values())]))}


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
