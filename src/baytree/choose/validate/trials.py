"""A trial: learn from some rows, answer for others. The table is encoded once, and folds are rows of it.

An additive classifier does not even learn anew: derive(all − of(fold)) is the model that refitting would give, and the
answers are the same. What is not ours, or reads the rows in a way of its own, is refitted from the frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from baytree.choose.problem import Problem
from baytree.choose.validate.fold_tables import to_answer_for, to_learn_from
from baytree.choose.validate.folds import Fold
from baytree.engine.threads import in_order
from baytree.estimators.base import AdditiveClassifier, Estimator
from baytree.model import choices
from baytree.table.schema import Kind, Schema
from baytree.table.table import SparseColumns, Table

ADDITIVE_EVENTS = {"gaussian", "categorical", "bernoulli", "poisson"}  # whose statistics do not depend on other rows


@dataclass(frozen=True)
class Trial:
    """The answers for the rows that were kept back."""

    rows: np.ndarray  # int [n_test]
    n_train: int
    answer: np.ndarray  # class codes, or numbers [n_test]
    probability: np.ndarray | None  # [n_test, n_classes]; None where the estimator gives none
    seconds: float  # of learning


Task = Callable[[], list[Trial]]


def trials(estimator: Any, problem: Problem, folds: tuple[Fold, ...], n_jobs: int | None = None) -> list[Trial]:
    """The trial of each fold, in order; folds are shared among threads."""
    done = in_order(lambda task: task(), tasks(estimator, problem, folds), n_jobs)
    return [trial for trials in done for trial in trials]


def tasks(estimator: Any, problem: Problem, folds: tuple[Fold, ...]) -> list[Task]:
    """The trials of all folds as pieces of work that do not depend on each other: one per fold, or one for all."""
    ready = _on_one_thread(prepared(estimator, problem))
    if is_subtractable(ready, problem):
        return [lambda: list(_by_subtraction(ready, problem, folds))]
    learn = _from_table if reads_alike(ready, problem) else _from_frame
    return [lambda fold=fold: [learn(ready, problem, fold)] for fold in folds]


def prepared(estimator: Any, problem: Problem) -> Any:
    """An unfitted copy whose kinds of columns are those of the whole table, in every fold."""
    copy = clone(estimator)
    if isinstance(copy, Estimator) and copy.schema is None and problem.kinds:
        copy.set_params(schema=problem.kinds)
    return copy


def learnt(estimator: Any, problem: Problem) -> Any:
    """The estimator, learnt from all rows."""
    ready = prepared(estimator, problem)
    if reads_alike(ready, problem) and problem.frame.has_text_names:
        return ready.fit(problem.table)
    return ready.fit(problem.X, problem.y)


def _on_one_thread(estimator: Any) -> Any:
    """The copy that learns on one thread, as the folds share the cores; how many threads there are changes no model."""
    return estimator.set_params(n_jobs=1) if isinstance(estimator, Estimator) else estimator


def reads_alike(estimator: Any, problem: Problem) -> bool:
    """Whether the estimator would encode the rows of a fold as the rows of the encoded table are."""
    if not isinstance(estimator, Estimator) or estimator.unseen == "error":
        return False
    if any(column.kind is Kind.TEXT for column in problem.schema):  # a vocabulary depends on all rows at once
        return False
    if not problem.is_finite or isinstance(problem.table.values, SparseColumns):
        return False
    return _schema_is(problem, estimator)


def is_subtractable(estimator: Any, problem: Problem) -> bool:
    """Whether rows can be taken away from what the estimator keeps; bins, kernels and vocabularies depend on all rows."""
    if not isinstance(estimator, AdditiveClassifier) or not problem.is_classification:
        return False
    if estimator.unseen == "error" or any(column.kind is Kind.TEXT for column in problem.schema):
        return False
    chosen = {getattr(estimator, "numeric", "gaussian"), *(getattr(estimator, "events", None) or {}).values()}
    return chosen <= ADDITIVE_EVENTS and _schema_is(problem, estimator)


def _schema_is(problem: Problem, estimator: Estimator) -> bool:
    is_usual = type(estimator)._schema_of is Estimator._schema_of
    if is_usual and estimator.schema is problem.kinds:
        return True  # as `prepared` made it
    return estimator._schema_of(problem.frame).columns == problem.schema.columns


def _from_table(estimator: Estimator, problem: Problem, fold: Fold) -> Trial:
    start = perf_counter()
    table = to_learn_from(problem.table, fold.train)
    model = clone(estimator).fit(table).model_
    seconds = perf_counter() - start
    return _answered(model, to_answer_for(problem.table, fold.test, table.schema), fold, problem, seconds)


def _from_frame(estimator: Any, problem: Problem, fold: Fold) -> Trial:
    model = clone(estimator)
    X, y = problem.rows(fold.train)
    start = perf_counter()
    model.fit(X, y)
    seconds = perf_counter() - start
    rows, _ = problem.rows(fold.test)
    if not problem.is_classification:
        return Trial(fold.test, len(fold.train), np.asarray(model.predict(rows), np.float64), None, seconds)
    probability = model.predict_proba(rows) if hasattr(model, "predict_proba") else None
    known = _codes(model.classes_, problem.label.target.classes)
    answer = _codes(model.predict(rows), problem.label.target.classes)
    return Trial(fold.test, len(fold.train), answer, _spread(probability, known, problem), seconds)


def _by_subtraction(estimator: AdditiveClassifier, problem: Problem, folds: tuple[Fold, ...]) -> Iterator[Trial]:
    start = perf_counter()
    for fold, (schema, model) in zip(folds, models_without(estimator, problem.table, folds), strict=True):
        seconds = perf_counter() - start
        yield _answered(model, to_answer_for(problem.table, fold.test, schema), fold, problem, seconds)
        start = perf_counter()


def models_without(estimator: AdditiveClassifier, table: Table, folds: tuple[Fold, ...]) -> Iterator[tuple[Schema, Any]]:
    """The schema and the model that each fold's training rows give: derive(all − of(fold))."""
    everything = estimator._observe(table)
    for fold in folds:
        if len(fold.train) + len(fold.test) == len(table) and fold.is_complement:
            seen = everything - estimator._observe(table.take(fold.test))
        else:
            seen = estimator._observe(table.take(fold.train))
        schema, seen = seen.shrunk(table.schema)
        yield schema, estimator._derive(seen, schema)


def _answered(model: Any, test: Table, fold: Fold, problem: Problem, seconds: float) -> Trial:
    if not problem.is_classification:
        return Trial(fold.test, len(fold.train), model.answers(test)[:, 0], None, seconds)
    known = _codes(test.schema.classes, problem.label.target.classes)
    probability = model.answers(test)
    choice = choices(model, test)
    return Trial(fold.test, len(fold.train), known[choice], _spread(probability, known, problem), seconds)


def _codes(answers: Any, classes: tuple) -> np.ndarray:
    place = {label: code for code, label in enumerate(classes)}
    return np.array([place[label] for label in np.asarray(answers, dtype=object).tolist()], np.int32)


def _spread(probability: np.ndarray | None, known: np.ndarray, problem: Problem) -> np.ndarray | None:
    """Probabilities over all classes of the problem: a class that was not in training is impossible."""
    if probability is None or len(known) == len(problem.label.target.classes):
        return probability
    wide = np.zeros((len(probability), len(problem.label.target.classes)))
    wide[:, known] = probability
    return wide
