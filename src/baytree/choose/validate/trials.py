"""A trial: learn from some rows, answer for others. The table is encoded once, and folds are rows of it.

An additive learner does not even learn anew: derive(all − of(fold)) is the model that refitting would give, and the answers
are the same. What is not ours, or whose encoding depends on the other rows (words), is refitted from the frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeGuard

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from baytree.choose.problem import Problem
from baytree.choose.validate.fold_tables import to_answer_for, to_learn_from
from baytree.engine.parts import InMemory
from baytree.engine.threads import in_order
from baytree.estimators.base import Estimator
from baytree.estimators.learning import FirstSteps, first_step_of, has_own_kinds, learner_of, schema_of, settled
from baytree.folds.cv import Fold
from baytree.given import EstimatorLike
from baytree.learner import Additive, FirstStep, Learner
from baytree.model import Model, answered
from baytree.table.schema import Kind, Schema
from baytree.table.table import Table


@dataclass(frozen=True)
class Trial:
    """The answers for the rows that were kept back."""

    rows: np.ndarray  # int [n_test]
    n_train: int
    answer: np.ndarray  # class codes, or numbers [n_test]
    probability: np.ndarray | None  # [n_test, n_classes]; None where the estimator gives none
    seconds: float  # of learning


Task = Callable[[FirstSteps], list[Trial]]  # of the steps that others have taken on the same fold


def trials(estimator: EstimatorLike, problem: Problem, folds: tuple[Fold, ...], n_jobs: int | None = None) -> list[Trial]:
    """The trial of each fold, in order; folds are shared among threads."""
    done = in_order(lambda task: task(FirstSteps()), tasks(estimator, problem, folds), n_jobs)
    return [trial for trials in done for trial in trials]


def tasks(estimator: EstimatorLike, problem: Problem, folds: tuple[Fold, ...]) -> list[Task]:
    """The trials of all folds as pieces of work that do not depend on each other: one per fold, or one for all."""
    ready = prepared(estimator, problem)
    if not reads_alike(ready, problem):
        return [lambda _, fold=fold: [from_frame(ready, problem, fold)] for fold in folds]
    learner = learner_of(ready, problem.table.schema)
    if can_subtract(learner, problem.table.schema):
        return [lambda _: list(_by_subtraction(learner, problem, folds))]
    return [lambda steps, fold=fold: [from_table(ready, problem, fold, steps)] for fold in folds]


def beginning(estimator: EstimatorLike, problem: Problem) -> FirstStep | None:
    """How the estimator begins in every fold, where others may begin alike."""
    ready = prepared(estimator, problem)
    return first_step_of(learner_of(ready, problem.table.schema)) if reads_alike(ready, problem) else None


def prepared(estimator: EstimatorLike, problem: Problem) -> Any:
    """An unfitted copy whose kinds of columns are those of the whole table, in every fold."""
    copy = clone(estimator)
    if isinstance(copy, Estimator) and problem.kinds and (copy.schema is None or copy.schema == problem.declared):
        copy.set_params(schema=problem.kinds)
    return copy


def learnt(estimator: EstimatorLike, problem: Problem, steps: FirstSteps | None = None) -> Any:
    """The estimator, learnt from all rows; `steps` are those that others have taken on them."""
    ready = prepared(estimator, problem)
    if reads_alike(ready, problem):
        return settled(ready, problem.table, problem.frame.has_text_names, steps)
    return fitted(ready, problem, np.arange(len(problem)))


def fitted(estimator: EstimatorLike, problem: Problem, rows: np.ndarray) -> Any:
    """The estimator, learnt from these rows of the frame."""
    weight = problem.weights(rows)
    if weight is None:
        return estimator.fit(*problem.rows(rows))
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(f"{type(estimator).__name__} takes no sample_weight; leave the weights or the model out")
    return estimator.fit(*problem.rows(rows), sample_weight=weight)


def reads_alike(estimator: BaseEstimator, problem: Problem) -> TypeGuard[Estimator]:
    """Whether the estimator would encode the rows of a fold as the rows of the encoded table are."""
    if not isinstance(estimator, Estimator) or estimator.unseen == "error" or not problem.is_finite:
        return False
    if any(column.kind is Kind.TEXT for column in problem.schema):  # a vocabulary depends on all rows at once
        return False
    is_prepared = estimator.schema is problem.kinds or estimator.schema is problem.declared is None
    if is_prepared and not has_own_kinds(estimator):
        return True  # as `prepared` made it, where all columns are numbers or levels without declaring anything
    return schema_of(estimator, problem.frame).columns == problem.schema.columns


def can_subtract(learner: Learner, schema: Schema) -> TypeGuard[Additive]:
    """Whether rows can be taken away from what the learner has seen of all."""
    return isinstance(learner, Additive) and learner.can_subtract(schema)


def from_table(estimator: Estimator, problem: Problem, fold: Fold, steps: FirstSteps) -> Trial:
    """The trial of a fold by rows of the encoded table; its seconds are those that it would take without the others."""
    start = perf_counter() + steps.spared
    table = to_learn_from(problem.table, fold.train)
    model = steps.learnt(learner_of(estimator, problem.table.schema, table), InMemory(table, 1)).model
    return _answered(model, table.schema, fold, problem, perf_counter() + steps.spared - start)


def from_frame(estimator: EstimatorLike, problem: Problem, fold: Fold) -> Trial:
    """The trial of a fold by refitting from the frame."""
    model = clone(estimator)
    if isinstance(model, Estimator):
        model.set_params(n_jobs=1)  # the folds share the cores; how many threads there are changes no model
    start = perf_counter()
    fitted(model, problem, fold.train)
    seconds = perf_counter() - start
    rows, _ = problem.rows(fold.test)
    if not problem.is_classification:
        return Trial(fold.test, len(fold.train), np.asarray(model.predict(rows), np.float64), None, seconds)
    classes = problem.label.target.classes or ()
    given = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
    probability = None if given is None else spread(given, codes_among(model.classes_, classes), len(classes))
    return Trial(fold.test, len(fold.train), codes_among(model.predict(rows), classes), probability, seconds)


def models_without(learner: Additive, table: Table, folds: Iterable[Fold]) -> Iterator[tuple[Schema, Model]]:
    """The schema and the model that each fold's training rows give: derive(all − of(fold))."""
    everything = learner.observe(table)
    for fold in folds:
        is_rest = len(fold.train) + len(fold.test) == len(table) and fold.is_complement
        seen = everything - learner.observe(table.take(fold.test)) if is_rest else learner.observe(table.take(fold.train))
        schema, seen = seen.shrunk(table.schema)
        yield schema, learner.derive(seen, schema)


def _by_subtraction(learner: Additive, problem: Problem, folds: tuple[Fold, ...]) -> Iterator[Trial]:
    start = perf_counter()
    for fold, (schema, model) in zip(folds, models_without(learner, problem.table, folds), strict=True):
        yield _answered(model, schema, fold, problem, perf_counter() - start)
        start = perf_counter()


def _answered(model: Model, schema: Schema, fold: Fold, problem: Problem, seconds: float) -> Trial:
    test = to_answer_for(problem.table, fold.test, schema)
    answers, chosen = answered(model, test)
    if chosen is None:
        return Trial(fold.test, len(fold.train), answers[:, 0], None, seconds)
    classes = problem.label.target.classes or ()
    known = codes_among(schema.classes, classes)
    return Trial(fold.test, len(fold.train), known[chosen], spread(answers, known, len(classes)), seconds)


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
