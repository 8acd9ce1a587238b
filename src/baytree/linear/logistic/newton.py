"""Newton's method for dense rows: Newton steps for smooth penalties, proximal Newton for L1 (Friedman, Hastie and Tibshirani
2010).

The Hessian is recomputed only if a step reduced the violation too little; near the optimum an old one works as well.
`backtrack` is the line search. `lasso_step` is one proximal Newton step in a call of the core.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from baytree import _core
from baytree.linear.elastic_net import ElasticNetQuadratic, solve
from baytree.linear.logistic.objective import LossGradient, Penalty, Solution, Tolerance, value, violations
from baytree.linear.logistic.rows import DenseRows

_STEP_LENGTHS = [0.5**k for k in range(34)]

_PER_PASS = 6  # step lengths evaluated in one pass over remote rows

_OLD_HESSIAN_BELOW = 1e-5  # violation below which an old Hessian usually suffices

_MAX_LEFT = 0.1  # a step that leaves a larger proportion of the violation calls for a new Hessian

_SMALLEST_EIGENVALUE = 1e-15  # relative eigenvalue: along such directions only almost certain rows have a second derivative

_FEW = 500  # coefficients; up to this number an L1 step is one call of the core, above it BLAS is faster

_ROUNDS = 5  # rounds of sweeps and direct solutions


def newton(
    rows: DenseRows, penalty: Penalty, theta: np.ndarray, aim: Tolerance, curvature: np.ndarray | None = None
) -> Solution:
    """Optimum by Newton steps with backtracking; with an L1 penalty, each step is solved by coordinate descent.

    `curvature` is the Hessian of a nearby problem (the previous λ of a path), if there is one.
    """
    current = (rows.slope_and_curvature if rows.is_remote and curvature is None else rows.loss_gradient)(theta)
    curvature = _curvature(rows, theta, current) if curvature is None else curvature
    violation = violations(current, penalty, theta).max()
    losses = [value(current, penalty, theta)]
    n_iter = 0
    while violation > aim.target_tol and n_iter < aim.max_iter:
        n_iter += 1
        step = _step(current, curvature, penalty, theta, violation)
        new_theta, candidate = backtrack(rows, penalty, theta, current, step)
        if candidate is None:
            break
        before, after = violation, violations(candidate, penalty, new_theta).max()
        if after <= aim.tol and after > before:  # only rounding is left
            break
        theta, current, violation = new_theta, candidate, after
        losses.append(value(current, penalty, theta))
        if violation <= aim.tol and violation > before / 2:
            break
        if violation > _MAX_LEFT * before and np.log(violation / aim.target_tol) > aim.most_old * np.log(before / violation):
            curvature = _curvature(rows, theta, current)
    if penalty.is_none:  # an old Hessian would hide that coefficients still diverge
        curvature = rows.hessian(theta)
    is_separable = _grows(rows, penalty, theta, current, curvature)
    return Solution(theta, float(violation), n_iter, tuple(losses), is_separable, curvature)


def _curvature(rows: DenseRows, theta: np.ndarray, here: LossGradient) -> np.ndarray:
    return rows.hessian(theta) if here.hessian is None else here.hessian


def backtrack(
    rows: DenseRows, penalty: Penalty, theta: np.ndarray, here: LossGradient, step: np.ndarray
) -> tuple[np.ndarray, LossGradient | None]:
    """First of theta + step, step / 2, step / 4 … that decreases the objective enough (Armijo); None if none does."""
    start = value(here, penalty, theta)
    predicted_decrease = float((here.gradient * step).sum()) + penalty.cost(theta + step) - penalty.cost(theta)
    rounding = 1e-14 * max(1.0, abs(start))
    for length, candidate in _tried(rows, penalty, theta, here, step):
        if (
            value(candidate, penalty, theta + length * step)
            <= start + 1e-4 * length * min(predicted_decrease, 0.0) + rounding
        ):
            return theta + length * step, candidate
    return theta, None


def _tried(
    rows: DenseRows, penalty: Penalty, theta: np.ndarray, here: LossGradient, step: np.ndarray
) -> Iterator[tuple[float, LossGradient]]:
    """Step lengths 1, 1/2, 1/4 … with loss and gradient there. Remote rows evaluate several in one pass."""
    if not rows.is_remote:
        yield from ((length, rows.loss_gradient(theta + length * step)) for length in _STEP_LENGTHS)
        return
    # except near the optimum, another pass costs more than a Hessian that is not used
    is_near = violations(here, penalty, theta).max() <= _OLD_HESSIAN_BELOW
    yield 1.0, (rows.loss_gradient if is_near else rows.slope_and_curvature)(theta + step)
    for first in range(1, len(_STEP_LENGTHS), _PER_PASS):
        lengths = _STEP_LENGTHS[first : first + _PER_PASS]
        yield from zip(lengths, rows.slopes([theta + length * step for length in lengths]), strict=True)


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
    """Hessian made regular: adding a constant to a feature's coefficients in all classes changes only the penalty, if there
    is one.
    """
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
    """Whether unpenalised coefficients would still grow although the gradient vanished: the classes are separable."""
    if not penalty.is_none:
        return False
    step = -solve(_pinned(curvature, penalty, len(theta)), here.gradient.ravel(), _SMALLEST_EIGENVALUE).reshape(theta.shape)
    return rows.largest_score(step) > 0.05


def lasso_step(
    curvature: np.ndarray, penalty: Penalty, theta: np.ndarray, gradient: np.ndarray, near: float
) -> np.ndarray | None:
    """Step to within `near` of the minimum of a quadratic with an L1 term; None if that needs eigenvectors. [m]"""
    step = np.empty_like(theta)
    return step if _core.lasso_step(curvature, penalty.ridge, penalty.lasso, theta, gradient, near, step) else None
