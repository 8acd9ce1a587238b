"""BLAS and LAPACK on threads: BLAS itself runs single-threaded, and the thread pool takes chunks of rows.

The chunks depend only on the number of rows, so sums over them have the same bits for any number of threads.
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

_MAX_BLOCKING_ROWS = 300  # rows; decompositions of larger matrices may block Ctrl-C noticeably


@contextmanager
def at_most(n_jobs: int | None) -> Iterator[None]:
    """In the block, use the number of threads given by `n_jobs` and single-threaded BLAS."""
    with threads.limit_threads(n_jobs), one_blas_thread():
        yield


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """In the block, run BLAS on the calling thread: small products gain nothing from more threads and may wait for them."""
    if _is_single.get():  # setting the limit again would take longer than a small product
        yield
        return
    token = _is_single.set(True)
    try:
        with _blas().limit(limits=1, user_api="blas"):
            yield
    finally:
        _is_single.reset(token)


def in_order(function: Callable[[A], T], pieces: Iterable[A]) -> list[T]:
    """Return `function` of each piece, computed on threads with single-threaded BLAS, in the order of the pieces."""
    with one_blas_thread():
        return threads.map_ordered(function, pieces)


def run_lapack(decompose: Callable[..., T], matrix: np.ndarray, *more: Any) -> T:
    """Return `decompose(matrix, …)`; large matrices run on another thread so that Ctrl-C is handled."""
    if len(matrix) <= _MAX_BLOCKING_ROWS:
        return decompose(matrix, *more)
    return threads.interruptible(decompose, matrix, *more)


def chunks(n_rows: int, count: int = 8, least: int = 4096) -> list[slice]:
    """Split rows into at most `count` slices, none much shorter than `least` (unless there are fewer rows).

    The slices depend only on the number of rows.
    """
    count = max(1, min(count, n_rows // least))
    edge = [n_rows * i // count for i in range(count + 1)]
    return [slice(a, b) for a, b in pairwise(edge)]


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class RowChunks(msgspec.Struct, frozen=True):
    """Rows split into at most `count` chunks, none much shorter than `least`; the chunks depend on nothing else."""

    n_rows: int
    count: int = 8
    least: int = 4096

    def total(self, observe: Callable[[slice], S]) -> S:
        """Return the sum of `observe` over the chunks, computed on threads and added up in order."""
        return sum_in_order(in_order(observe, chunks(self.n_rows, self.count, self.least)))
