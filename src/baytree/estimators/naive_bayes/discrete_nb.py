"""Base of naive Bayes classifiers of counts and codes (smoothing, class priors), and `CategoricalNB`.

`CategoricalNB` takes codes as scikit-learn does: whole numbers from 0 on, each a category.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from baytree import _warnings, param_validation
from baytree._typing import CostsLike, FrameLike, PriorsLike, TargetLike, WeightsLike
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

MIN_ALPHA = 1e-10


class DiscreteNB(BayesClassifier):
    """Base of classifiers of counts and codes: smoothing α, and estimated, given or uniform class priors."""

    alpha: ArrayLike
    force_alpha: bool
    fit_prior: bool
    class_prior: PriorsLike
    _takes_negative = False

    @property
    def class_count_(self) -> np.ndarray:
        """Training weight of each class. float64 [n_classes]"""
        return self._class_weights

    @property
    def class_log_prior_(self) -> np.ndarray:
        """Log prior probability of each class. float64 [n_classes]"""
        prior = self._class_shares(self.schema_)
        count = self.class_count_
        probabilities = count / count.sum() if prior is None else prior.shares(self.schema_.classes)
        with np.errstate(divide="ignore"):
            return np.log(probabilities)

    def _estimation(self, schema: Schema) -> Estimation:
        alpha = np.asarray(self.alpha, np.float64)
        if alpha.ndim > 1 or not (np.isfinite(alpha).all() and (alpha >= 0).all()):
            raise ValueError(f"alpha={self.alpha!r}: give a finite number that is not negative, or one for each column")
        if alpha.ndim == 1 and len(alpha) != len(schema):
            raise ValueError(f"alpha has {len(alpha)} numbers, but there are {len(schema)} columns")
        if alpha.min(initial=np.inf) < MIN_ALPHA and not self.force_alpha:
            _warnings.warn(f"alpha below {MIN_ALPHA} is raised to it; use force_alpha=True to keep it")
            alpha = np.maximum(alpha, MIN_ALPHA)
        return Estimation(alpha=float(alpha) if alpha.ndim == 0 else tuple(alpha.tolist()), class_alpha=0.0)

    def _prior(self, schema: Schema) -> ClassAmounts | None:
        return self._class_shares(schema)

    def _class_shares(self, schema: Schema) -> ClassAmounts | None:
        """Given or uniform class priors; None if they are estimated."""
        given = param_validation.priors("class_prior", self.class_prior, schema.classes)
        return given if given is not None or self.fit_prior else equal_shares(schema)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = not self._takes_negative
        tags.classifier_tags.poor_score = True
        return tags


def equal_shares(schema: Schema) -> ClassAmounts:
    """Uniform class priors."""
    return ClassAmounts(schema.classes, np.ones(len(schema.classes)))


MAX_FILLED = 1 << 16  # columns with at most so many codes have all of them as categories, others only those that occur


class CategoricalNB(DiscreteNB):
    """Categorical naive Bayes with scikit-learn's parameters: columns of codes 0, 1, 2, …

    Every code up to the largest one is a category, as in scikit-learn, if there are at most 65,536; a column with larger
    codes has only the categories that occur, so that memory does not grow with the largest code. A code that is no category
    counts as missing.

    Parameters
    ----------
    alpha : float, default=1.0
        Pseudo-count added to the count of every category.
    force_alpha : bool, default=True
        Whether to use an alpha below 1e-10 as given; otherwise it is raised to 1e-10.
    fit_prior : bool, default=True
        Whether to estimate the class priors from the training rows; otherwise the prior is uniform.
    class_prior : array-like of shape (n_classes,) or dict by class, optional
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
        self.min_categories = min_categories
        self.costs = costs
        self.schema = schema
        self.unseen = unseen
        self.n_jobs = n_jobs
        self.profile = profile

    @property
    def n_categories_(self) -> np.ndarray:
        """Number of categories of each column. int64 [n_features]"""
        return np.array([len(column.levels) for column in self.schema_.columns])

    @property
    def category_count_(self) -> list[np.ndarray]:
        """Weight of each category in each class: one array [n_classes, n_categories] per column."""
        return [cast(Counts, counts).known().T for counts in self.seen_.statistics]

    @property
    def feature_log_prob_(self) -> list[np.ndarray]:
        """Log-probability of each category in each class: one array [n_classes, n_categories] per column."""
        return [cast(LevelLikelihood, part).log_probability.T for part in self.model_.likelihoods]

    def _groups(self, schema: Schema) -> tuple[ColumnGroup, ...]:
        return tuple(ColumnGroup("categorical", (j,)) for j in range(len(schema)))

    def _schema_of(self, frame: Columns) -> Schema:
        if frame.matrix is not None and not isinstance(frame.matrix, np.ndarray):
            raise TypeError("Sparse data was passed, but CategoricalNB takes dense codes: use X.toarray()")
        if isinstance(self.schema, Schema):
            return self.schema
        kinds = {name: kind for name, kind in (self.schema or {}).items() if kind is not None}
        declared = dict.fromkeys(frame.columns, Kind.NOMINAL.value) | kinds
        schema = census_of(frame, declared).schema(frame.is_named)
        return self._filled(schema)

    def _prepare_batch(self, X: FrameLike, y: TargetLike, sample_weight: WeightsLike, known: Schema) -> PreparedRows:
        prepared = super()._prepare_batch(X, y, sample_weight, known)
        table = prepared.table
        schema = self._filled(table.schema)
        values = tuple(map(_recoded, table.values, table.schema.columns, schema.columns))
        return prepared._replace(
            rows=LocalPartitions(msgspec.structs.replace(table, schema=schema, values=values), self.n_jobs)
        )

    def _filled(self, schema: Schema) -> Schema:
        """Schema in which each column has every code up to its largest one as a level, up to `MAX_FILLED` codes."""
        min_categories = np.asarray(0 if self.min_categories is None else self.min_categories)
        if min_categories.dtype.kind not in "iu" or min_categories.shape not in ((), (len(schema),)):
            raise ValueError(f"min_categories={self.min_categories!r}: give a whole number, or one for each column")
        min_categories = np.broadcast_to(min_categories, (len(schema),))
        pairs = zip(schema.columns, min_categories.tolist(), strict=True)
        return msgspec.structs.replace(schema, columns=tuple(_filled(column, n) for column, n in pairs))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _filled(column: Column, minimum: int) -> Column:
    levels = column.levels
    negative = [level for level in levels if isinstance(level, (int, float)) and level < 0]
    if negative:
        raise ValueError(f"Negative values in data: column {column.name!r} has the code {negative[0]}; codes start at 0")
    if not all(isinstance(level, int) and not isinstance(level, bool) for level in levels):
        return column
    n_categories = max(max(levels, default=-1) + 1, minimum)
    if n_categories > MAX_FILLED:
        return column
    return msgspec.structs.replace(column, levels=tuple(range(n_categories)), declared=True)


def _recoded(values: np.ndarray, old: Column, new: Column) -> np.ndarray:
    if old.levels == new.levels:
        return values
    code_of = {level: code for code, level in enumerate(new.levels)}
    return np.array([*(code_of[level] for level in old.levels), -1], np.int32)[values]
