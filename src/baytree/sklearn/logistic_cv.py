"""Drop-in for scikit-learn's LogisticRegressionCV: one fit per fold, l1 ratio and strength, with any scorer."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from typing import Any, Self

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from baytree import _warnings, param_validation
from baytree._typing import FrameLike, RandomLike, TargetLike, WeightsLike
from baytree.base.learner import FitResult
from baytree.linear.linear_model import LOG_ZERO
from baytree.linear.logistic.model import LogisticModel
from baytree.sklearn.base import refuse_gaps
from baytree.sklearn.logistic import SOLVERS, LogisticDropIn, LogisticRegression, refuse_pairs


class LogisticRegressionCV(LogisticDropIn):
    """scikit-learn's LogisticRegressionCV: penalty strength and l1 ratio chosen by cross-validation.

    Parameters
    ----------
    Cs : int or list of float, default=10
        Inverse strengths to choose from, or their number: they are then log-spaced from 1e-4 to 1e4.
    l1_ratios : array-like of float or None, default='warn'
        Values of `l1_ratio` to choose from; only 0 by default.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    cv : int or splitter, default=None
        Number of folds or splitter; five stratified folds by default.
    dual : bool, default=False
        Accepted with 'liblinear'; the optimum is the same.
    penalty : {'l1', 'l2', 'elasticnet'}, default='deprecated'
        Deprecated: use `l1_ratios`.
    scoring : str or callable, default='warn'
        Score of held-out rows; accuracy by default.
    solver : {'lbfgs', 'liblinear', 'newton-cg', 'newton-cholesky', 'sag', 'saga'}, default='lbfgs'
        Determines which penalties are allowed, as in scikit-learn.
    tol : float, default=1e-4
        Tolerance: the fit has converged if no optimality condition is violated by more than this.
    max_iter : int, default=100
        Maximum number of iterations.
    class_weight : dict, 'balanced' or None, default=None
        Weight of the rows of each class.
    n_jobs : int, optional
        Number of threads.
    verbose : int, default=0
        Accepted for compatibility.
    refit : bool, default=True
        Whether to refit the best strength on all rows; otherwise coefficients are averaged over the folds.
    intercept_scaling : float, default=1.0
        With 'liblinear', the intercept is penalised as the coefficient of a column of this value.
    random_state : int, RandomState or None, default=None
        Accepted for compatibility; the fit is deterministic.
    use_legacy_attributes : bool, default='warn'
        Whether `scores_`, `coefs_paths_` and others are dicts by class, as in earlier versions of scikit-learn.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients: of the second of two classes, else of each class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    Cs_ : ndarray of shape (n_cs,)
        Inverse strengths that were tried.
    l1_ratios_ : ndarray of shape (n_l1_ratios,)
        Values of `l1_ratio` that were tried.
    C_ : float or ndarray of shape (1,) or (n_classes,)
        Chosen inverse strength.
    l1_ratio_ : float or ndarray of shape (1,) or (n_classes,)
        Chosen `l1_ratio`.
    scores_ : ndarray of shape (n_folds, n_l1_ratios, n_cs) or dict
        Score of each fold.
    coefs_paths_ : ndarray of shape (n_folds, n_l1_ratios, n_cs, n_classes, n_features + 1) or dict
        Coefficients of each fold, the intercept last.
    n_iter_ : ndarray of shape (n_folds, n_l1_ratios, n_cs) or (1, n_folds, n_cs)
        Number of iterations.

    Examples
    --------
    >>> from baytree.sklearn import LogisticRegressionCV
    >>> X, y = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]] * 3, [0, 0, 1, 0, 1, 1] * 3
    >>> model = LogisticRegressionCV(cv=3, scoring="accuracy", l1_ratios=(0,), use_legacy_attributes=False).fit(X, y)
    >>> model.predict([[1.5], [5.5]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        *,
        Cs: ArrayLike = 10,
        l1_ratios: Any = "warn",
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: str | None = "deprecated",
        scoring: Any = "warn",
        solver: str = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 100,
        class_weight: dict | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: RandomLike = None,
        use_legacy_attributes: bool | str = "warn",
    ):
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes

    def fit(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None, **params: Any) -> Self:
        """Fit the model to a table.

        Parameters
        ----------
        X : table
            Rows: a data frame, an array, or a sparse matrix.
        y : array-like or str
            Labels, or the name of their column.
        sample_weight : array-like, optional
            Weight of each row.
        params : keyword arguments
            Passed to the splitter, such as `groups`.
        """
        refuse_gaps(X)
        self._warn_of_defaults()
        Cs, ratios = self._strengths(), self._shares()
        for ratio in ratios:
            refuse_pairs(param_validation.one_of("solver", self.solver, SOLVERS), float(ratio), True, self.dual)
        X, y = _split_target(X, y)
        self._prepare_rows(X, y, sample_weight)  # validates rows, labels and weights
        X, y = _selectable(X), _of_one_type(np.asarray(y).ravel())
        if self.solver == "liblinear" and len(np.unique(y)) > 2:
            raise ValueError("The 'liblinear' solver does not support multiclass classification.")
        weight = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        trials = [
            [[self._trial(X, y, weight, train, test, C, ratio) for C in Cs] for ratio in ratios]
            for train, test in self._folds(X, y, params)
        ]
        self._settle_trials(X, y, weight, np.asarray(Cs, np.float64), np.asarray(ratios, np.float64), trials)
        return self

    def score(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> float:
        """Score by `scoring`; `y` may be the name of the target column in `X`."""
        X, y = _split_target(X, y)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self._scorer()(self, X, y, **weights)

    def _warn_of_defaults(self) -> None:
        if self.l1_ratios is None and self.penalty == "deprecated":
            _warnings.warn("'l1_ratios=None' was deprecated; use l1_ratios=(0,)", FutureWarning)
        messages = {
            "l1_ratios": "The default value for l1_ratios will change from None to (0.0,)",
            "scoring": "The default value of the parameter 'scoring' will change from accuracy to neg_log_loss",
            "use_legacy_attributes": "The default value of use_legacy_attributes will change from True to False",
        }
        for name, message in messages.items():
            if isinstance(getattr(self, name), str) and getattr(self, name) == "warn":
                _warnings.warn(f"{message}; set {name} explicitly", FutureWarning)

    def _strengths(self) -> np.ndarray:
        if isinstance(self.Cs, (int, np.integer)):
            return np.logspace(-4, 4, param_validation.integer("Cs", self.Cs, 1))
        return np.array([param_validation.positive("Cs", C) for C in np.asarray(self.Cs).ravel().tolist()])

    def _shares(self) -> list[float]:
        if self.penalty != "deprecated":
            param_validation.one_of("penalty", self.penalty, ("l1", "l2", "elasticnet"))
            _warnings.warn("'penalty' was deprecated; use l1_ratios", FutureWarning)
            if self.penalty != "elasticnet":
                return [1.0 if self.penalty == "l1" else 0.0]
            if self.l1_ratios is None or isinstance(self.l1_ratios, str):
                raise ValueError("penalty='elasticnet' needs l1_ratios, values of l1_ratio between 0 and 1")
        if self.l1_ratios is None or isinstance(self.l1_ratios, str):
            return [0.0]
        return [param_validation.number("l1_ratios", ratio, 0, 1) for ratio in np.asarray(self.l1_ratios).ravel().tolist()]

    def _folds(self, X: FrameLike, y: np.ndarray, params: dict[str, Any]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        from sklearn.model_selection import check_cv

        return check_cv(self.cv, y, classifier=True).split(X, y, **params)

    def _scorer(self) -> Any:
        from sklearn.metrics import get_scorer

        named = "accuracy" if isinstance(self.scoring, str) and self.scoring == "warn" else self.scoring
        return get_scorer("accuracy" if named is None else named)

    def _one(self, C: float, l1_ratio: float) -> LogisticRegression:
        return LogisticRegression(
            C=C, l1_ratio=l1_ratio, dual=self.dual, tol=self.tol, fit_intercept=self.fit_intercept,
            intercept_scaling=self.intercept_scaling, class_weight=self.class_weight, random_state=self.random_state,
            solver=self.solver, max_iter=self.max_iter,
        )  # fmt: skip

    def _trial(
        self,
        X: FrameLike,
        y: np.ndarray,
        weight: np.ndarray | None,
        train: np.ndarray,
        test: np.ndarray,
        C: float,
        l1_ratio: float,
    ) -> tuple[np.ndarray, float, int]:
        """Fit without a fold; returns the coefficients, the score on the fold, and the number of iterations."""
        model = self._one(C, l1_ratio)
        model.fit(_rows_at(X, train), y[train], None if weight is None else weight[train])
        _add_classes(model, np.unique(y))
        weights = {} if weight is None else {"sample_weight": weight[test]}
        score = _with_labels(self._scorer(), np.unique(y))(model, _rows_at(X, test), y[test], **weights)
        coef = np.column_stack([model.coef_, model.intercept_]) if self.fit_intercept else model.coef_
        return _rows_of(coef, len(model.classes_)), float(score), int(model.n_iter_.max())

    def _settle_trials(
        self, X: FrameLike, y: np.ndarray, weight: np.ndarray | None, Cs: np.ndarray, proportions: np.ndarray, trials: list
    ) -> None:
        paths = np.array([[[each[0] for each in row] for row in fold] for fold in trials])
        scores = np.array([[[each[1] for each in row] for row in fold] for fold in trials])
        steps = np.array([[[each[2] for each in row] for row in fold] for fold in trials], np.int32)
        best = np.array([np.unravel_index(fold.argmax(), fold.shape) for fold in scores])  # [n_folds, 2]
        if self.refit:
            best = np.array([np.unravel_index(scores.mean(axis=0).argmax(), scores.shape[1:])])
        chosen = float(np.mean(Cs[best[:, 1]])), float(np.mean(proportions[best[:, 0]]))
        model = self._one(*chosen).fit(X, y, weight)
        mean = None if self.refit else np.mean([paths[f, i, j] for f, (i, j) in enumerate(best)], axis=0)
        self._settle_model(model, mean)
        self.Cs_, self.l1_ratios_ = Cs, proportions
        self._remember_dtype(X)
        self._tell(*chosen, paths, scores, steps)

    def _settle_model(self, model: LogisticRegression, mean: np.ndarray | None) -> None:
        """Take over the model fitted to all rows; its coefficients are replaced by the mean over folds, if given."""
        fitted = model.model_
        if mean is not None:
            design, p = fitted.design, fitted.linear.weight.shape[1]
            intercept = mean[:, p] if self.fit_intercept else np.zeros(len(mean))
            weight, start = mean[:, :p] * design.scale, intercept + mean[:, : design.n_dense] @ design.centre
            linear = msgspec.structs.replace(fitted.linear, weight=np.ascontiguousarray(weight), intercept=start)
            fitted = msgspec.structs.replace(fitted, linear=linear)
        self._set_fitted_state(model.schema_, FitResult(fitted, profile=model.profile_), hasattr(model, "feature_names_in_"))

    def _tell(self, C: float, l1_ratio: float, paths: np.ndarray, scores: np.ndarray, steps: np.ndarray) -> None:
        """Set scikit-learn's attributes: arrays, or dicts by class (legacy)."""
        if self.use_legacy_attributes is False:
            self.C_, self.l1_ratio_ = C, l1_ratio
            self.coefs_paths_, self.scores_, self.n_iter_ = paths, scores, steps
            return
        keys = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        has_ratios = self.l1_ratios is not None and not isinstance(self.l1_ratios, str)
        select = (lambda values: values) if has_ratios else (lambda values: values[:, :, 0])
        coefs = np.swapaxes(paths, 1, 2)  # [n_folds, n_cs, n_l1_ratios, n_classes, n_features + 1]
        self.coefs_paths_ = {key: select(coefs[:, :, :, k]) for k, key in enumerate(keys)}
        self.scores_ = {key: select(np.swapaxes(scores, 1, 2)) for key in keys}
        self.n_iter_ = select(np.swapaxes(steps, 1, 2))[None]
        self.C_, self.l1_ratio_ = np.full(len(keys), C), np.full(len(keys), l1_ratio)


def _split_target(X: FrameLike, y: TargetLike) -> tuple[FrameLike, TargetLike]:
    """Split the target from the rows if it is the name of a column."""
    if not isinstance(y, str):
        return X, y
    inputs = [name for name in X.columns if name != y]
    return X[inputs], X[y]


def _selectable(X: FrameLike) -> FrameLike:
    """Rows in a form from which folds can be selected: a frame, an array, or a CSR matrix."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    return X if hasattr(X, "columns") else np.asarray(X)


def _rows_at(X: Any, index: np.ndarray) -> FrameLike:
    """Select rows of a frame, an array or a sparse matrix, in the same type."""
    if hasattr(X, "iloc"):
        return X.iloc[index]
    if not hasattr(X, "columns"):
        return X[index]
    import narwhals as nw  # only for frames of libraries other than pandas

    return nw.from_native(X, eager_only=True)[index].to_native()


def _of_one_type(y: np.ndarray) -> np.ndarray:
    """Convert labels of dtype object that are not strings to their own dtype, which splitters inspect."""
    return np.array(y.tolist()) if y.dtype == object and not isinstance(y[0], str) else y


def _add_classes(model: LogisticRegression, classes: np.ndarray) -> None:
    """Add classes to a model that were not among its training rows, with probability 0."""
    if len(model.classes_) == len(classes):
        return
    linear = model.model_.linear
    weight, start = linear.weight, linear.intercept
    if linear.link == "sigmoid":  # as two scores, the first 0
        weight, start = np.vstack([np.zeros_like(weight), weight]), np.append(0.0, start)
    index = np.searchsorted(classes, model.classes_)
    all_weights, all_intercepts = np.zeros((len(classes), weight.shape[1])), np.full(len(classes), LOG_ZERO)
    all_weights[index], all_intercepts[index] = weight[: len(index)], start[: len(index)]
    extended = msgspec.structs.replace(linear, weight=all_weights, intercept=all_intercepts, link="softmax")
    target = msgspec.structs.replace(model.schema_.target, classes=tuple(classes.tolist()))
    schema = msgspec.structs.replace(model.schema_, target=target)
    result = FitResult(LogisticModel(extended, np.zeros((0, 0)), model.model_.total))
    model._set_fitted_state(schema, result, hasattr(model, "feature_names_in_"))


def _with_labels(scorer: Any, classes: np.ndarray) -> Any:
    """Scorer that knows all classes, since a fold may lack some; only scorers of probabilities need it."""
    parameters = inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    if not hasattr(scorer, "_kwargs") or "labels" not in parameters or "average" in parameters:
        return scorer
    extended = copy.copy(scorer)
    positive = {"pos_label": classes[-1]} if "pos_label" in parameters and len(classes) == 2 else {}
    extended._kwargs = {**scorer._kwargs, "labels": classes, **positive}
    return extended


def _rows_of(coef: np.ndarray, n_classes: int) -> np.ndarray:
    """One row of coefficients for two classes, else one per class."""
    return coef[1:] - coef[:1] if n_classes == 2 and len(coef) == 2 else coef
