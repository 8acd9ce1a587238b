"""Learners of discriminant analysis: additive ones, and shrinkage after Ledoit and Wolf, which reads the rows twice."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from baytree import _warnings
from baytree.base.learner import FitResult, MergeableLearner
from baytree.data.encoding.labels import within_doubles
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
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
from baytree.linear.scatter.observe import scatter_of
from baytree.linear.scatter.scatter import Scatter
from baytree.parallel.blas import at_most, one_blas_thread
from baytree.param_validation import ClassAmounts


def refuse_text(schema: Schema) -> None:
    """Raises an error where a column is text."""
    for column in schema.columns:
        if column.kind is Kind.TEXT:
            raise ValueError(
                f"column {column.name!r} is text, and words have no covariance worth estimating; "
                "leave it out, or use LogisticRegression or NaiveBayesClassifier"
            )


@dataclass(frozen=True)
class DiscriminantLearner(MergeableLearner):
    """Gaussian classes as a function of one statistic; `shrinkage` is amounts, or None for those of `oas`."""

    covariance: str = "unbiased"
    shrinkage: np.ndarray | None = None  # [1], or [n_classes] for own covariances
    priors: ClassAmounts | None = None

    is_pooled = True

    def observe(self, table: Table) -> Scatter:
        """Weight, mean and scatter of each class."""
        return scatter_of(within_doubles(table), self.is_pooled)

    def observe_all(self, rows: Partitions) -> Scatter:
        """The statistic of all rows, in parts as large as they come: blocks of rows are shared among threads within.

        Warns of columns that one far value has made useless.
        """
        outliers = Outliers(rows)
        seen = rows.map_reduce(self.observe, rows_per_part=None)
        is_value = seen.layout.level == VALUE
        outliers.warn(seen.layout.source[is_value], seen.deviations()[is_value])
        return seen

    def derive(self, seen: Scatter, schema: Schema) -> LinearDiscriminant | QuadraticDiscriminant:
        """The rule of these statistics."""
        with one_blas_thread():
            return self._rule(seen, self._choice(seen, schema), schema)

    def leave_one_out(self, rows: Partitions) -> np.ndarray:
        """The probabilities of each row under the rule of all other rows. [n_rows, n_classes]"""
        table = within_doubles(rows.gather())
        with at_most(rows.n_jobs):
            seen = self.observe(table)
            return self._without_each(table, seen, self._choice(seen, table.schema))

    def intervals(self, seen: Scatter, table: Table, level: float) -> np.ndarray:
        """Of the probability of each class. [n_rows, n_classes, 2]"""
        with one_blas_thread(), _warnings.capture():  # what is odd about the columns was told when they were learnt
            return self._intervals(seen, table, self._choice(seen, table.schema), level)

    def pooled(self, seen: Scatter, schema: Schema) -> PooledCovariance:
        """The statistic made ready, before any shrinkage; what is odd about the columns is told by the rule."""
        with _warnings.capture():
            return pool(seen, DiscriminantOptions(covariance=self.covariance, priors=self._shares(schema)), schema.columns)

    def _choice(self, seen: Scatter, schema: Schema) -> DiscriminantOptions:
        amount = self.shrinkage
        if amount is None:
            amount = oas(self.pooled(seen, schema), by_class=not self.is_pooled)
        return DiscriminantOptions(covariance=self.covariance, shrinkage=amount, priors=self._shares(schema))

    def _shares(self, schema: Schema) -> np.ndarray | None:
        return None if self.priors is None else self.priors.shares(schema.classes)

    @abstractmethod
    def _rule(
        self, seen: Scatter, choice: DiscriminantOptions, schema: Schema
    ) -> LinearDiscriminant | QuadraticDiscriminant:
        """The model that follows from the statistic and the choices."""

    @abstractmethod
    def _without_each(self, table: Table, seen: Scatter, choice: DiscriminantOptions) -> np.ndarray:
        """The probabilities of each row under the rule of all other rows."""

    @abstractmethod
    def _intervals(self, seen: Scatter, table: Table, choice: DiscriminantOptions, level: float) -> np.ndarray:
        """The intervals that follow from the statistic and the choices."""


class LinearDiscriminantLearner(DiscriminantLearner):
    """Classes with one covariance."""

    def _rule(self, seen: Scatter, choice: DiscriminantOptions, schema: Schema) -> LinearDiscriminant:
        return derive_linear(seen, choice, schema.columns)

    def _without_each(self, table: Table, seen: Scatter, choice: DiscriminantOptions) -> np.ndarray:
        return linear_leave_one_out(table, seen, choice, table.schema.columns)

    def _intervals(self, seen: Scatter, table: Table, choice: DiscriminantOptions, level: float) -> np.ndarray:
        return linear_intervals(table, seen, choice, table.schema.columns, level)


class QuadraticDiscriminantLearner(DiscriminantLearner):
    """Classes with a covariance each."""

    is_pooled = False

    def _rule(self, seen: Scatter, choice: DiscriminantOptions, schema: Schema) -> QuadraticDiscriminant:
        return derive_quadratic(seen, choice, schema.columns, schema.classes)

    def _without_each(self, table: Table, seen: Scatter, choice: DiscriminantOptions) -> np.ndarray:
        return quadratic_without_each(table, seen, choice, table.schema.columns, table.schema.classes)

    def _intervals(self, seen: Scatter, table: Table, choice: DiscriminantOptions, level: float) -> np.ndarray:
        return quadratic_intervals(table, seen, choice, table.schema.columns, level)


@dataclass(frozen=True)
class LedoitWolfLearner:
    """A discriminant shrunk as far as the rows themselves say: a second round reads their fourth powers, so it adds up to
    nothing that could be taken apart again."""

    rule: DiscriminantLearner

    def learn(self, rows: Partitions) -> FitResult:
        """The rule, shrunk by the amount of least expected squared error."""
        with at_most(rows.n_jobs):
            seen = self.rule.observe_all(rows)
            pooled = self.rule.pooled(seen, rows.schema)
            fourth = rows.map_reduce(lambda table: fourth_powers(within_doubles(table), pooled), rows_per_part=None)
            amount = ledoit_wolf(fourth, pooled, by_class=not self.rule.is_pooled)
            return FitResult(replace(self.rule, shrinkage=amount).derive(seen, rows.schema), seen)

    def intervals(self, seen: Scatter, table: Table, level: float) -> np.ndarray:
        """Refused, as of every covariance that was shrunk."""
        return replace(self.rule, shrinkage=np.ones(1)).intervals(seen, table, level)
