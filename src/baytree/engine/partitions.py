"""Pieces of rows, wherever they are, and one round over them: every part observed, and what was seen added up.

An engine is a class with `total`, `gather`, `cached`, `changed`, `made` and `kept`. `total` adds in the order of the parts,
and the parts depend on nothing but the rows, so neither threads nor machines change a bit of what it gives.

Weights that can be held against numbers of rows: a penalty, a prior, the smallest leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Generic, Protocol, Self, TypeVar

import msgspec
import numpy as np

from baytree.data.encoding.labels import times_power
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.partition_values import K
from baytree.parallel import threads
from baytree.parallel.threads import S

T = TypeVar("T")

U = TypeVar("U")

T_co = TypeVar("T_co", covariant=True)

ROWS_PER_PART = 1 << 17  # a part is small enough that Ctrl-C is answered between two of them

LEAST_ROWS = 1 << 14  # fewer are not worth a thread of their own


class PartitionValues(Protocol[T_co]):
    """What was made of each part, for solvers that ask the same rows again and again."""

    def map_reduce(self, observe: Callable[[T_co], S]) -> S:
        """One round: what `observe` sees in what was made of each part, added up in the order of the parts."""
        ...

    def apply(self, make: Callable[[T_co], U]) -> PartitionValues[U]:
        """What `make` makes of each of these."""
        ...

    def gather(self) -> list[T_co]:
        """All of them on this machine, in the order of the parts."""
        ...


class Partitions(Protocol):
    """The rows of a table on some engine."""

    schema: Schema
    n_rows: int
    n_jobs: int | None  # threads of this machine, for steps that run here
    is_unweighted: bool  # whether every row is known to weigh 1

    def map_reduce(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> S:
        """One round: what `observe` sees in each part, added up in the order of the parts.

        None takes parts as large as the engine has them, where `observe` shares its rows among threads itself. A part says
        how many rows come before its `first`.
        """
        ...

    def submit(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> Callable[[], S]:
        """What `total` gives, when it is called: asked for in time, it costs rows elsewhere no round of its own."""
        ...

    def gather(self, choose: Callable[[Table], Table] | None = None) -> Table:
        """The rows that a step on this machine needs: all, or those that `choose` takes of each part."""
        ...

    def persist(self) -> Self:
        """The same parts, kept where the next round finds them at once."""
        ...

    def map_partitions(self, change: Callable[[Table], Table]) -> Partitions:
        """The same rows, each part changed on its way: weights or labels in another unit."""
        ...

    def apply(self, make: Callable[[Table], T], rows_per_part: int | None = None) -> PartitionValues[T]:
        """What `make` makes of each part, kept with the part where there is room, else made anew in each round."""
        ...

    def apply_and_persist(self, make: Callable[[Table], K], kind: type[K]) -> PartitionValues[K]:
        """What `make` makes of each part, of this kind, kept where the next round finds it."""
        ...


class LocalPartitions:
    """Rows in this process, in parts that threads take; the kernels release the interpreter's lock."""

    def __init__(self, table: Table, n_jobs: int | None = None):
        self.table, self.n_jobs = table, n_jobs
        self.schema, self.n_rows, self.is_unweighted = table.schema, len(table), table.is_unweighted

    def map_reduce(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> S:
        """One round: what `observe` sees in each part, added up in the order of the parts."""
        with threads.limit_threads(self.n_jobs):  # also for the pieces that `observe` makes of a part
            return threads.sum_in_order(threads.map_ordered(observe, self._split(rows_per_part)))

    def submit(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> Callable[[], S]:
        """What `total` gives, when it is called."""
        return partial(self.map_reduce, observe, rows_per_part)

    def gather(self, choose: Callable[[Table], Table] | None = None) -> Table:
        """All rows, or those that `choose` takes."""
        return self.table if choose is None else choose(self.table)

    def persist(self) -> Self:
        """These parts: they are in memory already."""
        return self

    def map_partitions(self, change: Callable[[Table], Table]) -> LocalPartitions:
        """The same rows, changed."""
        return LocalPartitions(change(self.table), self.n_jobs)

    def apply(self, make: Callable[[Table], T], rows_per_part: int | None = None) -> LocalPartitionValues[T]:
        """What `make` makes of each part."""
        return LocalPartitionValues(self._split(rows_per_part), self.n_jobs).apply(make)

    def apply_and_persist(self, make: Callable[[Table], K], kind: type[K]) -> LocalPartitionValues[K]:
        """What `make` makes of each part."""
        return self.apply(make)

    def _split(self, rows_per_part: int | None) -> Sequence[Table]:
        """Parts of one size, which the number of rows alone decides."""
        n_parts = -(-self.n_rows // max(rows_per_part or self.n_rows, 1))
        if n_parts <= 1:
            return [self.table]
        ends = [self.n_rows * k // n_parts for k in range(n_parts + 1)]
        return [self.table.rows(first, last) for first, last in pairwise(ends)]


class LocalPartitionValues(Generic[T]):
    """What was made of each part, in this process."""

    def __init__(self, pieces: Sequence[T], n_jobs: int | None = None):
        self.pieces, self.n_jobs = pieces, n_jobs

    def map_reduce(self, observe: Callable[[T], S]) -> S:
        """One round: what `observe` sees in each piece, added up in their order."""
        with threads.limit_threads(self.n_jobs):
            return threads.sum_in_order(threads.map_ordered(observe, self.pieces))

    def apply(self, make: Callable[[T], U]) -> LocalPartitionValues[U]:
        """What `make` makes of each piece."""
        with threads.limit_threads(self.n_jobs):
            return LocalPartitionValues(threads.map_ordered(make, self.pieces), self.n_jobs)

    def gather(self) -> list[T]:
        """The pieces."""
        return list(self.pieces)


def by_rows(table: Table, work: Callable[[Table, int, int], Any], n_jobs: int | None = None) -> None:
    """Calls work(part, first, last) for parts of a table's rows; each call writes only what belongs to its rows."""
    if len(table) <= LEAST_ROWS:  # most tables are a row that somebody asks about
        work(table, 0, len(table))
        return
    step = min(ROWS_PER_PART, max(LEAST_ROWS, -(-len(table) // threads.count(n_jobs))))
    spans = [(start, min(start + step, len(table))) for start in range(0, max(len(table), 1), step)]
    threads.map_ordered(lambda span: work(table.rows(*span), *span), spans, n_jobs)


MIN_TOTAL_WEIGHT, MAX_TOTAL_WEIGHT = 2.0**-64, 2.0**64  # weights that add up to less, or to more, are no numbers of rows


class WeightRange(msgspec.Struct, frozen=True):
    """The weight of rows, and the largest of one of them."""

    total: float
    largest: float

    @classmethod
    def of(cls, table: Table) -> WeightRange:
        """The weight of these rows."""
        if table.is_unweighted:
            return cls(float(len(table)), 1.0)
        with np.errstate(over="ignore"):
            return cls(float(table.weight.sum()), float(table.weight.max(initial=0.0)))

    def __add__(self, other: WeightRange) -> WeightRange:
        return WeightRange(self.total + other.total, max(self.largest, other.largest))


def rescale_weights(rows: Partitions) -> Partitions:
    """The rows, weights in a unit in which the largest is 1 … 2 where they add up to no number of rows.

    Then only their proportions count. The unit is a power of two, so that no weight is rounded.
    """
    if rows.is_unweighted:
        return rows
    weight = rows.map_reduce(WeightRange.of, rows_per_part=None)
    if MIN_TOTAL_WEIGHT <= weight.total <= MAX_TOTAL_WEIGHT or not weight.largest:
        return rows
    return rows.map_partitions(partial(times_power, exponent=1 - int(np.frexp(weight.largest)[1])))
