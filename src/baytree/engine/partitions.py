"""Map-reduce over the rows of a table, in memory or remote: a statistic per partition, added up in order.

`Partitions` is the protocol of all engines, `LocalPartitions` its implementation for rows in memory (for the others see
`engine.remote`), `PartitionValues` the protocol of values computed once per partition. Partitions are split by the number
of rows alone and added up in order, so neither threads nor machines change a bit of the result.

`rescale_weights` handles sample weights whose sum cannot be compared with numbers of rows (penalties, priors, minimum leaf
sizes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Generic, Protocol, Self, TypeVar

import msgspec
import numpy as np

from baytree.data.encoding.labels import times_power
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.aggregates import Marginals, as_query
from baytree.engine.partition_values import K
from baytree.parallel import threads
from baytree.parallel.threads import S

T = TypeVar("T")

U = TypeVar("U")

T_co = TypeVar("T_co", covariant=True)

ROWS_PER_PART = (
    1 << 17
)  # rows of a part of a local table: a fraction of a second of work, so that Ctrl-C is handled between two parts

MIN_ROWS_PER_THREAD = 1 << 14  # rows; fewer are not worth the start of another thread


class PartitionValues(Protocol[T_co]):
    """Values computed once per partition, for solvers that read the same rows again and again."""

    def map_reduce(self, observe: Callable[[T_co], S]) -> S:
        """Apply `observe` to every value and return the sum of the results, in the order of the partitions (one pass)."""
        ...

    def apply(self, make: Callable[[T_co], U]) -> PartitionValues[U]:
        """Values `make(value)` for each of these."""
        ...

    def gather(self) -> list[T_co]:
        """All values in this process, in the order of the partitions."""
        ...


class Partitions(Protocol):
    """Rows of a table on some engine."""

    schema: Schema
    n_rows: int
    n_jobs: int | None  # threads of this machine, for steps that run locally
    is_unweighted: bool  # whether every row is known to have weight 1

    def map_reduce(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> S:
        """Apply `observe` to every part and return the sum of the results, in the order of the parts (one pass).

        With `rows_per_part=None` the parts are the partitions of the engine, for functions that use threads themselves.
        `table.first` is the number of rows before the part.
        """
        ...

    def submit(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> Callable[[], S]:
        """Request `map_reduce(observe)`; the returned function gives its result.

        On remote engines the request is answered by the next pass, so that it needs no pass of its own.
        """
        ...

    def gather(self, select: Callable[[Table], Table] | None = None) -> Table:
        """Rows that a local step needs, as one table: all, or those that `select` selects from each part."""
        ...

    def stream(self) -> Iterator[Table]:
        """All rows in their order, as tables of which only a few are in memory at a time."""
        ...

    def persist(self) -> Self:
        """Same partitions, stored where the next pass reads them quickly."""
        ...

    def map_partitions(self, transform: Callable[[Table], Table]) -> Partitions:
        """Same rows with `transform` applied to each part on the fly: weights or labels in another unit."""
        ...

    def apply(self, make: Callable[[Table], T], rows_per_part: int | None = None) -> PartitionValues[T]:
        """Values `make(part)`, cached with the part where that is possible, else recomputed in every pass."""
        ...

    def apply_and_persist(self, make: Callable[[Table], K], kind: type[K]) -> PartitionValues[K]:
        """Values `make(part)` of class `kind`, stored with the part for further passes."""
        ...


class LocalPartitions:
    """Rows in this process. Parts are processed by threads: the C++ kernels release the GIL."""

    def __init__(self, table: Table, n_jobs: int | None = None):
        self.table, self.n_jobs = table, n_jobs
        self.schema, self.n_rows, self.is_unweighted = table.schema, len(table), table.is_unweighted

    def map_reduce(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> S:
        """Apply `observe` to every part and return the sum of the results, in the order of the parts (one pass)."""
        with threads.limit_threads(self.n_jobs):  # also for nested use of threads inside `observe`
            return threads.sum_in_order(threads.map_ordered(observe, self._split(rows_per_part)))

    def submit(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> Callable[[], S]:
        """Function that runs `map_reduce(observe)` when called."""
        return partial(self.map_reduce, observe, rows_per_part)

    def gather(self, select: Callable[[Table], Table] | None = None) -> Table:
        """All rows, or those that `select` selects."""
        return self.table if select is None else select(self.table)

    def stream(self) -> Iterator[Table]:
        """The rows as a single table: they are in memory already."""
        yield self.table

    def persist(self) -> Self:
        """Return self: the rows are in memory already."""
        return self

    def map_partitions(self, transform: Callable[[Table], Table]) -> LocalPartitions:
        """Same rows with `transform` applied."""
        return LocalPartitions(transform(self.table), self.n_jobs)

    def apply(self, make: Callable[[Table], T], rows_per_part: int | None = None) -> LocalPartitionValues[T]:
        """Values `make(part)`, in memory."""
        return LocalPartitionValues(self._split(rows_per_part), self.n_jobs).apply(make)

    def apply_and_persist(self, make: Callable[[Table], K], kind: type[K]) -> LocalPartitionValues[K]:
        """Values `make(part)`, in memory."""
        return self.apply(make)

    def _split(self, rows_per_part: int | None) -> Sequence[Table]:
        """Parts of equal size; the split depends on the number of rows only."""
        n_parts = -(-self.n_rows // max(rows_per_part or self.n_rows, 1))
        if n_parts <= 1:
            return [self.table]
        ends = [self.n_rows * k // n_parts for k in range(n_parts + 1)]
        return [self.table.rows(first, last) for first, last in pairwise(ends)]


class LocalPartitionValues(Generic[T]):
    """Values computed once per part, in this process."""

    def __init__(self, values: Sequence[T], n_jobs: int | None = None):
        self.values, self.n_jobs = values, n_jobs

    def map_reduce(self, observe: Callable[[T], S]) -> S:
        """Apply `observe` to every value and return the sum of the results, in order."""
        with threads.limit_threads(self.n_jobs):
            return threads.sum_in_order(threads.map_ordered(observe, self.values))

    def apply(self, make: Callable[[T], U]) -> LocalPartitionValues[U]:
        """Values `make(value)`, computed by threads."""
        with threads.limit_threads(self.n_jobs):
            return LocalPartitionValues(threads.map_ordered(make, self.values), self.n_jobs)

    def gather(self) -> list[T]:
        """Values as a list."""
        return list(self.values)


def by_rows(table: Table, work: Callable[[Table, int, int], Any], n_jobs: int | None = None) -> None:
    """Call work(part, first, last) for parts of the rows, on threads; each call may write only to its own rows."""
    if len(table) <= MIN_ROWS_PER_THREAD:  # the usual request is to predict one row
        work(table, 0, len(table))
        return
    step = min(ROWS_PER_PART, max(MIN_ROWS_PER_THREAD, -(-len(table) // threads.count(n_jobs))))
    spans = [(start, min(start + step, len(table))) for start in range(0, max(len(table), 1), step)]
    threads.map_ordered(lambda span: work(table.rows(*span), *span), spans, n_jobs)


MIN_TOTAL_WEIGHT, MAX_TOTAL_WEIGHT = 2.0**-64, 2.0**64  # sums of weights outside this range cannot be numbers of rows


class WeightRange(msgspec.Struct, frozen=True):
    """Total weight of rows and the largest single weight."""

    total: float
    largest: float

    @classmethod
    @as_query(lambda: Marginals(()))
    def of(cls, table: Table) -> WeightRange:
        """Total and largest weight of these rows."""
        if table.is_unweighted:
            return cls(float(len(table)), 1.0)
        with np.errstate(over="ignore"):
            return cls(float(table.weight.sum()), float(table.weight.max(initial=0.0)))

    def __add__(self, other: WeightRange) -> WeightRange:
        return WeightRange(self.total + other.total, max(self.largest, other.largest))


def rescale_weights(rows: Partitions) -> Partitions:
    """Rows with weights rescaled so that the largest is in [1, 2), if their sum cannot be a number of rows.

    In that case only the proportions of the weights matter. The factor is a power of two, so no weight is rounded.
    """
    if rows.is_unweighted:
        return rows
    weight = rows.map_reduce(WeightRange.of, rows_per_part=None)
    if MIN_TOTAL_WEIGHT <= weight.total <= MAX_TOTAL_WEIGHT or not weight.largest:
        return rows
    return rows.map_partitions(partial(times_power, exponent=1 - int(np.frexp(weight.largest)[1])))
