"""Learners: an algorithm with its settings, checked and frozen. They know rows and statistics, but no frames and no faces.

A learner turns rows into a model. One whose model is a pure function of a statistic is `MergeableLearner`: it says itself what it
observes and what follows, and so it can learn in parts, go on learning, merge and forget.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import msgspec
import numpy as np

from baytree.base.model import Model
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import Partitions
from baytree.engine.worker_results import TableList, concatenate_tables
from baytree.statistics.exact_sum import is_of_rows
from baytree.statistics.profile import MOST_COLUMNS, Profile, sample_rows, sampling_step


class FitResult(msgspec.Struct, frozen=True):
    """What learning gives: the model, the statistic it follows from, and what was noticed on the way."""

    model: Model
    statistic: Any = None  # of a learner that can go on: the statistic, or the stream so far
    fitted_attributes: Mapping[str, Any] = {}  # by the name of the fitted attribute: n_iter_, path_, trace_
    profile: Profile | None = None  # what the rows looked like


@runtime_checkable
class Learner(Protocol):
    """An algorithm with its settings."""

    def learn(self, rows: Partitions) -> FitResult:
        """The model of these rows."""
        ...


class FirstStage(Protocol):
    """The settings of a first step: those that are equal make the same of the same rows."""

    def run(self, rows: Partitions) -> Any:
        """What the step makes of these rows."""
        ...


@runtime_checkable
class StagedLearner(Learner, Protocol):
    """A learner that may have its first step in common with others: a tree, and the rules that come of it."""

    @property
    def first_step(self) -> FirstStage | None:
        """How it begins; None where what follows would change what the first step has made."""
        ...

    def learn_from_stage(self, begun: Any) -> FitResult:
        """The model, from what the first step has made of the rows."""
        ...


class Statistic(Protocol):
    """A value made from rows; those of parts add up to that of the whole."""

    def __add__(self, other: Self) -> Self: ...

    def __sub__(self, other: Self) -> Self: ...

    def to_schema(self, old: Schema, new: Schema) -> Self:
        """The same statistic under a schema with other levels or classes."""
        ...

    def drop_unused_levels(self, schema: Schema) -> tuple[Schema, Self]:
        """Without the collected levels and classes that no row is left of, and the schema without them."""
        ...

    def check(self, schema: Schema) -> None:
        """Raises an error where the statistic, read from a file, does not fit the schema."""
        ...


class ObservedStatistic(msgspec.Struct, frozen=True):
    """A statistic, and the schema under which it was seen: two add up under the levels, words and classes of both."""

    schema: Schema
    seen: Statistic
    profile: Profile | None = None  # of the same rows

    def __add__(self, other: ObservedStatistic) -> ObservedStatistic:
        joint = self.schema.union(other.schema)
        seen = self.seen.to_schema(self.schema, joint) + other.seen.to_schema(other.schema, joint)
        return ObservedStatistic(
            joint, seen, joined_profiles((self.schema, self.profile), (other.schema, other.profile), joint)
        )

    def __sub__(self, other: ObservedStatistic) -> ObservedStatistic:
        if self.schema.union(other.schema) != self.schema:
            raise ValueError("these rows hold classes or levels that were never learnt; only learnt rows can be forgotten")
        seen = self.seen - other.seen.to_schema(other.schema, self.schema)
        if not is_of_rows(seen):
            raise ValueError("these rows were not all learnt, or with other weights; only learnt rows can be forgotten")
        schema, left = seen.drop_unused_levels(self.schema)
        return ObservedStatistic(schema, left, _without(self, other, schema))


def observe_profile(rows: Partitions) -> Profile | None:
    """What the rows look like: of very many, some at even distances; of very many columns nothing."""
    return submit_profile(rows)()


def submit_profile(rows: Partitions) -> Callable[[], Profile | None]:
    """The same, when it is called; asked for before anything is learnt, it costs no round of its own."""
    if len(rows.schema) > MOST_COLUMNS:
        return lambda: None
    step = sampling_step(rows.schema, rows.n_rows)
    if step == 1:
        return rows.submit(Profile.of)
    some = rows.submit(partial(TableList.of, partial(sample_rows, step)), None)
    return lambda: Profile.from_sample(concatenate_tables(some().tables), step, rows.n_rows)


def joined_profiles(
    mine: tuple[Schema, Profile | None], theirs: tuple[Schema, Profile | None], joint: Schema
) -> Profile | None:
    """The profile of both, each under its schema, where both are known."""
    (old, one), (new, other) = mine, theirs
    return None if one is None or other is None else one.to_schema(old, joint) + other.to_schema(new, joint)


def _without(mine: ObservedStatistic, gone: ObservedStatistic, left: Schema) -> Profile | None:
    """The profile without these rows; None where it is not of all rows, so that nobody knows which of them are in it."""
    if mine.profile is None or gone.profile is None or not (mine.profile.is_of_all and gone.profile.is_of_all):
        return None
    return (mine.profile - gone.profile.to_schema(gone.schema, mine.schema)).to_schema(mine.schema, left)


class UpdatedPredictions(NamedTuple):
    """Answers of the models that some rows more or less would give."""

    changes: slice  # which rows
    own: np.ndarray  # [n_changes, n_outputs], of these rows themselves
    others: np.ndarray  # [n_changes, n_asked, n_outputs]


class MergeableLearner(Learner, Protocol):
    """A learner whose model is a pure function of a statistic."""

    @abstractmethod
    def observe(self, table: Table) -> Any:
        """The statistic of these rows."""

    @abstractmethod
    def derive(self, seen: Any, schema: Schema) -> Model:
        """The model that follows from a statistic."""

    def can_subtract(self, schema: Schema) -> bool:
        """Whether all − of(rows) is what the other rows would have given: not where bins or vocabularies read all rows."""
        return True

    def n_retained_rows(self, seen: Any) -> int:
        """How many rows a statistic holds on to; 0 where it is as large for many rows as for few."""
        return 0

    def observe_all(self, rows: Partitions) -> Any:
        """The statistic of all rows, Σ of(part); a learner that has something to say of them all says it here, once."""
        return rows.map_reduce(self.observe)

    def predict_after(self, seen: Any, changes: Table, sign: int, asked: Table) -> Iterator[UpdatedPredictions]:
        """For each row of `changes`, added to what was seen (sign 1) or taken away (−1), its own answers then, and those of
        the rows that are asked for; some changes at a time.

        derive(seen ± of(row)) for one row after the other; a learner that knows a shorter way takes it.
        """
        for row in range(len(changes)):
            own, others = self._answers_after_one(seen, changes.take(np.array([row])), sign, asked)
            yield UpdatedPredictions(slice(row, row + 1), own[None], others[None])

    def _answers_after_one(self, seen: Any, change: Table, sign: int, asked: Table) -> tuple[np.ndarray, np.ndarray]:
        one = self.observe(change)
        model = self.derive(seen + one if sign > 0 else seen - one, change.schema)
        return model.predict(change)[0], model.predict(asked)

    def learn(self, rows: Partitions) -> FitResult:
        """derive(Σ of(part))."""
        seen = self.observe_all(rows)
        return FitResult(self.derive(seen, rows.schema), seen)
