"""Choosing the strength of the penalty: the same folds and the same strengths for all, judged by held-out loss."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.linear.logistic.options import Options
from baytree.linear.logistic.rows.dense_rows import DenseRows
from baytree.linear.logistic.solvers.few_rows import are_few, losses_of_few_rows
from baytree.linear.logistic.solvers.objective import Aim, Fit, Penalty
from baytree.linear.logistic.solvers.signs import Solve, optimum_under_signs
from baytree.linear.logistic.solvers.solve import optimum
from baytree.linear.logistic.task import Task, penalty_of

_AIM = 1e-6  # the violation at which a held-out loss has all the digits that a choice needs
_LEAST = 1e-9
_MOST_OLD = 5  # steps by an old curvature that cost less than a new one: 3 and 2 took as long on 30,000 census rows


def held_out_losses(
    task: Task, options: Options, lambdas: np.ndarray, n_folds: int, fits: list[Fit]
) -> tuple[np.ndarray, np.ndarray]:
    """The mean loss of each fold's rows under the path of all other rows, and the folds' weights. [n_folds, n], [n_folds]

    `fits` are the solutions on all rows, from which those without a fold are not far.
    """
    weight = task.rows.fold_weights(n_folds)
    penalties = [_penalties(task, options, lambdas, f) for f in range(n_folds)]
    loss, found = _in_core(task, penalties, fits, options.max_iter)
    for f in range(n_folds):
        left = np.flatnonzero(~found[f])
        if not len(left) or not task.rows.has_others(f):
            continue
        others, held, last = task.rows.without(f), task.rows.only(f), None
        for i in left:
            near = fits[i] if last is None else _moved(*last, fits[i])
            aim = _aim(penalties[f][i])
            solve = _solver(Aim(aim, options.max_iter, aim, _MOST_OLD))
            fit = optimum_under_signs(others, penalties[f][i], task.signs, solve, near)
            loss[f, i], last = held.slope(fit.theta).loss, (fit, fits[i])
    return loss, weight


def _solver(aim: Aim) -> Solve:
    return lambda rows, penalty, near: optimum(rows, penalty, aim, near)


def _penalties(task: Task, options: Options, lambdas: np.ndarray, fold: int) -> list[Penalty]:
    """The penalty at each strength, on features in units of their spread among the rows that are not held out."""
    size = np.ones(task.rows.q)
    if options.standardize and task.rows.has_others(fold):
        size = task.rows.without(fold).sizes()
    full = [penalty_of(task, options, float(lambda_)) for lambda_ in lambdas]
    return [Penalty(each.ridge * size**2, each.lasso * size) for each in full]


def _in_core(task: Task, penalties: list[list[Penalty]], fits: list[Fit], max_iter: int) -> tuple[np.ndarray, np.ndarray]:
    """Held-out losses of few rows, and which were found; none of more rows, nor under signs, where features are left out."""
    is_refused = task.signs.any() or not isinstance(task.rows, DenseRows) or not are_few(task.rows)
    if is_refused or (task.rows.k == 1 and any(fit.curvature is None for fit in fits)):
        return np.zeros((len(penalties), len(fits))), np.zeros((len(penalties), len(fits)), bool)
    aims = np.array([[_aim(each) for each in own] for own in penalties])
    return losses_of_few_rows(task.rows, penalties, fits, aims, max_iter)


def _aim(penalty: Penalty) -> float:
    """Small beside the penalty: where that is next to nothing, the solution on all rows would pass, which knows too much."""
    largest = max(penalty.ridge.max(), penalty.lasso.max())
    return float(np.clip(0.01 * largest, _LEAST, _AIM))


def _moved(fit: Fit, whole: Fit, next_whole: Fit) -> Fit:
    """Where a fold's next solution is to be expected: as far from its last one as those of all rows are apart.

    Without a curvature (sparse rows) the solution on all rows is the better guess.
    """
    if fit.curvature is None:
        return next_whole
    return msgspec.structs.replace(next_whole, theta=fit.theta + (next_whole.theta - whole.theta))
