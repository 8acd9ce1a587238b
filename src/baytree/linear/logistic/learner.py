"""Learners of logistic regression: `LogisticLearner` for one penalty strength, `LogisticCVLearner` for one chosen by
cross-validation.

Cross-validation uses the same λ values in all folds and compares them by held-out loss (`held_out_losses`); each fold's path
is warm-started from the solutions on all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from baytree import _core, _warnings
from baytree.base.learner import FitResult
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import Partitions, rescale_weights
from baytree.folds.splitters import Splitter, read_cv
from baytree.folds.structured_folds import as_array
from baytree.linear.logistic.build_rows import Rows, numbered, with_folds
from baytree.linear.logistic.core_rows import CoreRows
from baytree.linear.logistic.fit import fit_path, fit_task, lambda_grid, model_of
from baytree.linear.logistic.held_out_scores import score_losses
from baytree.linear.logistic.objective import Penalty, Solution, Start, Tolerance, extrapolate
from baytree.linear.logistic.problem import (
    LogisticOptions,
    LogisticProblem,
    penalty_of,
    task_of,
    tasks_of,
    weight_of_classes,
)
from baytree.linear.logistic.rows import SparseRows
from baytree.linear.logistic.sign_constraints import Solve, solve_with_sign_constraints
from baytree.linear.logistic.solvers import minimize
from baytree.linear.regularization_path import HeldOutLossCurve, RegularizationPath, choose, path_of
from baytree.parallel.blas import at_most
from baytree.param_validation import ClassWeights


@dataclass(frozen=True)
class LogisticLearner:
    """Logistic regression at one penalty strength. `warns_as` is the category of the warning that it did not converge."""

    options: LogisticOptions
    class_weight: ClassWeights
    n_path: int = 0  # number of λ values of the stored path; 0: none
    start: tuple[np.ndarray, ...] = ()  # coefficients of an earlier fit, used as start if their shapes match
    warns_as: type[Warning] = _warnings.BaytreeWarning

    def learn(self, rows: Partitions) -> FitResult:
        """Model at the optimum, with solver diagnostics and, if requested, the regularization path as fitted attributes."""
        with at_most(rows.n_jobs):
            task = _task(rows, self.options, self.class_weight)
            fits = self._fits(task)
            model = model_of(task, self.options, fits)
            path = {"path_": self._path(task, rows.schema)} if self.n_path else {}
        _warn(fits, self.options, len(task.present), self.warns_as)
        return FitResult(
            model, fitted_attributes={**_diagnostics(fits), **path, "_thetas": tuple(fit.theta for fit in fits)}
        )

    def _path(self, task: LogisticProblem, schema: Schema) -> RegularizationPath:
        lambdas = lambda_grid(task, self.options, self.n_path)
        return _path(task, self.options, lambdas, _along(task, self.options, lambdas), schema)

    def _fits(self, task: LogisticProblem) -> list[Solution]:
        options, penalty = self.options, penalty_of(task, self.options)
        tasks = tasks_of(task, options)
        if [start.shape for start in self.start] != [(each.rows.k, each.rows.q) for each in tasks]:
            return [fit_task(each, options, penalty) for each in tasks]
        starts = [Start(start) for start in self.start]
        return [fit_task(each, options, penalty, start) for each, start in zip(tasks, starts, strict=True)]


@dataclass(frozen=True)
class LogisticCVLearner:
    """Logistic regression at the λ of minimum held-out loss, or the strongest λ within one standard error of it."""

    options: LogisticOptions
    class_weight: ClassWeights
    Cs: np.ndarray  # [n], values of C
    cv: int | Splitter | str | float | np.ndarray  # an argument of `read_cv`, or an array of folds
    rule: str = "min"
    warns_as: type[Warning] = _warnings.BaytreeWarning
    scoring: str = "log_loss"  # one of `SCORINGS`

    def learn(self, rows: Partitions) -> FitResult:
        """Model at the chosen λ; the loss curve and the regularization path are fitted attributes."""
        with at_most(rows.n_jobs):
            task = _task(rows, self.options, self.class_weight)
            lambdas = np.maximum(np.sort(1 / task.total / self.Cs)[::-1], 1e-300)
            solutions = _along(task, self.options, lambdas)
            curve = self._curve(task, lambdas, solutions)
            chosen_index = curve.best if self.rule == "min" else curve.one_se
            chosen = _at(self.options, lambdas[chosen_index])
            penalty = penalty_of(task, chosen)
            fits = [
                fit_task(each, chosen, penalty, Start.at(own[chosen_index]))
                for each, own in zip(tasks_of(task, chosen), solutions, strict=True)
            ]
            model = model_of(task, chosen, fits)
            path = _path(task, self.options, lambdas, solutions, rows.schema)
        _warn(fits, self.options, len(task.present), self.warns_as)
        chosen_lambda = {"lambda_": float(lambdas[chosen_index]), "C_": float(1 / task.total / lambdas[chosen_index])}
        return FitResult(model, fitted_attributes={**_diagnostics(fits), "curve_": curve, "path_": path, **chosen_lambda})

    def _curve(self, task: LogisticProblem, lambdas: np.ndarray, along: list[list[Solution]]) -> HeldOutLossCurve:
        rows, n_folds = self._folds(task)
        tasks = tasks_of(msgspec.structs.replace(task, rows=rows), self.options)
        each = zip(tasks, along, strict=True)
        if self.scoring != "log_loss":
            paths = [list(fold_paths(own, self.options, lambdas, n_folds, fits)) for own, fits in each]
            return choose(lambdas, *score_losses(rows, paths, self.scoring, n_folds))
        losses = [held_out_losses(own, self.options, lambdas, n_folds, fits) for own, fits in each]
        return choose(lambdas, np.sum([loss for loss, _ in losses], axis=0), losses[0][1])

    def _folds(self, task: LogisticProblem) -> tuple[Rows, int]:
        """Rows assigned to folds, and the number of folds."""
        rows = task.rows
        if isinstance(self.cv, int):
            n_rows = max(2, rows.n_rows, int(min(task.total, 1e6)))  # a row of weight 2 counts as two
            return with_folds(rows, task.total, min(self.cv, n_rows))
        fold = self.cv
        if not isinstance(fold, np.ndarray):
            fold = as_array(read_cv(fold, rows.n_rows, rows.labels(), is_classification=True), rows.n_rows)
        number, n_folds = numbered(fold)
        return rows.in_folds(number), n_folds


def _task(rows: Partitions, options: LogisticOptions, class_weight: ClassWeights) -> LogisticProblem:
    rows = rescale_weights(rows)
    classes = rows.schema.classes
    weight = rows.map_reduce(weight_of_classes, rows_per_part=None) if class_weight.is_balanced else np.zeros(len(classes))
    return task_of(rows, options, class_weight.of(classes, weight))


def _along(task: LogisticProblem, options: LogisticOptions, lambdas: np.ndarray) -> list[list[Solution]]:
    """Solutions at each λ, for each problem."""
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


def _diagnostics(fits: list[Solution]) -> dict[str, Any]:
    """Solver diagnostics by the names of fitted attributes."""
    return {
        "n_iter_": np.array([max(1, fit.n_iter) for fit in fits], dtype=np.int32),
        "gradient_norm_": max(fit.kkt_violation for fit in fits),
        "loss_curve_": fits[0].losses if len(fits) == 1 else [fit.losses for fit in fits],
    }


def _warn(fits: list[Solution], options: LogisticOptions, n_classes: int, category: type[Warning]) -> None:
    """Warn if the classes are separable, and if the solver did not converge."""
    if any(fit.is_separable for fit in fits) and n_classes > 1:
        _warnings.warn(
            "the classes are separable by these columns: without a penalty no finite optimum exists, and coefficients grow "
            "until the gradient vanishes; use penalty='l2'",
            category,
        )
    worst = max(fit.kkt_violation for fit in fits)
    diverged = next((fit for fit in fits if fit.kkt_violation > options.tol and _has_risen(fit.losses)), None)
    if diverged is not None and options.learning_rate is not None:
        _warnings.warn(
            f"gradient descent diverges: after {diverged.n_iter} steps the loss is {diverged.losses[-1]:.3g}, above "
            f"{np.nanmin(diverged.losses):.3g} before; give a smaller learning_rate than {options.learning_rate:g}, or None "
            "for one that always descends",
            category,
        )
    elif not worst <= options.tol:
        _warnings.warn(
            f"not converged after {max(fit.n_iter for fit in fits)} steps: the gradient norm is {worst:.3g}, tol is "
            f"{options.tol:.3g}; raise max_iter or tol, or use solver='auto'",
            category,
        )


def _has_risen(losses: tuple[float, ...]) -> bool:
    """Whether the last loss is above the least one, beyond rounding, or no number."""
    return not losses[-1] <= np.nanmin(losses) * (1 + 1e-9)


_MAX_TOLERANCE = 1e-6  # KKT violation at which a held-out loss is precise enough for the choice

_MIN_TOLERANCE = 1e-9

# Newton steps with an old Hessian that cost less than a new one; on 30,000 census rows 3 and 2 took as long
_MAX_OLD_STEPS = 5


def held_out_losses(
    task: LogisticProblem, options: LogisticOptions, lambdas: np.ndarray, n_folds: int, fits: list[Solution]
) -> tuple[np.ndarray, np.ndarray]:
    """Mean loss of each fold's rows under the path of all other rows [n_folds, n], and the weights of the folds [n_folds].

    `fits` are the solutions on all rows; those without a fold are near them.
    """
    weight, loss = task.rows.fold_weights(n_folds), np.zeros((n_folds, len(lambdas)))
    for f, path in enumerate(fold_paths(task, options, lambdas, n_folds, fits)):
        held_out = task.rows.only(f) if path else None
        for i, theta in enumerate(path):
            assert held_out is not None
            loss[f, i] = held_out.loss_gradient(theta).loss
    return loss, weight


def fold_paths(
    task: LogisticProblem, options: LogisticOptions, lambdas: np.ndarray, n_folds: int, fits: list[Solution]
) -> Iterator[list[np.ndarray]]:
    """Yield, for each fold, the coefficients at each λ on all other rows; none if there are no others."""
    penalties = [_penalties(task, options, lambdas, f) for f in range(n_folds)]
    inverse = _preconditioners(task, penalties[0], fits)
    for f in range(n_folds):
        along: list[Solution] = []
        others = task.rows.without(f) if task.rows.has_others(f) else None
        core = None if others is None else CoreRows.of(others)
        for i, penalty in enumerate(penalties[f] if others is not None else []):
            assert others is not None
            aim = _aim(penalty)
            start = _fold_start(others, along, fits[: i + 1], extrapolate(lambdas, along, penalty))
            start = msgspec.structs.replace(start, preconditioner=inverse[i])
            solve = _solver(Tolerance(aim, options.max_iter, aim, _MAX_OLD_STEPS), others, core)
            along.append(solve_with_sign_constraints(others, penalty, task.signs, solve, start))
        yield [each.theta for each in along]


def _preconditioners(
    task: LogisticProblem, penalties: list[Penalty], fits: list[Solution]
) -> list[_core.Preconditioner | None]:
    """Preconditioner of the solution on all rows at each λ: those of the folds are near it."""
    core = CoreRows.of(task.rows)
    if core is None:
        return [None] * len(fits)
    return [core.preconditioner(penalty, fit.theta) for penalty, fit in zip(penalties, fits, strict=True)]


def _solver(aim: Tolerance, of_fold: Rows, core: CoreRows | None) -> Solve:
    """Solver that reads the core's copy of these rows; `solve_with_sign_constraints` may ask for other ones."""
    return lambda rows, penalty, start: minimize(rows, penalty, aim, start, core=core if rows is of_fold else None)


def _penalties(task: LogisticProblem, options: LogisticOptions, lambdas: np.ndarray, fold: int) -> list[Penalty]:
    """Penalty at each λ, for features in units of their standard deviation among the training rows of this fold."""
    deviation = np.ones(task.rows.q)
    if options.standardize and task.rows.has_others(fold):
        deviation = task.rows.without(fold).sizes()
    full = [penalty_of(task, options, float(lambda_)) for lambda_ in lambdas]
    return [Penalty(each.ridge * deviation**2, each.lasso * deviation) for each in full]


def _aim(penalty: Penalty) -> float:
    """Tolerance relative to the penalty. With a tiny penalty a loose one would accept the solution on all rows, which has
    seen the fold.
    """
    largest = max(penalty.ridge.max(), penalty.lasso.max())
    return float(np.clip(0.01 * largest, _MIN_TOLERANCE, _MAX_TOLERANCE))


def _fold_start(rows: Rows, along: list[Solution], wholes: list[Solution], guess: tuple[np.ndarray, ...]) -> Start:
    """Start for a fold's next λ: its last solution plus the difference between the last two solutions on all rows.

    Others are the solution on all rows, which is the better guess for sparse rows, and a `guess` along the fold's own path.
    """
    whole = wholes[-1].theta
    if not along:
        return Start.at(wholes[-1])
    shifted = along[-1].theta + (whole - wholes[-2].theta)
    first, second = (whole, shifted) if isinstance(rows, SparseRows) else (shifted, whole)
    return Start(first, (second, *guess), wholes[-1].hessian)
