"""Thread pool: ordered parallel map, number of threads, prompt Ctrl-C.

Pieces do not depend on the number of threads, so a sum over pieces in order has the same bits for any number. Work that
already runs on a pool thread processes its own pieces sequentially, so threads never wait for each other.
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
    """Statistic that supports `+`: the sum of two parts is the statistic of both together."""

    def __add__(self, other: Any, /) -> Any: ...


S = TypeVar("S", bound=Addable)

_MAX_THREADS = 1024  # a larger `n_jobs` is reduced to this, below what systems allow a process

MIN_PARALLEL_ROWS = 1 << 17  # below, the work on a column takes little longer than handing it to a thread

_n_jobs: ContextVar[int | None] = ContextVar("n_jobs", default=None)

_is_working: ContextVar[bool] = ContextVar("is_working", default=False)

_stop_event: ContextVar[Event | None] = ContextVar("given_up", default=None)

_STOP_ATTRIBUTE = "nobody_waits"  # attribute of a future: event that tells its work to stop

_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}  # by process id (a fork needs its own threads) and size


def count(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`: None and −1 mean all cores, −2 all but one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return cores
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r}: give a whole number of threads, or None for all cores")
    return min(n_jobs, _MAX_THREADS) if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def free() -> int:
    """Return the number of threads that a kernel may use here: one on a pool thread."""
    return 1 if _is_working.get() else count(_n_jobs.get())


@contextmanager
def limit_threads(n_jobs: int | None) -> Iterator[None]:
    """In the block, use the number of threads given by `n_jobs` where none is given; None changes nothing."""
    count(n_jobs)  # validates n_jobs
    token = _n_jobs.set(_n_jobs.get() if n_jobs is None else n_jobs)
    try:
        yield
    finally:
        _n_jobs.reset(token)


def map_ordered(function: Callable[[A], T], pieces: Iterable[A], n_jobs: int | None = None) -> list[T]:
    """Return `function` of each piece, computed on threads, in order; exceptions and warnings reach the caller."""
    pieces = list(pieces)
    if len(pieces) <= 1:
        return [function(piece) for piece in pieces]
    workers = 1 if _is_working.get() else min(count(_n_jobs.get() if n_jobs is None else n_jobs), len(pieces))
    if workers <= 1:
        return [function(piece) for piece in pieces]
    return [_emit_warnings(outcome) for outcome in _results([submit(function, piece, workers) for piece in pieces], workers)]


def map_streamed(function: Callable[[A], T], pieces: Iterable[A], n_jobs: int | None = None) -> Iterator[T]:
    """Yield `function` of each piece in order, with only a few pieces in progress at a time."""
    workers = free() if n_jobs is None or _is_working.get() else count(n_jobs)
    if workers <= 1:
        yield from map(function, pieces)
        return
    pending: deque[Future] = deque()
    try:
        for piece in pieces:
            pending.append(submit(function, piece, workers))
            if len(pending) > workers:
                yield _emit_warnings(_results([pending.popleft()], workers)[0])
        while pending:
            yield _emit_warnings(_results([pending.popleft()], workers)[0])
    finally:
        for future in pending:
            future.cancel()


def sum_in_order(parts: Sequence[S]) -> S:
    """Return the sum of the parts, added from first to last."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def submit(function: Callable[[A], T], piece: A, workers: int) -> Future:
    """Run `function(piece)` on a pool of `workers` threads; the future holds (result, captured warnings)."""
    stop_event = Event()
    future = _pool(workers).submit(copy_context().run, _run_captured, stop_event, function, piece)
    setattr(future, _STOP_ATTRIBUTE, stop_event)
    return future


def cancel(futures: Iterable[Future], workers: int) -> None:
    """Cancel pending futures and abandon running ones; the next call gets a new pool."""
    for future in futures:
        future.cancel()
        getattr(future, _STOP_ATTRIBUTE).set()
    _pools.pop((os.getpid(), workers), None)


def is_cancelled() -> bool:
    """Return whether the result of the current work is no longer needed; long-running work should check this."""
    stop_event = _stop_event.get()
    return stop_event is not None and stop_event.is_set()


def interruptible(function: Callable[..., T], *arguments: Any) -> T:
    """Return `function(…)`, computed on a thread while this one handles Ctrl-C."""
    if _is_working.get():
        return function(*arguments)
    return _emit_warnings(_results([submit(lambda given: function(*given), arguments, 1)], 1)[0])


def map_columns(columns: Sequence[A], n_rows: int, work: Callable[[A], T]) -> tuple[T, ...]:
    """Return `work(column)` of each column, in order; columns of a large table are distributed over threads."""
    n_threads = min(count(None), len(columns)) if n_rows >= MIN_PARALLEL_ROWS else 1
    if n_threads < 2:
        return tuple([work(column) for column in columns])
    # each thread takes every n-th column: submitting many cheap columns one by one would cost more
    column_groups = [range(k, len(columns), n_threads) for k in range(n_threads)]
    results = map_ordered(lambda indices: [(j, work(columns[j])) for j in indices], column_groups, n_threads)
    return tuple(value for _, value in sorted((pair for group in results for pair in group), key=lambda pair: pair[0]))


def _run_captured(end: Event, function: Callable[[A], T], piece: A) -> tuple[T, list]:
    _is_working.set(True)
    _stop_event.set(end)
    with _warnings.capture() as captured:
        return function(piece), captured


def _emit_warnings(outcome: tuple[T, list]) -> T:
    result, captured = outcome
    _warnings.emit(captured)
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
                future.result()  # raises the exception of the piece
        return [future.result() for future in futures]
    except BaseException:
        cancel(futures, workers)
        raise
