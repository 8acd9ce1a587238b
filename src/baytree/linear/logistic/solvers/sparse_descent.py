"""Proximal Newton on sparse rows, each quadratic solved by coordinate descent."""

from __future__ import annotations

import numpy as np

from baytree import _core
from baytree.linear.design.sparse import SparseMatrix
from baytree.linear.logistic.rows.loss import Slope
from baytree.linear.logistic.rows.sparse_piece import SparsePiece
from baytree.linear.logistic.solvers.objective import Aim, Fit, Penalty, value, violations

_ROUNDS = 3  # of coordinate descent, each with as many sweeps, before the quadratic is taken anew


def sparse_descent(rows: SparsePiece, penalty: Penalty, theta: np.ndarray, aim: Aim) -> Fit:
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


def _sparse_step(
    rows: SparsePiece, columns: SparseMatrix, penalty: Penalty, theta: np.ndarray, gradient: np.ndarray, share: np.ndarray,
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
    rows: SparsePiece, penalty: Penalty, theta: np.ndarray, here: Slope, step: np.ndarray
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
