"""C5.0's search: one tree of the rows as they weigh now, grown and pruned by the core."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.tree.model.traversal import parents
from baytree.tree.model.tree import C50Tree, Tree
from baytree.tree.policy.impurity import ClassCells
from baytree.tree.policy.policy import Branching, ErrorBased, OneStandardError, Policy, ReferenceProgram
from baytree.tree.pruning.cost_complexity import complexities
from baytree.tree.pruning.pessimistic_error import pessimism
from baytree.tree.search.fractional import refusing_branches, rows_of
from baytree.tree.search.fractional_tree import Nodes, parents_of, tree_of_nodes

_REACHED = 1e-4  # a branch of less weight takes no part of a row without a value


class C50Workspace(msgspec.Struct, frozen=True):
    """The rows in the core, where their weights change, and what the trees of all trials share."""

    rows: _core.C50Rows
    every: np.ndarray  # int32 [n_rows]
    names: tuple[str, ...]
    levels: np.ndarray  # int32 [n_columns]
    declared: int  # classes, also those that do not occur
    policy: Policy
    least: float  # weight that two branches of a test must hold

    def grown(self, among: np.ndarray, leaves_per_weight: float = 0.0, grows_anew: bool = True) -> _core.Growth:
        """The tree of the rows `among`, pruned locally by all rows; nothing is joined or dropped yet."""
        with refusing_branches(self.names, self.levels):
            return self.rows.grow(among, self.every, *self.gate(), leaves_per_weight, True, grows_anew)

    def gate(self) -> tuple[float, float]:
        """What a gain must reach: this share of the mean gain, and this share of log2(tests)/W."""
        f = float(np.clip((len(self.every) // max(self.declared, 1) - 500) / 500, 0.0, 1.0))
        return 1.0 - f, 0.9 * f


def bench_of(table: Table, policy: Policy, n_threads: int, multiplier: np.ndarray | None = None) -> C50Workspace:
    """The rows of a table, a row of each class weighing `multiplier` times as much."""
    rows = rows_of(table, ReferenceProgram.C50)
    times = np.ones(table.n_classes, np.float32) if multiplier is None else multiplier.astype(np.float32)
    weight = normal_weights(table.weight) * times[table.label]
    ordered = [column.kind is Kind.ORDINAL for column in table.schema]
    core = _core.C50Rows(
        rows.columns, rows.levels, ordered, rows.label, weight.astype(np.float64), table.n_classes, times.tolist(), n_threads
    )
    least = policy.stopping.min_leaf * float(times.min(initial=1.0) if multiplier is not None else 1.0)
    bench = C50Workspace(core, rows.chosen, rows.names, rows.levels, _declared(table), policy, least)
    restored(bench)
    return bench


def restored(bench: C50Workspace) -> None:
    """Sets what the policy says."""
    _set(bench, bench.least)


def trial_settings(bench: C50Workspace) -> None:
    """Sets what holds while columns are winnowed: half of the rows are there."""
    _set(bench, max(bench.least / 2, 2.0))


def _set(bench: C50Workspace, least: float) -> None:
    estimate = pessimism(ReferenceProgram.C50, _confidence(bench.policy))
    bench.rows.set(least, bench.policy.branching is Branching.GROUPED, bench.declared, estimate.confidence, estimate.z)


def normal_weights(weight: np.ndarray) -> np.ndarray:
    """float32 [n_rows]: weights of mean 1."""
    return (weight / weight.mean()).astype(np.float32)


def grow_c50(table: Table, policy: Policy, n_threads: int) -> C50Tree:
    """One tree, as C5.0 shows it."""
    bench = bench_of(table, policy, n_threads)
    return shown_tree(bench, pruned_globally(bench, bench.grown(bench.every)))


def pruned_globally(bench: C50Workspace, nodes: _core.Growth) -> _core.Growth:
    """The nodes after the second pruning, where the policy has one."""
    if not any(isinstance(step, OneStandardError) for step in bench.policy.pruning):
        return nodes
    return bench.rows.prune_globally(nodes, bench.every)


def shown_tree(bench: C50Workspace, nodes: _core.Growth, only_empty: bool = False) -> C50Tree:
    """The nodes as a tree, its leaves joined where they say the same (`only_empty`: where they hold no row)."""
    return tree_of_c50(bench.rows.tidy(nodes, only_empty), bench.policy)


def tree_of_c50(nodes: _core.Growth, policy: Policy) -> C50Tree:
    """A tree whose leaves answer with their class shares, drawn towards those of all rows as if by one more row."""
    tree = tree_of_nodes(nodes.arrays(), policy, smoothed)
    share = np.where(tree.weight > _REACHED, tree.weight / np.maximum(tree.weight[parents(tree)], 1e-30), 0.0)
    share[0] = 1.0
    fields: dict[str, Any] = {name: getattr(tree, name) for name in tree.__struct_fields__}
    return C50Tree(**fields | {"share": share, "complexity": complexities(tree)})


def smoothed(raw: Nodes, cells: ClassCells) -> np.ndarray:
    """float64 [n_nodes, n_classes]: (weight of the class + its share of all rows) / (weight + 1), in told weights."""
    told = six_digits(cells.weight)
    weight, in_root = cells.sums(told), cells.cell < cells.shape[1]
    prior = np.zeros(cells.shape[1])
    prior[cells.cell[in_root]] = told[in_root] / weight[0]
    value = prior / (weight + 1.0)[:, None]
    value.ravel()[cells.cell] = (told + prior[cells.label]) / (weight + 1.0)[cells.node]
    empty = np.flatnonzero(raw["weight"] < _REACHED)
    value[empty] = value[parents_of(raw)[empty]]
    return value


def told_counts(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """The class weights and the weight that each node answers by, to six digits: those of its parent where it is empty."""
    counts = np.where((tree.weight < _REACHED)[:, None], tree.counts[parents(tree)], tree.counts)
    counts = six_digits(counts)
    return counts, counts.sum(axis=1)


def six_digits(values: np.ndarray) -> np.ndarray:
    """The numbers as the program prints them and reads them again: it decides exact ties."""
    if np.array_equal(values, np.floor(values)) and values.max(initial=0.0) < 1e6:
        return values
    return np.array([float(f"{value:.6g}") for value in values.ravel().tolist()]).reshape(values.shape)


def _declared(table: Table) -> int:
    return max(len(table.schema.target.order), table.n_classes)


def _confidence(policy: Policy) -> float:
    return next((step.confidence for step in policy.pruning if isinstance(step, ErrorBased)), 0.25)
