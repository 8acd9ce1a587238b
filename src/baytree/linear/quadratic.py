"""The minimum of a quadratic with an elastic-net penalty, given by its matrix: what Newton steps and least squares share."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.blas import decomposed

_SMALL = 500  # coefficients; beyond it a singular matrix is helped by a little ridge, not by eigenvectors
_SWEEPS = 200  # at most, before the support is solved for directly
_DROPS = 20  # coefficients that leave the support in one direct solution
_WORK = 100_000_000  # products between two looks at Ctrl-C


class Quadratic(msgspec.Struct, frozen=True):
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


def solve(matrix: np.ndarray, right: np.ndarray, least: float = 1e-11) -> np.ndarray:
    """matrix⁻¹ right for a positive matrix; the shortest solution where it is singular. right [m] or [m, k]

    Eigenvalues below the `least` share of the largest, with rows and columns in units of their diagonal, count as none.
    """
    return solver(matrix, least)(right)


def solver(matrix: np.ndarray, least: float = 1e-11) -> Callable[[np.ndarray], np.ndarray]:
    """right ↦ matrix⁻¹ right, decomposed once."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    scale = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    scaled = matrix / scale[:, None] / scale
    try:
        factor = decomposed(lambda m: cho_factor(m, lower=True), scaled)
        if np.diag(factor[0]).min(initial=np.inf) > np.sqrt(least / 10):
            return _in_units(scale, lambda right: np.asarray(cho_solve(factor, right)))
    except LinAlgError:
        pass
    if len(scaled) > _SMALL:  # eigenvectors would cost more than the rest of the fit
        return _in_units(scale, lambda right: _with_a_little_ridge(scaled.copy(), right, 1000 * least))
    root, vector = decomposed(np.linalg.eigh, scaled)
    kept = root > least * root.max(initial=0.0)
    inverse = (vector[:, kept] / root[kept]) @ vector[:, kept].T
    return _in_units(scale, lambda right: inverse @ right)


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
            return np.asarray(cho_solve(decomposed(lambda m: cho_factor(m, lower=True), matrix), right))
        except LinAlgError:
            ridge *= 10
