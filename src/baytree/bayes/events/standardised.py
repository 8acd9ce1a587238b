"""Moments in units near their size, so that squares of large and of small numbers stay within the doubles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from baytree.bayes.events.left_out_normal import in_units
from baytree.statistics.exact import bounded
from baytree.statistics.moments import Moments

SMALLEST = float(np.finfo(np.float64).smallest_subnormal)


class Standardised(NamedTuple):
    """The moments of columns in their own units: the mean and the standard deviation over all classes."""

    n: np.ndarray  # [n_classes, n_columns], times 2^−exponent
    distance: np.ndarray  # [n_classes, n_columns]: of the mean from the centre
    spread: np.ndarray  # [n_classes, n_columns]: the variance, divisor n
    centre: np.ndarray  # [n_columns]
    unit: np.ndarray  # [n_columns]
    exponent: int
    is_constant: np.ndarray  # bool [n_columns]

    @classmethod
    def of(cls, seen: Moments) -> Standardised:
        """In the units of the columns; a constant column has something small beside it as its unit."""
        centre, deviation = np.nan_to_num(seen.mean_of_all()), seen.deviation_of_all()
        unit = _units(centre, np.nan_to_num(deviation))
        n, exponent = bounded(seen.weight)
        with np.errstate(over="ignore", invalid="ignore"):
            distance = in_units(seen.mean(), centre, unit)
            spread = np.nan_to_num(seen.deviation() / unit) ** 2
        return cls(n, distance, spread, centre, unit, exponent, deviation == 0)


def power_of_two(exponent: int) -> np.ndarray:
    """m₀ is a place, not a weight: it stays where weights are scaled."""
    return np.array([[0], [-exponent], [-exponent], [-exponent]])


def _units(centre: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """The standard deviation of each column over all classes; for a constant column something small beside it."""
    return np.maximum(np.where(deviation > 0, deviation, np.abs(centre) * 2.0**-40), SMALLEST)
