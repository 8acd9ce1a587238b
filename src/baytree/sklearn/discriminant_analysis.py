"""Drop-ins for scikit-learn's linear and quadratic discriminant analysis: same parameters, attributes and numbers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from baytree import _warnings, param_validation
from baytree._typing import FrameLike, PriorsLike, TargetLike, WeightsLike
from baytree.data.schema.schema import Schema
from baytree.estimators.base import PreparedRows
from baytree.estimators.linear import discriminant
from baytree.linear.discriminant.learner import TEXT_REMEDY, LinearDiscriminantLearner
from baytree.param_validation import ClassAmounts, reject_text_columns
from baytree.sklearn.base import SklearnCompatible, WithoutGaps, refuse_gaps
from baytree.sklearn.covariances import (
    Estimate,
    LinearByEstimate,
    QuadraticByEstimate,
    check_classes,
    covariance_of,
    covariances_of,
)


class _Analysis(SklearnCompatible):
    """Base of both analyses: estimation of the covariance, and shared attributes."""

    solver: str
    shrinkage: float | str | None
    priors: PriorsLike
    store_covariance: bool
    tol: float
    covariance_estimator: Any
    _dtype: Any = np.float64

    def fit(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Self:
        """Fit the model to a table."""
        super().fit(X, y, sample_weight)
        self._dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        return self

    @property
    def means_(self) -> np.ndarray:
        """Mean of each feature in each class. [n_classes, n_features]"""
        design = self.model_.design
        return self._typed(self.model_.mean * design.scale + design.centre)

    @property
    def priors_(self) -> np.ndarray:
        """Prior probability of each class. [n_classes]"""
        return self._typed(self.model_.prior)

    def _typed(self, values: np.ndarray) -> np.ndarray:
        return values.astype(self._dtype)

    def _estimate(self, **more: float) -> Estimate:
        if self.shrinkage is not None and self.covariance_estimator is not None:
            raise ValueError("covariance_estimator and shrinkage parameters are not None. Only one of the two can be set.")
        if isinstance(self.shrinkage, str):
            param_validation.one_of("shrinkage", self.shrinkage, ("auto",))
        elif self.shrinkage is not None:
            param_validation.number("shrinkage", self.shrinkage, 0, 1)
        return Estimate(self.shrinkage, self.covariance_estimator, **more)

    def _given_priors(self, schema: Schema) -> ClassAmounts | None:
        if self.priors is None:
            return None
        given = np.asarray(self.priors, np.float64)
        if (given < 0).any():
            raise ValueError("priors must be non-negative")
        if abs(given.sum() - 1) > 1e-5:
            _warnings.warn("The priors do not sum to 1. Renormalizing")
        return param_validation.priors("priors", given, schema.classes)


class LinearDiscriminantAnalysis(_Analysis, discriminant.LinearDiscriminantAnalysis):
    """scikit-learn's LinearDiscriminantAnalysis: Gaussian classes with a common covariance, and discriminant axes.

    Parameters
    ----------
    solver : {'svd', 'lsqr', 'eigen'}, default='svd'
        Which of scikit-learn's covariance definitions to use: the pooled covariance about the class means (svd), or the
        prior-weighted mean of the class covariances (lsqr, eigen), which can be shrunk. The computation is the same.
    shrinkage : float in [0, 1], 'auto' or None, default=None
        Shrinkage of the covariance towards the mean variance; 'auto' is Ledoit and Wolf's estimate. Not with 'svd'.
    priors : array-like of shape (n_classes,), optional
        Prior probabilities of the classes; by default their proportions in the training rows.
    n_components : int, optional
        Number of axes that `transform` returns; at most min(n_classes - 1, n_features).
    store_covariance : bool, default=False
        Whether `covariance_` is available with 'svd', too.
    tol : float, default=1e-4
        Accepted for compatibility; directions of small variance are dropped as in `bt.LinearDiscriminantAnalysis`.
    covariance_estimator : estimator, optional
        Estimator whose `fit` on the rows of a class sets `covariance_`. Not with 'svd'.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        Coefficients of the linear scores.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts of the linear scores.
    covariance_ : ndarray of shape (n_features, n_features)
        Covariance within classes; with 'svd' only if `store_covariance` is set.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Proportion of the between-class variance on each axis.
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    priors_ : ndarray of shape (n_classes,)
        Prior probabilities of the classes.
    scalings_ : ndarray of shape (n_features, n_axes)
        Discriminant axes.
    xbar_ : ndarray of shape (n_features,)
        Mean of the class means, weighted by the priors.

    Examples
    --------
    >>> from baytree.sklearn import LinearDiscriminantAnalysis
    >>> LinearDiscriminantAnalysis().fit([[1.0], [1.2], [3.0], [3.1]], [0, 0, 1, 1]).predict([[1.1], [2.9]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: float | str | None = None,
        priors: PriorsLike = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    @property
    def covariance_(self) -> np.ndarray:
        """Covariance within classes. [n_features, n_features]"""
        if self.solver == "svd" and not self.store_covariance:
            raise AttributeError("covariance_ is there with store_covariance=True")
        return self._typed(covariance_of(self.model_))

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients of the linear scores: of the second of two classes, else of each class."""
        return self._typed(self._linear()[0])

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts of the linear scores."""
        return self._typed(self._linear()[1])

    @property
    def xbar_(self) -> np.ndarray:
        """Mean of the class means, weighted by the priors. [n_features]"""
        return self.priors_ @ self.means_

    @property
    def explained_variance_ratio_(self) -> np.ndarray:
        """Proportion of the between-class variance on each axis. [n_components]"""
        variance = np.square(self.model_.strength)
        return self._typed((variance / max(variance.sum(), 1e-300))[: self.n_components])

    @property
    def _n_features_out(self) -> int:
        return len(self.explained_variance_ratio_)

    def transform(self, X: FrameLike) -> np.ndarray:
        """Project the rows onto the discriminant axes, strongest first. float64 [n_rows, n_components]"""
        if self.solver == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
        rows = self._encoded(X)
        return self.model_.coordinates(rows)[:, : self.n_components]

    def decision_function(self, X: FrameLike) -> np.ndarray:
        """Linear scores: [n_rows] of the second of two classes against the first, else [n_rows, n_classes]."""
        rows = self._encoded(X)
        scores = self.model_.linear.scores(rows)
        if scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        offset = 0.0 if self.solver == "svd" else self._offset(X)
        return scores + offset

    def _offset(self, X: FrameLike) -> np.ndarray:
        """Common term of the scores of all classes if means are not centred. float64 [n_rows, 1]"""
        coef, intercept = self._linear()
        centred, start = self.model_.linear.in_original_units()
        x = self.model_.design.scores(self._encoded(X), np.diag(self.model_.design.scale)) + self.model_.design.centre
        return (x @ (coef[0] - centred[0]) + intercept[0] - start[0])[:, None]

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and intercepts: about the mean of the class means with 'svd', about 0 with other solvers."""
        coef, intercept = self.model_.linear.in_original_units()
        if len(coef) != 2 and self.solver != "svd":
            mean = self.model_.mean * self.model_.design.scale + self.model_.design.centre
            coef = np.linalg.lstsq(covariance_of(self.model_), mean.T, rcond=None)[0].T
            with np.errstate(divide="ignore"):
                intercept = -0.5 * np.einsum("kj,kj->k", mean, coef) + np.log(self.model_.prior)
        return (coef[1:] - coef[:1], intercept[1:] - intercept[:1]) if len(coef) == 2 else (coef, intercept)

    def _row_dependent_settings(self, entered: PreparedRows) -> dict[str, Any]:
        schema, n_rows = entered.rows.schema, entered.rows.n_rows
        if n_rows <= len(schema.classes):
            raise ValueError(f"The number of samples must be more than the number of classes; got n_samples={n_rows}.")
        max_components = min(len(schema), len(schema.classes) - 1)
        if self.n_components is not None and self.n_components > max_components:
            raise ValueError(
                f"n_components cannot be larger than min(n_features, n_classes - 1), which is {max_components}."
            )
        return {}

    def _learner(self, schema: Schema) -> Any:
        reject_text_columns(schema, "discriminant analysis", TEXT_REMEDY)
        param_validation.one_of("solver", self.solver, ("svd", "lsqr", "eigen"))
        priors = self._given_priors(schema)
        if self.solver != "svd":
            return LinearByEstimate(self._estimate(), priors)
        if self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver; use 'lsqr' or 'eigen'")
        if self.covariance_estimator is not None:
            raise ValueError("covariance estimator is not supported with svd solver. Try another solver")
        return LinearDiscriminantLearner("mle", np.zeros(1), priors)


class QuadraticDiscriminantAnalysis(_Analysis, WithoutGaps, discriminant.QuadraticDiscriminantAnalysis):
    """scikit-learn's QuadraticDiscriminantAnalysis: Gaussian classes with separate covariances.

    Parameters
    ----------
    solver : {'svd', 'eigen'}, default='svd'
        Accepted for compatibility; 'eigen' allows `shrinkage` and `covariance_estimator`. The computation is the same.
    shrinkage : float in [0, 1], 'auto' or None, default=None
        Shrinkage of each covariance towards its mean variance; 'auto' is Ledoit and Wolf's estimate. Not with 'svd'.
    priors : array-like of shape (n_classes,), optional
        Prior probabilities of the classes; by default their proportions in the training rows.
    reg_param : float, default=0.0
        Proportion of the identity matrix in each covariance.
    store_covariance : bool, default=False
        Whether `covariance_` is available.
    tol : float, default=1e-4
        A covariance with a variance below this along some direction raises an error.
    covariance_estimator : estimator, optional
        Estimator whose `fit` on the rows of a class sets `covariance_`. Not with 'svd'.

    Attributes
    ----------
    covariance_ : list of ndarray of shape (n_features, n_features)
        Covariance of each class, if `store_covariance` is set.
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    priors_ : ndarray of shape (n_classes,)
        Prior probabilities of the classes.
    rotations_ : list of ndarray of shape (n_features, n_features)
        Principal axes of each class.
    scalings_ : list of ndarray of shape (n_features,)
        Variances along the principal axes of each class.

    Examples
    --------
    >>> from baytree.sklearn import QuadraticDiscriminantAnalysis
    >>> X = [[-1.0], [0.1], [1.0], [-9.0], [0.2], [9.0]]
    >>> QuadraticDiscriminantAnalysis().fit(X, [0, 0, 0, 1, 1, 1]).predict([[0.5], [6.0]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: float | str | None = None,
        priors: PriorsLike = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ):
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def fit(self, X: FrameLike, y: TargetLike = None) -> Self:  # type: ignore[override]
        """Fit the model to a table. Sample weights are not supported, as in scikit-learn."""
        refuse_gaps(X)
        return super().fit(X, y)

    @property
    def partial_fit(self) -> Any:  # type: ignore[override]
        """Not available: whether a covariance has full rank, which is required, depends on all rows."""
        raise AttributeError("QuadraticDiscriminantAnalysis has no partial_fit; use bt.QuadraticDiscriminantAnalysis")

    @property
    def covariance_(self) -> list[np.ndarray]:
        """Covariance of each class."""
        if not self.store_covariance:
            raise AttributeError("covariance_ is there with store_covariance=True")
        return covariances_of(self.model_)

    @property
    def rotations_(self) -> list[np.ndarray]:
        """Principal axes of each class, largest variance first."""
        return [np.linalg.eigh(covariance)[1][:, ::-1] for covariance in covariances_of(self.model_)]

    @property
    def scalings_(self) -> list[np.ndarray]:
        """Variances along the principal axes of each class."""
        return [np.linalg.eigvalsh(covariance)[::-1] for covariance in covariances_of(self.model_)]

    def decision_function(self, X: FrameLike) -> np.ndarray:
        """Log density plus log prior of each class; for two classes, the second minus the first."""
        rows = self._encoded(X)
        scores = self.model_.scores(rows)
        if scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        return scores - np.log(self.model_.design.scale).sum()

    def _row_dependent_settings(self, entered: PreparedRows) -> dict[str, Any]:
        check_classes(entered.table, entered.rows.schema, 2)
        return {}

    def _learner(self, schema: Schema) -> Any:
        reject_text_columns(schema, "discriminant analysis", TEXT_REMEDY)
        param_validation.one_of("solver", self.solver, ("svd", "eigen"))
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver; use 'eigen'")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ValueError("covariance_estimator is not supported with solver='svd'; use 'eigen'")
        advice = " When using `solver='svd'` a class needs more rows than columns." if self.solver == "svd" else ""
        estimate = self._estimate(reg_param=param_validation.number("reg_param", self.reg_param, 0, 1))
        return QuadraticByEstimate(estimate, self._given_priors(schema), param_validation.finite("tol", self.tol, 0), advice)
