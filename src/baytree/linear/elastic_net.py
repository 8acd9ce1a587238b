"""The minimum of a quadratic with an elastic-net penalty, given by its matrix: what Newton steps and least squares share."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from baytree import _core
from baytree.parallel.blas import run_lapack

_SMALL = 500  # coefficients; beyond it a singular matrix is helped by a little ridge, not by eigenvectors

_SWEEPS = 200  # at most, before the support is solved for directly

_DROPS = 50  # coefficients that leave the support in one direct solution

_LEAST = 1e-11  # of a diagonal of 1: what is left of a column beside the others, from which on it says something of its own

_FLAT = 1e-8  # of the largest penalty: a slope that counts as none

_WORK = 100_000_000  # products between two looks at Ctrl-C


class ElasticNetQuadratic(msgspec.Struct, frozen=True):
    """x'Mx/2 + g'x + Σ ridge x²/2 + lasso |x|; `slope` is Mx + g, its derivative at `target` without the penalty."""

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
            if not len(active):
                break
            move = self._towards_minimum(active, target, slope)
            share, crosses = _until_zero(target[active], move, self.lasso[active] > 0)
            target, slope = target.copy(), slope + share * (self.matrix[:, active] @ move)
            target[active] += share * move
            target[active[crosses]] = 0.0
            if not crosses.any():
                break
        return target, slope

    def _towards_minimum(self, active: np.ndarray, target: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """The move to the minimum while no sign changes; where columns say the same, first to fewer of them."""
        at = target[active]
        right = slope[active] + self.ridge[active] * at + self.lasso[active] * np.sign(at)
        matrix = self.matrix[np.ix_(active, active)]
        matrix[np.diag_indices_from(matrix)] += self.ridge[active]
        scale, scaled = _in_own_units(matrix)
        inverse = _inverse_by_cholesky(scaled, _LEAST)
        if inverse is not None:
            return -inverse(right / scale) / scale
        if len(active) > _SMALL:
            return -solve(matrix, right)
        return _along_columns_alike(scaled, right / scale, at * scale, self.lasso[active] / scale) / scale


def _until_zero(at: np.ndarray, move: np.ndarray, is_penalised: np.ndarray) -> tuple[float, np.ndarray]:
    """How much of the move can be made before a penalised coefficient would change its sign, and which ones are then 0."""
    towards = is_penalised & (at * (at + move) <= 0) & (move != 0)
    if not towards.any():
        return 1.0, towards
    share = np.where(towards, np.divide(-at, move, out=np.ones_like(at), where=towards), np.inf)
    return float(share.min()), share == share.min()


def _along_columns_alike(matrix: np.ndarray, right: np.ndarray, at: np.ndarray, lasso: np.ndarray) -> np.ndarray:
    """A move for a singular matrix in units of its diagonal: among columns that say the same, the penalty alone decides.

    Such a direction has no curvature, so the objective falls along it until some coefficient is 0; the move goes twice
    as far. Where no such direction is left, it is the shortest move to the minimum: that does not depend on which of the
    columns are taken for the others.
    """
    from scipy.linalg import cho_solve, get_lapack_funcs, solve_triangular

    (pstrf,) = get_lapack_funcs(("pstrf",), (matrix,))
    factor, order, rank, _ = pstrf(matrix, lower=1, tol=_LEAST)
    kept, rest = order[:rank] - 1, order[rank:] - 1
    lower = factor[:rank, :rank]
    alike = solve_triangular(lower, factor[rank:, :rank].T, lower=True, trans=1)  # [rank, rest]: each as a sum of those kept
    flat = np.zeros((len(right), len(rest)))
    flat[kept] = -np.asarray(alike)
    flat[rest, np.arange(len(rest))] = 1.0
    fall = right @ flat
    if np.abs(fall).max(initial=0.0) > _FLAT * lasso.max():
        steepest = int(np.abs(fall).argmax())
        move = -np.sign(fall[steepest]) * flat[:, steepest]
        shrinks = (lasso > 0) & (at * move < 0)
        if shrinks.any():
            return move * (2 * (-at[shrinks] / move[shrinks]).min())
    move = np.zeros_like(right)
    move[kept] = -np.asarray(cho_solve((lower, True), right[kept]))
    return move - flat @ np.linalg.lstsq(flat, move)[0]


def solve(matrix: np.ndarray, right: np.ndarray, least: float = _LEAST) -> np.ndarray:
    """matrix⁻¹ right for a positive matrix; the shortest solution where it is singular. right [m] or [m, k]

    Eigenvalues below the `least` share of the largest, with rows and columns in units of their diagonal, count as none.
    """
    return solver(matrix, least)(right)


def solver(matrix: np.ndarray, least: float = _LEAST) -> Callable[[np.ndarray], np.ndarray]:
    """right ↦ matrix⁻¹ right, decomposed once."""
    scale, scaled = _in_own_units(matrix)
    if not len(scaled):
        return np.copy
    inverse = _inverse_by_cholesky(scaled, least)
    if inverse is not None:
        return _in_units(scale, inverse)
    if len(scaled) > _SMALL:  # eigenvectors would cost more than the rest of the fit
        return _in_units(scale, lambda right: _with_a_little_ridge(scaled.copy(), right, 1000 * least))
    root, vector = run_lapack(np.linalg.eigh, scaled)
    kept = root > least * root.max(initial=0.0)
    shortest = (vector[:, kept] / root[kept]) @ vector[:, kept].T
    return _in_units(scale, lambda right: shortest @ right)


def _in_own_units(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The roots of the diagonal (1 for 0), and the matrix with its rows and columns in these units."""
    scale = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    scaled = matrix / scale[:, None] / scale
    if not np.isfinite(scaled).all():
        raise ValueError("a matrix of second derivatives is not finite")
    return scale, scaled


def _inverse_by_cholesky(matrix: np.ndarray, least: float) -> Callable[[np.ndarray], np.ndarray] | None:
    """right ↦ matrix⁻¹ right; None where the matrix is not surely regular."""
    from scipy.linalg import get_lapack_funcs  # as they are: what checks them takes longer than a small matrix

    potrf, potrs = get_lapack_funcs(("potrf", "potrs"), (matrix,))
    factor, fault = run_lapack(lambda m: potrf(m, lower=True, clean=False), matrix)
    if fault or factor.diagonal().min() <= np.sqrt(least / 10):
        return None
    return lambda right: potrs(factor, right, lower=True)[0]


def _in_units(scale: np.ndarray, inverse: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """The solution for a matrix from that for its rows and columns in units."""

    def solution(right: np.ndarray) -> np.ndarray:
        by_row = scale.reshape(-1, *[1] * (right.ndim - 1))
        return inverse(right / by_row) / by_row

    return solution


def _with_a_little_ridge(matrix: np.ndarray, right: np.ndarray, ridge: float) -> np.ndarray:
    """(matrix + ridge · I)⁻¹ right, with the least of ridge, 10 ridge, 100 ridge … that rounding leaves positive."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    diagonal = matrix.diagonal().copy()
    while True:
        matrix[np.diag_indices_from(matrix)] = diagonal + ridge
        try:
            return np.asarray(cho_solve(run_lapack(lambda m: cho_factor(m, lower=True), matrix), right))
        except LinAlgError:
            ridge *= 10
