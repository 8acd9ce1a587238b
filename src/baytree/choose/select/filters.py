"""Which columns tell something about the target: a ranking, and a scikit-learn selector that cuts it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from baytree import settings
from baytree.choose.problem import Problem
from baytree.choose.select.embedded import EMBEDDED
from baytree.choose.select.far_problem import classes_where_rows_are
from baytree.choose.select.ranking import Rank, Ranking
from baytree.choose.select.relevance import COUNTED, MEASURES, rank, rank_where_rows_are
from baytree.choose.select.selector import ColumnSelector
from baytree.engine.engines import elsewhere
from baytree.estimators.base import Estimator
from baytree.given import EstimatorLike, FrameLike, TargetLike
from baytree.table.schema import Schema


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
    settings.one_of("by", by, MEASURES)
    far = elsewhere(frame)
    if far is not None and by in COUNTED:
        rows = classes_where_rows_are(far, target, task, schema)
        if rows is not None:
            return rank_where_rows_are(rows, by, cuts, words)
    problem = Problem.of(frame, target, task, schema)
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
        problem = Problem.of(X, y, declared=self.schema)
        options = {"cuts": self.cuts, "estimator": self.estimator, "schema": self.schema, "n_jobs": self.n_jobs}
        task = "classification" if problem.is_classification else "regression"
        ranking = rank_features(problem.X, problem.y, self.by, task=task, **options)
        place = {name: j for j, name in enumerate(problem.schema.inputs)}
        kept = [place[found.column] for found in self._kept(ranking)]
        self.ranking_ = ranking
        by_place = sorted(ranking.ranks, key=lambda found: place[found.column])
        self.scores_ = np.array([found.score for found in by_place])
        self.pvalues_ = np.array([found.p for found in by_place])
        self._settle(problem, kept)
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
            settings.number("threshold", self.threshold)
        if self.p is not None:
            settings.number("p", settings.positive("p", self.p), 0, 1)
        settings.one_of("adjust", self.adjust, ("fdr", "bonferroni", None))
