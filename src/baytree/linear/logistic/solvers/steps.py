"""A Newton step with |θ| in one call of the core."""

from __future__ import annotations

import numpy as np

from baytree import _core
from baytree.linear.logistic.solvers.objective import Penalty


def lasso_step(
    curvature: np.ndarray, penalty: Penalty, theta: np.ndarray, gradient: np.ndarray, near: float
) -> np.ndarray | None:
    """The step to within `near` of the minimum of a quadratic with |θ|; None where it takes eigenvectors to tell. [m]"""
    step = np.empty_like(theta)
    return step if _core.net_step(curvature, penalty.ridge, penalty.lasso, theta, gradient, near, step) else None
