"""What all likelihoods do: log p(values | class) of their columns, added to scores, and laid open."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from baytree.formula.steps import Effects, Steps
from baytree.model import Evidence
from baytree.summary.bayes import Likelihood as LikelihoodSummary
from baytree.table.schema import Kind, Schema
from baytree.table.table import Table


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

    def formula(self, steps: Steps) -> Effects:
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
