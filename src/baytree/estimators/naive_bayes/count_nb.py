"""Multinomial, complement and Bernoulli naive Bayes with scikit-learn's names and parameters.

Numbers equal scikit-learn's except where those are wrong: missing values are marginalised, values of any size give
probabilities, and `partial_fit`, `forget` and `merge` are exact. Drop-in versions that differ in nothing are in
`baytree.sklearn`.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from baytree import param_validation
from baytree._typing import CostsLike, FrameLike, PriorsLike
from baytree.data.encoding.sample import Columns
from baytree.data.schema.schema import Schema, SchemaLike
from baytree.estimators.naive_bayes.base import all_numeric
from baytree.estimators.naive_bayes.discrete_nb import DiscreteNB, equal_shares
from baytree.naive_bayes.events.count_likelihoods import CountLikelihood
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation
from baytree.param_validation import ClassAmounts
from baytree.statistics.totals import Totals


class CountNB(DiscreteNB):
    """Base of classifiers that model all numeric columns together by one likelihood."""

    _event = ""

    @property
    def feature_count_(self) -> np.ndarray:
        """Weighted total of each column in each class. float64 [n_classes, n_features]"""
        return cast(Totals, self.seen_.statistics[0]).total.rounded().T

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """Log-probability (complement: weight) of each column in each class. float64 [n_classes, n_features]"""
        return self._amounts.slope.T

    def _groups(self, schema: Schema) -> tuple[ColumnGroup, ...]:
        return (ColumnGroup(self._event, tuple(range(len(schema)))),)

    def _schema_of(self, frame: Columns) -> Schema:
        return all_numeric(self, frame, super()._schema_of)

    @property
    def _amounts(self) -> CountLikelihood:
        return cast(CountLikelihood, self.model_.likelihoods[0])


class MultinomialNB(CountNB):
    """Multinomial naive Bayes with scikit-learn's parameters: counts per row, such as words of a document.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudo-count added to every count, or one pseudo-count per column.
    force_alpha : bool, default=True
        Whether to use an alpha below 1e-10 as given; otherwise it is raised to 1e-10.
    fit_prior : bool, default=True
        Whether to estimate the class priors from the training rows; otherwise the prior is uniform.
    class_prior : array-like of shape (n_classes,) or dict by class, optional
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
    >>> import baytree as bt
    >>> model = bt.MultinomialNB().fit([[2, 0], [3, 1], [0, 4]], ["a", "a", "b"])
    >>> model.predict([[1, 0], [0, 1]]).tolist()
    ['a', 'b']
    """

    _event = "plugin multinomial"

    def __init__(
        self,
        *,
        alpha: ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: PriorsLike = None,
        costs: CostsLike = None,
        schema: SchemaLike = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.costs = costs
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile


class ComplementNB(CountNB):
    """Complement naive Bayes with scikit-learn's parameters: words weighted by how rare they are in all other classes.

    With two or more classes, class proportions do not affect the predictions.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        Pseudo-count added to every count, or one pseudo-count per column.
    force_alpha : bool, default=True
        Whether to use an alpha below 1e-10 as given; otherwise it is raised to 1e-10.
    fit_prior : bool, default=True
        As in `MultinomialNB`; it only affects `class_log_prior_`.
    class_prior : array-like of shape (n_classes,) or dict by class, optional
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
    >>> import baytree as bt
    >>> bt.ComplementNB().fit([[2, 0], [3, 1], [0, 4]], ["a", "a", "b"]).predict([[1, 0]]).tolist()
    ['a']
    """

    _event = "complement"

    def __init__(
        self,
        *,
        alpha: ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: PriorsLike = None,
        norm: bool = False,
        costs: CostsLike = None,
        schema: SchemaLike = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm
        self.costs = costs
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def feature_all_(self) -> np.ndarray:
        """Weighted total of each column over all classes. float64 [n_features]"""
        return self.feature_count_.sum(axis=0)

    def predict_joint_log_proba(self, X: FrameLike) -> np.ndarray:
        """Unnormalised sum of the weights of each row's counts. float64 [n_rows, n_classes]"""
        return super().predict_joint_log_proba(X) - self.model_.log_prior

    def _estimation(self, schema: Schema) -> Estimation:
        estimation = super()._estimation(schema)
        return Estimation(alpha=estimation.alpha, class_alpha=0.0, is_normalised=bool(self.norm))

    def _prior(self, schema: Schema) -> ClassAmounts | None:
        self._class_shares(schema)  # validates class_prior
        return equal_shares(schema)


class BernoulliNB(CountNB):
    """Bernoulli naive Bayes with scikit-learn's parameters: binary columns, in which absence is evidence, too.

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
    class_prior : array-like of shape (n_classes,) or dict by class, optional
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
    >>> import baytree as bt
    >>> bt.BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"]).predict([[1, 0]]).tolist()
    ['a']
    """

    _event = "bernoulli"
    _takes_negative = True

    def __init__(
        self,
        *,
        alpha: ArrayLike = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: PriorsLike = None,
        costs: CostsLike = None,
        schema: SchemaLike = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.costs = costs
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """Log-probability of value 1 in each column and class. float64 [n_classes, n_features]"""
        return self._amounts.base.T

    def _groups(self, schema: Schema) -> tuple[ColumnGroup, ...]:
        threshold = 0.0 if self.binarize is None else param_validation.finite("binarize", self.binarize)
        return (ColumnGroup(self._event, tuple(range(len(schema))), threshold),)
