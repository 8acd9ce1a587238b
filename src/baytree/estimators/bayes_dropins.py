"""scikit-learn's naive Bayes classifiers by their own names, parameters and numbers, on the statistics of this library.

They differ where scikit-learn is wrong: missing values are marginalised, numbers of any size give probabilities, new codes
are missing and memory follows the codes that occur, the variance floor of `GaussianNB` follows each column, and
`partial_fit`, `forget` and `merge` are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree import notices, settings
from baytree.bayes.estimation import Estimation, Group
from baytree.bayes.events.gaussian import NormalLikelihood
from baytree.estimators.bayes_face import BayesClassifier
from baytree.settings import ByClass
from baytree.table.frames import RawFrame
from baytree.table.infer import Census
from baytree.table.schema import Kind, Schema

LEAST_ALPHA = 1e-10


class GaussianNB(BayesClassifier):
    """Gaussian naive Bayes with scikit-learn's parameters.

    `var_smoothing` raises the variance of a column by that share of the column's own variance; scikit-learn takes the
    largest variance of all columns, which drowns columns of small scale.

    Parameters
    ----------
    priors : array or dict, optional
        The probabilities of the classes, instead of their shares in training.
    var_smoothing : float
        The share of a column's variance that is added to it in every class.

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
        priors: Any = None,
        var_smoothing: float = 1e-9,
        schema: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ):
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs

    @property
    def class_count_(self) -> np.ndarray:
        """The weight of each class."""
        return _class_count(self)

    @property
    def class_prior_(self) -> np.ndarray:
        """The probability of each class."""
        return np.exp(self.model_.log_prior)

    @property
    def theta_(self) -> np.ndarray:
        """The mean of each column in each class: [n_classes, n_features]."""
        return self._normal.mean

    @property
    def var_(self) -> np.ndarray:
        """The raised variance of each column in each class: [n_classes, n_features]."""
        return self._normal.scale**2

    @property
    def epsilon_(self) -> np.ndarray:
        """What was added to the variances of each column: [n_features]."""
        return self.var_smoothing * self.seen_.statistics[0].pooled().deviation()[0] ** 2

    @property
    def _normal(self) -> NormalLikelihood:
        return self.model_.likelihoods[0]

    def _groups(self, schema: Schema) -> tuple[Group, ...]:
        return (Group("smoothed gaussian", tuple(range(len(schema)))),)

    def _estimation(self, schema: Schema) -> Estimation:
        return Estimation(class_alpha=0.0, var_smoothing=settings.finite("var_smoothing", self.var_smoothing, 0))

    def _prior(self, schema: Schema) -> ByClass | None:
        prior = settings.priors("priors", self.priors, schema.classes)
        total = 1.0 if prior is None else float(prior.amounts.sum())
        if not abs(total - 1) <= 1e-6:
            raise ValueError(f"priors={self.priors!r} add up to {total:g}; the sum of the priors should be 1")
        return prior

    def _schema_of(self, frame: RawFrame) -> Schema:
        return _all_numeric(self, frame, super()._schema_of)


class DiscreteNB(BayesClassifier):
    """What the classifiers of counts share: α, and whether the shares of the classes are learnt."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any
    _event = ""
    _takes_negative = False

    @property
    def class_count_(self) -> np.ndarray:
        """The weight of each class."""
        return _class_count(self)

    @property
    def class_log_prior_(self) -> np.ndarray:
        """The logarithm of the probability of each class."""
        prior = self._class_shares(self.schema_)
        count = self.class_count_
        shares = count / count.sum() if prior is None else prior.shares(self.schema_.classes)
        with np.errstate(divide="ignore"):
            return np.log(shares)

    @property
    def feature_count_(self) -> np.ndarray:
        """The weighted total of each column in each class: [n_classes, n_features]."""
        return self.seen_.statistics[0].total.rounded().T

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """The weight of each column in each class: [n_classes, n_features]."""
        return self.model_.likelihoods[0].slope.T

    def _groups(self, schema: Schema) -> tuple[Group, ...]:
        return (Group(self._event, tuple(range(len(schema)))),)

    def _estimation(self, schema: Schema) -> Estimation:
        alpha = np.asarray(self.alpha, np.float64)
        if alpha.ndim > 1 or not (np.isfinite(alpha).all() and (alpha >= 0).all()):
            raise ValueError(f"alpha={self.alpha!r}: give a finite number that is not negative, or one for each column")
        if alpha.ndim == 1 and len(alpha) != len(schema):
            raise ValueError(f"alpha has {len(alpha)} numbers, but there are {len(schema)} columns")
        if alpha.min(initial=np.inf) < LEAST_ALPHA and not self.force_alpha:
            notices.warn(f"alpha below {LEAST_ALPHA} is raised to it; use force_alpha=True to keep it")
            alpha = np.maximum(alpha, LEAST_ALPHA)
        return Estimation(alpha=float(alpha) if alpha.ndim == 0 else tuple(alpha.tolist()), class_alpha=0.0)

    def _prior(self, schema: Schema) -> ByClass | None:
        return self._class_shares(schema)

    def _class_shares(self, schema: Schema) -> ByClass | None:
        given = settings.priors("class_prior", self.class_prior, schema.classes)
        return given if given is not None or self.fit_prior else _equal_shares(schema)

    def _schema_of(self, frame: RawFrame) -> Schema:
        return _all_numeric(self, frame, super()._schema_of)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self._takes_negative
        tags.classifier_tags.poor_score = True
        return tags


class MultinomialNB(DiscreteNB):
    """Multinomial naive Bayes with scikit-learn's parameters: counts that share a row, such as words of a document.

    Parameters
    ----------
    alpha : float or array
        What is added to every count, or to that of each column.
    force_alpha : bool
        Whether an alpha below 1e-10 is kept as it is.
    fit_prior, class_prior :
        Whether the shares of the classes are learnt; their probabilities, where they are known.

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
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        schema: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs


class ComplementNB(DiscreteNB):
    """Complement naive Bayes with scikit-learn's parameters: words weighed by how rare they are in all other classes.

    The classes' shares play no part where there are two classes or more.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior :
        As for `MultinomialNB`.
    norm : bool
        Whether the weights of a class are divided by their sum.

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
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
        schema: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs

    @property
    def feature_all_(self) -> np.ndarray:
        """The weighted total of each column over all classes: [n_features]."""
        return self.feature_count_.sum(axis=0)

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """The weights of each row's counts added up, before they are normalised: [n_rows, n_classes]."""
        return super().predict_joint_log_proba(X) - self.model_.log_prior

    def _estimation(self, schema: Schema) -> Estimation:
        estimation = super()._estimation(schema)
        return Estimation(alpha=estimation.alpha, class_alpha=0.0, is_normalised=bool(self.norm))

    def _prior(self, schema: Schema) -> ByClass | None:
        self._class_shares(schema)  # refuses what cannot be meant
        return _equal_shares(schema)


class BernoulliNB(DiscreteNB):
    """Bernoulli naive Bayes with scikit-learn's parameters: yes or no in every column, and no counts too.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior :
        As for `MultinomialNB`.
    binarize : float or None
        A value above this is a yes; None says that the values are 0 and 1 already.

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
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        schema: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """The log-probability of a yes in each column and class: [n_classes, n_features]."""
        return self.model_.likelihoods[0].base.T

    def _groups(self, schema: Schema) -> tuple[Group, ...]:
        threshold = 0.0 if self.binarize is None else settings.finite("binarize", self.binarize)
        return (Group(self._event, tuple(range(len(schema))), threshold),)


def _class_count(classifier: BayesClassifier) -> np.ndarray:
    return classifier.seen_.classes.known()[:, 0]


def _equal_shares(schema: Schema) -> ByClass:
    return ByClass(schema.classes, np.ones(len(schema.classes)))


def _all_numeric(classifier: Any, frame: RawFrame, otherwise: Any) -> Schema:
    """The schema in which every column is a number, whatever its type says: booleans are 0 and 1."""
    if frame.matrix is not None or isinstance(classifier.schema, Schema):
        schema = otherwise(frame)
    else:
        declared = dict.fromkeys(frame.columns, Kind.NUMERIC.value) | dict(classifier.schema or {})
        schema = Census.of(frame, declared).schema(frame.is_named)
    for column in schema.columns:
        if column.kind is not Kind.NUMERIC:
            raise ValueError(
                f"column {column.name!r} is {column.kind}, and {type(classifier).__name__} takes numbers; "
                "use NaiveBayesClassifier, which takes columns of every kind"
            )
    return schema
