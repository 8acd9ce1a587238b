"""C5.0's first tree, before it is known whether a tree or rules are wanted: both begin with it."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.engine import threads
from baytree.engine.parts import Parts
from baytree.engine.rounds.number_of_rows import as_rows
from baytree.table.table import Table
from baytree.tree.boost.multipliers import class_multipliers, cost_table
from baytree.tree.boost.winnowing import winnow
from baytree.tree.grow.c50_growth import Bench, bench_of, pruned_globally
from baytree.tree.grow.costs import EQUAL, Weighing
from baytree.tree.grow.policy import Policy


class FirstTree(msgspec.Struct, frozen=True, kw_only=True):
    """What decides how the first tree is grown and pruned."""

    policy: Policy
    weighing: Weighing = EQUAL
    winnow: bool = False

    def taken(self, rows: Parts) -> Begun:
        """The first tree of these rows."""
        table = as_rows(rows).gather()
        costs = cost_table(self.weighing, table)
        bench = bench_of(table, self.policy, threads.count(rows.n_jobs), class_multipliers(costs, table))
        winnowed = winnow(bench, table, costs) if self.winnow else ()
        return Begun(table, costs, bench, winnowed, pruned(bench, bench.grown(bench.every), costs))


class Begun(msgspec.Struct, frozen=True):
    """The rows in the core, and the first tree that they grow; no leaves are joined yet."""

    table: Table
    costs: np.ndarray | None  # [n_classes (predicted), n_classes (true)]
    bench: Bench
    winnowed: tuple[str, ...]  # columns
    nodes: _core.Growth


def pruned(bench: Bench, nodes: _core.Growth, costs: np.ndarray | None) -> _core.Growth:
    """The nodes after the second pruning, or with the classes that cost least."""
    return pruned_globally(bench, nodes) if costs is None else bench.rows.apply_costs(nodes, flat(costs))


def flat(costs: np.ndarray | None) -> np.ndarray:
    """The costs as the core takes them; nothing where all mistakes cost the same."""
    return np.zeros(0) if costs is None else np.ascontiguousarray(costs).ravel()
