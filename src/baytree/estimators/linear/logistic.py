"""Logistic regression at one strength of the penalty.

What both logistic regressions share: their common parameters, and how a fitted model is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from sklearn.utils.validation import check_is_fitted

from baytree import param_validation
from baytree._typing import FrameLike
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.estimators.linear.regularization import MOST_STRENGTHS, ConvergenceWarning
from baytree.estimators.prediction import Classifier
from baytree.linear.coefficients import CoefficientTable
from baytree.linear.design.learn import MISSING_POLICIES
from baytree.linear.logistic.learner import LogisticLearner
from baytree.linear.logistic.model import LogisticModel
from baytree.linear.logistic.problem import SOLVERS, LogisticOptions
from baytree.linear.regularization_path import RegularizationPath

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_L1_SHARE = {"l2": 0.0, "l1": 1.0, None: 0.0}


class LogisticClassifier(Classifier):
    """A classifier whose model is logistic."""

    penalty: str | None
    l1_ratio: float | None
    multi_class: str
    standardize: bool
    ordinal: str
    missing: str
    solver: str
    tol: float
    max_iter: int
    class_weight: dict | str | None
    monotone: Mapping[str, str] | None
    model_: LogisticModel
    path_: RegularizationPath
    loss_curve_: tuple[float, ...] | list[tuple[float, ...]]
    _accepts_infinite = True  # infinities are refused while reading, which saves a read of the table

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients of the features in original units. [1 or n_classes, n_features]

        A column of numbers that is left out, as an identifier, has the coefficient 0.
        """
        return self.schema_.with_numbers_left_out(
            self.model_.linear.in_original_units()[0], self.model_.linear.design.source
        )

    @property
    def intercept_(self) -> np.ndarray:
        """The intercepts for features in original units. [1 or n_classes]"""
        return self.model_.linear.in_original_units()[1]

    def decision_function(self, X: FrameLike) -> np.ndarray:
        """The linear scores: of the second of two classes, else one per class."""
        table = self._encoded(X)
        scores = self.model_.linear.scores(table)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def coefficients(self, level: float = 0.95) -> CoefficientTable:
        """The coefficients with odds ratios and, for an unpenalised fit, errors, z, p and intervals of this level."""
        check_is_fitted(self, "model_")
        return self.model_.coefficients(self.schema_, level)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """The coefficients against the strength of the penalty (matplotlib)."""
        from baytree.rendering.plots.model_plots import plot_path

        check_is_fitted(self, "path_")
        return plot_path(self.path_.lambdas, self.path_.importance, self.path_.names, ax)

    def plot_loss(self, ax: Axes | None = None) -> Axes:
        """The objective after each step, as for `solver="gradient_descent"` (matplotlib)."""
        from baytree.rendering.plots.model_plots import plot_loss

        check_is_fitted(self, "model_")
        return plot_loss(self.loss_curve_ if isinstance(self.loss_curve_, list) else [self.loss_curve_], ax)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")  # the parameter `lambda_` ends like a fitted attribute, and is none

    def _options(self, schema: Schema) -> LogisticOptions:
        """What all logistic regressions let users choose."""
        return LogisticOptions(
            l1_share=l1_ratio_of(self.penalty, self.l1_ratio),
            is_penalised=self.penalty is not None,
            multi_class=param_validation.one_of("multi_class", self.multi_class, ("multinomial", "ovr")),
            standardize=param_validation.flag("standardize", self.standardize),
            ordinal=param_validation.one_of("ordinal", self.ordinal, ("rank", "dummies")),
            missing=param_validation.one_of("missing", self.missing, MISSING_POLICIES),
            solver=param_validation.one_of("solver", self.solver, SOLVERS),
            tol=param_validation.positive("tol", self.tol),
            max_iter=param_validation.integer("max_iter", self.max_iter, 1),
            monotone=monotone_columns(self.monotone, self.ordinal, schema),
        )


def monotone_columns(given: object, ordinal: str, schema: Schema) -> tuple[tuple[str, int], ...]:
    """Columns that one score must follow, each by one number: its own, or its rank."""
    if given is not None and len(schema.classes) > 2:
        raise ValueError(
            f"monotone: the {len(schema.classes)} classes of {schema.target.name!r} have a score each, and none of them "
            "says how answers follow a column; use DecisionTreeClassifier(monotone=…), or a target of two classes"
        )
    followed = param_validation.monotone(given, schema)
    for name, _ in followed:
        if ordinal != "rank" and schema[name].kind is Kind.ORDINAL:
            raise ValueError(f"monotone: ordinal={ordinal!r} gives each level of {name!r} a coefficient; use ordinal='rank'")
    return followed


def l1_ratio_of(penalty: str | None, l1_ratio: float | None) -> float:
    """The share of |b|₁ in a penalty."""
    param_validation.one_of("penalty", penalty, ("l2", "l1", "elasticnet", None))
    if penalty != "elasticnet":
        return _L1_SHARE[penalty]
    if l1_ratio is None:
        raise ValueError("penalty='elasticnet' needs l1_ratio, the share of the l1 part, from 0 to 1")
    return param_validation.number("l1_ratio", l1_ratio, 0, 1)


class LogisticRegression(LogisticClassifier):
    """Logistic regression on a raw table: binary, multinomial or one against the rest, with l2, l1 or both.

    Minimises mean loss + λ (l1_ratio |b|₁ + (1 − l1_ratio) / 2 |b|²), intercepts free. Nominal columns become one feature
    per level but the first, gaps are filled by the mean or the commonest level and marked by a feature of their own.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, default="l2"
        What keeps coefficients small: the sum of their squares, that of their sizes, both, or nothing.
    C : float, default=1.0
        The inverse strength of the penalty, as in scikit-learn: λ = 1 / (n C) for rows that weigh n in all.
    lambda_ : float, optional
        The strength λ itself, as in glmnet; takes the place of `C`.
    l1_ratio : float in [0, 1], optional
        The share of |b|₁ for ``penalty="elasticnet"``.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        Three or more classes in one model, or one model per class against the rest.
    standardize : bool, default=True
        Whether b is counted per standard deviation (divisor n) of its feature; coefficients come back in original units.
    ordinal : {"rank", "dummies"}, default="rank"
        An ordinal column as one number, its rank, or as one feature per level but the first.
    missing : {"mean+indicator", "mean", "error"}, default="mean+indicator"
        What a gap is: the mean (or the commonest level) and a mark that it was one, the mean alone, or an error.
    solver : {"auto", "newton", "lbfgs", "cd", "gradient_descent"}, default="auto"
        How the optimum is found; they agree to within `tol`. ``gradient_descent`` is for teaching: see `learning_rate`
        and `loss_curve_`.
    tol : float, default=1e-8
        The largest violation of optimality, in standard units, that counts as converged.
    max_iter : int, default=1000
        The largest number of steps.
    class_weight : dict, "balanced" or None, default=None
        What a row of each class counts for, by label; ``"balanced"`` makes all classes weigh the same.
    warm_start : bool, default=False
        Whether to begin where the last fit ended.
    learning_rate : float, optional
        Of ``solver="gradient_descent"``; by default one that always descends.
    path : int, default=0
        How many strengths to solve on the way, from the one that keeps no column; kept as `path_`. 0 keeps none.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The coefficients of the features in original units: of the second of two classes, else of each class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts for features in original units.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        The number of steps, of each class where each has a model of its own.
    gradient_norm_ : float
        The largest violation of optimality by a coefficient, in standard units.
    loss_curve_ : tuple of float, or list of them
        The objective after each step; one tuple per class where each has a model of its own.
    path_ : Path
        The coefficients along the strengths, where `path` asks for them.

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
        class_weight: dict | str | None = None,
        warm_start: bool = False,
        learning_rate: float | None = None,
        path: int = 0,
        monotone: Mapping[str, str] | None = None,
        schema: dict | Schema | None = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
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
        self.monotone = monotone
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    def _learner(self, schema: Schema) -> LogisticLearner:
        rate = self.learning_rate
        options = msgspec.structs.replace(
            self._options(schema),
            C=param_validation.positive("C", self.C),
            lambda_=None if self.lambda_ is None else param_validation.finite("lambda_", self.lambda_, 0),
            learning_rate=None if rate is None else param_validation.positive("learning_rate", rate),
        )
        class_weight = param_validation.class_weights(self.class_weight, schema.classes)
        n_path = param_validation.integer("path", self.path, 0, MOST_STRENGTHS)
        return LogisticLearner(options, class_weight, n_path, self._start(), ConvergenceWarning)

    def _start(self) -> tuple[np.ndarray, ...]:
        """Where the last fit ended, if that is where to begin."""
        return getattr(self, "_thetas", ()) if param_validation.flag("warm_start", self.warm_start) else ()
