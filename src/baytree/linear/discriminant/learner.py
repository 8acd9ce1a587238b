"""Learners of discriminant analysis: mergeable ones, and one with Ledoit–Wolf shrinkage, which needs two passes over the
rows.

`DiscriminantLearner` is the base class; its subclasses supply derivation, leave-one-out and intervals of LDA and QDA.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from baytree import _warnings
from baytree.base.learner import FitResult, MergeableLearner
from baytree.data.encoding.labels import within_doubles
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.aggregates import as_query
from baytree.engine.outliers import Outliers
from baytree.engine.partitions import Partitions
from baytree.linear.design.feature_layout import VALUE
from baytree.linear.discriminant.covariance import (
    DiscriminantOptions,
    PooledCovariance,
    fourth_powers,
    ledoit_wolf,
    oas,
    pool,
)
from baytree.linear.discriminant.derive import derive_linear, derive_quadratic
from baytree.linear.discriminant.intervals import linear_intervals, quadratic_intervals
from baytree.linear.discriminant.leave_one_out import linear_leave_one_out, quadratic_without_each
from baytree.linear.discriminant.model import LinearDiscriminant, QuadraticDiscriminant
from baytree.linear.scatter.observe import scatter_form, scatter_of
from baytree.linear.scatter.scatter import Scatter
from baytree.parallel.blas import at_most, one_blas_thread
from baytree.param_validation import ClassAmounts

# of text columns, see `param_validation.reject_text_columns`
TEXT_REMEDY = "leave it out, or use LogisticRegression or NaiveBayesClassifier"


@dataclass(frozen=True)
class DiscriminantLearner(MergeableLearner):
    """Gaussian classes as a function of one `Scatter`. `shrinkage` holds amounts; None means that `oas` computes them."""

    covariance: str = "unbiased"
    shrinkage: np.ndarray | None = None  # [1]; [n_classes] for one covariance per class
    priors: ClassAmounts | None = None

    is_pooled = True

    @as_query(lambda self: scatter_form(self.is_pooled))
    def observe(self, table: Table) -> Scatter:
        """Weight, mean and scatter of each class."""
        return scatter_of(within_doubles(table), self.is_pooled)

    def observe_all(self, rows: Partitions) -> Scatter:
        """Statistic of all rows, from partitions that are not subdivided: each is read by several threads.

        Warns of columns whose variance is due to a single extreme value.
        """
        outliers = Outliers(rows)
        statistic = rows.map_reduce(self.observe, rows_per_part=None)
        is_value = statistic.layout.level == VALUE
        outliers.warn(statistic.layout.source[is_value], statistic.deviations()[is_value])
        return statistic

    def derive(self, statistic: Scatter, schema: Schema) -> LinearDiscriminant | QuadraticDiscriminant:
        """Discriminant model of a statistic."""
        with one_blas_thread():
            return self._rule(statistic, self._choice(statistic, schema), schema)

    def leave_one_out(self, rows: Partitions) -> np.ndarray:
        """Class probabilities of each row by the model of all other rows. [n_rows, n_classes]"""
        table = within_doubles(rows.gather())
        with at_most(rows.n_jobs):
            statistic = self.observe(table)
            return self._without_each(table, statistic, self._choice(statistic, table.schema))

    def intervals(self, scatter: Scatter, table: Table, level: float) -> np.ndarray:
        """Intervals of the class probabilities. [n_rows, n_classes, 2]"""
        with one_blas_thread(), _warnings.capture():  # `fit` has already warned of these columns
            return self._intervals(scatter, table, self._choice(scatter, table.schema), level)

    def pooled(self, scatter: Scatter, schema: Schema) -> PooledCovariance:
        """Pooled covariance before shrinkage; warnings are dropped here because deriving the model gives them."""
        with _warnings.capture():
            return pool(
                scatter, DiscriminantOptions(covariance=self.covariance, priors=self._shares(schema)), schema.columns
            )

    def _choice(self, scatter: Scatter, schema: Schema) -> DiscriminantOptions:
        amount = self.shrinkage
        if amount is None:
            amount = oas(self.pooled(scatter, schema), by_class=not self.is_pooled)
        return DiscriminantOptions(covariance=self.covariance, shrinkage=amount, priors=self._shares(schema))

    def _shares(self, schema: Schema) -> np.ndarray | None:
        return None if self.priors is None else self.priors.shares(schema.classes)

    @abstractmethod
    def _rule(
        self, scatter: Scatter, choice: DiscriminantOptions, schema: Schema
    ) -> LinearDiscriminant | QuadraticDiscriminant:
        """Model of the statistic with these options."""

    @abstractmethod
    def _without_each(self, table: Table, scatter: Scatter, choice: DiscriminantOptions) -> np.ndarray:
        """Class probabilities of each row by the model of all other rows."""

    @abstractmethod
    def _intervals(self, scatter: Scatter, table: Table, choice: DiscriminantOptions, level: float) -> np.ndarray:
        """Intervals for the statistic with these options."""


class LinearDiscriminantLearner(DiscriminantLearner):
    """Linear discriminant analysis: classes share one covariance."""

    def _rule(self, scatter: Scatter, choice: DiscriminantOptions, schema: Schema) -> LinearDiscriminant:
        return derive_linear(scatter, choice, schema.columns)

    def _without_each(self, table: Table, scatter: Scatter, choice: DiscriminantOptions) -> np.ndarray:
        return linear_leave_one_out(table, scatter, choice, table.schema.columns)

    def _intervals(self, scatter: Scatter, table: Table, choice: DiscriminantOptions, level: float) -> np.ndarray:
        return linear_intervals(table, scatter, choice, table.schema.columns, level)


@dataclass(frozen=True)
class QuadraticDiscriminantLearner(DiscriminantLearner):
    """Quadratic discriminant analysis: each class has its own covariance, or only variances if it is `diagonal`."""

    diagonal: bool = False

    is_pooled = False

    def _rule(self, scatter: Scatter, choice: DiscriminantOptions, schema: Schema) -> QuadraticDiscriminant:
        choice = msgspec.structs.replace(choice, is_diagonal=self.diagonal)
        return derive_quadratic(scatter, choice, schema.columns, schema.classes)

    def _without_each(self, table: Table, scatter: Scatter, choice: DiscriminantOptions) -> np.ndarray:
        self._refuse_diagonal("leave_one_out")
        return quadratic_without_each(table, scatter, choice, table.schema.columns, table.schema.classes)

    def _intervals(self, scatter: Scatter, table: Table, choice: DiscriminantOptions, level: float) -> np.ndarray:
        self._refuse_diagonal("predict_interval")
        return quadratic_intervals(table, scatter, choice, table.schema.columns, level)

    def _refuse_diagonal(self, method: str) -> None:
        if self.diagonal:
            raise ValueError(
                f"{method} is not available with diagonal=True; use NaiveBayesClassifier, which is the same model"
            )


@dataclass(frozen=True)
class LedoitWolfLearner:
    """Discriminant analysis with Ledoit–Wolf shrinkage. A second pass reads fourth powers, so the statistic is not
    mergeable.
    """

    rule: DiscriminantLearner

    def learn(self, rows: Partitions) -> FitResult:
        """Model with the shrinkage of minimum expected squared error."""
        with at_most(rows.n_jobs):
            statistic = self.rule.observe_all(rows)
            pooled = self.rule.pooled(statistic, rows.schema)
            fourth = rows.map_reduce(lambda table: fourth_powers(within_doubles(table), pooled), rows_per_part=None)
            amount = ledoit_wolf(fourth, pooled, by_class=not self.rule.is_pooled)
            return FitResult(replace(self.rule, shrinkage=amount).derive(statistic, rows.schema), statistic)

    def intervals(self, scatter: Scatter, table: Table, level: float) -> np.ndarray:
        """Raise ValueError: there are no intervals for a shrunk covariance."""
        return replace(self.rule, shrinkage=np.ones(1)).intervals(scatter, table, level)
