"""Blocks of rows on threads: BLAS runs on one thread in each, and results come back in order.

So a sum over blocks has the same bits whatever the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

T = TypeVar("T")
A = TypeVar("A")
_MOST = 2  # products of blocks are bound by memory: more threads than this gain nothing


def one_blas_thread() -> AbstractContextManager:
    """While it lasts, BLAS runs on the thread that calls it: small products gain nothing from more, and may wait long."""
    return _blas().limit(limits=1, user_api="blas")


def in_order(function: Callable[[A], T], pieces: Iterable[A]) -> list[T]:
    """function of each piece, on threads, in the order of the pieces."""
    pieces = list(pieces)
    workers = min(_MOST, os.cpu_count() or 1, len(pieces))
    with one_blas_thread():
        if workers <= 1:
            return [function(piece) for piece in pieces]
        return list(_pool(os.getpid()).map(function, pieces))


def chunks(n_rows: int, count: int = 8, least: int = 4096) -> list[slice]:
    """At most `count` runs of rows, none much shorter than `least`; they depend on nothing but the number of rows."""
    count = max(1, min(count, n_rows // least))
    edge = [n_rows * i // count for i in range(count + 1)]
    return [slice(a, b) for a, b in pairwise(edge)]


@cache
def _pool(process: int) -> ThreadPoolExecutor:  # noqa: ARG001 a forked process needs threads of its own
    return ThreadPoolExecutor(_MOST)


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
