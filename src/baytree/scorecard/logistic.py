"""Logistic regression with coefficients that are not negative, on grouped rows.

A card gives more points for better evidence, so no coefficient of a weight of evidence may be negative. Then the L1 penalty
is a linear term and the problem is smooth with bounds: each Newton step is a quadratic program over the positive orthant,
which an active set solves (Lawson and Hanson 1974).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_MAX_STEPS = 50

_TOLERANCE = 1e-9  # of the gradient of the mean loss, in units of one standard deviation

_HALVINGS = 30


class ScorecardRows(NamedTuple):
    """Evidence of groups of rows and the weight of each class: first the other class, then the good one."""

    x: np.ndarray  # [n_groups, n_columns]
    weight: np.ndarray  # [n_groups, 2]

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.weight.sum())

    def loss(self, theta: np.ndarray) -> float:
        """Mean log loss; theta has the intercept last."""
        score = self.x @ theta[:-1] + theta[-1]
        return float(self.weight[:, 0] @ np.logaddexp(0, score) + self.weight[:, 1] @ np.logaddexp(0, -score)) / self.total

    def derivatives(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and Hessian of the mean loss."""
        score = self.x @ theta[:-1] + theta[-1]
        probability = 0.5 * (1 + np.tanh(score / 2))
        total = self.weight.sum(axis=1)
        residual = (total * probability - self.weight[:, 1]) / self.total
        curvature = total * probability * (1 - probability) / self.total
        weighted = self.x * curvature[:, None]
        hessian = np.empty((len(theta), len(theta)))
        hessian[:-1, :-1] = self.x.T @ weighted
        hessian[-1, :-1] = hessian[:-1, -1] = weighted.sum(axis=0)
        hessian[-1, -1] = curvature.sum()
        return np.append(self.x.T @ residual, residual.sum()), hessian

    def deviations(self) -> np.ndarray:
        """Standard deviation of each column; 1 for a constant one."""
        share = self.weight.sum(axis=1) / self.total
        mean = share @ self.x
        variance = share @ (self.x - mean) ** 2
        return np.where(variance > 1e-20, np.sqrt(variance), 1.0)


def start_of(rows: ScorecardRows) -> np.ndarray:
    """Coefficients of 0 and the log-odds of all rows."""
    other, good = rows.weight.sum(axis=0)
    return np.append(np.zeros(rows.x.shape[1]), np.log(good / other))


def fit(rows: ScorecardRows, lasso: np.ndarray, ridge: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Coefficients ≥ 0 and the free intercept, last, that minimise loss + Σ lasso · b + Σ ridge · b² / 2."""
    linear, quadratic = np.append(lasso, 0.0), np.append(ridge, 0.0)
    unit = np.append(rows.deviations(), 1.0)

    def objective(theta: np.ndarray) -> float:
        return rows.loss(theta) + float(linear @ theta + quadratic @ theta**2 / 2)

    theta = start.copy()
    current = objective(theta)
    for _ in range(_MAX_STEPS):
        gradient, hessian = rows.derivatives(theta)
        gradient += linear + quadratic * theta
        hessian[np.diag_indices_from(hessian)] += quadratic + 1e-12 * unit**2
        if _violation(gradient / unit, theta) <= _TOLERANCE:
            break
        target = _positive_minimum(hessian, hessian @ theta - gradient, theta)
        step, length = target - theta, 1.0
        predicted = float(gradient @ step)
        for _ in range(_HALVINGS):
            value = objective(theta + length * step)
            if value <= current + 1e-4 * length * min(predicted, 0.0) + 1e-15:
                break
            length /= 2
        else:
            break
        theta, current = np.append(np.maximum(theta + length * step, 0.0)[:-1], theta[-1] + length * step[-1]), value
    return theta


def _violation(gradient: np.ndarray, theta: np.ndarray) -> float:
    """Largest violation of the optimality conditions."""
    at_bound = np.append(theta[:-1] <= 0, False)
    return float(np.where(at_bound, np.maximum(-gradient, 0.0), np.abs(gradient)).max())


def _positive_minimum(matrix: np.ndarray, vector: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Minimum of z'Mz/2 − v'z with all but the last element ≥ 0, by an active set."""
    n = len(vector)
    z = start.copy()
    is_free = np.append(z[:-1] > 0, True)
    scale = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    for _ in range(10 * n):
        while True:
            target = np.zeros(n)
            target[is_free] = np.linalg.solve(matrix[np.ix_(is_free, is_free)], vector[is_free])
            wrong = is_free & (target < 0)
            wrong[-1] = False
            if not wrong.any():
                break
            ratio = np.where(wrong, z / np.maximum(z - target, 1e-300), np.inf)
            length = float(ratio.min())
            z = z + length * (target - z)
            is_free &= ~(wrong & (ratio <= length))
            z[~is_free] = 0.0
        z = target
        pull = np.where(is_free, -np.inf, (vector - matrix @ z) / scale)
        if pull.max(initial=-np.inf) <= 1e-10:
            break
        is_free[int(np.argmax(pull))] = True
    return z
