"""Logistic regression under sign constraints (monotone columns): some coefficients must be ≥ 0, others ≤ 0.

An active-set method, as in non-negative least squares (Lawson and Hanson 1974), for any convex objective: coefficients at
their bound are left out, the usual solver finds the optimum over the others, and one whose gradient points inwards is
released. Each round reaches a lower objective over a set of features not visited before, so the method terminates at the
exact optimum.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from baytree.linear.logistic.build_rows import Rows
from baytree.linear.logistic.objective import Penalty, Solution, Start, violations

Solve = Callable[[Rows, Penalty, Start | None], Solution]  # unconstrained optimum, from a warm start


def solve_with_sign_constraints(
    rows: Rows, penalty: Penalty, signs: np.ndarray, solve: Solve, start: Start | None = None
) -> Solution:
    """Optimum of a two-class problem subject to sign · θ ≥ 0; the unconstrained one if it satisfies that. signs int [q]: 1,
    −1 or 0
    """
    fit = solve(rows, penalty, start)
    if not _wrong(fit.theta, signs).any():
        return fit
    problem = _Problem(rows, penalty, signs, solve)
    fit = problem.without_wrong(fit)
    for _ in range(_max_rounds(signs)):
        release_rate = problem.inwards(fit)
        if not release_rate.any():
            break
        fit = problem.let_in(fit, int(release_rate.argmax()))
    wrong = problem.violations(fit)
    return msgspec.structs.replace(fit, kkt_violation=float(wrong.max()))


class _Problem(msgspec.Struct, frozen=True):
    """A problem with sign constraints, and the steps of the active-set method."""

    rows: Rows
    penalty: Penalty
    signs: np.ndarray
    solve: Solve

    def without_wrong(self, fit: Solution) -> Solution:
        """Optimum over a subset of features in which no coefficient has a wrong sign: those that have are removed until none
        has.
        """
        free = np.ones(self.rows.q, bool)
        while (wrong := _wrong(fit.theta, self.signs)).any():
            free &= ~wrong
            fit = self.over(free, fit, fit.theta)
        return fit

    def let_in(self, fit: Solution, feature: int) -> Solution:
        """Optimum after releasing one feature; coefficients that would cross their bound on the way are fixed at 0."""
        free = self.is_free(fit.theta)
        free[feature] = True
        theta = fit.theta
        while True:
            fit = self.over(free, fit, theta)
            wrong = _wrong(fit.theta, self.signs)
            if not wrong.any():
                return fit
            theta, leaving = _until_bound(theta, fit.theta, wrong)
            free &= ~leaving

    def over(self, free: np.ndarray, last: Solution, theta: np.ndarray) -> Solution:
        """Optimum over some features, with all others 0. Step counts accumulate."""
        features = np.flatnonzero(free)
        start = Start(theta[:, features])
        found = self.solve(self.rows.columns(features), self.penalty.take(features), start)
        full = np.zeros((1, self.rows.q))
        full[:, features] = found.theta
        curvature = None  # the Hessian has fewer features
        return Solution(full, found.kkt_violation, last.n_iter + found.n_iter, found.losses, found.is_separable, curvature)

    def is_free(self, theta: np.ndarray) -> np.ndarray:
        """Features without a constraint, or with a coefficient that is not at its bound. bool [q]"""
        return (self.signs == 0) | (theta[0] != 0)

    def inwards(self, fit: Solution) -> np.ndarray:
        """Rate at which the objective decreases from each bound inwards, if it exceeds the solver's accuracy; else 0. [q]"""
        gradient = self.rows.loss_gradient(fit.theta).gradient[0]
        decrease = -self.signs * gradient - self.penalty.lasso
        return np.where(self.is_free(fit.theta) | (decrease <= max(fit.kkt_violation, _ROUNDING)), 0.0, decrease)

    def violations(self, fit: Solution) -> np.ndarray:
        """KKT violation of each coefficient; at a bound, a gradient that points outwards is none. [q]"""
        gradient = self.rows.loss_gradient(fit.theta)
        unconstrained = violations(gradient, self.penalty, fit.theta)[0]
        return np.where(self.is_free(fit.theta), unconstrained, self.inwards(fit))


_ROUNDING = 1e-13  # smaller derivatives of the mean loss, in standard units, are rounding


def _wrong(theta: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Features whose coefficient has the wrong sign. bool [q]"""
    return signs * theta[0] < 0


def _until_bound(theta: np.ndarray, target: np.ndarray, wrong: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Point reached towards `target` before the first bound, and which coefficients are there; the objective decreases on
    the way.
    """
    step_length = np.where(
        wrong, np.divide(theta, theta - target, out=np.ones_like(theta), where=theta != target)[0], np.inf
    )
    leaving = step_length == step_length.min()
    moved = theta + step_length.min() * (target - theta)
    moved[:, leaving] = 0.0
    return moved, leaving


def _max_rounds(signs: np.ndarray) -> int:
    """Maximum number of rounds; non-negative least squares typically takes about as many as there are constraints."""
    return 10 + 10 * int(np.count_nonzero(signs))
