"""Regularization path: coefficients at each penalty strength λ, and the choice of λ by held-out loss.

`path_of` collects the models of a path in original units. `choose` finds the λ of minimum mean held-out loss and the
strongest penalty within one standard error of it (the one-standard-error rule, Breiman et al. 1984).
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.linear.linear_model import LinearModel


class RegularizationPath(msgspec.Struct, frozen=True):
    """Coefficients at decreasing penalty strengths."""

    lambdas: np.ndarray  # [n], falling
    Cs: np.ndarray  # [n], 1 / (n · λ)
    coef: np.ndarray  # [n, k, p], in original units
    intercept: np.ndarray  # [n, k]
    importance: np.ndarray  # [n, k, p], in standard units
    names: tuple[str, ...]  # [p]

    @property
    def n_kept(self) -> np.ndarray:
        """Number of features with a non-zero coefficient at each λ. int [n]"""
        return (self.coef != 0).any(axis=1).sum(axis=1)


def path_of(lambdas: np.ndarray, total: float, models: list[LinearModel], names: list[str]) -> RegularizationPath:
    """Regularization path of the models fitted at `lambdas`; `total` is the sum of the weights, used for C = 1 / (n · λ)."""
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
    """Held-out loss at each λ: mean over folds, its standard error, and the chosen indices."""

    lambdas: np.ndarray  # [n], falling
    fold_loss: np.ndarray  # mean loss of the rows that the fold holds out
    mean: np.ndarray  # [n]
    error: np.ndarray  # [n]
    best: int  # index of the minimum mean loss
    one_se: int  # index of the strongest penalty within one standard error of the best


def choose(lambdas: np.ndarray, fold_loss: np.ndarray, weight: np.ndarray) -> HeldOutLossCurve:
    """Loss curve with the λ of minimum mean loss and the strongest λ within one standard error of it. Folds count by their
    weight.
    """
    fold_weight = weight / weight.sum()
    mean = fold_weight @ fold_loss
    variance = fold_weight @ np.square(fold_loss - mean)
    standard_error = np.sqrt(variance / max(len(fold_loss) - 1, 1))
    best = int(np.argmin(mean))
    return HeldOutLossCurve(
        lambdas, fold_loss, mean, standard_error, best, int(np.argmax(mean <= mean[best] + standard_error[best]))
    )
