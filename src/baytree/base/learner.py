"""Learners: algorithms with validated, frozen settings. They read encoded rows and statistics, never frames or estimators.

A `Learner` turns rows into a model. The model of a `MergeableLearner` is a pure function of a statistic: `observe` computes
the statistic of rows, statistics of parts add up, and `derive` computes the model. That gives map-reduce training,
`partial_fit`, `merge` and `forget`. `ObservedStatistic` adds statistics of rows with different levels and classes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import msgspec
import numpy as np

from baytree.base.model import Model
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.aggregates import AggregateRows, Detail, Marginals, as_query
from baytree.engine.partitions import Partitions
from baytree.engine.worker_results import TableList, concatenate_tables
from baytree.statistics.exact_sum import is_of_rows
from baytree.statistics.profile import MAX_PROFILED_COLUMNS, Profile, sample_rows, sampling_step


class FitResult(msgspec.Struct, frozen=True):
    """Result of training: the model, the statistic it is derived from, and further fitted attributes."""

    model: Model
    statistic: Any = None  # of an incremental learner: the statistic, or the state of the stream
    fitted_attributes: Mapping[str, Any] = {}  # by attribute name: n_iter_, path_, trace_
    profile: Profile | None = None  # of the training rows


@runtime_checkable
class Learner(Protocol):
    """An algorithm with its settings."""

    def learn(self, rows: Partitions) -> FitResult:
        """Train a model on these rows."""
        ...


class FirstStage(Protocol):
    """Settings of a first stage: equal settings give equal results on the same rows."""

    def run(self, rows: Partitions) -> Any:
        """Run the stage on these rows."""
        ...


@runtime_checkable
class StagedLearner(Learner, Protocol):
    """Learner whose first stage other learners may share, such as a tree and the rules extracted from it."""

    @property
    def first_step(self) -> FirstStage | None:
        """The first stage; None if later steps depend on it in a way that prevents sharing."""
        ...

    def learn_from_stage(self, begun: Any) -> FitResult:
        """Train the model from the result of the first stage."""
        ...


class Statistic(Protocol):
    """Value computed from rows; statistics of parts add up to the statistic of the whole."""

    def __add__(self, other: Self) -> Self: ...

    def __sub__(self, other: Self) -> Self: ...

    def to_schema(self, old: Schema, new: Schema) -> Self:
        """Same statistic under a schema with other levels or classes."""
        ...

    def drop_unused_levels(self, schema: Schema) -> tuple[Schema, Self]:
        """Remove inferred levels and classes that no row has any more; returns the reduced schema and statistic."""
        ...

    def check(self, schema: Schema) -> None:
        """Raise an error if the statistic, read from a file, does not fit the schema."""
        ...


class ObservedStatistic(msgspec.Struct, frozen=True):
    """Statistic with the schema of its rows; two are added under the union of their levels, vocabularies and classes."""

    schema: Schema
    seen: Statistic
    profile: Profile | None = None  # of the same rows

    def __add__(self, other: ObservedStatistic) -> ObservedStatistic:
        joint = self.schema.union(other.schema)
        statistic = self.seen.to_schema(self.schema, joint) + other.seen.to_schema(other.schema, joint)
        return ObservedStatistic(
            joint, statistic, joined_profiles((self.schema, self.profile), (other.schema, other.profile), joint)
        )

    def __sub__(self, other: ObservedStatistic) -> ObservedStatistic:
        if self.schema.union(other.schema) != self.schema:
            raise ValueError(
                "these rows have classes or levels that do not occur in the training rows; only learnt rows can be forgotten"
            )
        statistic = self.seen - other.seen.to_schema(other.schema, self.schema)
        if not is_of_rows(statistic):
            raise ValueError(
                "some of these rows are not training rows, or had other weights; only learnt rows can be forgotten"
            )
        schema, remaining = statistic.drop_unused_levels(self.schema)
        return ObservedStatistic(schema, remaining, _without(self, other, schema))


def observe_profile(rows: Partitions) -> Profile | None:
    """Profile of the rows; from a systematic sample of very many rows, None for very many columns."""
    return submit_profile(rows)()


def submit_profile(rows: Partitions) -> Callable[[], Profile | None]:
    """Submit `observe_profile`; returns a function for its result. Submitted before training, it shares its pass."""
    if len(rows.schema) > MAX_PROFILED_COLUMNS:
        return lambda: None
    step = 1 if isinstance(rows, AggregateRows) else sampling_step(rows.schema, rows.n_rows)
    if step == 1:
        return rows.submit(partial(_profile_of, len(rows.schema)))
    sample = rows.submit(partial(TableList.of, partial(sample_rows, step)), None)
    return lambda: Profile.from_sample(concatenate_tables(sample().tables), step, rows.n_rows)


def _profile_form(n_columns: int) -> Marginals:
    return Marginals((Detail.BUCKETS,) * n_columns, _joined_columns, _with_rows)


def _joined_columns(profiles: Sequence[Profile]) -> Profile:
    return Profile(profiles[0].rows, tuple(profile.columns[0] for profile in profiles), profiles[0].target)


def _with_rows(profile: Profile, n_rows: int) -> Profile:
    return msgspec.structs.replace(profile, rows=np.array([n_rows]))


@as_query(_profile_form)
def _profile_of(_n_columns: int, table: Table) -> Profile:
    return Profile.of(table)


def joined_profiles(
    left: tuple[Schema, Profile | None], right: tuple[Schema, Profile | None], joint: Schema
) -> Profile | None:
    """Sum of two profiles under the joint schema; None if either is None."""
    (old, one), (new, other) = left, right
    return None if one is None or other is None else one.to_schema(old, joint) + other.to_schema(new, joint)


def _without(mine: ObservedStatistic, gone: ObservedStatistic, left: Schema) -> Profile | None:
    """Profile without these rows; None if either profile is a sample, since nobody knows which rows it contains."""
    if mine.profile is None or gone.profile is None or not (mine.profile.is_complete and gone.profile.is_complete):
        return None
    return (mine.profile - gone.profile.to_schema(gone.schema, mine.schema)).to_schema(mine.schema, left)


class UpdatedPredictions(NamedTuple):
    """Predictions of models with one training row added or removed."""

    changes: slice  # rows that are added or removed
    own: np.ndarray  # [n_changes, n_outputs], predictions of these rows themselves
    others: np.ndarray  # [n_changes, n_asked, n_outputs]


class MergeableLearner(Learner, Protocol):
    """Learner whose model is a pure function of a mergeable statistic."""

    @abstractmethod
    def observe(self, table: Table) -> Any:
        """Statistic of these rows."""

    @abstractmethod
    def derive(self, statistic: Any, schema: Schema) -> Model:
        """Model that follows from a statistic."""

    def can_subtract(self, schema: Schema) -> bool:
        """Whether subtracting rows equals never having seen them; not if bins or vocabularies depend on all rows."""
        return True

    def n_retained_rows(self, statistic: Any) -> int:
        """Number of rows that a statistic stores; 0 if its size does not grow with the number of rows."""
        return 0

    def observe_all(self, rows: Partitions) -> Any:
        """Statistic of all rows, Σ observe(part). Learners that warn about all rows override this to warn once."""
        return rows.map_reduce(self.observe)

    def predict_after(self, statistic: Any, changes: Table, sign: int, test_rows: Table) -> Iterator[UpdatedPredictions]:
        """For each row of `changes`, added (sign 1) or removed (−1), predict it and the rows `asked` by the changed model.

        Yields predictions for a few changes at a time. By default derive(seen ± observe(row)) for one row after the other;
        learners with a faster way override it.
        """
        for row in range(len(changes)):
            own, others = self._answers_after_one(statistic, changes.take(np.array([row])), sign, test_rows)
            yield UpdatedPredictions(slice(row, row + 1), own[None], others[None])

    def _answers_after_one(
        self, statistic: Any, change: Table, sign: int, test_rows: Table
    ) -> tuple[np.ndarray, np.ndarray]:
        one = self.observe(change)
        model = self.derive(statistic + one if sign > 0 else statistic - one, change.schema)
        return model.predict(change)[0], model.predict(test_rows)

    def learn(self, rows: Partitions) -> FitResult:
        """Train on all rows: derive(Σ observe(part))."""
        statistic = self.observe_all(rows)
        return FitResult(self.derive(statistic, rows.schema), statistic)
