"""The path of solutions from the strongest penalty to the weakest, each starting where the last one ended."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.linear.logistic.fit import fit_task, strongest
from baytree.linear.logistic.objective import Aim, Fit
from baytree.linear.logistic.options import Options
from baytree.linear.logistic.task import Task, penalty_of, strength
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


def lambdas_to(task: Task, options: Options, count: int) -> np.ndarray:
    """Falling strengths, evenly apart in logs, from the one that keeps no column to the user's own."""
    top, end = strongest(task, options), strength(task, options)
    return np.geomspace(top, end, count) if 0 < end < top and count > 1 else np.array([end])


def fits_along(task: Task, options: Options, lambdas: np.ndarray) -> list[Fit]:
    """The solution at each strength to within `tol`, warm-started by the one before."""
    fits: list[Fit] = []
    aim = Aim(options.tol, options.max_iter, options.tol)
    for lambda_ in lambdas:
        penalty = penalty_of(task, options, float(lambda_))
        fits.append(fit_task(task, options, penalty, fits[-1] if fits else None, aim))
    return fits


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
