"""Learners: an algorithm with its settings, checked and frozen. They know rows and statistics, but no frames and no faces.

A learner turns rows into a model. One whose model is a pure function of a statistic is `Additive`: it says itself what it
observes and what follows, and so it can learn in parts, go on learning, merge and forget.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import msgspec
import numpy as np

from baytree.engine.gathering import Gathered, joined
from baytree.engine.parts import Parts
from baytree.model import Model
from baytree.statistics.exact import is_of_rows
from baytree.statistics.profile import MOST_COLUMNS, Profile, distance, some_rows
from baytree.table.schema import Schema
from baytree.table.table import Table


class Learnt(msgspec.Struct, frozen=True):
    """What learning gives: the model, the statistic it follows from, and what was noticed on the way."""

    model: Model
    seen: Any = None  # of a learner that can go on: the statistic, or the stream so far
    told: Mapping[str, Any] = {}  # by the name of the fitted attribute: n_iter_, path_, trace_
    profile: Profile | None = None  # what the rows looked like


@runtime_checkable
class Learner(Protocol):
    """An algorithm with its settings."""

    def learn(self, rows: Parts) -> Learnt:
        """The model of these rows."""
        ...


class FirstStep(Protocol):
    """The settings of a first step: those that are equal make the same of the same rows."""

    def taken(self, rows: Parts) -> Any:
        """What the step makes of these rows."""
        ...


@runtime_checkable
class InTwoSteps(Learner, Protocol):
    """A learner that may have its first step in common with others: a tree, and the rules that come of it."""

    @property
    def first_step(self) -> FirstStep | None:
        """How it begins; None where what follows would change what the first step has made."""
        ...

    def learn_after(self, begun: Any) -> Learnt:
        """The model, from what the first step has made of the rows."""
        ...


class Statistic(Protocol):
    """A value made from rows; those of parts add up to that of the whole."""

    def __add__(self, other: Self) -> Self: ...

    def __sub__(self, other: Self) -> Self: ...

    def grown(self, old: Schema, new: Schema) -> Self:
        """The same statistic under a schema with other levels or classes."""
        ...

    def shrunk(self, schema: Schema) -> tuple[Schema, Self]:
        """Without the collected levels and classes that no row is left of, and the schema without them."""
        ...

    def check(self, schema: Schema) -> None:
        """Raises an error where the statistic, read from a file, does not fit the schema."""
        ...


class Observed(msgspec.Struct, frozen=True):
    """A statistic, and the schema under which it was seen: two add up under the levels, words and classes of both."""

    schema: Schema
    seen: Statistic
    profile: Profile | None = None  # of the same rows

    def __add__(self, other: Observed) -> Observed:
        joint = self.schema.union(other.schema)
        seen = self.seen.grown(self.schema, joint) + other.seen.grown(other.schema, joint)
        return Observed(joint, seen, joined_profiles((self.schema, self.profile), (other.schema, other.profile), joint))

    def __sub__(self, other: Observed) -> Observed:
        if self.schema.union(other.schema) != self.schema:
            raise ValueError("these rows hold classes or levels that were never learnt; only learnt rows can be forgotten")
        seen = self.seen - other.seen.grown(other.schema, self.schema)
        if not is_of_rows(seen):
            raise ValueError("these rows were not all learnt, or with other weights; only learnt rows can be forgotten")
        schema, left = seen.shrunk(self.schema)
        return Observed(schema, left, _without(self, other, schema))


def profiled(rows: Parts) -> Profile | None:
    """What the rows look like: of very many, some at even distances; of very many columns nothing."""
    return profiled_later(rows)()


def profiled_later(rows: Parts) -> Callable[[], Profile | None]:
    """The same, when it is called; asked for before anything is learnt, it costs no round of its own."""
    if len(rows.schema) > MOST_COLUMNS:
        return lambda: None
    step = distance(rows.schema, rows.n_rows)
    if step == 1:
        return rows.later(Profile.of)
    some = rows.later(partial(Gathered.of, partial(some_rows, step)), None)
    return lambda: Profile.of_some(joined(some().tables), step, rows.n_rows)


def joined_profiles(
    mine: tuple[Schema, Profile | None], theirs: tuple[Schema, Profile | None], joint: Schema
) -> Profile | None:
    """The profile of both, each under its schema, where both are known."""
    (old, one), (new, other) = mine, theirs
    return None if one is None or other is None else one.grown(old, joint) + other.grown(new, joint)


def _without(mine: Observed, gone: Observed, left: Schema) -> Profile | None:
    """The profile without these rows; None where it is not of all rows, so that nobody knows which of them are in it."""
    if mine.profile is None or gone.profile is None or not (mine.profile.is_of_all and gone.profile.is_of_all):
        return None
    return (mine.profile - gone.profile.grown(gone.schema, mine.schema)).grown(mine.schema, left)


class After(NamedTuple):
    """Answers of the models that some rows more or less would give."""

    changes: slice  # which rows
    own: np.ndarray  # [n_changes, n_outputs], of these rows themselves
    others: np.ndarray  # [n_changes, n_asked, n_outputs]


class Additive(Learner, Protocol):
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

    def n_kept(self, seen: Any) -> int:
        """How many rows a statistic holds on to; 0 where it is as large for many rows as for few."""
        return 0

    def total(self, rows: Parts) -> Any:
        """The statistic of all rows, Σ of(part); a learner that has something to say of them all says it here, once."""
        return rows.total(self.observe)

    def answers_after(self, seen: Any, changes: Table, sign: int, asked: Table) -> Iterator[After]:
        """For each row of `changes`, added to what was seen (sign 1) or taken away (−1), its own answers then, and those of
        the rows that are asked for; some changes at a time.

        derive(seen ± of(row)) for one row after the other; a learner that knows a shorter way takes it.
        """
        for row in range(len(changes)):
            own, others = self._answers_after_one(seen, changes.take(np.array([row])), sign, asked)
            yield After(slice(row, row + 1), own[None], others[None])

    def _answers_after_one(self, seen: Any, change: Table, sign: int, asked: Table) -> tuple[np.ndarray, np.ndarray]:
        one = self.observe(change)
        model = self.derive(seen + one if sign > 0 else seen - one, change.schema)
        return model.answers(change)[0], model.answers(asked)

    def learn(self, rows: Parts) -> Learnt:
        """derive(Σ of(part))."""
        seen = self.total(rows)
        return Learnt(self.derive(seen, rows.schema), seen)
