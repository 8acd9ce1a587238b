"""Gaussian events: normal densities per class, with parameters estimated or integrated out.

`Gaussian` is the default (a Student t under an empirical Normal–Inverse-Gamma prior), `SmoothedGaussian` and
`SklearnGaussian` raise the variance instead. Moments are standardised first (`normal.StandardizedMoments`). The formulas of
the posterior are those of Murphy (2007), "Conjugate Bayesian analysis of the Gaussian distribution".
"""

from __future__ import annotations

import numpy as np

from baytree._typing import PriorsLike
from baytree.data.encoding.matrices import lying_apart, matrices
from baytree.data.encoding.table import SparseColumns, Table
from baytree.data.schema.column import Column
from baytree.data.schema.schema import Schema
from baytree.engine.aggregates import Detail
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

VARIANCE_FLOOR = 1e-9  # minimum variance of a class, as a fraction of the variance of its column

_MIN_BETWEEN = 1e-12  # minimum variance between class means, as a fraction of the variance of the column

_INTERVAL_PRIOR_ROWS = 0.1  # prior of intervals, in pseudo-observations; small: only classes of one value depend on it

_MAX_DISTANCE = 1e100  # in units of a column; values farther away are just as impossible

_LARGEST = float(np.finfo(np.float64).max)

Parameters = tuple[np.ndarray, np.ndarray, np.ndarray]  # mean, variance and degrees of freedom, each [n_classes, n_columns]


class Gaussian(EventModel[Moments]):
    """Normal densities; for 'bayes', with a prior worth α pseudo-observations on variance and mean.

    The variance of a class has an inverse χ² prior of 2α degrees about the pooled within-class variance, and its mean a
    normal prior about the column's mean with the variance between class means, so that a class with one value, or none,
    still has a proper distribution. `priors={"age": {"m0": …, "k0": …, "a0": …, "b0": …}}` sets a Normal–Inverse-Gamma prior
    instead. A column that is constant in training contributes nothing.
    """

    name = "gaussian"
    is_density = True
    is_joint = True
    detail = Detail.MOMENTS
    statistics = (Moments,)
    likelihoods = (NormalLikelihood,)

    def read_prior(self, given: PriorsLike, column: Column) -> tuple[float, ...]:
        """m₀, κ₀, a₀, b₀ of a Normal–Inverse-Gamma prior."""
        return read_numbers(given, column.name, ("m0", "k0", "a0", "b0"))

    def observe(self, table: Table, group: ColumnGroup) -> Moments:
        """Exact weight, sum and sum of squares of each column in each class."""
        weight = None if table.is_unweighted else table.weight
        separate = lying_apart(table, group.columns)
        if separate is not None:
            return Moments.of_columns(separate, table.label, weight, table.n_classes)
        parts = [Moments.of(matrix, table.label, weight, table.n_classes) for matrix in matrices(table, group.columns)]
        return Moments.joined(parts)

    def check_shape(self, statistic: Moments, group: ColumnGroup, schema: Schema) -> None:
        """Check that there is a cell for each class and column."""
        statistic.check(len(schema.classes), len(group.columns))

    def prior_text(self, estimation: Estimation) -> str | None:
        """Description of the prior of mean and variance."""
        if estimation.estimate == "mle":
            return None
        rows = 2 * _alpha(estimation)
        return f"a class's spread leans on that within all classes, as on {rows:g} rows of its own, its mean on the column's"

    def spread(self, statistic: Moments) -> np.ndarray | None:
        """Standard deviation of each column over all classes."""
        return statistic.deviation_of_all()

    def estimate(self, statistic: Moments, group: ColumnGroup, schema: Schema, estimation: Estimation) -> Likelihood:
        """Normal densities (mle, map) or their posterior predictive, a Student t (bayes)."""
        standard = StandardizedMoments.of(statistic)
        parameters = self.parameters(standard, group, schema, estimation)
        constant = standard.is_constant & ~_has_prior(group, schema, estimation)
        mean, variance, degrees = parameters
        if constant.any():
            mean, variance, degrees = (np.where(constant, a, b) for a, b in zip((0.0, 1.0, np.inf), parameters, strict=True))
        with np.errstate(over="ignore"):  # the scale may exceed the largest double
            mean, scale = standard.centre + standard.unit * mean, standard.unit * np.sqrt(variance)
        mean, scale = np.clip(mean, -_LARGEST, _LARGEST), np.clip(scale, SMALLEST, _LARGEST)
        return NormalLikelihood(group.columns, mean, scale, degrees)

    def parameters(
        self, statistic: StandardizedMoments, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> Parameters:
        """Mean, variance and degrees of freedom in each class, in units of the columns."""
        if estimation.estimate == "mle":
            return _plug_in(statistic)
        empirical = _within_classes(statistic, _alpha(estimation), estimation.estimate)
        if not (has_prior := _has_prior(group, schema, estimation)).any():
            return empirical
        prior = _normal_priors(statistic, group, schema, estimation)
        given = _posterior(statistic, np.ldexp(prior, power_of_two(statistic.exponent)), estimation.estimate)
        mean, variance, degrees = (np.where(has_prior, a, b) for a, b in zip(given, empirical, strict=True))
        return mean, variance, degrees

    def add_posterior(
        self,
        statistic: Moments,
        group: ColumnGroup,
        table: Table,
        estimation: Estimation,
        mean: np.ndarray,
        variance: np.ndarray,
    ) -> None:
        """Add mean and variance of the log-density under the posterior; constant columns contribute nothing."""
        standard, first = StandardizedMoments.of(statistic), 0
        posterior = self._believed(standard, group, table.schema, estimation)
        varies = ~standard.is_constant | _has_prior(group, table.schema, estimation)
        for matrix in matrices(table, group.columns):
            local = np.flatnonzero(varies[first : first + matrix.shape[1]])
            selected = first + local
            x = np.clip(
                (matrix[:, local] - standard.centre[selected]) / standard.unit[selected], -_MAX_DISTANCE, _MAX_DISTANCE
            )
            selected_posterior = NormalPosterior(*(each[:, selected] for each in posterior))
            for k in range(table.n_classes):
                expected, uncertainty = log_density_moments(x, k, selected_posterior)
                mean[:, k] += expected
                variance[:, k] += uncertainty
            first += matrix.shape[1]

    def _believed(
        self, statistic: StandardizedMoments, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> NormalPosterior:
        """Posterior in units of the columns, with rows counted by their original weight."""
        empirical = _default_posterior(statistic, _INTERVAL_PRIOR_ROWS)
        if (has_prior := _has_prior(group, schema, estimation)).any():
            given = _specified_prior(
                statistic, np.ldexp(_normal_priors(statistic, group, schema, estimation), power_of_two(statistic.exponent))
            )
            empirical = NormalPosterior(*(np.where(has_prior, a, b) for a, b in zip(given, empirical, strict=True)))
        rows = np.ldexp(1.0, min(statistic.exponent, 900))
        return empirical._replace(
            squares=empirical.squares * rows, degrees=empirical.degrees * rows, kappa=empirical.kappa * rows
        )

    def add_leave_one_out_scores(
        self, statistic: Moments, group: ColumnGroup, table: Table, estimation: Estimation, scores: np.ndarray
    ) -> None:
        """Add leave-one-out scores, in closed form if there is a rule, no column has its own prior and rows are dense."""
        rule = self.left_out_rule(estimation)
        has_prior = any(table.schema.columns[j].name in estimation.priors for j in group.columns)
        if rule is None or has_prior or isinstance(table.values, SparseColumns):
            return super().add_leave_one_out_scores(statistic, group, table, estimation, scores)
        return add_left_out_densities(statistic, group.columns, table, rule, scores)

    def row_update(
        self, statistic: Moments, group: ColumnGroup, changes: Table, sign: int, estimation: Estimation
    ) -> NormalRowUpdate | None:
        """Densities after each change, by the leave-one-out rule; None where it has no closed form."""
        rule, standard = self.left_out_rule(estimation), StandardizedMoments.of(statistic)
        has_prior = any(changes.schema.columns[j].name in estimation.priors for j in group.columns)
        if rule is None or has_prior or standard.exponent or isinstance(changes.values, SparseColumns):
            return None
        value = np.column_stack([changes.values[j] for j in group.columns])
        return altered_normal(standard, value, changes.label, sign * changes.weight, rule)

    def update_inputs(self, table: Table, group: ColumnGroup) -> Ready:
        """Matrices of numeric columns."""
        return list(matrices(table, group.columns))

    def left_out_rule(self, estimation: Estimation) -> LeaveOneOutRule | None:
        """Rule for the density of a row from the moments without it; None if there is no closed form."""
        return LeaveOneOutRule(estimation.estimate, _alpha(estimation), VARIANCE_FLOOR)


class SmoothedGaussian(Gaussian):
    """Normal densities whose variance (divisor n) is raised by `var_smoothing` times the variance of the same column.

    scikit-learn raises it by a fraction of the largest variance of all columns, which swamps columns of small scale. On
    columns of equal variance the two agree.
    """

    name = "smoothed gaussian"

    def prior_text(self, estimation: Estimation) -> str | None:
        """Description of the variance smoothing."""
        return f"variances are raised by {estimation.var_smoothing:g} of the column's"

    def parameters(
        self, statistic: StandardizedMoments, group: ColumnGroup, schema: Schema, estimation: Estimation
    ) -> Parameters:
        """Sample mean and smoothed variance."""
        mean, variance, degrees = _plug_in(statistic, 0.0)
        floor = np.maximum(self.raised(statistic, estimation), 1e-300)
        return mean, np.where(statistic.n > 0, variance + floor, variance), degrees

    def raised(self, statistic: StandardizedMoments, estimation: Estimation) -> np.ndarray | float:
        """Amount added to the variance, in units of the columns."""
        return estimation.var_smoothing

    def left_out_rule(self, estimation: Estimation) -> LeaveOneOutRule | None:
        """Rule with the smoothed variance."""
        return LeaveOneOutRule("raised", _alpha(estimation), estimation.var_smoothing)


class SklearnGaussian(SmoothedGaussian):
    """Normal densities exactly as in scikit-learn: variances are raised by a fraction of the largest one."""

    name = "sklearn gaussian"

    def prior_text(self, estimation: Estimation) -> str | None:
        """Description of the variance smoothing."""
        return f"variances are raised by {estimation.var_smoothing:g} of the largest one of all columns"

    def raised(self, statistic: StandardizedMoments, estimation: Estimation) -> np.ndarray | float:
        """`var_smoothing` times the largest variance, in units of each column."""
        with np.errstate(over="ignore"):
            return np.minimum(estimation.var_smoothing * (statistic.unit.max(initial=0.0) / statistic.unit) ** 2, 1e300)

    def left_out_rule(self, estimation: Estimation) -> LeaveOneOutRule | None:
        """None: removing a row may change the largest variance."""
        return None


def _plug_in(statistic: StandardizedMoments, floor: float = VARIANCE_FLOOR) -> Parameters:
    """Mean and variance (divisor n) of each class; a class without known values gets those of the whole column."""
    mean = np.where(statistic.n > 0, statistic.distance, 0.0)
    variance = np.where(statistic.n > 0, np.maximum(statistic.spread, floor), 1.0)
    return mean, variance, np.full(statistic.n.shape, np.inf)


def _has_prior(group: ColumnGroup, schema: Schema, estimation: Estimation) -> np.ndarray:
    if not estimation.priors:
        return np.zeros(len(group.columns), bool)
    return np.array([schema.columns[j].name in estimation.priors for j in group.columns], bool)


def _alpha(estimation: Estimation) -> float:
    return max(float(np.max(estimation.alpha)), 1e-9)


def _within_classes(statistic: StandardizedMoments, alpha: float, estimate: str) -> Parameters:
    """Parameters to plug in (map) or of the predictive (bayes), under the default prior."""
    row_weight = float(np.ldexp(1.0, -statistic.exponent))
    mean, squares, degrees, kappa = _default_posterior(statistic, alpha)
    if estimate == "map":  # joint mode of mean and variance
        return mean, squares / (2 * (alpha * row_weight) + statistic.n + 2 * row_weight), np.full(statistic.n.shape, np.inf)
    return mean, squares / degrees * (1 + row_weight / kappa), degrees


def _default_posterior(statistic: StandardizedMoments, alpha: float) -> NormalPosterior:
    """Posterior under the default, empirical prior, in units of the column.

    The variance of a class has an inverse χ² prior with 2α degrees about the pooled within-class variance, in which the
    column's own variance counts as one additional row. The prior of its mean is the column's mean with the weight of
    α · within / between rows.
    """
    row_weight = float(np.ldexp(1.0, -statistic.exponent))
    alpha, n, total = alpha * row_weight, statistic.n, statistic.n.sum(axis=0)
    within_all = (n * statistic.spread).sum(axis=0)
    residual_degrees = np.maximum(total - row_weight * (n > 0).sum(axis=0), 0.0)
    within = (within_all + row_weight) / (residual_degrees + row_weight)  # the variance of the whole column is 1
    between = np.maximum((n * statistic.distance**2).sum(axis=0) / np.maximum(total, row_weight), _MIN_BETWEEN)
    kappa = alpha * within / between + n
    squares = 2 * alpha * within + n * statistic.spread
    return NormalPosterior(n / kappa * statistic.distance, squares, 2 * alpha + np.maximum(n - row_weight, 0.0), kappa)


def _normal_priors(statistic: StandardizedMoments, group: ColumnGroup, schema: Schema, estimation: Estimation) -> np.ndarray:
    """m₀, κ₀, a₀, b₀ of each column in its own units, 1 for columns without a given prior: [4, n_columns]."""
    prior = np.ones((4, len(group.columns)))
    for k, j in enumerate(group.columns):
        column_prior = estimation.priors.get(schema.columns[j].name)
        if column_prior is not None:
            m0, k0, a0, b0 = column_prior
            prior[:, k] = (m0 - statistic.centre[k]) / statistic.unit[k], k0, a0, b0 / statistic.unit[k] / statistic.unit[k]
    return prior


def _posterior(statistic: StandardizedMoments, prior: np.ndarray, estimate: str) -> Parameters:
    """Parameters to plug in (map) or of the predictive (bayes), under a given prior."""
    mean, squares, degrees, kappa = _specified_prior(statistic, prior)
    if estimate == "map":  # joint mode of mean and variance
        return mean, squares / (degrees + 3), np.full(statistic.n.shape, np.inf)
    return mean, squares / degrees * (1 + 1 / kappa), degrees


def _specified_prior(statistic: StandardizedMoments, prior: np.ndarray) -> NormalPosterior:
    """Posterior of a Normal–Inverse-Gamma prior in units of the column (Murphy 2007)."""
    m0, k0, a0, b0 = prior
    kappa, a = k0 + statistic.n, a0 + statistic.n / 2
    mean = (k0 * m0 + statistic.n * statistic.distance) / kappa
    b = b0 + statistic.n * statistic.spread / 2 + k0 * statistic.n * (statistic.distance - m0) ** 2 / (2 * kappa)
    return NormalPosterior(mean, 2 * b, 2 * a, kappa)
