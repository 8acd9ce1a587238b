"""Models of some of the rows, and what they answer for rows that come later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone

from baytree._typing import EstimatorLike, FrameLike
from baytree.base.model import Model
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import LocalPartitions
from baytree.estimators.base import Estimator
from baytree.estimators.learner_access import learner_of
from baytree.folds.splitters import Fold
from baytree.model_selection.problem import SupervisedProblem
from baytree.model_selection.trials import (
    can_subtract,
    codes_among,
    encodes_identically,
    fitted,
    held_out_table,
    models_without_folds,
    spread,
    training_table,
    with_fixed_kinds,
)
from baytree.parallel.threads import map_ordered


@dataclass(frozen=True)
class NewRows:
    """Rows that are asked about: as they came and, for models of this library, encoded by the schema of all rows."""

    X: FrameLike
    encode: Callable[[], Table]

    @classmethod
    def of(cls, X: FrameLike, estimator: EstimatorLike) -> NewRows:
        """New rows, for an estimator that was learnt from all rows."""
        return cls(X, lambda: estimator._predictor.encoded(X))

    @cached_property
    def table(self) -> Table:
        """The rows, encoded once."""
        return self.encode()


class FoldModel(Protocol):
    """The model of some rows."""

    def answers(self, asked: NewRows) -> np.ndarray:
        """The probability of each class of the problem, or the number. [n_rows, n_outputs]"""
        ...


@dataclass(frozen=True)
class EncodedFoldModel:
    """A model that was learnt from encoded rows; it may know fewer levels and classes than all rows have."""

    schema: Schema
    model: Model
    classes: tuple

    def answers(self, asked: NewRows) -> np.ndarray:
        """By the table that was encoded once."""
        table = asked.table
        answers = self.model.predict(held_out_table(table, np.arange(len(table)), self.schema))
        return (
            spread(answers, codes_among(self.schema.classes, self.classes), len(self.classes)) if self.classes else answers
        )


@dataclass(frozen=True)
class RefittedFoldModel:
    """An estimator that was fitted to rows of the frame."""

    estimator: EstimatorLike
    classes: tuple

    def answers(self, asked: NewRows) -> np.ndarray:
        """By the rows as they came."""
        if not self.classes:
            return np.asarray(self.estimator.predict(asked.X), np.float64)[:, None]
        known = codes_among(self.estimator.classes_, self.classes)
        return spread(self.estimator.predict_proba(asked.X), known, len(self.classes))


def models_of(
    estimator: EstimatorLike, problem: SupervisedProblem, folds: Sequence[Fold], n_jobs: int | None
) -> list[FoldModel]:
    """The model of each fold's rows to learn from: by taking the fold away where the learner adds up, else by fitting."""
    ready, classes = with_fixed_kinds(estimator, problem), problem.label.target.classes or ()
    if not encodes_identically(ready, problem):
        return map_ordered(
            lambda fold: RefittedFoldModel(fitted(_alone(ready), problem, fold.train), classes), list(folds), n_jobs
        )
    learner = learner_of(ready, problem.table.schema)
    if can_subtract(learner, problem.table.schema):
        return [
            EncodedFoldModel(schema, model, classes) for schema, model in models_without_folds(learner, problem.table, folds)
        ]
    return map_ordered(lambda fold: _learnt(ready, problem, fold, classes), list(folds), n_jobs)


def _alone(estimator: EstimatorLike) -> Any:
    copy = clone(estimator)
    return copy.set_params(n_jobs=1) if isinstance(copy, Estimator) else copy  # the folds share the cores


def _learnt(estimator: Estimator, problem: SupervisedProblem, fold: Fold, classes: tuple) -> EncodedFoldModel:
    table = training_table(problem.table, fold.train)
    model = learner_of(estimator, problem.table.schema, table).learn(LocalPartitions(table, 1)).model
    return EncodedFoldModel(table.schema, model, classes)
