"""Which solver for which rows: small problems by Newton, sparse and wide ones by L-BFGS or compressed descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree import _core
from baytree.linear.design.design import Sparse
from baytree.linear.logistic.newton import newton
from baytree.linear.logistic.objective import Aim, Fit, Penalty, value, violations
from baytree.linear.logistic.rows import DenseRows, Slope, SparseRows

_NEWTON = 2500  # coefficients; beyond it a Hessian costs more than it brings
_ROUNDS = 3  # of coordinate descent, each with as many sweeps, before the quadratic is taken anew
_MANY = 40_000  # rows; from here on a tenth of them gives the first steps


def optimum(rows: DenseRows | SparseRows, penalty: Penalty, aim: Aim, start: Fit | None = None, solver: str = "auto") -> Fit:
    """The coefficients that minimise the objective, from those of a nearby problem where there is one."""
    theta = np.zeros((rows.k, rows.q)) if start is None else start.theta
    if solver == "lbfgs":
        _refuse_lasso(penalty, solver)
        return lbfgs(rows, penalty, theta, aim)
    if isinstance(rows, SparseRows):
        return (lbfgs if penalty.is_smooth else working_sets)(rows, penalty, theta, aim)
    if penalty.is_smooth and rows.k * rows.q > _NEWTON and solver == "auto":
        return lbfgs(rows, penalty, theta, aim)
    if start is None and len(rows.label) >= max(_MANY, 100 * rows.k * rows.q):
        start = newton(rows.every(10), penalty, theta, Aim(1e-3, 20, 1e-3))  # its curvature will do, too
        theta = start.theta
    if penalty.is_smooth or rows.q <= _room(rows):
        return newton(rows, penalty, theta, aim, None if start is None else start.curvature)
    return working_sets(rows, penalty, theta, aim)


def working_sets(rows: DenseRows | SparseRows, penalty: Penalty, theta: np.ndarray, aim: Aim) -> Fit:
    """The optimum over the features that matter, widened by those that then violate optimality, until none does."""
    solver: Any = newton if isinstance(rows, DenseRows) else sparse_descent
    room = _room(rows)
    used = np.flatnonzero(theta.any(axis=0) | (penalty.lasso == 0))
    n_iter, track, is_final = 0, [], False
    while True:
        inside = np.zeros(rows.q, bool)
        inside[used] = True
        wrong = violations(rows.slope(theta), penalty, theta).max(axis=0)
        outside = np.where(inside, 0.0, wrong)
        if n_iter and (wrong.max() <= aim.ideal or (is_final and outside.max() <= wrong[used].max())):
            return Fit(theta, float(wrong.max()), n_iter, tuple(track))
        is_final = n_iter > 0 and outside.max() <= max(aim.ideal, wrong[used].max())
        worst = np.argsort(-outside, kind="stable")[: max(room, len(used))]
        used = np.sort(np.concatenate([used, worst[outside[worst] > 0]]))
        near = aim.ideal if is_final else max(aim.ideal, 0.01 * float(outside.max()))  # no digits for a set that will grow
        fit = solver(rows.columns(used), penalty.take(used), theta[:, used], Aim(aim.tol, aim.max_iter, near))
        theta = theta.copy()
        theta[:, used] = fit.theta
        n_iter += max(1, fit.n_iter)
        track += fit.losses
        if n_iter >= aim.max_iter:
            return Fit(theta, float(violations(rows.slope(theta), penalty, theta).max()), n_iter, tuple(track))


def lbfgs(rows: DenseRows | SparseRows, penalty: Penalty, theta: np.ndarray, aim: Aim) -> Fit:
    """The optimum of a smooth objective by limited-memory quasi-Newton steps (scipy).

    Of compressed rows, a common word bends the objective a thousand times more than a rare one: each coefficient is
    counted in the unit in which it bends by 1, and the units are taken anew as the shares settle.
    """
    stages = (aim.max_iter,) if isinstance(rows, DenseRows) else (15, 15, 30, aim.max_iter)
    fit = Fit(theta, np.inf, 0)
    for most in stages:
        bend = 1.0 if isinstance(rows, DenseRows) else rows.bends(fit.theta) + penalty.ridge
        unit = 1 / np.sqrt(np.maximum(bend, 1e-10))
        more = _quasi_newton(rows, penalty, fit.theta, unit, Aim(aim.tol, min(most, aim.max_iter - fit.n_iter), aim.tol))
        fit = Fit(more.theta, more.violation, fit.n_iter + more.n_iter, fit.losses + more.losses)
        if fit.violation <= aim.tol or fit.n_iter >= aim.max_iter:
            break
    return fit


def _quasi_newton(rows: DenseRows | SparseRows, penalty: Penalty, theta: np.ndarray, unit: Any, aim: Aim) -> Fit:
    """Steps from theta, coefficients counted in these units, until no derivative is above the aim."""
    from scipy.optimize import minimize

    track: list[float] = []
    worst = np.inf

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal worst
        at = flat.reshape(theta.shape) * unit
        slope = rows.slope(at)
        gradient = slope.gradient + penalty.ridge * at
        worst = float(np.abs(gradient).max())
        return value(slope, penalty, at), (gradient * unit).ravel()

    def after(intermediate_result: Any) -> None:
        track.append(float(intermediate_result.fun))
        if worst <= aim.tol:
            raise StopIteration

    options = {"maxiter": aim.max_iter, "maxfun": 20 * aim.max_iter, "gtol": 0.0, "ftol": 0.0, "maxls": 50}
    start = (theta / unit).ravel()
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options, callback=after)
    at = found.x.reshape(theta.shape) * unit
    return Fit(at, float(violations(rows.slope(at), penalty, at).max()), int(found.nit), tuple(track))


def sparse_descent(rows: SparseRows, penalty: Penalty, theta: np.ndarray, aim: Aim) -> Fit:
    """Proximal Newton on compressed rows: coordinate descent on each quadratic, over the coordinates that matter."""
    columns = rows.by_feature()
    here, share = rows.slope_and_shares(theta)
    track = [value(here, penalty, theta)]
    wrong = violations(here, penalty, theta)
    n_iter = 0
    while (worst := wrong.max()) > aim.ideal and n_iter < aim.max_iter:
        n_iter += 1
        step = _sparse_step(rows, columns, penalty, theta, here.gradient, share, wrong)
        theta, here, share = _sparse_backtrack(rows, penalty, theta, here, step)
        track.append(value(here, penalty, theta))
        wrong = violations(here, penalty, theta)
        if track[-1] >= track[-2] - 1e-16 * abs(track[-2]) and wrong.max() > worst / 2:
            break
    return Fit(theta, float(wrong.max()), n_iter, tuple(track))


def gradient_descent(
    rows: DenseRows | SparseRows, penalty: Penalty, theta: np.ndarray, aim: Aim, learning_rate: float
) -> Fit:
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


def safe_rate(rows: DenseRows | SparseRows, penalty: Penalty) -> float:
    """A learning rate that always descends: 1 / the largest curvature, which no share can exceed.

    The curvature of the loss is at most 1/4 (two classes) or 1/2 of X'X, found by a few power iterations.
    """
    x = np.ones((1, rows.q)) / np.sqrt(rows.q)
    size = 1.0
    for _ in range(30):
        back = rows.weighted_sum(rows.scores(x)[:, 0] * rows.weight)
        size = float(np.linalg.norm(back))
        x = back[None] / max(size, 1e-300)
    return 1.0 / (1.05 * size * (0.25 if rows.k == 1 else 0.5) + penalty.ridge.max(initial=0.0))


def _room(rows: DenseRows | SparseRows) -> int:
    """How many features are solved for at once where |θ| is paid for."""
    return max(50, _NEWTON // rows.k // 4)


def _sparse_step(
    rows: SparseRows, columns: Sparse, penalty: Penalty, theta: np.ndarray, gradient: np.ndarray, share: np.ndarray,
    wrong: np.ndarray,
) -> np.ndarray:  # fmt: skip
    k, q, n = rows.k, rows.q, len(rows.label)
    target = theta.T.flatten()  # [q, k], as the kernel has it; a copy, which the kernel changes
    slope = np.ascontiguousarray(gradient.T).ravel()
    bend = share * (1 - share) if k == 1 else share
    score, mix = np.zeros(n * k), np.zeros(n)
    matters = ((theta != 0) | (wrong > 0) | (penalty.lasso == 0)).T.ravel()
    active = np.flatnonzero(matters).astype(np.int64)
    limit = max((0.1 * wrong.max()) ** 2, 1e-32)

    def sweep(coordinates: np.ndarray) -> float:
        return _core.sparse_descent(
            columns.start, columns.code, columns.value, bend, rows.weight, slope, penalty.ridge, penalty.lasso,
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
    rows: SparseRows, penalty: Penalty, theta: np.ndarray, here: Slope, step: np.ndarray
) -> tuple[np.ndarray, Slope, np.ndarray]:
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


def _refuse_lasso(penalty: Penalty, solver: str) -> None:
    if not penalty.is_smooth:
        raise ValueError(f"solver {solver!r} cannot set coefficients to 0; use solver='auto' with penalty='l1'")
