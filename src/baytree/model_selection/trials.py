"""A trial: learn from some rows, answer for others. The table is encoded once, and folds are rows of it.

An additive learner does not even learn anew: derive(all − of(fold)) is the model that refitting would give, and the answers
are the same. What is not ours, or whose encoding depends on the other rows (words), is refitted from the frame.

The rows of a fold out of a table that was encoded once: what a frame of these rows alone would have been encoded to.
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
from baytree.estimators.learner_access import SharedStages, first_step_of, fit_encoded, has_own_kinds, learner_of, schema_of
from baytree.folds.splitters import Fold
from baytree.model_selection.problem import SupervisedProblem
from baytree.parallel.threads import map_ordered


@dataclass(frozen=True)
class FoldPrediction:
    """The answers for the rows that were kept back."""

    rows: np.ndarray  # int [n_test]
    n_train: int
    answer: np.ndarray  # class codes, or numbers [n_test]
    probability: np.ndarray | None  # [n_test, n_classes]; None where the estimator gives none
    seconds: float  # of learning


Task = Callable[[SharedStages], list[FoldPrediction]]  # of the steps that others have taken on the same fold


def predict_folds(
    estimator: EstimatorLike, problem: SupervisedProblem, folds: tuple[Fold, ...], n_jobs: int | None = None
) -> list[FoldPrediction]:
    """The trial of each fold, in order; folds are shared among threads."""
    done = map_ordered(lambda task: task(SharedStages()), tasks(estimator, problem, folds), n_jobs)
    return [trial for trials in done for trial in trials]


def tasks(estimator: EstimatorLike, problem: SupervisedProblem, folds: tuple[Fold, ...]) -> list[Task]:
    """The trials of all folds as pieces of work that do not depend on each other: one per fold, or one for all."""
    ready = with_fixed_kinds(estimator, problem)
    if not encodes_identically(ready, problem):
        return [lambda _, fold=fold: [from_frame(ready, problem, fold)] for fold in folds]
    learner = learner_of(ready, problem.table.schema)
    if can_subtract(learner, problem.table.schema):
        return [lambda _: list(_by_subtraction(learner, problem, folds))]
    return [lambda steps, fold=fold: [from_table(ready, problem, fold, steps)] for fold in folds]


def beginning(estimator: EstimatorLike, problem: SupervisedProblem) -> FirstStage | None:
    """How the estimator begins in every fold, where others may begin alike."""
    ready = with_fixed_kinds(estimator, problem)
    return first_step_of(learner_of(ready, problem.table.schema)) if encodes_identically(ready, problem) else None


def with_fixed_kinds(estimator: EstimatorLike, problem: SupervisedProblem) -> Any:
    """An unfitted copy whose kinds of columns are those of the whole table, in every fold."""
    copy = clone(estimator)
    if isinstance(copy, Estimator) and problem.kinds and (copy.schema is None or copy.schema == problem.declared):
        copy.set_params(schema=problem.kinds)
    return copy


def fit_all_rows(estimator: EstimatorLike, problem: SupervisedProblem, steps: SharedStages | None = None) -> Any:
    """The estimator, learnt from all rows; `steps` are those that others have taken on them."""
    ready = with_fixed_kinds(estimator, problem)
    if encodes_identically(ready, problem):
        return fit_encoded(ready, problem.table, problem.frame.has_text_names, steps)
    return fitted(ready, problem, np.arange(len(problem)))


def fitted(estimator: EstimatorLike, problem: SupervisedProblem, rows: np.ndarray) -> Any:
    """The estimator, learnt from these rows of the frame."""
    weight = problem.weights(rows)
    if weight is None:
        return estimator.fit(*problem.rows(rows))
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(f"{type(estimator).__name__} takes no sample_weight; leave the weights or the model out")
    return estimator.fit(*problem.rows(rows), sample_weight=weight)


def encodes_identically(estimator: BaseEstimator, problem: SupervisedProblem) -> TypeGuard[Estimator]:
    """Whether the estimator would encode the rows of a fold as the rows of the encoded table are."""
    if not isinstance(estimator, Estimator) or estimator.unseen == "error" or not problem.is_finite:
        return False
    if any(column.kind is Kind.TEXT for column in problem.schema):  # a vocabulary depends on all rows at once
        return False
    is_prepared = estimator.schema is problem.kinds or estimator.schema is problem.declared is None
    if is_prepared and not has_own_kinds(estimator):
        return True  # as `with_fixed_kinds` made it, where all columns are numbers or levels without declaring anything
    return schema_of(estimator, problem.frame).columns == problem.schema.columns


def can_subtract(learner: Learner, schema: Schema) -> TypeGuard[MergeableLearner]:
    """Whether rows can be taken away from what the learner has seen of all."""
    return isinstance(learner, MergeableLearner) and learner.can_subtract(schema)


def from_table(estimator: Estimator, problem: SupervisedProblem, fold: Fold, steps: SharedStages) -> FoldPrediction:
    """The trial of a fold by rows of the encoded table; its seconds are those that it would take without the others."""
    start = perf_counter() + steps.spared
    table = training_table(problem.table, fold.train)
    model = steps.learnt(learner_of(estimator, problem.table.schema, table), LocalPartitions(table, 1)).model
    return _answered(model, table.schema, fold, problem, perf_counter() + steps.spared - start)


def from_frame(estimator: EstimatorLike, problem: SupervisedProblem, fold: Fold) -> FoldPrediction:
    """The trial of a fold by refitting from the frame."""
    model = clone(estimator)
    if isinstance(model, Estimator):
        model.set_params(n_jobs=1)  # the folds share the cores; how many threads there are changes no model
    start = perf_counter()
    fitted(model, problem, fold.train)
    seconds = perf_counter() - start
    rows, _ = problem.rows(fold.test)
    if not problem.is_classification:
        return FoldPrediction(fold.test, len(fold.train), np.asarray(model.predict(rows), np.float64), None, seconds)
    classes = problem.label.target.classes or ()
    given = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
    probability = None if given is None else spread(given, codes_among(model.classes_, classes), len(classes))
    return FoldPrediction(fold.test, len(fold.train), codes_among(model.predict(rows), classes), probability, seconds)


def models_without_folds(learner: MergeableLearner, table: Table, folds: Iterable[Fold]) -> Iterator[tuple[Schema, Model]]:
    """The schema and the model that each fold's training rows give: derive(all − of(fold))."""
    everything = learner.observe(table)
    for fold in folds:
        is_rest = len(fold.train) + len(fold.test) == len(table) and fold.is_complement
        seen = everything - learner.observe(table.take(fold.test)) if is_rest else learner.observe(table.take(fold.train))
        schema, seen = seen.drop_unused_levels(table.schema)
        yield schema, learner.derive(seen, schema)


def _by_subtraction(
    learner: MergeableLearner, problem: SupervisedProblem, folds: tuple[Fold, ...]
) -> Iterator[FoldPrediction]:
    start = perf_counter()
    for fold, (schema, model) in zip(folds, models_without_folds(learner, problem.table, folds), strict=True):
        yield _answered(model, schema, fold, problem, perf_counter() - start)
        start = perf_counter()


def _answered(model: Model, schema: Schema, fold: Fold, problem: SupervisedProblem, seconds: float) -> FoldPrediction:
    test = held_out_table(problem.table, fold.test, schema)
    answers, chosen = predict_with_codes(model, test)
    if chosen is None:
        return FoldPrediction(fold.test, len(fold.train), answers[:, 0], None, seconds)
    classes = problem.label.target.classes or ()
    known = codes_among(schema.classes, classes)
    return FoldPrediction(fold.test, len(fold.train), known[chosen], spread(answers, known, len(classes)), seconds)


def codes_among(answers: Any, classes: tuple) -> np.ndarray:
    """The codes of answers among these classes: int32 [n]."""
    place = {label: code for code, label in enumerate(classes)}
    return np.array([place[label] for label in np.asarray(answers, dtype=object).tolist()], np.int32)


def spread(probability: np.ndarray, known: np.ndarray, n_classes: int) -> np.ndarray:
    """Probabilities over all classes: one that was not in training is impossible."""
    if np.array_equal(known, np.arange(n_classes)):
        return probability
    wide = np.zeros((len(probability), n_classes))
    wide[:, known] = probability
    return wide


def training_table(table: Table, rows: np.ndarray) -> Table:
    """These rows, without the collected levels and classes that none of them has: a fold must not know what it left out."""
    part = table.take(rows)
    label = labels.take(labels.Labels(table.label, table.schema.target), rows)
    schema = msgspec.structs.replace(part.schema, target=label.target)
    part = msgspec.structs.replace(part, schema=schema, label=label.values)
    if isinstance(part.values, SparseColumns):  # numbers have no levels
        return part
    pairs = [_kept(column, values) for column, values in zip(schema.columns, part.values, strict=True)]
    columns, values = tuple(column for column, _ in pairs), tuple(value for _, value in pairs)
    return msgspec.structs.replace(part, schema=msgspec.structs.replace(schema, columns=columns), values=values)


def held_out_table(table: Table, rows: np.ndarray, schema: Schema) -> Table:
    """These rows under a schema that may know fewer levels: what it does not know is missing."""
    part = table.take(rows)
    if isinstance(part.values, SparseColumns):
        return msgspec.structs.replace(part, schema=schema, label=None)
    pairs = zip(part.schema.columns, schema.columns, part.values, strict=True)
    values = tuple(v if old.levels == new.levels else _recoded(v, old.levels, new.levels) for old, new, v in pairs)
    return msgspec.structs.replace(part, schema=schema, values=values, label=None)


def _kept(column: Column, values: Values) -> tuple[Column, Values]:
    if not column.levels or column.declared or not isinstance(values, np.ndarray):
        return column, values
    is_used = np.bincount(values + 1, minlength=len(column.levels) + 1)[1:] > 0
    if is_used.all():
        return column, values
    kept = tuple(level for level, used in zip(column.levels, is_used.tolist(), strict=True) if used)
    return msgspec.structs.replace(column, levels=kept), _recoded(values, column.levels, kept)


def _recoded(codes: np.ndarray, old: tuple, new: tuple) -> np.ndarray:
    return np.append(level_map(new, old), -1).astype(np.int32)[codes]
