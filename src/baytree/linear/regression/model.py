"""Model of linear regression: a linear score, the covariance of its coefficients, and the goodness of fit.

Also its coefficient table, in original units with Student's t for unpenalised fits, and its summary record.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.base.model import Explanation
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.linear.coefficients import FeatureTable, references_of, standard_errors
from baytree.linear.design.design import Design
from baytree.linear.design.feature_layout import check_floats, check_integers
from baytree.linear.linear_model import LinearModel, explain_linear
from baytree.linear.regression.fit_quality import FitQuality, t_quantile, two_sided_p
from baytree.rendering.linear_text import slope_lines
from baytree.summary.linear import RegressionSummary, Slope
from baytree.uncertainty.intervals import mean_intervals, no_interval

if TYPE_CHECKING:
    from baytree.formula import Formula


class RegressionModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="regression"):
    """Linear regression: intercept + features @ weight.

    `covariance` is that of the coefficients, the constant last, in standard units of features and target: 0 for unused
    features, and empty if the fit was penalised or no degrees of freedom are left.
    """

    linear: LinearModel
    covariance: np.ndarray  # float64 [n_features + 1, n_features + 1] or [0, 0]
    collinear: np.ndarray  # int32, features collinear with earlier ones
    quality: FitQuality
    lambda_: float | None = None  # λ; None without a penalty
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
            raise ValueError("regression: lambda_ or l1_share is out of range")

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the model fits the schema."""
        self.linear.check(schema)
        if self.linear.link != "identity":
            raise ValueError("regression: the link must be 'identity'")

    @property
    def design(self) -> Design:
        """Design of the features."""
        return self.linear.design

    def predict(self, table: Table) -> np.ndarray:
        """Expected value of the target. [n_rows, 1]"""
        return self.linear.predict(table)

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """Intervals of the expected value, from the covariance of the coefficients. [n_rows, 1, 2]"""
        if not self.covariance.size:
            raise no_interval(
                "the coefficients have no standard errors: they are penalised, or no residual degrees of freedom are left"
            )
        prediction, variance = self.predict(table), np.empty((len(table), 1))
        for rows, x in self.design.blocks(table):
            x = np.column_stack([x, np.ones(len(x))])
            variance[rows, 0] = np.einsum("ni,ni->n", x @ self.covariance, x)
        return mean_intervals(prediction, variance * self.quality.deviation**2, self.quality.degrees, level)

    def explain(self, table: Table) -> list[Explanation]:
        """Explanation of each row: the contribution of each column to the number."""
        return explain_linear(table, *self.linear.effects(table), self.predict(table))

    def coefficients(self, schema: Schema, level: float = 0.95) -> RegressionTable:
        """Coefficient table in original and standard units, with standard errors, t and intervals if there are any."""
        return slope_table(self, schema, level)

    def formula(self, schema: Schema) -> Formula:
        """Model as an expression of the raw columns."""
        from baytree.linear.formula import linear

        return linear("linear regression", self.linear, schema)

    def summary(self, schema: Schema) -> RegressionSummary:
        """Coefficient table and goodness of fit as a summary record."""
        return summary_of(self, schema)


class RegressionTable(FeatureTable, frozen=True):
    """Coefficients of a linear regression; prints as a table."""

    level: float = 0.95  # confidence level of the intervals

    def __str__(self) -> str:
        return "\n".join(slope_lines(self.rows, self.references, self.level))


def slope_table(model: RegressionModel, schema: Schema, level: float) -> RegressionTable:
    """Coefficients, intercept first, with standard errors, t, p and confidence intervals."""
    linear, quality = model.linear, model.quality
    raw_coefficient, intercept = linear.in_original_units()
    estimate = np.append(intercept, raw_coefficient[0])
    standard_error = standard_errors(linear, model.covariance, (1, len(estimate)))[0] * quality.deviation
    names = ["(intercept)", *linear.design.names(schema.columns)]
    columns = ["", *(schema.columns[j].name for j in linear.design.source)]
    importance = np.append(linear.intercept, linear.weight[0])
    t_value = t_quantile(level, quality.degrees) if quality.degrees else 0.0
    rows = [
        _slope(
            Slope(names[f], columns[f], float(estimate[f]), float(importance[f])), float(standard_error[f]), t_value, quality
        )
        for f in range(len(names))
    ]
    return RegressionTable(tuple(rows), references_of(linear, schema), level)


def summary_of(model: RegressionModel, schema: Schema) -> RegressionSummary:
    """Summary record: coefficients and goodness of fit."""
    table, quality = slope_table(model, schema, 0.95), model.quality
    return RegressionSummary(
        schema.target.name,
        table.rows,
        table.references,
        collinear_names(model, schema),
        quality.weight,
        quality.r2,
        table.level,
        quality.adjusted_r2,
        quality.residual_error,
        quality.degrees or None,
        quality.f,
        quality.f_p,
        quality.log_likelihood,
        quality.aic,
        quality.bic,
        quality.is_perfect,
        None if model.lambda_ is None else _penalty_text(model),
    )


def collinear_names(model: RegressionModel, schema: Schema) -> tuple[str, ...]:
    """Names of the features that are collinear with earlier ones."""
    names = model.linear.design.names(schema.columns)
    return tuple(names[f] for f in model.collinear)


def _slope(line: Slope, error: float, within: float, quality: FitQuality) -> Slope:
    if not error > 0:
        return line
    t = line.estimate / error
    low, high = line.estimate - within * error, line.estimate + within * error
    return Slope(
        line.feature, line.column, line.estimate, line.importance, error, t, two_sided_p(t, quality.degrees), (low, high)
    )


def _penalty_text(model: RegressionModel) -> str:
    l1_ratio = model.l1_share
    name = {0.0: "ridge", 1.0: "lasso"}.get(l1_ratio, f"elastic net (l1_ratio={l1_ratio:g})")
    return f"{name} with λ = {model.lambda_:.4g}"
