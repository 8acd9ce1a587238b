"""CART as rpart grows it: the tree that is left at a penalty, and the penalty chosen by cross-validation."""

from __future__ import annotations

from functools import reduce
from operator import add

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table, is_missing
from baytree.folds.content_folds import as_single_rows, assign_folds, row_keys
from baytree.folds.splitters import read_cv
from baytree.parallel import threads
from baytree.tree.model.routing import columns, level_counts
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import ClassCosts, ClassWeighting
from baytree.tree.policy.policy import CrossValidated, Policy
from baytree.tree.pruning.cost_complexity import PruningPath, cost_complexity, path, with_complexity
from baytree.tree.search.sorted import grow_arguments, grow_sorted, settings

OTHER_ROWS = (
    "cv names rows of the table that fit was called with, but the tree is to be learnt from other rows, as in "
    "cross-validation; give a number of folds or a splitter of scikit-learn"
)


def grow_cart(table: Table, policy: Policy, weighing: ClassWeighting, n_jobs: int | None) -> Tree:
    """The tree that is left at `cp`, or at the penalty that cross-validation chooses."""
    fitted, step = drop_empty_rows(table, policy), policy.cross_validated
    costs = weighing.of(fitted)
    if step is None:
        return at_penalty(fitted, policy, costs, n_jobs)
    judged, fold = _judged(table, fitted, policy, step)
    return choose_penalty(fitted, judged, policy, costs, fold, n_jobs)[0]


def validated_path(
    table: Table, policy: Policy, weighing: ClassWeighting, step: CrossValidated, n_jobs: int | None
) -> PruningPath:
    """The path of the tree that the rows grow, with the errors of its penalties on rows left out as a step deals them."""
    policy = msgspec.structs.replace(policy, pruning=(step,))
    fitted = drop_empty_rows(table, policy)
    costs = weighing.of(fitted)
    tree = at_penalty(fitted, policy, costs, n_jobs)
    if tree.column[0] < 0:
        return path(tree, policy.stopping.cp)
    judged, fold = _judged(table, fitted, policy, step)
    return cross_validated(judged, tree, policy, costs, fold, n_jobs)


def drop_empty_rows(table: Table, policy: Policy) -> Table:
    """The rows that CART is fitted to: those that have a value."""
    is_fitted = has_value(table, policy)
    return table if is_fitted.all() else table.take(is_fitted)


def at_penalty(table: Table, policy: Policy, costs: ClassCosts, n_jobs: int | None) -> Tree:
    """The tree that is left at `cp`, with the penalty at which each of its splits would go."""
    cp = policy.stopping.cp
    tree = grown(table, policy, costs, cp * _root_risk(table, costs), n_jobs)
    return with_complexity(tree, cp, is_bounded=not _by_impurity(policy))


def choose_penalty(
    table: Table, judged: Table, policy: Policy, costs: ClassCosts, fold: np.ndarray, n_jobs: int | None
) -> tuple[Tree, PruningPath]:
    """The tree at the penalty that the rule of a policy chooses, and the path it was chosen from.

    `judged` are the rows of the table as they go into folds, where a row of weight 2 may come twice.
    """
    tree, step = at_penalty(table, policy, costs, n_jobs), policy.cross_validated
    if step is None or tree.column[0] < 0:
        return tree, path(tree, policy.stopping.cp)
    steps = cross_validated(judged, tree, policy, costs, fold, n_jobs)
    chosen = best_step(steps, step.rule, takes_larger=step.by_impurity)
    smaller = cost_complexity(tree, float(steps.cp[chosen]))
    return (_with_risk(smaller, costs) if step.by_impurity else smaller), steps


def cross_validated(
    table: Table, tree: Tree, policy: Policy, costs: ClassCosts, fold: np.ndarray, n_jobs: int | None
) -> PruningPath:
    """The path of a tree with the errors that its penalties make on rows left out: one tree per fold."""
    cp, by_impurity = policy.stopping.cp, _by_impurity(policy)
    steps = path(tree, cp)
    penalty = steps.cp if by_impurity else between_steps(steps)
    root, whole = float(tree.risk[0]), float(table.weight.sum())
    loss = (costs.risk_scale[:, None] * costs.losses()).ravel()

    given = grow_arguments(table, costs)

    def lost(out: int) -> np.ndarray:  # [2, n_penalties]
        inside = np.flatnonzero(fold != out)
        weight = table.weight[inside]
        unit = root * float(weight.sum()) / whole  # risk that a penalty of 1 stands for in the fold
        alpha = cp * unit
        how = settings(table, policy, costs, 0.0 if by_impurity else _below(alpha), weight)
        outside = np.flatnonzero(fold == out)
        return np.array(_core.losses_outside(*given, how, inside, outside, alpha, not by_impurity, penalty * unit, loss))

    total, squares = reduce(add, threads.map_ordered(lost, np.unique(fold).tolist(), n_jobs))
    return with_errors(steps, total, squares, root, whole)


def between_steps(steps: PruningPath) -> np.ndarray:
    """A penalty between each step and the one before it, as rpart takes it: [n_steps]."""
    return np.concatenate([[np.inf], np.sqrt(steps.cp[:-1] * steps.cp[1:])])


def with_errors(steps: PruningPath, total: np.ndarray, squares: np.ndarray, root: float, whole: float) -> PruningPath:
    """The path with the errors of its penalties, from sums of weight × loss and of weight × loss² over rows left out."""
    deviation = np.sqrt(np.maximum(squares - total**2 / whole, 0.0)) / root
    return msgspec.structs.replace(steps, error=total / root, deviation=deviation)


def best_step(steps: PruningPath, rule: str, takes_larger: bool = False) -> int:
    """The tree of least cross-validated error, or the smallest one within a standard error of it; of equals the smaller."""
    least = int(np.argmin(steps.error))
    if rule == "min":
        return len(steps.error) - 1 - int(np.argmin(steps.error[::-1])) if takes_larger else least
    return int(np.argmax(steps.error <= steps.error[least] + steps.deviation[least]))


def grown(table: Table, policy: Policy, costs: ClassCosts, min_risk: float, n_jobs: int | None) -> Tree:
    """The tree before complexities are looked at; nodes of no more risk than `min_risk` are not split."""
    if not _by_impurity(policy):
        return grow_sorted(table, policy, costs, n_jobs, _below(min_risk))
    tree = grow_sorted(table, policy, costs, n_jobs)
    return msgspec.structs.replace(tree, risk=tree.impurity * tree.weight)


def _below(risk: float) -> float:
    """The risk at which growth stops: a little less, since complexities make the exact test."""
    return risk * (1 - 1e-9)


def _by_impurity(policy: Policy) -> bool:
    return policy.cross_validated is not None and policy.cross_validated.by_impurity


def _with_risk(tree: Tree, costs: ClassCosts) -> Tree:
    """The tree whose nodes cost what is lost by stopping there."""
    return msgspec.structs.replace(tree, risk=costs.least_risk(tree.counts))


def has_value(table: Table, policy: Policy) -> np.ndarray:
    """bool [n_rows]: which rows have a value. rpart keeps the others where weights are given; so do we where those count."""
    if policy.stopping.counts_rows and not table.is_unweighted:
        return np.ones(len(table), np.bool_)
    known = np.zeros(len(table), np.bool_)
    for values in table.values:
        known |= ~is_missing(values)
    return known if known.any() else ~known


def _judged(table: Table, fitted: Table, policy: Policy, step: CrossValidated) -> tuple[Table, np.ndarray]:
    """The rows that are dealt into folds, and the fold of each."""
    if not isinstance(step.cv, int):
        return fitted, _given_folds(table, step)[has_value(table, policy)]
    judged = fitted if policy.stopping.counts_rows else as_single_rows(fitted)
    label = judged.label if judged.n_classes else None
    return judged, assign_folds(row_keys(judged, step.seed), label, min(step.cv, len(judged)))


def _given_folds(table: Table, step: CrossValidated) -> np.ndarray:
    if not isinstance(step.cv, np.ndarray):
        return read_cv(step.cv, len(table), table.label, table.n_classes > 0).of_rows(len(table))
    if len(step.cv) != len(table):
        raise ValueError(OTHER_ROWS)
    return step.cv


def _root_risk(table: Table, costs: ClassCosts) -> float:
    if table.n_classes:
        counts = np.bincount(table.label, table.weight, table.n_classes)
        return float(costs.least_risk(counts))
    apart = table.label - np.average(table.label, weights=table.weight)
    return float(table.weight @ apart**2)


def losses(tree: Tree, rows: Table, costs: ClassCosts, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of weight × loss and of weight × loss² over rows, at every penalty: two arrays [n_penalties]."""
    worth = tree.complexity * tree.risk[0]
    common = (columns(rows), level_counts(rows.schema), worth, penalty, np.ascontiguousarray(rows.weight))
    if not rows.n_classes:
        return tree.router.number_losses(*common, np.ascontiguousarray(rows.label), np.ascontiguousarray(tree.value[:, 0]))
    loss = np.ascontiguousarray((costs.risk_scale[:, None] * costs.losses())[:, tree.prediction].T)
    return tree.router.class_losses(*common, np.ascontiguousarray(rows.label), loss)
