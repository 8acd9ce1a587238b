"""The held-out loss along a path of penalties, and the strengths that it speaks for."""

from __future__ import annotations

import msgspec
import numpy as np


class Curve(msgspec.Struct, frozen=True):
    """The held-out loss at each strength: mean over folds, its standard error, and the choices that follow."""

    lambdas: np.ndarray  # [n], falling
    fold_loss: np.ndarray  # [n_folds, n], of the rows that each fold holds out
    mean: np.ndarray  # [n]
    error: np.ndarray  # [n]
    best: int  # least mean loss
    one_se: int  # strongest penalty within one standard error of the best


def choose(lambdas: np.ndarray, fold_loss: np.ndarray, weight: np.ndarray) -> Curve:
    """The curve and its two choices: the least loss, and the strongest penalty within one standard error of it."""
    share = weight / weight.sum()
    mean = share @ fold_loss
    spread = share @ np.square(fold_loss - mean)
    error = np.sqrt(spread / max(len(fold_loss) - 1, 1))
    best = int(np.argmin(mean))
    return Curve(lambdas, fold_loss, mean, error, best, int(np.argmax(mean <= mean[best] + error[best])))
