"""C5.0's search: the core grows and prunes one tree of the rows with their current weights.

`C50Workspace` holds the rows in the core, shared by all boosting trials; `grow_c50` grows a single tree. Weights and
counts are rounded as in Quinlan's C5.0, release 2.07, because exact ties depend on it.
"""

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

_MIN_BRANCH_WEIGHT = 1e-4  # a branch of less weight receives no fraction of a row with a missing value


class C50Workspace(msgspec.Struct, frozen=True):
    """Rows in the core, where their weights change between trials, and the settings that all trials share."""

    rows: _core.C50Rows
    every: np.ndarray  # int32 [n_rows]
    names: tuple[str, ...]
    levels: np.ndarray  # int32 [n_columns]
    declared: int  # declared classes, including those that do not occur
    policy: Policy
    least: float  # minimum weight of two branches of a test

    def grow(self, among: np.ndarray, leaves_per_weight: float = 0.0, grows_anew: bool = True) -> _core.Growth:
        """Grow the tree of the rows `among`, pruned locally with all rows; leaves are not merged or dropped yet."""
        with refusing_branches(self.names, self.levels):
            return self.rows.grow(among, self.every, *self.gate(), leaves_per_weight, True, grows_anew)

    def gate(self) -> tuple[float, float]:
        """Thresholds of a gain: a fraction of the mean gain, and a factor of log2(tests)/W."""
        f = float(np.clip((len(self.every) // max(self.declared, 1) - 500) / 500, 0.0, 1.0))
        return 1.0 - f, 0.9 * f


def bench_of(table: Table, policy: Policy, n_threads: int, multiplier: np.ndarray | None = None) -> C50Workspace:
    """Workspace of a table; rows of each class weigh `multiplier` times as much."""
    rows = rows_of(table, ReferenceProgram.C50)
    class_multiplier = np.ones(table.n_classes, np.float32) if multiplier is None else multiplier.astype(np.float32)
    weight = normal_weights(table.weight) * class_multiplier[table.label]
    ordered = [column.kind is Kind.ORDINAL for column in table.schema]
    core = _core.C50Rows(
        rows.columns,
        rows.levels,
        ordered,
        rows.label,
        weight.astype(np.float64),
        table.n_classes,
        class_multiplier.tolist(),
        n_threads,
    )
    minimum = policy.stopping.min_leaf * float(class_multiplier.min(initial=1.0) if multiplier is not None else 1.0)
    bench = C50Workspace(core, rows.chosen, rows.names, rows.levels, _declared(table), policy, minimum)
    restored(bench)
    return bench


def restored(bench: C50Workspace) -> None:
    """Set the options of the policy in the core."""
    _set(bench, bench.least)


def trial_settings(bench: C50Workspace) -> None:
    """Set the options for winnowing, in which half of the rows are used."""
    _set(bench, max(bench.least / 2, 2.0))


def _set(bench: C50Workspace, minimum: float) -> None:
    estimate = pessimism(ReferenceProgram.C50, _confidence(bench.policy))
    bench.rows.set(minimum, bench.policy.branching is Branching.GROUPED, bench.declared, estimate.confidence, estimate.z)


def normal_weights(weight: np.ndarray) -> np.ndarray:
    """Weights scaled to mean 1, float32 [n_rows]."""
    return (weight / weight.mean()).astype(np.float32)


def grow_c50(table: Table, policy: Policy, n_threads: int) -> C50Tree:
    """Grow one tree, as C5.0 prints it."""
    bench = bench_of(table, policy, n_threads)
    return shown_tree(bench, pruned_globally(bench, bench.grow(bench.every)))


def pruned_globally(bench: C50Workspace, nodes: _core.Growth) -> _core.Growth:
    """Nodes after the second, global pruning, if the policy has one."""
    if not any(isinstance(step, OneStandardError) for step in bench.policy.pruning):
        return nodes
    return bench.rows.prune_globally(nodes, bench.every)


def shown_tree(bench: C50Workspace, nodes: _core.Growth, only_empty: bool = False) -> C50Tree:
    """Tree of the nodes, with leaves merged if they agree (`only_empty`: if they hold no rows)."""
    return tree_of_c50(bench.rows.tidy(nodes, only_empty), bench.policy)


def tree_of_c50(nodes: _core.Growth, policy: Policy) -> C50Tree:
    """Tree whose leaves predict class proportions, smoothed towards those of all rows with the weight of one row."""
    tree = tree_of_nodes(nodes.arrays(), policy, smoothed)
    proportion = np.where(tree.weight > _MIN_BRANCH_WEIGHT, tree.weight / np.maximum(tree.weight[parents(tree)], 1e-30), 0.0)
    proportion[0] = 1.0
    fields: dict[str, Any] = {name: getattr(tree, name) for name in tree.__struct_fields__}
    return C50Tree(**fields | {"share": proportion, "complexity": complexities(tree)})


def smoothed(raw: Nodes, cells: ClassCells) -> np.ndarray:
    """Smoothed probabilities, float64 [n_nodes, n_classes]: (class weight + prior of the class) / (weight + 1).

    Weights are rounded to six digits, as C5.0 writes them.
    """
    rounded = six_digits(cells.weight)
    weight, in_root = cells.sums(rounded), cells.cell < cells.shape[1]
    prior = np.zeros(cells.shape[1])
    prior[cells.cell[in_root]] = rounded[in_root] / weight[0]
    value = prior / (weight + 1.0)[:, None]
    value.ravel()[cells.cell] = (rounded + prior[cells.label]) / (weight + 1.0)[cells.node]
    empty = np.flatnonzero(raw["weight"] < _MIN_BRANCH_WEIGHT)
    value[empty] = value[parents_of(raw)[empty]]
    return value


def prediction_counts(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Class weights and total weight by which each node predicts, to six digits; an empty node has those of its parent."""
    counts = np.where((tree.weight < _MIN_BRANCH_WEIGHT)[:, None], tree.counts[parents(tree)], tree.counts)
    counts = six_digits(counts)
    return counts, counts.sum(axis=1)


def six_digits(values: np.ndarray) -> np.ndarray:
    """Numbers rounded to the six digits with which C5.0 prints and reads them; this decides exact ties."""
    if np.array_equal(values, np.floor(values)) and values.max(initial=0.0) < 1e6:
        return values
    return np.array([float(f"{value:.6g}") for value in values.ravel().tolist()]).reshape(values.shape)


def _declared(table: Table) -> int:
    return max(len(table.schema.target.order), table.n_classes)


def _confidence(policy: Policy) -> float:
    return next((step.confidence for step in policy.pruning if isinstance(step, ErrorBased)), 0.25)
