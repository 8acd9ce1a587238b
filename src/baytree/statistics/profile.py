"""What a table looked like: the distribution of each column in each class, small, and additive like any statistic.

A model keeps the profile of the rows that it has learnt from. Questions in an interview, pages and drift read it; no answer
of the model does. Of a table above a million cells it is that of some rows, so that learning stays fast: of every 2^k rows
one, which stands for all of them. Where these lie follows from their number alone, so parts and engines give the same.

Numbers in few buckets: how often a column had which numbers in each class, in a form that adds up exactly.

A bucket is 2^e wide and begins at a multiple of its width. The exponent is the least one that leaves at most `MOST_BUCKETS`
buckets with a row in them, so a lone value far away costs one bucket and few distinct values stay as they are. Buckets of
one exponent lie within those of the next: so sketches of parts add up to that of the whole, in any order, bit for bit.
"""

from __future__ import annotations

from typing import Self, TypeVar

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import DenseColumns, Table, Tokens
from baytree.data.schema.column import Column, Kind, level_map
from baytree.data.schema.schema import Schema
from baytree.parallel.threads import free
from baytree.statistics.counts import Counts
from baytree.statistics.exact_sum import regrouped

MOST_BUCKETS = 256

_MANY = 1 << 15  # numbers that are worth a thread of their own

EXACT = -1075  # the exponent of buckets that hold one double each, as in src/core/numeric/histogram.hpp


class Histogram(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="sketch"):
    """The lower ends of the buckets that hold rows, ascending, and the weight of each in each class; missing ones apart."""

    exponent: np.ndarray  # int64 [1]
    edges: np.ndarray  # float64 [n_buckets]
    counts: Counts  # [n_buckets + 1, n_classes]

    @classmethod
    def of(cls, values: np.ndarray, label: np.ndarray, weight: np.ndarray | None, n_classes: int) -> Self:
        """The sketch of these numbers, NaN where they are missing; a weight of None is 1 for every row."""
        exponent, edges, code = _core.bucketed(values, MOST_BUCKETS)
        return cls(np.array([exponent]), edges, Counts.of(code, label, weight, len(edges), n_classes))

    @classmethod
    def of_columns(cls, values: np.ndarray, label: np.ndarray, n_classes: int, each: int = 1) -> tuple[Self, ...]:
        """The sketches of the columns of a matrix, whose rows all weigh the same whole number."""
        threads = free() if values.size >= _MANY else 1
        found = _core.bucket_columns(values, np.ascontiguousarray(label), n_classes, MOST_BUCKETS, threads)
        return tuple([cls(np.array([exponent]), edges, Counts.of_rows(n, each)) for exponent, edges, n in found])

    def __add__(self, other: Self) -> Self:
        exponent = max(int(self.exponent[0]), int(other.exponent[0]))
        exponent, edges, mine, theirs = _core.united_buckets(self.edges, other.edges, exponent, MOST_BUCKETS)
        parts = ((self.counts.cells, _rows(mine)), (other.counts.cells, _rows(theirs)))
        return type(self)(np.array([exponent]), edges, Counts(regrouped(parts, len(edges) + 1)))

    def __sub__(self, other: Self) -> Self:
        """Without these rows, which are among those that were seen; the width of the buckets stays."""
        exponent, edges, _, theirs = _core.united_buckets(self.edges, other.edges, int(self.exponent[0]), MOST_BUCKETS)
        if len(edges) > len(self.edges) or exponent > self.exponent[0]:
            raise ValueError("numbers that were never seen cannot be taken away")
        left = self.counts - Counts(regrouped([(other.counts.cells, _rows(theirs))], len(edges) + 1))
        kept = np.flatnonzero(left.known().any(axis=1))
        return type(self)(self.exponent, edges[kept], left.recoded([kept], np.arange(left.cells.shape[1])))

    def scale(self, factor: int) -> Self:
        """The same sketch with every row so many times."""
        return type(self)(self.exponent, self.edges, self.counts.scale(factor))

    def recoded(self, classes: np.ndarray) -> Self:
        """The same sketch under other class codes; −1 for a new class."""
        same = np.arange(len(self.edges))
        return type(self)(self.exponent, self.edges, self.counts.recoded([same], classes))

    def check(self, n_classes: int) -> None:
        """Raises an error unless the edges ascend and there is a cell for each bucket and class."""
        if self.exponent.shape != (1,) or not EXACT <= self.exponent[0] <= 1024:
            raise ValueError("the buckets of a sketch have no width")
        if self.edges.ndim != 1 or len(self.edges) > MOST_BUCKETS or not np.all(self.edges[:-1] < self.edges[1:]):
            raise ValueError("the buckets of a sketch do not ascend, or are too many")
        self.counts.check(len(self.edges), n_classes)

    def points(self) -> np.ndarray:
        """A number within each bucket, its middle unless it holds but one: [n_buckets]."""
        if self.exponent[0] == EXACT:
            return self.edges
        return self.edges + np.where(np.isfinite(self.edges), np.ldexp(0.5, self.exponent[0]), 0.0)


def _rows(place: np.ndarray) -> np.ndarray:
    """Where the cells of buckets go, those of missing numbers before them."""
    return np.concatenate([[0], place + 1])


S = TypeVar("S", bound=Histogram | Counts)

MOST_CELLS = 1 << 20  # rows times columns of a table that is looked at as a whole

SOME_CELLS = 1 << 16  # that are looked at of a larger one, at most

MOST_COLUMNS = 1 << 10  # of more, nothing is kept: the profile would be larger than most models


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="profile"):
    """How many rows there were, and for each column the weight of its levels or numbers in each class.

    Where the target is a number there is one class, and the numbers of the target have a sketch of their own. Of text only
    the weight of the rows that have one is kept.
    """

    rows: np.ndarray  # int64 [1]
    columns: tuple[Histogram | Counts, ...]
    target: Histogram | None = None
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
            columns = Histogram.of_columns(table.values.matrix, label, n_classes, each)
        else:
            pairs = zip(table.schema.columns, table.values, strict=True)
            columns = tuple(_times(observed(column, values, label, weight, n_classes), each) for column, values in pairs)
        target = _times(Histogram.of(table.label, label, weight, 1), each) if is_number else None
        return cls(np.array([len(table)]), columns, target)

    @classmethod
    def from_sample(cls, some: Table, distance: int, n_rows: int) -> Self:
        """The profile of so many rows by some of them, each of which stands for `sampling_step` rows."""
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
        counts = [column.counts if isinstance(column, Histogram) else column for column in self.columns]
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

    def to_schema(self, old: Schema, new: Schema) -> Self:
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


def sampling_step(schema: Schema, n_rows: int) -> int:
    """Of how many rows one is looked at: 1, or the least power of two that leaves few enough cells."""
    cells = n_rows * max(len(schema), 1)
    return 1 if cells <= MOST_CELLS else 1 << ((cells - 1) // SOME_CELLS).bit_length()


def sample_rows(distance: int, part: Table) -> Table:
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
) -> Histogram | Counts:
    """What a profile keeps of one column."""
    if isinstance(values, Tokens):
        return Counts.of(-values.missing.astype(np.int32), label, weight, 1, n_classes)
    if column.kind is Kind.NUMERIC:
        return Histogram.of(np.ascontiguousarray(values), label, weight, n_classes)
    return Counts.of(values, label, weight, len(column.levels), n_classes)


def _times(seen: S, each: int) -> S:
    return seen if each == 1 else seen.scale(each)  # type: ignore[return-value]


def _regrown(seen: Histogram | Counts, old: Column, new: Column, classes: np.ndarray) -> Histogram | Counts:
    if isinstance(seen, Histogram):
        return seen.recoded(classes)
    levels = np.zeros(1, np.int64) if old.kind is Kind.TEXT else level_map(old.levels, new.levels)
    return seen.recoded([levels], classes)


def _check(column: Column, seen: Histogram | Counts, n_classes: int) -> None:
    if isinstance(seen, Histogram) != (column.kind is Kind.NUMERIC):
        raise ValueError(f"the profile of column {column.name!r} is not of its kind")
    if isinstance(seen, Histogram):
        seen.check(n_classes)
    else:
        seen.check(1 if column.kind is Kind.TEXT else len(column.levels), n_classes)
