"""Arrays of numpy: matrices, columns of every dtype, lists of rows, sparse matrices."""

from __future__ import annotations

from functools import cache
from numbers import Real
from typing import Any

import numpy as np

from .. import _core
from .numbers import as_doubles, refuse_inexact, whole_dates
from .objects import object_column
from .raw import Codes, Numbers, Raw, RawFrame, Strings, booleans, without_masked


def from_array(frame: Any) -> RawFrame:
    if np.ma.isMaskedArray(frame):
        frame = without_masked(frame)
    array = _as_two_dimensional(frame)
    if array.dtype.kind in "fiub" and array.dtype != bool and array.dtype.itemsize <= 8:
        matrix = as_doubles(array)
        if array.dtype.kind in "iu":
            _refuse_inexact_matrix(array, matrix)
        columns: dict[str, Raw] = {
            f"x{j}": Numbers(matrix[:, j], is_whole=array.dtype.kind in "iu") for j in range(array.shape[1])
        }
        return RawFrame(columns, len(array), False, False, matrix)
    columns = {f"x{j}": array_column(array[:, j], f"x{j}") for j in range(array.shape[1])}
    return RawFrame(columns, len(array), False)


def _as_two_dimensional(frame: Any) -> np.ndarray:
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


def _from_lists(rows: Any) -> np.ndarray:
    """A list of rows; numbers stay numbers beside strings, which numpy's own conversion would not allow."""
    try:
        array = np.array(rows, dtype=object)
    except ValueError:
        raise ValueError("the rows differ in length; a table has the same columns in every row") from None
    if array.ndim == 2 and array.size and all(isinstance(v, Real) and not isinstance(v, bool) for v in array.flat):
        return array.astype(np.float64)
    return array


def from_sparse(frame: Any) -> RawFrame:
    if frame.dtype.kind == "c":
        raise ValueError("Complex data not supported: the sparse matrix holds complex numbers; give real ones")
    matrix = frame.tocsr().astype(np.float64, copy=False)
    if np.isinf(matrix.data).any():
        raise ValueError("the sparse matrix contains infinity; replace it by a number or by NaN (missing)")
    return RawFrame({}, matrix.shape[0], False, False, matrix)


def array_column(values: np.ndarray, name: str) -> Raw:
    if values.ndim != 1:
        raise ValueError(f"column {name!r} has {values.ndim} dimensions; a column is one value per row")
    if np.ma.isMaskedArray(values):
        return object_column(without_masked(values), name)
    kind = values.dtype.kind
    if kind == "b":
        return booleans(values.view(np.int8))
    if kind in "iu":
        doubles = values.astype(np.float64)
        refuse_inexact(values, doubles, name)
        return Numbers(doubles, is_whole=True)
    if kind == "f":
        return Numbers(as_doubles(values))
    if kind in "mM":
        unit = np.datetime_data(values.dtype)[0]
        return whole_dates(values.view(np.int64), np.isnat(values), unit)
    if kind == "c":
        raise ValueError(f"Complex data not supported: column {name!r} holds complex numbers; give their parts apart")
    if kind in "US":
        return _fixed_strings(values)
    return object_column(values, name)


_SMALL_RANGE = 1 << 12


def factorise_fixed(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes in order of first appearance, and the distinct items, of an array of fixed-width items."""
    items = np.ascontiguousarray(values)
    if items.dtype.kind in "iu" and len(items):
        low, high = items.min(), items.max()
        if int(high) - int(low) < _SMALL_RANGE:
            return _factorise_small(items, low)
    raw = items.view(np.uint8).reshape(len(items), items.dtype.itemsize)
    codes, first = _core.factorise(raw)
    return codes, items[first]


def distinct_numbers(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct numbers, sorted, and the place of each value among them; −0.0 is 0.0."""
    whole = values.astype(np.int64) if len(values) and np.abs(values).max() < 2.0**53 else values
    if whole.dtype != np.int64 or not np.array_equal(whole, values):
        whole = values + 0.0
    codes, distinct = factorise_fixed(whole)
    order = np.argsort(distinct, kind="stable")
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    return distinct[order].astype(np.float64), place[codes]


def _factorise_small(items: np.ndarray, low: np.integer) -> tuple[np.ndarray, np.ndarray]:
    """The same for integers of a small range, by counting instead of hashing; the distinct ones come out sorted."""
    places = (items - low).astype(np.int64, copy=False)
    present = np.flatnonzero(np.bincount(places))
    code = np.zeros(present[-1] + 1, np.int32)
    code[present] = np.arange(len(present))
    return code[places], (present + int(low)).astype(items.dtype)


def _fixed_strings(values: np.ndarray) -> Strings:
    def factorise() -> Codes:
        if not values.dtype.itemsize:
            return Codes(np.zeros(len(values), np.int32), ("",) if len(values) else ())
        codes, levels = factorise_fixed(values)
        return Codes(codes, tuple(levels.tolist()))

    return Strings(len(values), cache(factorise), values.tolist)


def _refuse_inexact_matrix(array: np.ndarray, matrix: np.ndarray) -> None:
    if array.dtype.itemsize == 8 and array.size and max(abs(int(array.max())), abs(int(array.min()))) > 1 << 53:
        for j in range(array.shape[1]):
            refuse_inexact(array[:, j], matrix[:, j], f"x{j}")
