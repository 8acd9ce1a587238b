"""Which trees grow by map-reduce over remote rows, and how each of them is finished (pruning, cross-validated penalty).

CART's cross-validation grows the trees of all folds together, one level of all of them per pass. The fold of a row
depends on the rank of its hash among the rows of its class: the hashes are gathered, the folds are sent back, and the
rest of the row stays with its partition.
"""

from __future__ import annotations

from functools import partial
from typing import Self, TypeVar

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.engine.aggregates import AggregateRows
from baytree.engine.partitions import Partitions
from baytree.engine.remote import PEAK_MEMORY_FACTOR, RemotePartitions, check_memory
from baytree.folds.content_folds import assign_folds, row_keys
from baytree.statistics.containers import RowArrays
from baytree.tree.growing.cart import best_step, between_steps, drop_empty_rows, has_value, losses, with_errors
from baytree.tree.growing.remote.class_growth import TreeJob, grow_class_tree, grow_together
from baytree.tree.growing.remote.coded_rows import NarrowCodedRows
from baytree.tree.growing.remote.growth import MAX_GATHERED_NODE_ROWS
from baytree.tree.growing.remote.regression_growth import grow_regression_tree
from baytree.tree.growing.remote.value_codes import ColumnCodes, codes_of
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import ClassCosts, ClassWeighting, equal_costs
from baytree.tree.policy.policy import Branching, CrossValidated, Missing, Policy, ReferenceProgram
from baytree.tree.pruning.cost_complexity import PruningPath, cost_complexity, path, prune_to_n_leaves, with_complexity


def can_grow_remotely(rows: Partitions, policy: Policy) -> bool:
    """Whether the tree is grown from counts that are computed where the rows are.

    This holds for binary trees without surrogates. All others gather their rows, which is refused if they do not fit in
    memory.
    """
    if isinstance(rows, AggregateRows):
        return bool(rows.schema.classes) and not policy.pruning and _is_remote_binary(rows, policy)
    if not isinstance(rows, RemotePartitions) or rows.n_rows <= MAX_GATHERED_NODE_ROWS:
        return False
    if not rows.schema.classes:
        return _is_remote_regression(rows, policy)
    return _is_remote_pruning(policy) and _is_remote_binary(rows, policy)


def _is_remote_binary(rows: RemotePartitions | AggregateRows, policy: Policy) -> bool:
    if policy.branching is not Branching.BINARY:
        return False
    if policy.columns_per_node is not None or policy.is_constrained:
        return False
    if policy.arithmetic is ReferenceProgram.OWN:
        return policy.missing is not Missing.SURROGATE
    has_surrogates = policy.missing is Missing.SURROGATE and policy.surrogates.most > 0
    is_unweighted = rows.is_unweighted if isinstance(rows, AggregateRows) else rows.encoding.is_unweighted
    return policy.arithmetic is ReferenceProgram.RPART and not has_surrogates and is_unweighted


def _is_remote_regression(rows: RemotePartitions, policy: Policy) -> bool:
    """Rows that fit in memory are gathered, because in-memory growth adds up targets in row order and would differ in last
    bits.
    """
    is_plain = rows.encoding.is_unweighted and not policy.pruning and not policy.stopping.counts_rows
    return is_plain and not rows.fits_in_memory and _is_remote_binary(rows, policy)


def _is_remote_pruning(policy: Policy) -> bool:
    """Whether nothing is pruned, or only at a penalty chosen by content-based folds."""
    validation = policy.cross_validated
    if validation is None:
        return not policy.pruning
    if policy.arithmetic is not ReferenceProgram.RPART:
        return False
    return len(policy.pruning) == 1 and isinstance(validation.cv, int) and not validation.by_impurity


def grow_remotely(rows: Partitions, policy: Policy, weighing: ClassWeighting) -> Tree:
    """Grow the tree of a policy on remote rows."""
    validation = policy.cross_validated
    if validation is not None:
        assert isinstance(rows, RemotePartitions)
        return grow_cross_validated(rows, policy, validation, weighing)
    if policy.arithmetic is ReferenceProgram.RPART:
        cp = policy.stopping.cp
        fitted = rows.map_partitions(partial(drop_empty_rows, policy=policy))
        tree = (
            grow_class_tree(fitted, policy, weighing.of, cp)
            if rows.schema.classes
            else grow_regression_tree(fitted, policy, cp)
        )
        return with_complexity(tree, cp, is_bounded=True)
    if rows.schema.classes:
        tree = with_complexity(grow_class_tree(rows, policy, partial(_costs, weighing)))
    else:
        tree = with_complexity(grow_regression_tree(rows, policy))
    max_leaves = policy.stopping.max_leaves
    return tree if max_leaves is None else prune_to_n_leaves(tree, max_leaves)


def _costs(weighing: ClassWeighting, table: Table) -> ClassCosts:
    return equal_costs(table.n_classes) if weighing.is_equal else weighing.of(table)


R = TypeVar("R", Table, NarrowCodedRows)

KEY_BYTES = 16  # bytes per row of its hash, its class and its fold


def grow_cross_validated(
    rows: RemotePartitions, policy: Policy, validation: CrossValidated, weighing: ClassWeighting
) -> Tree:
    """Tree at the penalty that cross-validation chooses."""
    cp = policy.stopping.cp
    fitted = rows.map_partitions(partial(drop_empty_rows, policy=policy))
    codes = codes_of(fitted)
    job = TreeJob(policy, weighing.of, lambda risk: cp * risk)
    tree = with_complexity(grow_together(fitted, [job], codes)[0], cp, is_bounded=True)
    if tree.column[0] < 0:
        return tree
    steps = _cross_validate(rows, tree, policy, validation, codes, weighing)
    return cost_complexity(tree, float(steps.cp[best_step(steps, validation.rule)]))


def _cross_validate(
    rows: RemotePartitions,
    tree: Tree,
    policy: Policy,
    validation: CrossValidated,
    codes: ColumnCodes,
    weighing: ClassWeighting,
) -> PruningPath:
    """Pruning path of a tree with the cross-validated errors of its penalties: one tree per fold."""
    steps, cp = path(tree, policy.stopping.cp), policy.stopping.cp
    fold = _folds(rows, policy, validation)
    size = np.bincount(fold[fold >= 0])
    total_weight, root = float(size.sum()), float(tree.risk[0])
    costs = weighing.of_counts(tree.counts[0], rows.schema.classes)
    units = root * (total_weight - size) / total_weight  # risk that corresponds to a penalty of 1 in each fold
    jobs = [
        TreeJob(policy, lambda _: costs, partial(_constant_risk, cp * unit), partial(_training_rows, fold, held_out_fold))
        for held_out_fold, unit in enumerate(units.tolist())
    ]
    fold_trees = grow_together(rows, jobs, codes)
    parts = [with_complexity(part, alpha=cp * unit, is_bounded=True) for part, unit in zip(fold_trees, units, strict=True)]
    penalties = [between_steps(steps) * unit for unit in units]
    loss = rows.map_reduce(partial(HeldOutLoss.of, parts, fold, costs, penalties), rows_per_part=None)
    return with_errors(steps, loss.total, loss.squares, root, total_weight)


class HeldOutLoss(msgspec.Struct, frozen=True):
    """Held-out loss at every penalty: sums of weight × loss and of weight × loss²."""

    total: np.ndarray  # [n_penalties]
    squares: np.ndarray  # [n_penalties]

    @classmethod
    def of(cls, trees: list[Tree], fold: np.ndarray, costs: ClassCosts, penalties: list[np.ndarray], table: Table) -> Self:
        """Loss on the rows of a partition, each predicted by the tree whose training fold excludes it."""
        total = np.zeros((2, len(penalties[0])))
        fold_here = fold[table.first : table.first + len(table)]
        for out, tree in enumerate(trees):
            if (fold_here == out).any():
                total += np.array(losses(tree, table.take(fold_here == out), costs, penalties[out]))
        return cls(*total)

    def __add__(self, other: Self) -> Self:
        return type(self)(self.total + other.total, self.squares + other.squares)


def _folds(rows: RemotePartitions, policy: Policy, validation: CrossValidated) -> np.ndarray:
    """Fold of each row, int16 [n_rows]; −1 if CART is not fitted to it."""
    check_memory(rows.n_rows * KEY_BYTES * PEAK_MEMORY_FACTOR, rows.source)
    key, label, is_fitted = rows.map_reduce(partial(_keys, policy, validation.seed), rows_per_part=None).arrays
    fold = np.full(len(key), -1, np.int16)
    assert isinstance(validation.cv, int)
    fold[is_fitted] = assign_folds(key[is_fitted], label[is_fitted], min(validation.cv, int(is_fitted.sum())))
    return fold


def _keys(policy: Policy, seed: int, table: Table) -> RowArrays:
    return RowArrays.of(table.first, row_keys(table, seed), table.label, has_value(table, policy))


def _constant_risk(risk: float, _root: float) -> float:
    return risk


def _training_rows(fold: np.ndarray, out: int, rows: R) -> R:
    fold_here = fold[rows.first : rows.first + len(rows)]
    return rows.take((fold_here >= 0) & (fold_here != out))
