"""Likelihoods of a statistic with one row more or less, of many such rows at once: no statistic is added up or derived.

A row changes the moments of its class, and of its column over all classes, by amounts in closed form.

Leave-one-out of normal columns in closed form, from the moments alone.

Taking x away moves the mean of its class by (x − m)/(n − 1) and its sum of squares by (x − m)² n/(n − 1), and the same for
the column as a whole and for what varies within its classes.
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

_GONE = 1e-9  # of a column's sum of squares or of a class's weight: what is left is rounding

_LEAST_BETWEEN = 1e-12

Densities = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # mean, scale, degrees, height [n_classes, n_columns]


class NormalRowUpdate(NamedTuple):
    """Normal or Student densities after each change."""

    densities: Densities  # [n_changes, n_classes, n_columns] each
    is_hard: np.ndarray

    def add_scores(self, change: int, rows: Ready, scores: np.ndarray) -> None:
        """Adds the log-density of the columns of each matrix."""
        done = 0
        for matrix in rows:
            here = slice(done, done + matrix.shape[1])
            mean, scale, degrees, height = (np.ascontiguousarray(each[change][:, here]) for each in self.densities)
            _core.add_density_scores(matrix, mean, scale, degrees, height, scores)
            done += matrix.shape[1]


class LevelRowUpdate(NamedTuple):
    """The log-probability of each level after each change: of the class that changed, and of all others as before."""

    before: np.ndarray  # [n_levels, n_classes]
    after: np.ndarray  # [n_changes, n_levels]
    label: np.ndarray  # int [n_changes]
    is_hard: np.ndarray

    def add_scores(self, change: int, rows: Ready, scores: np.ndarray) -> None:
        """Adds the log-probability of each row's level."""
        table = self.before.copy()
        table[:, self.label[change]] = self.after[change]
        _core.add_level_scores(rows[0], table, scores)


def altered_normal(
    whole: StandardizedMoments, value: np.ndarray, label: np.ndarray, weight: np.ndarray, rule: LeaveOneOutRule
) -> NormalRowUpdate:
    """The densities after a row [n_changes, n_columns] of a class was added, or with a negative weight taken away."""
    at, known = np.arange(len(label)), ~np.isnan(value)
    x = np.where(known, (value - whole.centre) / whole.unit, 0.0)
    w = np.where(known, weight[:, None], 0.0)
    n, mean, squares = (
        np.repeat(each[None], len(label), axis=0) for each in (whole.n, whole.distance, whole.n * whole.spread)
    )
    total, all_squares = whole.n.sum(axis=0), whole.n.sum(axis=0) * ~whole.is_constant
    n[at, label], mean[at, label], squares[at, label] = _moved(n[at, label], mean[at, label], squares[at, label], x, w)
    total, centre, around = _moved(total, np.zeros_like(x), all_squares, x, w)
    is_hard = (around <= _GONE * all_squares) & (all_squares > 0)
    unit = np.sqrt(np.where(around > 0, around / np.maximum(total, 1e-300), 1.0))
    found = _parameters(n, (mean - centre[:, None]) / unit[:, None], squares / unit[:, None] ** 2, total, rule)
    constant = np.broadcast_to((around <= 0)[:, None], n.shape)  # tells nothing
    mean, variance, degrees = (np.where(constant, a, b) for a, b in zip((0.0, 1.0, np.inf), found, strict=True))
    place = whole.centre + whole.unit * (centre[:, None] + unit[:, None] * mean)
    scale = np.maximum(whole.unit * unit[:, None] * np.sqrt(variance), 1e-320)
    densities = place, scale, np.ascontiguousarray(degrees), _heights(scale, degrees)
    return NormalRowUpdate(densities, is_hard.any(axis=1))


def _moved(
    n: np.ndarray, mean: np.ndarray, squares: np.ndarray, x: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weight, mean and sum of squares once x was added with weight w."""
    after = n + w
    after = np.where(after <= _GONE * n, 0.0, after)
    share = np.divide(w, after, out=np.zeros_like(after), where=after > 0)
    apart = x - mean
    left = np.where(after > 0, np.maximum(squares + n * share * apart**2, 0.0), 0.0)
    return after, mean + share * apart, np.broadcast_to(left, after.shape)


def _parameters(
    n: np.ndarray, distance: np.ndarray, squares: np.ndarray, total: np.ndarray, rule: LeaveOneOutRule
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, variance and degrees of each class in units of the column, as `Gaussian` has them. [n_changes, n_classes, p]"""
    is_seen = n > 0
    plain = np.divide(squares, n, out=np.ones_like(n), where=is_seen)
    place, never = np.where(is_seen, distance, 0.0), np.full(n.shape, np.inf)
    if rule.estimate == "mle":
        return place, np.where(is_seen, np.maximum(plain, rule.floor), 1.0), never
    if rule.estimate == "raised":
        return place, np.where(is_seen, plain + np.maximum(rule.floor, 1e-300), 1.0), never
    free = np.maximum(total - is_seen.sum(axis=1), 0.0)
    within = ((squares.sum(axis=1) + 1) / (free + 1))[:, None]
    between = np.maximum((n * place**2).sum(axis=1) / np.maximum(total, 1.0), _LEAST_BETWEEN)[:, None]
    kappa = rule.alpha * within / between + n
    spread = 2 * rule.alpha * within + squares
    if rule.estimate == "map":
        return n / kappa * place, spread / (2 * rule.alpha + n + 2), never
    degrees = 2 * rule.alpha + np.maximum(n - 1, 0.0)
    return n / kappa * place, spread / degrees * (1 + 1 / kappa), degrees


def _heights(scale: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    flat = log_constants(scale.reshape(-1, scale.shape[-1]), degrees.reshape(-1, scale.shape[-1]))
    return flat.reshape(scale.shape)


class LeaveOneOutRule(NamedTuple):
    """How a density follows from the moments of the other rows."""

    estimate: str  # mle, map, bayes, or raised: the variance by a share of the column's
    alpha: float
    floor: float  # of the variance, or the share that is added to it


def add_left_out_densities(
    seen: Moments, columns: tuple[int, ...], table: Table, rule: LeaveOneOutRule, scores: np.ndarray
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

    with locate_infinite(table):
        by_rows(table, add)
