"""Base classes of event models and likelihoods.

An `EventModel` declares its name, the kinds of column it accepts and the classes of its statistics and likelihoods. It
computes a statistic from the rows and derives a `Likelihood`, which adds log p(values | class) of its columns to the scores
and can be explained, summarized, drawn from and converted to a formula.
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
from baytree.engine.aggregates import Detail
from baytree.formula.builder import Effects, FormulaBuilder
from baytree.naive_bayes.events.estimation import ColumnGroup, Estimation
from baytree.summary.naive_bayes import Likelihood as LikelihoodSummary
from baytree.uncertainty.intervals import no_interval


class EventStatistic(Protocol):
    """Additive statistic of an event."""

    def __add__(self, other: Self) -> Self: ...

    def __sub__(self, other: Self) -> Self: ...

    def recoded(self, levels: list[np.ndarray], classes: np.ndarray) -> Self:
        """Recoded statistic: entry k of a mapping is the old code of the new level (or class) k, −1 if it is new."""
        ...

    def level_weights(self) -> np.ndarray | None:
        """Weight of each level or word of a single column [n_levels]; None for numeric columns."""
        ...


S = TypeVar("S", bound=EventStatistic)


class EventModel(ABC, Generic[S]):
    """Event model: computes a statistic from rows and derives a likelihood from it."""

    name: ClassVar[str]
    kinds: ClassVar[tuple[Kind, ...]] = (Kind.NUMERIC,)  # of the columns that it accepts
    substitute_events: ClassVar[Mapping[Kind, str]] = {}  # events that replace it for columns of other kinds
    is_density: ClassVar[bool] = False  # whether it can be the default for numeric columns
    is_joint: ClassVar[bool] = False  # whether all its columns are observed together, in one pass
    can_subtract: ClassVar[bool] = True  # False if it needs all distinct values or words
    detail: ClassVar[Detail | None] = Detail.VALUES  # what it needs of a column; None if it needs whole rows
    statistics: ClassVar[tuple[type, ...]]  # classes of its statistics
    likelihoods: ClassVar[tuple[type[Likelihood], ...]]  # classes of its likelihoods

    @abstractmethod
    def observe(self, table: Table, group: ColumnGroup) -> S:
        """Statistic of the columns of a group."""

    @abstractmethod
    def estimate(self, statistic: S, group: ColumnGroup, schema: Schema, estimation: Estimation) -> Likelihood:
        """Likelihood derived from the statistic."""

    @abstractmethod
    def check_shape(self, statistic: S, group: ColumnGroup, schema: Schema) -> None:
        """Raise ValueError unless the statistic has a cell for everything in these columns."""

    def check(self, statistic: object, group: ColumnGroup, schema: Schema) -> None:
        """Raise ValueError unless the statistic belongs to this event and fits these columns."""
        columns = [schema.columns[j] for j in group.columns]
        if any(column.kind not in self.kinds for column in columns) or (len(columns) != 1 and not self.is_joint):
            raise ValueError(f"the event {self.name!r} does not accept these columns")
        if not isinstance(statistic, self._kept(columns)):
            raise ValueError(f"the event {self.name!r} has a statistic of another type")
        self.check_shape(statistic, group, schema)

    def check_column(self, column: Column) -> None:
        """Raise ValueError if a column of an accepted kind is still unsuitable for the event."""

    def read_prior(self, given: PriorsLike, column: Column) -> object:
        """Validate and parse the prior of a single column; returned unchanged if the event has none."""
        return given

    def prior_text(self, estimation: Estimation) -> str | None:
        """Description of the default prior, or None."""
        return None

    def spread(self, statistic: S) -> np.ndarray | None:
        """Standard deviation of each column, if the event standardises values; else None."""
        return None

    def add_leave_one_out_scores(
        self, statistic: S, group: ColumnGroup, table: Table, estimation: Estimation, scores: np.ndarray
    ) -> None:
        """Add each row's log-probability, by the statistic without that row, to its scores.

        Equal rows leave the same statistic, so a likelihood is derived for each distinct combination of the group's values,
        the label and the weight.
        """
        first, index = group_equal_rows(table, group.columns)
        effects = np.zeros((len(first), table.n_classes))
        for k, row in enumerate(first):
            single_row = table.rows(row, row + 1)
            likelihood = self.estimate(statistic - self.observe(single_row, group), group, table.schema, estimation)
            likelihood.add_scores(single_row, effects[k : k + 1])
        scores += effects[index]

    def add_fractional_leave_one_out_scores(
        self, statistic: S, group: ColumnGroup, table: Table, estimation: Estimation, scores: np.ndarray
    ) -> None:
        """As `add_leave_one_out_scores`, for rows of any weight; overridden by closed forms, equal up to rounding."""
        self.add_leave_one_out_scores(statistic, group, table, estimation, scores)

    def row_update(
        self, statistic: S, group: ColumnGroup, changes: Table, sign: int, estimation: Estimation
    ) -> RowUpdate | None:
        """Likelihoods after each row of `changes` is added (sign 1) or removed (−1); None if they must be derived anew."""
        return None

    def update_inputs(self, table: Table, group: ColumnGroup) -> Ready:
        """Columns of a table in the form that `row_update` results read."""
        return []

    def add_posterior(
        self, statistic: S, group: ColumnGroup, table: Table, estimation: Estimation, mean: np.ndarray, variance: np.ndarray
    ) -> None:
        """Add the posterior mean and variance of each row's log-probability in each class to `mean` and `variance`.

        Terms that are equal in all classes may be omitted from the mean. Both arrays are float64 [n_rows, n_classes].
        """
        name = table.schema.columns[group.columns[0]].name
        raise no_interval(f"column {name!r}: the event {self.name!r} has no posterior in closed form")

    def _kept(self, columns: list[Column]) -> tuple[type, ...]:
        return self.statistics


def group_equal_rows(table: Table, columns: tuple[int, ...] = ()) -> tuple[list[int], np.ndarray]:
    """Groups of rows that are equal in columns, label and weight: first row of each group, and the group of each row."""
    values = [table.values[j] for j in columns]
    if any(isinstance(column, Tokens) for column in values):
        return list(range(len(table))), np.arange(len(table))
    key = table.label.astype(np.int64)
    for column in values if table.is_unweighted else [table.weight, *values]:
        code, distinct = factorise_fixed(column)
        key = factorise_fixed(key * len(distinct) + code)[0].astype(np.int64)  # compact codes cannot overflow
    first = np.full(int(key.max()) + 1, -1)
    first[key[::-1]] = np.arange(len(key))[::-1]
    return first[first >= 0].tolist(), (np.cumsum(first >= 0) - 1)[key]


class Likelihood(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Distribution of some columns in each class: a frozen record of arrays."""

    @property
    def columns(self) -> tuple[int, ...]:
        """Indices of its columns in the schema."""
        raise NotImplementedError(f"{type(self).__name__} must define columns")

    def check(self, schema: Schema) -> None:
        """Raise ValueError unless the likelihood fits the columns and the classes."""
        raise NotImplementedError(f"{type(self).__name__} must define check")

    def add_scores(self, table: Table, scores: np.ndarray) -> None:
        """Add each row's log-probability to its scores [n_rows, n_classes]; missing values contribute nothing."""
        raise NotImplementedError(f"{type(self).__name__} must define add_scores")

    def effects(self, table: Table) -> list[np.ndarray]:
        """Contribution of each column to the scores: a list of float64 [n_rows, n_classes]."""
        scores = np.zeros((len(table), table.n_classes))
        self.add_scores(table, scores)
        return [scores]

    def evidence(self, table: Table) -> dict[int, list[tuple[Evidence, ...]]]:
        """Lines of each row's explanation, by column: one per column."""
        lines: dict[int, list[tuple[Evidence, ...]]] = {}
        for j, effect in zip(self.columns, self.effects(table), strict=True):
            column, values = table.schema.columns[j], table.values[j]
            lines[j] = [(Evidence(column.name, column.show(values[row]), effect[row]),) for row in range(len(table))]
        return lines

    def formula(self, steps: FormulaBuilder) -> Effects:
        """Contributions of each column to the scores as expressions; missing values contribute nothing."""
        raise NotImplementedError(f"{type(self).__name__} must define formula")

    def summary(self, schema: Schema) -> Sequence[LikelihoodSummary]:
        """One record per column with its distribution in each class."""
        raise NotImplementedError(f"{type(self).__name__} must define summary")

    def distribution(self, schema: Schema, column: int) -> tuple[list[str], np.ndarray]:
        """Names of levels, bins, words or parameters, and their values in each class [n_names, n_classes]."""
        raise NotImplementedError(f"{type(self).__name__} must define distribution")

    def draw(self, random: np.random.Generator, label: np.ndarray, schema: Schema) -> list[np.ndarray]:
        """Random values of each column, given the class code of each row, as a user would write them."""
        raise NotImplementedError(f"{type(self).__name__} must define draw")


class ColumnsLikelihood(Likelihood, frozen=True):
    """Distribution of several columns that are observed together."""

    columns: tuple[int, ...]


class ColumnLikelihood(Likelihood, frozen=True):
    """Distribution of one column."""

    column: int

    @property
    def columns(self) -> tuple[int, ...]:
        """The single column index."""
        return (self.column,)


def check_numeric(columns: tuple[int, ...], n_classes: int, schema: Schema) -> None:
    """Raise ValueError unless the columns are numeric and the number of classes matches."""
    if n_classes != len(schema.classes):
        raise ValueError("a likelihood does not fit the classes")
    if any(schema.columns[j].kind is not Kind.NUMERIC for j in columns):
        raise ValueError("a numeric likelihood refers to a column that is not numeric")


Ready = list[np.ndarray]  # columns of a table in the form that a row update reads


class RowUpdate(Protocol):
    """Likelihoods of one event after each of many changes."""

    @property
    def is_hard(self) -> np.ndarray:
        """Changes that need a statistic of their own: bool [n_changes]."""
        ...

    def add_scores(self, change: int, rows: Ready, scores: np.ndarray) -> None:
        """Add the log-probability of each row, after one change, to its scores."""
        ...
