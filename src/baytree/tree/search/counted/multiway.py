"""Multiway trees: one branch per level of a nominal column, thresholds for numeric and ordinal columns.

Classification: one map-reduce pass per level counts the open nodes; the core chooses the tests from the counts alone, and
the coded rows, persisted with their partition, step down to the children. Regression: the core grows the whole tree in
memory, by least squares, with the thresholds of the sorted search and the sums of the levels at a node.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.engine.aggregates import AggregateRows
from baytree.engine.partitions import Partitions, PartitionValues
from baytree.parallel import threads
from baytree.tree.model.builder import build
from baytree.tree.model.routing import columns, level_counts
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import equal_costs
from baytree.tree.policy.policy import Branching, Missing, Policy
from baytree.tree.pruning.cost_complexity import prune_to_n_leaves, with_complexity
from baytree.tree.search.counted.aggregate_rows import aggregate_rows
from baytree.tree.search.counted.coded_rows import (
    DistinctValueCodes,
    RankedRows,
    RowsOfClasses,
    coded_rows,
    count_classes,
    stepped_down,
)
from baytree.tree.search.counted.counts import DepthCounts
from baytree.tree.search.counted.open_nodes import Nodes, best_first
from baytree.tree.search.fractional import CandidateTraces, core_rules, refuse, refusing_branches
from baytree.tree.search.fractional_tree import tree_of_nodes
from baytree.tree.search.sorted import grow_sorted, settings


def grow_multiway_classes(rows: Partitions, policy: Policy, traces: bool = False) -> tuple[Tree, CandidateTraces]:
    """Grow the tree of a policy; also return every candidate test of its nodes, if requested."""
    refuse(policy)
    nodes, traced = _grow(rows, policy, traces)
    levels = np.array([len(c.levels) if c.kind is Kind.NOMINAL else 0 for c in rows.schema], np.int32)
    return with_complexity(tree_of_nodes(nodes.as_raw(levels), policy)), traced


def _grow(rows: Partitions, policy: Policy, traces: bool) -> tuple[Nodes, CandidateTraces]:
    """Nodes of the tree, breadth first, and their candidate tests."""
    n_threads = threads.count(rows.n_jobs) if rows.n_rows * len(rows.schema) >= _MIN_PARALLEL_VALUES else 1
    start: Any = aggregate_rows(rows) if isinstance(rows, AggregateRows) else coded_rows(rows, n_threads)
    coded, coding = start
    root, max_leaves = coded.map_reduce(RowsOfClasses.of), policy.stopping.max_leaves
    choice = _core.class_tests(coding.values, coding.levels, len(root.weight), core_rules(policy, root.total))
    traced: CandidateTraces = []
    nodes, new_nodes = Nodes.root(root.weight), np.zeros(1, np.int64)  # nodes without a test
    while new_nodes.size:
        counts = _count_new_nodes(coded, coding, nodes, new_nodes, policy, rows.schema.names)
        keys, weights = [cells.key for cells in counts.cells], [cells.sums[:, 0] for cells in counts.cells]
        with refusing_branches(rows.schema.names, coding.levels):
            nodes_left = _MAX_NODES + 4 * root.n_rows - len(nodes)
            tests, node_tests = choice.best(keys, weights, counts.sums, nodes_left, n_threads, traces)
        traced += [(int(new_nodes[index]), *test) for index, *test in node_tests]
        nodes = nodes.with_tests(new_nodes, counts.rows, tests)
        split = new_nodes[nodes.column[new_nodes] >= 0] if max_leaves is None else best_first(nodes, max_leaves)
        nodes, split = nodes.mark_split(split)
        coded = coded.apply(partial(stepped_down, nodes.columns_of(split), nodes.rank, nodes.first, nodes.missing))
        new_nodes = nodes.children(split)
    return (nodes, traced) if max_leaves is None else _limit_leaves(nodes, traced, max_leaves)


_MIN_PARALLEL_VALUES = 1 << 16  # values; below this one thread is faster

_MAX_NODES = 1 << 22  # nodes in addition to four per row, so that growth ends before memory does


def _limit_leaves(nodes: Nodes, traced: CandidateTraces, max_leaves: int) -> tuple[Nodes, CandidateTraces]:
    """Prune to `max_leaves` leaves; nodes that were tested in advance are dropped."""
    remaining, origin = nodes.compact(best_first(nodes, max_leaves))
    new_id = {int(number): k for k, number in enumerate(origin)}
    return remaining, [(new_id[test[0]], *test[1:]) for test in traced if test[0] in new_id]


def _count_new_nodes(
    coded: PartitionValues[RankedRows],
    coding: DistinctValueCodes,
    nodes: Nodes,
    new_nodes: np.ndarray,
    policy: Policy,
    names: tuple[str, ...],
) -> DepthCounts:
    """Count the rows of the new nodes, and the columns of those that may be split, in one pass."""
    is_open = nodes.may_split(new_nodes, policy.stopping)[:, None] & ~nodes.is_used_above(new_nodes, len(coding.levels))
    if policy.first_split is not None and new_nodes[0] == 0:
        is_open &= np.array(names) == policy.first_split
    index_of = np.full(len(nodes), -1, np.int32)
    index_of[new_nodes] = np.arange(len(new_nodes))
    return coded.map_reduce(partial(count_classes, coding.n_codes, is_open, index_of))


WAYS = (Missing.LEARNED, Missing.CATEGORY, Missing.LARGEST)


def grow_multiway_numbers(table: Table, policy: Policy, threads: int = 1) -> Tree:
    """Grow a multiway regression tree. At least two branches of a split must hold `min_leaf`; empty branches are not
    created.

    Rows with a missing level go to the branch in which the sum of squares is least ("learned"), to a branch of their own
    ("category"), or to the heaviest branch ("largest", which evaluates a column by its known rows).
    """
    if policy.missing not in WAYS:
        supported = ", ".join(repr(rule.value) for rule in WAYS)
        raise ValueError(f"missing={policy.missing.value!r} supports binary splits only; with 'multiway' use {supported}")
    tree = _grow_levels(table, policy, threads) if _has_levels(table) else _grow_binary(table, policy, threads)
    max_leaves = policy.stopping.max_leaves
    return with_complexity(tree) if max_leaves is None else prune_to_n_leaves(with_complexity(tree), max_leaves)


def _has_levels(table: Table) -> bool:
    return any(column.kind is Kind.NOMINAL for column in table.schema)


def _grow_binary(table: Table, policy: Policy, threads: int) -> Tree:
    """Without nominal columns every split is binary, and the sorted search grows the whole tree."""
    return grow_sorted(table, msgspec.structs.replace(policy, branching=Branching.BINARY), equal_costs(0), threads)


def _grow_levels(table: Table, policy: Policy, threads: int) -> Tree:
    table = table if table.weight.all() else table.take(table.weight > 0)
    nodes = _core.grow_multiway(
        columns(table),
        level_counts(table.schema),
        np.ascontiguousarray(table.label, np.float64),
        None if table.is_unweighted else np.ascontiguousarray(table.weight, np.float64),
        settings(table, policy, equal_costs(0)),
        threads,
    )
    n, mean = len(nodes["column"]), nodes.pop("mean")
    return build(**nodes, counts=np.zeros((n, 0)), value=mean[:, None], prediction=np.zeros(n, np.int32))
