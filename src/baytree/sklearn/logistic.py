"""Drop-in for scikit-learn's LogisticRegression: same parameters and attributes, and the same optimum."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from baytree import _warnings, param_validation
from baytree._typing import FrameLike, RandomLike, TargetLike, WeightsLike
from baytree.data.schema.schema import Schema
from baytree.estimators.linear.logistic import LogisticClassifier
from baytree.estimators.linear.regularization import ConvergenceWarning
from baytree.linear.logistic.learner import LogisticLearner
from baytree.linear.logistic.problem import LogisticOptions
from baytree.sklearn.base import WithoutGaps, refuse_gaps

SOLVERS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")

_FAILED = {  # scikit-learn's warning of each solver if it stops early
    "lbfgs": "lbfgs failed to converge after {n} iteration(s)",
    "liblinear": "Liblinear failed to converge, increase the number of iterations.",
    "newton-cg": "newton-cg failed to converge after {n} steps",
    "newton-cholesky": "Newton solver did not converge after {n} iterations",
    "sag": "The max_iter was reached which means the coef_ did not converge",
    "saga": "The max_iter was reached which means the coef_ did not converge",
}


class LogisticDropIn(WithoutGaps, LogisticClassifier):
    """Base of both logistic regressions: reads scikit-learn's parameters, presents the fitted model."""

    dual: bool
    fit_intercept: bool
    intercept_scaling: float
    random_state: RandomLike
    verbose: int
    multi_class = "multinomial"
    standardize = False
    ordinal = "rank"
    missing = "mean+indicator"
    _dtype: Any = np.float64
    _is_sparse = False

    @property
    def coef_(self) -> Any:
        """Coefficients of the features. [1 or n_classes, n_features]"""
        coef = self.model_.linear.in_original_units()[0].astype(self._dtype)
        if not self._is_sparse:
            return coef
        from scipy.sparse import csr_matrix

        return csr_matrix(coef)

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts. [1 or n_classes]"""
        return self.model_.linear.in_original_units()[1].astype(self._dtype)

    def sparsify(self) -> Self:
        """Present `coef_` as a sparse matrix."""
        self._is_sparse = True
        return self

    def densify(self) -> Self:
        """Present `coef_` as an array."""
        self._is_sparse = False
        return self

    def predict_log_proba(self, X: FrameLike) -> npt.NDArray[np.float64]:
        """Logarithm of `predict_proba`, exact even if the probability underflows. float64 [n_rows, n_classes]"""
        rows = self._encoded(X)
        scores = self.model_.linear.scores(rows)
        return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)

    def _remember_dtype(self, X: FrameLike) -> None:
        is_single = getattr(X, "dtype", None) == np.float32 and self.solver != "liblinear"
        self._dtype = np.float32 if is_single else np.float64

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")


class LogisticRegression(LogisticDropIn):
    """scikit-learn's LogisticRegression.

    Minimises C Σ loss + l1_ratio |b|₁ + (1 − l1_ratio) / 2 |b|²; the intercept is not penalised (except with 'liblinear').
    The optimum is found to the smaller of 1e-8 and `tol`, whatever the solver's name, so results may differ from
    scikit-learn's in the digits that its default tolerance of 1e-4 leaves open. Nominal columns become one feature per level
    except the first.

    Parameters
    ----------
    penalty : {'l1', 'l2', 'elasticnet', None}, default='deprecated'
        Deprecated: use `l1_ratio` and `C`.
    C : float, default=1.0
        Inverse penalty strength; infinity for no penalty.
    l1_ratio : float, default=0.0
        Proportion of |b|₁ in the penalty.
    dual : bool, default=False
        Accepted with 'liblinear'; the optimum is the same.
    tol : float, default=1e-4
        Tolerance: the fit has converged if no optimality condition is violated by more than this.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    intercept_scaling : float, default=1
        With 'liblinear', the intercept is penalised as the coefficient of a column of this value.
    class_weight : dict, 'balanced' or None, default=None
        Weight of the rows of each class.
    random_state : int, RandomState or None, default=None
        Accepted for compatibility; the fit is deterministic.
    solver : {'lbfgs', 'liblinear', 'newton-cg', 'newton-cholesky', 'sag', 'saga'}, default='lbfgs'
        Determines which penalties are allowed, as in scikit-learn; the optimum is found by baytree's own solvers.
    max_iter : int, default=100
        Maximum number of iterations.
    verbose : int, default=0
        Accepted for compatibility.
    warm_start : bool, default=False
        Whether to start from the solution of the last fit.
    n_jobs : int, optional
        Number of threads; deprecated in scikit-learn.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients: of the second of two classes, else of each class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    n_iter_ : ndarray of shape (1,)
        Number of iterations.
    gradient_norm_ : float
        Largest violation of an optimality condition over all coefficients, in standard units.
    loss_curve_ : tuple of float
        Objective after each iteration.

    Examples
    --------
    >>> from baytree.sklearn import LogisticRegression
    >>> X, y = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], [0, 0, 1, 0, 1, 1]
    >>> LogisticRegression().fit(X, y).predict([[1.5], [5.5]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: dict | str | None = None,
        random_state: RandomLike = None,
        solver: str = "lbfgs",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def fit(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Self:
        """Fit the model to a table."""
        if self.n_jobs is not None:
            _warnings.warn(
                "'n_jobs' has no effect in scikit-learn any more; here it is the number of threads", FutureWarning
            )
        refuse_gaps(X)
        with _warnings.capture() as messages:
            super().fit(X, y, sample_weight)
        _warnings.emit([self._in_their_words(*each) for each in messages])
        self.n_iter_ = np.minimum(self.n_iter_, self.max_iter)
        self._remember_dtype(X)
        return self

    def _in_their_words(self, message: str, category: type[Warning]) -> tuple[str, type[Warning]]:
        if not message.startswith("not converged"):
            return message, category
        steps = int(self.n_iter_.max())
        failed = _FAILED[self.solver].format(n=steps)
        return f"{failed}: {message}. Increase the number of iterations or scale the data", category

    def _learner(self, schema: Schema) -> LogisticLearner:
        options = self._read_options()
        if self.solver == "liblinear" and len(schema.classes) > 2:
            raise ValueError("The 'liblinear' solver does not support multiclass classification.")
        start = getattr(self, "_thetas", ()) if self.warm_start else ()
        class_weight = param_validation.class_weights(self.class_weight, schema.classes)
        return LogisticLearner(options, class_weight, 0, start, ConvergenceWarning)

    def _read_options(self) -> LogisticOptions:
        ratio, is_penalised = self._penalty()
        param_validation.one_of("solver", self.solver, SOLVERS)
        refuse_pairs(self.solver, ratio, is_penalised, self.dual)
        tol = param_validation.finite("tol", self.tol, 0)
        return LogisticOptions(
            l1_share=ratio,
            is_penalised=is_penalised,
            C=param_validation.positive("C", self.C) if is_penalised else 1.0,
            standardize=False,
            tol=min(tol, 1e-8) if tol > 0 else 1e-15,
            max_iter=param_validation.integer("max_iter", self.max_iter, 0),
            constant=self._constant(),
        )

    def _constant(self) -> float:
        if not self.fit_intercept:
            return np.inf
        return (
            1 / param_validation.positive("intercept_scaling", self.intercept_scaling) if self.solver == "liblinear" else 0.0
        )

    def _penalty(self) -> tuple[float, bool]:
        """The l1 ratio, and whether there is a penalty at all."""
        if self.l1_ratio is None and self.penalty != "elasticnet":
            _warnings.warn("'l1_ratio=None' was deprecated; use l1_ratio=0", FutureWarning)
        if self.penalty == "deprecated":
            return param_validation.number("l1_ratio", self.l1_ratio or 0.0, 0, 1), np.inf != self.C
        param_validation.one_of("penalty", self.penalty, ("l1", "l2", "elasticnet", None))
        _warnings.warn("'penalty' was deprecated; use l1_ratio, and C=np.inf for no penalty", FutureWarning)
        if self.penalty == "elasticnet":
            if self.l1_ratio is None:
                raise ValueError("penalty='elasticnet' needs l1_ratio, the proportion of the l1 penalty, between 0 and 1")
            return param_validation.number("l1_ratio", self.l1_ratio, 0, 1), True
        ratio = 1.0 if self.penalty == "l1" else 0.0
        if self.penalty is None and self.C != 1.0:
            _warnings.warn("Setting penalty=None will ignore the C and l1_ratio parameters")
        elif self.l1_ratio is not None and 0 < self.l1_ratio < 1:
            _warnings.warn(f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={self.penalty})")
        elif self.penalty is not None and self.l1_ratio not in (None, ratio):
            _warnings.warn(f"Inconsistent values: penalty={self.penalty} with l1_ratio={self.l1_ratio}; the penalty is used")
        return ratio, self.penalty is not None


def refuse_pairs(solver: str, l1_ratio: float, is_penalised: bool, dual: bool) -> None:
    """Raise ValueError for combinations that scikit-learn's solvers do not support, although baytree's could.

    A program must behave the same with either import.
    """
    if solver not in ("liblinear", "saga") and l1_ratio > 0:
        raise ValueError(f"Solver {solver} supports only 'l2' or None penalties, got l1_ratio={l1_ratio}.")
    if solver != "liblinear" and dual:
        raise ValueError(f"Solver {solver} supports only dual=False, got dual=True")
    if solver == "liblinear" and 0 < l1_ratio < 1:
        raise ValueError(f"Only 'saga' solver supports elasticnet penalty, got solver={solver}.")
    if solver == "liblinear" and not is_penalised:
        raise ValueError("penalty=None is not supported for the liblinear solver")
