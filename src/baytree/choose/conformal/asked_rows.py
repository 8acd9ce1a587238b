"""Models of some of the rows, and what they answer for rows that come later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone

from baytree.choose.problem import Problem
from baytree.choose.validate.fold_tables import to_answer_for, to_learn_from
from baytree.choose.validate.trials import can_subtract, codes_among, fitted, models_without, prepared, reads_alike, spread
from baytree.engine.parts import InMemory
from baytree.engine.threads import in_order
from baytree.estimators.base import Estimator
from baytree.estimators.learning import learner_of
from baytree.folds.cv import Fold
from baytree.given import EstimatorLike, FrameLike
from baytree.model import Model
from baytree.table.schema import Schema
from baytree.table.table import Table


@dataclass(frozen=True)
class Asked:
    """Rows that are asked about: as they came and, for models of this library, encoded by the schema of all rows."""

    X: FrameLike
    encode: Callable[[], Table]

    @classmethod
    def of(cls, X: FrameLike, estimator: EstimatorLike) -> Asked:
        """New rows, for an estimator that was learnt from all rows."""
        return cls(X, lambda: estimator._predictor.encoded(X))

    @cached_property
    def table(self) -> Table:
        """The rows, encoded once."""
        return self.encode()


class Answering(Protocol):
    """The model of some rows."""

    def answers(self, asked: Asked) -> np.ndarray:
        """The probability of each class of the problem, or the number. [n_rows, n_outputs]"""
        ...


@dataclass(frozen=True)
class OfTable:
    """A model that was learnt from encoded rows; it may know fewer levels and classes than all rows have."""

    schema: Schema
    model: Model
    classes: tuple

    def answers(self, asked: Asked) -> np.ndarray:
        """By the table that was encoded once."""
        table = asked.table
        answers = self.model.answers(to_answer_for(table, np.arange(len(table)), self.schema))
        return (
            spread(answers, codes_among(self.schema.classes, self.classes), len(self.classes)) if self.classes else answers
        )


@dataclass(frozen=True)
class OfFrame:
    """An estimator that was fitted to rows of the frame."""

    estimator: EstimatorLike
    classes: tuple

    def answers(self, asked: Asked) -> np.ndarray:
        """By the rows as they came."""
        if not self.classes:
            return np.asarray(self.estimator.predict(asked.X), np.float64)[:, None]
        known = codes_among(self.estimator.classes_, self.classes)
        return spread(self.estimator.predict_proba(asked.X), known, len(self.classes))


def models_of(estimator: EstimatorLike, problem: Problem, folds: Sequence[Fold], n_jobs: int | None) -> list[Answering]:
    """The model of each fold's rows to learn from: by taking the fold away where the learner adds up, else by fitting."""
    ready, classes = prepared(estimator, problem), problem.label.target.classes or ()
    if not reads_alike(ready, problem):
        return in_order(lambda fold: OfFrame(fitted(_alone(ready), problem, fold.train), classes), list(folds), n_jobs)
    learner = learner_of(ready, problem.table.schema)
    if can_subtract(learner, problem.table.schema):
        return [OfTable(schema, model, classes) for schema, model in models_without(learner, problem.table, folds)]
    return in_order(lambda fold: _learnt(ready, problem, fold, classes), list(folds), n_jobs)


def _alone(estimator: EstimatorLike) -> Any:
    copy = clone(estimator)
    return copy.set_params(n_jobs=1) if isinstance(copy, Estimator) else copy  # the folds share the cores


def _learnt(estimator: Estimator, problem: Problem, fold: Fold, classes: tuple) -> OfTable:
    table = to_learn_from(problem.table, fold.train)
    model = learner_of(estimator, problem.table.schema, table).learn(InMemory(table, 1)).model
    return OfTable(table.schema, model, classes)
