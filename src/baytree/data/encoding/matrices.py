"""Columns of a table that lie side by side in memory, as matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from baytree.data.encoding.table import DenseColumns, SparseColumns, Table

_FEW_ROWS = 8


def matrices(table: Table, columns: Sequence[int]) -> Iterator[np.ndarray]:
    """Numeric columns as matrices [n_rows, k], in order and together all columns, without copying what lies together.

    Columns of one array, or of one block of a frame, are a view of it; columns that lie apart are stacked in eights.
    """
    if isinstance(table.values, SparseColumns):
        for k in range(0, len(columns), 64):
            yield table.values.matrix[:, columns[k : k + 64]].toarray()
        return
    if isinstance(table.values, DenseColumns) and _are_all(table.values.matrix, columns):
        yield table.values.matrix[:]
        return
    arrays = [table.values[j] for j in columns]
    if len(table) > _FEW_ROWS:
        yield from _runs(arrays)
        return
    for k in range(0, len(arrays), 8):  # copying a few rows takes less time than finding out where they lie
        yield np.stack(arrays[k : k + 8]).T


def lying_apart(table: Table, columns: Sequence[int]) -> list[np.ndarray] | None:
    """Numeric columns as arrays, where they lie in memory apart from each other; None where some are parts of a matrix."""
    if isinstance(table.values, (SparseColumns, DenseColumns)) or len(table) <= _FEW_ROWS:
        return None
    arrays: list[Any] = [table.values[j] for j in columns]
    if not all(array.flags.c_contiguous for array in arrays):
        return None
    lying = [_Lying.of(array) for array in arrays]
    return None if any(_end_of_run(lying, k) - k > 1 for k in range(len(lying))) else arrays


def _are_all(matrix: np.ndarray, columns: Sequence[int]) -> bool:
    """Whether these are all columns in order, of numbers that lie whole numbers apart."""
    return list(columns) == list(range(matrix.shape[1])) and not any(step % 8 for step in matrix.strides)


def _runs(arrays: Sequence[Any]) -> Iterator[np.ndarray]:
    lying = [_Lying.of(array) for array in arrays]
    first = 0
    while first < len(arrays):
        last = _end_of_run(lying, first)
        if last - first > 1:
            step = lying[first + 1].address - lying[first].address
            shape = (len(arrays[first]), last - first)
            yield np.lib.stride_tricks.as_strided(arrays[first], shape, (arrays[first].strides[0], step), writeable=False)
        else:
            last = next(
                (k for k in range(first + 1, min(first + 8, len(arrays))) if _end_of_run(lying, k) - k > 1),
                min(first + 8, len(arrays)),
            )
            yield np.stack(arrays[first:last]).T
        first = last


class _Lying(msgspec.Struct, frozen=True):
    """Where a column lies in memory."""

    address: int
    strides: tuple[int, ...]
    owner: int | None  # of the array that it is a part of: only within one may the memory between columns be spanned

    @classmethod
    def of(cls, array: np.ndarray) -> _Lying:
        """The place of this column."""
        owner: Any = array
        while getattr(owner, "base", None) is not None:
            owner = owner.base
        return cls(array.__array_interface__["data"][0], array.strides, None if owner is array else id(owner))


def _end_of_run(lying: Sequence[_Lying], first: int) -> int:
    """Where the columns from `first` on stop lying at one and the same distance."""
    head = lying[first]
    if first + 1 == len(lying) or head.owner is None:
        return first + 1
    step = lying[first + 1].address - head.address
    last = first + 1
    while last < len(lying) and not step % 8:
        here = lying[last]
        if here.strides != head.strides or here.owner != head.owner or here.address != head.address + step * (last - first):
            break
        last += 1
    return last
