"""Learners of estimators, for code that trains on encoded rows or in batches.

Cross-validation, comparison, streaming and conformal prediction encode a table once and then train many models: they use
these functions instead of `Estimator.fit`. `SharedStages` reuses the first stage of learners that start alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import add
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from sklearn.base import clone

from baytree import _warnings
from baytree._typing import FrameLike, TargetLike, WeightsLike
from baytree.base.learner import FirstStage, FitResult, Learner, MergeableLearner, StagedLearner
from baytree.data.encoding.table import Table
from baytree.data.frames.raw import RawFrame
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import LocalPartitions
from baytree.engine.remote import RemotePartitions
from baytree.estimators.base import Estimator, PreparedRows
from baytree.estimators.incremental import MergeableEstimator
from baytree.estimators.inner_folds import structure_arguments
from baytree.folds.row_structure import NO_STRUCTURE, RowStructure
from baytree.uncertainty.decision import CostMatrix

if TYPE_CHECKING:
    from baytree.base.learner import ObservedStatistic

E = TypeVar("E", bound=Estimator)

A = TypeVar("A", bound=MergeableEstimator)

Batch = tuple[FrameLike, TargetLike, WeightsLike]


def learner_of(
    estimator: Estimator, schema: Schema, rows: Table | None = None, structure: RowStructure = NO_STRUCTURE
) -> Learner:
    """Learner of rows of this schema, built from the estimator's validated parameters.

    `rows` are the training rows if they are only a part of the table, such as a fold: they may have fewer classes and levels
    than the schema that validates the parameters. `structure` has their groups and times.
    """
    estimator._check_common_parameters()
    estimator._class_costs(schema.classes)
    for_rows: dict[str, Any] = {}
    if rows is not None:
        prepared = PreparedRows(LocalPartitions(rows), False, None)
        for_rows = estimator._row_dependent_settings(prepared, **structure_arguments(estimator, structure))
    return estimator._learner(schema, **for_rows)


def cost_matrix(estimator: Estimator, schema: Schema, classes: tuple) -> CostMatrix | None:
    """Costs by which a model of this schema chooses a class; `classes` are those of all rows, a fold may have fewer."""
    return CostMatrix.of(estimator._class_costs(classes), schema.classes, estimator._learns_costs)


def prepare_remote_rows(estimator: Estimator, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> RemotePartitions:
    """Rows of a remote engine, encoded for the estimator."""
    rows = estimator._prepare_rows(X, y, sample_weight).rows
    assert isinstance(rows, RemotePartitions)
    return rows


def schema_of(estimator: Estimator, frame: RawFrame) -> Schema:
    """Kinds and levels that the estimator would infer for the columns of a frame."""
    return estimator._schema_of(frame)


def has_own_kinds(estimator: Estimator) -> bool:
    """Whether the estimator has its own rules for the kinds of columns."""
    return type(estimator)._schema_of is not Estimator._schema_of


def adds_up(estimator: Estimator, X: FrameLike, y: TargetLike) -> bool:
    """Whether the estimator's learner for such rows is mergeable, so that it can train in batches."""
    with _warnings.capture():  # the same warnings come again during training
        schema = estimator._prepare_rows(X, y, None).rows.schema
    return isinstance(estimator, MergeableEstimator) and isinstance(estimator._learner(schema), MergeableLearner)


class SharedStages:
    """Cache of first stages: learners of the same rows that start alike run the first stage once."""

    def __init__(self) -> None:
        self._taken: list[tuple[FirstStage, Any, float]] = []  # stage, its result, its duration in seconds
        self.spared = 0.0  # seconds

    def learnt(self, learner: Learner, rows: LocalPartitions) -> FitResult:
        """Train a learner, from the cached result of its first stage if another learner has run it."""
        if not isinstance(learner, StagedLearner) or learner.first_step is None:
            return learner.learn(rows)
        return learner.learn_from_stage(self._after(learner.first_step, rows))

    def _after(self, step: FirstStage, rows: LocalPartitions) -> Any:
        for other, stage_result, seconds in self._taken:
            if other == step:
                self.spared += seconds
                return stage_result
        start = perf_counter()
        stage_result = step.run(rows)
        self._taken.append((step, stage_result, perf_counter() - start))
        return stage_result


def first_step_of(learner: Learner) -> FirstStage | None:
    """First stage of the learner, or None if it has none that others could share."""
    return learner.first_step if isinstance(learner, StagedLearner) else None


def fit_encoded(
    estimator: E,
    table: Table,
    has_text_names: bool,
    steps: SharedStages | None = None,
    structure: RowStructure = NO_STRUCTURE,
) -> E:
    """Fit the estimator to rows that are encoded already and return it; `steps` caches first stages of earlier learners.

    `structure` has the groups and times of the rows.
    """
    rows = LocalPartitions(table, estimator.n_jobs)
    result = (steps or SharedStages()).learnt(learner_of(estimator, table.schema, table, structure), rows)
    estimator._set_fitted_state(
        table.schema, msgspec.structs.replace(result, profile=estimator._profiled(rows)), has_text_names
    )
    return estimator


def fit_in_batches(estimator: A, batches: Iterable[Batch]) -> A:
    """Fit a clone of the estimator in one pass over batches: derive(Σ observe(batch))."""
    model = clone(estimator)
    has_text_names = True

    def statistics() -> Iterator[ObservedStatistic]:
        nonlocal has_text_names
        for prepared in _prepare_batches(model, batches):
            has_text_names = prepared.has_text_names
            yield model._observed(prepared.table)

    return model._set_state_from(reduce(add, statistics()), has_text_names)


def _prepare_batches(estimator: MergeableEstimator, batches: Iterable[Batch]) -> Iterator[PreparedRows]:
    """Encode each batch, under the kinds of the first one and all levels and classes so far."""
    known = None
    for batch in batches:
        prepared = estimator._prepare_rows(*batch) if known is None else estimator._prepare_batch(*batch, known)
        known = prepared.table.schema
        yield prepared
