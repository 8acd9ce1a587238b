"""Numbers that are normal in every class, plain or with everything unknown integrated out."""

from __future__ import annotations

import numpy as np

from baytree._typing import PriorsLike
from baytree.data.encoding.matrices import lying_apart, matrices
from baytree.data.encoding.table import SparseColumns, Table
from baytree.data.schema.column import Column
from baytree.data.schema.schema import Schema
from baytree.naive_bayes.events.base import EventModel, Likelihood, Ready
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation, read_numbers
from baytree.naive_bayes.events.normal import (
    SMALLEST,
    NormalLikelihood,
    NormalPosterior,
    StandardizedMoments,
    log_density_moments,
    power_of_two,
)
from baytree.naive_bayes.events.row_updates import LeaveOneOutRule, NormalRowUpdate, add_left_out_densities, altered_normal
from baytree.statistics.moments import Moments

VARIANCE_FLOOR = 1e-9  # of a class, as a share of its own column's variance

_LEAST_BETWEEN = 1e-12  # the variance of class means that are all but the same, as such a share

_DOUBT = 0.1  # pseudo-observations behind an interval: a class of one value has one too, and nothing pulls the others

_FAR = 1e100  # units; what lies further away is as impossible

_LARGEST = float(np.finfo(np.float64).max)

Parameters = tuple[np.ndarray, np.ndarray, np.ndarray]  # mean, variance and degrees [n_classes, n_columns]


class Gaussian(EventModel[Moments]):
    """Numbers that are normal in every class; by Bayes, with a prior of α pseudo-observations on spread and mean.

    A class is believed to vary as classes do within themselves (an inverse χ² of 2α degrees about the pooled variance), and
    its mean to lie about the column's as the class means do, so that a class with one value, or none, still has a proper
    distribution. `priors={"age": {"m0": …, "k0": …, "a0": …, "b0": …}}` sets a Normal–Inverse-Gamma prior instead. A column
    that is constant in training tells nothing and adds nothing.
    """

    name = "gaussian"
    is_density = True
    is_joint = True
    statistics = (Moments,)
    likelihoods = (NormalLikelihood,)

    def read_prior(self, given: PriorsLike, column: Column) -> tuple[float, ...]:
        """m₀, κ₀, a₀, b₀ of a Normal–Inverse-Gamma prior."""
        return read_numbers(given, column.name, ("m0", "k0", "a0", "b0"))

    def observe(self, table: Table, group: ColumnGroup) -> Moments:
        """Weight, sum and sum of squares of each column in each class, exactly."""
        weight = None if table.is_unweighted else table.weight
        apart = lying_apart(table, group.columns)
        if apart is not None:
            return Moments.of_columns(apart, table.label, weight, table.n_classes)
        parts = [Moments.of(matrix, table.label, weight, table.n_classes) for matrix in matrices(table, group.columns)]
        return Moments.joined(parts)

    def check_shape(self, seen: Moments, group: ColumnGroup, schema: Schema) -> None:
        """A cell for each class and column."""
        seen.check(len(schema.classes), len(group.columns))

    def prior_text(self, estimation: Estimation) -> str | None:
        """On what the mean and the spread of a class lean."""
        if estimation.estimate == "mle":
            return None
        rows = 2 * _alpha(estimation)
        return f"a class's spread leans on that within all classes, as on {rows:g} rows of its own, its mean on the column's"

    def spread(self, seen: Moments) -> np.ndarray | None:
        """The standard deviation of each column over all classes."""
        return seen.deviation_of_all()

    def estimate(self, seen: Moments, group: ColumnGroup, schema: Schema, estimation: Estimation) -> Likelihood:
        """Normal densities (mle, map) or their posterior predictive, a Student t (bayes)."""
        standard = StandardizedMoments.of(seen)
        parameters = self.parameters(standard, group, schema, estimation)
        constant = standard.is_constant & ~_has_prior(group, schema, estimation)
        mean, variance, degrees = parameters
        if constant.any():
            mean, variance, degrees = (np.where(constant, a, b) for a, b in zip((0.0, 1.0, np.inf), parameters, strict=True))
        with np.errstate(over="ignore"):  # beside the largest doubles a scale may leave them
            mean, scale = standard.centre + standard.unit * mean, standard.unit * np.sqrt(variance)
        mean, scale = np.clip(mean, -_LARGEST, _LARGEST), np.clip(scale, SMALLEST, _LARGEST)
        return NormalLikelihood(group.columns, mean, scale, degrees)

    def parameters(
        self, seen: StandardizedMoments, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> Parameters:
        """Mean, variance and degrees of freedom in each class, in the units of the columns."""
        if estimation.estimate == "mle":
            return _plain(seen)
        learnt = _within_classes(seen, _alpha(estimation), estimation.estimate)
        if not (own := _has_prior(group, schema, estimation)).any():
            return learnt
        prior = _normal_priors(seen, group, schema, estimation)
        given = _posterior(seen, np.ldexp(prior, power_of_two(seen.exponent)), estimation.estimate)
        mean, variance, degrees = (np.where(own, a, b) for a, b in zip(given, learnt, strict=True))
        return mean, variance, degrees

    def add_posterior(
        self, seen: Moments, group: ColumnGroup, table: Table, estimation: Estimation, mean: np.ndarray, variance: np.ndarray
    ) -> None:
        """The log-density of the value, normal with unknown mean and variance; a constant column adds nothing."""
        standard, done = StandardizedMoments.of(seen), 0
        believed = self._believed(standard, group, table.schema, estimation)
        varies = ~standard.is_constant | _has_prior(group, table.schema, estimation)
        for matrix in matrices(table, group.columns):
            here = np.flatnonzero(varies[done : done + matrix.shape[1]])
            own = done + here
            x = np.clip((matrix[:, here] - standard.centre[own]) / standard.unit[own], -_FAR, _FAR)
            of_these = NormalPosterior(*(each[:, own] for each in believed))
            for k in range(table.n_classes):
                of_mean, of_variance = log_density_moments(x, k, of_these)
                mean[:, k] += of_mean
                variance[:, k] += of_variance
            done += matrix.shape[1]

    def _believed(
        self, seen: StandardizedMoments, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> NormalPosterior:
        """The posterior in the units of the columns, of rows counted as they are."""
        learnt = _leaning(seen, _DOUBT)
        if (own := _has_prior(group, schema, estimation)).any():
            given = _given_prior(
                seen, np.ldexp(_normal_priors(seen, group, schema, estimation), power_of_two(seen.exponent))
            )
            learnt = NormalPosterior(*(np.where(own, a, b) for a, b in zip(given, learnt, strict=True)))
        rows = np.ldexp(1.0, min(seen.exponent, 900))
        return learnt._replace(squares=learnt.squares * rows, degrees=learnt.degrees * rows, kappa=learnt.kappa * rows)

    def add_leave_one_out_scores(
        self, seen: Moments, group: ColumnGroup, table: Table, estimation: Estimation, scores: np.ndarray
    ) -> None:
        """In closed form, unless a column has its own prior, the table is sparse or the event has none."""
        rule = self.left_out_rule(estimation)
        named = any(table.schema.columns[j].name in estimation.priors for j in group.columns)
        if rule is None or named or isinstance(table.values, SparseColumns):
            return super().add_leave_one_out_scores(seen, group, table, estimation, scores)
        return add_left_out_densities(seen, group.columns, table, rule, scores)

    def row_update(
        self, seen: Moments, group: ColumnGroup, changes: Table, sign: int, estimation: Estimation
    ) -> NormalRowUpdate | None:
        """In closed form, as where a row is left out."""
        rule, standard = self.left_out_rule(estimation), StandardizedMoments.of(seen)
        named = any(changes.schema.columns[j].name in estimation.priors for j in group.columns)
        if rule is None or named or standard.exponent or isinstance(changes.values, SparseColumns):
            return None
        value = np.column_stack([changes.values[j] for j in group.columns])
        return altered_normal(standard, value, changes.label, sign * changes.weight, rule)

    def update_inputs(self, table: Table, group: ColumnGroup) -> Ready:
        """Matrices of numbers."""
        return list(matrices(table, group.columns))

    def left_out_rule(self, estimation: Estimation) -> LeaveOneOutRule | None:
        """How the density of a row follows from the moments without it."""
        return LeaveOneOutRule(estimation.estimate, _alpha(estimation), VARIANCE_FLOOR)


class SmoothedGaussian(Gaussian):
    """Normal densities whose variance (divisor n) is raised by `var_smoothing` times the variance of the column itself.

    scikit-learn raises it by the largest variance of all columns, which drowns columns of small scale; on columns of one
    scale the two agree.
    """

    name = "smoothed gaussian"

    def prior_text(self, estimation: Estimation) -> str | None:
        """By how much variances are raised."""
        return f"variances are raised by {estimation.var_smoothing:g} of the column's"

    def parameters(
        self, seen: StandardizedMoments, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> Parameters:
        """The plain moments, the variance raised."""
        mean, variance, degrees = _plain(seen, 0.0)
        floor = np.maximum(self.raised(seen, estimation), 1e-300)
        return mean, np.where(seen.n > 0, variance + floor, variance), degrees

    def raised(self, seen: StandardizedMoments, estimation: Estimation) -> np.ndarray | float:
        """By how much, in the units of the columns."""
        return estimation.var_smoothing

    def left_out_rule(self, estimation: Estimation) -> LeaveOneOutRule | None:
        """The variance raised."""
        return LeaveOneOutRule("raised", _alpha(estimation), estimation.var_smoothing)


class SklearnGaussian(SmoothedGaussian):
    """Normal densities exactly as scikit-learn has them: the variance raised by a share of the largest one."""

    name = "sklearn gaussian"

    def prior_text(self, estimation: Estimation) -> str | None:
        """By how much variances are raised."""
        return f"variances are raised by {estimation.var_smoothing:g} of the largest one of all columns"

    def raised(self, seen: StandardizedMoments, estimation: Estimation) -> np.ndarray | float:
        """A share of the largest variance, in the units of each column."""
        with np.errstate(over="ignore"):
            return np.minimum(estimation.var_smoothing * (seen.unit.max(initial=0.0) / seen.unit) ** 2, 1e300)

    def left_out_rule(self, estimation: Estimation) -> LeaveOneOutRule | None:
        """None: without a row the largest variance is another one."""
        return None


def _plain(seen: StandardizedMoments, floor: float = VARIANCE_FLOOR) -> Parameters:
    """Mean and variance (divisor n) of each class; a class that knows nothing is like the whole column."""
    mean = np.where(seen.n > 0, seen.distance, 0.0)
    variance = np.where(seen.n > 0, np.maximum(seen.spread, floor), 1.0)
    return mean, variance, np.full(seen.n.shape, np.inf)


def _has_prior(group: ColumnGroup, schema: Schema, estimation: Estimation) -> np.ndarray:
    if not estimation.priors:
        return np.zeros(len(group.columns), bool)
    return np.array([schema.columns[j].name in estimation.priors for j in group.columns], bool)


def _alpha(estimation: Estimation) -> float:
    return max(float(np.max(estimation.alpha)), 1e-9)


def _within_classes(seen: StandardizedMoments, alpha: float, estimate: str) -> Parameters:
    """What is plugged in (map) or predicted (bayes) under the default prior."""
    one = float(np.ldexp(1.0, -seen.exponent))
    mean, squares, degrees, kappa = _leaning(seen, alpha)
    if estimate == "map":  # the joint mode of mean and variance
        return mean, squares / (2 * (alpha * one) + seen.n + 2 * one), np.full(seen.n.shape, np.inf)
    return mean, squares / degrees * (1 + one / kappa), degrees


def _leaning(seen: StandardizedMoments, alpha: float) -> NormalPosterior:
    """The posterior under the default prior, which every column brings along, in the column's own unit.

    The variance of a class is inverse χ² with 2α degrees about the pooled variance within classes, to which the column's
    own variance counts as one row more; its mean has the column's mean as α · within / between rows of its own.
    """
    one = float(np.ldexp(1.0, -seen.exponent))
    alpha, n, total = alpha * one, seen.n, seen.n.sum(axis=0)
    within_all = (n * seen.spread).sum(axis=0)
    free = np.maximum(total - one * (n > 0).sum(axis=0), 0.0)
    within = (within_all + one) / (free + one)  # the variance of the whole column is 1
    between = np.maximum((n * seen.distance**2).sum(axis=0) / np.maximum(total, one), _LEAST_BETWEEN)
    kappa = alpha * within / between + n
    squares = 2 * alpha * within + n * seen.spread
    return NormalPosterior(n / kappa * seen.distance, squares, 2 * alpha + np.maximum(n - one, 0.0), kappa)


def _normal_priors(seen: StandardizedMoments, group: ColumnGroup, schema: Schema, estimation: Estimation) -> np.ndarray:
    """m₀, κ₀, a₀, b₀ of each column in its own unit, 1 where none are given: [4, n_columns]."""
    prior = np.ones((4, len(group.columns)))
    for k, j in enumerate(group.columns):
        given = estimation.priors.get(schema.columns[j].name)
        if given is not None:
            m0, k0, a0, b0 = given
            prior[:, k] = (m0 - seen.centre[k]) / seen.unit[k], k0, a0, b0 / seen.unit[k] / seen.unit[k]
    return prior


def _posterior(seen: StandardizedMoments, prior: np.ndarray, estimate: str) -> Parameters:
    """What is plugged in or predicted under a prior that was given."""
    mean, squares, degrees, kappa = _given_prior(seen, prior)
    if estimate == "map":  # the joint mode of mean and variance
        return mean, squares / (degrees + 3), np.full(seen.n.shape, np.inf)
    return mean, squares / degrees * (1 + 1 / kappa), degrees


def _given_prior(seen: StandardizedMoments, prior: np.ndarray) -> NormalPosterior:
    """The posterior of a Normal–Inverse-Gamma prior in the column's own unit (Murphy 2007)."""
    m0, k0, a0, b0 = prior
    kappa, a = k0 + seen.n, a0 + seen.n / 2
    mean = (k0 * m0 + seen.n * seen.distance) / kappa
    b = b0 + seen.n * seen.spread / 2 + k0 * seen.n * (seen.distance - m0) ** 2 / (2 * kappa)
    return NormalPosterior(mean, 2 * b, 2 * a, kappa)
