"""Cost-complexity pruning of any tree, with the penalty chosen by cross-validation: one tree per fold.

A tree is grown from all rows and one without the rows of each fold; the held-out rows are then predicted at every
penalty of the whole tree's path. The trees come from a function of the rows, so any branching, criterion and rule for
missing values will do. CART's trees are validated in `cart`, inside the core.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add

import numpy as np

from baytree.data.encoding.table import Table
from baytree.folds.content_folds import as_single_rows
from baytree.parallel import threads
from baytree.tree.growing.cart import between_steps, content_folds, given_folds, losses, with_errors
from baytree.tree.model.routing import values
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import ClassCosts
from baytree.tree.policy.policy import CrossValidated
from baytree.tree.pruning.cost_complexity import PruningPath, path, penalized, prune_to


def cross_validated_path(
    table: Table, tree: Tree, grow: Callable[[Table], Tree], costs: ClassCosts, step: CrossValidated, n_jobs: int | None
) -> PruningPath:
    """Pruning path of the tree of a table, with the cross-validated errors of its penalties.

    `grow` grows a tree from the training rows of a fold; several folds call it at the same time.
    """
    steps = path(penalized(tree))
    if tree.column[0] < 0:
        return steps
    rows, fold = _rows_and_folds(table, step)
    root, whole = float(tree.risk[0]), float(rows.weight.sum())
    penalty = between_steps(steps)

    def held_out_loss(out: int) -> np.ndarray:  # [2, n_penalties]
        train = rows.take(fold != out)
        unit = root * float(train.weight.sum()) / whole  # risk that corresponds to a penalty of 1 in the fold
        return np.array(losses_of(penalized(grow(train)), rows.take(fold == out), costs, penalty * unit))

    total, squares = reduce(add, threads.map_ordered(held_out_loss, np.unique(fold).tolist(), n_jobs))
    return with_errors(steps, total, squares, root, whole)


def losses_of(tree: Tree, rows: Table, costs: ClassCosts, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of weight × loss and weight × loss² over rows at each penalty, two arrays [n_penalties]."""
    if not tree.router.may_spread:
        return losses(tree, rows, costs, penalty)
    score, loss = tree.complexity * tree.risk[0], costs.risk_scale[:, None] * costs.losses()
    total, squares = np.zeros(len(penalty)), np.zeros(len(penalty))
    for k, each in enumerate(penalty):
        lost = loss[rows.label, costs.best(values(prune_to(tree, score > each), rows))]
        total[k], squares[k] = rows.weight @ lost, rows.weight @ lost**2
    return total, squares


def _rows_and_folds(table: Table, step: CrossValidated) -> tuple[Table, np.ndarray]:
    """Rows that are assigned to folds, and the fold of each, int64 [n_rows]."""
    if not isinstance(step.cv, int):
        return table, given_folds(table, step)
    rows = as_single_rows(table)
    return rows, content_folds(rows, step)
