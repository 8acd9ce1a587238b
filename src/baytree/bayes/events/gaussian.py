"""Numbers that are normal in every class: their densities, plain or with everything unknown integrated out."""

from __future__ import annotations

from math import lgamma
from typing import Any

import msgspec
import numpy as np

from baytree import _core
from baytree.bayes.estimation import Estimation, Group, prior_numbers
from baytree.statistics.exact import bounded
from baytree.statistics.moments import Moments
from baytree.summary import Normal
from baytree.table.schema import Kind, Schema
from baytree.table.table import Table, matrices

VARIANCE_FLOOR = 1e-9  # of a class, as a share of its own column's variance
_LARGEST = float(np.finfo(np.float64).max)
_SMALLEST = float(np.finfo(np.float64).smallest_subnormal)


class NormalLikelihood(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="normal"):
    """Normal or Student-t densities of numeric columns; infinite degrees mean normal."""

    columns: tuple[int, ...]
    mean: np.ndarray  # [n_classes, n_columns]
    scale: np.ndarray  # [n_classes, n_columns], positive
    degrees: np.ndarray  # [n_classes, n_columns], positive

    def __post_init__(self) -> None:
        check_moments(self.columns, self.mean, self.scale, self.degrees)

    def check(self, schema: Schema) -> None:
        """Raises an error unless the columns are numbers and every class has its densities."""
        check_numeric(self.columns, self.mean.shape[0], schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Adds each row's log-density to its scores [n_rows, n_classes]; a missing value adds nothing."""
        constant = log_constants(self.scale, self.degrees)
        done = 0
        for matrix in matrices(table, self.columns):
            part = slice(done, done + matrix.shape[1])
            densities = (np.ascontiguousarray(a[:, part]) for a in (self.mean, self.scale, self.degrees, constant))
            _core.add_density_scores(matrix, *densities, scores)
            done += matrix.shape[1]

    def effects(self, table: Table) -> list[np.ndarray]:
        """For each column what it adds to the scores: [n_rows, n_classes] each."""
        constant = log_constants(self.scale, self.degrees)
        return [self._effect(table.values[j], k, constant) for k, j in enumerate(self.columns)]

    def _effect(self, values: np.ndarray, k: int, constant: np.ndarray) -> np.ndarray:
        scores = np.zeros((len(values), len(self.mean)))
        densities = (np.ascontiguousarray(a[:, [k]]) for a in (self.mean, self.scale, self.degrees, constant))
        _core.add_density_scores(values.reshape(-1, 1), *densities, scores)
        return scores

    def summary(self, schema: Schema) -> list[Normal]:
        """Mean and scale of each column in each class."""
        return normals(self.columns, self.mean, self.scale, schema)

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Mean, scale and degrees of freedom in each class."""
        k = self.columns.index(column)
        return ["mean", "scale", "degrees"], np.stack([self.mean[:, k], self.scale[:, k], self.degrees[:, k]])

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """A number of each column for each row of a class."""
        drawn = []
        for k in range(len(self.columns)):
            degrees = self.degrees[label, k]
            deviate = random.standard_normal(len(label))
            finite = degrees < 1e300  # beyond, a Student t is normal to the last bit
            spread = random.chisquare(np.where(finite, degrees, 1.0)) / np.where(finite, degrees, 1.0)
            deviate = np.where(finite, deviate / np.sqrt(np.maximum(spread, 1e-300)), deviate)
            drawn.append(self.mean[label, k] + self.scale[label, k] * deviate)
        return drawn


class Gaussian:
    """Numbers that are normal in every class; by Bayes, with a Normal–Inverse-Gamma prior of α pseudo-observations.

    The prior's mean and variance are those of the column over all classes, so a class with one value, or none, still has
    a proper distribution; `priors={"age": {"m0": …, "k0": …, "a0": …, "b0": …}}` sets another. A column that is constant
    in training tells nothing and adds nothing.
    """

    can_subtract = True

    def observe(self, table: Table, group: Group) -> Moments:
        """Weight, sum and sum of squares of each column in each class, exactly."""
        weight = None if table.is_unweighted else table.weight
        parts = [Moments.of(matrix, table.label, weight, table.n_classes) for matrix in matrices(table, group.columns)]
        return Moments.joined(parts)

    def check(self, seen: Any, group: Group, schema: Schema) -> None:
        """Raises an error unless the statistic fits these columns."""
        if not isinstance(seen, Moments) or any(schema.columns[j].kind is not Kind.NUMERIC for j in group.columns):
            raise ValueError("a gaussian event keeps moments of numeric columns")
        seen.check(len(schema.classes), len(group.columns))

    def derive(self, seen: Moments, group: Group, schema: Schema, estimation: Estimation) -> NormalLikelihood:
        """Normal densities (mle, map) or their posterior predictive, a Student t (bayes)."""
        pooled = seen.pooled()
        centre, unit = np.nan_to_num(pooled.mean()[0]), _units(pooled)
        n, exponent = bounded(seen.weight)
        with np.errstate(over="ignore", invalid="ignore"):
            distance = in_units(seen.mean(), centre, unit)
            spread = np.nan_to_num(seen.deviation() / unit) ** 2
        mean, variance, degrees = self.moments(n, distance, spread, (estimation, exponent, group, schema, centre, unit))
        constant = (pooled.deviation()[0] == 0) & ~_has_prior(group, schema, estimation)
        mean, variance, degrees = (np.where(constant, a, b) for a, b in ((0.0, mean), (1.0, variance), (np.inf, degrees)))
        with np.errstate(over="ignore"):  # beside the largest doubles a scale may leave them
            mean, scale = centre + unit * mean, unit * np.sqrt(variance)
        mean, scale = np.clip(mean, -_LARGEST, _LARGEST), np.clip(scale, _SMALLEST, _LARGEST)
        return NormalLikelihood(group.columns, mean, scale, degrees)

    def moments(self, n: np.ndarray, distance: np.ndarray, spread: np.ndarray, setting: tuple) -> tuple:
        """Mean, variance and degrees of freedom in each class, in the units of the columns."""
        estimation, exponent, group, schema, centre, unit = setting
        if estimation.estimate == "mle":
            return _mle(n, distance, spread)
        prior = _normal_priors(group, schema, estimation, centre, unit)
        return _posterior(n, distance, spread, np.ldexp(prior, _power(exponent)), estimation.estimate)


class SmoothedGaussian(Gaussian):
    """Normal densities whose variance (divisor n) is raised by `var_smoothing` times the variance of the column itself.

    scikit-learn raises it by the largest variance of all columns, which drowns columns of small scale; on columns of one
    scale the two agree.
    """

    def moments(self, n: np.ndarray, distance: np.ndarray, spread: np.ndarray, setting: tuple) -> tuple:
        """The plain moments, the variance raised."""
        mean, variance, degrees = _mle(n, distance, spread, 0.0)
        floor = np.maximum(self.raised(setting), 1e-300)
        return mean, np.where(n > 0, variance + floor, variance), degrees

    def raised(self, setting: tuple) -> np.ndarray | float:
        """By how much, in the units of the columns."""
        return setting[0].var_smoothing


class SklearnGaussian(SmoothedGaussian):
    """Normal densities exactly as scikit-learn has them: the variance raised by a share of the largest one."""

    def raised(self, setting: tuple) -> np.ndarray | float:
        """A share of the largest variance, in the units of each column."""
        unit = setting[5]
        with np.errstate(over="ignore"):
            return np.minimum(setting[0].var_smoothing * (unit.max(initial=0.0) / unit) ** 2, 1e300)


class E1071Likelihood(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="e1071_normal"):
    """Normal densities as e1071 takes them: one that underflows to 0 counts as 0.001."""

    columns: tuple[int, ...]
    mean: np.ndarray  # [n_classes, n_columns]
    scale: np.ndarray  # [n_classes, n_columns], positive

    def __post_init__(self) -> None:
        check_moments(self.columns, self.mean, self.scale)

    def check(self, schema: Schema) -> None:
        """Raises an error unless the columns are numbers and every class has its densities."""
        check_numeric(self.columns, self.mean.shape[0], schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Adds each row's log-density to its scores; a missing value adds nothing."""
        for effect in self.effects(table):
            scores += effect

    def effects(self, table: Table) -> list[np.ndarray]:
        """For each column what it adds to the scores: [n_rows, n_classes] each."""
        return [self._effect(table.values[j][:, None], k) for k, j in enumerate(self.columns)]

    def _effect(self, values: np.ndarray, k: int) -> np.ndarray:
        if np.isinf(values).any():
            raise ValueError("a value is infinite")
        with np.errstate(over="ignore", under="ignore"):
            z = (values - self.mean[:, k]) / self.scale[:, k]
            density = np.exp(-0.5 * z * z) / (np.sqrt(2 * np.pi) * self.scale[:, k])
        density = np.where(density > 0, density, 0.001)
        return np.where(np.isnan(values), 0.0, np.log(density))

    def summary(self, schema: Schema) -> list[Normal]:
        """Mean and standard deviation of each column in each class."""
        return normals(self.columns, self.mean, self.scale, schema)

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Mean and standard deviation in each class."""
        k = self.columns.index(column)
        return ["mean", "scale"], np.stack([self.mean[:, k], self.scale[:, k]])

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """A number of each column for each row of a class."""
        deviates = random.standard_normal((len(self.columns), len(label)))
        return [self.mean[label, k] + self.scale[label, k] * deviates[k] for k in range(len(self.columns))]


class E1071Gaussian(Gaussian):
    """Mean and standard deviation (divisor n − 1) of each class; a deviation of 0, or of one value, counts as 0.001.

    Where e1071 has no number at all, a class without known values, the column is taken as it is over all classes.
    """

    def derive(self, seen: Moments, group: Group, schema: Schema, estimation: Estimation) -> E1071Likelihood:
        """The densities that e1071 would use."""
        pooled = seen.pooled()
        n, whole = seen.weight.rounded(), pooled.weight.rounded()
        mean = np.where(n > 0, np.nan_to_num(seen.mean()), np.nan_to_num(pooled.mean()))
        deviation = np.where(n > 0, _sample_deviation(seen, n), _sample_deviation(pooled, whole))
        return E1071Likelihood(group.columns, mean, np.where(deviation > 0, deviation, 0.001))


def check_moments(columns: tuple[int, ...], mean: np.ndarray, *positive: np.ndarray) -> None:
    """Raises an error unless every class and column has a finite mean and positive other numbers."""
    for array in (mean, *positive):
        if array.dtype != np.float64 or array.ndim != 2 or array.shape[1] != len(columns):
            raise ValueError("a normal likelihood needs one mean, scale and degree per class and column")
        if array.shape != mean.shape:
            raise ValueError("the arrays of a normal likelihood differ in shape")
    if not (np.isfinite(mean).all() and all((array > 0).all() for array in positive)):
        raise ValueError("a normal likelihood has finite means, positive scales and positive degrees")


def check_numeric(columns: tuple[int, ...], n_classes: int, schema: Schema) -> None:
    """Raises an error unless the columns are numbers and the classes as many."""
    if n_classes != len(schema.classes):
        raise ValueError("a likelihood does not fit the classes")
    if any(schema.columns[j].kind is not Kind.NUMERIC for j in columns):
        raise ValueError("a likelihood of numbers looks at a column that is not numeric")


def normals(columns: tuple[int, ...], mean: np.ndarray, scale: np.ndarray, schema: Schema) -> list[Normal]:
    """A record per column: mean and scale in each class."""
    rows = zip((schema.columns[j] for j in columns), mean.T.tolist(), scale.T.tolist(), strict=True)
    return [Normal(column.name, tuple(means), tuple(scales), column.unit) for column, means, scales in rows]


def _power(exponent: int) -> np.ndarray:
    """m₀ is a place, not a weight: it stays where weights are scaled."""
    return np.array([[0], [-exponent], [-exponent], [-exponent]])


def _units(pooled: Moments) -> np.ndarray:
    """The standard deviation of each column over all classes; for a constant column something small beside it."""
    deviation = np.nan_to_num(pooled.deviation()[0])
    size = np.abs(np.nan_to_num(pooled.mean()[0]))
    return np.maximum(np.where(deviation > 0, deviation, size * 2.0**-40), _SMALLEST)


def in_units(mean: np.ndarray, centre: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """How far means lie from a centre, in units of their column; 0 where there is no mean."""
    with np.errstate(over="ignore", invalid="ignore"):
        distance = (mean - centre) / unit
        halved = 2 * ((mean / 2 - centre / 2) / unit)  # the distance of two doubles may be none itself
    return np.nan_to_num(np.where(np.isfinite(distance), distance, halved))


def _sample_deviation(seen: Moments, n: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(seen.deviation() * np.sqrt(n / (n - 1)), nan=0.0, posinf=0.0)


def _mle(n: np.ndarray, distance: np.ndarray, spread: np.ndarray, floor: float = VARIANCE_FLOOR) -> tuple:
    """Mean and variance (divisor n) of each class; a class that knows nothing is like the whole column."""
    mean = np.where(n > 0, distance, 0.0)
    variance = np.where(n > 0, np.maximum(spread, floor), 1.0)
    return mean, variance, np.full(n.shape, np.inf)


def _has_prior(group: Group, schema: Schema, estimation: Estimation) -> np.ndarray:
    return np.array([schema.columns[j].name in estimation.priors for j in group.columns], bool)


def _normal_priors(group: Group, schema: Schema, estimation: Estimation, centre: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """m₀, κ₀, a₀, b₀ of each column in its own unit: [4, n_columns]."""
    alpha = max(float(np.max(estimation.alpha)), 1e-9)
    prior = np.tile([[0.0], [alpha], [alpha / 2], [alpha / 2]], (1, len(group.columns)))
    for k in np.flatnonzero(_has_prior(group, schema, estimation)):
        m0, k0, a0, b0 = prior_numbers(estimation, schema.columns[group.columns[k]], ("m0", "k0", "a0", "b0"))
        prior[:, k] = (m0 - centre[k]) / unit[k], k0, a0, b0 / unit[k] / unit[k]
    return prior


def _posterior(n: np.ndarray, distance: np.ndarray, spread: np.ndarray, prior: np.ndarray, estimate: str) -> tuple:
    """The posterior of a Normal–Inverse-Gamma prior in the column's own unit (Murphy 2007)."""
    m0, k0, a0, b0 = prior
    kappa, a = k0 + n, a0 + n / 2
    mean = (k0 * m0 + n * distance) / kappa
    b = b0 + n * spread / 2 + k0 * n * (distance - m0) ** 2 / (2 * kappa)
    if estimate == "map":
        return mean, b / (a + 1.5), np.full(n.shape, np.inf)  # the joint mode of mean and variance
    return mean, b / a * (1 + 1 / kappa), 2 * a


def log_constants(scale: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """The logarithm of each density at its centre."""
    normal = -0.5 * np.log(2 * np.pi) - np.log(scale)
    finite = degrees < 1e300  # beyond, a Student t is normal to the last bit
    if not finite.any():
        return normal
    nu = np.where(finite, degrees, 1.0)
    student = log_gamma_ratio(nu) - 0.5 * np.log(np.pi * nu) - np.log(scale)
    return np.where(finite, student, normal)


def log_gamma_ratio(nu: np.ndarray) -> np.ndarray:
    """log Γ((ν + 1)/2) − log Γ(ν/2), without scipy: predicting must not import it."""
    distinct, place = np.unique(nu, return_inverse=True)
    return np.array([_log_gamma_step(value / 2) for value in distinct.tolist()])[place].reshape(np.shape(nu))


def _log_gamma_step(x: float) -> float:
    """log Γ(x + ½) − log Γ(x); for large x by its series, where the difference would cancel."""
    if x < 1e4:
        return lgamma(x + 0.5) - lgamma(x)
    return 0.5 * np.log(x) - 1 / (8 * x) + 1 / (192 * x) / x / x
