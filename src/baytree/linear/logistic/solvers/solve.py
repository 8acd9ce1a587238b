"""Which solver for which rows: small problems by Newton, sparse and wide ones by L-BFGS or coordinate descent."""

from __future__ import annotations

import numpy as np

from baytree.linear.logistic.rows.dense_rows import DenseRows
from baytree.linear.logistic.rows.sparse_rows import SparseRows
from baytree.linear.logistic.rows.task_rows import Rows
from baytree.linear.logistic.solvers.few_rows import are_few
from baytree.linear.logistic.solvers.gradient import lbfgs
from baytree.linear.logistic.solvers.newton import newton
from baytree.linear.logistic.solvers.objective import Aim, Fit, Penalty, violations
from baytree.linear.logistic.solvers.sparse_descent import sparse_descent

_NEWTON = 2500  # coefficients; beyond it a Hessian costs more than it brings
_MANY = 40_000  # rows; from here on a tenth of them gives the first steps


def optimum(rows: Rows, penalty: Penalty, aim: Aim, start: Fit | None = None, solver: str = "auto") -> Fit:
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
        start = newton(rows.every(10), penalty, theta, Aim(1e-3, 20, 1e-3))  # its curvature will do, too
        theta = start.theta
    if penalty.is_smooth or rows.q <= _room(rows) or (rows.k > 1 and are_few(rows)):
        return newton(rows, penalty, theta, aim, None if start is None else start.curvature)
    return working_sets(rows, penalty, theta, aim)


def working_sets(rows: Rows, penalty: Penalty, theta: np.ndarray, aim: Aim) -> Fit:
    """The optimum over the features that matter, widened by those that then violate optimality, until none does."""
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
        fit = _within(rows.columns(used), penalty.take(used), theta[:, used], Aim(aim.tol, aim.max_iter, near))
        theta = theta.copy()
        theta[:, used] = fit.theta
        n_iter += max(1, fit.n_iter)
        track += fit.losses
        if n_iter >= aim.max_iter:
            return Fit(theta, float(violations(rows.slope(theta), penalty, theta).max()), n_iter, tuple(track))


def _within(rows: Rows, penalty: Penalty, theta: np.ndarray, aim: Aim) -> Fit:
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
