"""An estimator's parameters as a learner, for those who learn from rows that are encoded once, or that come in batches."""

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
from baytree.estimators.incremental import AdditiveEstimator

if TYPE_CHECKING:
    from baytree.base.learner import ObservedStatistic

E = TypeVar("E", bound=Estimator)

A = TypeVar("A", bound=AdditiveEstimator)

Batch = tuple[FrameLike, TargetLike, WeightsLike]


def learner_of(estimator: Estimator, schema: Schema, rows: Table | None = None) -> Learner:
    """The estimator's parameters, checked, as a learner of rows of this schema.

    `rows` are those to be learnt from where they are only some of the table's, such as those of a fold: they may know fewer
    classes and levels than the schema by which parameters are read.
    """
    estimator._check_common_parameters()
    for_rows = {} if rows is None else estimator._row_dependent_settings(PreparedRows(LocalPartitions(rows), False, None))
    return estimator._learner(schema, **for_rows)


def prepare_remote_rows(estimator: Estimator, X: FrameLike, y: TargetLike, sample_weight: WeightsLike) -> RemotePartitions:
    """The rows of an engine as the estimator reads them."""
    rows = estimator._prepare_rows(X, y, sample_weight).rows
    assert isinstance(rows, RemotePartitions)
    return rows


def schema_of(estimator: Estimator, frame: RawFrame) -> Schema:
    """The kinds and levels that the estimator would see in the columns of a frame."""
    return estimator._schema_of(frame)


def has_own_kinds(estimator: Estimator) -> bool:
    """Whether the estimator decides by rules of its own what kinds of columns there are."""
    return type(estimator)._schema_of is not Estimator._schema_of


def adds_up(estimator: Estimator, X: FrameLike, y: TargetLike) -> bool:
    """Whether what the estimator learns from such rows adds up, so that it can learn in batches."""
    with _warnings.capture():  # what is to be told of these rows is told when they are learnt from
        schema = estimator._prepare_rows(X, y, None).rows.schema
    return isinstance(estimator, AdditiveEstimator) and isinstance(estimator._learner(schema), MergeableLearner)


class SharedStages:
    """The first steps of learners of the same rows: each is taken once."""

    def __init__(self) -> None:
        self._taken: list[tuple[FirstStage, Any, float]] = []  # with what came of it, and the seconds that it took
        self.spared = 0.0  # seconds

    def learnt(self, learner: Learner, rows: LocalPartitions) -> FitResult:
        """What the learner makes of the rows, from where another has begun alike."""
        if not isinstance(learner, StagedLearner) or learner.first_step is None:
            return learner.learn(rows)
        return learner.learn_from_stage(self._after(learner.first_step, rows))

    def _after(self, step: FirstStage, rows: LocalPartitions) -> Any:
        for other, begun, seconds in self._taken:
            if other == step:
                self.spared += seconds
                return begun
        start = perf_counter()
        begun = step.run(rows)
        self._taken.append((step, begun, perf_counter() - start))
        return begun


def first_step_of(learner: Learner) -> FirstStage | None:
    """How the learner begins, where others may begin alike."""
    return learner.first_step if isinstance(learner, StagedLearner) else None


def fit_encoded(estimator: E, table: Table, has_text_names: bool, steps: SharedStages | None = None) -> E:
    """The estimator, learnt from rows that are encoded already; `steps` are those that others have taken on them."""
    rows = LocalPartitions(table, estimator.n_jobs)
    learnt = (steps or SharedStages()).learnt(learner_of(estimator, table.schema, table), rows)
    estimator._set_fitted_state(
        table.schema, msgspec.structs.replace(learnt, profile=estimator._profiled(rows)), has_text_names
    )
    return estimator


def fit_in_batches(estimator: A, batches: Iterable[Batch]) -> A:
    """The estimator, learnt from rows that come a batch at a time, each read once: derive(Σ of(batch))."""
    fresh = clone(estimator)
    has_text_names = True

    def seen() -> Iterator[ObservedStatistic]:
        nonlocal has_text_names
        for entered in _entered(fresh, batches):
            has_text_names = entered.has_text_names
            yield fresh._observed(entered.table)

    return fresh._set_state_from(reduce(add, seen()), has_text_names)


def _entered(estimator: AdditiveEstimator, batches: Iterable[Batch]) -> Iterator[PreparedRows]:
    """Each batch encoded, under the kinds of the first and all levels and classes so far."""
    known = None
    for batch in batches:
        entered = estimator._prepare_rows(*batch) if known is None else estimator._prepare_batch(*batch, known)
        known = entered.table.schema
        yield entered
