"""Solvers of logistic regression other than Newton, and the choice among them.

`minimize` chooses: Newton's method for small dense problems, L-BFGS for wide or sparse ones with smooth penalties, working
sets with an L1 penalty (`working_sets`, with Newton or `sparse_descent` inside). `sparse_descent` is proximal Newton with
coordinate descent on sparse rows. `gradient_descent` is for teaching.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baytree import _core
from baytree.linear.design.sparse import SparseMatrix
from baytree.linear.logistic.build_rows import Rows
from baytree.linear.logistic.few_rows import are_few
from baytree.linear.logistic.newton import newton
from baytree.linear.logistic.objective import LossGradient, Penalty, Solution, Tolerance, value, violations
from baytree.linear.logistic.rows import DenseRows, SparseRows
from baytree.linear.logistic.sparse_block import SparseBlock

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


_ROUNDS = 3  # rounds of coordinate descent, each with as many sweeps, before the quadratic is updated


def sparse_descent(rows: SparseBlock, penalty: Penalty, theta: np.ndarray, aim: Tolerance) -> Solution:
    """Proximal Newton on sparse rows: coordinate descent on each quadratic, over the coordinates that are non-zero or
    violate optimality.
    """
    columns = rows.by_feature()
    current, probability = rows.slope_and_shares(theta)
    losses = [value(current, penalty, theta)]
    kkt = violations(current, penalty, theta)
    n_iter = 0
    while (violation := kkt.max()) > aim.target_tol and n_iter < aim.max_iter:
        n_iter += 1
        step = _sparse_step(rows, columns, penalty, theta, current.gradient, probability, kkt)
        theta, current, probability = _sparse_backtrack(rows, penalty, theta, current, step)
        losses.append(value(current, penalty, theta))
        kkt = violations(current, penalty, theta)
        if losses[-1] >= losses[-2] - 1e-16 * abs(losses[-2]) and kkt.max() > violation / 2:
            break
    return Solution(theta, float(kkt.max()), n_iter, tuple(losses))


def _sparse_step(
    rows: SparseBlock, columns: SparseMatrix, penalty: Penalty, theta: np.ndarray, gradient: np.ndarray, share: np.ndarray,
    wrong: np.ndarray,
) -> np.ndarray:  # fmt: skip
    k, q, n = rows.k, rows.q, len(rows.label)
    target = theta.T.flatten()  # [q, k], the layout of the kernel; a copy, because the kernel changes it
    slope = np.ascontiguousarray(gradient.T).ravel()
    curvature = share * (1 - share) if k == 1 else share
    score, mix = np.zeros(n * k), np.zeros(n)
    is_relevant = ((theta != 0) | (wrong > 0) | (penalty.lasso == 0)).T.ravel()
    active = np.flatnonzero(is_relevant).astype(np.int64)
    limit = max((0.1 * wrong.max()) ** 2, 1e-32)

    def sweep(coordinates: np.ndarray) -> float:
        return _core.sparse_descent(
            columns.start, columns.code, columns.value, curvature, rows.weight, slope, penalty.ridge, penalty.lasso,
            target, score, mix, coordinates,
        )  # fmt: skip

    free = np.repeat(penalty.lasso == 0, k)
    for _ in range(_ROUNDS):
        if sweep(active) <= limit:
            break
        moving = active[(target[active] != 0) | free[active]]  # these are few, and most sweeps need no others
        for _ in range(_ROUNDS):
            if sweep(moving) <= limit:
                break
    return target.reshape(q, k).T - theta


def _sparse_backtrack(
    rows: SparseBlock, penalty: Penalty, theta: np.ndarray, here: LossGradient, step: np.ndarray
) -> tuple[np.ndarray, LossGradient, np.ndarray]:
    start = value(here, penalty, theta)
    predicted_decrease = float((here.gradient * step).sum()) + penalty.cost(theta + step) - penalty.cost(theta)
    rounding = 1e-12 * abs(start)  # rounding of a sum over many rows; near the optimum it hides the gain of a good step
    step_length = 1.0
    while True:
        at = theta + step_length * step
        candidate, probability = rows.slope_and_shares(at)
        if (
            value(candidate, penalty, at) <= start + 1e-4 * step_length * min(predicted_decrease, 0.0) + rounding
            or step_length < 1e-9
        ):
            return at, candidate, probability
        step_length /= 2


_MAX_NEWTON_SIZE = 2500  # coefficients; above it a Hessian costs more than it saves

_MANY_ROWS = 40_000  # rows; from this number on, a tenth of them is used for the first steps


def minimize(rows: Rows, penalty: Penalty, aim: Tolerance, start: Solution | None = None, solver: str = "auto") -> Solution:
    """Coefficients that minimise the objective, warm-started from `start` if given."""
    theta = np.zeros((rows.k, rows.q)) if start is None else start.theta
    if solver == "lbfgs":
        _refuse_lasso(penalty, solver)
        return lbfgs(rows, penalty, theta, aim)
    if isinstance(rows, SparseRows):
        return (lbfgs if penalty.is_smooth else working_sets)(rows, penalty, theta, aim)
    if penalty.is_smooth and rows.k * rows.q > _MAX_NEWTON_SIZE and solver == "auto":
        return lbfgs(rows, penalty, theta, aim)
    if start is None and rows.n_rows >= max(_MANY_ROWS, 100 * rows.k * rows.q):
        start = newton(rows.every(10), penalty, theta, Tolerance(1e-3, 20, 1e-3))  # its Hessian serves as well
        theta = start.theta
    if penalty.is_smooth or rows.q <= _capacity(rows) or (rows.k > 1 and are_few(rows)):
        return newton(rows, penalty, theta, aim, None if start is None else start.hessian)
    return working_sets(rows, penalty, theta, aim)


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
    return sparse_descent(rows.gathered(), penalty, theta, aim)


def _capacity(rows: Rows) -> int:
    """Number of features that are solved for in one problem with an L1 penalty."""
    return max(50, _MAX_NEWTON_SIZE // rows.k // 4)


def _refuse_lasso(penalty: Penalty, solver: str) -> None:
    if not penalty.is_smooth:
        raise ValueError(f"solver {solver!r} cannot set coefficients to 0; use solver='auto' with penalty='l1'")
