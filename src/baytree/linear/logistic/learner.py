"""Learners of logistic regression: one strength of the penalty, or the best of several by cross-validation.

Choosing the strength of the penalty: the same folds and the same strengths for all, judged by held-out loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from baytree import _warnings
from baytree.base.learner import FitResult
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import Partitions, rescale_weights
from baytree.folds.splitters import Splitter, read_cv
from baytree.linear.logistic.build_rows import Rows, numbered, with_folds
from baytree.linear.logistic.few_rows import are_few, losses_of_few_rows
from baytree.linear.logistic.fit import fit_path, fit_task, lambda_grid, model_of
from baytree.linear.logistic.objective import Penalty, Solution, Tolerance
from baytree.linear.logistic.problem import (
    LogisticOptions,
    LogisticProblem,
    penalty_of,
    task_of,
    tasks_of,
    weight_of_classes,
)
from baytree.linear.logistic.rows import DenseRows
from baytree.linear.logistic.sign_constraints import Solve, solve_with_sign_constraints
from baytree.linear.logistic.solvers import minimize
from baytree.linear.regularization_path import HeldOutLossCurve, RegularizationPath, choose, path_of
from baytree.parallel.blas import at_most
from baytree.param_validation import ClassWeights


@dataclass(frozen=True)
class LogisticLearner:
    """Logistic regression at one strength of the penalty; `warns_as` is the class of a warning that it did not converge."""

    options: LogisticOptions
    class_weight: ClassWeights
    n_path: int = 0  # strengths solved on the way and kept
    start: tuple[np.ndarray, ...] = ()  # coefficients of an earlier fit, tried where their shapes fit
    warns_as: type[Warning] = _warnings.BaytreeWarning

    def learn(self, rows: Partitions) -> FitResult:
        """The optimum, and how it was reached."""
        with at_most(rows.n_jobs):
            task = _task(rows, self.options, self.class_weight)
            fits = self._fits(task)
            model = model_of(task, self.options, fits)
            path = {"path_": self._path(task, rows.schema)} if self.n_path else {}
        _warn(fits, self.options, len(task.present), self.warns_as)
        return FitResult(model, fitted_attributes={**_told(fits), **path, "_thetas": tuple(fit.theta for fit in fits)})

    def _path(self, task: LogisticProblem, schema: Schema) -> RegularizationPath:
        lambdas = lambda_grid(task, self.options, self.n_path)
        return _path(task, self.options, lambdas, _along(task, self.options, lambdas), schema)

    def _fits(self, task: LogisticProblem) -> list[Solution]:
        options, penalty = self.options, penalty_of(task, self.options)
        tasks = tasks_of(task, options)
        if [start.shape for start in self.start] != [(each.rows.k, each.rows.q) for each in tasks]:
            return [fit_task(each, options, penalty) for each in tasks]
        starts = [Solution(start, 0.0, 0) for start in self.start]
        return [fit_task(each, options, penalty, start) for each, start in zip(tasks, starts, strict=True)]


@dataclass(frozen=True)
class LogisticCVLearner:
    """Logistic regression at the strength of least held-out loss, or the strongest within one standard error of it."""

    options: LogisticOptions
    class_weight: ClassWeights
    Cs: np.ndarray  # [n], values of C
    cv: int | Splitter | str | float | np.ndarray  # what `read_cv` takes, or the fold of each row
    rule: str = "min"
    warns_as: type[Warning] = _warnings.BaytreeWarning

    def learn(self, rows: Partitions) -> FitResult:
        """The optimum at the chosen strength, the curve and the path that led to it."""
        with at_most(rows.n_jobs):
            task = _task(rows, self.options, self.class_weight)
            lambdas = np.maximum(np.sort(1 / task.total / self.Cs)[::-1], 1e-300)
            along = _along(task, self.options, lambdas)
            curve = self._curve(task, lambdas, along)
            at = curve.best if self.rule == "min" else curve.one_se
            chosen = _at(self.options, lambdas[at])
            penalty = penalty_of(task, chosen)
            fits = [
                fit_task(each, chosen, penalty, own[at]) for each, own in zip(tasks_of(task, chosen), along, strict=True)
            ]
            model = model_of(task, chosen, fits)
            path = _path(task, self.options, lambdas, along, rows.schema)
        _warn(fits, self.options, len(task.present), self.warns_as)
        strength = {"lambda_": float(lambdas[at]), "C_": float(1 / task.total / lambdas[at])}
        return FitResult(model, fitted_attributes={**_told(fits), "curve_": curve, "path_": path, **strength})

    def _curve(self, task: LogisticProblem, lambdas: np.ndarray, along: list[list[Solution]]) -> HeldOutLossCurve:
        rows, n_folds = self._folds(task)
        tasks = tasks_of(msgspec.structs.replace(task, rows=rows), self.options)
        each = zip(tasks, along, strict=True)
        losses = [held_out_losses(own, self.options, lambdas, n_folds, fits) for own, fits in each]
        return choose(lambdas, np.sum([loss for loss, _ in losses], axis=0), losses[0][1])

    def _folds(self, task: LogisticProblem) -> tuple[Rows, int]:
        """The rows in folds, and how many there are."""
        rows = task.rows
        if isinstance(self.cv, int):
            n_rows = max(2, rows.n_rows, int(min(task.total, 1e6)))  # a row of weight 2 is two
            return with_folds(rows, task.total, min(self.cv, n_rows))
        fold = self.cv
        if not isinstance(fold, np.ndarray):
            fold = read_cv(fold, rows.n_rows, rows.labels(), is_classification=True).of_rows(rows.n_rows)
        number, n_folds = numbered(fold)
        return rows.in_folds(number), n_folds


def _task(rows: Partitions, options: LogisticOptions, class_weight: ClassWeights) -> LogisticProblem:
    rows = rescale_weights(rows)
    classes = rows.schema.classes
    weight = rows.map_reduce(weight_of_classes, rows_per_part=None) if class_weight.is_balanced else np.zeros(len(classes))
    return task_of(rows, options, class_weight.of(classes, weight))


def _along(task: LogisticProblem, options: LogisticOptions, lambdas: np.ndarray) -> list[list[Solution]]:
    """The solutions at each strength, of each task."""
    return [fit_path(each, options, lambdas) for each in tasks_of(task, options)]


def _path(
    task: LogisticProblem, options: LogisticOptions, lambdas: np.ndarray, along: list[list[Solution]], schema: Schema
) -> RegularizationPath:
    models = [
        model_of(task, _at(options, lambda_), list(fits)).linear
        for lambda_, fits in zip(lambdas, zip(*along, strict=True), strict=True)
    ]
    return path_of(lambdas, task.total, models, task.design.names(schema.columns))


def _at(options: LogisticOptions, lambda_: float) -> LogisticOptions:
    return msgspec.structs.replace(options, lambda_=float(lambda_))


def _told(fits: list[Solution]) -> dict[str, Any]:
    """What the solver says of itself, by the names of fitted attributes."""
    return {
        "n_iter_": np.array([max(1, fit.n_iter) for fit in fits], dtype=np.int32),
        "gradient_norm_": max(fit.kkt_violation for fit in fits),
        "loss_curve_": fits[0].losses if len(fits) == 1 else [fit.losses for fit in fits],
    }


def _warn(fits: list[Solution], options: LogisticOptions, n_classes: int, category: type[Warning]) -> None:
    """Say when the classes are separable, and when the optimum was not reached."""
    if any(fit.is_separable for fit in fits) and n_classes > 1:
        _warnings.warn(
            "the classes are separable by these columns: without a penalty no finite optimum exists, and coefficients stop "
            "only where the gradient vanishes; use penalty='l2'",
            category,
        )
    worst = max(fit.kkt_violation for fit in fits)
    if worst > options.tol:
        _warnings.warn(
            f"not converged after {max(fit.n_iter for fit in fits)} steps: the gradient norm is {worst:.3g}, tol is "
            f"{options.tol:.3g}; raise max_iter or tol, or use solver='auto'",
            category,
        )


_AIM = 1e-6  # the violation at which a held-out loss has all the digits that a choice needs

_LEAST = 1e-9

_MOST_OLD = 5  # steps by an old curvature that cost less than a new one: 3 and 2 took as long on 30,000 census rows


def held_out_losses(
    task: LogisticProblem, options: LogisticOptions, lambdas: np.ndarray, n_folds: int, fits: list[Solution]
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
            solve = _solver(Tolerance(aim, options.max_iter, aim, _MOST_OLD))
            fit = solve_with_sign_constraints(others, penalties[f][i], task.signs, solve, near)
            loss[f, i], last = held.loss_gradient(fit.theta).loss, (fit, fits[i])
    return loss, weight


def _solver(aim: Tolerance) -> Solve:
    return lambda rows, penalty, near: minimize(rows, penalty, aim, near)


def _penalties(task: LogisticProblem, options: LogisticOptions, lambdas: np.ndarray, fold: int) -> list[Penalty]:
    """The penalty at each strength, on features in units of their spread among the rows that are not held out."""
    size = np.ones(task.rows.q)
    if options.standardize and task.rows.has_others(fold):
        size = task.rows.without(fold).sizes()
    full = [penalty_of(task, options, float(lambda_)) for lambda_ in lambdas]
    return [Penalty(each.ridge * size**2, each.lasso * size) for each in full]


def _in_core(
    task: LogisticProblem, penalties: list[list[Penalty]], fits: list[Solution], max_iter: int
) -> tuple[np.ndarray, np.ndarray]:
    """Held-out losses of few rows, and which were found; none of more rows, nor under signs, where features are left out."""
    rows = task.rows
    if (
        not isinstance(rows, DenseRows)
        or task.signs.any()
        or not are_few(rows)
        or (rows.k == 1 and any(fit.hessian is None for fit in fits))
    ):
        return np.zeros((len(penalties), len(fits))), np.zeros((len(penalties), len(fits)), bool)
    aims = np.array([[_aim(each) for each in own] for own in penalties])
    return losses_of_few_rows(rows, penalties, fits, aims, max_iter)


def _aim(penalty: Penalty) -> float:
    """Small beside the penalty: where that is next to nothing, the solution on all rows would pass, which knows too much."""
    largest = max(penalty.ridge.max(), penalty.lasso.max())
    return float(np.clip(0.01 * largest, _LEAST, _AIM))


def _moved(fit: Solution, whole: Solution, next_whole: Solution) -> Solution:
    """Where a fold's next solution is to be expected: as far from its last one as those of all rows are apart.

    Without a curvature (sparse rows) the solution on all rows is the better guess.
    """
    if fit.hessian is None:
        return next_whole
    return msgspec.structs.replace(next_whole, theta=fit.theta + (next_whole.theta - whole.theta))
