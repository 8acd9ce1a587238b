"""Normal and Student-t likelihoods, posterior moments of log-densities, and standardised moments.

Means and variances are kept in units of each column's standard deviation, so that squares of very large or small numbers
neither overflow nor underflow.
"""

from __future__ import annotations

from functools import lru_cache
from math import lgamma
from typing import NamedTuple

import numpy as np

from baytree import _core
from baytree.data.encoding.matrices import matrices
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.formula.builder import Effects, FormulaBuilder, numbers, where_known
from baytree.formula.expressions import LogDensity, Number
from baytree.naive_bayes.events.base import ColumnsLikelihood, check_numeric
from baytree.statistics.exact_sum import bounded
from baytree.statistics.moments import Moments
from baytree.summary.naive_bayes import Normal
from baytree.uncertainty.intervals import log_amount_moments

_MAX_CACHED = 4096  # densities; constants of smaller models are cached


class NormalLikelihood(ColumnsLikelihood, frozen=True, tag="normal"):
    """Normal or Student-t densities of numeric columns; infinite degrees of freedom mean normal."""

    mean: np.ndarray  # [n_classes, n_columns]
    scale: np.ndarray  # [n_classes, n_columns], positive
    degrees: np.ndarray  # [n_classes, n_columns], positive

    def __post_init__(self) -> None:
        check_moments(self.columns, self.mean, self.scale, self.degrees)

    def variance(self) -> np.ndarray:
        """Variance of each density, infinite for two degrees of freedom or fewer. float64 [n_classes, n_columns]"""
        with np.errstate(divide="ignore", invalid="ignore"):
            inflation = np.where(np.isinf(self.degrees), 1.0, self.degrees / (self.degrees - 2))
        return np.where(self.degrees > 2, np.square(self.scale) * inflation, np.inf)

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the columns are numeric and every class has its densities."""
        check_numeric(self.columns, self.mean.shape[0], schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Add each row's log-density to its scores [n_rows, n_classes]; missing values contribute nothing."""
        constant = log_constants(self.scale, self.degrees)
        first = 0
        for matrix in matrices(table, self.columns):
            part = slice(first, first + matrix.shape[1])
            self._add(matrix, part, constant, scores)
            first += matrix.shape[1]

    def effects(self, table: Table) -> list[np.ndarray]:
        """Contribution of each column to the scores: a list of float64 [n_rows, n_classes]."""
        constant = log_constants(self.scale, self.degrees)
        return [self._effect(table.values[j], k, constant) for k, j in enumerate(self.columns)]

    def _effect(self, values: np.ndarray, k: int, constant: np.ndarray) -> np.ndarray:
        scores = np.zeros((len(values), len(self.mean)))
        self._add(values.reshape(-1, 1), slice(k, k + 1), constant, scores)
        return scores

    def _add(self, matrix: np.ndarray, part: slice, constant: np.ndarray, scores: np.ndarray) -> None:
        densities = (np.ascontiguousarray(a[:, part]) for a in (self.mean, self.scale, self.degrees, constant))
        mean, scale, degrees, height = densities
        _core.add_density_scores(matrix, mean, scale, degrees, height, scores)

    def formula(self, steps: FormulaBuilder) -> Effects:
        """log p(x | c) of each column, as an expression."""
        constant = log_constants(self.scale, self.degrees)
        columns = zip(self.columns, *(of.T for of in (self.mean, self.scale, self.degrees, constant)), strict=True)
        return [(j, where_known(j, LogDensity(Number(j), *map(numbers, of)), len(self.mean))) for j, *of in columns]

    def summary(self, schema: Schema) -> list[Normal]:
        """Mean and scale of each column in each class."""
        return normals(self.columns, self.mean, self.scale, schema)

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Mean, scale and degrees of freedom in each class."""
        k = self.columns.index(column)
        return ["mean", "scale", "degrees"], np.stack([self.mean[:, k], self.scale[:, k], self.degrees[:, k]])

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """Random values of each column for each row, given its class."""
        samples = []
        for k in range(len(self.columns)):
            degrees = self.degrees[label, k]
            deviate = random.standard_normal(len(label))
            finite = degrees < 1e300  # above, a Student t equals the normal to the last bit
            ratio = random.chisquare(np.where(finite, degrees, 1.0)) / np.where(finite, degrees, 1.0)
            deviate = np.where(finite, deviate / np.sqrt(np.maximum(ratio, 1e-300)), deviate)
            samples.append(self.mean[label, k] + self.scale[label, k] * deviate)
        return samples


def check_moments(columns: tuple[int, ...], mean: np.ndarray, *positive: np.ndarray) -> None:
    """Raise ValueError unless every class and column has a finite mean and the other arrays are positive."""
    for array in (mean, *positive):
        if array.dtype != np.float64 or array.ndim != 2 or array.shape[1] != len(columns):
            raise ValueError("a normal likelihood needs one mean, scale and degree per class and column")
        if array.shape != mean.shape:
            raise ValueError("the arrays of a normal likelihood differ in shape")
    if not (np.isfinite(mean).all() and all((array > 0).all() for array in positive)):
        raise ValueError("a normal likelihood needs finite means, positive scales and positive degrees")


def normals(columns: tuple[int, ...], mean: np.ndarray, scale: np.ndarray, schema: Schema) -> list[Normal]:
    """One record per column: mean and scale in each class."""
    rows = zip((schema.columns[j] for j in columns), mean.T.tolist(), scale.T.tolist(), strict=True)
    return [Normal(column.name, tuple(means), tuple(scales), column.unit) for column, means, scales in rows]


def log_constants(scale: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Logarithm of each density at its centre."""
    if scale.size > _MAX_CACHED:
        return _log_constants(scale, degrees)
    return _cached_log_constants(scale.tobytes(), degrees.tobytes(), scale.shape)


@lru_cache(maxsize=64)
def _cached_log_constants(scale: bytes, degrees: bytes, shape: tuple[int, ...]) -> np.ndarray:
    """Constants of small models, for which computing them takes longer than predicting a row."""
    constants = _log_constants(*(np.frombuffer(buffer).reshape(shape) for buffer in (scale, degrees)))
    constants.flags.writeable = False
    return constants


def _log_constants(scale: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    normal = -0.5 * np.log(2 * np.pi) - np.log(scale)
    finite = degrees < 1e300  # above, a Student t equals the normal to the last bit
    if not finite.any():
        return normal
    nu = np.where(finite, degrees, 1.0)
    student = log_gamma_ratio(nu) - 0.5 * np.log(np.pi * nu) - np.log(scale)
    return np.where(finite, student, normal)


def log_gamma_ratio(nu: np.ndarray) -> np.ndarray:
    """log Γ((ν + 1)/2) − log Γ(ν/2), without scipy, which prediction must not import."""
    distinct, index = np.unique(nu, return_inverse=True)
    return np.array([_log_gamma_step(value / 2) for value in distinct.tolist()])[index].reshape(np.shape(nu))


def _log_gamma_step(x: float) -> float:
    """log Γ(x + ½) − log Γ(x); for large x its series, because the difference would cancel."""
    if x < 1e4:
        return lgamma(x + 0.5) - lgamma(x)
    return 0.5 * np.log(x) - 1 / (8 * x) + 1 / (192 * x) / x / x


_MAX_Z = 1e75  # standard deviations; fourth powers of larger distances overflow


class NormalPosterior(NamedTuple):
    """Normal with unknown mean and variance: variance ~ ν s² / χ²(ν), mean given variance ~ N(m, variance / κ)."""

    mean: np.ndarray  # [n_classes, n_columns]
    squares: np.ndarray  # ν s²
    degrees: np.ndarray  # ν
    kappa: np.ndarray  # κ


def log_proportion_moments(amount: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean ψ(a) − ψ(A) and variance ψ'(a) − ψ'(A) of log-probabilities under a Dirichlet(amount): [n_levels, n_classes]."""
    levels, total = log_amount_moments(amount), log_amount_moments(amount.sum(axis=0))
    return levels[0] - total[0], levels[1] - total[1]


def log_density_moments(x: np.ndarray, k: int, statistic: NormalPosterior) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance [n_rows] of the log-density of rows [n_rows, n_columns] in class k, summed over columns.

    With z = (x − m) / s and u ~ χ²(ν) / ν it is ½ log u − ½ (z √u + ε / √κ)² + constant. Mean and variance follow from
    E log u = ψ(ν/2) − log(ν/2), Var log u = ψ'(ν/2), Var u = Cov(log u, u) = 2/ν. Missing values contribute nothing.
    """
    from scipy.special import polygamma

    nu, kappa = statistic.degrees[k], statistic.kappa[k]
    scale2 = statistic.squares[k] / nu
    z2 = np.square(np.clip((x - statistic.mean[k]) / np.sqrt(scale2), -_MAX_Z, _MAX_Z))
    mean = -0.5 * (np.log(scale2) + _log_less_digamma(nu / 2)) - 0.5 * (z2 + 1 / kappa)
    square_variance = z2**2 / (2 * nu) + z2 / kappa + 0.5 / kappa**2
    variance = polygamma(1, nu / 2) / 4 + square_variance - z2 / nu
    return np.nansum(mean, axis=1), np.nansum(variance, axis=1)


def _log_less_digamma(x: np.ndarray) -> np.ndarray:
    """log x − ψ(x); for large x its series, because the difference would cancel."""
    from scipy.special import digamma

    return np.where(x < 1e6, np.log(x) - digamma(np.minimum(x, 1e6)), 0.5 / x)


SMALLEST = float(np.finfo(np.float64).smallest_subnormal)


class StandardizedMoments(NamedTuple):
    """Moments in units of each column: distance from the mean, in standard deviations over all classes."""

    n: np.ndarray  # [n_classes, n_columns], weight times 2^−exponent
    distance: np.ndarray  # [n_classes, n_columns], class mean minus centre
    spread: np.ndarray  # [n_classes, n_columns], variance with divisor n
    centre: np.ndarray  # [n_columns]
    unit: np.ndarray  # [n_columns]
    exponent: int
    is_constant: np.ndarray  # bool [n_columns]

    @classmethod
    def of(cls, statistic: Moments) -> StandardizedMoments:
        """Standardise moments; the unit of a constant column is a tiny fraction of its value."""
        centre, deviation = np.nan_to_num(statistic.mean_of_all()), statistic.deviation_of_all()
        unit = _units(centre, np.nan_to_num(deviation))
        n, exponent = bounded(statistic.weight)
        with np.errstate(over="ignore", invalid="ignore"):
            distance = in_units(statistic.mean(), centre, unit)
            spread = np.nan_to_num(statistic.deviation() / unit) ** 2
        return cls(n, distance, spread, centre, unit, exponent, deviation == 0)


def power_of_two(exponent: int) -> np.ndarray:
    """Exponents of two for (m₀, κ₀, a₀, b₀): the last three scale with the weights, the location m₀ does not."""
    return np.array([[0], [-exponent], [-exponent], [-exponent]])


def _units(centre: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Standard deviation of each column over all classes; for a constant column a tiny fraction of its value."""
    return np.maximum(np.where(deviation > 0, deviation, np.abs(centre) * 2.0**-40), SMALLEST)


def in_units(mean: np.ndarray, centre: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Distance of means from a centre in units of their column; 0 where there is no mean."""
    with np.errstate(over="ignore", invalid="ignore"):
        distance = (mean - centre) / unit
        if np.isfinite(distance).all():
            return distance
        halved = 2 * ((mean / 2 - centre / 2) / unit)  # the difference of two doubles may overflow
    return np.nan_to_num(np.where(np.isfinite(distance), distance, halved))
