"""Leave-one-out of normal columns in closed form, from the moments alone.

Taking x away moves the mean of its class by (x − m)/(n − 1) and its sum of squares by (x − m)² n/(n − 1), and the same for
the column as a whole and for what varies within its classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from baytree import _core
from baytree.bayes.estimation import refusing_infinite
from baytree.engine.parts import by_rows
from baytree.statistics.exact import bounded
from baytree.statistics.moments import Moments
from baytree.table.matrices import matrices
from baytree.table.table import Table


class LeftOutRule(NamedTuple):
    """How a density follows from the moments of the other rows."""

    estimate: str  # mle, map, bayes, or raised: the variance by a share of the column's
    alpha: float
    floor: float  # of the variance, or the share that is added to it


def add_left_out_densities(
    seen: Moments, columns: tuple[int, ...], table: Table, rule: LeftOutRule, scores: np.ndarray
) -> None:
    """Adds the log-density of each row by the moments of all others to its scores."""
    pooled = seen.pooled()
    centre, unit = np.nan_to_num(pooled.mean()[0]), np.nan_to_num(pooled.deviation()[0])
    n, exponent = bounded(seen.weight)
    varies = unit > 0  # a constant column adds nothing, as in `derive`
    columns = tuple(column for column, is_told in zip(columns, varies.tolist(), strict=True) if is_told)
    n, centre, unit = n[:, varies], centre[varies], unit[varies]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = in_units(seen.mean()[:, varies], centre, unit)
        squares = n * np.nan_to_num(seen.deviation()[:, varies] / unit) ** 2
    weight = np.empty(0) if table.is_unweighted else np.ldexp(table.weight, -exponent)
    cells = n, mean, squares, centre, unit
    setting = rule.estimate, float(np.ldexp(rule.alpha, -exponent)), rule.floor, float(np.ldexp(1.0, -exponent))

    def add(part: Table, first: int, last: int) -> None:
        done = 0
        for matrix in matrices(part, columns):
            here = slice(done, done + matrix.shape[1])
            rows = matrix, np.ascontiguousarray(part.label), weight[first:last]
            counts, means, spreads, middle, units = (np.ascontiguousarray(a[..., here]) for a in cells)
            _core.add_left_out_scores(*rows, counts, means, spreads, middle, units, *setting, scores[first:last])
            done += matrix.shape[1]

    with refusing_infinite(table):
        by_rows(table, add)


def in_units(mean: np.ndarray, centre: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """How far means lie from a centre, in units of their column; 0 where there is no mean."""
    with np.errstate(over="ignore", invalid="ignore"):
        distance = (mean - centre) / unit
        if np.isfinite(distance).all():
            return distance
        halved = 2 * ((mean / 2 - centre / 2) / unit)  # the distance of two doubles may be none itself
    return np.nan_to_num(np.where(np.isfinite(distance), distance, halved))
