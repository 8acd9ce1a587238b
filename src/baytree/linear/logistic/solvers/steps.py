"""Newton steps by a curvature from nearby: of one problem with |θ|, and of several two-class problems."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from baytree import _core
from baytree.linear.logistic.solvers.objective import Penalty
from baytree.linear.quadratic import solver

_ROOM = 10_000_000  # numbers of decompositions that are kept
_NEAR = 0.01  # of the violation: what the minimum of a quadratic may have left


def lasso_step(
    curvature: np.ndarray, penalty: Penalty, theta: np.ndarray, gradient: np.ndarray, near: float
) -> np.ndarray | None:
    """The step to within `near` of the minimum of a quadratic with |θ|; None where it takes eigenvectors to tell. [m]"""
    step = np.empty_like(theta)
    return step if _core.net_step(curvature, penalty.ridge, penalty.lasso, theta, gradient, near, step) else None


class Steps:
    """The steps of each problem; where |θ| is not penalised, a curvature is decomposed once if there is room for all."""

    def __init__(self, penalty: Penalty, curvature: list[np.ndarray]):
        self._penalty, self.curvature = penalty, list(curvature)  # of arrays [m, q]; m of [q, q]
        self.is_renewed = np.zeros(len(curvature), bool)
        self._kept: dict[int, Callable[[np.ndarray], np.ndarray]] = {}
        self._keeps = penalty.ridge.size * penalty.ridge.shape[1] <= _ROOM

    def renew(self, i: int, curvature: np.ndarray) -> None:
        """Give problem i another curvature."""
        self.curvature[i] = curvature
        self.is_renewed[i] = True
        self._kept.pop(i, None)

    def of(self, i: int, theta: np.ndarray, gradient: np.ndarray, violation: float) -> np.ndarray | None:
        """The step of problem i from theta [q], where the loss has this gradient; None where it has none."""
        ridge, lasso = self._penalty.ridge[i], self._penalty.lasso[i]
        if lasso.any():
            return lasso_step(self.curvature[i], Penalty(ridge, lasso), theta, gradient, _NEAR * violation)
        return -self._solver(i)(gradient + ridge * theta)

    def _solver(self, i: int) -> Callable[[np.ndarray], np.ndarray]:
        if i in self._kept:
            return self._kept[i]
        step = solver(self.curvature[i] + np.diag(self._penalty.ridge[i]))
        return self._kept.setdefault(i, step) if self._keeps else step
