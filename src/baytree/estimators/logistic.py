"""The estimators of logistic regression."""

from __future__ import annotations

import warnings
from typing import Any, Self

import msgspec
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from baytree.engine.blas import at_most
from baytree.estimators.base import Classifier
from baytree.folds import held_out_folds
from baytree.linear import checks
from baytree.linear.coefficients import CoefficientTable
from baytree.linear.logistic.cross_validation import Curve, choose, held_out_losses
from baytree.linear.logistic.fit import (
    Options,
    Task,
    covariance_of,
    fit_task,
    model_of,
    one_against_rest,
    penalty_of,
    settled,
    task_of,
)
from baytree.linear.logistic.objective import Fit
from baytree.linear.logistic.path import Path, fits_along, lambdas_to, path_of
from baytree.linear.logistic.row_folds import with_folds
from baytree.linear.model import LogisticModel
from baytree.table.table import Table
from baytree.table.weights import as_rows, bearable


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

    def _settle_logistic(self, table: Table, frame: Any, model: LogisticModel, fits: list[Fit]) -> None:
        self._settle(table.schema, model, frame)
        self.n_iter_ = np.array([max(1, fit.n_iter) for fit in fits], dtype=np.int32)
        self.gradient_norm_ = max(fit.violation for fit in fits)
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
        n_path = checks.how_many("path", self.path, least=0)
        table, frame = self._enter(X, y, sample_weight)
        with at_most(self.n_jobs):
            table = as_rows(bearable(table))
            task = task_of(table, options, checks.class_weights(self.class_weight, table))
            fits = self._fits(task, options)
            model = _model(task, options, fits)
            path = self._path(task, options, n_path, table) if n_path else None
        _tell(fits, options, len(task.present))
        self._settle_logistic(table, frame, model, fits)
        self._thetas = [fit.theta for fit in fits]
        if path is not None:
            self.path_ = path
        return self

    def _path(self, task: Task, options: Options, count: int, table: Table) -> Path:
        lambdas = lambdas_to(task, options, count)
        return _path(task, options, lambdas, _along(task, options, lambdas), table)

    def _fits(self, task: Task, options: Options) -> list[Fit]:
        penalty = penalty_of(task, options)
        tasks = _tasks(task, options)
        starts = getattr(self, "_thetas", ()) if self.warm_start else ()
        if [start.shape for start in starts] != [(each.rows.k, each.rows.q) for each in tasks]:
            return [fit_task(each, options, penalty) for each in tasks]
        return [fit_task(each, options, penalty, Fit(start, 0.0, 0)) for each, start in zip(tasks, starts, strict=True)]


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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learns from a table; `y` is the labels, or the name of the target column in `X`."""
        if self.penalty is None:
            raise ValueError("penalty=None leaves nothing to choose; use LogisticRegression(penalty=None)")
        options = checks.options(self)
        checks.one_of("rule", self.rule, ("min", "1se"))
        table, frame = self._enter(X, y, sample_weight)
        with at_most(self.n_jobs):
            table = as_rows(bearable(table))
            task = task_of(table, options, checks.class_weights(self.class_weight, table))
            lambdas = np.maximum(np.sort(1 / task.total / checks.strengths(self.Cs))[::-1], 1e-300)
            along = _along(task, options, lambdas)
            curve = self._curve(task, options, lambdas, along, sample_weight)
            at = curve.best if self.rule == "min" else curve.one_se
            chosen = _at(options, lambdas[at])
            penalty = penalty_of(task, chosen)
            fits = [fit_task(each, chosen, penalty, own[at]) for each, own in zip(_tasks(task, chosen), along, strict=True)]
            model = _model(task, chosen, fits)
            path = _path(task, options, lambdas, along, table)
        _tell(fits, options, len(task.present))
        self._settle_logistic(table, frame, model, fits)
        self.curve_, self.path_, self.lambda_ = curve, path, float(lambdas[at])
        self.C_ = float(1 / task.total / lambdas[at])
        return self

    def plot_curve(self, ax: Any = None) -> Any:
        """The held-out loss against the strength of the penalty (matplotlib)."""
        from baytree.linear.plots import plot_curve

        check_is_fitted(self, "curve_")
        return plot_curve(self.curve_, ax)

    def _curve(self, task: Task, options: Options, lambdas: np.ndarray, along: list[list[Fit]], sample_weight: Any) -> Curve:
        rows, fold = self._folds(task, sample_weight)
        tasks = _tasks(msgspec.structs.replace(task, rows=rows), options)
        parts = [held_out_losses(each, options, lambdas, fold, fits) for each, fits in zip(tasks, along, strict=True)]
        return choose(lambdas, np.sum([loss for loss, _ in parts], axis=0), parts[0][1])

    def _folds(self, task: Task, sample_weight: Any) -> tuple[Any, np.ndarray]:
        rows, label = task.rows, task.rows.label
        if isinstance(self.cv, (int, np.integer)):
            n_rows = max(2, len(label), int(min(task.total, 1e6)))  # a row of weight 2 is two
            return with_folds(rows, task.total, min(checks.whole("cv", self.cv, least=2), n_rows))
        if hasattr(self.cv, "split"):
            return rows, held_out_folds(self.cv.split(np.zeros(len(label)), label), len(label))
        # given rows are those of X; the ones without weight have been left out since
        counted = np.ones(len(label), bool) if sample_weight is None else np.asarray(sample_weight) > 0
        return rows, held_out_folds(self.cv, len(counted))[counted]


def _tasks(task: Task, options: Options) -> list[Task]:
    """The task itself, or one per class against the rest."""
    if options.multi_class == "multinomial" or task.rows.k == 1:
        return [task]
    return [one_against_rest(task, c) for c in range(task.rows.k)]


def _model(task: Task, options: Options, fits: list[Fit]) -> LogisticModel:
    penalty = penalty_of(task, options)
    if len(fits) > 1:
        return model_of(task, np.vstack([fit.theta for fit in fits]), "ovr")
    covariance = covariance_of(task, fits[0]) if penalty.is_none and len(task.present) == task.n_classes > 1 else None
    return model_of(task, settled(fits[0].theta, penalty), "sigmoid" if task.rows.k == 1 else "softmax", covariance)


def _along(task: Task, options: Options, lambdas: np.ndarray) -> list[list[Fit]]:
    """The solutions at each strength, of each task."""
    return [fits_along(each, options, lambdas) for each in _tasks(task, options)]


def _path(task: Task, options: Options, lambdas: np.ndarray, along: list[list[Fit]], table: Table) -> Path:
    models = [
        _model(task, _at(options, lambda_), list(fits)).linear
        for lambda_, fits in zip(lambdas, zip(*along, strict=True), strict=True)
    ]
    return path_of(lambdas, task.total, models, task.design.names(table.schema.columns))


def _at(options: Options, lambda_: float) -> Options:
    return msgspec.structs.replace(options, lambda_=float(lambda_))


def _tell(fits: list[Fit], options: Options, n_classes: int) -> None:
    """Say when the classes are separable, and when the optimum was not reached."""
    if any(fit.is_separable for fit in fits) and n_classes > 1:
        warnings.warn(
            "the classes are separable by these columns: without a penalty no finite optimum exists, and coefficients stop "
            "only where the gradient vanishes; use penalty='l2'",
            ConvergenceWarning,
            stacklevel=3,
        )
    worst = max(fit.violation for fit in fits)
    if worst > options.tol:
        warnings.warn(
            f"not converged after {max(fit.n_iter for fit in fits)} steps: the gradient norm is {worst:.3g}, tol is "
            f"{options.tol:.3g}; raise max_iter or tol, or use solver='auto'",
            ConvergenceWarning,
            stacklevel=3,
        )
