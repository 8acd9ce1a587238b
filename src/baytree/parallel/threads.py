"""Threads: one pool, results in the order of the pieces, Ctrl-C answered at once.

A sum over pieces has the same bits whatever the number of threads, because pieces do not depend on it. Work that already
runs on a thread of the pool does its own pieces one after another: threads never wait for each other.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from baytree import _warnings

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

T = TypeVar("T")

A = TypeVar("A")


class Addable(Protocol):
    """What two parts give adds up to what both together give."""

    def __add__(self, other: Any, /) -> Any: ...


S = TypeVar("S", bound=Addable)

_MOST = 1024  # threads: more are surely no number of cores

MANY_ROWS = 1 << 17  # fewer are not worth a thread per column

_wanted: ContextVar[int | None] = ContextVar("n_jobs", default=None)

_is_working: ContextVar[bool] = ContextVar("is_working", default=False)

_given_up: ContextVar[Event | None] = ContextVar("given_up", default=None)

_END = "nobody_waits"  # of a future: the event that its work may ask

_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}  # by process (a fork needs its own threads) and size


def count(n_jobs: int | None) -> int:
    """How many threads `n_jobs` means: None is all cores, −1 too, −2 all but one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r}: give a whole number of threads, or None for all cores")
    return min(n_jobs, _MOST) if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def free() -> int:
    """How many threads a kernel that starts here may take: one where it runs on a thread of the pool already."""
    return 1 if _is_working.get() else count(_wanted.get())


@contextmanager
def limit_threads(n_jobs: int | None) -> Iterator[None]:
    """While it lasts, work that names no number of threads is shared among those that `n_jobs` means; None lets it be."""
    count(n_jobs)  # refuses what means nothing
    before = _wanted.set(_wanted.get() if n_jobs is None else n_jobs)
    try:
        yield
    finally:
        _wanted.reset(before)


def map_ordered(function: Callable[[A], T], pieces: Iterable[A], n_jobs: int | None = None) -> list[T]:
    """function of each piece, on threads, in the order of the pieces; what a piece raises, the caller raises."""
    pieces = list(pieces)
    if len(pieces) <= 1:
        return [function(piece) for piece in pieces]
    workers = 1 if _is_working.get() else min(count(_wanted.get() if n_jobs is None else n_jobs), len(pieces))
    if workers <= 1:
        return [function(piece) for piece in pieces]
    return [_with_notices(answer) for answer in _results([submit(function, piece, workers) for piece in pieces], workers)]


def map_streamed(function: Callable[[A], T], pieces: Iterable[A], n_jobs: int | None = None) -> Iterator[T]:
    """function of each piece, in the order of the pieces, while only a few of them are under way at a time."""
    workers = free() if n_jobs is None or _is_working.get() else count(n_jobs)
    if workers <= 1:
        yield from map(function, pieces)
        return
    under_way: deque[Future] = deque()
    try:
        for piece in pieces:
            under_way.append(submit(function, piece, workers))
            if len(under_way) > workers:
                yield _with_notices(_results([under_way.popleft()], workers)[0])
        while under_way:
            yield _with_notices(_results([under_way.popleft()], workers)[0])
    finally:
        for future in under_way:
            future.cancel()


def sum_in_order(seen: Sequence[S]) -> S:
    """The sum of what parts gave, from the first to the last."""
    total = seen[0]
    for part in seen[1:]:
        total = total + part
    return total


def submit(function: Callable[[A], T], piece: A, workers: int) -> Future:
    """function(piece) on a thread of the pool of this size, as (result, what it warned of)."""
    end = Event()
    future = _pool(workers).submit(copy_context().run, _at_work, end, function, piece)
    setattr(future, _END, end)
    return future


def cancel(futures: Iterable[Future], workers: int) -> None:
    """Gives up what has not begun; nobody waits for what is still under way: the next call gets threads of its own."""
    for future in futures:
        future.cancel()
        getattr(future, _END).set()
    _pools.pop((os.getpid(), workers), None)


def is_cancelled() -> bool:
    """Whether nobody waits for the result of this work any more: what could go on without end asks now and then."""
    end = _given_up.get()
    return end is not None and end.is_set()


def interruptible(function: Callable[..., T], *arguments: Any) -> T:
    """function(…) on a thread, while Ctrl-C is answered here."""
    if _is_working.get():
        return function(*arguments)
    return _with_notices(_results([submit(lambda given: function(*given), arguments, 1)], 1)[0])


def map_columns(columns: Sequence[A], n_rows: int, work: Callable[[A], T]) -> tuple[T, ...]:
    """What the work gives for each column, in order; the columns of a large table are shared among threads."""
    n_threads = min(count(None), len(columns)) if n_rows >= MANY_ROWS else 1
    if n_threads < 2:
        return tuple([work(column) for column in columns])
    # a thread takes every n-th column: to hand out each of many columns that cost nothing would cost more
    shares = [range(k, len(columns), n_threads) for k in range(n_threads)]
    done = map_ordered(lambda own: [(j, work(columns[j])) for j in own], shares, n_threads)
    return tuple(value for _, value in sorted((pair for share in done for pair in share), key=lambda pair: pair[0]))


def _at_work(end: Event, function: Callable[[A], T], piece: A) -> tuple[T, list]:
    _is_working.set(True)
    _given_up.set(end)
    with _warnings.capture() as kept:
        return function(piece), kept


def _with_notices(answer: tuple[T, list]) -> T:
    result, kept = answer
    _warnings.emit(kept)
    return result


def _pool(workers: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    key = os.getpid(), workers
    if key not in _pools:
        _pools[key] = ThreadPoolExecutor(workers)
    return _pools[key]


def _results(futures: list[Future], workers: int) -> list[Any]:
    from concurrent.futures import FIRST_EXCEPTION, wait

    try:
        wait(futures, return_when=FIRST_EXCEPTION)
        for future in futures:
            if future.done():
                future.result()  # raises what the piece raised
        return [future.result() for future in futures]
    except BaseException:
        cancel(futures, workers)
        raise
