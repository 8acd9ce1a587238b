"""Event models that reproduce e1071's naiveBayes (R): densities and probabilities of 0 are replaced by 0.001."""

from __future__ import annotations

import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.formula.builder import Effects, FormulaBuilder, constant, near, where_known
from baytree.formula.expressions import Apply, Case, Compare, Product, Quotient, Sum, When
from baytree.naive_bayes.events.base import ColumnsLikelihood, Likelihood, check_numeric
from baytree.naive_bayes.events.categorical import Categorical
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation
from baytree.naive_bayes.events.gaussian import Gaussian
from baytree.naive_bayes.events.normal import check_moments, normals
from baytree.naive_bayes.events.row_updates import LeaveOneOutRule
from baytree.statistics.moments import Moments
from baytree.summary.naive_bayes import Normal

MIN_DENSITY = 0.001  # e1071's replacement for a density, standard deviation or probability of 0


class E1071Likelihood(ColumnsLikelihood, frozen=True, tag="e1071_normal"):
    """Normal densities as in e1071: one that underflows to 0 is replaced by 0.001."""

    mean: np.ndarray  # [n_classes, n_columns]
    scale: np.ndarray  # [n_classes, n_columns], positive

    def __post_init__(self) -> None:
        check_moments(self.columns, self.mean, self.scale)

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the columns are numeric and every class has its densities."""
        check_numeric(self.columns, self.mean.shape[0], schema)

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Add each row's log-density to its scores; missing values contribute nothing."""
        for effect in self.effects(table):
            scores += effect

    def effects(self, table: Table) -> list[np.ndarray]:
        """Contribution of each column to the scores: a list of float64 [n_rows, n_classes]."""
        return [self._effect(table.values[j][:, None], k) for k, j in enumerate(self.columns)]

    def _effect(self, values: np.ndarray, k: int) -> np.ndarray:
        if np.isinf(values).any():
            raise ValueError("a value is infinite")
        with np.errstate(over="ignore", under="ignore"):
            z = (values - self.mean[:, k]) / self.scale[:, k]
            density = np.exp(-0.5 * z * z) / (np.sqrt(2 * np.pi) * self.scale[:, k])
        density = np.where(density > 0, density, MIN_DENSITY)
        return np.where(np.isnan(values), 0.0, np.log(density))

    def formula(self, steps: FormulaBuilder) -> Effects:
        """log (1/(s √2π) e^(−z²/2)), or log 0.001 if that density underflows to 0."""
        added: Effects = []
        for k, j in enumerate(self.columns):
            mean, scale = self.mean[:, k], self.scale[:, k]  # beyond 1000 standard deviations the density is 0
            standardized = Quotient(Sum((near(j, mean, mean, 1e3 * scale), constant(-mean))), constant(scale))
            z = steps.add_step(where_known(j, standardized, len(mean)))
            exponential = Apply("exp", Product((constant(-0.5), z, z)))
            density = steps.add_step(Quotient(exponential, constant(np.sqrt(2 * np.pi) * scale)))
            floored = Case((When(Compare(density, ">", constant(0.0)), density),), constant(MIN_DENSITY))
            added.append((j, where_known(j, Apply("log", floored), len(mean))))
        return added

    def summary(self, schema: Schema) -> list[Normal]:
        """Mean and standard deviation of each column in each class."""
        return normals(self.columns, self.mean, self.scale, schema)

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Mean and standard deviation in each class."""
        k = self.columns.index(column)
        return ["mean", "scale"], np.stack([self.mean[:, k], self.scale[:, k]])

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """Random values of each column for each row, given its class."""
        deviates = random.standard_normal((len(self.columns), len(label)))
        return [self.mean[label, k] + self.scale[label, k] * deviates[k] for k in range(len(self.columns))]


class E1071Gaussian(Gaussian):
    """Mean and standard deviation (divisor n − 1) of each class; a deviation of 0, or of a single value, becomes 0.001.

    For a class without known values, where e1071 returns no number, the moments over all classes are used.
    """

    name = "e1071 gaussian"
    likelihoods = (E1071Likelihood,)

    def prior_text(self, estimation: Estimation) -> str | None:
        """None: e1071 has no prior for numeric columns."""
        return None

    def estimate(self, statistic: Moments, group: ColumnGroup, schema: Schema, estimation: Estimation) -> Likelihood:
        """Densities as e1071 would use them."""
        pooled = statistic.pooled()
        n, n_all = statistic.weight.rounded(), pooled.weight.rounded()
        mean = np.where(n > 0, np.nan_to_num(statistic.mean()), np.nan_to_num(pooled.mean()))
        deviation = np.where(n > 0, _sample_deviation(statistic, n), _sample_deviation(pooled, n_all))
        return E1071Likelihood(group.columns, mean, np.where(deviation > 0, deviation, MIN_DENSITY))

    def left_out_rule(self, estimation: Estimation) -> LeaveOneOutRule | None:
        """None: likelihoods without a row are derived anew."""
        return None


class E1071Categorical(Categorical):
    """Level probabilities as in e1071: a probability of 0 is replaced by 0.001."""

    name = "e1071 categorical"

    def logarithm(self, proportion: np.ndarray) -> np.ndarray:
        """Logarithm of proportions, with 0 replaced by 0.001."""
        return np.log(np.where(proportion > 0, proportion, MIN_DENSITY))


def _sample_deviation(statistic: Moments, n: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(statistic.deviation() * np.sqrt(n / (n - 1)), nan=0.0, posinf=0.0)
