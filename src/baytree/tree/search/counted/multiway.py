"""A classification tree with a branch for each level, from counts: one round over the rows tells all that a level needs.

A part of the rows knows the node of each row; a level later, what is kept of it is made from this one. What a node's test is
follows from the counts alone, in the core.

A regression tree with a branch for each level: least squares, numbers and ranks cut in two, levels parted into all.

The core grows it: cuts by the sorted search, levels by the sums of those that occur at a node.
"""

from __future__ import annotations

from functools import partial

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.engine.partitions import Partitions, PartitionValues
from baytree.parallel import threads
from baytree.tree.model.builder import build
from baytree.tree.model.routing import columns, level_counts
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import equal_costs
from baytree.tree.policy.policy import Branching, Missing, Policy
from baytree.tree.pruning.cost_complexity import prune_to_n_leaves, with_complexity
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
from baytree.tree.search.fractional import Tried, core_rules, refuse, refusing_branches
from baytree.tree.search.fractional_tree import tree_of_nodes
from baytree.tree.search.sorted import grow_sorted, settings


def grow_multiway_classes(rows: Partitions, policy: Policy, traces: bool = False) -> tuple[Tree, Tried]:
    """The tree of a policy, and every test that was tried at its nodes."""
    refuse(policy)
    nodes, tried = _grown(rows, policy, traces)
    levels = np.array([len(c.levels) if c.kind is Kind.NOMINAL else 0 for c in rows.schema], np.int32)
    return with_complexity(tree_of_nodes(nodes.as_raw(levels), policy)), tried


def _grown(rows: Partitions, policy: Policy, traces: bool) -> tuple[Nodes, Tried]:
    """The nodes of the tree, breadth first, and what was tried at them."""
    n_threads = threads.count(rows.n_jobs) if rows.n_rows * len(rows.schema) >= _WORTH_A_THREAD else 1
    coded, coding = coded_rows(rows, n_threads)
    root, most = coded.map_reduce(RowsOfClasses.of), policy.stopping.max_leaves
    choice = _core.class_tests(coding.values, coding.levels, len(root.weight), core_rules(policy, root.total))
    tried: Tried = []
    nodes, fresh = Nodes.root(root.weight), np.zeros(1, np.int64)  # the nodes to look at
    while fresh.size:
        counts = _look(coded, coding, nodes, fresh, policy)
        keys, weights = [cells.key for cells in counts.cells], [cells.sums[:, 0] for cells in counts.cells]
        with refusing_branches(rows.schema.names, coding.levels):
            left = _MOST_NODES + 4 * root.n_rows - len(nodes)
            tests, told = choice.best(keys, weights, counts.sums, left, n_threads, traces)
        tried += [(int(fresh[place]), *test) for place, *test in told]
        nodes = nodes.tested(fresh, counts.rows, tests)
        split = fresh[nodes.column[fresh] >= 0] if most is None else best_first(nodes, most)
        nodes, split = nodes.carried_out(split)
        coded = coded.apply(partial(stepped_down, nodes.only(split), nodes.rank, nodes.first, nodes.missing))
        fresh = nodes.children(split)
    return (nodes, tried) if most is None else _rationed(nodes, tried, most)


_WORTH_A_THREAD = 1 << 16  # values

_MOST_NODES = 1 << 22  # beside four for each row


def _rationed(nodes: Nodes, tried: Tried, most: int) -> tuple[Nodes, Tried]:
    """The tree of so many leaves; some nodes were looked at in advance, and are not in it."""
    kept, origin = nodes.compact(best_first(nodes, most))
    place = {int(number): k for k, number in enumerate(origin)}
    return kept, [(place[test[0]], *test[1:]) for test in tried if test[0] in place]


def _look(
    coded: PartitionValues[RankedRows], coding: DistinctValueCodes, nodes: Nodes, fresh: np.ndarray, policy: Policy
) -> DepthCounts:
    """One round: the rows of the new nodes, and the columns of those that may be split."""
    is_open = nodes.may_split(fresh, policy.stopping)[:, None] & ~nodes.is_used(fresh, len(coding.levels))
    place_of = np.full(len(nodes), -1, np.int32)
    place_of[fresh] = np.arange(len(fresh))
    return coded.map_reduce(partial(count_classes, coding.n_codes, is_open, place_of))


WAYS = (Missing.LEARNED, Missing.CATEGORY, Missing.LARGEST)


def grow_multiway_numbers(table: Table, policy: Policy, threads: int = 1) -> Tree:
    """The tree of a policy. At least two branches of a split must hold `min_leaf`; an empty branch is not made.

    Rows without a level go where the sum of squares is least ("learned"), into a branch of their own ("category"), or
    with the heaviest branch ("largest", which judges a column by its known rows).
    """
    if policy.missing not in WAYS:
        known = ", ".join(repr(way.value) for way in WAYS)
        raise ValueError(f"missing={policy.missing.value!r} is for two branches; with 'multiway' give {known}")
    tree = _grow_levels(table, policy, threads) if _has_levels(table) else _grow_in_two(table, policy, threads)
    most = policy.stopping.max_leaves
    return with_complexity(tree) if most is None else prune_to_n_leaves(with_complexity(tree), most)


def _has_levels(table: Table) -> bool:
    return any(column.kind is Kind.NOMINAL for column in table.schema)


def _grow_in_two(table: Table, policy: Policy, threads: int) -> Tree:
    """Without levels every split has two branches, and the whole tree is that of the sorted search."""
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
