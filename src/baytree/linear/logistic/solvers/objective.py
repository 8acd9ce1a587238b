"""The objective of penalised logistic regression: mean loss + Σ ridge_j θ_j² / 2 + lasso_j |θ_j|, and its optimality."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.linear.logistic.rows.loss import Slope


class Penalty(msgspec.Struct, frozen=True):
    """How much each feature's coefficients are penalised; the constant, last, is not."""

    ridge: np.ndarray  # float64 [q]
    lasso: np.ndarray  # float64 [q]

    @property
    def is_smooth(self) -> bool:
        """Whether |θ| is not penalised."""
        return not self.lasso.any()

    @property
    def is_none(self) -> bool:
        """Whether nothing is penalised."""
        return self.is_smooth and not self.ridge.any()

    def cost(self, theta: np.ndarray) -> float:
        """What these coefficients cost. theta [k, q]"""
        return float((self.ridge * theta**2).sum() / 2 + (self.lasso * np.abs(theta)).sum())

    def take(self, features: np.ndarray) -> Penalty:
        """The penalty of these features."""
        return Penalty(self.ridge[features], self.lasso[features])


class Fit(msgspec.Struct, frozen=True):
    """What a solver reached: coefficients, the largest violation of optimality, and how it got there."""

    theta: np.ndarray  # [k, q]
    violation: float
    n_iter: int
    losses: tuple[float, ...] = ()  # the objective after each step
    is_separable: bool = False  # no finite optimum: coefficients grow for ever
    curvature: np.ndarray | None = None  # of the loss, near the end


class Aim(msgspec.Struct, frozen=True):
    """When to stop: the violation that counts as converged, the one worth trying for, and the number of steps."""

    tol: float
    max_iter: int
    ideal: float
    most_old: float = 0  # steps by an old curvature: if fewer lead to the end, no new one is computed

    @classmethod
    def of(cls, tol: float, max_iter: int, penalty: Penalty) -> Aim:
        """With a small penalty, optimality is asked for in units of the penalty, down to what doubles can tell."""
        largest = max(penalty.ridge.max(initial=0.0), penalty.lasso.max(initial=0.0))
        return cls(tol, max_iter, max(1e-14, tol * float(np.clip(100 * largest, 1e-3, 1.0))))


def violations(slope: Slope, penalty: Penalty, theta: np.ndarray) -> np.ndarray:
    """How far each coefficient is from optimal: the smallest subgradient. [k, q]"""
    smooth = slope.gradient + penalty.ridge * theta
    away = np.abs(smooth + penalty.lasso * np.sign(theta))
    return np.where((theta == 0) & (penalty.lasso > 0), np.maximum(np.abs(smooth) - penalty.lasso, 0.0), away)


def value(slope: Slope, penalty: Penalty, theta: np.ndarray) -> float:
    """The objective."""
    return slope.loss + penalty.cost(theta)
