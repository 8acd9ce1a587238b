"""Summaries of linear models, discriminant analysis and splines: coefficients and goodness of fit."""

from __future__ import annotations

import msgspec


class Coefficient(msgspec.Struct, frozen=True):
    """Coefficient of a feature for a class (against `base`, if coefficients compare two classes).

    `importance` is the coefficient per standard deviation of the feature. The standard error and what is derived from it are
    None after a penalised fit, because shrinkage invalidates them. `is_bound`: a monotonicity constraint holds the
    coefficient at 0 against the data.
    """

    label: object  # a class, as the user wrote it
    feature: str
    column: str  # column that the feature is derived from; empty for the intercept
    estimate: float
    odds_ratio: float
    importance: float
    standard_error: float | None = None
    z: float | None = None
    p: float | None = None
    interval: tuple[float, float] | None = None
    is_bound: bool = False


class LinearSummary(msgspec.Struct, frozen=True, tag="linear"):
    """Coefficients of a linear classifier, the intercept of each class first."""

    title: str
    target: str
    coefficients: tuple[Coefficient, ...]
    base: str | None = None  # reference class that all others are compared with, if there is one
    references: tuple[tuple[str, str], ...] = ()  # reference level of each nominal column
    axes: tuple[float, ...] = ()  # proportion of the between-class variance on each discriminant axis


class Slope(msgspec.Struct, frozen=True):
    """Coefficient of a linear regression: the change of the prediction per unit of a feature.

    `importance` is the change per standard deviation of the feature. The standard error and what is derived from it are None
    after a penalised fit, without residual degrees of freedom, and for unused features.
    """

    feature: str
    column: str  # column that the feature is derived from; empty for the intercept
    estimate: float
    importance: float
    standard_error: float | None = None
    t: float | None = None
    p: float | None = None
    interval: tuple[float, float] | None = None


class RegressionSummary(msgspec.Struct, frozen=True, tag="linear_regression"):
    """Coefficients of a linear regression, the intercept first, and goodness of fit; undefined statistics are None."""

    target: str
    slopes: tuple[Slope, ...]
    references: tuple[tuple[str, str], ...]  # reference level of each nominal column
    collinear: tuple[str, ...]  # linearly dependent on earlier features, and not used
    weight: float  # of all rows
    r2: float
    level: float = 0.95  # confidence level of the intervals
    adjusted_r2: float | None = None
    residual_error: float | None = None
    degrees: float | None = None
    f: float | None = None
    f_p: float | None = None
    log_likelihood: float | None = None
    aic: float | None = None
    bic: float | None = None
    is_perfect: bool = False  # the residuals are zero up to rounding
    penalty: str | None = None  # description of the penalty


class SplineTerm(msgspec.Struct, frozen=True):
    """Product of hinge functions, as text, and its coefficient for each score; the constant term has no hinges."""

    hinges: tuple[str, ...]  # formatted: max(0, temp − 58), colour=red
    coefficient: tuple[float, ...]  # for features on their original scale


class SplineSummary(msgspec.Struct, frozen=True, tag="splines"):
    """Terms of a MARS model, the constant first, and goodness of fit; for classes, RSS and GCV are those of indicators."""

    target: str
    scores: tuple[str, ...]  # what the terms sum to: the target, or log-odds of classes
    terms: tuple[SplineTerm, ...]
    columns: tuple[str, ...]  # used in terms
    unused: tuple[str, ...]
    references: tuple[tuple[str, str], ...]  # reference level of each nominal column
    rows: int
    rss: float
    gcv: float
    r2: float
    relative_gcv: float


class QuadraticSummary(msgspec.Struct, frozen=True, tag="quadratic_discriminant"):
    """Priors and means of each class and, if there are few features, covariances."""

    target: str
    classes: tuple[str, ...]
    prior: tuple[float, ...]
    features: tuple[str, ...]
    mean: tuple[tuple[float, ...], ...]  # [n_features, n_classes]
    covariance: tuple[tuple[tuple[float, ...], ...], ...] = ()  # [n_classes, n_features, n_features]; empty if many
