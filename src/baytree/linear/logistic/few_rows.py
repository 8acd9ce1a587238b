"""Few rows: all steps of a problem, and all problems of a cross-validation, in one call of the core.

Each step by itself would be mostly Python. Two classes are solved as `newton` solves them, by the whole curvature; of
several classes it is never made: it has as many rows as there are coefficients in all classes together.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.partitions import LocalPartitionValues
from baytree.linear.logistic.dense_block import DenseBlock
from baytree.linear.logistic.objective import Penalty, Solution, Tolerance
from baytree.linear.logistic.rows import DenseRows

_MOST = 1 << 21  # products of one curvature; for more of them BLAS and threads pay

_MOST_BY_CLASS = 1 << 24  # of the curvatures of several classes, each by itself: BLAS would make the whole, which is larger

_CLOSER = 1e-3  # conjugate gradients end where they are told to, a step by the whole curvature ends far below

_ROUNDING = 1e-12

_NONE = np.zeros((0, 0))


def are_few(rows: DenseRows) -> bool:
    """Whether these are rows in one piece of memory, of which a curvature costs next to nothing."""
    if not isinstance(rows.pieces, LocalPartitionValues) or len(rows.pieces.pieces) != 1:
        return False
    if rows.k == 1:
        return rows.n_rows * rows.q**2 <= _MOST
    return rows.k * max(rows.n_rows, rows.q) * rows.q**2 <= _MOST_BY_CLASS


def newton_of_few_rows(
    rows: DenseRows, penalty: Penalty, theta: np.ndarray, aim: Tolerance, curvature: np.ndarray | None
) -> Solution | None:
    """The optimum; None where rows are not few, where nothing is penalised, and where it takes eigenvectors to tell."""
    if not are_few(rows) or penalty.is_none:
        return None
    piece = _piece(rows)
    problem = piece.x, piece.label, piece.weight, penalty.ridge, penalty.lasso
    aims = aim.tol, aim.target_tol, aim.max_iter
    if rows.k > 1:
        found = _core.newton_of_few_classes(*problem, np.ascontiguousarray(theta), *aims)
        return Solution(*found) if found else None
    near = _NONE if curvature is None else curvature
    found = _core.newton_of_few_rows(*problem, theta[0], near, *aims)
    if not found:
        return None
    solution, violation, n_iter, losses, last = found
    return Solution(solution, violation, n_iter, losses, False, last)


def losses_of_few_rows(
    rows: DenseRows, penalties: list[list[Penalty]], fits: list[Solution], aims: np.ndarray, max_iter: int
) -> tuple[np.ndarray, np.ndarray]:
    """The held-out loss of each fold at each strength, and which were found. [n_folds, n], bool [n_folds, n]

    Each fold goes along the strengths; `fits` are the optima on all rows, `aims` [n_folds, n] the violations that will do.
    Fits of two classes have their curvatures.
    """
    piece, loss, found = _piece(rows), np.zeros(aims.shape), np.zeros(aims.shape, np.uint8)
    ridge, lasso = (np.array([[getattr(each, name) for each in own] for own in penalties]) for name in ("ridge", "lasso"))
    problem, theta = (piece.x, piece.label, piece.weight, piece.fold, ridge, lasso), np.array([fit.theta for fit in fits])
    if rows.k > 1:
        _core.held_out_of_few_classes(*problem, theta, np.maximum(_CLOSER * aims, _ROUNDING), max_iter, loss, found)
    else:
        curvature = np.array([fit.hessian for fit in fits])
        _core.held_out_of_few_rows(*problem, theta[:, 0], curvature, aims, max_iter, loss, found)
    return loss, found.astype(bool)


def _piece(rows: DenseRows) -> DenseBlock:
    """All rows, in the design's units."""
    (piece,) = rows.pieces.gather()
    return msgspec.structs.replace(piece, x=(piece.x - rows.centre) / rows.scale)
