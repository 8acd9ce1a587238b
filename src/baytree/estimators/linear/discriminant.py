"""The estimators of discriminant analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from baytree import _warnings, param_validation
from baytree._typing import FrameLike, PriorsLike, RandomLike, TargetLike, WeightsLike
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import LocalPartitions
from baytree.estimators.incremental import AdditiveClassifier
from baytree.linear.discriminant.learner import (
    DiscriminantLearner,
    LedoitWolfLearner,
    LinearDiscriminantLearner,
    QuadraticDiscriminantLearner,
    refuse_text,
)
from baytree.linear.discriminant.model import LinearDiscriminant, QuadraticDiscriminant, sample
from baytree.linear.scatter.observe import scatter_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class _Discriminant(AdditiveClassifier):
    """What both discriminant analyses share: one statistic, and the choices that turn it into a rule."""

    covariance: str
    shrinkage: float | str | None
    priors: PriorsLike
    _rule: type[DiscriminantLearner]
    _accepts_infinite = True  # infinities are refused while reading, which saves a read of the table

    def leave_one_out(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> np.ndarray:
        """The probabilities of each row of a table under the model of all its other rows, exactly, in one pass."""
        table = self._prepare_rows(X, y, sample_weight).table
        learner = self._learner(table.schema)
        if isinstance(learner, LedoitWolfLearner):
            raise ValueError("shrinkage='ledoit_wolf' needs all rows at once; use shrinkage='oas' or a number")
        return learner.leave_one_out(LocalPartitions(table, self.n_jobs))

    def _typicality(self, table: Table) -> np.ndarray:
        """The share of the rows of the nearest class, as the model expects them, that lie further away. [n_rows]"""
        from scipy.special import chdtrc  # only who asks needs it

        square, rank = self.model_.squares(table)
        return chdtrc(rank, square.min(axis=1))

    def sample(self, n: int = 1, random_state: RandomLike = None) -> Any:
        """n rows drawn from the model, with their classes, as a frame."""
        check_is_fitted(self, "model_")
        return sample(self.model_, self.schema_, param_validation.integer("n", n, 1), np.random.default_rng(random_state))

    def _learner(self, schema: Schema) -> DiscriminantLearner | LedoitWolfLearner:
        refuse_text(schema)
        covariance = param_validation.one_of("covariance", self.covariance, ("unbiased", "mle"))
        priors = param_validation.priors("priors", self.priors, schema.classes)
        rule = self._rule(covariance, _amount(self.shrinkage), priors)
        return LedoitWolfLearner(rule) if self.shrinkage == "ledoit_wolf" else rule


def _amount(shrinkage: float | str | None) -> np.ndarray | None:
    """How much to shrink, [1]; None where rows say it."""
    if shrinkage is None:
        return np.zeros(1)
    if isinstance(shrinkage, str):
        if shrinkage not in ("ledoit_wolf", "oas"):
            raise ValueError(f"shrinkage={shrinkage!r}: give 'ledoit_wolf', 'oas', or a number from 0 to 1")
        return None
    return np.array([param_validation.number("shrinkage", shrinkage, 0, 1)])


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Discriminant):
    """Linear discriminant analysis: Gaussian classes with one covariance, and the axes that keep them apart.

    Parameters
    ----------
    covariance : {"unbiased", "mle"}, default="unbiased"
        The divisor of the pooled scatter: n − classes, or n.
    shrinkage : float in [0, 1], "ledoit_wolf", "oas" or None, default=None
        How far to move the covariance, in correlation units, towards the identity: an amount, or what Ledoit and Wolf
        (2004) or Chen and others (2010) find best for the rows. With ``"ledoit_wolf"`` rows can be neither added nor
        forgotten: it reads them twice.
    priors : dict or array, optional
        The probabilities of the classes, by label or in the order of `classes_`, instead of their shares in training.

    Attributes
    ----------
    scalings_ : ndarray of shape (n_features, n_axes)
        The discriminant axes for features in original units.
    coef_ : ndarray of shape (n_classes, n_features)
        The coefficients of the linear scores in original units.
    intercept_ : ndarray of shape (n_classes,)
        The intercepts of the linear scores.

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
    ):
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.priors = priors
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def scalings_(self) -> np.ndarray:
        """The discriminant axes for features in original units. [n_features, n_axes]"""
        axes = self.model_.axes / self.model_.design.scale[:, None]
        return self.schema_.with_numbers_left_out(axes, self.model_.design.source, axis=0)

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients of the linear scores in original units. [n_classes, n_features]

        A column of numbers that is left out, as an identifier, has the coefficient 0.
        """
        return self.schema_.with_numbers_left_out(
            self.model_.linear.in_original_units()[0], self.model_.linear.design.source
        )

    @property
    def intercept_(self) -> np.ndarray:
        """The intercepts of the linear scores. [n_classes]"""
        return self.model_.linear.in_original_units()[1]

    @property
    def _n_features_out(self) -> int:
        return self.model_.axes.shape[1]

    def transform(self, X: FrameLike) -> np.ndarray:
        """The rows on the discriminant axes, strongest first."""
        table = self._encoded(X)
        return self.model_.coordinates(table)

    def plot(self, X: FrameLike, y: TargetLike = None, ax: Axes | None = None) -> Axes:
        """The rows on the first two discriminant axes, coloured by class (matplotlib); a frame may hold the target."""
        from baytree.rendering.plots.model_plots import plot_axes

        table = self._prepare_rows(X, self.schema_.target.name if y is None else y, None).table
        return plot_axes(self.model_.coordinates(table), table.label, table.schema.classes, ax)


class QuadraticDiscriminantAnalysis(_Discriminant):
    """Quadratic discriminant analysis: Gaussian classes with a covariance each.

    A class with too few rows, or with collinear columns, borrows from the covariance of all classes, and a warning says
    so.

    Parameters
    ----------
    covariance : {"unbiased", "mle"}, default="unbiased"
        The divisor of each class's scatter: n − 1, or n.
    shrinkage : float in [0, 1], "ledoit_wolf", "oas" or None, default=None
        How far to move each covariance, in correlation units, towards the identity: an amount, or what Ledoit and Wolf
        (2004) or Chen and others (2010) find best for the rows. With ``"ledoit_wolf"`` rows can be neither added nor
        forgotten: it reads them twice.
    priors : dict or array, optional
        The probabilities of the classes, by label or in the order of `classes_`, instead of their shares in training.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [-1.0, 0.1, 1.0, -9.0, 0.2, 9.0], "wide": ["no", "no", "no", "yes", "yes", "yes"]}
    >>> bt.QuadraticDiscriminantAnalysis().fit(rows, "wide").predict({"x": [0.5, 6.0, -6.0]}).tolist()
    ['no', 'yes', 'yes']
    """

    model_: QuadraticDiscriminant
    _rule = QuadraticDiscriminantLearner

    def __init__(
        self,
        covariance: str = "unbiased",
        shrinkage: float | str | None = None,
        priors: PriorsLike = None,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ):
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.priors = priors
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    def plot(self, X: FrameLike, y: TargetLike = None, ax: Axes | None = None) -> Axes:
        """The rows on the axes that best part the classes, ringed where the answer is wrong; a frame may hold the target."""
        from baytree.rendering.plots.model_plots import plot_axes, ring

        table = self._prepare_rows(X, self.schema_.target.name if y is None else y, None).table
        with _warnings.capture():  # the axes are only a place to stand on
            linear = cast(
                "LinearDiscriminant", LinearDiscriminantLearner().derive(scatter_of(table, pooled=True), table.schema)
            )
        place, wrong = linear.coordinates(table), self.model_.predict(table).argmax(axis=1) != table.label
        return ring(place, wrong, "wrong answer", plot_axes(place, table.label, table.schema.classes, ax))
