"""The estimators of discriminant analysis."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Self

import msgspec
import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from baytree.engine.blas import at_most
from baytree.estimators.base import AdditiveClassifier
from baytree.linear import checks
from baytree.linear.design.features import VALUE
from baytree.linear.discriminant.leave_one_out import linear_without_each, quadratic_without_each
from baytree.linear.discriminant.rules import Choice, derive_linear, derive_quadratic, pool
from baytree.linear.discriminant.sampling import sample
from baytree.linear.discriminant.scatter import Scatter
from baytree.linear.discriminant.shrinkage import ledoit_wolf, oas
from baytree.linear.model import LinearDiscriminant, QuadraticDiscriminant
from baytree.table.outliers import warn_of_outliers
from baytree.table.schema import Kind, Schema
from baytree.table.table import Table
from baytree.table.weights import bearable


class _Discriminant(AdditiveClassifier):
    """What both discriminant analyses share: one statistic, and the choices that turn it into a rule."""

    covariance: str
    shrinkage: Any
    priors: Any
    model_: Any
    _pooled = True
    _accepts_infinite = True  # at the door: infinities are refused while reading, which saves a read of the table

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns from a table; `y` is the labels, or the name of the target column in `X`."""
        if self.shrinkage != "ledoit_wolf":
            return super().fit(X, y, sample_weight)
        table, frame = self._enter(X, y, sample_weight)
        with at_most(self.n_jobs):
            seen = self._observe(table)
            pooled = pool(seen, self._choice(seen, table.schema, np.zeros(1)), table.schema.columns)
            amount = ledoit_wolf(table, pooled, by_class=not self._pooled)
            model = self._rule(seen, table.schema, self._choice(seen, table.schema, amount))
        self._settle(table.schema, model, frame)
        self.seen_ = seen
        return self

    def leave_one_out(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """The probabilities of each row of a table under the model of all its other rows, exactly, in one pass."""
        table, _ = self._enter(X, y, sample_weight)
        table = bearable(table)
        seen = self._observe(table)
        return self._without_each(table, seen, self._choice(seen, table.schema))

    def sample(self, n: int, random_state: Any = None) -> Any:
        """n rows drawn from the model, with their classes, as a frame."""
        check_is_fitted(self, "model_")
        return sample(self.model_, self.schema_, n, np.random.default_rng(random_state))

    def _observe(self, table: Table) -> Scatter:
        for column in table.schema.columns:
            if column.kind is Kind.TEXT:
                raise ValueError(
                    f"column {column.name!r} is text, and words have no covariance worth estimating; "
                    "leave it out, or use LogisticRegression or NaiveBayesClassifier"
                )
        with at_most(self.n_jobs):
            seen = Scatter.of(bearable(table), self._pooled)
        is_value = seen.layout.level == VALUE
        warn_of_outliers(table, seen.layout.source[is_value], seen.deviations()[is_value])
        return seen

    def _derive(self, seen: Scatter, schema: Schema) -> Any:
        with at_most(self.n_jobs):
            return self._rule(seen, schema, self._choice(seen, schema))

    def _choice(self, seen: Scatter, schema: Schema, amount: np.ndarray | None = None) -> Choice:
        checks.one_of("covariance", self.covariance, ("unbiased", "mle"))
        priors = checks.priors(self.priors, schema.classes)
        choice = Choice(covariance=self.covariance, priors=priors)
        if amount is None:
            amount = self._amount(seen, schema, choice)
        return msgspec.structs.replace(choice, shrinkage=amount)

    def _amount(self, seen: Scatter, schema: Schema, choice: Choice) -> np.ndarray:
        if self.shrinkage is None:
            return np.zeros(1)
        if self.shrinkage == "oas":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return oas(pool(seen, choice, schema.columns), by_class=not self._pooled)
        if self.shrinkage == "ledoit_wolf":
            raise ValueError("shrinkage='ledoit_wolf' needs all rows at once; use fit, or shrinkage='oas' or a number")
        if isinstance(self.shrinkage, str):
            raise ValueError(f"shrinkage={self.shrinkage!r}: give 'ledoit_wolf', 'oas', or a number from 0 to 1")
        return np.array([checks.share("shrinkage", self.shrinkage)])

    @abstractmethod
    def _rule(self, seen: Scatter, schema: Schema, choice: Choice) -> Any:
        """The model that follows from the statistic and the choices."""

    @abstractmethod
    def _without_each(self, table: Table, seen: Scatter, choice: Choice) -> np.ndarray:
        """The probabilities of each row under the rule of all other rows."""


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _Discriminant):
    """Linear discriminant analysis: Gaussian classes with one covariance, and the axes that keep them apart.

    Parameters
    ----------
    covariance : {"unbiased", "mle"}
        The divisor of the pooled scatter: n − classes, or n.
    shrinkage : None, float in [0, 1], "ledoit_wolf" or "oas"
        How far to move the covariance, in correlation units, towards the identity.
    priors : dict or array, optional
        The probabilities of the classes, instead of their shares in training.
    schema, unseen, n_jobs :
        As for every estimator: declared kinds, what to do with new levels, threads.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"height": [1.0, 1.2, 3.0, 3.1], "kind": ["low", "low", "high", "high"]}
    >>> bt.LinearDiscriminantAnalysis().fit(rows, "kind").predict({"height": [1.1, 2.9]}).tolist()
    ['low', 'high']
    """

    model_: Any  # LinearDiscriminant

    def __init__(
        self,
        covariance: str = "unbiased",
        shrinkage: Any = None,
        priors: Any = None,
        schema: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ):
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.priors = priors
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs

    @property
    def scalings_(self) -> np.ndarray:
        """The discriminant axes for features in original units. [n_features, n_axes]"""
        return self.model_.axes / self.model_.design.scale[:, None]

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients of the linear scores in original units. [n_classes, n_features]"""
        return self.model_.linear.in_original_units()[0]

    @property
    def intercept_(self) -> np.ndarray:
        """The intercepts of the linear scores. [n_classes]"""
        return self.model_.linear.in_original_units()[1]

    @property
    def _n_features_out(self) -> int:
        return self.model_.axes.shape[1]

    def transform(self, X: Any) -> np.ndarray:
        """The rows on the discriminant axes, strongest first."""
        table = self._encoded(X)
        return self.model_.coordinates(table)

    def plot(self, X: Any, y: Any = None, ax: Any = None) -> Any:
        """The rows on the first two discriminant axes, coloured by class (matplotlib)."""
        from baytree.linear.plots import plot_axes

        table, _ = self._enter(X, y, None)
        return plot_axes(self.model_.coordinates(table), table, ax)

    def _rule(self, seen: Scatter, schema: Schema, choice: Choice) -> LinearDiscriminant:
        return derive_linear(seen, choice, schema.columns)

    def _without_each(self, table: Table, seen: Scatter, choice: Choice) -> np.ndarray:
        return linear_without_each(table, seen, choice, table.schema.columns)


class QuadraticDiscriminantAnalysis(_Discriminant):
    """Quadratic discriminant analysis: Gaussian classes with a covariance each.

    A class with too few rows, or with collinear columns, borrows from the covariance of all classes, and a warning says
    so.

    Parameters
    ----------
    covariance : {"unbiased", "mle"}
        The divisor of each class's scatter: n − 1, or n.
    shrinkage : None, float in [0, 1], "ledoit_wolf" or "oas"
        How far to move each covariance, in correlation units, towards the identity.
    priors : dict or array, optional
        The probabilities of the classes, instead of their shares in training.
    schema, unseen, n_jobs :
        As for every estimator: declared kinds, what to do with new levels, threads.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [-1.0, 0.1, 1.0, -9.0, 0.2, 9.0], "wide": ["no", "no", "no", "yes", "yes", "yes"]}
    >>> bt.QuadraticDiscriminantAnalysis().fit(rows, "wide").predict({"x": [0.5, 6.0, -6.0]}).tolist()
    ['no', 'yes', 'yes']
    """

    model_: Any  # QuadraticDiscriminant
    _pooled = False

    def __init__(
        self,
        covariance: str = "unbiased",
        shrinkage: Any = None,
        priors: Any = None,
        schema: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ):
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.priors = priors
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs

    def _rule(self, seen: Scatter, schema: Schema, choice: Choice) -> QuadraticDiscriminant:
        return derive_quadratic(seen, choice, schema.columns, schema.classes)

    def _without_each(self, table: Table, seen: Scatter, choice: Choice) -> np.ndarray:
        return quadratic_without_each(table, seen, choice, table.schema.columns, table.schema.classes)
