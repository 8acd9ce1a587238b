"""Solvers that need gradients only: limited-memory quasi-Newton steps, and plain gradient descent for teaching."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baytree.linear.logistic.rows.dense_rows import DenseRows
from baytree.linear.logistic.rows.loss import Slope
from baytree.linear.logistic.rows.task_rows import Rows
from baytree.linear.logistic.solvers.objective import Aim, Fit, Penalty, value, violations

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult


def lbfgs(rows: Rows, penalty: Penalty, theta: np.ndarray, aim: Aim) -> Fit:
    """The optimum of a smooth objective by limited-memory quasi-Newton steps (scipy).

    Of sparse rows, a common word has a thousand times the second derivative of a rare one: each coefficient is counted in
    the unit in which its own is 1, and the units are taken anew as the shares settle.
    """
    stages = (aim.max_iter,) if isinstance(rows, DenseRows) else (15, 15, 30, aim.max_iter)
    fit = Fit(theta, np.inf, 0)
    for most in stages:
        second = 1.0 if isinstance(rows, DenseRows) else rows.hessian_diagonal(fit.theta) + penalty.ridge
        unit = 1 / np.sqrt(np.maximum(second, 1e-10))
        more = _quasi_newton(rows, penalty, fit.theta, unit, Aim(aim.tol, min(most, aim.max_iter - fit.n_iter), aim.tol))
        fit = Fit(more.theta, more.violation, fit.n_iter + more.n_iter, fit.losses + more.losses)
        if fit.violation <= aim.tol or fit.n_iter >= aim.max_iter:
            break
    return fit


def _quasi_newton(rows: Rows, penalty: Penalty, theta: np.ndarray, unit: np.ndarray | float, aim: Aim) -> Fit:
    """Steps from theta, coefficients counted in these units, until no derivative is above the aim."""
    from scipy.optimize import minimize

    track: list[float] = []
    worst = np.inf
    last: tuple[np.ndarray, Slope] | None = None  # where the rows were asked, and what they said

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal worst, last
        at = flat.reshape(theta.shape) * unit
        slope = rows.slope(at)
        last = at, slope
        gradient = slope.gradient + penalty.ridge * at
        worst = float(np.abs(gradient).max())
        return value(slope, penalty, at), (gradient * unit).ravel()

    def after(intermediate_result: OptimizeResult) -> None:
        track.append(float(intermediate_result.fun))
        if worst <= aim.tol:
            raise StopIteration

    options = {"maxiter": aim.max_iter, "maxfun": 20 * aim.max_iter, "gtol": 0.0, "ftol": 0.0, "maxls": 50}
    start = (theta / unit).ravel()
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options, callback=after)
    at = found.x.reshape(theta.shape) * unit
    # mostly the last step that was tried was taken
    slope = last[1] if last is not None and np.array_equal(at, last[0]) else rows.slope(at)
    return Fit(at, float(violations(slope, penalty, at).max()), int(found.nit), tuple(track))


def gradient_descent(rows: Rows, penalty: Penalty, theta: np.ndarray, aim: Aim, learning_rate: float) -> Fit:
    """Plain gradient steps of a fixed rate, each followed by the shrinking that |θ| asks for. For teaching."""
    here = rows.slope(theta)
    track = [value(here, penalty, theta)]
    worst, n_iter = violations(here, penalty, theta).max(), 0
    while worst > aim.tol and n_iter < aim.max_iter and np.isfinite(track[-1]):
        n_iter += 1
        theta = theta - learning_rate * (here.gradient + penalty.ridge * theta)
        theta = np.sign(theta) * np.maximum(np.abs(theta) - learning_rate * penalty.lasso, 0.0)
        here = rows.slope(theta)
        track.append(value(here, penalty, theta))
        worst = violations(here, penalty, theta).max()
    return Fit(theta, float(worst), n_iter, tuple(track))


def safe_rate(rows: Rows, penalty: Penalty) -> float:
    """A learning rate that always descends: 1 / the largest curvature, which no share can exceed.

    The curvature of the loss is at most 1/4 (two classes) or 1/2 of X'X, found by a few power iterations.
    """
    x = np.ones((1, rows.q)) / np.sqrt(rows.q)
    size = 1.0
    for _ in range(30):
        back = rows.image(x)
        size = float(np.linalg.norm(back))
        x = back[None] / max(size, 1e-300)
    return 1.0 / (1.05 * size * (0.25 if rows.k == 1 else 0.5) + penalty.ridge.max(initial=0.0))
