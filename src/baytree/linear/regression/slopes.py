"""The table of a linear regression's coefficients: estimates in original units and, of least squares, how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baytree.linear.coefficients import FeatureTable, references_of, standard_errors
from baytree.linear.regression.quality import Quality
from baytree.linear.regression.student import reach, two_sided_p
from baytree.show.linear.regression_text import slope_lines
from baytree.summary.linear import RegressionSummary, Slope
from baytree.table.schema import Schema

if TYPE_CHECKING:
    from baytree.linear.regression.model import Regression


class SlopeTable(FeatureTable, frozen=True):
    """The coefficients of a linear regression; prints as a table."""

    level: float = 0.95  # of the intervals

    def __str__(self) -> str:
        return "\n".join(slope_lines(self.rows, self.references, self.level))


def slope_table(model: Regression, schema: Schema, level: float) -> SlopeTable:
    """The coefficients, the intercept first, with standard errors, t, p and intervals of this level."""
    linear, quality = model.linear, model.quality
    raw, start = linear.in_original_units()
    estimate = np.append(start, raw[0])
    error = standard_errors(linear, model.covariance, (1, len(estimate)))[0] * quality.deviation
    names = ["(intercept)", *linear.design.names(schema.columns)]
    columns = ["", *(schema.columns[j].name for j in linear.design.source)]
    importance = np.append(linear.intercept, linear.weight[0])
    within = reach(level, quality.degrees) if quality.degrees else 0.0
    rows = [
        _slope(Slope(names[f], columns[f], float(estimate[f]), float(importance[f])), float(error[f]), within, quality)
        for f in range(len(names))
    ]
    return SlopeTable(tuple(rows), references_of(linear, schema), level)


def summary_of(model: Regression, schema: Schema) -> RegressionSummary:
    """The coefficients and how well they fit."""
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
        None if model.lambda_ is None else _in_words(model),
    )


def collinear_names(model: Regression, schema: Schema) -> tuple[str, ...]:
    """The features that follow from earlier ones."""
    names = model.linear.design.names(schema.columns)
    return tuple(names[f] for f in model.collinear)


def _slope(line: Slope, error: float, within: float, quality: Quality) -> Slope:
    if not error > 0:
        return line
    t = line.estimate / error
    low, high = line.estimate - within * error, line.estimate + within * error
    return Slope(
        line.feature, line.column, line.estimate, line.importance, error, t, two_sided_p(t, quality.degrees), (low, high)
    )


def _in_words(model: Regression) -> str:
    share = model.l1_share
    name = {0.0: "ridge", 1.0: "lasso"}.get(share, f"elastic net, {share:g} of it lasso")
    return f"{name} with λ = {model.lambda_:.4g}"
