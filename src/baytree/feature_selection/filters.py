"""Which columns tell something about the target: a ranking, and a scikit-learn selector that cuts it.

Whether the target of rows that are elsewhere is a class, and these rows as parts of a table: none is brought here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import msgspec
import numpy as np

from baytree import param_validation
from baytree._typing import EstimatorLike, FrameLike, TargetLike
from baytree.data.encoding import read_target as target_reading
from baytree.data.encoding.sample import schema_of
from baytree.data.frames import read_column
from baytree.data.frames.numbers import Numbers
from baytree.data.schema.schema import Schema, SchemaLike
from baytree.engine.dispatch import remote_source
from baytree.engine.remote import RemotePartitions, RemoteSource
from baytree.engine.remote_frame import open_remote_frame
from baytree.estimators.base import Estimator
from baytree.feature_selection.column_scores import COUNTED, EMBEDDED, MEASURES, rank, rank_remote
from baytree.feature_selection.ranking import Rank, Ranking
from baytree.feature_selection.selector import ColumnSelector
from baytree.model_selection.frame_rows import column_of
from baytree.model_selection.problem import MOST_NUMBERED_CLASSES, SupervisedProblem


def rank_features(
    frame: FrameLike,
    target: TargetLike,
    by: str = "information_gain",
    *,
    cuts: str = "auto",
    words: bool = False,
    estimator: Estimator | None = None,
    task: str | None = None,
    schema: Mapping[str, Any] | Schema | None = None,
    n_jobs: int | None = None,
) -> Ranking:
    """The columns of a raw table from the most to the least telling about the target.

    Parameters
    ----------
    frame : data frame, dict of columns, array, `baytree.scan`, Dask or Spark frame
        The table, with its target column or without it. Rows that are not in memory stay where they are for measures of
        classes but `mrmr`, `importance` and `lasso`, which bring them here where they fit.
    target : str or array
        The name of the target column, or the labels.
    by : str
        ``information_gain``, ``gain_ratio``, ``symmetric_uncertainty`` (in bits, from counts), ``chi2`` (the test of
        independence), ``correlation`` (Pearson, Spearman, point-biserial, Cramér's V or η, by the kinds of column and
        target), ``spearman`` (the same, numbers by their ranks; for three or more classes Kruskal and Wallis's test),
        ``anova`` (F), ``mrmr`` (relevance less redundancy), ``importance`` (of a fitted `estimator`), ``lasso`` (how strong
        the penalty is when the column enters the L1 path, the first one 1).
    cuts : {"auto", "best", "mdl", "quantiles"}
        How numbers become levels: the one best cut, Fayyad and Irani's cuts, ten equal shares; "auto" is "best" for
        measures in bits and "quantiles" for chi² and mRMR.
    words : bool
        Rank each word of a text column, not only the best one.
    estimator : estimator, optional
        For ``by="importance"``: what is fitted and asked for its ``feature_importances_``; a pruned CART by default.
    task : {"classification", "regression"}, optional
        What the target is; inferred where it is not said.
    schema : dict or Schema, optional
        What columns are, where that should not be inferred, as in every estimator.
    n_jobs : int, optional
        How many threads share the columns; all cores by default.

    Returns
    -------
    Ranking
        Prints as a table; `columns` are the names, best first; `to_frame`, `to_dict` and `plot` give the scores.

    Examples
    --------
    >>> import baytree as bt
    >>> play = {"outlook": ["sun", "rain", "rain", "sun"], "wind": [3, 4, 3, 4], "play": ["no", "yes", "yes", "no"]}
    >>> print(bt.rank_features(play, "play"))
       column   kind     information_gain  known  how
    ----------------------------------------------------------
    1  outlook  nominal            1.0000   100%  2 levels
    2  wind     numeric            0.0000   100%  no cut helps
    """
    param_validation.one_of("by", by, MEASURES)
    far = remote_source(frame)
    if far is not None and by in COUNTED:
        rows = open_remote_classes(far, target, task, schema)
        if rows is not None:
            return rank_remote(rows, by, cuts, words)
    problem = SupervisedProblem.of(frame, target, task, schema)
    if by in EMBEDDED:
        return EMBEDDED[by](problem, estimator)
    return rank(problem.table, by, cuts, words, n_jobs)


class SelectFeatures(ColumnSelector):
    """A selector that keeps the columns which tell most about the target.

    With none of `k`, `threshold` and `p` the better half is kept.

    Parameters
    ----------
    by : str
        The measure, as in `rank_features`.
    k : int, optional
        How many columns to keep; equals at the border stay in the order of the columns.
    threshold : float, optional
        The least score that a column must reach (for correlations, the least size).
    p : float, optional
        The largest p-value that a column may have; `adjust` says which.
    adjust : {"fdr", "bonferroni", None}
        The correction of `p` for looking at many columns.
    cuts : {"auto", "best", "mdl", "quantiles"}
        How numbers become levels, as in `rank_features`.
    estimator : estimator, optional
        For ``by="importance"``: what is asked for its ``feature_importances_``.
    schema : dict or Schema, optional
        What columns are, where that should not be inferred, as in every estimator.
    n_jobs : int, optional
        How many threads share the columns; all cores by default.

    Attributes
    ----------
    ranking_ : Ranking
        The columns, best first.
    scores_ : ndarray of shape (n_features_in_,)
        Their scores, in the order of the columns.
    pvalues_ : ndarray of shape (n_features_in_,)
        Their p-values, NaN where the measure has none.
    support_ : ndarray of shape (n_features_in_,)
        Which columns are kept.
    n_features_in_ : int
        The number of columns that were given.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all of them are strings.

    Examples
    --------
    >>> import baytree as bt
    >>> play = {"outlook": ["sun", "rain", "rain", "sun"], "wind": [3, 4, 3, 4], "play": ["no", "yes", "yes", "no"]}
    >>> bt.SelectFeatures(k=1).fit(play, "play").get_support().tolist()
    [True, False]
    """

    def __init__(
        self,
        by: str = "information_gain",
        *,
        k: int | None = None,
        threshold: float | None = None,
        p: float | None = None,
        adjust: str | None = "fdr",
        cuts: str = "auto",
        estimator: EstimatorLike = None,
        schema: Mapping[str, Any] | Schema | None = None,
        n_jobs: int | None = None,
    ):
        self.by = by
        self.k = k
        self.threshold = threshold
        self.p = p
        self.adjust = adjust
        self.cuts = cuts
        self.estimator = estimator
        self.schema = schema
        self.n_jobs = n_jobs

    def fit(self, X: FrameLike, y: TargetLike = None) -> Self:
        """Ranks the columns; `y` is the labels, or the name of the target column in `X`."""
        self._check_parameters()
        problem = SupervisedProblem.of(X, y, declared=self.schema)
        options = {"cuts": self.cuts, "estimator": self.estimator, "schema": self.schema, "n_jobs": self.n_jobs}
        task = "classification" if problem.is_classification else "regression"
        ranking = rank_features(problem.X, problem.y, self.by, task=task, **options)
        place = {name: j for j, name in enumerate(problem.schema.inputs)}
        kept = [place[found.column] for found in self._kept(ranking)]
        self.ranking_ = ranking
        by_place = sorted(ranking.ranks, key=lambda found: place[found.column])
        self.scores_ = np.array([found.score for found in by_place])
        self.pvalues_ = np.array([found.p for found in by_place])
        self._set_fitted_state(problem, kept)
        return self

    def _kept(self, ranking: Ranking) -> list[Rank]:
        ranks = [found for found in ranking.ranks if not np.isnan(found.score)]
        if self.k is not None:
            return ranks[: self.k]
        if self.threshold is not None:
            return [found for found in ranks if abs(found.score) >= self.threshold]
        if self.p is None:
            return ranks[: max(len(ranking) // 2, 1)]
        values = {"fdr": "fdr", "bonferroni": "bonferroni", None: "p"}[self.adjust]
        if ranks and all(np.isnan(found.p) for found in ranks):
            raise ValueError(f"p={self.p}: {self.by!r} has no p-values; give by='chi2', 'anova' or 'correlation', or k=")
        return [found for found in ranks if getattr(found, values) <= self.p]

    def _check_parameters(self) -> None:
        if sum(cut is not None for cut in (self.k, self.threshold, self.p)) > 1:
            raise ValueError("give only one of k, threshold and p")
        if self.k is not None and (not isinstance(self.k, (int, np.integer)) or self.k < 1):
            raise ValueError(f"k={self.k!r}: give a whole number of columns, at least 1")
        if self.threshold is not None:
            param_validation.number("threshold", self.threshold)
        if self.p is not None:
            param_validation.number("p", param_validation.positive("p", self.p), 0, 1)
        param_validation.one_of("adjust", self.adjust, ("fdr", "bonferroni", None))


class TargetValues(msgspec.Struct, frozen=True):
    """Whether labels are numbers, and which: no more of them than there are numbered classes, and one."""

    are_numbers: bool
    values: np.ndarray  # float64 [n], ascending
    are_whole: bool

    @classmethod
    def of(cls, name: str, frame: FrameLike) -> Self:
        """Of the target column of some rows."""
        raw = target_reading.as_numbers(read_column(column_of(frame, name), name), name)
        if not isinstance(raw, Numbers) or raw.unit is not None:
            return cls(False, np.zeros(0), False)
        known = np.unique(raw.values[~np.isnan(raw.values)])
        return cls(True, known[: MOST_NUMBERED_CLASSES + 1], bool((known == np.floor(known)).all()))

    def __add__(self, other: Self) -> Self:
        values = np.union1d(self.values, other.values)[: MOST_NUMBERED_CLASSES + 1]
        return type(self)(self.are_numbers and other.are_numbers, values, self.are_whole and other.are_whole)

    @property
    def are_classes(self) -> bool:
        """Whether they are classes, as a person would say: the rule of `task_of`."""
        return not self.are_numbers or not len(self.values) or (self.are_whole and len(self.values) <= MOST_NUMBERED_CLASSES)


def open_remote_classes(
    source: RemoteSource, target: TargetLike, task: str | None, declared: SchemaLike
) -> RemotePartitions | None:
    """The rows as parts of a table; None where their target is a number."""
    param_validation.check_schema_parameter(declared)
    frame = open_remote_frame(
        source, target, None, partial(target_reading.read_in_order, target_reading.read_classes, declared)
    )
    if task == "regression" or (task is None and not source.map_reduce(partial(TargetValues.of, frame.target)).are_classes):
        return None
    return frame.parts(schema_of(frame, declared), False, None)
