"""Solvers that need gradients only: limited-memory quasi-Newton steps, and plain gradient descent for teaching.

Proximal Newton on sparse rows, each quadratic solved by coordinate descent.

Which solver for which rows: small problems by Newton, sparse and wide ones by L-BFGS or coordinate descent.
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
    """The optimum of a smooth objective by limited-memory quasi-Newton steps (scipy).

    Of sparse rows, a common word has a thousand times the second derivative of a rare one: each coefficient is counted in
    the unit in which its own is 1, and the units are taken anew as the shares settle.
    """
    stages = (aim.max_iter,) if isinstance(rows, DenseRows) else (15, 15, 30, aim.max_iter)
    fit = Solution(theta, np.inf, 0)
    for most in stages:
        second = 1.0 if isinstance(rows, DenseRows) else rows.hessian_diagonal(fit.theta) + penalty.ridge
        unit = 1 / np.sqrt(np.maximum(second, 1e-10))
        more = _quasi_newton(
            rows, penalty, fit.theta, unit, Tolerance(aim.tol, min(most, aim.max_iter - fit.n_iter), aim.tol)
        )
        fit = Solution(more.theta, more.kkt_violation, fit.n_iter + more.n_iter, fit.losses + more.losses)
        if fit.kkt_violation <= aim.tol or fit.n_iter >= aim.max_iter:
            break
    return fit


def _quasi_newton(rows: Rows, penalty: Penalty, theta: np.ndarray, unit: np.ndarray | float, aim: Tolerance) -> Solution:
    """Steps from theta, coefficients counted in these units, until no derivative is above the aim."""
    from scipy.optimize import minimize

    track: list[float] = []
    worst = np.inf
    last: tuple[np.ndarray, LossGradient] | None = None  # where the rows were asked, and what they said

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal worst, last
        at = flat.reshape(theta.shape) * unit
        slope = rows.loss_gradient(at)
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
    slope = last[1] if last is not None and np.array_equal(at, last[0]) else rows.loss_gradient(at)
    return Solution(at, float(violations(slope, penalty, at).max()), int(found.nit), tuple(track))


def gradient_descent(rows: Rows, penalty: Penalty, theta: np.ndarray, aim: Tolerance, learning_rate: float) -> Solution:
    """Plain gradient steps of a fixed rate, each followed by the shrinking that |θ| asks for. For teaching."""
    here = rows.loss_gradient(theta)
    track = [value(here, penalty, theta)]
    worst, n_iter = violations(here, penalty, theta).max(), 0
    while worst > aim.tol and n_iter < aim.max_iter and np.isfinite(track[-1]):
        n_iter += 1
        theta = theta - learning_rate * (here.gradient + penalty.ridge * theta)
        theta = np.sign(theta) * np.maximum(np.abs(theta) - learning_rate * penalty.lasso, 0.0)
        here = rows.loss_gradient(theta)
        track.append(value(here, penalty, theta))
        worst = violations(here, penalty, theta).max()
    return Solution(theta, float(worst), n_iter, tuple(track))


def safe_rate(rows: Rows, penalty: Penalty) -> float:
    """A learning rate that always descends: 1 / the largest curvature, which no share can exceed.

    The curvature of the loss is at most 1/4 (two classes) or 1/2 of X'X, found by a few power iterations.
    """
    x = np.ones((1, rows.q)) / np.sqrt(rows.q)
    size = 1.0
    for _ in range(30):
        back = rows.gram_product(x)
        size = float(np.linalg.norm(back))
        x = back[None] / max(size, 1e-300)
    return 1.0 / (1.05 * size * (0.25 if rows.k == 1 else 0.5) + penalty.ridge.max(initial=0.0))


_ROUNDS = 3  # of coordinate descent, each with as many sweeps, before the quadratic is taken anew


def sparse_descent(rows: SparseBlock, penalty: Penalty, theta: np.ndarray, aim: Tolerance) -> Solution:
    """Proximal Newton on compressed rows: coordinate descent on each quadratic, over the coordinates that matter."""
    columns = rows.by_feature()
    here, share = rows.slope_and_shares(theta)
    track = [value(here, penalty, theta)]
    wrong = violations(here, penalty, theta)
    n_iter = 0
    while (worst := wrong.max()) > aim.target_tol and n_iter < aim.max_iter:
        n_iter += 1
        step = _sparse_step(rows, columns, penalty, theta, here.gradient, share, wrong)
        theta, here, share = _sparse_backtrack(rows, penalty, theta, here, step)
        track.append(value(here, penalty, theta))
        wrong = violations(here, penalty, theta)
        if track[-1] >= track[-2] - 1e-16 * abs(track[-2]) and wrong.max() > worst / 2:
            break
    return Solution(theta, float(wrong.max()), n_iter, tuple(track))


def _sparse_step(
    rows: SparseBlock, columns: SparseMatrix, penalty: Penalty, theta: np.ndarray, gradient: np.ndarray, share: np.ndarray,
    wrong: np.ndarray,
) -> np.ndarray:  # fmt: skip
    k, q, n = rows.k, rows.q, len(rows.label)
    target = theta.T.flatten()  # [q, k], as the kernel has it; a copy, which the kernel changes
    slope = np.ascontiguousarray(gradient.T).ravel()
    curvature = share * (1 - share) if k == 1 else share
    score, mix = np.zeros(n * k), np.zeros(n)
    matters = ((theta != 0) | (wrong > 0) | (penalty.lasso == 0)).T.ravel()
    active = np.flatnonzero(matters).astype(np.int64)
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
        moving = active[(target[active] != 0) | free[active]]  # few, and most sweeps need no others
        for _ in range(_ROUNDS):
            if sweep(moving) <= limit:
                break
    return target.reshape(q, k).T - theta


def _sparse_backtrack(
    rows: SparseBlock, penalty: Penalty, theta: np.ndarray, here: LossGradient, step: np.ndarray
) -> tuple[np.ndarray, LossGradient, np.ndarray]:
    start = value(here, penalty, theta)
    promise = float((here.gradient * step).sum()) + penalty.cost(theta + step) - penalty.cost(theta)
    rounding = 1e-12 * abs(start)  # of a sum over many rows: near the optimum it hides what a good step gains
    share = 1.0
    while True:
        at = theta + share * step
        there, shares = rows.slope_and_shares(at)
        if value(there, penalty, at) <= start + 1e-4 * share * min(promise, 0.0) + rounding or share < 1e-9:
            return at, there, shares
        share /= 2


_NEWTON = 2500  # coefficients; beyond it a Hessian costs more than it brings

_MANY = 40_000  # rows; from here on a tenth of them gives the first steps


def minimize(rows: Rows, penalty: Penalty, aim: Tolerance, start: Solution | None = None, solver: str = "auto") -> Solution:
    """The coefficients that minimise the objective, from those of a nearby problem where there is one."""
    theta = np.zeros((rows.k, rows.q)) if start is None else start.theta
    if solver == "lbfgs":
        _refuse_lasso(penalty, solver)
        return lbfgs(rows, penalty, theta, aim)
    if isinstance(rows, SparseRows):
        return (lbfgs if penalty.is_smooth else working_sets)(rows, penalty, theta, aim)
    if penalty.is_smooth and rows.k * rows.q > _NEWTON and solver == "auto":
        return lbfgs(rows, penalty, theta, aim)
    if start is None and rows.n_rows >= max(_MANY, 100 * rows.k * rows.q):
        start = newton(rows.every(10), penalty, theta, Tolerance(1e-3, 20, 1e-3))  # its curvature will do, too
        theta = start.theta
    if penalty.is_smooth or rows.q <= _room(rows) or (rows.k > 1 and are_few(rows)):
        return newton(rows, penalty, theta, aim, None if start is None else start.hessian)
    return working_sets(rows, penalty, theta, aim)


def working_sets(rows: Rows, penalty: Penalty, theta: np.ndarray, aim: Tolerance) -> Solution:
    """The optimum over the features that matter, widened by those that then violate optimality, until none does."""
    room = _room(rows)
    used = np.flatnonzero(theta.any(axis=0) | (penalty.lasso == 0))
    n_iter, track, is_final = 0, [], False
    while True:
        inside = np.zeros(rows.q, bool)
        inside[used] = True
        wrong = violations(rows.loss_gradient(theta), penalty, theta).max(axis=0)
        outside = np.where(inside, 0.0, wrong)
        if n_iter and (wrong.max() <= aim.target_tol or (is_final and outside.max() <= wrong[used].max())):
            return Solution(theta, float(wrong.max()), n_iter, tuple(track))
        is_final = n_iter > 0 and outside.max() <= max(aim.target_tol, wrong[used].max())
        worst = np.argsort(-outside, kind="stable")[: max(room, len(used))]
        used = np.sort(np.concatenate([used, worst[outside[worst] > 0]]))
        near = (
            aim.target_tol if is_final else max(aim.target_tol, 0.01 * float(outside.max()))
        )  # no digits for a set that will grow
        fit = _within(rows.columns(used), penalty.take(used), theta[:, used], Tolerance(aim.tol, aim.max_iter, near))
        theta = theta.copy()
        theta[:, used] = fit.theta
        n_iter += max(1, fit.n_iter)
        track += fit.losses
        if n_iter >= aim.max_iter:
            return Solution(theta, float(violations(rows.loss_gradient(theta), penalty, theta).max()), n_iter, tuple(track))


def _within(rows: Rows, penalty: Penalty, theta: np.ndarray, aim: Tolerance) -> Solution:
    """The optimum over all features of these rows."""
    if isinstance(rows, DenseRows):
        return newton(rows, penalty, theta, aim)
    return sparse_descent(rows.gathered(), penalty, theta, aim)


def _room(rows: Rows) -> int:
    """How many features are solved for at once where |θ| is penalised."""
    return max(50, _NEWTON // rows.k // 4)


def _refuse_lasso(penalty: Penalty, solver: str) -> None:
    if not penalty.is_smooth:
        raise ValueError(f"solver {solver!r} cannot set coefficients to 0; use solver='auto' with penalty='l1'")
