"""The paths of all folds along falling strengths, a few strengths at a time: each goes on from where its fold has come.

The solution on all rows would do as a start where rows are many. Where they are few, a level may lose its last row of a
class with the fold; its coefficient then grows with every strength, and the fold's own last solution knows how far it is.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.linear.logistic.rows.dense_rows import DenseRows
from baytree.linear.logistic.solvers.lockstep import Lockstep, Problems, Solved
from baytree.linear.logistic.solvers.objective import Fit, Penalty

_AT_ONCE = 16  # problems: the kernel takes eight at a time
_CLOSER = 0.2  # steps by an old curvature end a little below what they are told, those by a new one far below
_FEW = 64  # features; of more, side by side, curvatures would cost more than the steps that they save


class FoldPaths(msgspec.Struct, frozen=True):
    """Rows in folds, the penalty of each fold at each strength, and the optima on all rows."""

    rows: DenseRows
    fold_weight: np.ndarray  # [n_folds]
    penalties: list[list[Penalty]]  # n_folds of n
    fits: list[Fit]  # n
    curvature: list[np.ndarray]  # n of [q, q], those of the fits

    def losses(self, aims: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The held-out loss of each fold at each strength, and which were found to within their aims. [n_folds, n] each"""
        loss, found, last = np.zeros(aims.shape), np.zeros(aims.shape, bool), None
        lockstep = Lockstep(self.rows, self.fold_weight)
        for own in self._waves(len(self.fits)):
            last = lockstep.solve(self._problems(own, last), _CLOSER * aims[:, own].ravel())
            loss[:, own], found[:, own] = last.held.reshape(len(aims), -1), last.found.reshape(len(aims), -1)
        return loss, found

    def _waves(self, n: int) -> list[slice]:
        """Runs of strengths; of rows elsewhere all at once, since a round costs more than the problems in it."""
        width = n if self.rows.is_far else max(1, _AT_ONCE // len(self.penalties))
        return [slice(first, min(first + width, n)) for first in range(0, n, width)]

    def _problems(self, own: slice, last: Solved | None) -> Problems:
        n_folds, n = len(self.penalties), own.stop - own.start
        each = [penalty for fold in self.penalties for penalty in fold[own]]
        penalty = Penalty(np.array([one.ridge for one in each]), np.array([one.lasso for one in each]))
        before = None if last is None else last.take(np.arange(1, n_folds + 1) * (len(last.held) // n_folds) - 1)
        theta, curvature = self._starts(own, before), self._curvatures(own, before)
        return Problems(np.repeat(np.arange(n_folds), n), penalty, theta, curvature)

    def _starts(self, own: slice, before: Solved | None) -> np.ndarray:
        """As far from a fold's last solution as those of all rows are apart. [n_folds · n, q]"""
        whole = np.concatenate([fit.theta for fit in self.fits[own]])
        if before is None:
            return np.tile(whole, (len(self.penalties), 1))
        moved = before.theta[:, None] + (whole - self.fits[own.start - 1].theta)
        return moved.reshape(-1, whole.shape[1])

    def _curvatures(self, own: slice, before: Solved | None) -> list[np.ndarray]:
        """Those of the rows that teach at the optima on all rows; a fold that once needed another keeps its own."""
        folds = range(len(self.penalties))
        if self.rows.q <= _FEW:
            whole = [list(self.rows.curvatures_of_others(fit.theta, self.fold_weight)) for fit in self.fits[own]]
        else:
            whole = [[curvature] * len(folds) for curvature in self.curvature[own]]
        return [before.curvature[f] if before and before.is_renewed[f] else each[f] for f in folds for each in whole]
