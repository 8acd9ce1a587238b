"""Event models: what some columns of one kind count, and the likelihood that follows. Each is one class.

The class says all there is to say of it: its name, the kinds of column it looks at, what it keeps and what it gives.

What all likelihoods do: log p(values | class) of their columns, added to scores, and laid open.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Generic, Protocol, Self, TypeVar

import msgspec
import numpy as np

from baytree._typing import PriorsLike
from baytree.base.model import Evidence
from baytree.data.encoding.table import Table, Tokens
from baytree.data.frames.numbers import factorise_fixed
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema
from baytree.formula.builder import Effects, FormulaBuilder
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation
from baytree.summary.naive_bayes import Likelihood as LikelihoodSummary
from baytree.uncertainty.intervals import no_interval


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


class EventModel(ABC, Generic[S]):
    """An event model: from rows to a statistic, and from there to a likelihood."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMERIC,)  # of the columns it looks at
    substitute_events: ClassVar[Mapping[Kind, str]] = {}  # the events that look at columns of other kinds under its name
    is_density: ClassVar[bool] = False  # whether it can stand for any numeric column
    is_joint: ClassVar[bool] = False  # whether all its columns are observed together, in one pass
    can_subtract: ClassVar[bool] = True  # not where distinct values or words of all rows are read
    statistics: ClassVar[tuple[type, ...]]  # what it keeps
    likelihoods: ClassVar[tuple[type[Likelihood], ...]]  # what it gives

    @abstractmethod
    def observe(self, table: Table, group: ColumnGroup) -> S:
        """The statistic of these columns."""

    @abstractmethod
    def estimate(self, seen: S, group: ColumnGroup, schema: Schema, estimation: Estimation) -> Likelihood:
        """The likelihood that follows."""

    @abstractmethod
    def check_shape(self, seen: S, group: ColumnGroup, schema: Schema) -> None:
        """Raises an error unless the statistic has a cell for everything in these columns."""

    def check(self, seen: object, group: ColumnGroup, schema: Schema) -> None:
        """Raises an error unless the statistic is one of this event and fits these columns."""
        columns = [schema.columns[j] for j in group.columns]
        if any(column.kind not in self.kinds for column in columns) or (len(columns) != 1 and not self.is_joint):
            raise ValueError(f"the event {self.name!r} does not look at such columns")
        if not isinstance(seen, self._kept(columns)):
            raise ValueError(f"the event {self.name!r} keeps other things of its columns")
        self.check_shape(seen, group, schema)

    def check_column(self, column: Column) -> None:
        """Raises an error where a column of a right kind is not what the event is made for."""

    def read_prior(self, given: PriorsLike, column: Column) -> object:
        """A column's own prior, checked; as it is where the event has none."""
        return given

    def prior_text(self, estimation: Estimation) -> str | None:
        """The prior in words, None where there is none to name."""
        return None

    def spread(self, seen: S) -> np.ndarray | None:
        """The standard deviation of each column where values count in units of it."""
        return None

    def add_leave_one_out_scores(
        self, seen: S, group: ColumnGroup, table: Table, estimation: Estimation, scores: np.ndarray
    ) -> None:
        """Adds each row's log-probability by what was seen without it to its scores.

        Rows that are alike leave the same statistic behind, so a likelihood is derived for each distinct combination of
        the group's values, the label and the weight.
        """
        first, place = group_equal_rows(table, group.columns)
        effects = np.zeros((len(first), table.n_classes))
        for k, row in enumerate(first):
            alone = table.rows(row, row + 1)
            left = self.estimate(seen - self.observe(alone, group), group, table.schema, estimation)
            left.add_scores(alone, effects[k : k + 1])
        scores += effects[place]

    def add_fractional_leave_one_out_scores(
        self, seen: S, group: ColumnGroup, table: Table, estimation: Estimation, scores: np.ndarray
    ) -> None:
        """The same of rows that stand for several, or for part of one; where that saves deriving, but for rounding."""
        self.add_leave_one_out_scores(seen, group, table, estimation, scores)

    def row_update(self, seen: S, group: ColumnGroup, changes: Table, sign: int, estimation: Estimation) -> RowUpdate | None:
        """The likelihood after each row of a table was added (sign 1) or taken away (−1); None where it is derived anew."""
        return None

    def update_inputs(self, table: Table, group: ColumnGroup) -> Ready:
        """The columns of rows as what `altered` gives reads them."""
        return []

    def add_posterior(
        self, seen: S, group: ColumnGroup, table: Table, estimation: Estimation, mean: np.ndarray, variance: np.ndarray
    ) -> None:
        """Adds what is expected of each row's log-probability in each class, and its variance, given what was seen.

        What all classes have in common may be left out of the mean. Both are [n_rows, n_classes].
        """
        name = table.schema.columns[group.columns[0]].name
        raise no_interval(f"column {name!r}: what the event {self.name!r} has learnt has no posterior in closed form")

    def _kept(self, columns: list[Column]) -> tuple[type, ...]:
        return self.statistics


def group_equal_rows(table: Table, columns: tuple[int, ...] = ()) -> tuple[list[int], np.ndarray]:
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


class Likelihood(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The distribution of some columns in each class, a frozen record of arrays."""

    @property
    def columns(self) -> tuple[int, ...]:
        """Which columns of the schema it looks at."""
        raise NotImplementedError(f"{type(self).__name__} must say which columns it looks at")

    def check(self, schema: Schema) -> None:
        """Raises an error unless the likelihood fits the columns and the classes."""
        raise NotImplementedError(f"{type(self).__name__} must say what it fits")

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Adds each row's log-probability to its scores [n_rows, n_classes]; a missing value adds nothing."""
        raise NotImplementedError(f"{type(self).__name__} must say what it adds")

    def effects(self, table: Table) -> list[np.ndarray]:
        """For each column what it adds to the scores: [n_rows, n_classes] each."""
        scores = np.zeros((len(table), table.n_classes))
        self.add_scores(table, scores)
        return [scores]

    def evidence(self, table: Table) -> dict[int, list[tuple[Evidence, ...]]]:
        """For each column the lines of each row's ledger: one."""
        ledgers: dict[int, list[tuple[Evidence, ...]]] = {}
        for j, effect in zip(self.columns, self.effects(table), strict=True):
            column, values = table.schema.columns[j], table.values[j]
            ledgers[j] = [(Evidence(column.name, column.show(values[row]), effect[row]),) for row in range(len(table))]
        return ledgers

    def formula(self, steps: FormulaBuilder) -> Effects:
        """What each column adds to the scores, as expressions; a missing value adds nothing."""
        raise NotImplementedError(f"{type(self).__name__} must say what it adds as a formula")

    def summary(self, schema: Schema) -> Sequence[LikelihoodSummary]:
        """For each column a record of its distribution in each class."""
        raise NotImplementedError(f"{type(self).__name__} must sum itself up")

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Names of levels, bins, words or parameters, and what each has in each class: [n_names, n_classes]."""
        raise NotImplementedError(f"{type(self).__name__} must lay its distribution open")

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """For each column a value for each row of a class, as the user writes it."""
        raise NotImplementedError(f"{type(self).__name__} must say how rows are drawn")


class ColumnsLikelihood(Likelihood, frozen=True):
    """The distribution of several columns that were observed together."""

    columns: tuple[int, ...]


class ColumnLikelihood(Likelihood, frozen=True):
    """The distribution of one column."""

    column: int

    @property
    def columns(self) -> tuple[int, ...]:
        """The one column."""
        return (self.column,)


def check_numeric(columns: tuple[int, ...], n_classes: int, schema: Schema) -> None:
    """Raises an error unless the columns are numbers and the classes as many."""
    if n_classes != len(schema.classes):
        raise ValueError("a likelihood does not fit the classes")
    if any(schema.columns[j].kind is not Kind.NUMERIC for j in columns):
        raise ValueError("a likelihood of numbers looks at a column that is not numeric")


Ready = list[np.ndarray]  # the columns of rows, by rows, as an event reads them


class RowUpdate(Protocol):
    """The likelihood of one event after each of many changes."""

    @property
    def is_hard(self) -> np.ndarray:
        """bool [n_changes]: which of them need a statistic of their own."""
        ...

    def add_scores(self, change: int, rows: Ready, scores: np.ndarray) -> None:
        """Adds the log-probability of each row after a change to its scores."""
        ...
