"""Solvers of logistic regression other than Newton, and the choice among them.

`minimize` chooses: Newton's method for small dense problems, L-BFGS for wide or sparse ones with smooth penalties, working
sets with an L1 penalty (`working_sets`, with Newton or `sparse_descent` inside). `sparse_descent` is proximal Newton with
coordinate descent on sparse rows. `gradient_descent` is for teaching.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baytree.linear.logistic.build_rows import Rows
from baytree.linear.logistic.core_rows import CoreRows
from baytree.linear.logistic.newton import newton
from baytree.linear.logistic.objective import LossGradient, Penalty, Solution, Start, Tolerance, value, violations
from baytree.linear.logistic.rows import DenseRows, SparseRows

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult


def lbfgs(rows: Rows, penalty: Penalty, theta: np.ndarray, aim: Tolerance) -> Solution:
    """Optimum of a smooth objective by L-BFGS (scipy).

    With sparse rows, a common word has a thousand times the second derivative of a rare one. Coefficients are therefore
    scaled so that each has a second derivative of 1, and the scale is updated between stages as the probabilities settle.
    """
    stages = (aim.max_iter,) if isinstance(rows, DenseRows) else (15, 15, 30, aim.max_iter)
    fit = Solution(theta, np.inf, 0)
    for max_steps in stages:
        second_derivative = 1.0 if isinstance(rows, DenseRows) else rows.hessian_diagonal(fit.theta) + penalty.ridge
        unit = 1 / np.sqrt(np.maximum(second_derivative, 1e-10))
        more = _quasi_newton(
            rows, penalty, fit.theta, unit, Tolerance(aim.tol, min(max_steps, aim.max_iter - fit.n_iter), aim.tol)
        )
        fit = Solution(more.theta, more.kkt_violation, fit.n_iter + more.n_iter, fit.losses + more.losses)
        if fit.kkt_violation <= aim.tol or fit.n_iter >= aim.max_iter:
            break
    return fit


def _quasi_newton(rows: Rows, penalty: Penalty, theta: np.ndarray, unit: np.ndarray | float, aim: Tolerance) -> Solution:
    """L-BFGS from theta, with coefficients in units of `unit`, until no derivative exceeds the tolerance."""
    from scipy.optimize import minimize

    losses: list[float] = []
    violation = np.inf
    last_evaluated: tuple[np.ndarray, LossGradient] | None = None  # last point evaluated, and loss and gradient there

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal violation, last_evaluated
        at = flat.reshape(theta.shape) * unit
        slope = rows.loss_gradient(at)
        last_evaluated = at, slope
        gradient = slope.gradient + penalty.ridge * at
        violation = float(np.abs(gradient).max())
        return value(slope, penalty, at), (gradient * unit).ravel()

    def after(intermediate_result: OptimizeResult) -> None:
        losses.append(float(intermediate_result.fun))
        if violation <= aim.tol:
            raise StopIteration

    options = {"maxiter": aim.max_iter, "maxfun": 20 * aim.max_iter, "gtol": 0.0, "ftol": 0.0, "maxls": 50}
    start = (theta / unit).ravel()
    result = minimize(objective, start, jac=True, method="L-BFGS-B", options=options, callback=after)
    at = result.x.reshape(theta.shape) * unit
    # usually the last point evaluated is the accepted one
    slope = (
        last_evaluated[1] if last_evaluated is not None and np.array_equal(at, last_evaluated[0]) else rows.loss_gradient(at)
    )
    return Solution(at, float(violations(slope, penalty, at).max()), int(result.nit), tuple(losses))


def gradient_descent(rows: Rows, penalty: Penalty, theta: np.ndarray, aim: Tolerance, learning_rate: float) -> Solution:
    """Gradient descent with a fixed learning rate, each step followed by soft-thresholding for L1 (ISTA). For teaching."""
    current = rows.loss_gradient(theta)
    losses = [value(current, penalty, theta)]
    violation, n_iter = violations(current, penalty, theta).max(), 0
    with np.errstate(over="ignore", invalid="ignore"):  # a rate that is too large ends in infinite losses
        while violation > aim.tol and n_iter < aim.max_iter and np.isfinite(losses[-1]):
            n_iter += 1
            theta = theta - learning_rate * (current.gradient + penalty.ridge * theta)
            theta = np.sign(theta) * np.maximum(np.abs(theta) - learning_rate * penalty.lasso, 0.0)
            current = rows.loss_gradient(theta)
            losses.append(value(current, penalty, theta))
            violation = violations(current, penalty, theta).max()
    return Solution(theta, float(violation), n_iter, tuple(losses))


def safe_rate(rows: Rows, penalty: Penalty) -> float:
    """Learning rate that always descends: 1 / (upper bound of the largest eigenvalue of the Hessian).

    The Hessian of the loss is at most 1/4 (two classes) or 1/2 (more) of X'WX, whose norm is estimated by power iterations.
    """
    x = np.ones((1, rows.q)) / np.sqrt(rows.q)
    norm = 1.0
    for _ in range(30):
        product = rows.gram_product(x)
        norm = float(np.linalg.norm(product))
        x = product[None] / max(norm, 1e-300)
    return 1.0 / (1.05 * norm * (0.25 if rows.k == 1 else 0.5) + penalty.ridge.max(initial=0.0))


_MAX_NEWTON_SIZE = 2500  # coefficients; above it a Hessian costs more than it saves

_MANY_ROWS = 40_000  # rows; from this number on, a tenth of them is used for the first steps


def minimize(
    rows: Rows,
    penalty: Penalty,
    aim: Tolerance,
    start: Start | None = None,
    solver: str = "auto",
    core: CoreRows | None = None,
) -> Solution:
    """Coefficients that minimise the objective, from 0 or from a start; `core` holds the same rows, if the caller has it."""
    start = Start(np.zeros((rows.k, rows.q))) if start is None else start
    if solver == "lbfgs":
        _refuse_lasso(penalty, solver)
        return lbfgs(rows, penalty, start.theta, aim)
    if not penalty.is_none and (core := core or CoreRows.of(rows)) is not None:
        fit = core.optimum(penalty, start, aim)
        if fit is not None:
            return fit
    if isinstance(rows, SparseRows):
        return (lbfgs if penalty.is_smooth else working_sets)(rows, penalty, start.theta, aim)
    if penalty.is_smooth and rows.k * rows.q > _MAX_NEWTON_SIZE and solver == "auto":
        return lbfgs(rows, penalty, start.theta, aim)
    if not start.theta.any() and rows.n_rows >= max(_MANY_ROWS, 100 * rows.k * rows.q):
        # the Hessian of a tenth of the rows serves as well
        start = Start.at(newton(rows.every(10), penalty, start.theta, Tolerance(1e-3, 20, 1e-3)))
    if penalty.is_smooth or rows.q <= _capacity(rows):
        return newton(rows, penalty, start.theta, aim, start.hessian)
    return working_sets(rows, penalty, start.theta, aim)


def working_sets(rows: Rows, penalty: Penalty, theta: np.ndarray, aim: Tolerance) -> Solution:
    """Optimum over a working set of features, enlarged by the features that violate optimality until none does."""
    capacity = _capacity(rows)
    used = np.flatnonzero(theta.any(axis=0) | (penalty.lasso == 0))
    n_iter, losses, is_final = 0, [], False
    while True:
        is_used = np.zeros(rows.q, bool)
        is_used[used] = True
        kkt = violations(rows.loss_gradient(theta), penalty, theta).max(axis=0)
        outside = np.where(is_used, 0.0, kkt)
        if n_iter and (kkt.max() <= aim.target_tol or (is_final and outside.max() <= kkt[used].max())):
            return Solution(theta, float(kkt.max()), n_iter, tuple(losses))
        is_final = n_iter > 0 and outside.max() <= max(aim.target_tol, kkt[used].max())
        worst = np.argsort(-outside, kind="stable")[: max(capacity, len(used))]
        used = np.sort(np.concatenate([used, worst[outside[worst] > 0]]))
        # low precision while the set still grows
        tolerance = aim.target_tol if is_final else max(aim.target_tol, 0.01 * float(outside.max()))
        fit = _within(rows.columns(used), penalty.take(used), theta[:, used], Tolerance(aim.tol, aim.max_iter, tolerance))
        theta = theta.copy()
        theta[:, used] = fit.theta
        n_iter += max(1, fit.n_iter)
        losses += fit.losses
        if n_iter >= aim.max_iter:
            return Solution(theta, float(violations(rows.loss_gradient(theta), penalty, theta).max()), n_iter, tuple(losses))


def _within(rows: Rows, penalty: Penalty, theta: np.ndarray, aim: Tolerance) -> Solution:
    """Optimum over all features of these rows."""
    if isinstance(rows, DenseRows):
        return newton(rows, penalty, theta, aim)
    fit = CoreRows.of_sparse(rows.gathered()).optimum(penalty, Start(theta), aim)
    return fit or Solution(theta, np.inf, aim.max_iter)


def _capacity(rows: Rows) -> int:
    """Number of features that are solved for in one problem with an L1 penalty."""
    return max(50, _MAX_NEWTON_SIZE // rows.k // 4)


def _refuse_lasso(penalty: Penalty, solver: str) -> None:
    if not penalty.is_smooth:
        raise ValueError(f"solver {solver!r} cannot set coefficients to 0; use solver='auto' with penalty='l1'")
