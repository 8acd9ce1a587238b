"""Two-class problems on the same rows, solved together: a block of rows is read once for all of them.

Cross-validation asks for the same rows again and again, with other penalties and other rows held out. All problems step at
the same time, each by a curvature from nearby: that of the rows that teach it where it starts, or of all rows, which differs
little. A problem that gains little by it gets a new one.
"""

from __future__ import annotations

from functools import cache

import msgspec
import numpy as np

from baytree.linear.logistic.rows.dense_rows import DenseRows
from baytree.linear.logistic.rows.lessons import Lessons
from baytree.linear.logistic.rows.loss import Slope
from baytree.linear.logistic.solvers.objective import Penalty, violations
from baytree.linear.logistic.solvers.steps import Steps

_PATIENCE = 40  # rounds; problems that need more are left to others
_WORTH = 5  # steps, if an old curvature would take more of them, a new one is worth its read of the rows
_SHORTEST = 0.5**6  # of a step
_ROUNDING = 1e-12


class Problems(msgspec.Struct, frozen=True):
    """Problems with the fold that each holds out, its penalties, where it starts, and a curvature from nearby."""

    held_out: np.ndarray  # int64 [m]
    penalty: Penalty  # of arrays [m, q]
    theta: np.ndarray  # [m, q]
    curvature: list[np.ndarray]  # m of [q, q]


class Solved(msgspec.Struct, frozen=True):
    """Optima, the mean loss of the rows that each problem holds out, which were found, and curvatures near the end."""

    theta: np.ndarray  # [m, q]
    held: np.ndarray  # [m]
    found: np.ndarray  # bool [m]
    curvature: list[np.ndarray]  # m of [q, q]
    is_renewed: np.ndarray  # bool [m], whether the curvature is another than at the start

    def take(self, own: np.ndarray) -> Solved:
        """Those of these problems."""
        curvature = [self.curvature[i] for i in own]
        return Solved(self.theta[own], self.held[own], self.found[own], curvature, self.is_renewed[own])


class Lockstep:
    """Rows in folds, read once for all problems at every step."""

    def __init__(self, rows: DenseRows, fold_weight: np.ndarray):
        self._rows, self._fold_weight = rows, fold_weight
        self._others = cache(rows.without)

    def solve(self, problems: Problems, tol: np.ndarray) -> Solved:
        """The optimum of each problem to within `tol` [m], where it is found."""
        search = Search(problems, tol)
        for _ in range(_PATIENCE):
            left = search.left
            if not len(left):
                break
            taken = search.hear(left, self._answers(problems.held_out[left], search.tried[left]))
            for i in taken[search.is_slow[taken]]:
                search.steps.renew(i, self._others(int(problems.held_out[i])).curvature(search.theta[i : i + 1]))
            search.step(taken)
        return Solved(search.theta, search.held, search.found, search.steps.curvature, search.steps.is_renewed)

    def _answers(self, held_out: np.ndarray, theta: np.ndarray) -> Lessons:
        """What all rows say at theta [m, q] of problems that hold out a fold each, as means, in one read."""
        m, held = len(theta), self._fold_weight[held_out]
        padded = np.resize(np.arange(m), -(-m // 8) * 8)  # the kernel takes eight at a time
        coefficient, start = self._rows.raw(theta[padded])
        fold = np.ascontiguousarray(held_out[padded])
        said = self._rows.pieces.total(lambda piece: piece.lessons(fold, coefficient, start))
        taught = np.maximum(self._fold_weight.sum() - held, 1e-300)
        gradient = self._rows.to_units(said.gradient[:m]) / taught[:, None]
        return Lessons(said.train[:m] / taught, said.held[:m] / np.maximum(held, 1e-300), gradient)


class Search:
    """Where each problem is, what it tries next, and how far it has come."""

    def __init__(self, problems: Problems, tol: np.ndarray):
        m = len(tol)
        self.steps = Steps(problems.penalty, problems.curvature)
        self.theta, self.tried = problems.theta.copy(), problems.theta.copy()  # [m, q]
        self.held, self.found, self.is_slow = np.zeros(m), np.zeros(m, bool), np.zeros(m, bool)
        self._penalty, self._tol = problems.penalty, tol
        self._gradient, self._move = np.zeros_like(self.theta), np.zeros_like(self.theta)
        self._share, self._promise = np.ones(m), np.zeros(m)  # of the move that is tried, and what all of it should gain
        self._cost, self._violation = np.full(m, np.inf), np.full(m, np.inf)

    @property
    def left(self) -> np.ndarray:
        """The problems that are neither solved nor given up. int64 [n]"""
        return np.flatnonzero(~self.found & (self._share >= _SHORTEST))

    def hear(self, left: np.ndarray, said: Lessons) -> np.ndarray:
        """Take the moves that lower the objective and shorten the others; the problems that are to move on. int64 [n]"""
        cost = said.train + _costs(self._penalty.take(left), self.tried[left])
        falls = cost <= self._cost[left] + 1e-4 * self._share[left] * self._promise[left] + _ROUNDING
        taken, shorter = left[falls], left[~falls]
        self.theta[taken], self._cost[taken] = self.tried[taken], cost[falls]
        self._gradient[taken], self.held[taken] = said.gradient[falls], said.held[falls]
        self._judge(taken)
        self._share[shorter] /= 2
        self.tried[shorter] = self.theta[shorter] + self._share[shorter, None] * self._move[shorter]
        return taken[~self.found[taken]]

    def _judge(self, own: np.ndarray) -> None:
        before, tol = self._violation[own], self._tol[own]
        wrong = violations(Slope(0.0, self._gradient[own]), self._penalty.take(own), self.theta[own]).max(axis=1)
        self._violation[own], self.found[own] = wrong, wrong <= tol
        # as many steps more as bring it to `tol`, if each leaves the share of what is wrong that the last one left
        with np.errstate(divide="ignore"):
            gained = np.log(np.maximum(before, 1e-300) / np.maximum(wrong, 1e-300))
            self.is_slow[own] = np.isfinite(before) & (np.log(np.maximum(wrong, 1e-300) / tol) > _WORTH * gained)

    def step(self, own: np.ndarray) -> None:
        """Try the whole step of each of these problems next; one that has none is given up."""
        for i in own:
            move = self.steps.of(i, self.theta[i], self._gradient[i], float(self._violation[i]))
            self._share[i] = 1.0 if move is not None else 0.0
            self._move[i] = 0.0 if move is None else move
        self.tried[own] = self.theta[own] + self._move[own]
        penalty = self._penalty.take(own)
        rise = _costs(penalty, self.tried[own]) - _costs(penalty, self.theta[own])
        self._promise[own] = np.minimum((self._gradient[own] * self._move[own]).sum(axis=1) + rise, 0.0)


def _costs(penalty: Penalty, theta: np.ndarray) -> np.ndarray:
    """What the coefficients of each problem cost. [m]"""
    return (penalty.ridge * theta**2).sum(axis=1) / 2 + (penalty.lasso * np.abs(theta)).sum(axis=1)
