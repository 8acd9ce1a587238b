"""Two-class ridge problems on the same rows, solved together: a block of rows is read once for all of them.

Cross-validation asks for the same rows again and again, with other penalties and other rows held out. All problems step at
the same time, each by the curvature of all rows, which differs little from that of its own.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.linear.logistic.rows.dense_piece import DensePiece
from baytree.linear.logistic.rows.dense_rows import DenseRows
from baytree.linear.quadratic import solve

_BLOCK = 1024
_PATIENCE = 15  # steps; problems that need more have another curvature than the one they were given


class Problems(msgspec.Struct, frozen=True):
    """Problems with the fold that each holds out, its penalties, where it starts, and a curvature from nearby."""

    held_out: np.ndarray  # int64 [m]
    ridge: np.ndarray  # [m, q]
    theta: np.ndarray  # [m, q]
    curvature: tuple[np.ndarray, ...]  # m of [q, q]

    def take(self, own: np.ndarray) -> Problems:
        """These problems only."""
        return Problems(self.held_out[own], self.ridge[own], self.theta[own], tuple(self.curvature[i] for i in own))


class Answers(msgspec.Struct, frozen=True):
    """What the rows say about each problem: mean loss of the rows that teach it, of those held out, and the gradient."""

    train: np.ndarray  # [m]
    held: np.ndarray  # [m]
    gradient: np.ndarray  # [m, q]

    def __add__(self, other: Answers) -> Answers:
        return Answers(self.train + other.train, self.held + other.held, self.gradient + other.gradient)


def solve_together(
    rows: DenseRows, fold_weight: np.ndarray, problems: Problems, tol: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The mean held-out loss of each problem at its optimum, and whether it was found to within `tol`. [m], bool [m]"""
    theta = problems.theta.copy()
    best, held = np.full(len(theta), np.inf), np.zeros(len(theta))
    found, given_up = np.zeros(len(theta), bool), np.zeros(len(theta), bool)
    total = rows.pieces.total(lambda piece: float(piece.weight.sum()))
    for _ in range(_PATIENCE):
        left = np.flatnonzero(~(found | given_up))
        if not len(left):
            break
        own = msgspec.structs.replace(problems.take(left), theta=theta[left])
        said = answers(rows, fold_weight[own.held_out], total, own)
        cost = said.train + (own.ridge * own.theta**2).sum(axis=1) / 2
        slope = said.gradient + own.ridge * own.theta
        given_up[left] = cost > best[left] + 1e-12
        best[left], held[left], found[left] = cost, said.held, np.abs(slope).max(axis=1) <= tol[left]
        theta[left] -= np.array([_step(*each) for each in zip(own.curvature, own.ridge, slope, strict=True)])
    return held, found


def answers(rows: DenseRows, weight: np.ndarray, total: float, problems: Problems) -> Answers:
    """What all rows say about all problems, in one read; `weight` [m] is that of the rows that each holds out."""
    m = len(problems.theta)
    padded = np.resize(np.arange(m), -(-m // 8) * 8)  # the kernel takes eight at a time
    coefficient, start = rows.raw(problems.theta[padded])
    held_out = np.ascontiguousarray(problems.held_out[padded])
    said = rows.pieces.total(lambda piece: _of_piece(piece, held_out, coefficient, start))
    taught = np.maximum(total - weight, 1e-300)
    gradient = said.gradient[:m] @ rows.chain().T / taught[:, None]
    return Answers(said.train[:m] / taught, said.held[:m] / np.maximum(weight, 1e-300), gradient)


def _of_piece(piece: DensePiece, held_out: np.ndarray, coefficient: np.ndarray, start: np.ndarray) -> Answers:
    return piece.runs.total(lambda own: _of_run(piece, held_out, coefficient, start, own))


def _of_run(piece: DensePiece, held_out: np.ndarray, coefficient: np.ndarray, start: np.ndarray, own: slice) -> Answers:
    train, held = np.zeros(len(start)), np.zeros(len(start))
    gradient = np.zeros((len(start), piece.q))
    for first in range(own.start, own.stop, _BLOCK):
        block = slice(first, min(first + _BLOCK, own.stop))
        x = piece.x[block]
        score = x @ coefficient.T + start
        _core.problem_residuals(score, piece.label[block], piece.weight[block], piece.fold[block], held_out, train, held)
        gradient[:, :-1] += score.T @ x
        gradient[:, -1] += score.sum(axis=0)
    return Answers(train, held, gradient)


def _step(curvature: np.ndarray, ridge: np.ndarray, slope: np.ndarray) -> np.ndarray:
    return solve(curvature + np.diag(ridge), slope)
