"""Codes with levels: what categories, truth values and items of a fixed width become."""

from __future__ import annotations

import os
from typing import Any

import msgspec
import numpy as np

from baytree import _core
from baytree.engine.threads import MANY_ROWS, count

SECRET = int.from_bytes(os.urandom(8), "little"), int.from_bytes(os.urandom(8), "little")
"""Of this process: nobody can write strings that all collide where they are counted."""

_FEW_ROWS = 8192  # up to here numbers are hashed sooner than a table of all that could occur is cleared and read


class Codes(msgspec.Struct, frozen=True):
    """A raw column of categories: codes with −1 for missing, and the levels in code order."""

    codes: np.ndarray  # any integer type
    levels: tuple[Any, ...]
    is_ordered: bool = False
    is_declared: bool = False

    def __len__(self) -> int:
        return len(self.codes)


def booleans(codes: np.ndarray) -> Codes:
    """A column of truth values from codes 0 and 1, −1 for missing."""
    return Codes(codes, (False, True), False, True)


def factorise_fixed(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes and the distinct items, in some order that depends on the rows alone, of an array of fixed-width items."""
    if values.dtype.kind in "iu" and len(values) > _FEW_ROWS:
        (codes,), (levels,) = place(values[:, None])
        if len(levels):
            return codes, levels.astype(values.dtype)
    items = np.ascontiguousarray(values)
    raw = items.view(np.uint8).reshape(len(items), items.dtype.itemsize)
    codes, first = _core.factorise(raw, _threads(raw))
    return codes, items[first]


def place(numbers: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Codes [n_columns, n_rows] of each column's numbers, NaN −1, and its distinct numbers in ascending order.

    Only where they are whole and lie close together: the levels of any other column come out empty.
    """
    codes = np.empty(numbers.shape[::-1], np.int32)
    n_threads = _threads(numbers)
    if numbers.dtype == np.uint64:  # one that is beyond an int64 looks negative, and its column is left to others
        levels = _core.code_whole_numbers(numbers.view(np.int64), codes, n_threads)
        return codes, [found if found.min(initial=0) >= 0 else found[:0] for found in levels]
    if numbers.dtype.kind == "f":
        return codes, _core.code_whole_numbers(numbers.astype(np.float64, copy=False), codes, n_threads)
    return codes, _core.code_whole_numbers(numbers.astype(np.int64, copy=False), codes, n_threads)


def distinct_numbers(values: np.ndarray) -> Codes:
    """Codes of the distinct known numbers in ascending order; whole ones are integers, so that 98101.0 reads 98101."""
    known = values == values
    codes, distinct = factorise_fixed(values[known] + values.dtype.type(0))  # −0.0 is 0.0
    order = np.argsort(distinct, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    result = np.full(len(values), -1, np.int32)
    result[known] = rank[codes]
    return Codes(result, tuple(map(_as_written, distinct[order].tolist())))


def _as_written(number: Any) -> Any:
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _threads(items: np.ndarray) -> int:
    return count(None) if len(items) > MANY_ROWS else 1
