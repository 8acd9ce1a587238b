"""Models of the training rows of each fold, and their predictions for held-out and new rows.

`models_of` removes each fold from the statistics of a mergeable learner, and otherwise refits the estimator per fold.
`EncodedFoldModel` predicts from the encoded table, `RefittedFoldModel` from the raw frame.
"""

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
    """Rows to predict: the raw frame and, for baytree models, its encoding by the schema of all rows."""

    X: FrameLike
    encode: Callable[[], Table]

    @classmethod
    def of(cls, X: FrameLike, estimator: EstimatorLike) -> NewRows:
        """Return the rows for an estimator that was fitted to all rows."""
        return cls(X, lambda: estimator._predictor.encoded(X))

    @cached_property
    def table(self) -> Table:
        """The encoded rows, computed once."""
        return self.encode()


class FoldModel(Protocol):
    """Interface of a model that was fitted to some of the rows."""

    def answers(self, new_rows: NewRows) -> np.ndarray:
        """Return the probability of each class of the problem, or the predicted number, float64 [n_rows, n_outputs]."""
        ...


@dataclass(frozen=True)
class EncodedFoldModel:
    """Model that was fitted to encoded rows; it may know fewer levels and classes than all rows have."""

    schema: Schema
    model: Model
    classes: tuple

    def answers(self, new_rows: NewRows) -> np.ndarray:
        """Predict from the encoded table."""
        table = new_rows.table
        predictions = self.model.predict(held_out_table(table, np.arange(len(table)), self.schema))
        return (
            spread(predictions, codes_among(self.schema.classes, self.classes), len(self.classes))
            if self.classes
            else predictions
        )


@dataclass(frozen=True)
class RefittedFoldModel:
    """Estimator that was fitted to rows of the raw frame."""

    estimator: EstimatorLike
    classes: tuple

    def answers(self, new_rows: NewRows) -> np.ndarray:
        """Predict from the raw frame."""
        if not self.classes:
            return np.asarray(self.estimator.predict(new_rows.X), np.float64)[:, None]
        known = codes_among(self.estimator.classes_, self.classes)
        return spread(self.estimator.predict_proba(new_rows.X), known, len(self.classes))


def models_of(
    estimator: EstimatorLike, problem: SupervisedProblem, folds: Sequence[Fold], n_jobs: int | None
) -> list[FoldModel]:
    """Return one model per fold: by subtracting the fold if the learner is mergeable, else by fitting its training rows."""
    ready, classes = with_fixed_kinds(estimator, problem), problem.label.target.classes or ()
    if not encodes_identically(ready, problem):
        return map_ordered(
            lambda fold: RefittedFoldModel(fitted(_clone_single_threaded(ready), problem, fold.train), classes),
            list(folds),
            n_jobs,
        )
    learner = learner_of(ready, problem.table.schema)
    if can_subtract(learner, problem.table.schema):
        return [
            EncodedFoldModel(schema, model, classes) for schema, model in models_without_folds(learner, problem.table, folds)
        ]
    return map_ordered(lambda fold: _fit_encoded(ready, problem, fold, classes), list(folds), n_jobs)


def _clone_single_threaded(estimator: EstimatorLike) -> Any:
    copy = clone(estimator)
    return copy.set_params(n_jobs=1) if isinstance(copy, Estimator) else copy  # the folds already use all cores


def _fit_encoded(estimator: Estimator, problem: SupervisedProblem, fold: Fold, classes: tuple) -> EncodedFoldModel:
    table = training_table(problem.table, fold.train)
    structure = problem.structure.part(fold.train)
    model = learner_of(estimator, problem.table.schema, table, structure).learn(LocalPartitions(table, 1)).model
    return EncodedFoldModel(table.schema, model, classes)
