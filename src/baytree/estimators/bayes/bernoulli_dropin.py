"""scikit-learn's BernoulliNB by its own name, parameters and numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from baytree import settings
from baytree.bayes.estimation import Group
from baytree.estimators.bayes.count_dropins import CountNB
from baytree.given import PriorsLike
from baytree.table.schema import Schema, SchemaLike


class BernoulliNB(CountNB):
    """Bernoulli naive Bayes with scikit-learn's parameters: yes or no in every column, and no counts too.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1.0
        What is added to every count, or to that of each column.
    force_alpha : bool, default=True
        Whether an alpha below 1e-10 is kept as it is; else it is raised to that.
    binarize : float or None, default=0.0
        A value above this is a yes; None says that the values are 0 and 1 already.
    fit_prior : bool, default=True
        Whether the shares of the classes are learnt; else all classes are equally probable beforehand.
    class_prior : array-like of shape (n_classes,) or dict by class, optional
        The probabilities of the classes, where they are known.

    Attributes
    ----------
    class_count_ : ndarray of shape (n_classes,)
        The weight of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        The logarithm of the probability of each class.
    feature_count_ : ndarray of shape (n_classes, n_features)
        The weight of a yes in each column and class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        The log-probability of a yes in each column and class.

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
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """The log-probability of a yes in each column and class: [n_classes, n_features]."""
        return self._amounts.base.T

    def _groups(self, schema: Schema) -> tuple[Group, ...]:
        threshold = 0.0 if self.binarize is None else settings.finite("binarize", self.binarize)
        return (Group(self._event, tuple(range(len(schema))), threshold),)
