"""Normal equations in standard units: correlations of the features with each other and with the target.

`coded` first maps the statistic to the features that are fitted: ranks, imputed values and missing indicators, no reference
levels. `RegressionOptions` holds the user's parameters.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.data.schema.column import Column
from baytree.data.schema.schema import Schema
from baytree.linear.design.design import Design
from baytree.linear.design.feature_layout import MISSING, VALUE, FeatureLayout
from baytree.linear.linear_model import LinearModel
from baytree.linear.regression.statistic import CrossProducts
from baytree.linear.scatter.observe import with_target
from baytree.linear.scatter.scatter import Scatter, keys_of, refilled
from baytree.linear.scatter.transform import (
    as_double,
    by_rank,
    commonest,
    design_of,
    divisible,
    gaps_as_levels,
    impute_mean,
    warn_of_columns,
    without_references,
)

_MAX_DOUBLE = np.finfo(np.float64).max

_ROUNDING_TOLERANCE = 1e-13  # relative: rounding that adding and subtracting leaves in the variance of a constant feature


class NormalEquations(msgspec.Struct, frozen=True):
    """gram · b = right, where b is the change of the target per standard deviation of a feature, in standard deviations of
    the target.
    """

    coded: Scatter  # statistic of the features and, last, of the target
    design: Design
    centre: np.ndarray  # [n_features + 1], of the coded features and the target, in the statistic's own units
    scale: np.ndarray  # [n_features + 1], likewise
    varies: np.ndarray  # bool [n_features]
    gram: np.ndarray  # [n_features, n_features], correlations; 0 where a feature does not vary
    right: np.ndarray  # float64 [n_features], correlations with the target
    weight: float  # total weight of the rows
    mean: float  # of the target
    deviation: float  # standard deviation of the target, divisor n; 1 if it is constant
    is_constant: bool  # whether the target is constant

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.right)

    def linear(self, standard: np.ndarray) -> LinearModel:
        """Linear model with these coefficients in standard units."""
        with np.errstate(over="ignore"):
            weight = np.clip(standard * self.deviation, -_MAX_DOUBLE, _MAX_DOUBLE)
        return LinearModel(self.design, weight[None], np.array([self.mean]), "identity")

    def mean_square(self, held: Scatter, standard: np.ndarray) -> np.ndarray:
        """Mean squared error of each row of coefficients on other rows, in units of the target's variance.

        `held` is a statistic with the same features as `coded`; standard [n, n_features] → [n]
        """
        difference = np.column_stack([-standard, np.ones(len(standard))]) / self.scale
        square = np.einsum("ni,ij,nj->n", difference, held.spread[0], difference, optimize=True) / held.weight[0]
        return np.maximum(square, 0.0) + np.square(difference @ (held.mean[0] - self.centre))


def normal_equations(statistic: CrossProducts, schema: Schema, options: RegressionOptions) -> NormalEquations:
    """Normal equations of a statistic."""
    scatter, reference = coded(statistic.scatter, with_target(schema).columns, options)
    weight = statistic.weight
    variance = scatter.spread[0].diagonal() / weight
    varies = variance > _rounding(scatter)
    centre = as_double(scatter.mean[0], scatter)
    scale = np.where(varies, divisible(np.sqrt(np.maximum(variance, 0.0)), scatter.unit), 1.0)
    correlation = np.where(varies[:, None] & varies, scatter.spread[0] / weight / scale[:, None] / scale, 0.0)
    design_with_target = design_of(scatter, centre, scale, reference)
    return NormalEquations(
        scatter,
        _without_last(design_with_target),
        centre,
        scale,
        varies[:-1],
        np.ascontiguousarray(correlation[:-1, :-1]),
        correlation[:-1, -1].copy(),
        weight,
        float(design_with_target.centre[-1]),
        float(design_with_target.scale[-1]),
        not varies[-1],
    )


def warn_of_constants(normal: NormalEquations, schema: Schema) -> None:
    """Warn of constant columns."""
    if not normal.varies.all():
        feature_statistic = normal.coded.take(np.arange(len(normal.varies)))
        warn_of_columns("constant", ~normal.varies, feature_statistic, schema.columns, "they are not used")


def _rounding(statistic: Scatter) -> np.ndarray:
    """Upper bound of the variance that rounding gives a constant feature. [n_features]"""
    return _ROUNDING_TOLERANCE * np.maximum(np.square(statistic.mean[0]), statistic.layout.level != VALUE)


def _without_last(design: Design) -> Design:
    """Design without the target."""
    layout = design.layout.take(np.arange(len(design.layout) - 1))
    layout = msgspec.structs.replace(layout, fill=layout.fill[:-1], mode=layout.mode[:-1])
    return Design(layout, design.centre[:-1], design.scale[:-1], design.reference[:-1])


def coded(statistic: Scatter, columns: tuple[Column, ...], options: RegressionOptions) -> tuple[Scatter, np.ndarray]:
    """Statistic of the features as fitted, target last, and the reference level of each column."""
    statistic = impute_mean(_ranked(statistic, columns, options))
    if options.missing == "mean":
        statistic = _without_gaps(statistic, commonest(statistic))
    return without_references(statistic)


def coded_like(other: Scatter, layout: FeatureLayout, columns: tuple[Column, ...], options: RegressionOptions) -> Scatter:
    """Statistic of other rows in the features of a layout, with its imputed values."""
    other = gaps_as_levels(refilled(_ranked(other, columns, options), layout.fill), layout.mode)
    requested = set(keys_of(layout))
    return other.take(np.array([f for f, key in enumerate(keys_of(other.layout)) if key in requested], int))


def _ranked(statistic: Scatter, columns: tuple[Column, ...], options: RegressionOptions) -> Scatter:
    return by_rank(statistic, columns) if options.ordinal == "rank" else statistic


def _without_gaps(statistic: Scatter, mode: np.ndarray) -> Scatter:
    """Statistic with missing levels imputed and without missing indicators."""
    statistic = gaps_as_levels(statistic, mode)
    layout = msgspec.structs.replace(statistic.layout, mode=mode)
    features = np.flatnonzero(layout.level != MISSING)
    return msgspec.structs.replace(statistic, layout=layout).take(features)


class RegressionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """User options. The penalty strength λ is `lambda_`, or 1 / (n · C) if that is None."""

    l1_share: float = 0.0
    is_penalised: bool = False
    C: float = 1.0
    lambda_: float | None = None
    standardize: bool = True
    ordinal: str = "rank"
    missing: str = "mean+indicator"
    conventions: str | None = None  # "glmnet": the ridge's λ is in units of the target, as the lasso's is

    def strength(self, weight: float) -> float:
        """λ for rows with this total weight."""
        return self.lambda_ if self.lambda_ is not None else 1 / weight / self.C
