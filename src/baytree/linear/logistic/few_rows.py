"""Small problems: all Newton steps of a problem, or all problems of a cross-validation, in one call of the core.

For few rows, separate steps would mostly be Python overhead. Two classes are solved with the whole Hessian as in
`newton.py`. For several classes the Hessian is never formed, because it has as many rows as there are coefficients in all
classes; conjugate gradients are used.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.partitions import LocalPartitionValues
from baytree.linear.logistic.dense_block import DenseBlock
from baytree.linear.logistic.objective import Penalty, Solution, Tolerance
from baytree.linear.logistic.rows import DenseRows

_MOST = 1 << 21  # multiplications of one Hessian; above it BLAS and threads are faster

# the same for the Hessian blocks of each class; higher, because BLAS would form the whole, larger Hessian
_MOST_BY_CLASS = 1 << 24

_CG_FACTOR = 1e-3  # conjugate gradients stop at the tolerance, a full Newton step far below it

_ROUNDING = 1e-12

_NONE = np.zeros((0, 0))


def are_few(rows: DenseRows) -> bool:
    """Whether the rows are one local block whose Hessian is cheap to compute."""
    if not isinstance(rows.pieces, LocalPartitionValues) or len(rows.pieces.values) != 1:
        return False
    if rows.k == 1:
        return rows.n_rows * rows.q**2 <= _MOST
    return rows.k * max(rows.n_rows, rows.q) * rows.q**2 <= _MOST_BY_CLASS


def newton_of_few_rows(
    rows: DenseRows, penalty: Penalty, theta: np.ndarray, aim: Tolerance, curvature: np.ndarray | None
) -> Solution | None:
    """Optimum; None if rows are not few, if nothing is penalised, or if the core needs eigenvectors to decide."""
    if not are_few(rows) or penalty.is_none:
        return None
    piece = _piece(rows)
    data = piece.x, piece.label, piece.weight, penalty.ridge, penalty.lasso
    tolerances = aim.tol, aim.target_tol, aim.max_iter
    if rows.k > 1:
        result = _core.newton_of_few_classes(*data, np.ascontiguousarray(theta), *tolerances)
        return Solution(*result) if result else None
    last_hessian = _NONE if curvature is None else curvature
    result = _core.newton_of_few_rows(*data, theta[0], last_hessian, *tolerances)
    if not result:
        return None
    solution, violation, n_iter, losses, hessian = result
    return Solution(solution, violation, n_iter, losses, False, hessian)


def losses_of_few_rows(
    rows: DenseRows, penalties: list[list[Penalty]], fits: list[Solution], aims: np.ndarray, max_iter: int
) -> tuple[np.ndarray, np.ndarray]:
    """Held-out loss of each fold at each λ, and which ones were computed. [n_folds, n], bool [n_folds, n]

    Each fold goes along the path; `fits` are the optima on all rows, `aims` [n_folds, n] the tolerances. For two classes,
    `fits` must contain Hessians.
    """
    piece, loss, found = _piece(rows), np.zeros(aims.shape), np.zeros(aims.shape, np.uint8)
    ridge, lasso = (np.array([[getattr(each, name) for each in own] for own in penalties]) for name in ("ridge", "lasso"))
    data, theta = (piece.x, piece.label, piece.weight, piece.fold, ridge, lasso), np.array([fit.theta for fit in fits])
    if rows.k > 1:
        _core.held_out_of_few_classes(*data, theta, np.maximum(_CG_FACTOR * aims, _ROUNDING), max_iter, loss, found)
    else:
        curvature = np.array([fit.hessian for fit in fits])
        _core.held_out_of_few_rows(*data, theta[:, 0], curvature, aims, max_iter, loss, found)
    return loss, found.astype(bool)


def _piece(rows: DenseRows) -> DenseBlock:
    """All rows, in the design's units."""
    (piece,) = rows.pieces.gather()
    return msgspec.structs.replace(piece, x=(piece.x - rows.centre) / rows.scale)
