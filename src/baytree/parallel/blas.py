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

_MAX_BLOCKING_ROWS = 300  # decompositions of larger matrices take long enough to delay Ctrl-C noticeably

MAX_CHUNKS = 8  # chunks of rows: enough for the cores of a laptop; more would add partial sums

MIN_ROWS_PER_CHUNK = 4096  # shorter chunks would spend their time on handing over work


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


def chunks(n_rows: int, max_chunks: int = MAX_CHUNKS, min_rows: int = MIN_ROWS_PER_CHUNK) -> list[slice]:
    """Split rows into at most `max_chunks` slices, none much shorter than `min_rows` (unless there are fewer rows).

    The slices depend only on the number of rows.
    """
    max_chunks = max(1, min(max_chunks, n_rows // min_rows))
    edge = [n_rows * i // max_chunks for i in range(max_chunks + 1)]
    return [slice(a, b) for a, b in pairwise(edge)]


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class RowChunks(msgspec.Struct, frozen=True):
    """Rows split into at most `max_chunks` chunks, none much shorter than `min_rows`; the chunks depend on nothing else."""

    n_rows: int
    max_chunks: int = MAX_CHUNKS
    min_rows: int = MIN_ROWS_PER_CHUNK

    def total(self, observe: Callable[[slice], S]) -> S:
        """Return the sum of `observe` over the chunks, computed on threads and added up in order."""
        return sum_in_order(in_order(observe, chunks(self.n_rows, self.max_chunks, self.min_rows)))
