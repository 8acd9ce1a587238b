"""Progress of passes over remote rows, reported to a watcher such as a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

Watch = Callable[[int, int, int | None], Any]  # pass number, blocks done, number of blocks or None if unknown

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)

_pass: ContextVar[list[int] | None] = ContextVar("round", default=None)


@contextmanager
def report_progress(watch: Watch) -> Iterator[None]:
    """Call `watch` for every block of every pass inside this context."""
    outer_watch, passes = _watch.set(watch), _pass.set([0])
    try:
        yield
    finally:
        _watch.reset(outer_watch)
        _pass.reset(passes)


def is_watched() -> bool:
    """Whether a watcher is installed."""
    return _watch.get() is not None


def track_blocks(blocks: Iterable[T], n_blocks: int | None = None) -> Iterator[T]:
    """Yield the blocks of a pass and report its start and every block, once the next one is requested."""
    watch, passes = _watch.get(), _pass.get()
    if watch is None or passes is None:
        yield from blocks
        return
    passes[0] += 1
    number = passes[0]
    watch(number, 0, n_blocks)
    for done, block in enumerate(blocks, start=1):
        yield block
        watch(number, done, n_blocks)


def track_pass(work: Callable[[], T]) -> T:
    """Result of a pass whose blocks cannot be tracked; reported as one block."""
    (result,) = track_blocks((make() for make in (work,)), 1)
    return result
