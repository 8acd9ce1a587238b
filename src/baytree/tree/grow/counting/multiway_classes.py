"""A classification tree with a branch for each level, from counts: one round over the rows tells all that a level needs.

A part of the rows knows the node of each row; a level later, what is kept of it is made from this one. What a node's test is
follows from the counts alone, in the core.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from baytree import _core
from baytree.engine import threads
from baytree.engine.parts import Made, Parts
from baytree.table.schema import Kind
from baytree.tree.grow.counting.coded_rows import CodedRows, Codes, RowsOfClasses, coded_rows, count_classes, stepped_down
from baytree.tree.grow.counting.counted import NodeCounts
from baytree.tree.grow.counting.open_nodes import Nodes, best_first
from baytree.tree.grow.fractional import Tried, core_rules, refuse, refusing_branches
from baytree.tree.grow.fractional_tree import tree_of_nodes
from baytree.tree.grow.policy import Policy
from baytree.tree.model.structure import Tree
from baytree.tree.prune.cost_complexity import with_complexity


def grow_multiway_classes(rows: Parts, policy: Policy, traces: bool = False) -> tuple[Tree, Tried]:
    """The tree of a policy, and every test that was tried at its nodes."""
    refuse(policy)
    nodes, tried = _grown(rows, policy, traces)
    levels = np.array([len(c.levels) if c.kind is Kind.NOMINAL else 0 for c in rows.schema], np.int32)
    return with_complexity(tree_of_nodes(nodes.as_raw(levels), policy)), tried


def _grown(rows: Parts, policy: Policy, traces: bool) -> tuple[Nodes, Tried]:
    """The nodes of the tree, breadth first, and what was tried at them."""
    n_threads = threads.count(rows.n_jobs) if rows.n_rows * len(rows.schema) >= _WORTH_A_THREAD else 1
    coded, coding = coded_rows(rows, n_threads)
    root, most = coded.total(RowsOfClasses.of), policy.stopping.max_leaves
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
        coded = coded.made(partial(stepped_down, nodes.only(split), nodes.rank, nodes.first, nodes.missing))
        fresh = nodes.children(split)
    return (nodes, tried) if most is None else _rationed(nodes, tried, most)


_WORTH_A_THREAD = 1 << 16  # values
_MOST_NODES = 1 << 22  # beside four for each row


def _rationed(nodes: Nodes, tried: Tried, most: int) -> tuple[Nodes, Tried]:
    """The tree of so many leaves; some nodes were looked at in advance, and are not in it."""
    kept, origin = nodes.compact(best_first(nodes, most))
    place = {int(number): k for k, number in enumerate(origin)}
    return kept, [(place[test[0]], *test[1:]) for test in tried if test[0] in place]


def _look(coded: Made[CodedRows], coding: Codes, nodes: Nodes, fresh: np.ndarray, policy: Policy) -> NodeCounts:
    """One round: the rows of the new nodes, and the columns of those that may be split."""
    is_open = nodes.may_split(fresh, policy.stopping)[:, None] & ~nodes.is_used(fresh, len(coding.levels))
    place_of = np.full(len(nodes), -1, np.int32)
    place_of[fresh] = np.arange(len(fresh))
    return coded.total(partial(count_classes, coding.n_codes, is_open, place_of))
