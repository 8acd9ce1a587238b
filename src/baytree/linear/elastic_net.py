"""Solver for a quadratic objective with an elastic-net penalty, and robust solves with a Gram matrix.

`ElasticNetQuadratic` minimises x'Mx/2 + g'x + Σ ridge x²/2 + lasso |x| by coordinate descent (Friedman, Hastie and
Tibshirani 2010), followed by direct solutions on the support. Proximal Newton steps of logistic regression and penalised
least squares share it. `solve` and `solver` give M⁻¹b for positive semidefinite M, by Cholesky or, if M is singular, by
eigenvectors or a small ridge.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from baytree import _core
from baytree.parallel.blas import run_lapack

_MAX_EIGEN_SIZE = 500  # coefficients; above it a singular matrix gets a small ridge, since eigenvectors would be too slow

_MAX_SWEEPS = 200  # maximum number of sweeps before the direct solution on the support

_MAX_DROPS = 50  # maximum number of times that coefficients leave the support in one direct solution

_COLLINEAR = 1e-11  # residual variance (diagonal scaled to 1) below which a column counts as collinear

_FLAT = 1e-8  # relative to the largest penalty: a smaller derivative counts as 0

_WORK_PER_CALL = 100_000_000  # multiplications between two checks for Ctrl-C


class ElasticNetQuadratic(msgspec.Struct, frozen=True):
    """Objective x'Mx/2 + g'x + Σ ridge x²/2 + lasso |x|.

    The methods take a point `target` and `slope`, the unpenalised gradient Mx + g at that point.
    """

    matrix: np.ndarray  # [m, m]
    ridge: np.ndarray  # [m]
    lasso: np.ndarray  # [m]

    def sweep(self, target: np.ndarray, slope: np.ndarray, limit: float) -> None:
        """Coordinate descent in place until the squared change of a sweep is at most `limit`; interruptible by Ctrl-C."""
        sweeps_per_call = max(1, _WORK_PER_CALL // self.matrix.size)
        for _ in range(0, _MAX_SWEEPS, sweeps_per_call):
            n_sweeps = min(sweeps_per_call, _MAX_SWEEPS)
            if _core.gram_descent(self.matrix, self.ridge, self.lasso, target, slope, n_sweeps, limit)[1] <= limit:
                return

    def polished(self, target: np.ndarray, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Minimum on the support found by coordinate descent, dropping coefficients that reach 0 on the way; also its
        gradient.

        Each move stops where the first coefficient changes sign, so the objective is one quadratic along the move and
        decreases.
        """
        for _ in range(_MAX_DROPS):
            active = np.flatnonzero((target != 0) | (self.lasso == 0))
            if not len(active):
                break
            move = self._towards_minimum(active, target, slope)
            step_length, crosses = _until_zero(target[active], move, self.lasso[active] > 0)
            target, slope = target.copy(), slope + step_length * (self.matrix[:, active] @ move)
            target[active] += step_length * move
            target[active[crosses]] = 0.0
            if not crosses.any():
                break
        return target, slope

    def _towards_minimum(self, active: np.ndarray, target: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """Step to the minimum for fixed signs. If columns are collinear, a step that first removes some of them from the
        support.
        """
        current = target[active]
        gradient = slope[active] + self.ridge[active] * current + self.lasso[active] * np.sign(current)
        matrix = self.matrix[np.ix_(active, active)]
        matrix[np.diag_indices_from(matrix)] += self.ridge[active]
        scale, scaled = _in_own_units(matrix)
        inverse = _inverse_by_cholesky(scaled, _COLLINEAR)
        if inverse is not None:
            return -inverse(gradient / scale) / scale
        if len(active) > _MAX_EIGEN_SIZE:
            return -solve(matrix, gradient)
        return _along_columns_alike(scaled, gradient / scale, current * scale, self.lasso[active] / scale) / scale


def _until_zero(at: np.ndarray, move: np.ndarray, is_penalised: np.ndarray) -> tuple[float, np.ndarray]:
    """Step length at which the first penalised coefficient reaches 0 (at most 1), and which coefficients are then 0."""
    towards = is_penalised & (at * (at + move) <= 0) & (move != 0)
    if not towards.any():
        return 1.0, towards
    step_length = np.where(towards, np.divide(-at, move, out=np.ones_like(at), where=towards), np.inf)
    return float(step_length.min()), step_length == step_length.min()


def _along_columns_alike(matrix: np.ndarray, right: np.ndarray, at: np.ndarray, lasso: np.ndarray) -> np.ndarray:
    """Step for a singular matrix with unit diagonal: among collinear columns the penalty alone decides.

    Along a null direction the objective is linear up to sign changes, so it falls until some coefficient is 0; the step goes
    twice as far so that the caller finds that crossing. If no such direction is left, return the shortest step to the
    minimum, which does not depend on which of the collinear columns were chosen as pivots.
    """
    from scipy.linalg import cho_solve, get_lapack_funcs, solve_triangular

    (pstrf,) = get_lapack_funcs(("pstrf",), (matrix,))
    factor, order, rank, _ = pstrf(matrix, lower=1, tol=_COLLINEAR)
    pivots, rest = order[:rank] - 1, order[rank:] - 1
    lower = factor[:rank, :rank]
    # [rank, rest]: each dependent column as a combination of the pivots
    combinations = solve_triangular(lower, factor[rank:, :rank].T, lower=True, trans=1)
    null_space = np.zeros((len(right), len(rest)))
    null_space[pivots] = -np.asarray(combinations)
    null_space[rest, np.arange(len(rest))] = 1.0
    decrease = right @ null_space
    if np.abs(decrease).max(initial=0.0) > _FLAT * lasso.max():
        steepest = int(np.abs(decrease).argmax())
        move = -np.sign(decrease[steepest]) * null_space[:, steepest]
        shrinks = (lasso > 0) & (at * move < 0)
        if shrinks.any():
            return move * (2 * (-at[shrinks] / move[shrinks]).min())
    move = np.zeros_like(right)
    move[pivots] = -np.asarray(cho_solve((lower, True), right[pivots]))
    return move - null_space @ np.linalg.lstsq(null_space, move)[0]


def solve(matrix: np.ndarray, right: np.ndarray, minimum: float = _COLLINEAR) -> np.ndarray:
    """matrix⁻¹ right for a positive semidefinite matrix; the minimum-norm solution if it is singular. right [m] or [m, k]

    Eigenvalues below `minimum` times the largest one count as 0, after rows and columns were scaled to a unit diagonal.
    """
    return solver(matrix, minimum)(right)


def solver(matrix: np.ndarray, minimum: float = _COLLINEAR) -> Callable[[np.ndarray], np.ndarray]:
    """Function right ↦ matrix⁻¹ right that reuses one decomposition."""
    scale, scaled = _in_own_units(matrix)
    if not len(scaled):
        return np.copy
    inverse = _inverse_by_cholesky(scaled, minimum)
    if inverse is not None:
        return _in_units(scale, inverse)
    if len(scaled) > _MAX_EIGEN_SIZE:  # eigenvectors would take longer than the rest of the fit
        return _in_units(scale, lambda right: _with_a_little_ridge(scaled.copy(), right, 1000 * minimum))
    eigenvalue, eigenvector = run_lapack(np.linalg.eigh, scaled)
    is_positive = eigenvalue > minimum * eigenvalue.max(initial=0.0)
    pseudo_inverse = (eigenvector[:, is_positive] / eigenvalue[is_positive]) @ eigenvector[:, is_positive].T
    return _in_units(scale, lambda right: pseudo_inverse @ right)


def _in_own_units(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Square roots of the diagonal (1 for 0), and the matrix scaled to a unit diagonal."""
    scale = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    scaled = matrix / scale[:, None] / scale
    if not np.isfinite(scaled).all():
        raise ValueError("the matrix of second derivatives is not finite")
    return scale, scaled


def _inverse_by_cholesky(matrix: np.ndarray, minimum: float) -> Callable[[np.ndarray], np.ndarray] | None:
    """Function right ↦ matrix⁻¹ right by Cholesky; None if a pivot is too small."""
    # LAPACK routines without scipy's checks, which take longer than factoring a small matrix
    from scipy.linalg import get_lapack_funcs

    potrf, potrs = get_lapack_funcs(("potrf", "potrs"), (matrix,))
    factor, fault = run_lapack(lambda m: potrf(m, lower=True, clean=False), matrix)
    if fault or factor.diagonal().min() <= np.sqrt(minimum / 10):
        return None
    return lambda right: potrs(factor, right, lower=True)[0]


def _in_units(scale: np.ndarray, inverse: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """Solver for the original matrix from a solver for the matrix scaled to a unit diagonal."""

    def solution(right: np.ndarray) -> np.ndarray:
        by_row = scale.reshape(-1, *[1] * (right.ndim - 1))
        return inverse(right / by_row) / by_row

    return solution


def _with_a_little_ridge(matrix: np.ndarray, right: np.ndarray, ridge: float) -> np.ndarray:
    """(matrix + ridge · I)⁻¹ right, with the smallest of ridge, 10 ridge, 100 ridge … for which the Cholesky factorisation
    succeeds.
    """
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    diagonal = matrix.diagonal().copy()
    while True:
        matrix[np.diag_indices_from(matrix)] = diagonal + ridge
        try:
            return np.asarray(cho_solve(run_lapack(lambda m: cho_factor(m, lower=True), matrix), right))
        except LinAlgError:
            ridge *= 10
