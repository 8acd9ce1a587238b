"""Linear models and splines: coefficients, and how well they fit."""

from __future__ import annotations

import msgspec


class Coefficient(msgspec.Struct, frozen=True):
    """One line: a feature's coefficient for a class (against `base`, where coefficients compare two classes).

    `importance` is the coefficient per standard deviation of the feature. Standard error and what follows from it are None
    where the fit was penalised: they would claim a certainty that shrinkage has taken away. `is_bound`: the column must be
    followed, and the rows would have it otherwise, so that the coefficient is 0.
    """

    label: object  # a class, as the user wrote it
    feature: str
    column: str  # where the feature comes from; empty for the intercept
    estimate: float
    odds_ratio: float
    importance: float
    standard_error: float | None = None
    z: float | None = None
    p: float | None = None
    interval: tuple[float, float] | None = None
    is_bound: bool = False


class LinearSummary(msgspec.Struct, frozen=True, tag="linear"):
    """The coefficients, the intercept of each class first, and what they compare."""

    title: str
    target: str
    coefficients: tuple[Coefficient, ...]
    base: str | None = None  # the class that all others are compared with, where there is one
    references: tuple[tuple[str, str], ...] = ()  # the level of each nominal column that is the zero of the others
    axes: tuple[float, ...] = ()  # the share of each discriminant axis in what keeps the classes apart


class Slope(msgspec.Struct, frozen=True):
    """One line of a linear regression: what one unit more of a feature changes.

    `importance` is the change per standard deviation of the feature. Standard error and what follows from it are None where
    the fit was penalised, where no degrees of freedom are left, and where a feature is not used.
    """

    feature: str
    column: str  # where the feature comes from; empty for the intercept
    estimate: float
    importance: float
    standard_error: float | None = None
    t: float | None = None
    p: float | None = None
    interval: tuple[float, float] | None = None


class RegressionSummary(msgspec.Struct, frozen=True, tag="linear_regression"):
    """The coefficients, the intercept first, and how well they fit the rows; numbers are None where they say nothing."""

    target: str
    slopes: tuple[Slope, ...]
    references: tuple[tuple[str, str], ...]  # the level of each nominal column that is the zero of the others
    collinear: tuple[str, ...]  # features that follow from earlier ones, and are not used
    weight: float  # of all rows
    r2: float
    level: float = 0.95  # of the intervals
    adjusted_r2: float | None = None
    residual_error: float | None = None
    degrees: float | None = None
    f: float | None = None
    f_p: float | None = None
    log_likelihood: float | None = None
    aic: float | None = None
    bic: float | None = None
    is_perfect: bool = False  # nothing but rounding is left of the residuals
    penalty: str | None = None  # in words


class SplineTerm(msgspec.Struct, frozen=True):
    """A product of hinges, in words, and its coefficient for each score; the constant has no hinges."""

    hinges: tuple[str, ...]  # as a person reads them: max(0, temp − 58), colour=red
    coefficient: tuple[float, ...]  # of the features as they came


class SplineSummary(msgspec.Struct, frozen=True, tag="splines"):
    """The terms, the constant first, and how well they fit; of classes RSS and GCV are those of their indicators."""

    target: str
    scores: tuple[str, ...]  # what the coefficients add up to: the target, or log-odds of classes
    terms: tuple[SplineTerm, ...]
    columns: tuple[str, ...]  # that terms read
    unused: tuple[str, ...]
    references: tuple[tuple[str, str], ...]  # the level of each nominal column that is the zero of the others
    rows: int
    rss: float
    gcv: float
    r2: float
    relative_gcv: float


class QuadraticSummary(msgspec.Struct, frozen=True, tag="quadratic_discriminant"):
    """The prior, the means and, of few features, the covariance of each class."""

    target: str
    classes: tuple[str, ...]
    prior: tuple[float, ...]
    features: tuple[str, ...]
    mean: tuple[tuple[float, ...], ...]  # [n_features, n_classes]
    covariance: tuple[tuple[tuple[float, ...], ...], ...] = ()  # [n_classes, n_features, n_features]; none of many
