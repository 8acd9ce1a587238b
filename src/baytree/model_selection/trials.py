"""Fit and predict folds. The table is encoded once, and folds are rows of it.

Mergeable learners are not refitted: derive(all − observe(fold)) is the same model. Estimators of other libraries, and
encodings that depend on other rows (text vocabularies), are refitted from the frame. `training_table` and `held_out_table`
select rows of the encoded table such that the result equals the encoding of these rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeGuard

import msgspec
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from baytree._typing import EstimatorLike
from baytree.base.learner import FirstStage, Learner, MergeableLearner
from baytree.base.model import Model, predict_with_codes
from baytree.data.encoding import labels
from baytree.data.encoding.table import SparseColumns, Table, Values
from baytree.data.schema.column import Column, Kind, level_map
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import LocalPartitions
from baytree.estimators.base import Estimator
from baytree.estimators.inner_folds import fit_arguments
from baytree.estimators.learner_access import (
    SharedStages,
    cost_matrix,
    first_step_of,
    fit_encoded,
    has_own_kinds,
    learner_of,
    schema_of,
)
from baytree.folds.splitters import Fold
from baytree.model_selection.problem import SupervisedProblem
from baytree.parallel.threads import map_ordered


@dataclass(frozen=True)
class FoldPrediction:
    """Predictions for the held-out rows of a fold."""

    rows: np.ndarray  # int [n_test]
    n_train: int
    answer: np.ndarray  # class codes, or numbers [n_test]
    probability: np.ndarray | None  # [n_test, n_classes]; None if the estimator has no probabilities
    seconds: float  # training time


Task = Callable[[SharedStages], list[FoldPrediction]]  # its argument are stages that were already computed for the same fold


def predict_folds(
    estimator: EstimatorLike, problem: SupervisedProblem, folds: tuple[Fold, ...], n_jobs: int | None = None
) -> list[FoldPrediction]:
    """Predictions for each fold, in order; folds are distributed over threads."""
    results = map_ordered(lambda task: task(SharedStages()), tasks(estimator, problem, folds), n_jobs)
    return [trial for trials in results for trial in trials]


def tasks(estimator: EstimatorLike, problem: SupervisedProblem, folds: tuple[Fold, ...]) -> list[Task]:
    """Independent tasks: one per fold, or a single one for all folds if the learner can subtract."""
    prepared = with_fixed_kinds(estimator, problem)
    if not encodes_identically(prepared, problem):
        return [lambda _, fold=fold: [from_frame(prepared, problem, fold)] for fold in folds]
    learner = learner_of(prepared, problem.table.schema)
    if can_subtract(learner, problem.table.schema):
        return [lambda _: list(_by_subtraction(prepared, learner, problem, folds))]
    return [lambda steps, fold=fold: [from_table(prepared, problem, fold, steps)] for fold in folds]


def beginning(estimator: EstimatorLike, problem: SupervisedProblem) -> FirstStage | None:
    """First stage of the estimator in every fold, which other estimators may share; None if there is none."""
    prepared = with_fixed_kinds(estimator, problem)
    return first_step_of(learner_of(prepared, problem.table.schema)) if encodes_identically(prepared, problem) else None


def with_fixed_kinds(estimator: EstimatorLike, problem: SupervisedProblem) -> Any:
    """Unfitted copy whose column kinds are fixed to those of the whole table."""
    copy = clone(estimator)
    if isinstance(copy, Estimator) and problem.kinds and (copy.schema is None or copy.schema == problem.declared):
        copy.set_params(schema=problem.kinds)
    return copy


def fit_all_rows(estimator: EstimatorLike, problem: SupervisedProblem, steps: SharedStages | None = None) -> Any:
    """Estimator fitted to all rows; `steps` are stages that others have already computed on them."""
    prepared = with_fixed_kinds(estimator, problem)
    if encodes_identically(prepared, problem):
        return fit_encoded(prepared, problem.table, problem.frame.has_text_names, steps, problem.structure)
    return fitted(prepared, problem, np.arange(len(problem)))


def fitted(estimator: EstimatorLike, problem: SupervisedProblem, rows: np.ndarray) -> Any:
    """Estimator fitted to these rows of the frame."""
    weight, structure = problem.weights(rows), fit_arguments(estimator, problem.structure, rows)
    if weight is None:
        return estimator.fit(*problem.rows(rows), **structure)
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(f"{type(estimator).__name__} does not accept sample_weight; omit the weights or the model")
    return estimator.fit(*problem.rows(rows), sample_weight=weight, **structure)


def encodes_identically(estimator: BaseEstimator, problem: SupervisedProblem) -> TypeGuard[Estimator]:
    """Whether the estimator would encode the rows of a fold exactly like the rows of the encoded table."""
    if not isinstance(estimator, Estimator) or estimator.unseen == "error" or not problem.is_finite:
        return False
    if any(column.kind is Kind.TEXT for column in problem.schema):  # a vocabulary depends on all rows
        return False
    is_prepared = estimator.schema is problem.kinds or estimator.schema is problem.declared is None
    if is_prepared and not has_own_kinds(estimator):
        return True  # as set by `with_fixed_kinds`, or all columns are numbers or levels without any declaration
    return schema_of(estimator, problem.frame).columns == problem.schema.columns


def can_subtract(learner: Learner, schema: Schema) -> TypeGuard[MergeableLearner]:
    """Whether statistics of rows can be subtracted from the learner's statistic of all rows."""
    return isinstance(learner, MergeableLearner) and learner.can_subtract(schema)


def from_table(estimator: Estimator, problem: SupervisedProblem, fold: Fold, steps: SharedStages) -> FoldPrediction:
    """Predictions for a fold from the encoded table; the time includes stages that were shared, as if they were not."""
    start = perf_counter() + steps.spared
    table = training_table(problem.table, fold.train)
    learner = learner_of(estimator, problem.table.schema, table, problem.structure.part(fold.train))
    model = steps.learnt(learner, LocalPartitions(table, 1)).model
    return _predicted_fold(estimator, model, table.schema, fold, problem, perf_counter() + steps.spared - start)


def from_frame(estimator: EstimatorLike, problem: SupervisedProblem, fold: Fold) -> FoldPrediction:
    """Predictions for a fold by refitting from the frame."""
    model = clone(estimator)
    if isinstance(model, Estimator):
        model.set_params(n_jobs=1)  # folds share the cores; the number of threads changes no model
        if (costs := model._class_costs(problem.schema.classes)) is not None:
            model.set_params(costs=costs)  # a fold may have fewer classes
    start = perf_counter()
    fitted(model, problem, fold.train)
    seconds = perf_counter() - start
    rows, _ = problem.rows(fold.test)
    if not problem.is_classification:
        return FoldPrediction(fold.test, len(fold.train), np.asarray(model.predict(rows), np.float64), None, seconds)
    classes = problem.label.target.classes or ()
    all_probabilities = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
    probability = (
        None if all_probabilities is None else spread(all_probabilities, codes_among(model.classes_, classes), len(classes))
    )
    return FoldPrediction(fold.test, len(fold.train), codes_among(model.predict(rows), classes), probability, seconds)


def models_without_folds(learner: MergeableLearner, table: Table, folds: Iterable[Fold]) -> Iterator[tuple[Schema, Model]]:
    """Schema and model of each fold's training rows: derive(all − observe(fold))."""
    total = learner.observe(table)
    for fold in folds:
        is_complement = len(fold.train) + len(fold.test) == len(table) and fold.is_complement
        statistic = (
            total - learner.observe(table.take(fold.test)) if is_complement else learner.observe(table.take(fold.train))
        )
        schema, statistic = statistic.drop_unused_levels(table.schema)
        yield schema, learner.derive(statistic, schema)


def _by_subtraction(
    estimator: Estimator, learner: MergeableLearner, problem: SupervisedProblem, folds: tuple[Fold, ...]
) -> Iterator[FoldPrediction]:
    start = perf_counter()
    for fold, (schema, model) in zip(folds, models_without_folds(learner, problem.table, folds), strict=True):
        yield _predicted_fold(estimator, model, schema, fold, problem, perf_counter() - start)
        start = perf_counter()


def _predicted_fold(
    estimator: Estimator, model: Model, schema: Schema, fold: Fold, problem: SupervisedProblem, seconds: float
) -> FoldPrediction:
    test = held_out_table(problem.table, fold.test, schema)
    output, predicted = predict_with_codes(model, test, cost_matrix(estimator, schema, problem.schema.classes))
    if predicted is None:
        return FoldPrediction(fold.test, len(fold.train), output[:, 0], None, seconds)
    classes = problem.label.target.classes or ()
    codes = codes_among(schema.classes, classes)
    return FoldPrediction(fold.test, len(fold.train), codes[predicted], spread(output, codes, len(classes)), seconds)


def codes_among(predictions: Any, classes: tuple) -> np.ndarray:
    """Codes of labels among these classes: int32 [n]."""
    code_of = {label: code for code, label in enumerate(classes)}
    return np.array([code_of[label] for label in np.asarray(predictions, dtype=object).tolist()], np.int32)


def spread(probability: np.ndarray, known: np.ndarray, n_classes: int) -> np.ndarray:
    """Probabilities over all classes [n_rows, n_classes]; 0 for classes that were not in training."""
    if np.array_equal(known, np.arange(n_classes)):
        return probability
    wide = np.zeros((len(probability), n_classes))
    wide[:, known] = probability
    return wide


def training_table(table: Table, rows: np.ndarray) -> Table:
    """Rows without undeclared levels and classes that do not occur in them: a fold must not know the levels of others."""
    part = table.take(rows)
    label = labels.take(labels.Labels(table.label, table.schema.target), rows)
    schema = msgspec.structs.replace(part.schema, target=label.target)
    part = msgspec.structs.replace(part, schema=schema, label=label.values)
    if isinstance(part.values, SparseColumns):  # numeric columns have no levels
        return part
    pairs = [_without_unused_levels(column, values) for column, values in zip(schema.columns, part.values, strict=True)]
    columns, values = tuple(column for column, _ in pairs), tuple(value for _, value in pairs)
    return msgspec.structs.replace(part, schema=msgspec.structs.replace(schema, columns=columns), values=values)


def held_out_table(table: Table, rows: np.ndarray, schema: Schema) -> Table:
    """Rows under a schema that may have fewer levels; unknown levels become missing."""
    part = table.take(rows)
    if isinstance(part.values, SparseColumns):
        return msgspec.structs.replace(part, schema=schema, label=None)
    pairs = zip(part.schema.columns, schema.columns, part.values, strict=True)
    values = tuple(v if old.levels == new.levels else _recoded(v, old.levels, new.levels) for old, new, v in pairs)
    return msgspec.structs.replace(part, schema=schema, values=values, label=None)


def _without_unused_levels(column: Column, values: Values) -> tuple[Column, Values]:
    if not column.levels or column.declared or not isinstance(values, np.ndarray):
        return column, values
    is_used = np.bincount(values + 1, minlength=len(column.levels) + 1)[1:] > 0
    if is_used.all():
        return column, values
    used_levels = tuple(level for level, used in zip(column.levels, is_used.tolist(), strict=True) if used)
    return msgspec.structs.replace(column, levels=used_levels), _recoded(values, column.levels, used_levels)


def _recoded(codes: np.ndarray, old: tuple, new: tuple) -> np.ndarray:
    return np.append(level_map(new, old), -1).astype(np.int32)[codes]
