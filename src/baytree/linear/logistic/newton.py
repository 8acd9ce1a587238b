"""Second-order solvers: Newton steps for smooth penalties, proximal Newton where |θ| is penalised.

The curvature is computed anew only while steps gain little; near the optimum an old one does as well.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.blas import decomposed
from baytree.linear.logistic.dense_rows import DenseRows
from baytree.linear.logistic.loss import Slope
from baytree.linear.logistic.objective import Aim, Fit, Penalty, value, violations

_GOOD = 0.1  # a step that leaves more of the violation than this calls for a new curvature
_SMALL = 500  # coefficients; beyond it a singular matrix is helped by a little ridge, not by eigenvectors
_SWEEPS = 200  # at most, before the support is solved for directly
_FAINTEST = 1e-15  # of the curvature: along such directions only rows that are nearly certain have a second derivative
_ROUNDS = 5  # of sweeps and direct solutions
_DROPS = 20  # coefficients that leave the support in one of them
_WORK = 100_000_000  # products between two looks at Ctrl-C


def newton(rows: DenseRows, penalty: Penalty, theta: np.ndarray, aim: Aim, curvature: np.ndarray | None = None) -> Fit:
    """The optimum by Newton steps with backtracking; coordinate descent within each step where |θ| is penalised.

    `curvature` is one from nearby (the last penalty of a path), where there is one.
    """
    here = rows.slope(theta)
    curvature = rows.curvature(theta) if curvature is None else curvature
    worst = violations(here, penalty, theta).max()
    track = [value(here, penalty, theta)]
    n_iter = 0
    while worst > aim.ideal and n_iter < aim.max_iter:
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
        if worst > _GOOD * before:
            curvature = rows.curvature(theta)
    if penalty.is_none:  # an old curvature would hide that coefficients still grow
        curvature = rows.curvature(theta)
    grows = _grows(rows, penalty, theta, here, curvature)
    return Fit(theta, float(worst), n_iter, tuple(track), grows, curvature)


def backtrack(
    rows: DenseRows, penalty: Penalty, theta: np.ndarray, here: Slope, step: np.ndarray
) -> tuple[np.ndarray, Slope | None]:
    """The first of theta + step, step / 2, step / 4 … that lowers the objective enough; None where none does."""
    start = value(here, penalty, theta)
    promise = float((here.gradient * step).sum()) + penalty.cost(theta + step) - penalty.cost(theta)
    rounding = 1e-14 * max(1.0, abs(start))
    share = 1.0
    while share > 1e-10:
        there = rows.slope(theta + share * step)
        if value(there, penalty, theta + share * step) <= start + 1e-4 * share * min(promise, 0.0) + rounding:
            return theta + share * step, there
        share /= 2
    return theta, None


def solve(matrix: np.ndarray, right: np.ndarray, least: float = 1e-11) -> np.ndarray:
    """matrix⁻¹ right for a positive matrix; the shortest solution where it is singular. right [m] or [m, k]

    Eigenvalues below the `least` share of the largest, with rows and columns in units of their diagonal, count as none.
    """
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    scale = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    scaled = matrix / scale[:, None] / scale
    by_row = scale.reshape(-1, *[1] * (right.ndim - 1))
    try:
        factor = decomposed(lambda m: cho_factor(m, lower=True), scaled)
        if np.diag(factor[0]).min() > np.sqrt(least / 10):
            return cho_solve(factor, right / by_row) / by_row
    except LinAlgError:
        pass
    if len(scaled) > _SMALL:  # eigenvectors would cost more than the rest of the fit
        return _with_a_little_ridge(scaled, right / by_row, 1000 * least) / by_row
    root, vector = decomposed(np.linalg.eigh, scaled)
    kept = root > least * root.max(initial=0.0)
    inverse = (vector[:, kept] / root[kept]) @ vector[:, kept].T
    return inverse @ (right / by_row) / by_row


def _with_a_little_ridge(matrix: np.ndarray, right: np.ndarray, ridge: float) -> np.ndarray:
    """(matrix + ridge · I)⁻¹ right, with the least of ridge, 10 ridge, 100 ridge … that rounding leaves positive."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    diagonal = matrix.diagonal().copy()
    while True:
        matrix[np.diag_indices_from(matrix)] = diagonal + ridge
        try:
            return np.asarray(cho_solve(decomposed(lambda m: cho_factor(m, lower=True), matrix), right))
        except LinAlgError:
            ridge *= 10


def _step(here: Slope, curvature: np.ndarray, penalty: Penalty, theta: np.ndarray, worst: float) -> np.ndarray:
    k = len(theta)
    ridge, lasso = np.tile(penalty.ridge, k), np.tile(penalty.lasso, k)
    if penalty.is_smooth:
        slope = (here.gradient + penalty.ridge * theta).ravel()
        matrix = _pinned(curvature, penalty, k)
        matrix[np.diag_indices_from(matrix)] += ridge
        return -solve(matrix, slope).reshape(theta.shape)
    quadratic = _Quadratic(curvature, ridge, lasso)
    target, slope = theta.ravel().copy(), here.gradient.ravel().copy()
    for _ in range(_ROUNDS):
        quadratic.sweep(target, slope, (0.01 * worst) ** 2)
        target, slope = quadratic.polished(target, slope)
        if violations(Slope(0.0, slope), Penalty(ridge, lasso), target).max() <= 0.01 * worst:
            break
    return target.reshape(theta.shape) - theta


def _pinned(curvature: np.ndarray, penalty: Penalty, k: int) -> np.ndarray:
    """The curvature made regular: shifting a feature's coefficients in all classes alike matters to a penalty only."""
    matrix = curvature.copy()
    if k == 1:
        return matrix
    q = len(matrix) // k
    free = np.flatnonzero(penalty.ridge == 0)
    size = max(matrix.trace() / len(matrix), 1e-12)
    for j in free:
        matrix[np.ix_(range(j, k * q, q), range(j, k * q, q))] += size
    return matrix


class _Quadratic(msgspec.Struct, frozen=True):
    """The quadratic of one proximal step; `slope` is its derivative at `target`, without the penalty."""

    matrix: np.ndarray  # [m, m]
    ridge: np.ndarray  # [m]
    lasso: np.ndarray  # [m]

    def sweep(self, target: np.ndarray, slope: np.ndarray, limit: float) -> None:
        """Coordinate descent in place, until no change is above the limit; Ctrl-C is answered in between."""
        sweeps = max(1, _WORK // self.matrix.size)
        for _ in range(0, _SWEEPS, sweeps):
            most = min(sweeps, _SWEEPS)
            if _core.gram_descent(self.matrix, self.ridge, self.lasso, target, slope, most, limit)[1] <= limit:
                return

    def polished(self, target: np.ndarray, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The minimum on the support that coordinate descent found, less those that would change their sign on the way.

        Each move keeps all signs, so the objective is one quadratic along it, and falls.
        """
        for _ in range(_DROPS):
            active = np.flatnonzero((target != 0) | (self.lasso == 0))
            move = -self._to_minimum(active, target, slope)
            share, crosses = _until_zero(target[active], move, self.lasso[active] > 0)
            target, slope = target.copy(), slope + share * (self.matrix[:, active] @ move)
            target[active] += share * move
            target[active[crosses]] = 0.0
            if not crosses.any():
                break
        return target, slope

    def _to_minimum(self, active: np.ndarray, target: np.ndarray, slope: np.ndarray) -> np.ndarray:
        at = target[active]
        right = slope[active] + self.ridge[active] * at + self.lasso[active] * np.sign(at)
        matrix = self.matrix[np.ix_(active, active)]
        matrix[np.diag_indices_from(matrix)] += self.ridge[active]
        return solve(matrix, right)


def _until_zero(at: np.ndarray, move: np.ndarray, is_penalised: np.ndarray) -> tuple[float, np.ndarray]:
    """How much of the move can be made before a penalised coefficient would change its sign, and which ones are then 0."""
    towards = is_penalised & (at * (at + move) <= 0) & (move != 0)
    if not towards.any():
        return 1.0, towards
    share = np.where(towards, np.divide(-at, move, out=np.ones_like(at), where=towards), np.inf)
    return float(share.min()), share == share.min()


def _grows(rows: DenseRows, penalty: Penalty, theta: np.ndarray, here: Slope, curvature: np.ndarray) -> bool:
    """Whether unpenalised coefficients would still grow where the gradient has vanished: the classes are separable."""
    if not penalty.is_none:
        return False
    step = -solve(_pinned(curvature, penalty, len(theta)), here.gradient.ravel(), _FAINTEST).reshape(theta.shape)
    return bool(np.abs(rows.scores(step)).max() > 0.05)
