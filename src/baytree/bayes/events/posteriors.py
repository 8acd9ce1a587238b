"""What is expected of the logarithm of a probability, and its variance, under the posterior of its parameters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from baytree.limits.intervals import log_amount_moments

_FAR = 1e75  # deviations; fourth powers of what lies further away are no doubles


class NormalPosterior(NamedTuple):
    """Normal with unknown mean and variance: variance ~ ν s² / χ²(ν), mean given variance ~ N(m, variance / κ)."""

    mean: np.ndarray  # [n_classes, n_columns]
    squares: np.ndarray  # ν s²
    degrees: np.ndarray  # ν
    kappa: np.ndarray  # κ


def log_share_moments(amount: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the logarithms of shares under a Dirichlet with these amounts [n_levels, n_classes]: ψ(a) − ψ(A), ψ'(a) − ψ'(A)."""
    each, whole = log_amount_moments(amount), log_amount_moments(amount.sum(axis=0))
    return each[0] - whole[0], each[1] - whole[1]


def log_density_moments(x: np.ndarray, k: int, seen: NormalPosterior) -> tuple[np.ndarray, np.ndarray]:
    """Of the log-density of values [n_rows, n_columns] in class k, summed over columns; what is missing adds nothing.

    With z = (x − m) / s and u ~ χ²(ν) / ν it is ½ log u − ½ (z √u + ε / √κ)² and a constant: its mean and variance follow
    from E log u = ψ(ν/2) − log(ν/2), Var log u = ψ'(ν/2), Var u = Cov(log u, u) = 2/ν. [n_rows] each
    """
    from scipy.special import polygamma

    nu, kappa = seen.degrees[k], seen.kappa[k]
    spread = seen.squares[k] / nu
    z2 = np.square(np.clip((x - seen.mean[k]) / np.sqrt(spread), -_FAR, _FAR))
    mean = -0.5 * (np.log(spread) + _log_less_digamma(nu / 2)) - 0.5 * (z2 + 1 / kappa)
    of_square = z2**2 / (2 * nu) + z2 / kappa + 0.5 / kappa**2
    variance = polygamma(1, nu / 2) / 4 + of_square - z2 / nu
    return np.nansum(mean, axis=1), np.nansum(variance, axis=1)


def _log_less_digamma(x: np.ndarray) -> np.ndarray:
    """log x − ψ(x); for large x by its series, where the difference would cancel."""
    from scipy.special import digamma

    return np.where(x < 1e6, np.log(x) - digamma(np.minimum(x, 1e6)), 0.5 / x)
