"""The optimum under signs: some coefficients may not fall below 0, or not rise above it.

An active set, as in non-negative least squares (Lawson and Hanson 1974), for any convex objective: coefficients at their
bound are left out, the usual solver finds the optimum over the others, and one whose slope points inwards is let in again.
Each round lowers the objective over a set of features that it has not met before, so it ends, and exactly.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from baytree.linear.logistic.build_rows import Rows
from baytree.linear.logistic.objective import Penalty, Solution, violations

Solve = Callable[[Rows, Penalty, Solution | None], Solution]  # the optimum without bounds, from a start


def solve_with_sign_constraints(
    rows: Rows, penalty: Penalty, signs: np.ndarray, solve: Solve, start: Solution | None = None
) -> Solution:
    """The optimum of two classes where sign · θ ≥ 0; that without bounds where it keeps them. signs int [q]: 1, −1 or 0"""
    fit = solve(rows, penalty, start)
    if not _wrong(fit.theta, signs).any():
        return fit
    problem = _Problem(rows, penalty, signs, solve)
    fit = problem.without_wrong(fit)
    for _ in range(_rounds(signs)):
        inwards = problem.inwards(fit)
        if not inwards.any():
            break
        fit = problem.let_in(fit, int(inwards.argmax()))
    wrong = problem.violations(fit)
    return msgspec.structs.replace(fit, kkt_violation=float(wrong.max()))


class _Problem(msgspec.Struct, frozen=True):
    rows: Rows
    penalty: Penalty
    signs: np.ndarray
    solve: Solve

    def without_wrong(self, fit: Solution) -> Solution:
        """An optimum over some features, none of which has a wrong sign: those that do are left out until none does."""
        free = np.ones(self.rows.q, bool)
        while (wrong := _wrong(fit.theta, self.signs)).any():
            free &= ~wrong
            fit = self.over(free, fit, fit.theta)
        return fit

    def let_in(self, fit: Solution, feature: int) -> Solution:
        """The optimum with one feature more, less those that would cross their bound on the way."""
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
        """The optimum over these features, all others 0; steps are counted on."""
        used = np.flatnonzero(free)
        start = Solution(theta[:, used], 0.0, 0)
        found = self.solve(self.rows.columns(used), self.penalty.take(used), start)
        whole = np.zeros((1, self.rows.q))
        whole[:, used] = found.theta
        curvature = None  # that of fewer features
        return Solution(whole, found.kkt_violation, last.n_iter + found.n_iter, found.losses, found.is_separable, curvature)

    def is_free(self, theta: np.ndarray) -> np.ndarray:
        """The features without a bound, and those that are not at it. bool [q]"""
        return (self.signs == 0) | (theta[0] != 0)

    def inwards(self, fit: Solution) -> np.ndarray:
        """How much steeper than what the solver leaves the objective falls from each bound inwards; else 0. [q]"""
        slope = self.rows.loss_gradient(fit.theta).gradient[0]
        fall = -self.signs * slope - self.penalty.lasso
        return np.where(self.is_free(fit.theta) | (fall <= max(fit.kkt_violation, _LEAST)), 0.0, fall)

    def violations(self, fit: Solution) -> np.ndarray:
        """How far each coefficient is from optimal; at its bound, a slope outwards is none. [q]"""
        slope = self.rows.loss_gradient(fit.theta)
        free = violations(slope, self.penalty, fit.theta)[0]
        return np.where(self.is_free(fit.theta), free, self.inwards(fit))


_LEAST = 1e-13  # a slope of the mean loss, in standard units, that is rounding


def _wrong(theta: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """The features whose coefficient has the wrong sign. bool [q]"""
    return signs * theta[0] < 0


def _until_bound(theta: np.ndarray, target: np.ndarray, wrong: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As far towards a target as bounds allow, and which coefficients are then at them: the objective falls on the way."""
    share = np.where(wrong, np.divide(theta, theta - target, out=np.ones_like(theta), where=theta != target)[0], np.inf)
    leaving = share == share.min()
    moved = theta + share.min() * (target - theta)
    moved[:, leaving] = 0.0
    return moved, leaving


def _rounds(signs: np.ndarray) -> int:
    """Enough for what occurs: non-negative least squares takes about as many as there are bounds."""
    return 10 + 10 * int(np.count_nonzero(signs))
