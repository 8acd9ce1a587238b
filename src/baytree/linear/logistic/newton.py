"""Second-order solvers: Newton steps for smooth penalties, proximal Newton where |θ| is penalised.

The curvature is computed anew only while steps gain little; near the optimum an old one does as well.

A Newton step with |θ| in one call of the core.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from baytree import _core
from baytree.linear.elastic_net import ElasticNetQuadratic, solve
from baytree.linear.logistic.few_rows import newton_of_few_rows
from baytree.linear.logistic.objective import LossGradient, Penalty, Solution, Tolerance, value, violations
from baytree.linear.logistic.rows import DenseRows

_SHARES = [0.5**k for k in range(34)]  # of a step

_AT_ONCE = 6  # shares that are tried in one round

_NEAR = 1e-5  # the violation from which on an old curvature mostly does

_GOOD = 0.1  # a step that leaves more of the violation than this calls for a new curvature

_FAINTEST = 1e-15  # of the curvature: along such directions only rows that are nearly certain have a second derivative

_FEW = 500  # coefficients of which a step with |θ| is one call of the core; for more of them BLAS pays

_ROUNDS = 5  # of sweeps and direct solutions


def newton(
    rows: DenseRows, penalty: Penalty, theta: np.ndarray, aim: Tolerance, curvature: np.ndarray | None = None
) -> Solution:
    """The optimum by Newton steps with backtracking; coordinate descent within each step where |θ| is penalised.

    `curvature` is one from nearby (the last penalty of a path), where there is one.
    """
    at_once = newton_of_few_rows(rows, penalty, theta, aim, curvature)
    if at_once is not None:
        return at_once
    here = (rows.slope_and_curvature if rows.is_remote and curvature is None else rows.loss_gradient)(theta)
    curvature = _curvature(rows, theta, here) if curvature is None else curvature
    worst = violations(here, penalty, theta).max()
    track = [value(here, penalty, theta)]
    n_iter = 0
    while worst > aim.target_tol and n_iter < aim.max_iter:
        n_iter += 1
        step = _step(here, curvature, penalty, theta, worst)
        moved, there = backtrack(rows, penalty, theta, here, step)
        if there is None:
            break
        before, after = worst, violations(there, penalty, moved).max()
        if after <= aim.tol and after > before:  # rounding is all that is left
            break
        theta, here, worst = moved, there, after
        track.append(value(here, penalty, theta))
        if worst <= aim.tol and worst > before / 2:
            break
        if worst > _GOOD * before and np.log(worst / aim.target_tol) > aim.most_old * np.log(before / worst):
            curvature = _curvature(rows, theta, here)
    if penalty.is_none:  # an old curvature would hide that coefficients still grow
        curvature = rows.hessian(theta)
    grows = _grows(rows, penalty, theta, here, curvature)
    return Solution(theta, float(worst), n_iter, tuple(track), grows, curvature)


def _curvature(rows: DenseRows, theta: np.ndarray, here: LossGradient) -> np.ndarray:
    return rows.hessian(theta) if here.hessian is None else here.hessian


def backtrack(
    rows: DenseRows, penalty: Penalty, theta: np.ndarray, here: LossGradient, step: np.ndarray
) -> tuple[np.ndarray, LossGradient | None]:
    """The first of theta + step, step / 2, step / 4 … that lowers the objective enough; None where none does."""
    start = value(here, penalty, theta)
    promise = float((here.gradient * step).sum()) + penalty.cost(theta + step) - penalty.cost(theta)
    rounding = 1e-14 * max(1.0, abs(start))
    for share, there in _tried(rows, penalty, theta, here, step):
        if value(there, penalty, theta + share * step) <= start + 1e-4 * share * min(promise, 0.0) + rounding:
            return theta + share * step, there
    return theta, None


def _tried(
    rows: DenseRows, penalty: Penalty, theta: np.ndarray, here: LossGradient, step: np.ndarray
) -> Iterator[tuple[float, LossGradient]]:
    """The step, its half, its quarter … and what rows say there; of rows elsewhere, several are asked for in one round."""
    if not rows.is_remote:
        yield from ((share, rows.loss_gradient(theta + share * step)) for share in _SHARES)
        return
    # but for the last steps, another round costs more than a curvature that is not used
    is_near = violations(here, penalty, theta).max() <= _NEAR
    yield 1.0, (rows.loss_gradient if is_near else rows.slope_and_curvature)(theta + step)
    for first in range(1, len(_SHARES), _AT_ONCE):
        shares = _SHARES[first : first + _AT_ONCE]
        yield from zip(shares, rows.slopes([theta + share * step for share in shares]), strict=True)


def _step(here: LossGradient, curvature: np.ndarray, penalty: Penalty, theta: np.ndarray, worst: float) -> np.ndarray:
    k = len(theta)
    ridge, lasso = np.tile(penalty.ridge, k), np.tile(penalty.lasso, k)
    if penalty.is_smooth:
        slope = (here.gradient + penalty.ridge * theta).ravel()
        matrix = _pinned(curvature, penalty, k)
        matrix[np.diag_indices_from(matrix)] += ridge
        return -solve(matrix, slope).reshape(theta.shape)
    matrix, near = _pinned(curvature, penalty, k), 0.01 * worst
    if len(matrix) <= _FEW:
        step = lasso_step(matrix, Penalty(ridge, lasso), theta.ravel(), here.gradient.ravel(), near)
        if step is not None:
            return step.reshape(theta.shape)
    quadratic, target, slope = ElasticNetQuadratic(matrix, ridge, lasso), theta.ravel().copy(), here.gradient.ravel().copy()
    for _ in range(_ROUNDS):
        quadratic.sweep(target, slope, near**2)
        target, slope = quadratic.polished(target, slope)
        if violations(LossGradient(0.0, slope), Penalty(ridge, lasso), target).max() <= near:
            break
    return target.reshape(theta.shape) - theta


def _pinned(curvature: np.ndarray, penalty: Penalty, k: int) -> np.ndarray:
    """The curvature made regular: shifting a feature's coefficients in all classes alike matters to a penalty only."""
    matrix = curvature.copy()
    if k == 1:
        return matrix
    q = len(matrix) // k
    free = np.flatnonzero((penalty.ridge == 0) & (penalty.lasso == 0))
    size = max(matrix.trace() / len(matrix), 1e-12)
    for j in free:
        matrix[np.ix_(range(j, k * q, q), range(j, k * q, q))] += size
    return matrix


def _grows(rows: DenseRows, penalty: Penalty, theta: np.ndarray, here: LossGradient, curvature: np.ndarray) -> bool:
    """Whether unpenalised coefficients would still grow where the gradient has vanished: the classes are separable."""
    if not penalty.is_none:
        return False
    step = -solve(_pinned(curvature, penalty, len(theta)), here.gradient.ravel(), _FAINTEST).reshape(theta.shape)
    return rows.largest_score(step) > 0.05


def lasso_step(
    curvature: np.ndarray, penalty: Penalty, theta: np.ndarray, gradient: np.ndarray, near: float
) -> np.ndarray | None:
    """The step to within `near` of the minimum of a quadratic with |θ|; None where it takes eigenvectors to tell. [m]"""
    step = np.empty_like(theta)
    return step if _core.net_step(curvature, penalty.ridge, penalty.lasso, theta, gradient, near, step) else None
