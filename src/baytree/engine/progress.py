"""Who watches rounds over rows that are elsewhere, to tell how far they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

Watch = Callable[[int, int, int | None], Any]  # of the round, the pieces that are done, and all pieces where that is known

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)

_round: ContextVar[list[int] | None] = ContextVar("round", default=None)


@contextmanager
def report_progress(watch: Watch) -> Iterator[None]:
    """While it lasts, `watch` is told of every piece of every round."""
    before, rounds = _watch.set(watch), _round.set([0])
    try:
        yield
    finally:
        _watch.reset(before)
        _round.reset(rounds)


def is_watched() -> bool:
    """Whether anyone watches."""
    return _watch.get() is not None


def track_blocks(pieces: Iterable[T], n_pieces: int | None = None) -> Iterator[T]:
    """The pieces of a round; whoever watches is told of its beginning, and of each piece when the next is asked for."""
    watch, rounds = _watch.get(), _round.get()
    if watch is None or rounds is None:
        yield from pieces
        return
    rounds[0] += 1
    now = rounds[0]
    watch(now, 0, n_pieces)
    for done, piece in enumerate(pieces, start=1):
        yield piece
        watch(now, done, n_pieces)


def track_pass(work: Callable[[], T]) -> T:
    """What a round gives whose pieces cannot be counted on their way."""
    (answer,) = track_blocks((make() for make in (work,)), 1)
    return answer
