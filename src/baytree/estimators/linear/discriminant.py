"""Linear and quadratic discriminant analysis, from one mergeable statistic (class means and scatter matrices).

Learners and rules are in `linear.discriminant`; this module validates parameters and reads fitted models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from baytree import _warnings, param_validation
from baytree._typing import CostsLike, FrameLike, PriorsLike, RandomLike, TargetLike, WeightsLike
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import LocalPartitions
from baytree.estimators.incremental import MergeableClassifier
from baytree.linear.discriminant.learner import (
    TEXT_REMEDY,
    DiscriminantLearner,
    LedoitWolfLearner,
    LinearDiscriminantLearner,
    QuadraticDiscriminantLearner,
)
from baytree.linear.discriminant.model import LinearDiscriminant, QuadraticDiscriminant, sample
from baytree.linear.scatter.observe import scatter_of
from baytree.param_validation import ClassAmounts, reject_text_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class _Discriminant(MergeableClassifier):
    """Base of both discriminant analyses: shared parameters, leave-one-out, sampling."""

    covariance: str
    shrinkage: float | str | None
    priors: PriorsLike
    _rule: type[DiscriminantLearner]
    _accepts_infinite = True  # infinities are refused while reading, which saves one pass over the table

    def leave_one_out(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> np.ndarray:
        """Exact leave-one-out class probabilities: each row by the model of all other rows, in one pass."""
        table = self._prepare_rows(X, y, sample_weight).table
        learner = self._learner(table.schema)
        if isinstance(learner, LedoitWolfLearner):
            raise ValueError("leave_one_out is not available with shrinkage='ledoit_wolf'; use shrinkage='oas' or a number")
        return learner.leave_one_out(LocalPartitions(table, self.n_jobs))

    def _typicality(self, table: Table) -> np.ndarray:
        """Proportion of rows of the nearest class that the model expects further from its mean. float64 [n_rows]"""
        from scipy.special import chdtrc  # slow import, only needed here

        square, rank = self.model_.squares(table)
        return chdtrc(rank, square.min(axis=1))

    def sample(self, n: int = 1, random_state: RandomLike = None) -> Any:
        """Draw n rows with their classes from the model, as a frame."""
        check_is_fitted(self, "model_")
        return sample(self.model_, self.schema_, param_validation.integer("n", n, 1), np.random.default_rng(random_state))

    def _learner(self, schema: Schema) -> DiscriminantLearner | LedoitWolfLearner:
        reject_text_columns(schema, "discriminant analysis", TEXT_REMEDY)
        covariance = param_validation.one_of("covariance", self.covariance, ("unbiased", "mle"))
        priors = param_validation.priors("priors", self.priors, schema.classes)
        rule = self._make_learner(covariance, _amount(self.shrinkage), priors)
        return LedoitWolfLearner(rule) if self.shrinkage == "ledoit_wolf" else rule

    def _make_learner(
        self, covariance: str, shrinkage: np.ndarray | None, priors: ClassAmounts | None
    ) -> DiscriminantLearner:
        return self._rule(covariance, shrinkage, priors)

    @property
    def means_(self) -> np.ndarray:
        """Mean of each class in original units. float64 [n_classes, n_features]

        Features are those of `coef_`; a numeric column that was dropped as an identifier is NaN.
        """
        design = self.model_.design
        return self._in_feature_order(self.model_.mean * design.scale + design.centre)

    @property
    def priors_(self) -> np.ndarray:
        """Prior probabilities of the classes. float64 [n_classes]"""
        return self.model_.prior.copy()

    def _in_feature_order(self, values: np.ndarray, axis: int = -1) -> np.ndarray:
        """Values of features with NaN for each numeric column that was dropped."""
        return self.schema_.with_numbers_left_out(values, self.model_.design.source, axis=axis, fill=np.nan)


def _amount(shrinkage: float | str | None) -> np.ndarray | None:
    """Given shrinkage intensity, [1]; None if it is estimated from the rows."""
    if shrinkage is None:
        return np.zeros(1)
    if isinstance(shrinkage, str):
        if shrinkage not in ("ledoit_wolf", "oas"):
            raise ValueError(f"shrinkage={shrinkage!r}: give 'ledoit_wolf', 'oas', or a number from 0 to 1")
        return None
    return np.array([param_validation.number("shrinkage", shrinkage, 0, 1)])


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Discriminant):
    """Linear discriminant analysis: Gaussian classes with a common covariance, and the axes that separate them.

    Parameters
    ----------
    covariance : {"unbiased", "mle"}, default="unbiased"
        Divisor of the pooled scatter matrix: n − n_classes, or n.
    shrinkage : float in [0, 1], "ledoit_wolf", "oas" or None, default=None
        Shrinkage of the covariance towards the identity, in correlation units: an intensity, or the one estimated by Ledoit
        and Wolf (2004) or Chen and others (2010). With ``"ledoit_wolf"``, which reads the rows twice, rows can neither be
        added nor forgotten.
    priors : dict or array, optional
        Prior probabilities of the classes, by label or in the order of `classes_`; by default their proportions in the
        training rows.

    Attributes
    ----------
    scalings_ : ndarray of shape (n_features, n_axes)
        Discriminant axes for features in original units.
    coef_ : ndarray of shape (n_classes, n_features)
        Coefficients of the linear scores in original units.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts of the linear scores.
    means_ : ndarray of shape (n_classes, n_features)
        Means of the classes in original units.
    covariance_ : ndarray of shape (n_features, n_features)
        Covariance within classes in original units.
    priors_ : ndarray of shape (n_classes,)
        Prior probabilities of the classes.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"height": [1.0, 1.2, 3.0, 3.1], "kind": ["low", "low", "high", "high"]}
    >>> bt.LinearDiscriminantAnalysis().fit(rows, "kind").predict({"height": [1.1, 2.9]}).tolist()
    ['low', 'high']
    """

    model_: LinearDiscriminant
    _rule = LinearDiscriminantLearner

    def __init__(
        self,
        covariance: str = "unbiased",
        shrinkage: float | str | None = None,
        priors: PriorsLike = None,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
        costs: CostsLike = None,
    ):
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.priors = priors
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile
        self.costs = costs

    @property
    def scalings_(self) -> np.ndarray:
        """Discriminant axes for features in original units. float64 [n_features, n_axes]"""
        axes = self.model_.axes / self.model_.design.scale[:, None]
        return self.schema_.with_numbers_left_out(axes, self.model_.design.source, axis=0)

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the linear scores in original units. float64 [n_classes, n_features]

        A numeric column that was dropped as an identifier has the coefficient 0.
        """
        return self.schema_.with_numbers_left_out(
            self.model_.linear.in_original_units()[0], self.model_.linear.design.source
        )

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts of the linear scores. float64 [n_classes]"""
        return self.model_.linear.in_original_units()[1]

    @property
    def covariance_(self) -> np.ndarray:
        """Covariance within classes in original units. float64 [n_features, n_features]"""
        return self._in_feature_order(self._in_feature_order(self.model_.covariance(), axis=0))

    @property
    def _n_features_out(self) -> int:
        return self.model_.axes.shape[1]

    def transform(self, X: FrameLike) -> np.ndarray:
        """Project the rows onto the discriminant axes, strongest first. float64 [n_rows, n_axes]"""
        table = self._encoded(X)
        return self.model_.coordinates(table)

    def plot(self, X: FrameLike, y: TargetLike = None, ax: Axes | None = None) -> Axes:
        """Plot the rows on the first two discriminant axes, coloured by class (matplotlib); `X` may contain the target."""
        from baytree.rendering.plots.model_plots import plot_axes

        table = self._prepare_rows(X, self.schema_.target.name if y is None else y, None).table
        return plot_axes(self.model_.coordinates(table), table.label, table.schema.classes, ax)


class QuadraticDiscriminantAnalysis(_Discriminant):
    """Quadratic discriminant analysis: Gaussian classes with separate covariances.

    The covariance of a class with too few rows, or with collinear columns, is combined with the covariance of all classes,
    and a warning says so.

    Parameters
    ----------
    covariance : {"unbiased", "mle"}, default="unbiased"
        Divisor of the scatter matrix of each class: n − 1, or n.
    shrinkage : float in [0, 1], "ledoit_wolf", "oas" or None, default=None
        Shrinkage of each covariance towards the identity, in correlation units: an intensity, or the one estimated by Ledoit
        and Wolf (2004) or Chen and others (2010). With ``"ledoit_wolf"``, which reads the rows twice, rows can neither be
        added nor forgotten.
    priors : dict or array, optional
        Prior probabilities of the classes, by label or in the order of `classes_`; by default their proportions in the
        training rows.
    diagonal : bool, default=False
        Use variances only, so that columns are independent given the class. With ``covariance="mle"`` this is Gaussian naive
        Bayes: `NaiveBayesClassifier(estimate="mle")` on numeric columns gives the same probabilities.

    Attributes
    ----------
    means_ : ndarray of shape (n_classes, n_features)
        Means of the classes in original units.
    covariances_ : ndarray of shape (n_classes, n_features, n_features)
        Covariance of each class in original units.
    priors_ : ndarray of shape (n_classes,)
        Prior probabilities of the classes.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [-1.0, 0.1, 1.0, -9.0, 0.2, 9.0], "wide": ["no", "no", "no", "yes", "yes", "yes"]}
    >>> bt.QuadraticDiscriminantAnalysis().fit(rows, "wide").predict({"x": [0.5, 6.0, -6.0]}).tolist()
    ['no', 'yes', 'yes']
    """

    model_: QuadraticDiscriminant
    _rule = QuadraticDiscriminantLearner
    diagonal = False  # of subclasses without this parameter

    def __init__(
        self,
        covariance: str = "unbiased",
        shrinkage: float | str | None = None,
        priors: PriorsLike = None,
        diagonal: bool = False,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
        costs: CostsLike = None,
    ):
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.priors = priors
        self.diagonal = diagonal
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile
        self.costs = costs

    @property
    def covariances_(self) -> np.ndarray:
        """Covariance of each class in original units. float64 [n_classes, n_features, n_features]"""
        return self._in_feature_order(self._in_feature_order(self.model_.covariances(), axis=1))

    def _make_learner(
        self, covariance: str, shrinkage: np.ndarray | None, priors: ClassAmounts | None
    ) -> DiscriminantLearner:
        diagonal = param_validation.flag("diagonal", self.diagonal)
        return QuadraticDiscriminantLearner(covariance, shrinkage, priors, diagonal)

    def plot(self, X: FrameLike, y: TargetLike = None, ax: Axes | None = None) -> Axes:
        """Plot the rows on linear discriminant axes, with misclassified rows ringed; `X` may contain the target."""
        from baytree.rendering.plots.model_plots import plot_axes, ring

        table = self._prepare_rows(X, self.schema_.target.name if y is None else y, None).table
        with _warnings.capture():  # warnings about the axes do not concern this model
            linear = cast(
                "LinearDiscriminant", LinearDiscriminantLearner().derive(scatter_of(table, pooled=True), table.schema)
            )
        coordinates, wrong = linear.coordinates(table), self._predictor.predict_codes(table) != table.label
        return ring(coordinates, wrong, "wrong answer", plot_axes(coordinates, table.label, table.schema.classes, ax))
