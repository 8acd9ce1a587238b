"""`grow`: the entry to tree growing. A policy is served by one of three searches.

*Sorted*: binary splits with exact thresholds. *Fractional*: Quinlan's trees, in which a row may follow several branches
with fractions of its weight or has a non-integer weight. *Counted*: splits from class counts by level, rank or distinct
number, with levels merged (CHAID) or one branch each.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.engine.partitions import LocalPartitions, Partitions
from baytree.folds.content_folds import RepeatedRows, held_out_proportion, row_keys
from baytree.parallel import threads
from baytree.tree.growing.cart import best_step, drop_empty_rows, grow_cart
from baytree.tree.growing.cross_validation import cross_validated_path
from baytree.tree.growing.trace import candidates, describe_candidates, gains_of_groups, trace_of, trace_of_splits
from baytree.tree.inspection.node_records import splits
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import EQUAL, ClassCosts, ClassWeighting, equal_costs
from baytree.tree.policy.policy import (
    SUITS,
    Branching,
    Criterion,
    CrossValidated,
    Missing,
    Policy,
    ReducedError,
    ReferenceProgram,
)
from baytree.tree.pruning.cost_complexity import PruningPath, prune_to, prune_to_n_leaves, with_complexity
from baytree.tree.search import fractional
from baytree.tree.search.c50 import grow_c50
from baytree.tree.search.counted.chaid import GAINS, grow_merged
from baytree.tree.search.counted.column_tests import describe_column_test
from baytree.tree.search.counted.multiway import grow_multiway_classes, grow_multiway_numbers
from baytree.tree.search.fractional import prune_nodes
from baytree.tree.search.fractional_tree import tree_of
from baytree.tree.search.oblique.growth import grow_oblique
from baytree.tree.search.sorted import grow_sorted


class SearchKind(StrEnum):
    """How the splits of a tree are found."""

    SORTED = "sorted"
    FRACTIONAL = "fractional"
    COUNTED = "counted"


class GrowthResult(msgspec.Struct, frozen=True):
    """Tree, the search that found it, and, if requested, the trace of all candidates of every node."""

    model: Tree
    search: SearchKind
    trace: list[dict[str, Any]]


def search_of(policy: Policy) -> SearchKind:
    """Search that serves a policy.

    >>> from baytree.tree.policy.algorithms import POLICIES
    >>> {name: search_of(POLICIES[name]).value for name in ("C4.5", "CART", "CHAID")}
    {'C4.5': 'fractional', 'CART': 'sorted', 'CHAID': 'counted'}
    """
    if policy.branching is Branching.BINARY:
        return SearchKind.SORTED
    if policy.branching is Branching.MERGE or policy.criterion is Criterion.SSE or _is_counted_multiway(policy):
        return SearchKind.COUNTED
    return SearchKind.FRACTIONAL


def _is_counted_multiway(policy: Policy) -> bool:
    """Whether a classification tree has one branch per level, each row follows one branch, and the arithmetic is our own."""
    is_open = policy.branching is Branching.MULTIWAY and policy.arithmetic is ReferenceProgram.OWN and not policy.pruning
    return is_open and policy.missing is not Missing.FRACTIONAL and not SUITS[policy.criterion].numbers


def grow(rows: Partitions, policy: Policy, weighing: ClassWeighting = EQUAL, traces: bool = False) -> GrowthResult:
    """Grow and prune the tree of a policy; `traces` keeps the candidate tests of every column.

    The counted search needs only counts, one map-reduce pass per level of the tree. Exact thresholds and fractional
    rows need the rows themselves: they are gathered here and nowhere else.
    """
    if policy.cross_validated is not None and policy.arithmetic is not ReferenceProgram.RPART:
        return _grow_and_prune(rows.gather(), policy, weighing, rows.n_jobs, traces)
    search = search_of(policy)
    if _is_counted_multiway(policy) and not _counts_rows(rows):
        search = SearchKind.FRACTIONAL
    if search is SearchKind.SORTED:
        model, trace = _sorted(rows.gather(), policy, weighing, rows.n_jobs, traces)
    elif search is SearchKind.FRACTIONAL:
        model, trace = _fractional(rows.gather(), policy, rows.n_jobs, traces)
    elif policy.criterion is Criterion.SSE and policy.branching is not Branching.MERGE:
        model, trace = _multiway_numbers(rows.gather(), policy, rows.n_jobs, traces)
    else:
        model, trace = _counted(rows, policy, traces)
    return GrowthResult(model, search, trace)


def _grow_and_prune(
    table: Table, policy: Policy, weighing: ClassWeighting, n_jobs: int | None, traces: bool
) -> GrowthResult:
    """Tree at the penalty that cross-validation chooses, with the trace of its nodes."""
    step = policy.cross_validated
    assert step is not None
    growth = grow(LocalPartitions(table, n_jobs), unpruned(policy), weighing, traces)
    steps = validated_path(table, growth.model, policy, weighing, step, n_jobs)
    chosen = float(steps.cp[best_step(steps, step.rule)]) if len(steps.error) else -np.inf
    tree = growth.model
    is_split = (tree.column >= 0) & (tree.complexity > chosen)
    return GrowthResult(prune_to(tree, is_split), growth.search, trace_of_splits(growth.trace, tree, is_split))


def unpruned(policy: Policy) -> Policy:
    """Policy without a penalty chosen by cross-validation."""
    return msgspec.structs.replace(policy, pruning=tuple(p for p in policy.pruning if not isinstance(p, CrossValidated)))


def validated_path(
    table: Table, tree: Tree, policy: Policy, weighing: ClassWeighting, step: CrossValidated, n_jobs: int | None
) -> PruningPath:
    """Pruning path of the tree that a policy grows from a table, with cross-validated errors."""
    costs = equal_costs(table.n_classes) if weighing.is_equal else weighing.of(table)
    before = unpruned(policy)

    def grow_fold(train: Table) -> Tree:
        return grow(LocalPartitions(train, 1), before, weighing).model

    return cross_validated_path(table, tree, grow_fold, costs, step, n_jobs)


def _counts_rows(rows: Partitions) -> bool:
    """Whether sums of weights are exact, and thus independent of the order."""
    repeated = rows.map_reduce(RepeatedRows.of, rows_per_part=None)
    return repeated.is_unweighted or (repeated.is_whole and repeated.total <= _MAX_EXACT)


_MAX_EXACT = 2.0**53

Found = tuple[Tree, list[dict[str, Any]]]


def _sorted(table: Table, policy: Policy, weighing: ClassWeighting, n_jobs: int | None, traces: bool) -> Found:
    if policy.arithmetic is ReferenceProgram.RPART:
        tree = grow_cart(table, policy, weighing, n_jobs)
        if not traces:
            return tree, []
        table = drop_empty_rows(table, policy)
        costs = weighing.of(table)
    else:
        costs = equal_costs(table.n_classes) if weighing.is_equal else weighing.of(table)
        growth = grow_sorted if policy.split_columns == 1 else grow_oblique
        tree = with_complexity(growth(table, policy, costs, n_jobs))
        tree = _limit_leaves(tree, policy.stopping.max_leaves)
    return tree, _stumps(tree, table, policy, costs) if traces else []


def _limit_leaves(tree: Tree, maximum: int | None) -> Tree:
    return tree if maximum is None else prune_to_n_leaves(tree, maximum)


def _stumps(tree: Tree, table: Table, policy: Policy, costs: ClassCosts) -> list[dict[str, Any]]:
    return candidates(tree, table, policy, costs, lambda here, once: grow_sorted(here, once, costs, 1))


def _fractional(table: Table, policy: Policy, n_jobs: int | None, traces: bool) -> Found:
    fractional.refuse(policy)
    if policy.arithmetic is ReferenceProgram.C50:
        return grow_c50(table, policy, threads.count(n_jobs)), []
    rows, held_out = fractional.rows_of(table, policy.arithmetic), _held_out(table, policy)
    inside = rows if held_out is None else rows.weighed(1.0 - held_out)
    growth = fractional.grow_nodes(inside, table.n_classes, policy, threads.count(n_jobs), traces)
    outside = None if held_out is None or not held_out.any() else rows.weighed(held_out)
    prune_nodes(growth, policy, inside, outside)
    if policy.branching is Branching.GROUPED and held_out is None:
        growth = _without_excluded_levels(growth)
    return with_complexity(tree_of(growth, policy)), trace_of(growth, table.schema) if traces else []


def _held_out(table: Table, policy: Policy) -> np.ndarray | None:
    """Proportion of each row that is held out for pruning, float64 [n_rows]; None without reduced-error pruning."""
    step = next((step for step in policy.pruning if isinstance(step, ReducedError)), None)
    if step is None:
        return None
    return held_out_proportion(row_keys(table), table.weight) if step.held_out is None else step.held_out


def _without_excluded_levels(growth: fractional.FractionalNodes) -> fractional.FractionalNodes:
    """Remove from groups the levels that a test above has already sent to another branch."""
    nodes = growth.nodes.compact()
    _core.drop_excluded_levels(nodes)
    return msgspec.structs.replace(growth, nodes=nodes)


def _multiway_numbers(table: Table, policy: Policy, n_jobs: int | None, traces: bool) -> Found:
    tree = grow_multiway_numbers(table, policy, threads.count(n_jobs))
    if not traces:
        return tree, []
    return tree, candidates(tree, table, policy, equal_costs(0), lambda here, once: grow_multiway_numbers(here, once, 1))


def _counted(rows: Partitions, policy: Policy, traces: bool) -> Found:
    if _is_counted_multiway(policy):
        tree, candidates = grow_multiway_classes(rows, policy, traces)
        return tree, describe_candidates(candidates, rows.schema)
    merged = grow_merged(rows, policy)
    if not traces:
        return merged.tree, splits(merged.tree, rows.schema)
    trials = [trial for level in merged.column_tests for trial in level.trials()]
    described = [describe_column_test(trial, merged.coding) for trial in trials]
    if policy.criterion not in GAINS:
        return merged.tree, described
    gains = [gains_of_groups(trial.sums, policy.criterion) for trial in trials]
    return merged.tree, [test | gain for test, gain in zip(described, gains, strict=True)]
