"""Logistic regression at a given penalty strength, and the base class of both logistic regressions.

Solvers, objective and the fitted model are in `linear.logistic`; this module validates parameters and reads fitted models.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from sklearn.utils.validation import check_is_fitted

from baytree import param_validation
from baytree._typing import CostsLike, FrameLike
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.estimators.linear.regularization import MAX_STRENGTHS, ConvergenceWarning
from baytree.estimators.prediction import Classifier
from baytree.linear.coefficients import CoefficientTable
from baytree.linear.design.learn import MISSING_POLICIES
from baytree.linear.logistic.learner import LogisticLearner
from baytree.linear.logistic.model import LogisticModel
from baytree.linear.logistic.problem import SOLVERS, LogisticOptions
from baytree.linear.regularization_path import RegularizationPath

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_L1_RATIO = {"l2": 0.0, "l1": 1.0, None: 0.0}


class LogisticClassifier(Classifier):
    """Base of classifiers with a logistic model: shared options, coefficients, plots."""

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
    _accepts_infinite = True  # infinities are refused while reading, which saves one pass over the table

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the features in original units. float64 [1 or n_classes, n_features]

        A numeric column that was dropped as an identifier has the coefficient 0.
        """
        return self.schema_.with_numbers_left_out(
            self.model_.linear.in_original_units()[0], self.model_.linear.design.source
        )

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts for features in original units. float64 [1 or n_classes]"""
        return self.model_.linear.in_original_units()[1]

    def decision_function(self, X: FrameLike) -> np.ndarray:
        """Linear scores: [n_rows] of the second of two classes, else [n_rows, n_classes]."""
        table = self._encoded(X)
        scores = self.model_.linear.scores(table)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def coefficients(self, level: float = 0.95) -> CoefficientTable:
        """Table of coefficients and odds ratios; without a penalty also standard errors, z, p and confidence intervals."""
        check_is_fitted(self, "model_")
        return self.model_.coefficients(self.schema_, level)

    def plot_coefficients(self, ax: Axes | None = None) -> Axes:
        """Plot the coefficients per standard deviation, largest first; without a penalty with their intervals."""
        from baytree.rendering.plots.model_plots import plot_coefficients

        rows = self.coefficients().rows
        labels = list(dict.fromkeys(str(row.label) for row in rows))
        groups = {label: [row for row in rows if str(row.label) == label] for label in labels}
        return plot_coefficients(groups, ax)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """Plot the coefficients against the penalty strength with matplotlib."""
        from baytree.rendering.plots.model_plots import plot_path

        check_is_fitted(self, "path_")
        return plot_path(self.path_.lambdas, self.path_.importance, self.path_.names, ax)

    def plot_loss(self, ax: Axes | None = None) -> Axes:
        """Plot the objective after each step with matplotlib, as for ``solver="gradient_descent"``."""
        from baytree.rendering.plots.model_plots import plot_loss

        check_is_fitted(self, "model_")
        return plot_loss(self.loss_curve_ if isinstance(self.loss_curve_, list) else [self.loss_curve_], ax)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")  # the parameter `lambda_` is named like a fitted attribute

    def _options(self, schema: Schema) -> LogisticOptions:
        """Validated options that both logistic regressions share."""
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
    """Columns with a monotonic constraint and its sign (±1); each must enter by one number, its value or rank."""
    if given is not None and len(schema.classes) > 2:
        raise ValueError(
            f"monotone is not available for the {len(schema.classes)} classes of {schema.target.name!r}: each class has a "
            "score of its own; use DecisionTreeClassifier(monotone=…), or a target with two classes"
        )
    constraints = param_validation.monotone(given, schema)
    for name, _ in constraints:
        if ordinal != "rank" and schema[name].kind is Kind.ORDINAL:
            raise ValueError(f"monotone: ordinal={ordinal!r} gives each level of {name!r} a coefficient; use ordinal='rank'")
    return constraints


def l1_ratio_of(penalty: str | None, l1_ratio: float | None) -> float:
    """Proportion of |b|₁ in the penalty."""
    param_validation.one_of("penalty", penalty, ("l2", "l1", "elasticnet", None))
    if penalty != "elasticnet":
        return _L1_RATIO[penalty]
    if l1_ratio is None:
        raise ValueError("penalty='elasticnet' needs l1_ratio, the proportion of the l1 penalty, between 0 and 1")
    return param_validation.number("l1_ratio", l1_ratio, 0, 1)


class LogisticRegression(LogisticClassifier):
    """Logistic regression on a raw table: binary, multinomial or one-vs-rest, with l1, l2 or elastic-net penalty.

    Minimises mean loss + λ (l1_ratio |b|₁ + (1 − l1_ratio) / 2 |b|²); intercepts are not penalised. Nominal columns become
    one feature per level except the first. Missing values are replaced by the mean or the most frequent level, with a
    missing indicator.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet", None}, default="l2"
        Penalty on the coefficients: sum of squares, sum of absolute values, both, or none.
    C : float, default=1.0
        Inverse penalty strength as in scikit-learn: λ = 1 / (n C), where n is the total weight of the rows.
    lambda_ : float, optional
        Penalty strength λ itself, as in glmnet; replaces `C`.
    l1_ratio : float in [0, 1], default=0.0
        Proportion of the L1 penalty with ``penalty='elasticnet'``. 0 is the L2 penalty, as in scikit-learn.
    multi_class : {"multinomial", "ovr"}, default="multinomial"
        For three or more classes: one joint model, or one model per class against the rest.
    standardize : bool, default=True
        Whether to penalise coefficients per standard deviation (divisor n) of their feature; fitted coefficients are in
        original units.
    ordinal : {"rank", "dummies"}, default="rank"
        Encode an ordinal column as one number, its rank, or as one feature per level except the first.
    missing : {"mean+indicator", "mean", "error"}, default="mean+indicator"
        How to treat missing values: replace them by the mean (or the most frequent level) and add a missing indicator,
        replace them only, or raise an error.
    solver : {"auto", "newton", "lbfgs", "cd", "gradient_descent"}, default="auto"
        Optimisation algorithm; solutions agree to within `tol`. ``gradient_descent`` is for teaching: see
        `learning_rate` and `loss_curve_`.
    tol : float, default=1e-8
        Tolerance: the fit has converged if no optimality condition is violated by more than this, in standard units.
    max_iter : int, default=1000
        Maximum number of iterations.
    class_weight : dict, "balanced" or None, default=None
        Weight of the rows of each class, by label; ``"balanced"`` gives all classes the same total weight.
    warm_start : bool, default=False
        Whether to start from the solution of the last fit.
    learning_rate : float, optional
        Step size of ``solver="gradient_descent"``; by default one with which the objective always decreases.
    path : int, default=0
        Number of penalty strengths of the regularization path `path_`, which starts at the smallest strength with all
        coefficients zero. 0 for no path.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients of the features in original units: of the second of two classes, else of each class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts for features in original units.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        Number of iterations; with ``multi_class="ovr"``, of each model.
    gradient_norm_ : float
        Largest violation of an optimality condition over all coefficients, in standard units.
    loss_curve_ : tuple of float, or list of them
        Objective after each iteration; with ``multi_class="ovr"``, one tuple per model.
    path_ : Path
        Coefficients along the regularization path; only with ``path`` above 0.

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
        l1_ratio: float | None = 0.0,
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
        costs: CostsLike = None,
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
        self.costs = costs

    def _learner(self, schema: Schema) -> LogisticLearner:
        rate = self.learning_rate
        options = msgspec.structs.replace(
            self._options(schema),
            C=param_validation.positive("C", self.C),
            lambda_=None if self.lambda_ is None else param_validation.finite("lambda_", self.lambda_, 0),
            learning_rate=None if rate is None else param_validation.positive("learning_rate", rate),
        )
        class_weight = param_validation.class_weights(self.class_weight, schema.classes)
        n_path = param_validation.integer("path", self.path, 0, MAX_STRENGTHS)
        return LogisticLearner(options, class_weight, n_path, self._start(), ConvergenceWarning)

    def _start(self) -> tuple[np.ndarray, ...]:
        """Solution of the last fit if `warm_start` is set, else nothing."""
        return getattr(self, "_thetas", ()) if param_validation.flag("warm_start", self.warm_start) else ()
