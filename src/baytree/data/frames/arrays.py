"""Adapter for NumPy: matrices, columns of any dtype, lists of rows, sparse matrices; columns named x0, x1, …."""

from __future__ import annotations

from functools import cache, lru_cache
from numbers import Real
from typing import Any

import numpy as np

from baytree._typing import FrameLike
from baytree.data.frames.numbers import (
    Codes,
    NumberedColumns,
    Numbers,
    booleans,
    factorise_fixed,
    position_names,
    whole_dates,
    whole_spans,
)
from baytree.data.frames.objects import object_column
from baytree.data.frames.raw import Raw, RawFrame, Strings, without_masked
from baytree.data.schema.column import Column, Kind


def from_array(frame: FrameLike) -> RawFrame:
    """Return the raw columns of an array or a list of rows; a numeric array stays one matrix."""
    if np.ma.isMaskedArray(frame):
        frame = without_masked(frame)
    array = as_two_dimensional(frame)
    if array.dtype.kind in "fiub" and array.dtype != bool and array.dtype.itemsize <= 8:
        return RawFrame(NumberedColumns(array), len(array), False, False, array)
    columns = {name: array_column(array[:, j], name) for j, name in enumerate(position_names(array.shape[1]))}
    return RawFrame(columns, len(array), False)


def as_two_dimensional(frame: FrameLike) -> np.ndarray:
    """Return an array or a list of rows as a 2-D array; raise a ValueError for another number of dimensions."""
    if isinstance(frame, np.ndarray):
        array = frame
    elif hasattr(frame, "__array__") or hasattr(frame, "__array_namespace__"):
        array = np.asarray(frame)
    else:
        array = _from_lists(frame)
    if array.ndim == 2:
        return array
    hint = (
        "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
        "or array.reshape(1, -1) if it contains a single sample."
    )
    raise ValueError(f"Expected 2D array, got {array.ndim}D array instead: a table has rows and columns. {hint}")


_RAGGED = "the rows differ in length; a table has the same columns in every row"


def _from_lists(rows: Any) -> np.ndarray:
    """Convert a list of rows to an array of objects or float64; numbers next to strings stay numbers, unlike in NumPy."""
    try:
        array = np.array(rows, dtype=object)
    except ValueError:
        raise ValueError(_RAGGED) from None
    if array.ndim == 1 and any(isinstance(row, (list, tuple)) for row in array):
        raise ValueError(_RAGGED)
    if array.ndim == 2 and array.size and all(isinstance(v, Real) and not isinstance(v, bool) for v in array.flat):
        return array.astype(np.float64)
    return array


def from_sparse(frame: FrameLike) -> RawFrame:
    """Return the raw frame of a sparse matrix as float64 CSR; raise a ValueError for complex or infinite entries."""
    if frame.dtype.kind == "c":
        raise ValueError("Complex data not supported: the sparse matrix holds complex numbers; give real ones")
    matrix = frame.tocsr().astype(np.float64, copy=False)
    if np.isinf(matrix.data).any():
        raise ValueError("the sparse matrix contains infinity; replace it by a number or by NaN (missing)")
    return RawFrame({}, matrix.shape[0], False, False, matrix)


def array_column(values: np.ndarray, name: str) -> Raw:
    """Return the raw column of a 1-D array."""
    if values.ndim != 1:
        raise ValueError(f"column {name!r} has {values.ndim} dimensions; a column is one value per row")
    if np.ma.isMaskedArray(values):
        return object_column(without_masked(values), name)
    kind = values.dtype.kind
    if kind == "b":
        return booleans(values.view(np.int8))
    if kind in "iuf":
        return Numbers.of(values, name)
    if kind in "mM":
        unit = np.datetime_data(values.dtype)[0]
        return (whole_spans if values.dtype.kind == "m" else whole_dates)(values.view(np.int64), np.isnat(values), unit)
    if kind == "c":
        raise ValueError(
            f"Complex data not supported: column {name!r} holds complex numbers; "
            "give real and imaginary parts as separate columns"
        )
    if kind in "US":
        return _fixed_strings(values)
    return object_column(values, name)


def _fixed_strings(values: np.ndarray) -> Strings:
    def factorise() -> Codes:
        if not values.dtype.itemsize:
            return Codes(np.zeros(len(values), np.int32), ("",) if len(values) else ())
        codes, levels = factorise_fixed(values)
        return Codes(codes, tuple(levels.tolist()))

    return Strings(len(values), cache(factorise), values.tolist)


@lru_cache(maxsize=8)
def number_columns(n_columns: int) -> tuple[Column, ...]:
    """Return the schema columns of an array of numbers, cached by width."""
    return tuple([Column(name, Kind.NUMERIC) for name in position_names(n_columns)])


def are_number_columns(columns: tuple[Column, ...]) -> bool:
    """Return whether these are the schema columns of an array of numbers."""
    return len(columns) > 0 and columns[0].name == "x0" and columns == number_columns(len(columns))
