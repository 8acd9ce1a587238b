"""The loss of logistic regression: of rows under their scores, and what it says about coefficients. It adds up over rows.

The objective of penalised logistic regression: mean loss + Σ ridge_j θ_j² / 2 + lasso_j |θ_j|, and its optimality.
"""

from __future__ import annotations

import msgspec
import numpy as np


class LossGradient(msgspec.Struct, frozen=True):
    """Mean loss, its gradient and, where it is asked for, its curvature. A sum over rows."""

    loss: float
    gradient: np.ndarray  # [k, q]
    hessian: np.ndarray | None = None  # [k * q, k * q]

    def __add__(self, other: LossGradient) -> LossGradient:
        mine, theirs = self.hessian, other.hessian
        curvature = None if mine is None or theirs is None else mine + theirs
        return LossGradient(self.loss + other.loss, self.gradient + other.gradient, curvature)


def losses(score: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """−log share of each row's own class, and the shares. score [n, k] → [n], [n, k]"""
    if score.shape[1] == 1:
        z = score[:, 0]
        small = np.exp(-np.abs(z))
        loss = np.maximum(np.where(label == 1, -z, z), 0.0) + np.log1p(small)
        return loss, (np.where(z >= 0, 1.0, small) / (1 + small))[:, None]
    score = score - score.max(axis=1, keepdims=True)
    share = np.exp(score)
    total = share.sum(axis=1)
    loss = np.log(total) - score[np.arange(len(score)), label]
    return loss, share / total[:, None]


def residuals(share: np.ndarray, label: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """weight · (share − truth). [n, k]"""
    residual = share.copy()
    if share.shape[1] == 1:
        residual[:, 0] -= label
    else:
        residual[np.arange(len(label)), label] -= 1.0
    return residual * weight[:, None]


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


class Solution(msgspec.Struct, frozen=True):
    """What a solver reached: coefficients, the largest violation of optimality, and how it got there."""

    theta: np.ndarray  # [k, q]
    kkt_violation: float
    n_iter: int
    losses: tuple[float, ...] = ()  # the objective after each step
    is_separable: bool = False  # no finite optimum: coefficients grow for ever
    hessian: np.ndarray | None = None  # of the loss, near the end


class Tolerance(msgspec.Struct, frozen=True):
    """When to stop: the violation that counts as converged, the one worth trying for, and the number of steps."""

    tol: float
    max_iter: int
    target_tol: float
    most_old: float = 0  # steps by an old curvature: if fewer lead to the end, no new one is computed

    @classmethod
    def of(cls, tol: float, max_iter: int, penalty: Penalty) -> Tolerance:
        """With a small penalty, optimality is asked for in units of the penalty, down to what doubles can tell."""
        largest = max(penalty.ridge.max(initial=0.0), penalty.lasso.max(initial=0.0))
        return cls(tol, max_iter, max(1e-14, tol * float(np.clip(100 * largest, 1e-3, 1.0))))


def violations(slope: LossGradient, penalty: Penalty, theta: np.ndarray) -> np.ndarray:
    """How far each coefficient is from optimal: the smallest subgradient. [k, q]"""
    smooth = slope.gradient + penalty.ridge * theta
    away = np.abs(smooth + penalty.lasso * np.sign(theta))
    return np.where((theta == 0) & (penalty.lasso > 0), np.maximum(np.abs(smooth) - penalty.lasso, 0.0), away)


def value(slope: LossGradient, penalty: Penalty, theta: np.ndarray) -> float:
    """The objective."""
    return slope.loss + penalty.cost(theta)
