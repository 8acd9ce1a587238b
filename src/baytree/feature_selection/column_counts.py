"""Counts of the values of columns by class: the additive statistic of filter measures, and binning of numeric columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, Self

import msgspec
import numpy as np

from baytree.data.encoding.table import Table, Tokens
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema, Target
from baytree.engine.aggregates import Detail, Marginals, as_query
from baytree.statistics import binning
from baytree.statistics.value_counts import MAX_DISTINCT_VALUES


class ValuesByClass(msgspec.Struct, frozen=True):
    """Distinct values of a column, ascending (np.unique order, NaN last), and the number of rows of each in each class."""

    value: np.ndarray  # float64 [n_values]
    rows: np.ndarray  # int64 [n_values, n_classes]
    is_complete: bool = True

    @classmethod
    def of(cls, values: np.ndarray, label: np.ndarray, n_classes: int) -> Self:
        """Counts of these rows; empty and not complete if there are more than `MAX_DISTINCT_VALUES` values."""
        distinct, index = np.unique(values + 0.0, return_inverse=True)
        if len(distinct) > MAX_DISTINCT_VALUES:
            return cls(np.zeros(0), np.zeros((0, n_classes), np.int64), False)
        cell = index.astype(np.int64) * n_classes + label
        return cls(distinct, np.bincount(cell, minlength=len(distinct) * n_classes).reshape(-1, n_classes))

    def __add__(self, other: Self) -> Self:
        if not (self.is_complete and other.is_complete):
            return self if not self.is_complete else other
        distinct, index = np.unique(np.concatenate([self.value, other.value]), return_inverse=True)
        if len(distinct) > MAX_DISTINCT_VALUES:
            return type(self)(self.value[:0], self.rows[:0], False)
        rows = np.zeros((len(distinct), self.rows.shape[1]), np.int64)
        np.add.at(rows, index, np.concatenate([self.rows, other.rows]))
        return type(self)(distinct, rows)

    def stand_ins(self, column: Column, target: Target) -> Table:
        """Table of this column alone, with one weighted row per value and class."""
        index, label = np.nonzero(self.rows)
        value = self.value[index]
        if column.kind is not Kind.NUMERIC:
            value = np.where(np.isnan(value), -1, value).astype(np.int32)
        schema = Schema((column,), target, (column.name,))
        return Table(schema, (value,), self.rows[index, label].astype(float), label.astype(np.int32))


class WordsByClass(msgspec.Struct, frozen=True):
    """Documents of a text column in each class: those that contain each word, and all that are not missing."""

    having: np.ndarray  # int64 [n_words, n_classes]
    known: np.ndarray  # int64 [n_classes]
    n_rows: int

    @classmethod
    def of(cls, tokens: Tokens, label: np.ndarray, n_words: int, n_classes: int) -> Self:
        """Counts of these documents."""
        label_of_token = np.repeat(label, np.diff(tokens.start)).astype(np.int64)
        cells = np.bincount(tokens.code * n_classes + label_of_token, minlength=n_words * n_classes)
        known = np.bincount(label[~tokens.missing], minlength=n_classes)
        return cls(cells.reshape(n_words, n_classes), known, len(label))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.having + other.having, self.known + other.known, self.n_rows + other.n_rows)

    @property
    def share_known(self) -> float:
        """Proportion of documents that are not missing."""
        return float(self.known.sum() / self.n_rows)

    @property
    def counts(self) -> np.ndarray:
        """Documents with and without each word in each class: float64 [n_words, 2, n_classes]."""
        return np.stack([self.having, self.known - self.having], axis=1).astype(np.float64)


class ColumnCounts(msgspec.Struct, frozen=True):
    """Counts of several columns."""

    columns: tuple[ValuesByClass | WordsByClass, ...]

    @classmethod
    @as_query(lambda positions: Marginals(_details(positions), observe=partial(ColumnCounts.of_weights, positions)))
    def of(cls, positions: Sequence[int], table: Table) -> Self:
        """Counts of these columns of a partition."""
        return cls(tuple(_count_column(table, j) for j in positions))

    @classmethod
    def of_weights(cls, positions: Sequence[int], table: Table) -> Self:
        """The same for rows that each stand for as many rows as their weight."""
        return cls(tuple(_count_weights(table, j) for j in positions))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(_add_counts(mine, theirs) for mine, theirs in zip(self.columns, other.columns, strict=True)))


def _details(positions: Sequence[int]) -> tuple[Detail, ...]:
    return tuple(Detail.VALUES if j in positions else Detail.NOTHING for j in range(max(positions, default=-1) + 1))


def _count_weights(table: Table, j: int) -> ValuesByClass:
    column, values = table.schema.columns[j], table.values[j]
    numbers = values if column.kind is Kind.NUMERIC else np.where(values < 0, np.nan, values.astype(np.float64))
    distinct, index = np.unique(numbers + 0.0, return_inverse=True)
    rows = np.zeros((len(distinct), table.n_classes), np.int64)
    np.add.at(rows, (index, table.label), table.weight.astype(np.int64))
    return ValuesByClass(distinct, rows)


def _add_counts(mine: ValuesByClass | WordsByClass, theirs: ValuesByClass | WordsByClass) -> ValuesByClass | WordsByClass:
    if isinstance(mine, WordsByClass):
        assert isinstance(theirs, WordsByClass)
        return mine + theirs
    assert isinstance(theirs, ValuesByClass)
    return mine + theirs


def only(j: int, table: Table) -> Table:
    """Table with a single column."""
    schema = msgspec.structs.replace(table.schema, columns=(table.schema.columns[j],))
    return msgspec.structs.replace(table, schema=schema, values=(table.values[j],))


def _count_column(table: Table, j: int) -> ValuesByClass | WordsByClass:
    column, values = table.schema.columns[j], table.values[j]
    if isinstance(values, Tokens):
        return WordsByClass.of(values, table.label, len(column.levels), table.n_classes)
    numbers = values if column.kind is Kind.NUMERIC else np.where(values < 0, np.nan, values.astype(np.float64))
    return ValuesByClass.of(numbers, table.label, table.n_classes)


CUTS: dict[
    str, Callable[..., np.ndarray]
] = {  # arguments: values, labels, number of classes, and the multiplicity of each row
    "best": binning.best_cut,
    "mdl": binning.mdl_cuts,
    "quantiles": lambda values, _label, _n, times: binning.quantile_cuts(
        values, np.ones(len(values)) if times is None else times
    ),
}


class BinnedColumn(NamedTuple):
    """Column as codes, −1 for missing, and a description of the binning."""

    codes: np.ndarray  # int32 [n_rows]
    n_levels: int
    how: str


def cut_up(column: Column, numbers: np.ndarray, table: Table, cut: str) -> BinnedColumn:
    """Numeric column in bins; a single bin if no cut point helps."""
    cut_points = CUTS[cut](numbers, table.label, table.n_classes, None if table.is_unweighted else table.weight)
    codes = (
        binning.bin_codes(numbers, cut_points) if len(cut_points) else np.where(np.isnan(numbers), -1, 0).astype(np.int32)
    )
    return BinnedColumn(codes, len(cut_points) + 1, cut_in_words(column, cut_points))


def numbers_of(column: Column, values: np.ndarray) -> np.ndarray:
    """Values as numbers with NaN; codes are used as numbers."""
    if column.kind is Kind.NUMERIC:
        return np.ascontiguousarray(values)
    return np.where(values < 0, np.nan, values.astype(np.float64))


def cut_in_words(column: Column, points: np.ndarray) -> str:
    """Description of the cut points."""
    if not len(points):
        return "no cut helps"
    if len(points) > 1:
        return f"{len(points) + 1} bins"
    if column.kind is Kind.ORDINAL:
        return f"≤ {column.show(int(np.floor(points[0])))}"
    return f"≤ {column.show(float(points[0]))}"
