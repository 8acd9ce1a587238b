"""CART as rpart grows it, and its penalty chosen by cross-validation with one tree per fold."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.engine.threads import in_order
from baytree.table.schema import Kind
from baytree.table.table import Table
from baytree.tree.grow.grow import CART_TRIED_LEVELS, Conventions, Costs, altered_costs, equal_costs, grow
from baytree.tree.grow.policy import Criterion, Missing, Policy, Stopping
from baytree.tree.model.routing import columns, level_counts, router
from baytree.tree.model.structure import Tree
from baytree.tree.prune.cost_complexity import Path, cost_complexity, path, with_complexity


class Controls(msgspec.Struct, frozen=True, kw_only=True):
    """rpart's controls, in baytree's words."""

    criterion: Criterion = Criterion.GINI
    cp: float = 0.01
    min_split: float = 20
    min_leaf: float = 7
    max_depth: int | None = 30
    max_surrogates: int = 5
    use_surrogate: int = 2
    surrogate_style: int = 0
    counts_rows: bool = True  # sizes are rows whatever their weights
    prunes_impurity: bool = False  # a split is worth what it takes of the criterion, as in scikit-learn, not of the risk


def cart(table: Table, controls: Controls, costs: Costs, threads: int | None) -> Tree:
    """The tree that is left at `cp`, with the penalty at which each of its splits would go."""
    tree = _grown(table, controls, costs, controls.cp * _root_risk(table, costs), threads)
    return with_complexity(tree, controls.cp, is_bounded=not controls.prunes_impurity)


def cart_costs(table: Table, priors: np.ndarray | None, loss: np.ndarray | None) -> Costs:
    """Class scales as rpart computes them on all the rows of the fit."""
    if not table.n_classes:
        return equal_costs(0)
    return altered_costs(np.bincount(table.label, table.weight, table.n_classes), priors, loss)


def fitted_rows(table: Table, counts_rows: bool) -> np.ndarray:
    """bool [n_rows]: which rows have a value. rpart keeps the others where weights are given; so do we where those count."""
    if counts_rows and not table.is_unweighted:
        return np.ones(len(table), np.bool_)
    known = np.zeros(len(table), np.bool_)
    for column, values in zip(table.schema, table.values, strict=True):
        known |= ~np.isnan(values) if column.kind is Kind.NUMERIC else values >= 0
    return known if known.any() else ~known


def cross_validated(
    table: Table, tree: Tree, controls: Controls, costs: Costs, fold: np.ndarray, threads: int | None
) -> Path:
    """The path of a tree with the errors that its penalties make on rows left out: one tree per fold."""
    steps = path(tree, controls.cp)
    between = np.concatenate([[np.inf], np.sqrt(steps.cp[:-1] * steps.cp[1:])])
    penalty = steps.cp if controls.prunes_impurity else between
    root, whole = float(tree.risk[0]), float(table.weight.sum())
    if _is_complete(table):  # nothing to substitute for
        controls = msgspec.structs.replace(controls, max_surrogates=0)

    def lost(out: int) -> np.ndarray:
        inside, outside = table.take(fold != out), table.take(fold == out)
        unit = root * float(inside.weight.sum()) / whole  # risk that a penalty of 1 stands for in the fold
        grown = _grown(inside, controls, costs, controls.cp * unit, 1)
        part = with_complexity(grown, alpha=controls.cp * unit, is_bounded=not controls.prunes_impurity)
        return np.array(_losses(part, outside, costs, penalty * unit))

    total, squares = sum(in_order(lost, np.unique(fold).tolist(), threads or 1))
    deviation = np.sqrt(np.maximum(squares - total**2 / whole, 0.0)) / root
    return msgspec.structs.replace(steps, error=total / root, deviation=deviation)


def best_step(steps: Path, rule: str, takes_larger: bool = False) -> int:
    """The tree of least cross-validated error, or the smallest one within a standard error of it; of equals the smaller."""
    least = int(np.argmin(steps.error))
    if rule == "min":
        return len(steps.error) - 1 - int(np.argmin(steps.error[::-1])) if takes_larger else least
    return int(np.argmax(steps.error <= steps.error[least] + steps.deviation[least]))


def pruned_by_validation(
    table: Table, judged: Table, controls: Controls, costs: Costs, rule: str, fold: np.ndarray, threads: int | None
) -> tuple[Tree, Path]:
    """The tree at the penalty that a rule chooses ("1se" or "min"), and the path it was chosen from.

    `judged` are the rows of the table as they go into folds, where a row of weight 2 may come twice.
    """
    tree = cart(table, controls, costs, threads)
    if tree.column[0] < 0:
        return tree, path(tree, controls.cp)
    steps = cross_validated(judged, tree, controls, costs, fold, threads)
    chosen = best_step(steps, rule, takes_larger=controls.prunes_impurity)
    return _with_risk(cost_complexity(tree, float(steps.cp[chosen])), costs, controls), steps


def _with_impurity(tree: Tree, controls: Controls) -> Tree:
    """The tree whose nodes cost what is left of the criterion in them."""
    return msgspec.structs.replace(tree, risk=tree.impurity * tree.weight) if controls.prunes_impurity else tree


def _with_risk(tree: Tree, costs: Costs, controls: Controls) -> Tree:
    """The tree whose nodes cost what is lost by stopping there."""
    if not controls.prunes_impurity:
        return tree
    return msgspec.structs.replace(tree, risk=((costs.risk_scale * tree.counts) @ costs.loss).min(axis=1))


def _grown(table: Table, controls: Controls, costs: Costs, min_risk: float, threads: int | None) -> Tree:
    stopping = Stopping(max_depth=controls.max_depth, min_split=controls.min_split, min_leaf=controls.min_leaf)
    policy = Policy(
        criterion=controls.criterion if table.n_classes else Criterion.SSE, missing=Missing.SURROGATE, stopping=stopping
    )
    conventions = Conventions(
        is_cart=True,
        counts_rows=controls.counts_rows,
        most_levels=CART_TRIED_LEVELS,
        max_surrogates=controls.max_surrogates,
        use_surrogate=controls.use_surrogate,
        surrogate_style=controls.surrogate_style,
        min_risk=0.0 if controls.prunes_impurity else min_risk * (1 - 1e-9),  # the exact test comes with the complexities
    )
    return _with_impurity(grow(table, policy, costs, conventions, threads), controls)


def _is_complete(table: Table) -> bool:
    """No value is missing, and no level can be."""
    kinds = [column.kind for column in table.schema]
    return Kind.NOMINAL not in kinds and all(
        not np.isnan(values).any() if kind is Kind.NUMERIC else (values >= 0).all()
        for kind, values in zip(kinds, table.values, strict=True)
    )


def _root_risk(table: Table, costs: Costs) -> float:
    if table.n_classes:
        counts = np.bincount(table.label, table.weight, table.n_classes)
        return float(((costs.risk_scale * counts) @ costs.loss).min())
    apart = table.label - np.average(table.label, weights=table.weight)
    return float(table.weight @ apart**2)


def _losses(tree: Tree, rows: Table, costs: Costs, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of weight × loss and of weight × loss² over rows, at every penalty: two arrays [n_penalties]."""
    complexity = tree.complexity * tree.risk[0]
    common = (columns(rows), level_counts(rows.schema), complexity, penalty, np.ascontiguousarray(rows.weight))
    if not rows.n_classes:
        return router(tree).number_losses(*common, np.ascontiguousarray(rows.label), np.ascontiguousarray(tree.value[:, 0]))
    loss = np.ascontiguousarray((costs.risk_scale[:, None] * costs.loss)[:, tree.prediction].T)
    return router(tree).class_losses(*common, np.ascontiguousarray(rows.label), loss)
