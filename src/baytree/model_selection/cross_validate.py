"""Cross-validation of any estimator, in memory or on remote rows.

Remote rows stay where they are if the model is mergeable: one pass observes every fold, a second one predicts. Only the
labels are collected here to assign folds, the fold of each row is sent out, and the predictions come back.
"""

from __future__ import annotations

from functools import partial, reduce
from operator import add
from time import perf_counter
from typing import Any, Self

import msgspec
import numpy as np
from sklearn.base import clone, is_classifier

from baytree._typing import EstimatorLike, FrameLike, TargetLike, WeightsLike
from baytree.base.learner import MergeableLearner
from baytree.base.model import Model, predict_codes
from baytree.data.encoding.labels import Labels
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.dispatch import remote_source
from baytree.engine.remote import RemotePartitions, check_memory
from baytree.engine.worker_results import OptionalStatistic
from baytree.estimators.base import Estimator
from baytree.estimators.incremental import MergeableEstimator
from baytree.estimators.learner_access import cost_matrix, learner_of, prepare_remote_rows
from baytree.folds.row_structure import GapLike, GroupsLike, TimeLike
from baytree.folds.splitters import CV, Folds, names_rows, read_cv
from baytree.model_selection.problem import SupervisedProblem
from baytree.model_selection.result import CrossValidation
from baytree.model_selection.trials import FoldPrediction, can_subtract, codes_among, held_out_table, predict_folds, spread
from baytree.statistics.containers import RowArrays
from baytree.uncertainty.decision import CostMatrix


def cross_validate(
    estimator: EstimatorLike,
    frame: FrameLike,
    target: TargetLike,
    *,
    cv: CV = 10,
    groups: GroupsLike = None,
    time: TimeLike = None,
    gap: GapLike = None,
    test_size: float | None = None,
    sample_weight: WeightsLike = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> CrossValidation:
    """Evaluate an estimator by cross-validation, on rows that were not in the training data of each fold.

    Parameters
    ----------
    estimator : estimator
        Any classifier or regressor, also a Pipeline: everything in it is refitted in each fold, so a selector inside it
        never sees the test rows. Mergeable models subtract the statistics of the fold instead of refitting.
    frame : data frame, dict of columns, array, `baytree.scan`, Dask or Spark frame
        Table with or without its target column. Remote rows stay where they are if the model is mergeable (naive Bayes,
        joint table, discriminants, least squares) and the test folds do not overlap; otherwise they are loaded if they
        fit in memory.
    target : str or array
        Name of the target column, or the labels.
    cv : int, "loo", float, splitter, or list of (train, test)
        Number of shuffled folds, stratified by class; leave-one-out; a proportion to hold out; a scikit-learn splitter; or
        the row numbers of each side.
    groups : str or array, optional
        Column of groups, or the group of each row; rows of one group stay in the same fold. A column that is named here is
        no feature.
    time : str, optional
        Column of dates or numbers that orders the rows: each fold is tested on rows after its training rows (an expanding
        window). It is no feature.
    gap : float or timedelta, optional
        Time between training and test rows: in days for dates, else in the unit of the column.
    test_size : int or float, optional
        Rows in each test block of `time`: a number or a proportion; by default an equal part for each fold.
    sample_weight : array or str, optional
        Weight of each row, in training and in scoring, or the name of the weight column. Rows of weight 0 are left
        out.
    random_state : int
        Seed of the shuffle.
    n_jobs : int, optional
        Number of threads for the folds; all cores by default. It does not change any result.

    Returns
    -------
    CrossValidation
        Predictions for every held-out row. Prints scores with intervals, per-class metrics and the confusion matrix; see
        `summary`, `scores`, `confusion`, `calibration`, `against`, `to_frame` and `plot`.

    Examples
    --------
    >>> import baytree as bt
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0] * 5, "y": ["a", "a", "b", "b"] * 5}
    >>> bt.cross_validate(bt.NaiveBayesClassifier(), rows, "y", cv=5).summary("accuracy").mean
    1.0
    """
    structure = {"groups": groups, "time": time, "gap": gap, "test_size": test_size}
    if remote_source(frame) is not None and all(each is None for each in structure.values()):
        result = cross_validate_remote(estimator, frame, target, sample_weight, cv, random_state)
        if result is not None:
            return result
    problem = problem_of(estimator, frame, target, sample_weight, **structure).without_identifiers()
    folds = problem.folds(cv, random_state)
    predictions = tuple(predict_folds(estimator, problem, folds.parts, n_jobs))
    return CrossValidation.of(type(estimator).__name__, problem, predictions, folds.how)


def problem_of(
    estimator: EstimatorLike, frame: FrameLike, target: TargetLike, sample_weight: WeightsLike = None, **structure: Any
) -> SupervisedProblem:
    """Supervised problem for an estimator: its task, and the kinds of columns that it declares.

    `structure` are `groups`, `time`, `gap` and `test_size`.
    """
    task = "classification" if is_classifier(estimator) else "regression"
    declared = estimator.schema if isinstance(estimator, Estimator) else None
    return SupervisedProblem.of(frame, target, task, declared, sample_weight, **structure)


MAX_FOLDS = 1000  # models held at a time; leave-one-out loads the rows instead


def cross_validate_remote(
    estimator: EstimatorLike, frame: FrameLike, target: TargetLike, sample_weight: WeightsLike, cv: CV, seed: int
) -> CrossValidation | None:
    """Cross-validation of rows that stay remote; None if it needs them in memory."""
    if not isinstance(estimator, MergeableEstimator) or names_rows(cv) or cv in ("loo", "leave-one-out"):
        return None
    rows = prepare_remote_rows(clone(estimator), frame, target, sample_weight)
    learner = learner_of(estimator, rows.schema)
    if not can_subtract(learner, rows.schema):
        return None
    n_classes = len(rows.schema.target.classes or ())
    check_memory(rows.n_rows * 8.0 * (n_classes + 4), rows.source)
    label, weight = rows.map_reduce(_labels, rows_per_part=None).arrays
    folds = read_cv(cv, len(label), label, n_classes > 0, None, seed)
    fold = _fold_numbers(folds, len(label))
    if fold is None:
        return None
    trials = tuple(_predict_remote_folds(estimator, learner, rows, folds, fold))
    weights = None if rows.encoding.is_unweighted else weight
    return CrossValidation(type(estimator).__name__, Labels(label, rows.schema.target), trials, folds.how, weights)


class FoldObservations(msgspec.Struct, frozen=True):
    """Statistics of the rows of each fold, preceded by those of rows that no fold holds out."""

    seen: tuple[OptionalStatistic, ...]

    @classmethod
    def of(cls, learner: MergeableLearner, fold: np.ndarray, n_folds: int, table: Table) -> Self:
        """Statistics of the rows of one partition."""
        fold_of_row = fold[table.first : table.first + len(table)]
        rows_by_fold = [np.flatnonzero(fold_of_row == k) for k in range(-1, n_folds)]
        return cls(
            tuple(OptionalStatistic(learner.observe(table.take(rows)) if len(rows) else None) for rows in rows_by_fold)
        )

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(mine + theirs for mine, theirs in zip(self.seen, other.seen, strict=True)))


def _predict_remote_folds(
    estimator: Estimator, learner: MergeableLearner, rows: RemotePartitions, folds: Folds, fold: np.ndarray
) -> list[FoldPrediction]:
    start = perf_counter()
    n_folds = len(folds.parts)
    statistics = rows.map_reduce(partial(FoldObservations.of, learner, fold, n_folds), rows_per_part=None).seen
    total = reduce(add, statistics).value
    models = []
    for held_out in statistics[1:]:
        schema, remaining = (total - held_out.value).drop_unused_levels(rows.schema)
        costs = cost_matrix(estimator, schema, rows.schema.classes)
        models.append((schema, learner.derive(remaining, schema), costs))
    seconds = (perf_counter() - start) / n_folds
    predicted, probability = rows.map_reduce(partial(_predictions, models, fold), rows_per_part=None).arrays
    return [
        FoldPrediction(
            part.test, len(part.train), predicted[part.test], probability[part.test] if probability.size else None, seconds
        )
        for part in folds.parts
    ]


def _predictions(models: list[tuple[Schema, Model, CostMatrix | None]], fold: np.ndarray, table: Table) -> RowArrays:
    """Prediction and probabilities for each row, by the model of its fold."""
    fold_of_row, classes = fold[table.first : table.first + len(table)], table.schema.target.classes
    predicted = np.zeros(len(table), np.int32 if classes else np.float64)
    probability = np.zeros((len(table), len(classes or ())))
    for k, (schema, model, costs) in enumerate(models):
        held_out_rows = np.flatnonzero(fold_of_row == k)
        if not len(held_out_rows):
            continue
        test = held_out_table(table, held_out_rows, schema)
        output = model.predict(test)
        if classes is None:
            predicted[held_out_rows] = output[:, 0]
            continue
        codes = codes_among(schema.classes, classes)
        predicted[held_out_rows] = codes[predict_codes(model, test, costs)]
        probability[held_out_rows] = spread(output, codes, len(classes))
    return RowArrays.of(table.first, predicted, probability)


def _labels(table: Table) -> RowArrays:
    return RowArrays.of(table.first, table.label, table.weight)


def _fold_numbers(folds: Folds, n_rows: int) -> np.ndarray | None:
    """Fold that holds out each row, −1 for none: int16 [n_rows].

    None if test folds overlap, training sets are not their complements, or there are more than `MAX_FOLDS` folds.
    """
    fold = np.full(n_rows, -1, np.int16)
    if len(folds.parts) > MAX_FOLDS:
        return None
    for number, part in enumerate(folds.parts):
        is_complement = len(part.train) + len(part.test) == n_rows and part.is_complement
        if not is_complement or (fold[part.test] >= 0).any():
            return None
        fold[part.test] = number
    return fold
