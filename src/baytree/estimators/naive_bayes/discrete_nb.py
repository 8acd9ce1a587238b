"""What scikit-learn's naive Bayes classifiers of counts and codes share: pseudo-counts, and the shares of the classes.

Codes as scikit-learn's CategoricalNB takes them: whole numbers from 0 on, each a category of its own.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from baytree import _warnings, param_validation
from baytree._typing import FrameLike, PriorsLike, TargetLike, WeightsLike
from baytree.data.encoding.sample import Columns, census_of
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema, SchemaLike
from baytree.engine.partitions import LocalPartitions
from baytree.estimators.base import PreparedRows
from baytree.estimators.naive_bayes.base import BayesClassifier
from baytree.naive_bayes.events.categorical import LevelLikelihood
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation
from baytree.param_validation import ClassAmounts
from baytree.statistics.counts import Counts

LEAST_ALPHA = 1e-10


class DiscreteNB(BayesClassifier):
    """What the classifiers of counts share: α, and whether the shares of the classes are learnt."""

    alpha: ArrayLike
    force_alpha: bool
    fit_prior: bool
    class_prior: PriorsLike
    _takes_negative = False

    @property
    def class_count_(self) -> np.ndarray:
        """The weight of each class."""
        return self._class_weights

    @property
    def class_log_prior_(self) -> np.ndarray:
        """The logarithm of the probability of each class."""
        prior = self._class_shares(self.schema_)
        count = self.class_count_
        shares = count / count.sum() if prior is None else prior.shares(self.schema_.classes)
        with np.errstate(divide="ignore"):
            return np.log(shares)

    def _estimation(self, schema: Schema) -> Estimation:
        alpha = np.asarray(self.alpha, np.float64)
        if alpha.ndim > 1 or not (np.isfinite(alpha).all() and (alpha >= 0).all()):
            raise ValueError(f"alpha={self.alpha!r}: give a finite number that is not negative, or one for each column")
        if alpha.ndim == 1 and len(alpha) != len(schema):
            raise ValueError(f"alpha has {len(alpha)} numbers, but there are {len(schema)} columns")
        if alpha.min(initial=np.inf) < LEAST_ALPHA and not self.force_alpha:
            _warnings.warn(f"alpha below {LEAST_ALPHA} is raised to it; use force_alpha=True to keep it")
            alpha = np.maximum(alpha, LEAST_ALPHA)
        return Estimation(alpha=float(alpha) if alpha.ndim == 0 else tuple(alpha.tolist()), class_alpha=0.0)

    def _prior(self, schema: Schema) -> ClassAmounts | None:
        return self._class_shares(schema)

    def _class_shares(self, schema: Schema) -> ClassAmounts | None:
        """The probabilities of the classes that were given or are all equal; None where they are learnt."""
        given = param_validation.priors("class_prior", self.class_prior, schema.classes)
        return given if given is not None or self.fit_prior else equal_shares(schema)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self._takes_negative
        tags.classifier_tags.poor_score = True
        return tags


def equal_shares(schema: Schema) -> ClassAmounts:
    """Every class as probable as the others."""
    return ClassAmounts(schema.classes, np.ones(len(schema.classes)))


MOST_FILLED = 1 << 16  # codes up to here exist although no row has them; beyond, only codes that occur


class CategoricalNB(DiscreteNB):
    """Categorical naive Bayes with scikit-learn's parameters: columns of codes 0, 1, 2, …

    Every code up to the largest one is a category, as in scikit-learn, while that stays below 65,536; a column with larger
    codes has the categories that occur, so memory never follows the largest code. A code that is no category is missing.

    Parameters
    ----------
    alpha : float, default=1.0
        What is added to the count of every category.
    force_alpha : bool, default=True
        Whether an alpha below 1e-10 is kept as it is; else it is raised to that.
    fit_prior : bool, default=True
        Whether the shares of the classes are learnt; else all classes are equally probable beforehand.
    class_prior : array-like of shape (n_classes,) or dict by class, optional
        The probabilities of the classes, where they are known.
    min_categories : int or array-like of shape (n_features,), optional
        The least number of categories of each column.

    Attributes
    ----------
    class_count_ : ndarray of shape (n_classes,)
        The weight of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        The logarithm of the probability of each class.
    n_categories_ : ndarray of shape (n_features,)
        The number of categories of each column.
    category_count_ : list of ndarray of shape (n_classes, n_categories)
        The weight of each category in each class, for each column.
    feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        The log-probability of each category in each class, for each column.

    Examples
    --------
    >>> import baytree as bt
    >>> model = bt.CategoricalNB().fit([[0], [0], [1], [2]], ["a", "a", "b", "b"])
    >>> model.predict([[0], [2], [7]]).tolist()
    ['a', 'b', 'a']
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: PriorsLike = None,
        min_categories: ArrayLike | None = None,
        schema: SchemaLike = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
        profile: bool = True,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def n_categories_(self) -> np.ndarray:
        """The number of categories of each column."""
        return np.array([len(column.levels) for column in self.schema_.columns])

    @property
    def category_count_(self) -> list[np.ndarray]:
        """The weight of each category in each class: [n_classes, n_categories] for each column."""
        return [cast(Counts, counts).known().T for counts in self.seen_.statistics]

    @property
    def feature_log_prob_(self) -> list[np.ndarray]:
        """The log-probability of each category in each class: [n_classes, n_categories] for each column."""
        return [cast(LevelLikelihood, part).log_probability.T for part in self.model_.likelihoods]

    def _groups(self, schema: Schema) -> tuple[ColumnGroup, ...]:
        return tuple(ColumnGroup("categorical", (j,)) for j in range(len(schema)))

    def _schema_of(self, frame: Columns) -> Schema:
        if frame.matrix is not None and not isinstance(frame.matrix, np.ndarray):
            raise TypeError("Sparse data was passed, but CategoricalNB takes dense codes: use X.toarray()")
        if isinstance(self.schema, Schema):
            return self.schema
        own = {name: kind for name, kind in (self.schema or {}).items() if kind is not None}
        declared = dict.fromkeys(frame.columns, Kind.NOMINAL.value) | own
        schema = census_of(frame, declared).schema(frame.is_named)
        return self._filled(schema)

    def _prepare_batch(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike, known: Schema) -> PreparedRows:
        entered = super()._prepare_batch(X, y, sample_weight, known)
        table = entered.table
        schema = self._filled(table.schema)
        values = tuple(map(_recoded, table.values, table.schema.columns, schema.columns))
        return entered._replace(
            rows=LocalPartitions(msgspec.structs.replace(table, schema=schema, values=values), self.n_jobs)
        )

    def _filled(self, schema: Schema) -> Schema:
        """The schema whose columns know every code up to the largest, where that is no extravagance."""
        least = np.asarray(0 if self.min_categories is None else self.min_categories)
        if least.dtype.kind not in "iu" or least.shape not in ((), (len(schema),)):
            raise ValueError(f"min_categories={self.min_categories!r}: give a whole number, or one for each column")
        least = np.broadcast_to(least, (len(schema),))
        pairs = zip(schema.columns, least.tolist(), strict=True)
        return msgspec.structs.replace(schema, columns=tuple(_filled(column, n) for column, n in pairs))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _filled(column: Column, least: int) -> Column:
    levels = column.levels
    negative = [level for level in levels if isinstance(level, (int, float)) and level < 0]
    if negative:
        raise ValueError(f"Negative values in data: column {column.name!r} has the code {negative[0]}; codes begin with 0")
    if not all(isinstance(level, int) and not isinstance(level, bool) for level in levels):
        return column
    n_categories = max(max(levels, default=-1) + 1, least)
    if n_categories > MOST_FILLED:
        return column
    return msgspec.structs.replace(column, levels=tuple(range(n_categories)), declared=True)


def _recoded(values: np.ndarray, old: Column, new: Column) -> np.ndarray:
    if old.levels == new.levels:
        return values
    place = {level: code for code, level in enumerate(new.levels)}
    return np.array([*(place[level] for level in old.levels), -1], np.int32)[values]
