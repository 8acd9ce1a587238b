"""Filters as public API: `rank_features`, and the scikit-learn selector `SelectFeatures`.

`open_remote_classes` prepares remote rows for counting without loading them, if their target is a class.
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
from baytree.engine.aggregates import AggregateSource
from baytree.engine.dispatch import remote_source
from baytree.engine.remote import RemotePartitions, RemoteSource
from baytree.engine.remote_frame import open_remote_frame
from baytree.estimators.base import Estimator
from baytree.feature_selection.column_scores import COUNTED, EMBEDDED, MEASURES, rank, rank_remote
from baytree.feature_selection.ranking import Rank, Ranking
from baytree.feature_selection.selector import ColumnSelector
from baytree.model_selection.frame_rows import column_of
from baytree.model_selection.problem import MAX_NUMBERED_CLASSES, SupervisedProblem, task_of


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
    """Rank the columns of a raw table by how much they tell about the target.

    Parameters
    ----------
    frame : data frame, dict of columns, array, `baytree.scan`, Dask or Spark frame
        Table with or without its target column. Remote rows stay where they are for measures of class targets, except for
        `mrmr`, `importance` and `lasso`, which load them if they fit in memory.
    target : str or array
        Name of the target column, or the labels.
    by : str
        ``information_gain``, ``gain_ratio``, ``symmetric_uncertainty`` (in bits, from counts), ``information_value`` (two
        classes, of the optimal bins of `bin_column`), ``chi2`` (the test of independence), ``correlation`` (Pearson,
        Spearman, point-biserial, Cramér's V or η, by the kinds of column and target), ``spearman`` (the same, with ranks of
        numbers; for three or more classes the Kruskal–Wallis test), ``anova`` (F), ``mrmr`` (relevance minus redundancy),
        ``importance`` (of a fitted `estimator`), ``lasso`` (penalty at which the column enters the L1 path, relative to the
        first column).
    cuts : {"auto", "best", "mdl", "quantiles"}
        Binning of numbers: the single best cut point, Fayyad and Irani's criterion, or ten quantiles; "auto" is "best" for
        measures in bits and "quantiles" for chi² and mRMR.
    words : bool
        Rank each word of a text column instead of only the best one.
    estimator : estimator, optional
        For ``by="importance"``: estimator that is fitted and has ``feature_importances_``; by default a pruned CART.
    task : {"classification", "regression"}, optional
        Type of the target; inferred by default.
    schema : dict or Schema, optional
        Kinds of columns that should not be inferred, as in every estimator.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Returns
    -------
    Ranking
        Prints as a table; `columns` are the names, best first; `to_frame`, `to_dict` and `plot` return the scores.

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
    source = remote_source(frame)
    if source is not None and by in COUNTED:
        rows = open_remote_classes(source, target, task, schema)
        if rows is not None:
            return rank_remote(rows, by, cuts, words)
    problem = SupervisedProblem.of(frame, target, task, schema)
    if by in EMBEDDED:
        return EMBEDDED[by](problem, estimator)
    return rank(problem.table, by, cuts, words, n_jobs)


class SelectFeatures(ColumnSelector):
    """Selector of the columns that tell most about the target.

    Without `k`, `threshold` and `p`, the better half of the columns is kept.

    Parameters
    ----------
    by : str
        Measure, as in `rank_features`.
    k : int, optional
        Number of columns to keep; ties are resolved in column order.
    threshold : float, optional
        Minimum score of a column (for correlations, minimum absolute value).
    p : float, optional
        Maximum p-value of a column, after the correction `adjust`.
    adjust : {"fdr", "bonferroni", None}
        Correction of the p-values for multiple testing.
    cuts : {"auto", "best", "mdl", "quantiles"}
        Binning of numbers, as in `rank_features`.
    estimator : estimator, optional
        For ``by="importance"``: estimator with ``feature_importances_``.
    schema : dict or Schema, optional
        Kinds of columns that should not be inferred, as in every estimator.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Attributes
    ----------
    ranking_ : Ranking
        The columns, best first.
    scores_ : ndarray of shape (n_features_in_,)
        Scores in column order.
    pvalues_ : ndarray of shape (n_features_in_,)
        p-values in column order, NaN if the measure has none.
    support_ : ndarray of shape (n_features_in_,)
        Mask of the selected columns.
    n_features_in_ : int
        Number of input columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the input columns, if all are strings.

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
        """Rank the columns; `y` is the labels, or the name of the target column in `X`."""
        self._check_parameters()
        problem = SupervisedProblem.of(X, y, declared=self.schema)
        options = {"cuts": self.cuts, "estimator": self.estimator, "schema": self.schema, "n_jobs": self.n_jobs}
        task = "classification" if problem.is_classification else "regression"
        ranking = rank_features(problem.X, problem.y, self.by, task=task, **options)
        position = {name: j for j, name in enumerate(problem.schema.inputs)}
        selected = [position[rank.column] for rank in self._kept(ranking)]
        self.ranking_ = ranking
        in_column_order = sorted(ranking.ranks, key=lambda rank: position[rank.column])
        self.scores_ = np.array([rank.score for rank in in_column_order])
        self.pvalues_ = np.array([rank.p for rank in in_column_order])
        self._set_fitted_state(problem, selected)
        return self

    def _criterion(self) -> str:
        return f" by {self.by}"

    def _steps(self) -> Ranking:
        return self.ranking_

    def _kept(self, ranking: Ranking) -> list[Rank]:
        ranks = [rank for rank in ranking.ranks if not np.isnan(rank.score)]
        if self.k is not None:
            return ranks[: self.k]
        if self.threshold is not None:
            return [rank for rank in ranks if abs(rank.score) >= self.threshold]
        if self.p is None:
            return ranks[: max(len(ranking) // 2, 1)]
        p_value = {"fdr": "fdr", "bonferroni": "bonferroni", None: "p"}[self.adjust]
        if ranks and all(np.isnan(rank.p) for rank in ranks):
            raise ValueError(f"p={self.p}: {self.by!r} has no p-values; give by='chi2', 'anova' or 'correlation', or k=")
        return [rank for rank in ranks if getattr(rank, p_value) <= self.p]

    def _check_parameters(self) -> None:
        if sum(option is not None for option in (self.k, self.threshold, self.p)) > 1:
            raise ValueError("give only one of k, threshold and p")
        if self.k is not None and (not isinstance(self.k, (int, np.integer)) or self.k < 1):
            raise ValueError(f"k={self.k!r}: give a whole number of columns, at least 1")
        if self.threshold is not None:
            param_validation.number("threshold", self.threshold)
        if self.p is not None:
            param_validation.number("p", param_validation.positive("p", self.p), 0, 1)
        param_validation.one_of("adjust", self.adjust, ("fdr", "bonferroni", None))


class TargetValues(msgspec.Struct, frozen=True):
    """Additive summary of a target column: whether it is numeric, and its first distinct values.

    At most `MAX_NUMBERED_CLASSES` + 1 values are stored, which is enough to decide whether they are classes.
    """

    are_numbers: bool
    values: np.ndarray  # float64 [n], ascending
    are_whole: bool

    @classmethod
    def of(cls, name: str, frame: FrameLike) -> Self:
        """Summary of the target column of some rows."""
        raw = target_reading.as_numbers(read_column(column_of(frame, name), name), name)
        if not isinstance(raw, Numbers) or raw.unit is not None:
            return cls(False, np.zeros(0), False)
        known = np.unique(raw.values[~np.isnan(raw.values)])
        return cls(True, known[: MAX_NUMBERED_CLASSES + 1], bool((known == np.floor(known)).all()))

    def __add__(self, other: Self) -> Self:
        values = np.union1d(self.values, other.values)[: MAX_NUMBERED_CLASSES + 1]
        return type(self)(self.are_numbers and other.are_numbers, values, self.are_whole and other.are_whole)

    @property
    def are_classes(self) -> bool:
        """Whether the target is a class, by the rule of `task_of`."""
        return not self.are_numbers or not len(self.values) or (self.are_whole and len(self.values) <= MAX_NUMBERED_CLASSES)


def open_remote_classes(
    source: RemoteSource, target: TargetLike, task: str | None, declared: SchemaLike
) -> RemotePartitions | None:
    """Rows as partitions with a class target; None if the target is a number."""
    param_validation.check_schema_parameter(declared)
    frame = open_remote_frame(
        source, target, None, partial(target_reading.read_in_order, target_reading.read_classes, declared)
    )
    if isinstance(source, AggregateSource) and task is None and isinstance(target, str):
        task = task_of(source.first(target), target)
    if task == "regression" or (task is None and not source.map_reduce(partial(TargetValues.of, frame.target)).are_classes):
        return None
    return frame.parts(schema_of(frame, declared), False, None)
