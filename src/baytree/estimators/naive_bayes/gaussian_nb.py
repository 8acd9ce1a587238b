"""Gaussian naive Bayes with scikit-learn's name and parameters."""

from __future__ import annotations

from typing import cast

import numpy as np

from baytree import param_validation
from baytree._typing import CostsLike, PriorsLike
from baytree.data.encoding.sample import Columns
from baytree.data.schema.schema import Schema, SchemaLike
from baytree.estimators.naive_bayes.base import BayesClassifier, all_numeric
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation
from baytree.naive_bayes.events.normal import NormalLikelihood
from baytree.param_validation import ClassAmounts
from baytree.statistics.moments import Moments


class GaussianNB(BayesClassifier):
    """Gaussian naive Bayes with scikit-learn's parameters.

    `var_smoothing` raises the variances of a column by a proportion of the column's own variance; scikit-learn takes the
    largest variance of all columns, which dominates columns of small scale.

    Parameters
    ----------
    priors : array-like of shape (n_classes,) or dict by class, optional
        Prior probabilities of the classes, summing to 1; by default their proportions in the training rows.
    var_smoothing : float, default=1e-9
        Proportion of a column's variance that is added to its variance in every class.

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
    epsilon_ : ndarray of shape (n_features,)
        Value added to the variances of each column.

    Examples
    --------
    >>> import baytree as bt
    >>> model = bt.GaussianNB().fit([[-2.0], [-1.0], [1.0], [2.0]], ["low", "low", "high", "high"])
    >>> model.predict([[-3.0], [0.5]]).tolist(), model.theta_.ravel().tolist()
    (['low', 'high'], [1.5, -1.5])
    """

    def __init__(
        self,
        *,
        priors: PriorsLike = None,
        var_smoothing: float = 1e-9,
        costs: CostsLike = None,
        schema: SchemaLike = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ):
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.costs = costs
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def class_count_(self) -> np.ndarray:
        """Training weight of each class. float64 [n_classes]"""
        return self._class_weights

    @property
    def class_prior_(self) -> np.ndarray:
        """Prior probability of each class. float64 [n_classes]"""
        return np.exp(self.model_.log_prior)

    @property
    def theta_(self) -> np.ndarray:
        """Mean of each column in each class. float64 [n_classes, n_features]"""
        return self._normal.mean

    @property
    def var_(self) -> np.ndarray:
        """Variance of each column in each class, after smoothing. float64 [n_classes, n_features]"""
        return self._normal.scale**2

    @property
    def epsilon_(self) -> np.ndarray:
        """Value added to the variances of each column. float64 [n_features]"""
        moments = cast(Moments, self.seen_.statistics[0])
        return self.var_smoothing * moments.deviation_of_all() ** 2

    @property
    def _normal(self) -> NormalLikelihood:
        return cast(NormalLikelihood, self.model_.likelihoods[0])

    def _groups(self, schema: Schema) -> tuple[ColumnGroup, ...]:
        return (ColumnGroup("smoothed gaussian", tuple(range(len(schema)))),)

    def _estimation(self, schema: Schema) -> Estimation:
        return Estimation(class_alpha=0.0, var_smoothing=param_validation.finite("var_smoothing", self.var_smoothing, 0))

    def _prior(self, schema: Schema) -> ClassAmounts | None:
        prior = param_validation.priors("priors", self.priors, schema.classes)
        total = 1.0 if prior is None else float(prior.amounts.sum())
        if not abs(total - 1) <= 1e-6:
            raise ValueError(f"priors={self.priors!r} sum to {total:g}; the sum of the priors should be 1")
        return prior

    def _schema_of(self, frame: Columns) -> Schema:
        return all_numeric(self, frame, super()._schema_of)
