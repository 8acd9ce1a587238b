"""Two-class ridge problems on the same rows, solved together: a block of rows is read once for all of them.

Cross-validation asks for the same rows again and again, with other penalties and other rows held out. All problems step at
the same time, each by one curvature: that of the rows that teach it near where it starts, or of all rows, which differs
little.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from baytree.linear.logistic.rows.dense_rows import DenseRows
from baytree.linear.logistic.rows.lessons import Lessons
from baytree.linear.quadratic import solver

_ROOM = 10_000_000  # numbers of decompositions that are kept
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


def solve_together(
    rows: DenseRows, fold_weight: np.ndarray, problems: Problems, tol: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The mean held-out loss of each problem at its optimum, and whether it was found to within `tol`. [m], bool [m]"""
    theta = problems.theta.copy()
    best, held = np.full(len(theta), np.inf), np.zeros(len(theta))
    found, given_up = np.zeros(len(theta), bool), np.zeros(len(theta), bool)
    steps = Steps(problems)
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
        for i, each in zip(left[~found[left]], slope[~found[left]], strict=True):
            theta[i] -= steps.of(i)(each)
    return held, found


class Steps:
    """The steps of each problem: slope ↦ (curvature + ridge)⁻¹ slope, decomposed once where there is room for all."""

    def __init__(self, problems: Problems):
        self._problems = problems
        self._kept: dict[int, Callable[[np.ndarray], np.ndarray]] = {}
        self._keeps = problems.ridge.size * problems.ridge.shape[1] <= _ROOM

    def of(self, i: int) -> Callable[[np.ndarray], np.ndarray]:
        """The step of problem i."""
        if i in self._kept:
            return self._kept[i]
        step = solver(self._problems.curvature[i] + np.diag(self._problems.ridge[i]))
        return self._kept.setdefault(i, step) if self._keeps else step


def answers(rows: DenseRows, weight: np.ndarray, total: float, problems: Problems) -> Lessons:
    """What all rows say about all problems, as means, in one read; `weight` [m] is that of the rows that each holds out."""
    m = len(problems.theta)
    padded = np.resize(np.arange(m), -(-m // 8) * 8)  # the kernel takes eight at a time
    coefficient, start = rows.raw(problems.theta[padded])
    held_out = np.ascontiguousarray(problems.held_out[padded])
    said = rows.pieces.total(lambda piece: piece.lessons(held_out, coefficient, start))
    taught = np.maximum(total - weight, 1e-300)
    gradient = rows.to_units(said.gradient[:m]) / taught[:, None]
    return Lessons(said.train[:m] / taught, said.held[:m] / np.maximum(weight, 1e-300), gradient)
