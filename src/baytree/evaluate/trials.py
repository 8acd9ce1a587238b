"""A trial: learn from some rows, answer for others. By refitting, or, where a model adds up, by taking rows away.

For an additive classifier derive(all − of(fold)) is the model that refitting would give, and the answers are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import msgspec
import numpy as np
from sklearn.base import clone

from ..estimator import AdditiveClassifier, Estimator
from ..problem import Problem
from ..table import Kind, Schema, Table, level_map
from .folds import Fold

ADDITIVE_EVENTS = {"gaussian", "categorical", "bernoulli", "poisson"}  # whose statistics do not depend on other rows


@dataclass(frozen=True)
class Trial:
    """The answers for the rows that were kept back."""

    rows: np.ndarray  # int [n_test]
    n_train: int
    answer: np.ndarray  # class codes, or numbers [n_test]
    probability: np.ndarray | None  # [n_test, n_classes]; None where the estimator gives none
    seconds: float  # of learning


def trials(estimator: Any, problem: Problem, folds: tuple[Fold, ...]) -> Iterator[Trial]:
    """The trial of each fold, one by one."""
    estimator = prepared(estimator, problem)
    if is_subtractable(estimator, problem):
        return _by_subtraction(estimator, problem, folds)
    return (_by_refitting(estimator, problem, fold) for fold in folds)


def prepared(estimator: Any, problem: Problem) -> Any:
    """An unfitted copy whose kinds of columns are those of the whole table, in every fold."""
    copy = clone(estimator)
    if isinstance(copy, Estimator) and copy.schema is None and problem.kinds:
        copy.set_params(schema=problem.kinds)
    return copy


def is_subtractable(estimator: Any, problem: Problem) -> bool:
    """Whether rows can be taken away from what the estimator keeps; vocabularies and bins depend on all rows at once."""
    if not isinstance(estimator, AdditiveClassifier) or not problem.is_classification:
        return False
    if estimator._schema_of(problem.frame).columns != problem.schema.columns:
        return False  # it encodes rows in a way of its own
    chosen = {getattr(estimator, "numeric", "gaussian"), *(getattr(estimator, "events", None) or {}).values()}
    has_text = any(column.kind is Kind.TEXT for column in problem.schema)
    return chosen <= ADDITIVE_EVENTS and not has_text and estimator.unseen != "error"


def _by_refitting(estimator: Any, problem: Problem, fold: Fold) -> Trial:
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
        yield _answered(model, recoded(problem.table.take(fold.test), schema), fold, problem, seconds)
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
    known = _codes(test.schema.classes, problem.label.target.classes)
    probability = model.probabilities(test)
    choose = getattr(model, "choices", None)
    choice = choose(test) if choose else np.argmax(probability, axis=1)
    return Trial(fold.test, len(fold.train), known[choice], _spread(probability, known, problem), seconds)


def recoded(table: Table, schema: Schema) -> Table:
    """Rows to be predicted under a schema that knows fewer levels: what it does not know is missing."""
    pairs = zip(table.schema.columns, schema.columns, table.values, strict=True)
    values = tuple(v if old.levels == new.levels else _recoded(v, old.levels, new.levels) for old, new, v in pairs)
    return msgspec.structs.replace(table, schema=schema, values=values, label=None)


def _recoded(codes: np.ndarray, old: tuple, new: tuple) -> np.ndarray:
    return np.append(level_map(new, old), -1).astype(np.int32)[codes]


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
