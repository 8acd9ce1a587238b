"""The path of solutions from the strongest penalty to the weakest, each starting where the last one ended."""

from __future__ import annotations

import numpy as np

from baytree.linear.logistic.fit import fit_task, strongest
from baytree.linear.logistic.objective import Aim, Fit
from baytree.linear.logistic.options import Options
from baytree.linear.logistic.task import Task, penalty_of, strength


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
