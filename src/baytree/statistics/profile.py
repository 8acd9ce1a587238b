"""What a table looked like: the distribution of each column in each class, small, and additive like any statistic.

A model keeps the profile of the rows that it has learnt from. Questions in an interview, pages and drift read it; no answer
of the model does. Of a table above a million cells it is that of some rows, so that learning stays fast: of every 2^k rows
one, which stands for all of them. Where these lie follows from their number alone, so parts and engines give the same.
"""

from __future__ import annotations

from typing import Self, TypeVar

import msgspec
import numpy as np

from baytree.statistics.counts import Counts
from baytree.statistics.sketch import Sketch
from baytree.table.schema import Column, Kind, Schema, level_map
from baytree.table.table import DenseColumns, Table, Tokens

S = TypeVar("S", bound=Sketch | Counts)

MOST_CELLS = 1 << 20  # rows times columns of a table that is looked at as a whole
SOME_CELLS = 1 << 16  # that are looked at of a larger one, at most
MOST_COLUMNS = 1 << 10  # of more, nothing is kept: the profile would be larger than most models


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="profile"):
    """How many rows there were, and for each column the weight of its levels or numbers in each class.

    Where the target is a number there is one class, and the numbers of the target have a sketch of their own. Of text only
    the weight of the rows that have one is kept.
    """

    rows: np.ndarray  # int64 [1]
    columns: tuple[Sketch | Counts, ...]
    target: Sketch | None = None
    looked_at: np.ndarray | None = None  # int64 [1], how many of the rows; None where all of them

    @classmethod
    def of(cls, table: Table) -> Self:
        """The profile of these rows, whose labels are known."""
        return cls._of(table, 1)

    @classmethod
    def _of(cls, table: Table, each: int) -> Self:
        """The profile of rows each of which counts so often."""
        is_number = table.schema.target.classes is None
        label = np.zeros(len(table), np.int32) if is_number else table.label
        weight, n_classes = None if table.is_unweighted else table.weight, max(table.n_classes, 1)
        if isinstance(table.values, DenseColumns) and weight is None:
            columns = Sketch.of_columns(table.values.matrix, label, n_classes, each)
        else:
            pairs = zip(table.schema.columns, table.values, strict=True)
            columns = tuple(_times(observed(column, values, label, weight, n_classes), each) for column, values in pairs)
        target = _times(Sketch.of(table.label, label, weight, 1), each) if is_number else None
        return cls(np.array([len(table)]), columns, target)

    @classmethod
    def of_some(cls, some: Table, distance: int, n_rows: int) -> Self:
        """The profile of so many rows by some of them, each of which stands for `distance` rows."""
        seen = cls._of(some, distance)
        return cls(np.array([n_rows]), seen.columns, seen.target, seen.rows)

    @property
    def is_of_all(self) -> bool:
        """Whether every row was looked at."""
        return self.looked_at is None

    @property
    def n_looked_at(self) -> int:
        """The number of rows behind these shares: what a test that compares them with others has to go by."""
        return int((self.rows if self.looked_at is None else self.looked_at)[0])

    def n_varying(self) -> int:
        """The number of columns that hold more than one value, a missing one among them."""
        counts = [column.counts if isinstance(column, Sketch) else column for column in self.columns]
        return sum(int(np.count_nonzero(each.cells.rounded().any(axis=1)) > 1) for each in counts)

    def __add__(self, other: Self) -> Self:
        columns = tuple(mine + theirs for mine, theirs in zip(self.columns, other.columns, strict=True))  # type: ignore
        target = None if self.target is None or other.target is None else self.target + other.target
        is_of_all = self.is_of_all and other.is_of_all
        looked_at = None if is_of_all else np.array([self.n_looked_at + other.n_looked_at])
        return type(self)(self.rows + other.rows, columns, target, looked_at)

    def __sub__(self, other: Self) -> Self:
        """Without these rows; both profiles are of all their rows."""
        columns = tuple(mine - theirs for mine, theirs in zip(self.columns, other.columns, strict=True))  # type: ignore
        target = None if self.target is None or other.target is None else self.target - other.target
        return type(self)(self.rows - other.rows, columns, target)

    def grown(self, old: Schema, new: Schema) -> Self:
        """The same profile under a schema with other levels or classes."""
        if old == new:
            return self
        classes = np.zeros(1, np.int64) if new.target.classes is None else level_map(old.classes, new.classes)
        pairs = zip(self.columns, old.columns, strict=True)
        columns = tuple(_regrown(seen, column, new[column.name], classes) for seen, column in pairs)
        return msgspec.structs.replace(self, columns=columns)

    def check(self, schema: Schema) -> None:
        """Raises an error where the profile, read from a file, does not fit the schema."""
        n_classes = max(len(schema.classes), 1)
        if self.rows.shape != (1,) or self.rows.dtype != np.int64 or len(self.columns) != len(schema):
            raise ValueError("the profile does not fit the columns")
        if self.looked_at is not None and (self.looked_at.shape != (1,) or not 0 <= self.looked_at[0] <= self.rows[0]):
            raise ValueError("the profile has looked at more rows than there were")
        for column, seen in zip(schema.columns, self.columns, strict=True):
            _check(column, seen, n_classes)
        if (self.target is None) is (schema.target.classes is None):
            raise ValueError("the profile does not fit the target")
        if self.target is not None:
            self.target.check(1)


def distance(schema: Schema, n_rows: int) -> int:
    """Of how many rows one is looked at: 1, or the least power of two that leaves few enough cells."""
    cells = n_rows * max(len(schema), 1)
    return 1 if cells <= MOST_CELLS else 1 << ((cells - 1) // SOME_CELLS).bit_length()


def some_rows(distance: int, part: Table) -> Table:
    """One row of each run of so many of the whole table, as if drawn, so that no rhythm of the table can hide in it."""
    return part.take(_places(distance, part.first, len(part)))


def _places(distance: int, first: int, n_rows: int) -> np.ndarray:
    run = np.arange(first // distance, -(-(first + n_rows) // distance), dtype=np.uint64)
    mixed = (run + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    place = (run * np.uint64(distance) + (mixed >> np.uint64(32)) % np.uint64(distance)).astype(np.int64) - first
    return place[(place >= 0) & (place < n_rows)]


def observed(
    column: Column, values: np.ndarray | Tokens, label: np.ndarray, weight: np.ndarray | None, n_classes: int
) -> Sketch | Counts:
    """What a profile keeps of one column."""
    if isinstance(values, Tokens):
        return Counts.of(-values.missing.astype(np.int32), label, weight, 1, n_classes)
    if column.kind is Kind.NUMERIC:
        return Sketch.of(np.ascontiguousarray(values), label, weight, n_classes)
    return Counts.of(values, label, weight, len(column.levels), n_classes)


def _times(seen: S, each: int) -> S:
    return seen if each == 1 else seen.times(each)  # type: ignore[return-value]


def _regrown(seen: Sketch | Counts, old: Column, new: Column, classes: np.ndarray) -> Sketch | Counts:
    if isinstance(seen, Sketch):
        return seen.recoded(classes)
    levels = np.zeros(1, np.int64) if old.kind is Kind.TEXT else level_map(old.levels, new.levels)
    return seen.recoded([levels], classes)


def _check(column: Column, seen: Sketch | Counts, n_classes: int) -> None:
    if isinstance(seen, Sketch) != (column.kind is Kind.NUMERIC):
        raise ValueError(f"the profile of column {column.name!r} is not of its kind")
    if isinstance(seen, Sketch):
        seen.check(n_classes)
    else:
        seen.check(1 if column.kind is Kind.TEXT else len(column.levels), n_classes)
