"""Learners of discriminant analysis: additive ones, and shrinkage after Ledoit and Wolf, which reads the rows twice."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from baytree import notices
from baytree.engine.blas import at_most, one_blas_thread
from baytree.engine.parts import Parts
from baytree.engine.rounds.outliers import Outliers
from baytree.learner import Additive, Learnt
from baytree.linear.design.feature_layout import VALUE
from baytree.linear.discriminant.from_scatter import derive_linear, derive_quadratic
from baytree.linear.discriminant.intervals import linear_intervals, quadratic_intervals
from baytree.linear.discriminant.model import LinearDiscriminant, QuadraticDiscriminant
from baytree.linear.discriminant.pooled import Choice, Pooled, pool
from baytree.linear.discriminant.shrinkage import fourth_powers, ledoit_wolf, oas
from baytree.linear.discriminant.without_each import linear_without_each, quadratic_without_each
from baytree.linear.scatter.observe import scatter_of
from baytree.linear.scatter.scatter import Scatter
from baytree.settings import ByClass
from baytree.table.schema import Kind, Schema
from baytree.table.table import Table
from baytree.table.weights import within_doubles


def refuse_text(schema: Schema) -> None:
    """Raises an error where a column is text."""
    for column in schema.columns:
        if column.kind is Kind.TEXT:
            raise ValueError(
                f"column {column.name!r} is text, and words have no covariance worth estimating; "
                "leave it out, or use LogisticRegression or NaiveBayesClassifier"
            )


@dataclass(frozen=True)
class Discriminant(Additive):
    """Gaussian classes as a function of one statistic; `shrinkage` is amounts, or None for those of `oas`."""

    covariance: str = "unbiased"
    shrinkage: np.ndarray | None = None  # [1], or [n_classes] for own covariances
    priors: ByClass | None = None

    is_pooled = True

    def observe(self, table: Table) -> Scatter:
        """Weight, mean and scatter of each class."""
        return scatter_of(within_doubles(table), self.is_pooled)

    def total(self, rows: Parts) -> Scatter:
        """The statistic of all rows, in parts as large as they come: blocks of rows are shared among threads within.

        Warns of columns that one far value has made useless.
        """
        outliers = Outliers(rows)
        seen = rows.total(self.observe, rows_per_part=None)
        is_value = seen.layout.level == VALUE
        outliers.warn(seen.layout.source[is_value], seen.deviations()[is_value])
        return seen

    def derive(self, seen: Scatter, schema: Schema) -> LinearDiscriminant | QuadraticDiscriminant:
        """The rule of these statistics."""
        with one_blas_thread():
            return self._rule(seen, self._choice(seen, schema), schema)

    def leave_one_out(self, rows: Parts) -> np.ndarray:
        """The probabilities of each row under the rule of all other rows. [n_rows, n_classes]"""
        table = within_doubles(rows.gather())
        with at_most(rows.n_jobs):
            seen = self.observe(table)
            return self._without_each(table, seen, self._choice(seen, table.schema))

    def intervals(self, seen: Scatter, table: Table, level: float) -> np.ndarray:
        """Of the probability of each class. [n_rows, n_classes, 2]"""
        with one_blas_thread(), notices.keeping():  # what is odd about the columns was told when they were learnt
            return self._intervals(seen, table, self._choice(seen, table.schema), level)

    def pooled(self, seen: Scatter, schema: Schema) -> Pooled:
        """The statistic made ready, before any shrinkage; what is odd about the columns is told by the rule."""
        with notices.keeping():
            return pool(seen, Choice(covariance=self.covariance, priors=self._shares(schema)), schema.columns)

    def _choice(self, seen: Scatter, schema: Schema) -> Choice:
        amount = self.shrinkage
        if amount is None:
            amount = oas(self.pooled(seen, schema), by_class=not self.is_pooled)
        return Choice(covariance=self.covariance, shrinkage=amount, priors=self._shares(schema))

    def _shares(self, schema: Schema) -> np.ndarray | None:
        return None if self.priors is None else self.priors.shares(schema.classes)

    @abstractmethod
    def _rule(self, seen: Scatter, choice: Choice, schema: Schema) -> LinearDiscriminant | QuadraticDiscriminant:
        """The model that follows from the statistic and the choices."""

    @abstractmethod
    def _without_each(self, table: Table, seen: Scatter, choice: Choice) -> np.ndarray:
        """The probabilities of each row under the rule of all other rows."""

    @abstractmethod
    def _intervals(self, seen: Scatter, table: Table, choice: Choice, level: float) -> np.ndarray:
        """The intervals that follow from the statistic and the choices."""


class Linear(Discriminant):
    """Classes with one covariance."""

    def _rule(self, seen: Scatter, choice: Choice, schema: Schema) -> LinearDiscriminant:
        return derive_linear(seen, choice, schema.columns)

    def _without_each(self, table: Table, seen: Scatter, choice: Choice) -> np.ndarray:
        return linear_without_each(table, seen, choice, table.schema.columns)

    def _intervals(self, seen: Scatter, table: Table, choice: Choice, level: float) -> np.ndarray:
        return linear_intervals(table, seen, choice, table.schema.columns, level)


class Quadratic(Discriminant):
    """Classes with a covariance each."""

    is_pooled = False

    def _rule(self, seen: Scatter, choice: Choice, schema: Schema) -> QuadraticDiscriminant:
        return derive_quadratic(seen, choice, schema.columns, schema.classes)

    def _without_each(self, table: Table, seen: Scatter, choice: Choice) -> np.ndarray:
        return quadratic_without_each(table, seen, choice, table.schema.columns, table.schema.classes)

    def _intervals(self, seen: Scatter, table: Table, choice: Choice, level: float) -> np.ndarray:
        return quadratic_intervals(table, seen, choice, table.schema.columns, level)


@dataclass(frozen=True)
class LedoitWolf:
    """A discriminant shrunk as far as the rows themselves say: a second round reads their fourth powers, so it adds up to
    nothing that could be taken apart again."""

    rule: Discriminant

    def learn(self, rows: Parts) -> Learnt:
        """The rule, shrunk by the amount of least expected squared error."""
        with at_most(rows.n_jobs):
            seen = self.rule.total(rows)
            pooled = self.rule.pooled(seen, rows.schema)
            fourth = rows.total(lambda table: fourth_powers(within_doubles(table), pooled), rows_per_part=None)
            amount = ledoit_wolf(fourth, pooled, by_class=not self.rule.is_pooled)
            return Learnt(replace(self.rule, shrinkage=amount).derive(seen, rows.schema), seen)

    def intervals(self, seen: Scatter, table: Table, level: float) -> np.ndarray:
        """Refused, as of every covariance that was shrunk."""
        return replace(self.rule, shrinkage=np.ones(1)).intervals(seen, table, level)
