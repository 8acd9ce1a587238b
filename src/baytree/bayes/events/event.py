"""Event models: what some columns of one kind count, and the likelihood that follows. Each is one class.

The class says all there is to say of it: its name, the kinds of column it looks at, what it keeps and what it gives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from baytree.bayes.estimation import Estimation, Group
from baytree.bayes.events.altered import Altered, Ready
from baytree.bayes.events.likelihood import Likelihood
from baytree.given import PriorsLike
from baytree.limits.intervals import no_interval
from baytree.table.frames import factorise_fixed
from baytree.table.schema import Column, Kind, Schema
from baytree.table.table import Table, Tokens


class EventStatistic(Protocol):
    """What an event keeps of the rows."""

    def __add__(self, other: Self) -> Self: ...

    def __sub__(self, other: Self) -> Self: ...

    def recoded(self, levels: list[np.ndarray], classes: np.ndarray) -> Self:
        """The same under other codes: entry k tells which old level of a column (or class) the new k was, −1 for none."""
        ...

    def level_weights(self) -> np.ndarray | None:
        """The weight of each level or word of the one column, None of numbers: [n_levels]."""
        ...


S = TypeVar("S", bound=EventStatistic)


class Event(ABC, Generic[S]):
    """An event model: from rows to a statistic, and from there to a likelihood."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMERIC,)  # of the columns it looks at
    stand_ins: ClassVar[Mapping[Kind, str]] = {}  # the events that look at columns of other kinds under its name
    is_density: ClassVar[bool] = False  # whether it can stand for any numeric column
    is_joint: ClassVar[bool] = False  # whether all its columns are observed together, in one pass
    can_subtract: ClassVar[bool] = True  # not where distinct values or words of all rows are read
    statistics: ClassVar[tuple[type, ...]]  # what it keeps
    likelihoods: ClassVar[tuple[type[Likelihood], ...]]  # what it gives

    @abstractmethod
    def observe(self, table: Table, group: Group) -> S:
        """The statistic of these columns."""

    @abstractmethod
    def derive(self, seen: S, group: Group, schema: Schema, estimation: Estimation) -> Likelihood:
        """The likelihood that follows."""

    @abstractmethod
    def check_shape(self, seen: S, group: Group, schema: Schema) -> None:
        """Raises an error unless the statistic has a cell for everything in these columns."""

    def check(self, seen: object, group: Group, schema: Schema) -> None:
        """Raises an error unless the statistic is one of this event and fits these columns."""
        columns = [schema.columns[j] for j in group.columns]
        if any(column.kind not in self.kinds for column in columns) or (len(columns) != 1 and not self.is_joint):
            raise ValueError(f"the event {self.name!r} does not look at such columns")
        if not isinstance(seen, self._kept(columns)):
            raise ValueError(f"the event {self.name!r} keeps other things of its columns")
        self.check_shape(seen, group, schema)

    def refuse(self, column: Column) -> None:
        """Raises an error where a column of a right kind is not what the event is made for."""

    def read_prior(self, given: PriorsLike, column: Column) -> object:
        """A column's own prior, checked; as it is where the event has none."""
        return given

    def belief(self, estimation: Estimation) -> str | None:
        """The prior in words, None where there is none to name."""
        return None

    def spread(self, seen: S) -> np.ndarray | None:
        """The standard deviation of each column where values count in units of it."""
        return None

    def add_left_out(self, seen: S, group: Group, table: Table, estimation: Estimation, scores: np.ndarray) -> None:
        """Adds each row's log-probability by what was seen without it to its scores.

        Rows that are alike leave the same statistic behind, so a likelihood is derived for each distinct combination of
        the group's values, the label and the weight.
        """
        first, place = alike(table, group.columns)
        effects = np.zeros((len(first), table.n_classes))
        for k, row in enumerate(first):
            alone = table.rows(row, row + 1)
            left = self.derive(seen - self.observe(alone, group), group, table.schema, estimation)
            left.add_scores(alone, effects[k : k + 1])
        scores += effects[place]

    def add_left_out_parts(self, seen: S, group: Group, table: Table, estimation: Estimation, scores: np.ndarray) -> None:
        """The same of rows that stand for several, or for part of one; where that saves deriving, but for rounding."""
        self.add_left_out(seen, group, table, estimation, scores)

    def altered(self, seen: S, group: Group, changes: Table, sign: int, estimation: Estimation) -> Altered | None:
        """The likelihood after each row of a table was added (sign 1) or taken away (−1); None where it is derived anew."""
        return None

    def ready(self, table: Table, group: Group) -> Ready:
        """The columns of rows as what `altered` gives reads them."""
        return []

    def add_posterior(
        self, seen: S, group: Group, table: Table, estimation: Estimation, mean: np.ndarray, variance: np.ndarray
    ) -> None:
        """Adds what is expected of each row's log-probability in each class, and its variance, given what was seen.

        What all classes have in common may be left out of the mean. Both are [n_rows, n_classes].
        """
        name = table.schema.columns[group.columns[0]].name
        raise no_interval(f"column {name!r}: what the event {self.name!r} has learnt has no posterior in closed form")

    def _kept(self, columns: list[Column]) -> tuple[type, ...]:
        return self.statistics


def alike(table: Table, columns: tuple[int, ...] = ()) -> tuple[list[int], np.ndarray]:
    """The first of each set of rows that are alike in columns, label and weight, and for each row which set it is of."""
    values = [table.values[j] for j in columns]
    if any(isinstance(column, Tokens) for column in values):
        return list(range(len(table))), np.arange(len(table))
    kind = table.label.astype(np.int64)
    for column in values if table.is_unweighted else [table.weight, *values]:
        code, distinct = factorise_fixed(column)
        kind = factorise_fixed(kind * len(distinct) + code)[0].astype(np.int64)  # small again, so that it cannot overflow
    place = np.full(int(kind.max()) + 1, -1)
    place[kind[::-1]] = np.arange(len(kind))[::-1]
    return place[place >= 0].tolist(), (np.cumsum(place >= 0) - 1)[kind]
