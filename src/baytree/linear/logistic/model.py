"""Model of logistic regression: linear scores and, for unpenalised fits, the covariance of the coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.base.model import Explanation
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.linear.coefficients import CoefficientTable, coefficient_table
from baytree.linear.design.design import Design
from baytree.linear.design.feature_layout import check_floats, check_integers
from baytree.linear.linear_model import LinearModel, explain_linear
from baytree.summary.linear import LinearSummary
from baytree.uncertainty.intervals import no_interval, score_intervals

if TYPE_CHECKING:
    from baytree.formula import Formula


class LogisticModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="logistic"):
    """Logistic regression: linear scores and, if nothing was penalised, the covariance of the coefficients."""

    linear: LinearModel
    # float64 [m, m], of the coefficients in standard units, the constant last; [0, 0] if there is none
    covariance: np.ndarray
    total: float  # sum of the weights
    bound: np.ndarray | msgspec.UnsetType = msgspec.UNSET  # int32, features whose coefficient a sign constraint holds at 0

    def __post_init__(self) -> None:
        check_floats("logistic", covariance=self.covariance)
        k, q = len(self.linear.intercept), len(self.linear.design) + 1
        sizes = (0, q if self.linear.link == "sigmoid" else (k - 1) * q, k * q)
        if self.covariance.shape not in [(m, m) for m in sizes]:
            raise ValueError("logistic: the covariance must fit the coefficients")
        if isinstance(self.bound, np.ndarray):
            self._check_bound(self.bound)

    def _check_bound(self, bound: np.ndarray) -> None:
        check_integers("logistic", bound=bound)
        if len(bound) and not (bound.min() >= 0 and bound.max() < len(self.design)):
            raise ValueError("logistic: a feature at its bound does not exist")
        if self.linear.weight[:, bound].any():
            raise ValueError("logistic: a coefficient at its bound is not 0")

    @property
    def is_bound(self) -> np.ndarray:
        """Which features have a coefficient held at 0 by a sign constraint. bool [n_features]"""
        bound = np.zeros(0, np.int32) if self.bound is msgspec.UNSET else self.bound
        return np.isin(np.arange(len(self.design)), bound)

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the model fits the schema."""
        self.linear.check(schema)

    @property
    def design(self) -> Design:
        """Design of the features."""
        return self.linear.design

    def predict(self, table: Table) -> np.ndarray:
        """Probability of each class. [n_rows, n_classes]"""
        return self.linear.predict(table)

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """Intervals of the class probabilities, from the covariance of the coefficients. [n_rows, n_classes, 2]

        Raises ValueError if there is no covariance or a coefficient is at its bound.
        """
        if not self.covariance.size:
            raise no_interval(
                "the coefficients have no standard errors: they are penalised, too many, or fitted one-vs-rest; "
                "fit with penalty=None and multi_class='multinomial'"
            )
        if self.is_bound.any():
            raise no_interval("the coefficient of a monotone column is at its bound 0, where standard errors are not valid")
        scores, out = self.linear.scores(table), np.empty((len(table), self.linear.n_classes, 2))
        for rows, x in self.design.blocks(table):
            out[rows] = score_intervals(scores[rows], self._covariances(x), level)
        return out

    def _covariances(self, x: np.ndarray) -> np.ndarray:
        """Covariance of the scores of each row, with the first class's score fixed at 0. [n_rows, n_classes, n_classes]"""
        x = np.column_stack([x, np.ones(len(x))])
        k, q = self.linear.n_classes - 1, x.shape[1]
        out = np.zeros((len(x), k + 1, k + 1))
        of_coefficients = self.covariance.reshape(k, q, k, q)
        for first in range(k):
            for second in range(k):
                out[:, first + 1, second + 1] = np.einsum("ni,ni->n", x @ of_coefficients[first, :, second], x)
        return out

    def explain(self, table: Table) -> list[Explanation]:
        """Explanation of each row: the contribution of each column to the score of each class."""
        return explain_linear(table, *self.linear.effects(table), self.predict(table))

    def coefficients(self, schema: Schema, level: float = 0.95) -> CoefficientTable:
        """Coefficient table in original and standard units, with standard errors and intervals if there is a covariance."""
        return coefficient_table(self.linear, self.covariance, schema, level, self.is_bound)

    def formula(self, schema: Schema) -> Formula:
        """Model as an expression of the raw columns."""
        from baytree.linear.formula import linear

        return linear("logistic regression", self.linear, schema)

    def summary(self, schema: Schema) -> LinearSummary:
        """Coefficient table as a summary record."""
        return self.coefficients(schema).summary("logistic regression", schema.target.name)
