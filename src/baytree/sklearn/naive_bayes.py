"""Drop-ins for scikit-learn's five naive Bayes classifiers: same parameters, attributes and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from baytree import _warnings
from baytree._typing import CostsLike, FrameLike, PriorsLike, RejectLike, TargetLike, WeightsLike
from baytree.data.schema.schema import Schema
from baytree.estimators.naive_bayes import count_nb, discrete_nb, gaussian_nb
from baytree.estimators.naive_bayes.base import BayesClassifier
from baytree.estimators.naive_bayes.discrete_nb import MIN_ALPHA, DiscreteNB
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation
from baytree.param_validation import ClassAmounts
from baytree.sklearn.base import IncrementalSklearnCompatible
from baytree.statistics.moments import Moments


class _Bayes(IncrementalSklearnCompatible, BayesClassifier):
    """Base of the five classifiers."""

    def predict_log_proba(self, X: FrameLike) -> npt.NDArray[np.float64]:
        """Logarithm of `predict_proba`, exact even if the probability underflows. float64 [n_rows, n_classes]"""
        scores = self.predict_joint_log_proba(X)
        return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)


class GaussianNB(_Bayes, gaussian_nb.GaussianNB):
    """scikit-learn's GaussianNB, including its variance smoothing.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), optional
        Prior probabilities of the classes, summing to 1; by default their proportions in the training rows.
    var_smoothing : float, default=1e-9
        Proportion of the largest column variance that is added to every variance.

    Attributes
    ----------
    class_count_ : ndarray of shape (n_classes,)
        Training weight of each class.
    class_prior_ : ndarray of shape (n_classes,)
        Prior probability of each class.
    theta_ : ndarray of shape (n_classes, n_features)
        Mean of each column in each class.
    var_ : ndarray of shape (n_classes, n_features)
        Variance of each column in each class, after smoothing.
    epsilon_ : float
        Value added to the variances.

    Examples
    --------
    >>> from baytree.sklearn import GaussianNB
    >>> GaussianNB().fit([[-2.0], [-1.0], [1.0], [2.0]], [1, 1, 2, 2]).predict([[-0.8]]).tolist()
    [1]
    """

    def __init__(self, *, priors: PriorsLike = None, var_smoothing: float = 1e-9):
        self.priors = priors
        self.var_smoothing = var_smoothing

    @property
    def epsilon_(self) -> Any:
        """Value added to the variances."""
        moments = cast(Moments, self.seen_.statistics[0])
        return float(self.var_smoothing * moments.pooled().deviation()[0].max() ** 2)

    def _groups(self, schema: Schema) -> tuple[ColumnGroup, ...]:
        return (ColumnGroup("sklearn gaussian", tuple(range(len(schema)))),)

    def _prior(self, schema: Schema) -> ClassAmounts | None:
        _check_priors(self.priors, schema)
        return super()._prior(schema)


class _Counts(_Bayes, DiscreteNB):
    """Base of the four classifiers of counts and codes: α and class priors, validated as in scikit-learn."""

    def fit(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Self:
        """Fit the model to a table."""
        with _naming_negative(type(self).__name__):
            return super().fit(X, y, sample_weight)

    def partial_fit(
        self, X: FrameLike, y: TargetLike = None, classes: ArrayLike | None = None, sample_weight: WeightsLike = None
    ) -> Self:
        """Continue training: the same model as `fit` on all rows so far. The first call must name all classes."""
        with _naming_negative(type(self).__name__):
            return super().partial_fit(X, y, classes, sample_weight)

    def _estimation(self, schema: Schema) -> Estimation:
        alpha = self._check_alpha(len(schema))
        return Estimation(alpha=float(alpha) if np.ndim(alpha) == 0 else tuple(alpha.tolist()), class_alpha=0.0)

    def _check_alpha(self, n_features: int | None = None) -> Any:
        """Effective α: a number, or one per column."""
        alpha = np.asarray(self.alpha, np.float64)
        n_features = getattr(self, "n_features_in_", None) if n_features is None else n_features
        if not (np.isfinite(alpha).all() and (alpha >= 0).all()):
            raise ValueError(f"alpha={self.alpha!r}: All values in alpha must be greater than 0.")
        if alpha.ndim and alpha.shape != (n_features,):
            raise ValueError(f"When alpha is an array, it should contains `n_features`={n_features}, not {alpha.shape}")
        if alpha.min(initial=np.inf) < MIN_ALPHA and not self.force_alpha:
            _warnings.warn(f"alpha too small will result in numeric errors, setting alpha = {MIN_ALPHA:.1e}")
            alpha = np.maximum(alpha, MIN_ALPHA)
        return alpha[()] if alpha.ndim == 0 else alpha

    def _class_shares(self, schema: Schema) -> ClassAmounts | None:
        if self.class_prior is not None and np.shape(cast(ArrayLike, self.class_prior)) != (len(schema.classes),):
            raise ValueError(f"Number of priors must match number of classes, {len(schema.classes)}")
        return super()._class_shares(schema)


class BernoulliNB(_Counts, count_nb.BernoulliNB):
    """scikit-learn's BernoulliNB: binary columns.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudo-count added to every count, or one pseudo-count per column.
    force_alpha : bool, default=True
        Whether to use an alpha below 1e-10 as given; otherwise it is raised to 1e-10.
    binarize : float or None, default=0.0
        Threshold above which a value counts as 1; None if the values are 0 and 1 already.
    fit_prior : bool, default=True
        Whether to estimate the class priors from the training rows; otherwise the prior is uniform.
    class_prior : array-like of shape (n_classes,), optional
        Known prior probabilities of the classes.

    Attributes
    ----------
    class_count_ : ndarray of shape (n_classes,)
        Training weight of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Log prior probability of each class.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Weight of the rows with value 1, by class and column.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Log-probability of value 1, by class and column.

    Examples
    --------
    >>> from baytree.sklearn import BernoulliNB
    >>> BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"]).predict([[1, 0]]).tolist()
    ['a']
    """

    def __init__(
        self,
        *,
        alpha: ArrayLike = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: PriorsLike = None,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior


class MultinomialNB(_Counts, count_nb.MultinomialNB):
    """scikit-learn's MultinomialNB: counts per row, such as words of a document.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudo-count added to every count, or one pseudo-count per column.
    force_alpha : bool, default=True
        Whether to use an alpha below 1e-10 as given; otherwise it is raised to 1e-10.
    fit_prior : bool, default=True
        Whether to estimate the class priors from the training rows; otherwise the prior is uniform.
    class_prior : array-like of shape (n_classes,), optional
        Known prior probabilities of the classes.

    Attributes
    ----------
    class_count_ : ndarray of shape (n_classes,)
        Training weight of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Log prior probability of each class.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Weighted total of each column in each class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Log-probability of each column in each class.

    Examples
    --------
    >>> from baytree.sklearn import MultinomialNB
    >>> MultinomialNB().fit([[2, 0], [3, 1], [0, 4]], ["a", "a", "b"]).predict([[1, 0], [0, 1]]).tolist()
    ['a', 'b']
    """

    def __init__(
        self,
        *,
        alpha: ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: PriorsLike = None,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior


class ComplementNB(_Counts, count_nb.ComplementNB):
    """scikit-learn's ComplementNB: words weighted by how rare they are in all other classes.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudo-count added to every count, or one pseudo-count per column.
    force_alpha : bool, default=True
        Whether to use an alpha below 1e-10 as given; otherwise it is raised to 1e-10.
    fit_prior : bool, default=True
        As in `MultinomialNB`; it only affects `class_log_prior_`.
    class_prior : array-like of shape (n_classes,), optional
        Prior probabilities of the classes; they only affect `class_log_prior_`.
    norm : bool, default=False
        Whether to normalise the weights of each class by their sum.

    Attributes
    ----------
    class_count_ : ndarray of shape (n_classes,)
        Training weight of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Log prior probability of each class.
    feature_count_ : ndarray of shape (n_classes, n_features)
        Weighted total of each column in each class.
    feature_all_ : ndarray of shape (n_features,)
        Weighted total of each column over all classes.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Weight of each column in each class.

    Examples
    --------
    >>> from baytree.sklearn import ComplementNB
    >>> ComplementNB().fit([[2, 0], [3, 1], [0, 4]], ["a", "a", "b"]).predict([[1, 0]]).tolist()
    ['a']
    """

    def __init__(
        self,
        *,
        alpha: ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: PriorsLike = None,
        norm: bool = False,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _estimation(self, schema: Schema) -> Estimation:
        alpha = _Counts._estimation(self, schema).alpha
        return Estimation(alpha=alpha, class_alpha=0.0, is_normalised=bool(self.norm))


class CategoricalNB(_Counts, discrete_nb.CategoricalNB):
    """scikit-learn's CategoricalNB: columns of codes 0, 1, 2, …

    Numbers in arrays are truncated to whole numbers, as in scikit-learn; columns of a data frame may also hold levels. A
    code that does not occur in training is a missing value, where scikit-learn raises an error.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-count added to the count of every category.
    force_alpha : bool, default=True
        Whether to use an alpha below 1e-10 as given; otherwise it is raised to 1e-10.
    fit_prior : bool, default=True
        Whether to estimate the class priors from the training rows; otherwise the prior is uniform.
    class_prior : array-like of shape (n_classes,), optional
        Known prior probabilities of the classes.
    min_categories : int or array-like of shape (n_features,), optional
        Minimum number of categories per column.

    Attributes
    ----------
    class_count_ : ndarray of shape (n_classes,)
        Training weight of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Log prior probability of each class.
    n_categories_ : ndarray of shape (n_features,)
        Number of categories of each column.
    category_count_ : list of ndarray of shape (n_classes, n_categories)
        Weight of each category in each class, for each column.
    feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        Log-probability of each category in each class, for each column.

    Examples
    --------
    >>> from baytree.sklearn import CategoricalNB
    >>> CategoricalNB().fit([[0], [0], [1], [2]], ["a", "a", "b", "b"]).predict([[0], [2]]).tolist()
    ['a', 'b']
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: PriorsLike = None,
        min_categories: ArrayLike | None = None,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def fit(self, X: FrameLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Self:
        """Fit the model to a table."""
        return super().fit(_codes(X), y, sample_weight)

    def partial_fit(
        self, X: FrameLike, y: TargetLike = None, classes: ArrayLike | None = None, sample_weight: WeightsLike = None
    ) -> Self:
        """Continue training: the same model as `fit` on all rows so far. The first call must name all classes."""
        return super().partial_fit(_codes(X), y, classes, sample_weight)

    def predict(self, X: FrameLike, *, reject: RejectLike = None, costs: CostsLike = None) -> np.ndarray:
        """Predict the class of each row, the most probable or least costly one; with `reject`, None for rejected rows."""
        check_is_fitted(self, "model_")  # before the codes are checked
        return super().predict(_codes(X), reject=reject, costs=costs)

    def predict_proba(self, X: FrameLike) -> npt.NDArray[np.float64]:
        """Probability of each class, in the order of `classes_`. float64 [n_rows, n_classes]"""
        check_is_fitted(self, "model_")
        return super().predict_proba(_codes(X))

    def predict_joint_log_proba(self, X: FrameLike) -> np.ndarray:
        """Unnormalised log posterior log p(c) + Σ log p(x_j | c) of each class. float64 [n_rows, n_classes]"""
        check_is_fitted(self, "model_")
        return super().predict_joint_log_proba(_codes(X))

    def _filled(self, schema: Schema) -> Schema:
        min_categories = np.asarray(0 if self.min_categories is None else self.min_categories)
        if min_categories.shape not in ((), (len(schema),)):
            raise ValueError(f"'min_categories' should have shape ({len(schema)},), not {min_categories.shape}")
        return super()._filled(schema)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags


@contextmanager
def _naming_negative(name: str) -> Iterator[None]:
    """Convert errors about negative counts to scikit-learn's message, keeping the location that baytree names."""
    prefix = "Negative values in data:"
    try:
        yield
    except ValueError as error:
        if not str(error).startswith(prefix):
            raise
        raise ValueError(f"Negative values in data passed to {name} (input X):{str(error)[len(prefix) :]}") from None


def _codes(X: FrameLike) -> FrameLike:
    """Numbers of an array or a list of rows as int64; anything else unchanged."""
    values = np.asarray(X) if isinstance(X, (list, tuple)) else X
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu" or not np.isfinite(values).all():
        return X
    if values.size and values.min() < 0:
        raise ValueError("Negative values in data passed to CategoricalNB (input X)")
    return values.astype(np.int64, copy=False)


def _check_priors(priors: Any, schema: Schema) -> None:
    if priors is None:
        return
    given = np.asarray(priors, np.float64)
    if given.shape != (len(schema.classes),):
        raise ValueError(f"Number of priors must match number of classes, {len(schema.classes)}")
    if not np.isclose(given.sum(), 1.0):
        raise ValueError(f"The sum of the priors should be 1, and is {given.sum():g}")
    if (given < 0).any():
        raise ValueError("Priors must be non-negative")
