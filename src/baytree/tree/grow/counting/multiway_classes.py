"""A classification tree with a branch for each level, from counts: one round over the rows tells all that a level needs.

Levels are codes; numbers are coded by their distinct values, so that a cut between two codes is a cut between two rows. A
row remembers its node in a column of its own. What a node's test is follows from the counts alone, in the core.
"""

from __future__ import annotations

from functools import partial

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.parts import InMemory
from baytree.table.schema import Kind
from baytree.table.table import Table
from baytree.tree.grow.counting.counted import Cells, NodeCounts
from baytree.tree.grow.counting.open_nodes import Nodes, best_first
from baytree.tree.grow.fractional import Tried, core_rules, refuse, refusing_branches
from baytree.tree.grow.fractional_tree import tree_of_nodes
from baytree.tree.grow.policy import Policy
from baytree.tree.model.structure import Tree
from baytree.tree.prune.cost_complexity import with_complexity


class Codes(msgspec.Struct, frozen=True):
    """The columns of a table as codes."""

    codes: tuple[np.ndarray, ...]  # int32 [n_rows], −1 where missing
    values: list[np.ndarray]  # float64 [n_codes], those of the codes of a column that is cut; empty where it has levels
    levels: np.ndarray  # int32 [n_columns], 0 where the column is cut

    @classmethod
    def of(cls, table: Table, n_threads: int) -> Codes:
        """Numbers by rank among the distinct ones; ranks are their own values."""
        kinds = [column.kind for column in table.schema]
        numbers = [
            np.ascontiguousarray(v, float) for v, kind in zip(table.values, kinds, strict=True) if kind is Kind.NUMERIC
        ]
        ranked = iter(_core.rank_values(numbers, n_threads))
        each = [next(ranked) if kind is Kind.NUMERIC else _of_levels(table, j) for j, kind in enumerate(kinds)]
        levels = [max(len(c.levels), 1) if c.kind is Kind.NOMINAL else 0 for c in table.schema]
        return cls(tuple(codes for codes, _ in each), [values for _, values in each], np.array(levels, np.int32))

    @property
    def n_codes(self) -> np.ndarray:
        """int32 [n_columns]"""
        return np.where(self.levels > 0, self.levels, [len(values) for values in self.values]).astype(np.int32)


def grow_multiway_classes(table: Table, policy: Policy, n_threads: int = 1, traces: bool = False) -> tuple[Tree, Tried]:
    """The tree of a policy, and every test that was tried at its nodes."""
    refuse(policy)
    nodes, tried = _grown(table, policy, n_threads, traces)
    levels = np.array([len(c.levels) if c.kind is Kind.NOMINAL else 0 for c in table.schema], np.int32)
    return with_complexity(tree_of_nodes(nodes.as_raw(levels), policy)), tried


def _grown(table: Table, policy: Policy, n_threads: int, traces: bool) -> tuple[Nodes, Tried]:
    """The nodes of the tree, breadth first, and what was tried at them."""
    table = table if table.weight.all() else table.take(table.weight > 0)
    n_threads = n_threads if len(table) * len(table.schema) >= _WORTH_A_THREAD else 1
    coded, most = Codes.of(table, n_threads), policy.stopping.max_leaves
    choice = _core.class_tests(coded.values, coded.levels, table.n_classes, core_rules(policy, float(table.weight.sum())))
    tried: Tried = []
    nodes = Nodes.root(np.bincount(table.label, table.weight, table.n_classes))
    at, fresh = np.zeros(len(table), np.int32), np.zeros(1, np.int64)  # the node of each row, and the nodes to look at
    while fresh.size:
        counts = _look(table, coded, at, nodes, fresh, policy, n_threads)
        keys, weights = [cells.key for cells in counts.cells], [cells.sums[:, 0] for cells in counts.cells]
        with refusing_branches(table.schema.names, coded.levels):
            left = _MOST_NODES + 4 * len(table) - len(nodes)
            tests, told = choice.best(keys, weights, counts.sums, left, n_threads, traces)
        tried += [(int(fresh[place]), *test) for place, *test in told]
        nodes = nodes.tested(fresh, counts.rows, tests)
        split = fresh[nodes.column[fresh] >= 0] if most is None else best_first(nodes, most)
        nodes, split = nodes.carried_out(split)
        at = _core.step_down(list(coded.codes), at, nodes.only(split), nodes.rank, nodes.first, nodes.missing)
        fresh = nodes.children(split)
    return (nodes, tried) if most is None else _rationed(nodes, tried, most)


_WORTH_A_THREAD = 1 << 16  # values
_MOST_NODES = 1 << 22  # beside four for each row


def _rationed(nodes: Nodes, tried: Tried, most: int) -> tuple[Nodes, Tried]:
    """The tree of so many leaves; some nodes were looked at in advance, and are not in it."""
    kept, origin = nodes.compact(best_first(nodes, most))
    place = {int(number): k for k, number in enumerate(origin)}
    return kept, [(place[test[0]], *test[1:]) for test in tried if test[0] in place]


def _of_levels(table: Table, j: int) -> tuple[np.ndarray, np.ndarray]:
    column = table.schema.columns[j]
    n_cut = len(column.levels) if column.kind is Kind.ORDINAL else 0
    return np.ascontiguousarray(table.values[j], np.int32), np.arange(n_cut, dtype=float)


def _look(
    table: Table, coded: Codes, at: np.ndarray, nodes: Nodes, fresh: np.ndarray, policy: Policy, n_threads: int
) -> NodeCounts:
    """One round: the rows of the new nodes, and the columns of those that may be split."""
    is_open = nodes.may_split(fresh, policy.stopping)[:, None] & ~nodes.is_used(fresh, len(table.schema))
    place_of = np.full(len(nodes), -1, np.int32)
    place_of[fresh] = np.arange(len(fresh))
    placed = msgspec.structs.replace(table, values=(*coded.codes, place_of[at]))
    return InMemory(placed).total(partial(_count, coded.n_codes, is_open, n_threads), rows_per_part=None)


def _count(n_codes: np.ndarray, is_open: np.ndarray, n_threads: int, table: Table) -> NodeCounts:
    """What a part of the rows tells; the last column is the place of each row's node."""
    weight = np.zeros(0) if table.is_unweighted else np.ascontiguousarray(table.weight, float)
    rows, sums, cells = _core.count_classes(
        list(table.values[:-1]), n_codes, table.values[-1], np.ascontiguousarray(table.label, np.int32), weight,
        table.n_classes, is_open, n_threads,
    )  # fmt: skip
    return NodeCounts(rows, sums, tuple(Cells(key, weights[:, None]) for key, weights in cells))
