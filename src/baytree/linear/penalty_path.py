"""Coefficients along a path of penalties, from the strongest to the weakest."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.linear.model import LinearModel


class Path(msgspec.Struct, frozen=True):
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


def path_of(lambdas: np.ndarray, total: float, models: list[LinearModel], names: list[str]) -> Path:
    """What the models along a path say in original units."""
    raw = [model.in_original_units() for model in models]
    return Path(
        np.asarray(lambdas, np.float64),
        1 / total / np.asarray(lambdas, np.float64),
        np.array([coefficient for coefficient, _ in raw]),
        np.array([intercept for _, intercept in raw]),
        np.array([model.weight for model in models]),
        tuple(names),
    )
