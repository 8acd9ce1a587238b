"""What linear regression learns: a linear score that is the answer, how sure it is, and how well it fits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.limits.intervals import mean_intervals, no_interval
from baytree.linear.design.array_checks import check_floats, check_integers
from baytree.linear.design.design import Design
from baytree.linear.ledgers import ledgers
from baytree.linear.model import LinearModel
from baytree.linear.regression.quality import Quality
from baytree.model import Explanation
from baytree.summary.linear import RegressionSummary
from baytree.table.schema import Schema
from baytree.table.table import Table

if TYPE_CHECKING:
    from baytree.formula import Formula
    from baytree.linear.regression.slopes import SlopeTable


class Regression(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="regression"):
    """A linear regression: intercept + features @ weight.

    `covariance` is that of the coefficients, the constant last, in standard units of features and target; 0 for features
    that are not used, and empty where the fit was penalised or no degrees of freedom are left.
    """

    linear: LinearModel
    covariance: np.ndarray  # float64 [n_features + 1, n_features + 1] or [0, 0]
    collinear: np.ndarray  # int32, features that follow from earlier ones
    quality: Quality
    lambda_: float | None = None  # the strength of the penalty, where there is one
    l1_share: float = 0.0

    def __post_init__(self) -> None:
        check_floats("regression", covariance=self.covariance)
        check_integers("regression", collinear=self.collinear)
        p = len(self.linear.design)
        if self.covariance.shape not in ((0, 0), (p + 1, p + 1)):
            raise ValueError("regression: the covariance must fit the coefficients")
        if len(self.collinear) and not (self.collinear.min() >= 0 and self.collinear.max() < p):
            raise ValueError("regression: a collinear feature does not exist")
        if not 0 <= self.l1_share <= 1 or not 0 <= (self.lambda_ or 0.0) < math.inf:
            raise ValueError("regression: the penalty holds numbers that nobody can ask for")

    def check(self, schema: Schema) -> None:
        """Raises an error unless the model fits a schema."""
        self.linear.check(schema)
        if self.linear.link != "identity":
            raise ValueError("regression: its score must be the answer")

    @property
    def design(self) -> Design:
        """The features."""
        return self.linear.design

    def answers(self, table: Table) -> np.ndarray:
        """The expected number. [n_rows, 1]"""
        return self.linear.answers(table)

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """Of the expected number, by the covariance of the coefficients. [n_rows, 1, 2]"""
        if not self.covariance.size:
            raise no_interval(
                "the coefficients have no standard errors: they were penalised, or no rows are left to tell them from"
            )
        answers, variance = self.answers(table), np.empty((len(table), 1))
        for rows, x in self.design.blocks(table):
            x = np.column_stack([x, np.ones(len(x))])
            variance[rows, 0] = np.einsum("ni,ni->n", x @ self.covariance, x)
        return mean_intervals(answers, variance * self.quality.deviation**2, self.quality.degrees, level)

    def explain(self, table: Table) -> list[Explanation]:
        """What each column adds to the number."""
        return ledgers(table, *self.linear.effects(table), self.answers(table))

    def coefficients(self, schema: Schema, level: float = 0.95) -> SlopeTable:
        """The coefficients in original and standard units, and how sure they are."""
        from baytree.linear.regression.slopes import slope_table

        return slope_table(self, schema, level)

    def formula(self, schema: Schema) -> Formula:
        """The model as an expression of the raw columns."""
        from baytree.linear.formula import linear

        return linear("linear regression", self.linear, schema)

    def summary(self, schema: Schema) -> RegressionSummary:
        """The coefficients, how sure they are, and how well they fit."""
        from baytree.linear.regression.slopes import summary_of

        return summary_of(self, schema)
