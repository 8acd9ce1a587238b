"""Events of counts and binary values, from the totals of numeric columns: Bernoulli, Poisson, multinomial, complement.

References: McCallum and Nigam (1998) for the event models, Rennie and others (2003) for complement naive Bayes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from baytree._typing import PriorsLike
from baytree.data.encoding.matrices import matrices
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.naive_bayes.events.base import EventModel, Likelihood
from baytree.naive_bayes.events.count_likelihoods import (
    CountLikelihood,
    DirichletMultinomialLikelihood,
    amount_weights,
    fill_empty_classes,
    poisson_rates,
)
from baytree.naive_bayes.events.estimation import (
    ColumnGroup,
    Estimation,
    complement_weights,
    log_proportions,
    read_numbers,
    read_pseudo_count,
)
from baytree.naive_bayes.events.normal import log_proportion_moments
from baytree.statistics.totals import Totals
from baytree.uncertainty.intervals import JEFFREYS


class CountEvent(EventModel[Totals]):
    """Base class of events that use totals of numeric columns."""

    is_joint = True
    statistics = (Totals,)
    likelihoods = (CountLikelihood,)

    def observe(self, table: Table, group: ColumnGroup) -> Totals:
        """Known weight and sum of each column in each class."""
        return Totals.of(table, group.columns)

    def check_shape(self, statistic: Totals, group: ColumnGroup, schema: Schema) -> None:
        """Check that there is a cell for each column and class."""
        statistic.check(len(group.columns), len(schema.classes))


class BernoulliEvent(CountEvent):
    """Whether a value exceeds a threshold (0 by default), with a Beta(α, α) prior if `estimate` is 'bayes'."""

    name = "bernoulli"
    substitute_events: ClassVar[Mapping[Kind, str]] = {
        Kind.NOMINAL: "categorical",
        Kind.ORDINAL: "categorical",
        Kind.TEXT: "text bernoulli",
    }

    def read_prior(self, given: PriorsLike, column: Column) -> tuple[float, ...]:
        """a and b of a Beta prior."""
        return read_numbers(given, column.name, ("a", "b"))

    def observe(self, table: Table, group: ColumnGroup) -> Totals:
        """Known weight of each column in each class, and the weight above the threshold."""
        return Totals.above(table, group.columns, group.threshold)

    def check_column(self, column: Column) -> None:
        """Raise ValueError for nominal columns of more than two levels."""
        if column.kind in (Kind.NOMINAL, Kind.ORDINAL) and len(column.levels) > 2:
            raise ValueError(
                f"column {column.name!r} has {len(column.levels)} levels, but 'bernoulli' needs two: use 'categorical'"
            )

    def estimate(self, statistic: Totals, group: ColumnGroup, schema: Schema, estimation: Estimation) -> CountLikelihood:
        """(yes + a) / (n + a + b) for 'bayes', its mode for 'map', yes / n for 'mle'; ½ if nothing is known."""
        known, yes = statistic.rounded()
        a, b = _beta_priors(group, schema, estimation).T[:, :, None]
        total = known + a + b
        with np.errstate(invalid="ignore", divide="ignore"):
            log_yes = np.log(np.where(total > 0, (yes + a) / total, 0.5))
            log_no = np.log(np.where(total > 0, (np.maximum(known - yes, 0) + b) / total, 0.5))
        zeros = np.zeros_like(log_yes)
        return CountLikelihood(group.columns, "binary", group.threshold, log_no, log_yes, zeros, zeros + np.inf)

    def add_posterior(
        self,
        statistic: Totals,
        group: ColumnGroup,
        table: Table,
        estimation: Estimation,
        mean: np.ndarray,
        variance: np.ndarray,
    ) -> None:
        """Add mean and variance of the log-probability of yes or no under a Beta posterior."""
        known, yes = statistic.rounded()
        for k, x in _columns_of(table, group):
            outcome = np.where(np.isnan(x), -1, x > group.threshold).astype(np.int32)
            counts = np.stack([np.maximum(known[k] - yes[k], 0), yes[k]]) + JEFFREYS
            for added, moments in zip((mean, variance), log_proportion_moments(counts), strict=True):
                added += np.concatenate([moments, np.zeros_like(moments[:1])])[outcome]


class Poisson(CountEvent):
    """Poisson counts; for 'bayes' the negative binomial predictive, with the rate integrated out under a Gamma prior.

    The prior has the weight of α rows with the column's own mean; `priors={"clicks": {"shape": …, "rate": …}}` sets another.
    """

    name = "poisson"

    def read_prior(self, given: PriorsLike, column: Column) -> tuple[float, ...]:
        """Shape and rate of a Gamma prior."""
        return read_numbers(given, column.name, ("shape", "rate"))

    def estimate(self, statistic: Totals, group: ColumnGroup, schema: Schema, estimation: Estimation) -> CountLikelihood:
        """Rate of each class, or the predictive distribution."""
        known, total = statistic.rounded()
        pooled_mean = total.sum(axis=1) / np.maximum(known.sum(axis=1), 1e-300)
        if estimation.estimate == "mle":
            rate = np.where(known > 0, total / np.maximum(known, 1e-300), pooled_mean[:, None])
            return poisson_rates(group.columns, rate)
        shape, gamma_rate = _gamma_priors(group, schema, estimation, pooled_mean).T[:, :, None]
        shape, gamma_rate = shape + total, gamma_rate + known
        if estimation.estimate == "map":
            return poisson_rates(group.columns, np.maximum(shape - 1, 0) / gamma_rate)
        zero = -shape * np.log1p(1 / gamma_rate)
        return CountLikelihood(group.columns, "poisson", 0.0, zero, zero, -np.log1p(gamma_rate), shape)

    def add_posterior(
        self,
        statistic: Totals,
        group: ColumnGroup,
        table: Table,
        estimation: Estimation,
        mean: np.ndarray,
        variance: np.ndarray,
    ) -> None:
        """Add mean and variance of x log λ − λ for λ ~ Gamma(a, b): Var log λ = ψ'(a), Cov(log λ, λ) = 1/b, Var λ = a/b²."""
        from scipy.special import digamma, polygamma

        known, total = statistic.rounded()
        pooled_mean = total.sum(axis=1) / np.maximum(known.sum(axis=1), 1e-300)
        shape, rate = _gamma_priors(group, table.schema, estimation, pooled_mean).T[:, :, None]
        a, b = shape + total, rate + known
        for k, x in _columns_of(table, group):
            x = x[:, None]
            expected = x * (digamma(a[k]) - np.log(b[k])) - a[k] / b[k]
            mean += np.where(np.isnan(x), 0.0, expected)
            variance += np.where(np.isnan(x), 0.0, x**2 * polygamma(1, a[k]) - 2 * x / b[k] + a[k] / b[k] ** 2)


class Multinomial(CountEvent):
    """Multinomial counts over the columns of the group, with estimated probabilities (N_w + α) / (N + αV)."""

    name = "plugin multinomial"
    substitute_events: ClassVar[Mapping[Kind, str]] = {Kind.TEXT: "text plugin multinomial"}

    def read_prior(self, given: PriorsLike, column: Column) -> float:
        """A pseudo-count."""
        return read_pseudo_count(given, column.name)

    def estimate(self, statistic: Totals, group: ColumnGroup, schema: Schema, estimation: Estimation) -> Likelihood:
        """Log-probability of each column; a count of 0 contributes nothing."""
        log_probability = log_proportions(statistic.rounded()[1], _column_alphas(group, schema, estimation))
        return amount_weights(group.columns, "count", log_probability)

    def add_posterior(
        self,
        statistic: Totals,
        group: ColumnGroup,
        table: Table,
        estimation: Estimation,
        mean: np.ndarray,
        variance: np.ndarray,
    ) -> None:
        """Add mean and variance of Σ x log p under a Dirichlet posterior: variance Σ x² ψ'(a) − (Σ x)² ψ'(A)."""
        from scipy.special import digamma, polygamma

        amount = statistic.total.rounded() + JEFFREYS
        total, sampled = amount.sum(axis=0), np.zeros((len(table), 1))
        for k, x in _columns_of(table, group):
            count = np.nan_to_num(x)[:, None]
            mean += count * digamma(amount[k])
            variance += count**2 * polygamma(1, amount[k])
            sampled += count
        mean -= sampled * digamma(total)
        variance -= sampled**2 * polygamma(1, total)


class Complement(CountEvent):
    """Complement naive Bayes: counts weighted by how rare a column is in all other classes (Rennie and others 2003)."""

    name = "complement"
    substitute_events: ClassVar[Mapping[Kind, str]] = {Kind.TEXT: "text complement"}

    def read_prior(self, given: PriorsLike, column: Column) -> float:
        """A pseudo-count."""
        return read_pseudo_count(given, column.name)

    def estimate(self, statistic: Totals, group: ColumnGroup, schema: Schema, estimation: Estimation) -> CountLikelihood:
        """Weight of each column in each class."""
        total = statistic.rounded()[1]
        weight = complement_weights(total, _column_alphas(group, schema, estimation), estimation.is_normalised)
        return amount_weights(group.columns, "amount", weight)


class PredictiveMultinomial(Multinomial):
    """Multinomial counts; for 'bayes' the exact Dirichlet–multinomial predictive, for 'mle' and 'map' as `Multinomial`."""

    name = "multinomial"
    substitute_events: ClassVar[Mapping[Kind, str]] = {Kind.TEXT: "text multinomial"}
    likelihoods = (CountLikelihood, DirichletMultinomialLikelihood)

    def estimate(self, statistic: Totals, group: ColumnGroup, schema: Schema, estimation: Estimation) -> Likelihood:
        """Concentrations of each class, or estimated probabilities."""
        if estimation.estimate != "bayes":
            return super().estimate(statistic, group, schema, estimation)
        concentration = statistic.total.rounded() + _column_alphas(group, schema, estimation)[:, None]
        return DirichletMultinomialLikelihood(group.columns, fill_empty_classes(concentration))


def _columns_of(table: Table, group: ColumnGroup) -> Iterator[tuple[int, np.ndarray]]:
    """Index of each column in its group, and its values."""
    yield from enumerate(column for matrix in matrices(table, group.columns) for column in matrix.T)


def _column_alphas(group: ColumnGroup, schema: Schema, estimation: Estimation) -> np.ndarray:
    """Pseudo-count of each column of a group: [n_columns]."""
    alpha = np.broadcast_to(np.asarray(estimation.alpha, np.float64), (len(group.columns),)).copy()
    for k, j in enumerate(group.columns):
        column_prior = estimation.priors.get(schema.columns[j].name)
        if column_prior is not None:
            alpha[k] = column_prior
    if estimation.estimate == "map":
        return np.maximum(alpha - 1, 0)
    return alpha if estimation.estimate == "bayes" else np.zeros_like(alpha)


def _beta_priors(group: ColumnGroup, schema: Schema, estimation: Estimation) -> np.ndarray:
    """a and b of each column, less 1 for 'map', 0 for 'mle': [n_columns, 2]."""
    alpha = np.broadcast_to(np.asarray(estimation.alpha, np.float64), (len(group.columns),))
    prior = np.stack([alpha, alpha], axis=1)
    for k, j in enumerate(group.columns):
        column_prior = estimation.priors.get(schema.columns[j].name)
        prior[k] = prior[k] if column_prior is None else column_prior
    added = {"mle": 0 * prior, "map": np.maximum(prior - 1, 0), "bayes": prior}
    return added[estimation.estimate]


def _gamma_priors(group: ColumnGroup, schema: Schema, estimation: Estimation, pooled: np.ndarray) -> np.ndarray:
    """Shape and rate of each column: [n_columns, 2]."""
    alpha = max(float(np.max(estimation.alpha)), 1e-9)
    prior = np.stack([np.maximum(alpha * pooled, 1e-9), np.full(len(pooled), alpha)], axis=1)
    for k, j in enumerate(group.columns):
        column_prior = estimation.priors.get(schema.columns[j].name)
        prior[k] = prior[k] if column_prior is None else column_prior
    return prior
