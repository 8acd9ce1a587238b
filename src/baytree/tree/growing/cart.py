"""CART as in rpart: growing, weakest-link pruning, and the choice of the penalty by cross-validation.

Breiman, Friedman, Olshen and Stone (1984). `grow_cart` grows a tree at `cp` and, if the policy asks for it, prunes it
at the penalty with the least cross-validated error or by the one-standard-error rule. Per fold one tree is grown, and
its held-out losses are computed at all penalties of the pruning path of the whole tree.
"""

from __future__ import annotations

from functools import reduce
from operator import add

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table, is_missing
from baytree.engine.aggregates import CompleteRows, as_query
from baytree.folds.content_folds import as_single_rows, assign_folds, row_keys
from baytree.folds.splitters import read_cv
from baytree.folds.structured_folds import as_array, fold_numbers, is_test, is_train
from baytree.parallel import threads
from baytree.tree.model.routing import tested_values
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import ClassCosts, ClassWeighting
from baytree.tree.policy.policy import CrossValidated, Policy
from baytree.tree.pruning.cost_complexity import PruningPath, cost_complexity, path, with_complexity
from baytree.tree.search.sorted import grow_arguments, grow_sorted, settings

OTHER_ROWS = (
    "cv assigns folds to the rows passed to fit, but the tree is fitted to other rows, as in cross-validation; "
    "set cv to a number of folds or a scikit-learn splitter"
)


def grow_cart(table: Table, policy: Policy, weighing: ClassWeighting, n_jobs: int | None) -> Tree:
    """Tree pruned at `cp`, or at the penalty that cross-validation chooses."""
    fitted, step = drop_empty_rows(table, policy), policy.cross_validated
    costs = weighing.of(fitted)
    if step is None:
        return at_penalty(fitted, policy, costs, n_jobs)
    cv_rows, fold = _cv_rows_and_folds(table, fitted, policy, step)
    return choose_penalty(fitted, cv_rows, policy, costs, fold, n_jobs)[0]


def validated_path(
    table: Table, policy: Policy, weighing: ClassWeighting, step: CrossValidated, n_jobs: int | None
) -> PruningPath:
    """Pruning path of the tree of these rows, with cross-validated errors of its penalties by the folds of `step`."""
    policy = msgspec.structs.replace(policy, pruning=(step,))
    fitted = drop_empty_rows(table, policy)
    costs = weighing.of(fitted)
    tree = at_penalty(fitted, policy, costs, n_jobs)
    if tree.column[0] < 0:
        return path(tree, policy.stopping.cp)
    cv_rows, fold = _cv_rows_and_folds(table, fitted, policy, step)
    return cross_validated(cv_rows, tree, policy, costs, fold, n_jobs)


@as_query(lambda **_: CompleteRows())
def drop_empty_rows(table: Table, policy: Policy) -> Table:
    """Rows that CART is fitted to: those with at least one non-missing value."""
    is_fitted = has_value(table, policy)
    return table if is_fitted.all() else table.take(is_fitted)


def at_penalty(table: Table, policy: Policy, costs: ClassCosts, n_jobs: int | None) -> Tree:
    """Tree pruned at `cp`, with the penalty at which each of its splits would be pruned."""
    cp = policy.stopping.cp
    tree = grow_tree(table, policy, costs, cp * _root_risk(table, costs), n_jobs)
    return with_complexity(tree, cp, is_bounded=not _by_impurity(policy))


def choose_penalty(
    table: Table, judged: Table, policy: Policy, costs: ClassCosts, fold: np.ndarray, n_jobs: int | None
) -> tuple[Tree, PruningPath]:
    """Tree at the penalty that the policy's rule chooses, and the pruning path.

    `judged` are the rows that are assigned to folds, where a row of weight 2 may occur twice.
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
    """Pruning path of a tree with the cross-validated errors of its penalties: one tree per fold."""
    cp, by_impurity = policy.stopping.cp, _by_impurity(policy)
    steps = path(tree, cp)
    penalty = steps.cp if by_impurity else between_steps(steps)
    root, total_weight = float(tree.risk[0]), float(table.weight.sum())
    loss = (costs.risk_scale[:, None] * costs.losses()).ravel()

    arguments = grow_arguments(table, costs)

    def held_out_loss(out: int) -> np.ndarray:  # [2, n_penalties]
        train = np.flatnonzero(is_train(fold, out))
        weight = table.weight[train]
        unit = root * float(weight.sum()) / total_weight  # risk that corresponds to a penalty of 1 in the fold
        alpha = cp * unit
        how = settings(table, policy, costs, 0.0 if by_impurity else _below(alpha), weight)
        test = np.flatnonzero(is_test(fold, out))
        return np.array(_core.losses_outside(*arguments, how, train, test, alpha, not by_impurity, penalty * unit, loss))

    numbers = fold_numbers(fold)
    total, squares = reduce(add, threads.map_ordered(held_out_loss, numbers, n_jobs))
    if fold.ndim == 2:  # rows may be tested never or several times: as if each were tested once
        scale = total_weight / sum(float(table.weight[is_test(fold, number)].sum()) for number in numbers)
        total, squares = total * scale, squares * scale
    return with_errors(steps, total, squares, root, total_weight)


def between_steps(steps: PruningPath) -> np.ndarray:
    """Geometric mean of each penalty and the one before it, as in rpart, float64 [n_steps]; inf for the first."""
    return np.concatenate([[np.inf], np.sqrt(steps.cp[:-1] * steps.cp[1:])])


def with_errors(steps: PruningPath, total: np.ndarray, squares: np.ndarray, root: float, whole: float) -> PruningPath:
    """Path with the errors of its penalties, from the held-out sums of weight × loss and weight × loss²."""
    deviation = np.sqrt(np.maximum(squares - total**2 / whole, 0.0)) / root
    return msgspec.structs.replace(steps, error=total / root, deviation=deviation)


def best_step(steps: PruningPath, rule: str, takes_larger: bool = False) -> int:
    """Index of the tree of least cross-validated error, or of the smallest within one standard error; of equals the
    smaller.
    """
    best = int(np.argmin(steps.error))
    if rule == "min":
        return len(steps.error) - 1 - int(np.argmin(steps.error[::-1])) if takes_larger else best
    return int(np.argmax(steps.error <= steps.error[best] + steps.deviation[best]))


def grow_tree(table: Table, policy: Policy, costs: ClassCosts, min_risk: float, n_jobs: int | None) -> Tree:
    """Tree before complexities are computed; nodes whose risk is at most `min_risk` are not split."""
    if not _by_impurity(policy):
        return grow_sorted(table, policy, costs, n_jobs, _below(min_risk))
    tree = grow_sorted(table, policy, costs, n_jobs)
    return msgspec.structs.replace(tree, risk=tree.impurity * tree.weight)


def _below(risk: float) -> float:
    """Risk at which growth stops, slightly reduced: the exact test uses the complexities."""
    return risk * (1 - 1e-9)


def _by_impurity(policy: Policy) -> bool:
    return policy.cross_validated is not None and policy.cross_validated.by_impurity


def _with_risk(tree: Tree, costs: ClassCosts) -> Tree:
    """Tree whose node risks are the losses of stopping there, instead of impurities."""
    return msgspec.structs.replace(tree, risk=costs.least_risk(tree.counts))


def has_value(table: Table, policy: Policy) -> np.ndarray:
    """Whether each row has a non-missing value, bool [n_rows].

    rpart keeps empty rows if weights are given; so does baytree if `counts_rows` is set. If no row has a value, all are
    kept.
    """
    if policy.stopping.counts_rows and not table.is_unweighted:
        return np.ones(len(table), np.bool_)
    known = np.zeros(len(table), np.bool_)
    for values in table.values:
        known |= ~is_missing(values)
    return known if known.any() else ~known


def _cv_rows_and_folds(table: Table, fitted: Table, policy: Policy, step: CrossValidated) -> tuple[Table, np.ndarray]:
    """Rows that are assigned to folds, and the fold of each."""
    if not isinstance(step.cv, int):
        return fitted, given_folds(table, step)[has_value(table, policy)]
    cv_rows = fitted if policy.stopping.counts_rows else as_single_rows(fitted)
    return cv_rows, content_folds(cv_rows, step)


def content_folds(rows: Table, step: CrossValidated) -> np.ndarray:
    """Fold of each row by its contents, if a number of folds was given, int64 [n_rows]."""
    assert isinstance(step.cv, int)
    label = rows.label if rows.n_classes else None
    return assign_folds(row_keys(rows, step.seed), label, min(step.cv, len(rows)))


def given_folds(table: Table, step: CrossValidated) -> np.ndarray:
    """Fold of each row by a splitter, or as given, int64 [n_rows]."""
    if not isinstance(step.cv, np.ndarray):
        return as_array(read_cv(step.cv, len(table), table.label, table.n_classes > 0), len(table))
    if len(step.cv) != len(table):
        raise ValueError(OTHER_ROWS)
    return step.cv


def _root_risk(table: Table, costs: ClassCosts) -> float:
    if table.n_classes:
        counts = np.bincount(table.label, table.weight, table.n_classes)
        return float(costs.least_risk(counts))
    deviation = table.label - np.average(table.label, weights=table.weight)
    return float(table.weight @ deviation**2)


def losses(tree: Tree, rows: Table, costs: ClassCosts, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of weight × loss and weight × loss² over rows at each penalty, two arrays [n_penalties]."""
    penalty_of_split = tree.complexity * tree.risk[0]
    common = (*tested_values(tree, rows), penalty_of_split, penalty, np.ascontiguousarray(rows.weight))
    if not rows.n_classes:
        return tree.router.number_losses(*common, np.ascontiguousarray(rows.label), np.ascontiguousarray(tree.value[:, 0]))
    loss = np.ascontiguousarray((costs.risk_scale[:, None] * costs.losses())[:, tree.prediction].T)
    return tree.router.class_losses(*common, np.ascontiguousarray(rows.label), loss)
