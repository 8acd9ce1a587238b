"""Coefficients along a path of penalties, from the strongest to the weakest.

The held-out loss along a path of penalties, and the strengths that it speaks for.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.linear.linear_model import LinearModel


class RegularizationPath(msgspec.Struct, frozen=True):
    """Coefficients along a falling strength of the penalty."""

    lambdas: np.ndarray  # [n], falling
    Cs: np.ndarray  # [n], 1 / (n · λ)
    coef: np.ndarray  # [n, k, p], in original units
    intercept: np.ndarray  # [n, k]
    importance: np.ndarray  # [n, k, p], in standard units
    names: tuple[str, ...]  # [p]

    @property
    def n_kept(self) -> np.ndarray:
        """How many features have a coefficient that is not 0. [n]"""
        return (self.coef != 0).any(axis=1).sum(axis=1)


def path_of(lambdas: np.ndarray, total: float, models: list[LinearModel], names: list[str]) -> RegularizationPath:
    """What the models along a path say in original units."""
    raw = [model.in_original_units() for model in models]
    return RegularizationPath(
        np.asarray(lambdas, np.float64),
        1 / total / np.asarray(lambdas, np.float64),
        np.array([coefficient for coefficient, _ in raw]),
        np.array([intercept for _, intercept in raw]),
        np.array([model.weight for model in models]),
        tuple(names),
    )


class HeldOutLossCurve(msgspec.Struct, frozen=True):
    """The held-out loss at each strength: mean over folds, its standard error, and the choices that follow."""

    lambdas: np.ndarray  # [n], falling
    fold_loss: np.ndarray  # [n_folds, n], of the rows that each fold holds out
    mean: np.ndarray  # [n]
    error: np.ndarray  # [n]
    best: int  # least mean loss
    one_se: int  # strongest penalty within one standard error of the best


def choose(lambdas: np.ndarray, fold_loss: np.ndarray, weight: np.ndarray) -> HeldOutLossCurve:
    """The curve and its two choices: the least loss, and the strongest penalty within one standard error of it."""
    share = weight / weight.sum()
    mean = share @ fold_loss
    spread = share @ np.square(fold_loss - mean)
    error = np.sqrt(spread / max(len(fold_loss) - 1, 1))
    best = int(np.argmin(mean))
    return HeldOutLossCurve(lambdas, fold_loss, mean, error, best, int(np.argmax(mean <= mean[best] + error[best])))
