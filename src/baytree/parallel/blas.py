"""Products and decompositions of matrices: BLAS runs on the thread that calls it, and threads take blocks of rows.

Runs of rows that lie in memory, for solvers that read the same rows again and again: the verb of `Parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import msgspec
import numpy as np

from baytree.parallel import threads
from baytree.parallel.threads import S, sum_in_order

T = TypeVar("T")

A = TypeVar("A")

_is_single: ContextVar[bool] = ContextVar("is_single", default=False)

_LONG = 300  # rows of a matrix; a decomposition of a larger one may take longer than a user waits for Ctrl-C


@contextmanager
def at_most(n_jobs: int | None) -> Iterator[None]:
    """While it lasts, work is shared among the threads that `n_jobs` means, and BLAS runs on the one that calls it."""
    with threads.limit_threads(n_jobs), one_blas_thread():
        yield


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """While it lasts, BLAS runs on the thread that calls it: small products gain nothing from more, and may wait long."""
    if _is_single.get():  # to say it again to the library takes longer than a small product
        yield
        return
    before = _is_single.set(True)
    try:
        with _blas().limit(limits=1, user_api="blas"):
            yield
    finally:
        _is_single.reset(before)


def in_order(function: Callable[[A], T], pieces: Iterable[A]) -> list[T]:
    """function of each piece, on threads, in the order of the pieces."""
    with one_blas_thread():
        return threads.map_ordered(function, pieces)


def run_lapack(decompose: Callable[..., T], matrix: np.ndarray, *more: Any) -> T:
    """decompose(matrix, …), while Ctrl-C is answered: LAPACK on another thread where it may take long."""
    if len(matrix) <= _LONG:
        return decompose(matrix, *more)
    return threads.interruptible(decompose, matrix, *more)


def chunks(n_rows: int, count: int = 8, least: int = 4096) -> list[slice]:
    """At most `count` runs of rows, none much shorter than `least`; they depend on nothing but the number of rows."""
    count = max(1, min(count, n_rows // least))
    edge = [n_rows * i // count for i in range(count + 1)]
    return [slice(a, b) for a, b in pairwise(edge)]


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class RowChunks(msgspec.Struct, frozen=True):
    """So many rows in at most `count` runs, none much shorter than `least`; nothing else decides where they end."""

    n_rows: int
    count: int = 8
    least: int = 4096

    def total(self, observe: Callable[[slice], S]) -> S:
        """One round: what `observe` sees in each run, on threads, added up in the order of the runs."""
        return sum_in_order(in_order(observe, chunks(self.n_rows, self.count, self.least)))
