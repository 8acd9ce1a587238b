"""Closed-form likelihoods with one row more or less, without recomputing the statistic.

Adding x with weight w changes the weight, mean and sum of squares of its class, and of the column over all classes; removing
it (w = −1) moves the mean by (m − x)/(n − 1) and the sum of squares by −(x − m)² n/(n − 1). `NormalRowUpdate` and
`LevelRowUpdate` are the likelihoods after each of many changes, `add_left_out_densities` computes leave-one-out densities.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from baytree import _core
from baytree.data.encoding.matrices import matrices
from baytree.data.encoding.table import Table
from baytree.engine.partitions import by_rows
from baytree.naive_bayes.events.base import Ready
from baytree.naive_bayes.events.estimation import locate_infinite
from baytree.naive_bayes.events.normal import StandardizedMoments, in_units, log_constants
from baytree.statistics.exact_sum import bounded
from baytree.statistics.moments import Moments

_ROUNDING_TOLERANCE = 1e-9  # fraction of a sum of squares or weight below which the remainder is rounding error

_MIN_BETWEEN = 1e-12

Densities = tuple[
    np.ndarray, np.ndarray, np.ndarray, np.ndarray
]  # mean, scale, degrees, log-height, each [n_classes, n_columns]


class NormalRowUpdate(NamedTuple):
    """Normal or Student-t densities after each change."""

    densities: Densities  # [n_changes, n_classes, n_columns] each
    is_hard: np.ndarray

    def add_scores(self, change: int, rows: Ready, scores: np.ndarray) -> None:
        """Add the log-density of the columns of each matrix."""
        first = 0
        for matrix in rows:
            part = slice(first, first + matrix.shape[1])
            mean, scale, degrees, height = (np.ascontiguousarray(each[change][:, part]) for each in self.densities)
            _core.add_density_scores(matrix, mean, scale, degrees, height, scores)
            first += matrix.shape[1]


class LevelRowUpdate(NamedTuple):
    """Log-probability of each level after each change: new for the class that changed, as before for the others."""

    before: np.ndarray  # [n_levels, n_classes]
    after: np.ndarray  # [n_changes, n_levels]
    label: np.ndarray  # int [n_changes]
    is_hard: np.ndarray

    def add_scores(self, change: int, rows: Ready, scores: np.ndarray) -> None:
        """Add the log-probability of each row's level."""
        table = self.before.copy()
        table[:, self.label[change]] = self.after[change]
        _core.add_level_scores(rows[0], table, scores)


def altered_normal(
    moments: StandardizedMoments, value: np.ndarray, label: np.ndarray, weight: np.ndarray, rule: LeaveOneOutRule
) -> NormalRowUpdate:
    """Densities after each row [n_changes, n_columns] is added, or removed if its weight is negative."""
    index, known = np.arange(len(label)), ~np.isnan(value)
    x = np.where(known, (value - moments.centre) / moments.unit, 0.0)
    w = np.where(known, weight[:, None], 0.0)
    n, mean, squares = (
        np.repeat(each[None], len(label), axis=0) for each in (moments.n, moments.distance, moments.n * moments.spread)
    )
    total, sum_of_squares = moments.n.sum(axis=0), moments.n.sum(axis=0) * ~moments.is_constant
    n[index, label], mean[index, label], squares[index, label] = _updated_moments(
        n[index, label], mean[index, label], squares[index, label], x, w
    )
    total, centre, total_squares = _updated_moments(total, np.zeros_like(x), sum_of_squares, x, w)
    is_hard = (total_squares <= _ROUNDING_TOLERANCE * sum_of_squares) & (sum_of_squares > 0)
    unit = np.sqrt(np.where(total_squares > 0, total_squares / np.maximum(total, 1e-300), 1.0))
    parameters = _parameters(n, (mean - centre[:, None]) / unit[:, None], squares / unit[:, None] ** 2, total, rule)
    constant = np.broadcast_to((total_squares <= 0)[:, None], n.shape)  # uninformative
    mean, variance, degrees = (np.where(constant, a, b) for a, b in zip((0.0, 1.0, np.inf), parameters, strict=True))
    location = moments.centre + moments.unit * (centre[:, None] + unit[:, None] * mean)
    scale = np.maximum(moments.unit * unit[:, None] * np.sqrt(variance), 1e-320)
    densities = location, scale, np.ascontiguousarray(degrees), _heights(scale, degrees)
    return NormalRowUpdate(densities, is_hard.any(axis=1))


def _updated_moments(
    n: np.ndarray, mean: np.ndarray, squares: np.ndarray, x: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weight, mean and sum of squares after adding x with weight w."""
    after = n + w
    after = np.where(after <= _ROUNDING_TOLERANCE * n, 0.0, after)
    fraction = np.divide(w, after, out=np.zeros_like(after), where=after > 0)
    deviation = x - mean
    updated_squares = np.where(after > 0, np.maximum(squares + n * fraction * deviation**2, 0.0), 0.0)
    return after, mean + fraction * deviation, np.broadcast_to(updated_squares, after.shape)


def _parameters(
    n: np.ndarray, distance: np.ndarray, squares: np.ndarray, total: np.ndarray, rule: LeaveOneOutRule
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, variance and degrees of freedom in units of the column, as in `Gaussian`: [n_changes, n_classes, n_columns]."""
    is_observed = n > 0
    variance = np.divide(squares, n, out=np.ones_like(n), where=is_observed)
    mean, infinite = np.where(is_observed, distance, 0.0), np.full(n.shape, np.inf)
    if rule.estimate == "mle":
        return mean, np.where(is_observed, np.maximum(variance, rule.floor), 1.0), infinite
    if rule.estimate == "raised":
        return mean, np.where(is_observed, variance + np.maximum(rule.floor, 1e-300), 1.0), infinite
    residual_degrees = np.maximum(total - is_observed.sum(axis=1), 0.0)
    within = ((squares.sum(axis=1) + 1) / (residual_degrees + 1))[:, None]
    between = np.maximum((n * mean**2).sum(axis=1) / np.maximum(total, 1.0), _MIN_BETWEEN)[:, None]
    kappa = rule.alpha * within / between + n
    sum_of_squares = 2 * rule.alpha * within + squares
    if rule.estimate == "map":
        return n / kappa * mean, sum_of_squares / (2 * rule.alpha + n + 2), infinite
    degrees = 2 * rule.alpha + np.maximum(n - 1, 0.0)
    return n / kappa * mean, sum_of_squares / degrees * (1 + 1 / kappa), degrees


def _heights(scale: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    flat = log_constants(scale.reshape(-1, scale.shape[-1]), degrees.reshape(-1, scale.shape[-1]))
    return flat.reshape(scale.shape)


class LeaveOneOutRule(NamedTuple):
    """How the density of a row follows from the moments of the other rows."""

    estimate: str  # mle, map, bayes, or raised (smoothed variance)
    alpha: float
    floor: float  # minimum variance, or the fraction added to it


def add_left_out_densities(
    statistic: Moments, columns: tuple[int, ...], table: Table, rule: LeaveOneOutRule, scores: np.ndarray
) -> None:
    """Add the log-density of each row, by the moments of all other rows, to its scores."""
    pooled = statistic.pooled()
    centre, unit = np.nan_to_num(pooled.mean()[0]), np.nan_to_num(pooled.deviation()[0])
    n, exponent = bounded(statistic.weight)
    varies = unit > 0  # constant columns contribute nothing, as in `derive`
    columns = tuple(column for column, is_used in zip(columns, varies.tolist(), strict=True) if is_used)
    n, centre, unit = n[:, varies], centre[varies], unit[varies]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = in_units(statistic.mean()[:, varies], centre, unit)
        squares = n * np.nan_to_num(statistic.deviation()[:, varies] / unit) ** 2
    weight = np.empty(0) if table.is_unweighted else np.ldexp(table.weight, -exponent)
    cells = n, mean, squares, centre, unit
    settings = rule.estimate, float(np.ldexp(rule.alpha, -exponent)), rule.floor, float(np.ldexp(1.0, -exponent))

    def add(part: Table, first: int, last: int) -> None:
        offset = 0
        for matrix in matrices(part, columns):
            block = slice(offset, offset + matrix.shape[1])
            rows = matrix, np.ascontiguousarray(part.label), weight[first:last]
            counts, means, spreads, middle, units = (np.ascontiguousarray(a[..., block]) for a in cells)
            _core.add_left_out_scores(*rows, counts, means, spreads, middle, units, *settings, scores[first:last])
            offset += matrix.shape[1]

    with locate_infinite(table):
        by_rows(table, add)
