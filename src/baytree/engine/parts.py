"""Pieces of rows, wherever they are: map a function over them and add up what it gives.

An engine is three verbs. `map` is lazy, `cache` keeps what was computed, `sum` adds in the order of the parts, so the
number of threads never matters. A function that raises in a thread raises in the caller.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any, Protocol, Self

from baytree.table.table import Table

ROWS_PER_PART = 1 << 17  # a part is small enough that Ctrl-C is answered between two of them
LEAST_ROWS = 1 << 14  # fewer are not worth a thread of their own


class Parts(Protocol):
    """Pieces of rows on some engine."""

    def map(self, function: Callable[[Any], Any]) -> Self:
        """What the function gives for each part, computed when asked for."""
        ...

    def cache(self) -> Self:
        """The same parts, computed now and kept."""
        ...

    def sum(self) -> Any:
        """All parts added up, in their order."""
        ...


class LocalParts:
    """Parts in this process, worked on by threads; the kernels release the interpreter's lock."""

    def __init__(self, items: Sequence[Any], n_jobs: int | None = None, steps: tuple[Callable[[Any], Any], ...] = ()):
        self._items, self._n_jobs, self._steps = items, n_jobs, steps

    def map(self, function: Callable[[Any], Any]) -> LocalParts:
        """What the function gives for each part, computed when asked for."""
        return LocalParts(self._items, self._n_jobs, (*self._steps, function))

    def cache(self) -> LocalParts:
        """The same parts, computed now and kept."""
        return LocalParts(self._computed(), self._n_jobs)

    def sum(self) -> Any:
        """All parts added up, in their order."""
        return reduce(add, self._computed())

    def _apply(self, item: Any) -> Any:
        return reduce(lambda value, step: step(value), self._steps, item)

    def _computed(self) -> list[Any]:
        n_threads = min(threads(self._n_jobs), len(self._items))
        if n_threads <= 1:
            return [self._apply(item) for item in self._items]
        pool = ThreadPoolExecutor(n_threads)
        try:
            return _results([pool.submit(self._apply, item) for item in self._items])
        finally:  # an interrupted caller does not wait for the parts that are still under way
            pool.shutdown(wait=False, cancel_futures=True)


def of(table: Table, n_jobs: int | None = None) -> Parts:
    """The rows of a table in parts of one size, which the number of rows alone decides, for local threads."""
    n_parts = -(-len(table) // ROWS_PER_PART)
    if n_parts <= 1:
        return LocalParts([table], n_jobs)
    ends = [len(table) * k // n_parts for k in range(n_parts + 1)]
    return LocalParts([table.rows(first, last) for first, last in pairwise(ends)], n_jobs)


def by_rows(table: Table, work: Callable[[Table, int, int], Any], n_jobs: int | None = None) -> None:
    """Calls work(part, first, last) for parts of a table's rows; each call writes only what belongs to its rows."""
    step = min(ROWS_PER_PART, max(LEAST_ROWS, -(-len(table) // threads(n_jobs))))
    spans = [(start, min(start + step, len(table))) for start in range(0, max(len(table), 1), step)]
    LocalParts(spans, n_jobs).map(lambda span: work(table.rows(*span), *span)).cache()


def by_columns(columns: Sequence[Any], n_rows: int, work: Callable[[Any], Any]) -> tuple:
    """What the work gives for each column, in order; the columns of a large table are shared among threads."""
    n_threads = min(threads(None), len(columns))
    if n_rows < ROWS_PER_PART or n_threads < 2:
        return tuple(work(column) for column in columns)
    # a thread takes every n-th column: to hand out each of many columns that cost nothing would cost more
    shares = [range(k, len(columns), n_threads) for k in range(n_threads)]
    done = LocalParts(shares).map(lambda own: [(j, work(columns[j])) for j in own]).sum()
    return tuple(value for _, value in sorted(done, key=lambda pair: pair[0]))


def threads(n_jobs: int | None) -> int:
    """How many threads `n_jobs` means: None is all cores, −1 too, −2 all but one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r}: give a whole number of threads, or None for all cores")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def _results(futures: list[Future]) -> list[Any]:
    wait(futures, return_when=FIRST_EXCEPTION)
    for future in futures:
        if future.done():
            future.result()  # raises what the part raised
    return [future.result() for future in futures]
