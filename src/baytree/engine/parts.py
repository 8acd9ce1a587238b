"""Pieces of rows, wherever they are, and one round over them: every part observed, and what was seen added up.

An engine is a class with `total`, `gather`, `cached`, `changed`, `made` and `kept`. `total` adds in the order of the parts,
and the parts depend on nothing but the rows, so neither threads nor machines change a bit of what it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Generic, Protocol, Self, TypeVar

from baytree.engine import threads
from baytree.engine.keeping.array_bytes import K
from baytree.engine.threads import S
from baytree.table.schema import Schema
from baytree.table.table import Table

T = TypeVar("T")
U = TypeVar("U")
T_co = TypeVar("T_co", covariant=True)

ROWS_PER_PART = 1 << 17  # a part is small enough that Ctrl-C is answered between two of them
LEAST_ROWS = 1 << 14  # fewer are not worth a thread of their own


class Made(Protocol[T_co]):
    """What was made of each part, for solvers that ask the same rows again and again."""

    def total(self, observe: Callable[[T_co], S]) -> S:
        """One round: what `observe` sees in what was made of each part, added up in the order of the parts."""
        ...

    def made(self, make: Callable[[T_co], U]) -> Made[U]:
        """What `make` makes of each of these."""
        ...

    def gather(self) -> list[T_co]:
        """All of them on this machine, in the order of the parts."""
        ...


class Parts(Protocol):
    """The rows of a table on some engine."""

    schema: Schema
    n_rows: int
    n_jobs: int | None  # threads of this machine, for steps that run here
    is_unweighted: bool  # whether every row is known to weigh 1

    def total(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> S:
        """One round: what `observe` sees in each part, added up in the order of the parts.

        None takes parts as large as the engine has them, where `observe` shares its rows among threads itself. A part says
        how many rows come before its `first`.
        """
        ...

    def later(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> Callable[[], S]:
        """What `total` gives, when it is called: asked for in time, it costs rows elsewhere no round of its own."""
        ...

    def gather(self, choose: Callable[[Table], Table] | None = None) -> Table:
        """The rows that a step on this machine needs: all, or those that `choose` takes of each part."""
        ...

    def cached(self) -> Self:
        """The same parts, kept where the next round finds them at once."""
        ...

    def changed(self, change: Callable[[Table], Table]) -> Parts:
        """The same rows, each part changed on its way: weights or labels in another unit."""
        ...

    def made(self, make: Callable[[Table], T], rows_per_part: int | None = None) -> Made[T]:
        """What `make` makes of each part, kept with the part where there is room, else made anew in each round."""
        ...

    def kept(self, make: Callable[[Table], K], kind: type[K]) -> Made[K]:
        """What `make` makes of each part, of this kind, kept where the next round finds it."""
        ...


class InMemory:
    """Rows in this process, in parts that threads take; the kernels release the interpreter's lock."""

    def __init__(self, table: Table, n_jobs: int | None = None):
        self.table, self.n_jobs = table, n_jobs
        self.schema, self.n_rows, self.is_unweighted = table.schema, len(table), table.is_unweighted

    def total(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> S:
        """One round: what `observe` sees in each part, added up in the order of the parts."""
        with threads.at_most(self.n_jobs):  # also for the pieces that `observe` makes of a part
            return threads.added(threads.in_order(observe, self._split(rows_per_part)))

    def later(self, observe: Callable[[Table], S], rows_per_part: int | None = ROWS_PER_PART) -> Callable[[], S]:
        """What `total` gives, when it is called."""
        return partial(self.total, observe, rows_per_part)

    def gather(self, choose: Callable[[Table], Table] | None = None) -> Table:
        """All rows, or those that `choose` takes."""
        return self.table if choose is None else choose(self.table)

    def cached(self) -> Self:
        """These parts: they are in memory already."""
        return self

    def changed(self, change: Callable[[Table], Table]) -> InMemory:
        """The same rows, changed."""
        return InMemory(change(self.table), self.n_jobs)

    def made(self, make: Callable[[Table], T], rows_per_part: int | None = None) -> Kept[T]:
        """What `make` makes of each part."""
        return Kept(self._split(rows_per_part), self.n_jobs).made(make)

    def kept(self, make: Callable[[Table], K], kind: type[K]) -> Kept[K]:
        """What `make` makes of each part."""
        return self.made(make)

    def _split(self, rows_per_part: int | None) -> Sequence[Table]:
        """Parts of one size, which the number of rows alone decides."""
        n_parts = -(-self.n_rows // max(rows_per_part or self.n_rows, 1))
        if n_parts <= 1:
            return [self.table]
        ends = [self.n_rows * k // n_parts for k in range(n_parts + 1)]
        return [self.table.rows(first, last) for first, last in pairwise(ends)]


class Kept(Generic[T]):
    """What was made of each part, in this process."""

    def __init__(self, pieces: Sequence[T], n_jobs: int | None = None):
        self.pieces, self.n_jobs = pieces, n_jobs

    def total(self, observe: Callable[[T], S]) -> S:
        """One round: what `observe` sees in each piece, added up in their order."""
        with threads.at_most(self.n_jobs):
            return threads.added(threads.in_order(observe, self.pieces))

    def made(self, make: Callable[[T], U]) -> Kept[U]:
        """What `make` makes of each piece."""
        with threads.at_most(self.n_jobs):
            return Kept(threads.in_order(make, self.pieces), self.n_jobs)

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
    threads.in_order(lambda span: work(table.rows(*span), *span), spans, n_jobs)
