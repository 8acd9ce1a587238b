"""Learners of logistic regression: one strength of the penalty, or the best of several by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from baytree import notices
from baytree.engine.blas import at_most
from baytree.engine.parts import Parts
from baytree.engine.rounds.number_of_rows import as_rows
from baytree.folds.cv import Splitter, read_cv
from baytree.learner import Learnt
from baytree.linear.curve import Curve, choose
from baytree.linear.logistic.fit import fit_task, fits_along, lambdas_to, model_of
from baytree.linear.logistic.held_out_loss import held_out_losses
from baytree.linear.logistic.options import Options
from baytree.linear.logistic.rows.row_folds import numbered, with_folds
from baytree.linear.logistic.rows.task_rows import Rows
from baytree.linear.logistic.solvers.objective import Fit
from baytree.linear.logistic.task import Task, penalty_of, task_of, tasks_of, weight_of_classes
from baytree.linear.penalty_path import Path, path_of
from baytree.settings import ClassWeights
from baytree.table.schema import Schema


@dataclass(frozen=True)
class Logistic:
    """Logistic regression at one strength of the penalty; `warns_as` is the class of a warning that it did not converge."""

    options: Options
    class_weight: ClassWeights
    n_path: int = 0  # strengths solved on the way and kept
    start: tuple[np.ndarray, ...] = ()  # coefficients of an earlier fit, tried where their shapes fit
    warns_as: type[Warning] = notices.BaytreeWarning

    def learn(self, rows: Parts) -> Learnt:
        """The optimum, and how it was reached."""
        with at_most(rows.n_jobs):
            task = _task(rows, self.options, self.class_weight)
            fits = self._fits(task)
            model = model_of(task, self.options, fits)
            path = {"path_": self._path(task, rows.schema)} if self.n_path else {}
        _warn(fits, self.options, len(task.present), self.warns_as)
        return Learnt(model, told={**_told(fits), **path, "_thetas": tuple(fit.theta for fit in fits)})

    def _path(self, task: Task, schema: Schema) -> Path:
        lambdas = lambdas_to(task, self.options, self.n_path)
        return _path(task, self.options, lambdas, _along(task, self.options, lambdas), schema)

    def _fits(self, task: Task) -> list[Fit]:
        options, penalty = self.options, penalty_of(task, self.options)
        tasks = tasks_of(task, options)
        if [start.shape for start in self.start] != [(each.rows.k, each.rows.q) for each in tasks]:
            return [fit_task(each, options, penalty) for each in tasks]
        starts = [Fit(start, 0.0, 0) for start in self.start]
        return [fit_task(each, options, penalty, start) for each, start in zip(tasks, starts, strict=True)]


@dataclass(frozen=True)
class LogisticCV:
    """Logistic regression at the strength of least held-out loss, or the strongest within one standard error of it."""

    options: Options
    class_weight: ClassWeights
    strengths: np.ndarray  # [n], values of C
    cv: int | Splitter | str | float | np.ndarray  # what `read_cv` takes, or the fold of each row
    rule: str = "min"
    warns_as: type[Warning] = notices.BaytreeWarning

    def learn(self, rows: Parts) -> Learnt:
        """The optimum at the chosen strength, the curve and the path that led to it."""
        with at_most(rows.n_jobs):
            task = _task(rows, self.options, self.class_weight)
            lambdas = np.maximum(np.sort(1 / task.total / self.strengths)[::-1], 1e-300)
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
        return Learnt(model, told={**_told(fits), "curve_": curve, "path_": path, **strength})

    def _curve(self, task: Task, lambdas: np.ndarray, along: list[list[Fit]]) -> Curve:
        rows, n_folds = self._folds(task)
        tasks = tasks_of(msgspec.structs.replace(task, rows=rows), self.options)
        each = zip(tasks, along, strict=True)
        losses = [held_out_losses(own, self.options, lambdas, n_folds, fits) for own, fits in each]
        return choose(lambdas, np.sum([loss for loss, _ in losses], axis=0), losses[0][1])

    def _folds(self, task: Task) -> tuple[Rows, int]:
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


def _task(rows: Parts, options: Options, class_weight: ClassWeights) -> Task:
    rows = as_rows(rows)
    classes = rows.schema.classes
    weight = rows.total(weight_of_classes, rows_per_part=None) if class_weight.is_balanced else np.zeros(len(classes))
    return task_of(rows, options, class_weight.of(classes, weight))


def _along(task: Task, options: Options, lambdas: np.ndarray) -> list[list[Fit]]:
    """The solutions at each strength, of each task."""
    return [fits_along(each, options, lambdas) for each in tasks_of(task, options)]


def _path(task: Task, options: Options, lambdas: np.ndarray, along: list[list[Fit]], schema: Schema) -> Path:
    models = [
        model_of(task, _at(options, lambda_), list(fits)).linear
        for lambda_, fits in zip(lambdas, zip(*along, strict=True), strict=True)
    ]
    return path_of(lambdas, task.total, models, task.design.names(schema.columns))


def _at(options: Options, lambda_: float) -> Options:
    return msgspec.structs.replace(options, lambda_=float(lambda_))


def _told(fits: list[Fit]) -> dict[str, Any]:
    """What the solver says of itself, by the names of fitted attributes."""
    return {
        "n_iter_": np.array([max(1, fit.n_iter) for fit in fits], dtype=np.int32),
        "gradient_norm_": max(fit.violation for fit in fits),
        "loss_curve_": fits[0].losses if len(fits) == 1 else [fit.losses for fit in fits],
    }


def _warn(fits: list[Fit], options: Options, n_classes: int, category: type[Warning]) -> None:
    """Say when the classes are separable, and when the optimum was not reached."""
    if any(fit.is_separable for fit in fits) and n_classes > 1:
        notices.warn(
            "the classes are separable by these columns: without a penalty no finite optimum exists, and coefficients stop "
            "only where the gradient vanishes; use penalty='l2'",
            category,
        )
    worst = max(fit.violation for fit in fits)
    if worst > options.tol:
        notices.warn(
            f"not converged after {max(fit.n_iter for fit in fits)} steps: the gradient norm is {worst:.3g}, tol is "
            f"{options.tol:.3g}; raise max_iter or tol, or use solver='auto'",
            category,
        )
