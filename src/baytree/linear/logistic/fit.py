"""Fit logistic regression: from a problem and a penalty to a solution, and from solutions to a `LogisticModel`.

Objective: mean loss + λ (l1_ratio · |b|₁ + (1 − l1_ratio) / 2 · |b|²) over coefficients b of columns divided by their
standard deviation (divisor n) or, without standardisation, of the columns unchanged; intercepts are not penalised. C = 1 /
(n · λ). The same parametrisation as glmnet (Friedman, Hastie and Tibshirani 2010).
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.linear.elastic_net import solve
from baytree.linear.linear_model import LOG_ZERO, LinearModel, Link
from baytree.linear.logistic.build_rows import Rows
from baytree.linear.logistic.model import LogisticModel
from baytree.linear.logistic.objective import Penalty, Solution, Start, Tolerance, extrapolate
from baytree.linear.logistic.problem import LogisticOptions, LogisticProblem, lambda_value, penalty_of
from baytree.linear.logistic.rows import DenseRows
from baytree.linear.logistic.sign_constraints import solve_with_sign_constraints
from baytree.linear.logistic.solvers import gradient_descent, minimize, safe_rate

# target below rounding: steps that converge linearly go on until only rounding is left
_TO_ROUNDING = Tolerance(1e-10, 100, 1e-16)

_ABOVE_ROUNDING = 1 + 1e-12

_MAX_SIZE = 1_000_000  # numbers in the rows, times the number of scores

_CLOSER_FACTOR = 1e-8  # relative to the tolerance


def max_lambda(task: LogisticProblem, options: LogisticOptions) -> float:
    """Smallest λ at which a lasso selects no column: max |gradient| / penalty factor with intercepts alone."""
    start = minimize(task.rows, Penalty(np.append(np.full(task.rows.q - 1, 1e12), 0.0), np.zeros(task.rows.q)), _TO_ROUNDING)
    theta = np.zeros_like(start.theta)
    theta[:, -1] = start.theta[:, -1]
    gradient = np.abs(task.rows.loss_gradient(theta).gradient).max(axis=0)[:-1]
    return _ABOVE_ROUNDING * float((gradient / task.penalty_factor[:-1]).max(initial=0.0)) / max(options.l1_share, 1e-3)


def fit_task(
    task: LogisticProblem,
    options: LogisticOptions,
    penalty: Penalty,
    start: Start | None = None,
    aim: Tolerance | None = None,
) -> Solution:
    """Optimum of one multinomial or two-class problem by the chosen solver, to a given tolerance or as precisely as
    possible.
    """

    def solve(rows: Rows, own: Penalty, near: Start | None) -> Solution:
        return _fit_rows(rows, options, own, near, aim)

    return solve_with_sign_constraints(task.rows, penalty, task.signs, solve, start)


def _fit_rows(
    rows: Rows, options: LogisticOptions, penalty: Penalty, start: Start | None, aim: Tolerance | None
) -> Solution:
    given_aim, aim = aim, aim or Tolerance.of(options.tol, options.max_iter, penalty)
    if options.solver != "gradient_descent":
        fit = minimize(rows, penalty, aim, start, options.solver)
        return fit if given_aim or options.solver == "lbfgs" else _closer(rows, penalty, aim, fit)
    theta = np.zeros((rows.k, rows.q)) if start is None else start.theta
    rate = safe_rate(rows, penalty) if options.learning_rate is None else options.learning_rate
    return gradient_descent(rows, penalty, theta, aim, rate)


def _closer(rows: Rows, penalty: Penalty, aim: Tolerance, fit: Solution) -> Solution:
    """Refine a solution to rounding error if rows are few: a step is cheap then, and equal problems give equal digits."""
    n_left = aim.max_iter - fit.n_iter
    is_small = rows.k * rows.n_rows * (rows.q - 1) <= _MAX_SIZE
    if not is_small or fit.is_separable or fit.kkt_violation > aim.tol or n_left < 1:
        return fit
    refined = minimize(rows, penalty, Tolerance(aim.tol, n_left, _CLOSER_FACTOR * aim.tol), Start.at(fit))
    losses = fit.losses + refined.losses[1:]
    return msgspec.structs.replace(refined, n_iter=fit.n_iter + refined.n_iter, losses=losses, is_separable=False)


def lambda_grid(task: LogisticProblem, options: LogisticOptions, count: int) -> np.ndarray:
    """Decreasing λ values, evenly spaced in logs, from the smallest that selects no column to the user's own. [count]"""
    largest, smallest = max_lambda(task, options), lambda_value(task, options)
    return np.geomspace(largest, smallest, count) if 0 < smallest < largest and count > 1 else np.array([smallest])


def fit_path(task: LogisticProblem, options: LogisticOptions, lambdas: np.ndarray) -> list[Solution]:
    """Solution at each λ to within `tol`, warm-started from the previous ones."""
    fits: list[Solution] = []
    aim = Tolerance(options.tol, options.max_iter, options.tol)
    for lambda_ in lambdas:
        penalty = penalty_of(task, options, float(lambda_))
        start = Start(fits[-1].theta, extrapolate(lambdas, fits, penalty), fits[-1].hessian) if fits else None
        fits.append(fit_task(task, options, penalty, start, aim))
    return fits


def model_of(task: LogisticProblem, options: LogisticOptions, fits: list[Solution]) -> LogisticModel:
    """Model of the solutions: a single one, or one per class against the rest."""
    penalty = penalty_of(task, options)
    if len(fits) > 1:
        return _model(task, _kept(np.vstack([fit.theta for fit in fits]), options), "ovr", None)
    covariance = covariance_of(task, fits[0]) if penalty.is_none and len(task.present) == task.n_classes > 1 else None
    theta = _kept(center_coefficients(fits[0].theta, penalty), options)
    model = _model(task, theta, "sigmoid" if task.rows.k == 1 else "softmax", covariance)
    return msgspec.structs.replace(model, bound=bound_of(task, penalty, theta)) if task.signs.any() else model


def bound_of(task: LogisticProblem, penalty: Penalty, theta: np.ndarray) -> np.ndarray:
    """Features held at 0 by a sign constraint: the objective would decrease beyond it. int32"""
    decrease = task.signs * task.rows.loss_gradient(theta).gradient[0] - penalty.lasso
    return np.flatnonzero((task.signs != 0) & (theta[0] == 0) & (decrease > 0)).astype(np.int32)


def _kept(theta: np.ndarray, options: LogisticOptions) -> np.ndarray:
    """Coefficients, with the constant exactly 0 if the model has none."""
    return theta * np.append(np.ones(theta.shape[1] - 1), 0.0) if options.constant == np.inf else theta


def center_coefficients(theta: np.ndarray, penalty: Penalty) -> np.ndarray:
    """Symmetric choice among equivalent solutions: intercepts sum to 0, and so on for coefficients without a ridge.

    Adding a number to a feature's coefficients in all classes changes no probability. A ridge makes them sum to 0;
    unpenalised coefficients are centred at their mean. The lasso fixes only that the median is 0; with an even number of
    classes the mean of the middle two is set to 0.
    """
    if len(theta) == 1:
        return theta
    theta = theta.copy()
    theta[:, -1] -= theta[:, -1].mean()
    free = (penalty.ridge == 0) & (np.arange(theta.shape[1]) < theta.shape[1] - 1)
    center = np.median(theta[:, free], axis=0) if not penalty.is_smooth else theta[:, free].mean(axis=0)
    theta[:, free] -= center
    return theta


def covariance_of(task: LogisticProblem, fit: Solution) -> np.ndarray:
    """Covariance of unpenalised coefficients in standard units, with those of the first class fixed if there are three or
    more.

    The inverse of the observed information, total weight · Hessian. Coefficients at their bound are taken as given and get
    covariance 0. Empty if rows are sparse or coefficients are more than 2500.
    """
    is_bound = (task.signs != 0) & (fit.theta == 0).all(axis=0)
    if not isinstance(task.rows, DenseRows) or task.rows.k * task.rows.q > 2500:
        return np.zeros((0, 0))
    # without a penalty, the solver returns the Hessian at the optimum
    hessian = task.rows.hessian(fit.theta) if fit.hessian is None else fit.hessian
    first = task.rows.q if task.rows.k > 1 else 0
    reduced = hessian[first:, first:]
    if not is_bound.any():
        return solve(reduced, np.eye(len(reduced))) / task.total
    free, covariance = np.ix_(~is_bound, ~is_bound), np.zeros_like(reduced)
    covariance[free] = solve(reduced[free], np.eye(len(free[0]))) / task.total
    return covariance


def _model(task: LogisticProblem, theta: np.ndarray, link: Link, covariance: np.ndarray | None) -> LogisticModel:
    """Model for all declared classes; a class that does not occur gets probability 0."""
    weight, intercept = theta[:, :-1], theta[:, -1]
    if task.above.any():
        intercept = intercept + theta @ task.above
        intercept = intercept - intercept.mean() if link == "softmax" else intercept
    if len(task.present) < task.n_classes or len(task.present) == 1:
        weight, intercept, link = _for_all(task, weight, intercept, link)
    linear = LinearModel(task.design, np.ascontiguousarray(weight), np.ascontiguousarray(intercept), link)
    return LogisticModel(linear, np.zeros((0, 0)) if covariance is None else covariance, task.total)


def _for_all(
    task: LogisticProblem, weight: np.ndarray, intercept: np.ndarray, link: Link
) -> tuple[np.ndarray, np.ndarray, Link]:
    p = weight.shape[1]
    if link == "sigmoid":  # as two scores, of which the first is 0
        weight, intercept = np.vstack([np.zeros(p), weight[0]]), np.append(0.0, intercept)
        link = "softmax"
    n_present = len(task.present)
    all_weights, all_intercepts = np.zeros((task.n_classes, p)), np.full(task.n_classes, LOG_ZERO)
    all_weights[task.present], all_intercepts[task.present] = weight[:n_present], intercept[:n_present]
    return all_weights, all_intercepts, link
