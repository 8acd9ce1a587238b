"""The linear estimators: discriminant analysis and logistic regression."""

from __future__ import annotations

import warnings
from typing import Any, Self

import msgspec
import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..estimator import AdditiveClassifier, Classifier
from ..table import Kind, Schema, Table
from . import checks
from .coefficients import CoefficientTable
from .cross_validation import Curve, choose, folds_of, held_out_losses
from .discriminant import Choice, derive_linear, derive_quadratic, pool
from .leave_one_out import linear_without_each, quadratic_without_each
from .logistic import Options, Task, covariance_of, fit_task, model_of, one_against_rest, penalty_of, settled, task_of
from .model import LinearDiscriminant, LogisticModel, QuadraticDiscriminant
from .objective import Fit
from .path import Path, path_of
from .sampling import sample
from .scatter import Scatter
from .shrinkage import ledoit_wolf, oas


class _Discriminant(AdditiveClassifier):
    """What both discriminant analyses share: one statistic, and the choices that turn it into a rule."""

    covariance: str
    shrinkage: Any
    priors: Any
    _pooled = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns from a table; `y` is the labels, or the name of the target column in `X`."""
        if self.shrinkage != "ledoit_wolf":
            return super().fit(X, y, sample_weight)
        table, frame = self._enter(X, y, sample_weight)
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
        return Scatter.of(table, self._pooled)

    def _derive(self, seen: Scatter, schema: Schema) -> Any:
        return self._rule(seen, schema, self._choice(seen, schema))

    def _choice(self, seen: Scatter, schema: Schema, amount: np.ndarray | None = None) -> Choice:
        checks.one_of("covariance", self.covariance, ("unbiased", "mle"))
        priors = checks.priors(self.priors, schema.target.classes)
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
        return np.array([checks.share("shrinkage", self.shrinkage)])

    def _rule(self, seen: Scatter, schema: Schema, choice: Choice) -> Any:
        raise NotImplementedError

    def _without_each(self, table: Table, seen: Scatter, choice: Choice) -> np.ndarray:
        raise NotImplementedError


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

    model_: LinearDiscriminant

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
        from .plots import plot_axes

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

    model_: QuadraticDiscriminant
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
        return derive_quadratic(seen, choice, schema.columns, schema.target.classes)

    def _without_each(self, table: Table, seen: Scatter, choice: Choice) -> np.ndarray:
        return quadratic_without_each(table, seen, choice, table.schema.columns, table.schema.target.classes)


class _Logistic(Classifier):
    """What both logistic regressions share: how a fitted model is read."""

    model_: LogisticModel

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients of the features in original units. [1 or n_classes, n_features]"""
        return self.model_.linear.in_original_units()[0]

    @property
    def intercept_(self) -> np.ndarray:
        """The intercepts for features in original units. [1 or n_classes]"""
        return self.model_.linear.in_original_units()[1]

    def decision_function(self, X: Any) -> np.ndarray:
        """The linear scores: of the second of two classes, else one per class."""
        table = self._encoded(X)
        scores = self.model_.linear.scores(table)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def coefficients(self, level: float = 0.95) -> CoefficientTable:
        """The coefficients with odds ratios and, for an unpenalised fit, errors, z, p and intervals of this level."""
        check_is_fitted(self, "model_")
        return self.model_.coefficients(self.schema_, level)

    def plot_path(self, ax: Any = None) -> Any:
        """The coefficients against the strength of the penalty (matplotlib)."""
        from .plots import plot_path

        check_is_fitted(self, "path_")
        return plot_path(self.path_, ax)

    def _settle_logistic(self, table: Table, frame: Any, model: LogisticModel, fits: list[Fit]) -> None:
        self._settle(table.schema, model, frame)
        self.n_iter_ = np.array([max(1, fit.n_iter) for fit in fits], dtype=np.int32)
        self.loss_curve_ = fits[0].losses if len(fits) == 1 else [fit.losses for fit in fits]


class LogisticRegression(_Logistic):
    """Logistic regression on a raw table: binary, multinomial or one against the rest, with l2, l1 or both.

    Minimises mean loss + λ (l1_ratio |b|₁ + (1 − l1_ratio) / 2 |b|²), intercepts free. Nominal columns become one feature
    per level but the first, gaps are filled by the mean or the commonest level and marked by a feature of their own.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}
    C, lambda_ : float
        The strength: λ, or C = 1 / (n λ) where `lambda_` is None.
    l1_ratio : float in [0, 1], optional
        The share of |b|₁ for ``penalty="elasticnet"``.
    multi_class : {"multinomial", "ovr"}
    standardize : bool
        Whether b is counted per standard deviation (divisor n) of its feature; coefficients come back in original units.
    ordinal : {"rank", "dummies"}
    missing : {"mean+indicator", "mean", "error"}
    solver : {"auto", "newton", "lbfgs", "cd", "gradient_descent"}
        `gradient_descent` is for teaching: see `learning_rate` and `loss_curve_`.
    tol : float
        The largest violation of optimality, in standard units, that counts as converged.
    max_iter : int
    class_weight : dict, "balanced" or None
    warm_start : bool
        Whether to begin where the last fit ended.
    learning_rate : float, optional
        Of `gradient_descent`; by default one that always descends.
    path : int
        How many strengths to solve on the way, from the one that keeps no column; kept as `path_`. 0 keeps none.
    schema, unseen, n_jobs :
        As for every estimator: declared kinds, what to do with new levels, threads.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"hours": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "passed": ["no", "no", "yes", "no", "yes", "yes"]}
    >>> model = bt.LogisticRegression().fit(rows, "passed")
    >>> model.predict({"hours": [1.5, 5.5]}).tolist()
    ['no', 'yes']
    """

    def __init__(
        self,
        penalty: str | None = "l2",
        C: float = 1.0,
        lambda_: float | None = None,
        l1_ratio: float | None = None,
        multi_class: str = "multinomial",
        standardize: bool = True,
        ordinal: str = "rank",
        missing: str = "mean+indicator",
        solver: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        class_weight: Any = None,
        warm_start: bool = False,
        learning_rate: float | None = None,
        path: int = 0,
        schema: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ):
        self.penalty = penalty
        self.C = C
        self.lambda_ = lambda_
        self.l1_ratio = l1_ratio
        self.multi_class = multi_class
        self.standardize = standardize
        self.ordinal = ordinal
        self.missing = missing
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.learning_rate = learning_rate
        self.path = path
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns from a table; `y` is the labels, or the name of the target column in `X`."""
        options = checks.options(self)
        table, frame = self._enter(X, y, sample_weight)
        task = task_of(table, options, checks.class_weights(self.class_weight, table))
        fits = self._fits(task, options)
        _tell(fits, options, type(self).__name__)
        model = _model(task, options, fits)
        path = path_of(task, options, self.path, self._feature_names(task, table)) if self.path else None
        self._settle_logistic(table, frame, model, fits)
        self._thetas = [fit.theta for fit in fits]
        if path is not None:
            self.path_ = path
        return self

    def _fits(self, task: Task, options: Options) -> list[Fit]:
        penalty = penalty_of(task, options)
        tasks = checks.tasks(task, options)
        starts = getattr(self, "_thetas", None) if self.warm_start else None
        if starts is None or len(starts) != len(tasks) or any(s.shape != (t.rows.k, t.rows.q) for s, t in zip(starts, tasks)):
            return [fit_task(each, options, penalty) for each in tasks]
        return [
            fit_task(each, options, penalty, Fit(start, 0.0, 0)) for each, start in zip(tasks, starts, strict=True)
        ]
