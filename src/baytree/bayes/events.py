"""Event models: what a column counts (`observe`), and the class-conditional distribution that follows (`derive`).

Three estimates are kept apart. `mle` is the plain frequency or the plain mean and variance. `map` is the mode of the
posterior. `bayes` is the posterior predictive, everything unknown integrated out: Dirichlet–multinomial for levels, a
Student t for numbers. Laplace's rule (add one) is `bayes` with α = 1; under that same prior `map` is the `mle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec
import numpy as np

from .. import _core
from ..statistics import Counts, Moments
from ..table import Column, Kind, Schema, Table, matrices

VARIANCE_FLOOR = 1e-9  # of a class, as a share of its own column's variance


class Estimation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How parameters follow from what was seen."""

    estimate: str = "bayes"
    alpha: float = 1.0


class EventModel(Protocol):
    """What a group of columns of one kind counts, and what follows from it."""

    def observe(self, table: Table, columns: Sequence[int]) -> Any:
        """The statistic of these columns."""
        ...

    def derive(self, seen: Any, columns: Sequence[int], schema: Schema, estimation: Estimation) -> Any:
        """The likelihood that follows."""
        ...

    def check(self, seen: Any, columns: Sequence[int], schema: Schema) -> None:
        """Raises an error unless the statistic fits these columns."""
        ...


class NormalLikelihood(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="normal"):
    """Normal or Student-t densities of numeric columns; infinite degrees mean normal."""

    columns: tuple[int, ...]
    mean: np.ndarray  # [n_classes, n_columns]
    scale: np.ndarray  # [n_classes, n_columns], positive
    degrees: np.ndarray  # [n_classes, n_columns], positive

    def __post_init__(self) -> None:
        for array in (self.mean, self.scale, self.degrees):
            if array.dtype != np.float64 or array.ndim != 2 or array.shape[1] != len(self.columns):
                raise ValueError("a normal likelihood needs one mean, scale and degree per class and column")
        if self.scale.shape != self.mean.shape or self.degrees.shape != self.mean.shape:
            raise ValueError("the arrays of a normal likelihood differ in shape")
        if not (np.isfinite(self.mean).all() and (self.scale > 0).all() and (self.degrees > 0).all()):
            raise ValueError("a normal likelihood has finite means, positive scales and positive degrees")

    def check(self, schema: Schema) -> None:
        """Raises an error unless the columns are numbers and every class has its densities."""
        if self.mean.shape[0] != len(schema.classes):
            raise ValueError("a normal likelihood does not fit the classes")
        if any(schema.columns[j].kind is not Kind.NUMERIC for j in self.columns):
            raise ValueError("a normal likelihood looks at a column that is not numeric")

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Adds each row's log-density to its scores [n_rows, n_classes]; a missing value adds nothing."""
        constant = _log_constants(self.scale, self.degrees)
        done = 0
        for matrix in matrices(table, self.columns):
            part = slice(done, done + matrix.shape[1])
            densities = (np.ascontiguousarray(a[:, part]) for a in (self.mean, self.scale, self.degrees, constant))
            _core.add_density_scores(matrix, *densities, scores)
            done += matrix.shape[1]

    def effects(self, table: Table) -> list[np.ndarray]:
        """For each column what it adds to the scores: [n_rows, n_classes] each."""
        constant = _log_constants(self.scale, self.degrees)
        return [self._effect(table.values[j], k, constant) for k, j in enumerate(self.columns)]

    def _effect(self, values: np.ndarray, k: int, constant: np.ndarray) -> np.ndarray:
        scores = np.zeros((len(values), len(self.mean)))
        densities = (np.ascontiguousarray(a[:, [k]]) for a in (self.mean, self.scale, self.degrees, constant))
        _core.add_density_scores(values.reshape(-1, 1), *densities, scores)
        return scores

    def describe(self, schema: Schema) -> list[tuple[str, list[str]]]:
        """A line per column: mean ± scale in each class."""
        lines = []
        for k, j in enumerate(self.columns):
            column = schema.columns[j]
            cells = [
                f"{column.show(m)} ± {column.show_distance(s)}"
                for m, s in zip(self.mean[:, k], self.scale[:, k], strict=True)
            ]
            lines.append((column.name, cells))
        return lines


class LevelLikelihood(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="levels"):
    """The probability of each level of a nominal or ordinal column in each class."""

    column: int
    log_probability: np.ndarray  # [n_levels, n_classes]

    def __post_init__(self) -> None:
        if self.log_probability.dtype != np.float64 or self.log_probability.ndim != 2:
            raise ValueError("a likelihood of levels is a table of levels and classes")
        if np.isnan(self.log_probability).any() or (self.log_probability > 1e-9).any():
            raise ValueError("a log-probability is at most 0")

    def check(self, schema: Schema) -> None:
        """Raises an error unless the column has these levels and the target these classes."""
        column = schema.columns[self.column]
        expected = (len(column.levels), len(schema.classes))
        if column.kind in (Kind.NUMERIC, Kind.TEXT) or self.log_probability.shape != expected:
            raise ValueError(f"the likelihood of column {column.name!r} does not fit its levels")

    @property
    def columns(self) -> tuple[int, ...]:
        """The one column."""
        return (self.column,)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Adds the log-probability of each row's level to its scores; a missing value adds nothing."""
        _core.add_level_scores(np.ascontiguousarray(table.values[self.column]), self.log_probability, scores)

    def effects(self, table: Table) -> list[np.ndarray]:
        """What the column adds to the scores: [n_rows, n_classes]."""
        scores = np.zeros((len(table), self.log_probability.shape[1]))
        self.add_scores(table, scores)
        return [scores]

    def describe(self, schema: Schema) -> list[tuple[str, list[str]]]:
        """A line per level: its probability in each class."""
        column = schema.columns[self.column]
        probability = np.exp(self.log_probability)
        return [(f"{column.name} = {column.show(code)}", [f"{p:.3f}" for p in row]) for code, row in enumerate(probability)]


class Gaussian:
    """Numbers that are normal in every class; by Bayes, with a Normal–Inverse-Gamma prior of α pseudo-observations.

    The prior's mean and variance are those of the column over all classes, so a class with one value, or none, still has
    a proper distribution. A column that is constant in training tells nothing and adds nothing.
    """

    def observe(self, table: Table, columns: Sequence[int]) -> Moments:
        """Weight, sum and sum of squares of each column in each class, exactly."""
        weight = None if table.is_unweighted else table.weight
        parts = [Moments.of(matrix, table.label, weight, table.n_classes) for matrix in matrices(table, columns)]
        return Moments.joined(parts)

    def check(self, seen: Any, columns: Sequence[int], schema: Schema) -> None:
        """Raises an error unless the statistic fits these columns."""
        if not isinstance(seen, Moments) or any(schema.columns[j].kind is not Kind.NUMERIC for j in columns):
            raise ValueError("a gaussian event keeps moments of numeric columns")
        seen.check(len(schema.classes), len(columns))

    def derive(self, seen: Moments, columns: Sequence[int], schema: Schema, estimation: Estimation) -> NormalLikelihood:
        """Normal densities (mle, map) or their posterior predictive, a Student t (bayes)."""
        pooled = seen.pooled()
        centre, unit = np.nan_to_num(pooled.mean()[0]), _units(pooled)
        exponent = max(0, seen.weight.magnitude - 900)  # weights near the end of the doubles are brought back
        n = seen.weight.rounded(exponent)
        with np.errstate(over="ignore", invalid="ignore"):
            distance = np.nan_to_num((seen.mean() - centre) / unit)  # in the column's own unit: nothing can overflow
            spread = np.nan_to_num(seen.deviation() / unit) ** 2
        if estimation.estimate == "mle":
            mean, variance, degrees = _mle(n, distance, spread)
        else:
            mean, variance, degrees = _posterior(n, distance, spread, estimation, exponent)
        constant = pooled.deviation()[0] == 0
        mean, variance, degrees = (np.where(constant, a, b) for a, b in ((0.0, mean), (1.0, variance), (np.inf, degrees)))
        return NormalLikelihood(tuple(columns), centre + unit * mean, unit * np.sqrt(variance), degrees)


class Categorical:
    """Levels with their own probability in every class; by Bayes, with a symmetric Dirichlet(α) prior."""

    def observe(self, table: Table, columns: Sequence[int]) -> Counts:
        """The weight of each level in each class."""
        (column,) = columns
        n_levels = len(table.schema.columns[column].levels)
        weight = None if table.is_unweighted else table.weight
        return Counts.of(table.values[column], table.label, weight, n_levels, table.n_classes)

    def check(self, seen: Any, columns: Sequence[int], schema: Schema) -> None:
        """Raises an error unless the statistic fits this column."""
        column = schema.columns[columns[0]]
        if not isinstance(seen, Counts) or len(columns) != 1 or column.kind in (Kind.NUMERIC, Kind.TEXT):
            raise ValueError("a categorical event keeps the counts of one nominal or ordinal column")
        seen.check(len(column.levels), len(schema.classes))

    def derive(self, seen: Counts, columns: Sequence[int], schema: Schema, estimation: Estimation) -> LevelLikelihood:
        """The smoothed share of each level among the known values of a class."""
        exponent = max(0, seen.cells.magnitude - 900)
        share = smoothed(seen.known(exponent), _pseudo_count(estimation, exponent))
        with np.errstate(divide="ignore"):
            return LevelLikelihood(columns[0], np.log(share))


def smoothed(counts: np.ndarray, alpha: float) -> np.ndarray:
    """(n + α) / (N + αK) along the first axis; uniform where a class has nothing and α = 0."""
    total = counts.sum(axis=0) + alpha * len(counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (counts + alpha) / total
    return np.where(total > 0, share, 1 / max(len(counts), 1))


def _pseudo_count(estimation: Estimation, exponent: int = 0) -> float:
    """What is added to every count: α by Bayes; α − 1 for the mode, which with α = 1 is the mle."""
    added = {"mle": 0.0, "map": max(estimation.alpha - 1, 0.0), "bayes": estimation.alpha}[estimation.estimate]
    return float(np.ldexp(added, -exponent))


def class_shares(seen: Counts, estimation: Estimation) -> np.ndarray:
    """The probability of each class before any column is looked at."""
    exponent = max(0, seen.cells.magnitude - 900)
    return smoothed(seen.known(exponent), _pseudo_count(estimation, exponent))[:, 0]


def _units(pooled: Moments) -> np.ndarray:
    """The standard deviation of each column over all classes; for a constant column something small beside it."""
    deviation = np.nan_to_num(pooled.deviation()[0])
    size = np.abs(np.nan_to_num(pooled.mean()[0]))
    return np.maximum(np.where(deviation > 0, deviation, size * 2.0**-40), 2.0**-1000)  # its inverse is still a double


def _mle(n: np.ndarray, distance: np.ndarray, spread: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and variance (divisor n) of each class; a class that knows nothing is like the whole column."""
    mean = np.where(n > 0, distance, 0.0)
    variance = np.where(n > 0, np.maximum(spread, VARIANCE_FLOOR), 1.0)
    return mean, variance, np.full(n.shape, np.inf)


def _posterior(
    n: np.ndarray, distance: np.ndarray, spread: np.ndarray, estimation: Estimation, exponent: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normal–Inverse-Gamma with m₀ = 0, κ₀ = α, a₀ = b₀ = α/2 in the column's own unit (Murphy 2007)."""
    prior = float(np.ldexp(max(estimation.alpha, 1e-9), -exponent))
    kappa, a = prior + n, (prior + n) / 2
    mean = n * distance / kappa
    b = prior / 2 + n * spread / 2 + prior * n * distance**2 / (2 * kappa)
    if estimation.estimate == "map":
        return mean, b / (a + 1.5), np.full(n.shape, np.inf)  # the joint mode of mean and variance
    return mean, b / a * (1 + 1 / kappa), 2 * a


def _log_constants(scale: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """The logarithm of each density at its centre."""
    normal = -0.5 * np.log(2 * np.pi) - np.log(scale)
    finite = np.isfinite(degrees)
    if not finite.any():
        return normal
    nu = np.where(finite, degrees, 1.0)
    student = log_gamma_ratio(nu) - 0.5 * np.log(np.pi * nu) - np.log(scale)
    return np.where(finite, student, normal)


def log_gamma_ratio(nu: np.ndarray) -> np.ndarray:
    """log Γ((ν + 1)/2) − log Γ(ν/2), without scipy: predicting must not import it."""
    from math import lgamma

    flat = [_log_gamma_step(value / 2, lgamma) for value in np.ravel(nu).tolist()]
    return np.array(flat).reshape(np.shape(nu))


def _log_gamma_step(x: float, lgamma: Any) -> float:
    """log Γ(x + ½) − log Γ(x); for large x by its series, where the difference would cancel."""
    if x < 1e4:
        return lgamma(x + 0.5) - lgamma(x)
    return 0.5 * np.log(x) - 1 / (8 * x) + 1 / (192 * x) / x / x


Likelihood = NormalLikelihood | LevelLikelihood
EVENTS: dict[str, EventModel] = {"gaussian": Gaussian(), "categorical": Categorical()}
TOGETHER = frozenset({"gaussian"})  # events whose columns are observed in one pass


def default_event(column: Column, numeric: str) -> str:
    """The event of a column that names none."""
    return numeric if column.kind is Kind.NUMERIC else "categorical"
