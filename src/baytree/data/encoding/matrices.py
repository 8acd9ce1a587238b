"""Matrix views of adjacent numeric columns of a table, without copying where memory layout allows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from baytree.data.encoding.table import DenseColumns, SparseColumns, Table

_MAX_COPIED_ROWS = 8  # up to this, copying columns is faster than inspecting their memory layout


def matrices(table: Table, columns: Sequence[int]) -> Iterator[np.ndarray]:
    """Yield numeric columns as matrices [n_rows, k], in order and together all columns.

    Columns of one array, or of one block of a frame, are returned as a view; scattered columns are stacked, eight at a time.
    """
    if isinstance(table.values, SparseColumns):
        for k in range(0, len(columns), 64):
            yield table.values.matrix[:, columns[k : k + 64]].toarray()
        return
    if isinstance(table.values, DenseColumns) and _are_all(table.values.matrix, columns):
        yield table.values.matrix[:]
        return
    arrays = [table.values[j] for j in columns]
    if len(table) > _MAX_COPIED_ROWS:
        yield from _runs(arrays)
        return
    for k in range(0, len(arrays), 8):  # copying a few rows is faster than inspecting their memory layout
        yield np.stack(arrays[k : k + 8]).T


def lying_apart(table: Table, columns: Sequence[int]) -> list[np.ndarray] | None:
    """Return numeric columns as separate arrays if none of them share a matrix in memory; else None."""
    if isinstance(table.values, (SparseColumns, DenseColumns)) or len(table) <= _MAX_COPIED_ROWS:
        return None
    arrays: list[Any] = [table.values[j] for j in columns]
    if not all(array.flags.c_contiguous for array in arrays):
        return None
    layouts = [_MemoryLayout.of(array) for array in arrays]
    return None if any(_end_of_run(layouts, k) - k > 1 for k in range(len(layouts))) else arrays


def _are_all(matrix: np.ndarray, columns: Sequence[int]) -> bool:
    """Whether `columns` are all columns in order, in a matrix with strides that are multiples of 8 bytes."""
    return list(columns) == list(range(matrix.shape[1])) and not any(step % 8 for step in matrix.strides)


def _runs(arrays: Sequence[Any]) -> Iterator[np.ndarray]:
    layouts = [_MemoryLayout.of(array) for array in arrays]
    first = 0
    while first < len(arrays):
        last = _end_of_run(layouts, first)
        if last - first > 1:
            step = layouts[first + 1].address - layouts[first].address
            shape = (len(arrays[first]), last - first)
            yield np.lib.stride_tricks.as_strided(arrays[first], shape, (arrays[first].strides[0], step), writeable=False)
        else:
            last = next(
                (k for k in range(first + 1, min(first + 8, len(arrays))) if _end_of_run(layouts, k) - k > 1),
                min(first + 8, len(arrays)),
            )
            yield np.stack(arrays[first:last]).T
        first = last


class _MemoryLayout(msgspec.Struct, frozen=True):
    """Address, strides and owner of a column in memory."""

    address: int
    strides: tuple[int, ...]
    owner: int | None  # id of the base array: a view may only span memory of one base array

    @classmethod
    def of(cls, array: np.ndarray) -> _MemoryLayout:
        """Return the memory layout of this column."""
        owner: Any = array
        while getattr(owner, "base", None) is not None:
            owner = owner.base
        return cls(array.__array_interface__["data"][0], array.strides, None if owner is array else id(owner))


def _end_of_run(lying: Sequence[_MemoryLayout], first: int) -> int:
    """Return the index after the last column, from `first` on, that lies at a constant distance from its predecessor."""
    head = lying[first]
    if first + 1 == len(lying) or head.owner is None:
        return first + 1
    step = lying[first + 1].address - head.address
    last = first + 1
    while last < len(lying) and not step % 8:
        layout = lying[last]
        if (
            layout.strides != head.strides
            or layout.owner != head.owner
            or layout.address != head.address + step * (last - first)
        ):
            break
        last += 1
    return last
