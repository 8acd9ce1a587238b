"""How well a model does on rows that it has not learnt from: cross-validation."""

from __future__ import annotations

from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from baytree.choose.problem import Problem
from baytree.choose.validate.far_folds import validated_where_rows_are
from baytree.choose.validate.result import CrossValidation
from baytree.choose.validate.trials import trials
from baytree.engine.engines import elsewhere
from baytree.estimators.base import Estimator
from baytree.folds.cv import CV
from baytree.given import EstimatorLike, FrameLike, TargetLike, WeightsLike


def cross_validate(
    estimator: EstimatorLike,
    frame: FrameLike,
    target: TargetLike,
    *,
    cv: CV = 10,
    groups: ArrayLike | None = None,
    sample_weight: WeightsLike = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> CrossValidation:
    """How well an estimator answers for rows that it has not learnt from.

    Parameters
    ----------
    estimator : estimator
        Any classifier or regressor, also a Pipeline: everything in it is learnt anew in each fold, so a selector inside
        never sees the rows that are kept back. Additive models learn by taking the fold's statistics away.
    frame : data frame, dict of columns, array, `baytree.scan`, Dask or Spark frame
        The table, with its target column or without it. Rows that are not in memory stay where they are if the model adds
        up (naive Bayes, joint table, discriminants, least squares) and the folds do not overlap; else they are brought here
        where they fit.
    target : str or array
        The name of the target column, or the labels.
    cv : int, "loo", float, splitter, or list of (train, test)
        A number of shuffled folds, stratified by class; leave-one-out; a share to hold out; any of scikit-learn's
        splitters; or the numbers of the rows on each side.
    groups : array, optional
        Rows of one group stay together.
    sample_weight : array or str, optional
        What each row counts for, in learning and in scoring, or the name of the column that says so. Rows of weight 0 are
        left out.
    random_state : int
        The seed that shuffles the rows.
    n_jobs : int, optional
        How many threads share the folds; all cores by default. Their number changes no result.

    Returns
    -------
    CrossValidation
        The answers for every row that was kept back: prints scores with intervals, classes and confusions; `summary`,
        `scores`, `confusion`, `calibration`, `against`, `to_frame` and `plot` read them.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0] * 5, "y": ["a", "a", "b", "b"] * 5}
    >>> bt.cross_validate(bt.NaiveBayesClassifier(), rows, "y", cv=5).summary("accuracy").mean
    1.0
    """
    if groups is None and elsewhere(frame) is not None:
        found = validated_where_rows_are(estimator, frame, target, sample_weight, cv, random_state)
        if found is not None:
            return found
    problem = problem_of(estimator, frame, target, sample_weight).without_identifiers()
    folds = problem.folds(cv, groups, random_state)
    answered = tuple(trials(estimator, problem, folds.parts, n_jobs))
    return CrossValidation.of(type(estimator).__name__, problem, answered, folds.how)


def problem_of(estimator: EstimatorLike, frame: FrameLike, target: TargetLike, sample_weight: WeightsLike = None) -> Problem:
    """The problem that an estimator is tried on: its task, and the kinds of columns that it declares."""
    task = "classification" if is_classifier(estimator) else "regression"
    declared = estimator.schema if isinstance(estimator, Estimator) else None
    return Problem.of(frame, target, task, declared, sample_weight)
