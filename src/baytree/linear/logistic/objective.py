"""Objective of penalised logistic regression: mean loss + Σ ridge_j θ_j² / 2 + lasso_j |θ_j|, its gradient and KKT
violations.

θ has shape [k, q]: k scores (one for two classes), q features of which the last is the constant 1. Losses and gradients are
additive over rows. `Solution` is what every solver returns, `Tolerance` says when it stops.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core

_MAX_EXTRAPOLATION = 3.0  # in units of the last step along a path


class LossGradient(msgspec.Struct, frozen=True):
    """Mean loss, gradient and, if requested, Hessian; additive over rows."""

    loss: float
    gradient: np.ndarray  # [k, q]
    hessian: np.ndarray | None = None  # [k * q, k * q]

    def __add__(self, other: LossGradient) -> LossGradient:
        left, right = self.hessian, other.hessian
        hessian = None if left is None or right is None else left + right
        return LossGradient(self.loss + other.loss, self.gradient + other.gradient, hessian)


def losses(score: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """−log p of each row's own class [n], and the class probabilities [n, k]. score [n, k]"""
    if score.shape[1] == 1:
        z = score[:, 0]
        exponential = np.exp(-np.abs(z))
        loss = np.maximum(np.where(label == 1, -z, z), 0.0) + np.log1p(exponential)
        return loss, (np.where(z >= 0, 1.0, exponential) / (1 + exponential))[:, None]
    score = score - score.max(axis=1, keepdims=True)
    probability = np.exp(score)
    total = probability.sum(axis=1)
    loss = np.log(total) - score[np.arange(len(score)), label]
    return loss, probability / total[:, None]


def residuals(probability: np.ndarray, label: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """weight · (probability − one-hot label). [n, k]"""
    residual = probability.copy()
    if probability.shape[1] == 1:
        residual[:, 0] -= label
    else:
        residual[np.arange(len(label)), label] -= 1.0
    return residual * weight[:, None]


class Penalty(msgspec.Struct, frozen=True):
    """Ridge and lasso penalty of each feature's coefficients; the constant, last, is normally not penalised."""

    ridge: np.ndarray  # float64 [q]
    lasso: np.ndarray  # float64 [q]

    @property
    def is_smooth(self) -> bool:
        """Whether there is no L1 penalty."""
        return not self.lasso.any()

    @property
    def is_none(self) -> bool:
        """Whether nothing is penalised."""
        return self.is_smooth and not self.ridge.any()

    def cost(self, theta: np.ndarray) -> float:
        """Penalty of these coefficients. theta [k, q]"""
        return float((self.ridge * theta**2).sum() / 2 + (self.lasso * np.abs(theta)).sum())

    def take(self, features: np.ndarray) -> Penalty:
        """Penalty of some of the features."""
        return Penalty(self.ridge[features], self.lasso[features])


class Solution(msgspec.Struct, frozen=True):
    """Result of a solver: coefficients, largest KKT violation and diagnostics."""

    theta: np.ndarray  # [k, q]
    kkt_violation: float
    n_iter: int
    losses: tuple[float, ...] = ()  # the objective after each step
    is_separable: bool = False  # no finite optimum: coefficients diverge
    hessian: np.ndarray | None = None  # Hessian of the loss near the optimum


class Start(msgspec.Struct, frozen=True):
    """Where a solver starts, and what is known of the Hessian from nearby problems."""

    theta: np.ndarray  # [k, q]
    others: tuple[np.ndarray, ...] = ()  # [k, q] each; the core takes the best of all
    hessian: np.ndarray | None = None  # for `newton`
    preconditioner: _core.Preconditioner | None = None  # for the core

    @classmethod
    def at(cls, fit: Solution) -> Start:
        """The solution of a nearby problem."""
        return cls(fit.theta, (), fit.hessian)


class Tolerance(msgspec.Struct, frozen=True):
    """Stopping rule: the violation that counts as converged, the target worth trying for, and the maximum number of
    steps.
    """

    tol: float
    max_iter: int
    target_tol: float
    most_old: float = 0  # keep the old Hessian if at most that many steps with it are expected to reach the target

    @classmethod
    def of(cls, tol: float, max_iter: int, penalty: Penalty) -> Tolerance:
        """Tolerance for a penalty: with a small penalty the target is relative to it, down to the precision of doubles."""
        largest = max(penalty.ridge.max(initial=0.0), penalty.lasso.max(initial=0.0))
        return cls(tol, max_iter, max(1e-14, tol * float(np.clip(100 * largest, 1e-3, 1.0))))


def violations(slope: LossGradient, penalty: Penalty, theta: np.ndarray) -> np.ndarray:
    """KKT violation of each coefficient: absolute value of the smallest subgradient. [k, q]"""
    smooth_gradient = slope.gradient + penalty.ridge * theta
    nonzero_violation = np.abs(smooth_gradient + penalty.lasso * np.sign(theta))
    return np.where(
        (theta == 0) & (penalty.lasso > 0), np.maximum(np.abs(smooth_gradient) - penalty.lasso, 0.0), nonzero_violation
    )


def value(slope: LossGradient, penalty: Penalty, theta: np.ndarray) -> float:
    """Value of the objective."""
    return slope.loss + penalty.cost(theta)


def extrapolate(lambdas: np.ndarray, fits: list[Solution], penalty: Penalty) -> tuple[np.ndarray, ...]:
    """Guess of the next solution along a path from the last two, linear in log λ; none if there are fewer. [k, q]

    `lambdas` begin with those of the fits and the next one. If the classes are separable, coefficients grow in proportion to
    −log λ. With an L1 penalty, coefficients that would change sign become 0.
    """
    if len(fits) < 2:
        return ()
    before, last, following = np.log(lambdas[len(fits) - 2 : len(fits) + 1])
    if last == before:
        return ()
    theta = fits[-1].theta
    guess = theta + min((following - last) / (last - before), _MAX_EXTRAPOLATION) * (theta - fits[-2].theta)
    return (guess if penalty.is_smooth else np.where(guess * theta > 0, guess, 0.0),)
