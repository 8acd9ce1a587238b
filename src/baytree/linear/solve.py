"""Which solver for which rows: small problems by Newton, sparse and wide ones by L-BFGS or compressed descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .design import Sparse
from .newton import newton
from .objective import Aim, Fit, Penalty, value, violations
from .rows import DenseRows, Slope, SparseRows

SOLVERS = ("auto", "newton", "lbfgs", "cd", "gradient_descent")
_NEWTON = 2500  # coefficients; beyond it a Hessian costs more than it brings
_MANY = 40_000  # rows; from here on a tenth of them gives the first steps


def optimum(
    rows: DenseRows | SparseRows, penalty: Penalty, aim: Aim, start: Fit | None = None, solver: str = "auto"
) -> Fit:
    """The coefficients that minimise the objective, from those of a nearby problem where there is one."""
    theta = np.zeros((rows.k, rows.q)) if start is None else start.theta
    if solver == "lbfgs":
        _refuse_lasso(penalty, solver)
        return lbfgs(rows, penalty, theta, aim)
    if isinstance(rows, SparseRows):
        if penalty.is_smooth:
            return lbfgs(rows, penalty, theta, aim)
        columns = rows.by_feature()
        theta = theta if start is not None else _approach(rows, penalty, theta, columns)
        return sparse_descent(rows, penalty, theta, aim, columns)
    if penalty.is_smooth and rows.k * rows.q > _NEWTON and solver == "auto":
        return lbfgs(rows, penalty, theta, aim)
    if start is None and len(rows.label) >= max(_MANY, 100 * rows.k * rows.q):
        start = newton(rows.every(10), penalty, theta, Aim(1e-3, 20, 1e-3))  # its curvature will do, too
        theta = start.theta
    if penalty.is_smooth or rows.q <= _room(rows):
        return newton(rows, penalty, theta, aim, None if start is None else start.curvature)
    return working_sets(rows, penalty, theta, aim)


def working_sets(rows: DenseRows, penalty: Penalty, theta: np.ndarray, aim: Aim) -> Fit:
    """The optimum over the features that matter, widened by those that then violate optimality, until none does."""
    room = _room(rows)
    used = np.flatnonzero(theta.any(axis=0) | (penalty.lasso == 0))
    n_iter, track = 0, []
    while True:
        inside = np.zeros(rows.q, bool)
        inside[used] = True
        wrong = violations(rows.slope(theta), penalty, theta).max(axis=0)
        outside = np.where(inside, 0.0, wrong)
        if n_iter and outside.max() <= max(aim.ideal, wrong[used].max(initial=0.0)):
            return Fit(theta, float(wrong.max()), n_iter, tuple(track))
        worst = np.argsort(-outside, kind="stable")[: max(room, len(used))]
        used = np.sort(np.concatenate([used, worst[outside[worst] > 0]]))
        fit = newton(rows.columns(used), penalty.take(used), theta[:, used], aim)
        theta = theta.copy()
        theta[:, used] = fit.theta
        n_iter += fit.n_iter
        track += fit.losses
        if n_iter >= aim.max_iter:
            return Fit(theta, float(violations(rows.slope(theta), penalty, theta).max()), n_iter, tuple(track))


def lbfgs(rows: DenseRows | SparseRows, penalty: Penalty, theta: np.ndarray, aim: Aim) -> Fit:
    """The optimum of a smooth objective by limited-memory quasi-Newton steps (scipy)."""
    from scipy.optimize import minimize

    track: list[float] = []

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        at = flat.reshape(theta.shape)
        slope = rows.slope(at)
        return value(slope, penalty, at), (slope.gradient + penalty.ridge * at).ravel()

    def after(intermediate_result: Any) -> None:
        track.append(float(intermediate_result.fun))

    options = {"maxiter": aim.max_iter, "maxfun": 20 * aim.max_iter, "gtol": aim.tol, "ftol": 0.0, "maxls": 50}
    found = minimize(objective, theta.ravel(), jac=True, method="L-BFGS-B", options=options, callback=after)
    at = found.x.reshape(theta.shape)
    return Fit(at, float(violations(rows.slope(at), penalty, at).max()), int(found.nit), tuple(track))


def sparse_descent(
    rows: SparseRows, penalty: Penalty, theta: np.ndarray, aim: Aim, columns: Sparse
) -> Fit:
    """Proximal Newton on compressed rows: coordinate descent on each quadratic, over the coordinates that matter.

    `columns` are the rows' entries by feature.
    """
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


def _approach(rows: SparseRows, penalty: Penalty, theta: np.ndarray, columns: Sparse) -> np.ndarray:
    """Coefficients near the optimum, by way of stronger penalties: at each, few coordinates matter.

    From zero, a weak penalty would let nearly every coordinate in, only to send most of them back.
    """
    here = rows.slope(theta)
    paid = penalty.lasso > 0
    strongest = float((np.abs(here.gradient).max(axis=0)[paid] / penalty.lasso[paid]).max(initial=1.0))
    for factor in np.geomspace(strongest, 1.0, max(2, round(np.log2(max(strongest, 1.0)))))[1:-1]:
        stronger = Penalty(penalty.ridge * factor, penalty.lasso * factor)
        near = 0.2 * float(stronger.lasso.max())
        theta = sparse_descent(rows, stronger, theta, Aim(near, 2, near), columns).theta
    return theta


def _room(rows: DenseRows) -> int:
    """How many features are solved for at once where |θ| is paid for."""
    return max(50, _NEWTON // rows.k // 4)


def _sparse_step(
    rows: SparseRows, columns: Sparse, penalty: Penalty, theta: np.ndarray, gradient: np.ndarray, share: np.ndarray,
    wrong: np.ndarray,
) -> np.ndarray:  # fmt: skip
    k, q, n = rows.k, rows.q, len(rows.label)
    target = np.ascontiguousarray(theta.T).ravel()  # [q, k], as the kernel has it
    slope = np.ascontiguousarray(gradient.T).ravel()
    bend = share * (1 - share) if k == 1 else share
    score, mix = np.zeros(n * k), np.zeros(n)
    matters = ((theta != 0) | (wrong > 0) | (penalty.lasso == 0)).T.ravel()
    active = np.flatnonzero(matters).astype(np.int64)
    limit = (0.03 * wrong.max()) ** 2
    for _ in range(100):
        change = _core.sparse_descent(
            columns.start, columns.code, columns.value, bend, rows.weight, slope, penalty.ridge, penalty.lasso,
            target, score, mix, active,
        )  # fmt: skip
        if change <= max(limit, 1e-32):
            break
    return target.reshape(q, k).T - theta


def _sparse_backtrack(
    rows: SparseRows, penalty: Penalty, theta: np.ndarray, here: Slope, step: np.ndarray
) -> tuple[np.ndarray, Slope, np.ndarray]:
    start = value(here, penalty, theta)
    promise = float((here.gradient * step).sum()) + penalty.cost(theta + step) - penalty.cost(theta)
    share = 1.0
    while True:
        at = theta + share * step
        there, shares = rows.slope_and_shares(at)
        if value(there, penalty, at) <= start + 1e-4 * share * min(promise, 0.0) + 1e-14 * abs(start) or share < 1e-9:
            return at, there, shares
        share /= 2


def _refuse_lasso(penalty: Penalty, solver: str) -> None:
    if not penalty.is_smooth:
        raise ValueError(f"solver {solver!r} cannot set coefficients to 0; use solver='auto' with penalty='l1'")
