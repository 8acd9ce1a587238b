"""The estimators of logistic regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from baytree import settings
from baytree.estimators.base import Classifier, Entered
from baytree.estimators.convergence import ConvergenceWarning
from baytree.folds import held_out_folds
from baytree.linear.coefficients import CoefficientTable
from baytree.linear.design.learn import MISSING_POLICIES
from baytree.linear.logistic.fit import Options
from baytree.linear.logistic.learner import Logistic, LogisticCV
from baytree.linear.logistic.solve import SOLVERS
from baytree.table.schema import Schema

_L1_SHARE = {"l2": 0.0, "l1": 1.0, None: 0.0}
_MOST_STRENGTHS = 10_000


class _Logistic(Classifier):
    """What both logistic regressions share: how a fitted model is read."""

    model_: Any  # LogisticModel
    path_: Any  # Path
    gradient_norm_: float  # the largest violation of optimality by a coefficient, in standard units
    _accepts_infinite = True  # at the door: infinities are refused while reading, which saves a read of the table

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
        from baytree.linear.plots import plot_path

        check_is_fitted(self, "path_")
        return plot_path(self.path_, ax)

    def plot_loss(self, ax: Any = None) -> Any:
        """The objective after each step, as for `solver="gradient_descent"` (matplotlib)."""
        from baytree.linear.plots import plot_loss

        check_is_fitted(self, "model_")
        return plot_loss(self.loss_curve_ if isinstance(self.loss_curve_, list) else [self.loss_curve_], ax)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")  # the parameter `lambda_` ends like a fitted attribute, and is none

    def _options(self, **own: Any) -> Options:
        """What all logistic regressions let users choose."""
        return Options(
            l1_share=_l1_share(self.penalty, self.l1_ratio),
            is_penalised=self.penalty is not None,
            multi_class=settings.one_of("multi_class", self.multi_class, ("multinomial", "ovr")),
            standardize=bool(self.standardize),
            ordinal=settings.one_of("ordinal", self.ordinal, ("rank", "dummies")),
            missing=settings.one_of("missing", self.missing, MISSING_POLICIES),
            solver=settings.one_of("solver", self.solver, SOLVERS),
            tol=settings.positive("tol", self.tol),
            max_iter=settings.whole("max_iter", self.max_iter, 1),
            **own,
        )


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

    def _learner(self, schema: Schema) -> Logistic:
        rate = self.learning_rate
        options = self._options(
            C=settings.positive("C", self.C),
            lambda_=None if self.lambda_ is None else settings.finite("lambda_", self.lambda_, 0),
            learning_rate=None if rate is None else settings.positive("learning_rate", rate),
        )
        return Logistic(
            options,
            settings.class_weights(self.class_weight, schema.classes),
            settings.whole("path", self.path, 0, _MOST_STRENGTHS),
            getattr(self, "_thetas", ()) if self.warm_start else (),
            ConvergenceWarning,
        )


class LogisticRegressionCV(_Logistic):
    """Logistic regression with the strength of the penalty chosen by cross-validation.

    The path of strengths is solved on all rows, then without each fold, judged by held-out loss, and the chosen strength
    is refitted on all rows. Folds depend on the rows alone, not on their order.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"}
    Cs : int or sequence of float
        The inverse strengths, C = 1 / (n λ); a number of them is spread evenly in logs from 1e-4 to 1e4.
    cv : int, splitter or iterable of (train, test)
    rule : {"min", "1se"}
        The least held-out loss, or the strongest penalty within one standard error of it.
    l1_ratio, multi_class, standardize, ordinal, missing, solver, tol, max_iter, class_weight :
        As for `LogisticRegression`.
    schema, unseen, n_jobs :
        As for every estimator: declared kinds, what to do with new levels, threads.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"hours": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] * 3, "passed": ["no", "no", "yes", "no", "yes", "yes"] * 3}
    >>> model = bt.LogisticRegressionCV(cv=3).fit(rows, "passed")
    >>> model.predict({"hours": [1.5, 5.5]}).tolist()
    ['no', 'yes']
    """

    def __init__(
        self,
        penalty: str = "l2",
        Cs: Any = 10,
        cv: Any = 5,
        rule: str = "min",
        l1_ratio: float | None = None,
        multi_class: str = "multinomial",
        standardize: bool = True,
        ordinal: str = "rank",
        missing: str = "mean+indicator",
        solver: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        class_weight: Any = None,
        schema: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ):
        self.penalty = penalty
        self.Cs = Cs
        self.cv = cv
        self.rule = rule
        self.l1_ratio = l1_ratio
        self.multi_class = multi_class
        self.standardize = standardize
        self.ordinal = ordinal
        self.missing = missing
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs

    def plot_curve(self, ax: Any = None) -> Any:
        """The held-out loss against the strength of the penalty (matplotlib)."""
        from baytree.linear.plots import plot_curve

        check_is_fitted(self, "curve_")
        return plot_curve(self.curve_, ax)

    def _learner(self, schema: Schema, fold: np.ndarray | None = None) -> LogisticCV:
        if self.penalty is None:
            raise ValueError("penalty=None leaves nothing to choose; use LogisticRegression(penalty=None)")
        return LogisticCV(
            self._options(),
            settings.class_weights(self.class_weight, schema.classes),
            _strengths(self.Cs),
            fold if fold is not None else _cv(self.cv),
            settings.one_of("rule", self.rule, ("min", "1se")),
            ConvergenceWarning,
        )

    def _for_rows(self, entered: Entered) -> dict[str, Any]:
        """The fold of each row that counts, where `cv` names rows of the table as it was given."""
        if isinstance(self.cv, (int, np.integer)) or hasattr(self.cv, "split"):
            return {}
        kept = np.ones(len(entered.table), bool) if entered.kept is None else entered.kept
        return {"fold": held_out_folds(self.cv, len(kept))[kept]}


def _l1_share(penalty: str | None, l1_ratio: float | None) -> float:
    settings.one_of("penalty", penalty, ("l2", "l1", "elasticnet", None))
    if penalty != "elasticnet":
        return _L1_SHARE[penalty]
    if l1_ratio is None:
        raise ValueError("penalty='elasticnet' needs l1_ratio, the share of the l1 part, from 0 to 1")
    return settings.number("l1_ratio", l1_ratio, 0, 1)


def _strengths(given: Any) -> np.ndarray:
    """The values of C to choose from."""
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        return np.geomspace(1e-4, 1e4, settings.whole("Cs", given, 1, _MOST_STRENGTHS))
    values = np.unique([settings.positive("Cs", value) for value in np.atleast_1d(np.asarray(given)).tolist()])
    if not len(values) or not np.isfinite(values).all():
        raise ValueError(f"Cs={given!r}: give a number of values, or positive finite values")
    return values


def _cv(given: Any) -> Any:
    return settings.whole("cv", given, 2) if isinstance(given, (int, np.integer)) else given
