"""scikit-learn's two discriminant analyses: its parameters, attributes and numbers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from baytree import _warnings, param_validation
from baytree._typing import FrameLike, PriorsLike, TargetLike, WeightsLike
from baytree.data.schema.schema import Schema
from baytree.estimators.base import PreparedRows
from baytree.estimators.linear import discriminant
from baytree.linear.discriminant.learner import LinearDiscriminantLearner, refuse_text
from baytree.param_validation import ClassAmounts
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
    """What both share: how a covariance is estimated, and the attributes of every rule."""

    solver: str
    shrinkage: float | str | None
    priors: PriorsLike
    store_covariance: bool
    tol: float
    covariance_estimator: Any
    _dtype: Any = np.float64

    def fit(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Self:
        """Learns from a table; `y` is the labels, or the name of the target column in `X`."""
        super().fit(X, y, sample_weight)
        self._dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        return self

    @property
    def means_(self) -> np.ndarray:
        """The mean of each feature in each class: [n_classes, n_features]."""
        design = self.model_.design
        return self._typed(self.model_.mean * design.scale + design.centre)

    @property
    def priors_(self) -> np.ndarray:
        """The probability of each class: [n_classes]."""
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
    """scikit-learn's LinearDiscriminantAnalysis: Gaussian classes with one covariance, and the axes that part them.

    Parameters
    ----------
    solver : {'svd', 'lsqr', 'eigen'}, default='svd'
        Which of scikit-learn's covariances is meant: that of all rows about their class means, or (lsqr, eigen) that of the
        classes weighed by the priors, which can be shrunk. The arithmetic is the same.
    shrinkage : float in [0, 1], 'auto' or None, default=None
        How far the covariance is moved to the mean variance; 'auto' after Ledoit and Wolf. Not with 'svd'.
    priors : array-like of shape (n_classes,), optional
        The probabilities of the classes, instead of their shares in training.
    n_components : int, optional
        How many axes `transform` gives; at most min(n_classes - 1, n_features).
    store_covariance : bool, default=False
        Whether `covariance_` is there with 'svd', too.
    tol : float, default=1e-4
        Accepted for scikit-learn's sake: directions of less spread are left out as by `bt.LinearDiscriminantAnalysis`.
    covariance_estimator : estimator, optional
        Its `fit` on the rows of a class gives `covariance_`. Not with 'svd'.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_classes, n_features)
        The coefficients of the linear scores.
    intercept_ : ndarray of shape (n_classes,)
        The intercepts of the linear scores.
    covariance_ : ndarray of shape (n_features, n_features)
        The covariance within classes; with 'svd' only where it is asked for.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The share of each axis in what keeps the class means apart.
    means_ : ndarray of shape (n_classes, n_features)
        The class means.
    priors_ : ndarray of shape (n_classes,)
        The probabilities of the classes.
    scalings_ : ndarray of shape (n_features, n_axes)
        The axes.
    xbar_ : ndarray of shape (n_features,)
        The mean of the class means, weighed by the priors.

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
        """The covariance within classes: [n_features, n_features]."""
        if self.solver == "svd" and not self.store_covariance:
            raise AttributeError("covariance_ is there with store_covariance=True")
        return self._typed(covariance_of(self.model_))

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients of the linear scores: of the second of two classes, else of each class."""
        return self._typed(self._linear()[0])

    @property
    def intercept_(self) -> np.ndarray:
        """The intercepts of the linear scores."""
        return self._typed(self._linear()[1])

    @property
    def xbar_(self) -> np.ndarray:
        """The mean of the class means, weighed by the priors: [n_features]."""
        return self.priors_ @ self.means_

    @property
    def explained_variance_ratio_(self) -> np.ndarray:
        """The share of each axis in what keeps the class means apart."""
        share = np.square(self.model_.strength)
        return self._typed((share / max(share.sum(), 1e-300))[: self.n_components])

    @property
    def _n_features_out(self) -> int:
        return len(self.explained_variance_ratio_)

    def transform(self, X: FrameLike) -> np.ndarray:
        """The rows on the discriminant axes, strongest first."""
        if self.solver == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
        rows = self._encoded(X)
        return self.model_.coordinates(rows)[:, : self.n_components]

    def decision_function(self, X: FrameLike) -> np.ndarray:
        """The linear scores: of the second of two classes against the first, else one per class."""
        rows = self._encoded(X)
        scores = self.model_.linear.scores(rows)
        if scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        offset = 0.0 if self.solver == "svd" else self._offset(X)
        return scores + offset

    def _offset(self, X: FrameLike) -> np.ndarray:
        """What the scores of every class have in common where means are not centred. [n_rows, 1]"""
        coef, intercept = self._linear()
        centred, start = self.model_.linear.in_original_units()
        x = self.model_.design.scores(self._encoded(X), np.diag(self.model_.design.scale)) + self.model_.design.centre
        return (x @ (coef[0] - centred[0]) + intercept[0] - start[0])[:, None]

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and intercepts: about the mean of the class means with 'svd', about 0 with the others."""
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
        most = min(len(schema), len(schema.classes) - 1)
        if self.n_components is not None and self.n_components > most:
            raise ValueError(f"n_components cannot be larger than min(n_features, n_classes - 1), which is {most}.")
        return {}

    def _learner(self, schema: Schema) -> Any:
        refuse_text(schema)
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
    """scikit-learn's QuadraticDiscriminantAnalysis: Gaussian classes with a covariance each.

    Parameters
    ----------
    solver : {'svd', 'eigen'}, default='svd'
        Accepted for scikit-learn's sake: 'eigen' takes `shrinkage` and `covariance_estimator`. The arithmetic is the same.
    shrinkage : float in [0, 1], 'auto' or None, default=None
        How far each covariance is moved to its mean variance; 'auto' after Ledoit and Wolf. Not with 'svd'.
    priors : array-like of shape (n_classes,), optional
        The probabilities of the classes, instead of their shares in training.
    reg_param : float, default=0.0
        The share of the identity in each covariance.
    store_covariance : bool, default=False
        Whether `covariance_` is there.
    tol : float, default=1e-4
        A covariance with a variance below it along some direction is refused.
    covariance_estimator : estimator, optional
        Its `fit` on the rows of a class gives `covariance_`. Not with 'svd'.

    Attributes
    ----------
    covariance_ : list of ndarray of shape (n_features, n_features)
        The covariance of each class, where it is asked for.
    means_ : ndarray of shape (n_classes, n_features)
        The class means.
    priors_ : ndarray of shape (n_classes,)
        The probabilities of the classes.
    rotations_ : list of ndarray of shape (n_features, n_features)
        The principal axes of each class.
    scalings_ : list of ndarray of shape (n_features,)
        The variance along them.

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
        """Learns from a table; `y` is the labels, or the name of the target column in `X`. Rows have no weights."""
        refuse_gaps(X)
        return super().fit(X, y)

    @property
    def partial_fit(self) -> Any:  # type: ignore[override]
        """Not there: a covariance that is refused where it has no full rank needs all rows at once."""
        raise AttributeError("QuadraticDiscriminantAnalysis has no partial_fit; use bt.QuadraticDiscriminantAnalysis")

    @property
    def covariance_(self) -> list[np.ndarray]:
        """The covariance of each class."""
        if not self.store_covariance:
            raise AttributeError("covariance_ is there with store_covariance=True")
        return covariances_of(self.model_)

    @property
    def rotations_(self) -> list[np.ndarray]:
        """The principal axes of each class, widest first."""
        return [np.linalg.eigh(covariance)[1][:, ::-1] for covariance in covariances_of(self.model_)]

    @property
    def scalings_(self) -> list[np.ndarray]:
        """The variance along the principal axes of each class."""
        return [np.linalg.eigvalsh(covariance)[::-1] for covariance in covariances_of(self.model_)]

    def decision_function(self, X: FrameLike) -> np.ndarray:
        """The log density of each class and its prior; of two classes, the second against the first."""
        rows = self._encoded(X)
        scores = self.model_.scores(rows)
        if scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        return scores - np.log(self.model_.design.scale).sum()

    def _row_dependent_settings(self, entered: PreparedRows) -> dict[str, Any]:
        check_classes(entered.table, entered.rows.schema, 2)
        return {}

    def _learner(self, schema: Schema) -> Any:
        refuse_text(schema)
        param_validation.one_of("solver", self.solver, ("svd", "eigen"))
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver; use 'eigen'")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ValueError("covariance_estimator is not supported with solver='svd'; use 'eigen'")
        advice = " When using `solver='svd'` a class needs more rows than columns." if self.solver == "svd" else ""
        estimate = self._estimate(reg_param=param_validation.number("reg_param", self.reg_param, 0, 1))
        return QuadraticByEstimate(estimate, self._given_priors(schema), param_validation.finite("tol", self.tol, 0), advice)
