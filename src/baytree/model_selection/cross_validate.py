"""How well a model does on rows that it has not learnt from: cross-validation.

Folds of rows that are elsewhere, for models that add up: one round observes all folds, another answers for their rows.

The rows stay where they are. Their labels come here to be dealt into folds, the fold of each row goes there, and the answers
come back, as those of `predict` do.
"""

from __future__ import annotations

from functools import partial, reduce
from operator import add
from time import perf_counter
from typing import Self

import msgspec
import numpy as np
from numpy.typing import ArrayLike
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
from baytree.estimators.incremental import AdditiveEstimator
from baytree.estimators.learner_access import learner_of, prepare_remote_rows
from baytree.folds.splitters import CV, Folds, names_rows, read_cv
from baytree.model_selection.problem import SupervisedProblem
from baytree.model_selection.result import CrossValidation
from baytree.model_selection.trials import FoldPrediction, can_subtract, codes_among, held_out_table, predict_folds, spread
from baytree.statistics.containers import RowArrays


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
    if groups is None and remote_source(frame) is not None:
        found = cross_validate_remote(estimator, frame, target, sample_weight, cv, random_state)
        if found is not None:
            return found
    problem = problem_of(estimator, frame, target, sample_weight).without_identifiers()
    folds = problem.folds(cv, groups, random_state)
    answered = tuple(predict_folds(estimator, problem, folds.parts, n_jobs))
    return CrossValidation.of(type(estimator).__name__, problem, answered, folds.how)


def problem_of(
    estimator: EstimatorLike, frame: FrameLike, target: TargetLike, sample_weight: WeightsLike = None
) -> SupervisedProblem:
    """The problem that an estimator is tried on: its task, and the kinds of columns that it declares."""
    task = "classification" if is_classifier(estimator) else "regression"
    declared = estimator.schema if isinstance(estimator, Estimator) else None
    return SupervisedProblem.of(frame, target, task, declared, sample_weight)


MOST_FOLDS = 1000  # models at a time; to leave one row out after the other, rows are brought here


def cross_validate_remote(
    estimator: EstimatorLike, frame: FrameLike, target: TargetLike, sample_weight: WeightsLike, cv: CV, seed: int
) -> CrossValidation | None:
    """The cross-validation of rows that stay where they are; None where it needs them here."""
    if not isinstance(estimator, AdditiveEstimator) or names_rows(cv) or cv in ("loo", "leave-one-out"):
        return None
    rows = prepare_remote_rows(clone(estimator), frame, target, sample_weight)
    learner = learner_of(estimator, rows.schema)
    if not can_subtract(learner, rows.schema):
        return None
    n_classes = len(rows.schema.target.classes or ())
    check_memory(rows.n_rows * 8.0 * (n_classes + 4), rows.source)
    label, weight = rows.map_reduce(_labels, rows_per_part=None).arrays
    folds = read_cv(cv, len(label), label, n_classes > 0, None, seed)
    fold = _held_out(folds, len(label))
    if fold is None:
        return None
    trials = tuple(_trials(learner, rows, folds, fold))
    known = None if rows.encoding.is_unweighted else weight
    return CrossValidation(type(estimator).__name__, Labels(label, rows.schema.target), trials, folds.how, known)


class FoldObservations(msgspec.Struct, frozen=True):
    """What was seen of each fold, and of the rows that none holds out."""

    seen: tuple[OptionalStatistic, ...]

    @classmethod
    def of(cls, learner: MergeableLearner, fold: np.ndarray, n_folds: int, table: Table) -> Self:
        """Of the rows of one part."""
        own = fold[table.first : table.first + len(table)]
        places = [np.flatnonzero(own == k) for k in range(-1, n_folds)]
        return cls(tuple(OptionalStatistic(learner.observe(table.take(rows)) if len(rows) else None) for rows in places))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(mine + theirs for mine, theirs in zip(self.seen, other.seen, strict=True)))


def _trials(learner: MergeableLearner, rows: RemotePartitions, folds: Folds, fold: np.ndarray) -> list[FoldPrediction]:
    start = perf_counter()
    n_folds = len(folds.parts)
    seen = rows.map_reduce(partial(FoldObservations.of, learner, fold, n_folds), rows_per_part=None).seen
    everything = reduce(add, seen).value
    models = []
    for own in seen[1:]:
        schema, left = (everything - own.value).drop_unused_levels(rows.schema)
        models.append((schema, learner.derive(left, schema)))
    seconds = (perf_counter() - start) / n_folds
    answer, probability = rows.map_reduce(partial(_answers, models, fold), rows_per_part=None).arrays
    return [
        FoldPrediction(
            part.test, len(part.train), answer[part.test], probability[part.test] if probability.size else None, seconds
        )
        for part in folds.parts
    ]


def _answers(models: list[tuple[Schema, Model]], fold: np.ndarray, table: Table) -> RowArrays:
    """What the model that has not seen a row answers for it, and with which probabilities."""
    own, classes = fold[table.first : table.first + len(table)], table.schema.target.classes
    answer = np.zeros(len(table), np.int32 if classes else np.float64)
    probability = np.zeros((len(table), len(classes or ())))
    for k, (schema, model) in enumerate(models):
        places = np.flatnonzero(own == k)
        if not len(places):
            continue
        held_out = held_out_table(table, places, schema)
        answers = model.predict(held_out)
        if classes is None:
            answer[places] = answers[:, 0]
            continue
        known = codes_among(schema.classes, classes)
        answer[places] = known[predict_codes(model, held_out)]
        probability[places] = spread(answers, known, len(classes))
    return RowArrays.of(table.first, answer, probability)


def _labels(table: Table) -> RowArrays:
    return RowArrays.of(table.first, table.label, table.weight)


def _held_out(folds: Folds, n_rows: int) -> np.ndarray | None:
    """int16 [n_rows]: the fold that holds each row out, −1 for none; None where they are not apart or leave rows aside."""
    fold = np.full(n_rows, -1, np.int16)
    if len(folds.parts) > MOST_FOLDS:
        return None
    for number, part in enumerate(folds.parts):
        is_rest = len(part.train) + len(part.test) == n_rows and part.is_complement
        if not is_rest or (fold[part.test] >= 0).any():
            return None
        fold[part.test] = number
    return fold
