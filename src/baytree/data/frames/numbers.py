"""Raw columns of numbers and of codes: exact conversion to float64, dates and durations, factorization.

Integers that have no exact float64 raise an error. `NumberMatrix` converts and factorizes all columns of an array at
once; `Codes` hold categories, booleans and fixed-width items.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any, Self

import msgspec
import numpy as np

from baytree import _core
from baytree.parallel.threads import MIN_PARALLEL_ROWS, count

_FINER = {"ns": 1000, "ps": 10**6, "fs": 10**9, "as": 10**12}


class NumberMatrix:
    """Numeric columns in one array, converted to float64 or codes on first access."""

    def __init__(self, array: np.ndarray, names: Sequence[str] | None = None):
        self.array, self._names = array, names  # [n_rows, n_columns]
        self._doubles: np.ndarray | None = array if array.dtype == np.float64 else None
        self._codes: dict[int, Codes] = {}
        self._lock = Lock()

    def doubles(self, column: int) -> np.ndarray:
        """Return a column as float64 [n_rows]; raise a ValueError for an integer without an exact double."""
        return self.all_doubles()[:, column]

    def all_doubles(self) -> np.ndarray:
        """Return all columns as float64 [n_rows, n_columns]."""
        if self._doubles is not None:
            return self._doubles
        with self._lock:
            if self._doubles is None:
                doubles = self.array.astype(np.float64)
                self._refuse_inexact(doubles)
                self._doubles = doubles
        return self._doubles

    def codes(self, column: int) -> Codes:
        """Return a column as codes of its distinct numbers."""
        if column not in self._codes:
            self.code([column])
        return self._codes[column]

    def code(self, columns: Sequence[int]) -> None:
        """Compute the missing codes of these columns in one read of the array."""
        columns = [column for column in columns if column not in self._codes]
        array = self.array if len(columns) == self.array.shape[1] else self.array[:, columns]
        codes, levels = tabulate(array)
        for column, own, found in zip(columns, codes, levels, strict=True):
            known = Codes(own, tuple(found.tolist())) if len(found) else distinct_numbers(self.array[:, column])
            self._codes[column] = known

    def _refuse_inexact(self, doubles: np.ndarray) -> None:
        if self.array.dtype.kind not in "iu" or self.array.dtype.itemsize < 8 or not self.array.size:
            return
        if int(self.array.max()) > 1 << 53 or int(self.array.min()) < -(1 << 53):
            for j in range(self.array.shape[1]):
                _refuse_inexact(self.array[:, j], doubles[:, j], f"x{j}" if self._names is None else self._names[j])


class Numbers(msgspec.Struct, frozen=True):
    """Raw column of numbers; `unit` is set for dates and durations."""

    matrix: NumberMatrix
    column: int = 0
    unit: str | None = None
    is_whole: bool = False  # the given values were integers

    @classmethod
    def of(cls, values: np.ndarray, name: str = "", unit: str | None = None, is_whole: bool = False) -> Self:
        """Return a column with an array of its own: floats with NaN, or integers."""
        return cls(NumberMatrix(values[:, None], [name]), 0, unit, is_whole or values.dtype.kind in "iu")

    def __len__(self) -> int:
        return len(self.matrix.array)

    @property
    def values(self) -> np.ndarray:
        """The numbers as float64 [n_rows] with NaN."""
        return self.matrix.doubles(self.column)

    def factorise(self) -> Codes:
        """Return the numbers as codes with ascending levels."""
        return self.matrix.codes(self.column)

    def take(self, rows: np.ndarray) -> Numbers:
        """Return the rows that the mask selects."""
        return Numbers.of(self.matrix.array[rows, self.column], unit=self.unit, is_whole=self.is_whole)


class MatrixColumns(Mapping[str, Numbers]):
    """Columns of one numeric array by name, created on access."""

    def __init__(self, array: np.ndarray, names: tuple[str, ...]):
        self.names = names
        self.matrix = NumberMatrix(array, names)

    def __getitem__(self, name: str) -> Numbers:
        return self.at(self._places[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def take(self, rows: np.ndarray) -> MatrixColumns:
        """Return the columns of the rows that the mask selects."""
        return MatrixColumns(self.matrix.array[rows], self.names)

    def at(self, position: int) -> Numbers:
        """Return the column at an index."""
        return Numbers(self.matrix, position, is_whole=self.matrix.array.dtype.kind in "iu")

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}


class NumberedColumns(MatrixColumns):
    """Columns of an array without column names; named by position."""

    def __init__(self, array: np.ndarray):
        super().__init__(array, position_names(array.shape[1]))

    def __getitem__(self, name: str) -> Numbers:
        position = name[1:] if name[:1] == "x" else ""
        if not position.isdecimal() or int(position) >= len(self) or self.names[int(position)] != name:
            raise KeyError(name)
        return self.at(int(position))

    def take(self, rows: np.ndarray) -> NumberedColumns:
        """Return the columns of the rows that the mask selects."""
        return NumberedColumns(self.matrix.array[rows])


@lru_cache(maxsize=8)
def position_names(n_columns: int) -> tuple[str, ...]:
    """Return the names x0, x1, … of unnamed columns."""
    return tuple([f"x{j}" for j in range(n_columns)])


def factorise_together(columns: Sequence[Any]) -> None:
    """Compute the codes of numeric columns that share an array in one read of it."""
    shared: dict[int, list[Numbers]] = {}
    for raw in columns:
        if isinstance(raw, Numbers):
            shared.setdefault(id(raw.matrix), []).append(raw)
    for together in shared.values():
        if len(together) > 1:
            together[0].matrix.code([raw.column for raw in together])


def whole_dates(whole: np.ndarray, missing: np.ndarray, unit: str) -> Numbers:
    """Return dates as float64 in a unit in which they are exact: microseconds at the finest."""
    if unit in _FINER:
        whole, unit = whole // _FINER[unit], "us"
    values = whole.astype(np.float64)
    values[missing] = np.nan
    return Numbers.of(values, unit=unit)


def whole_spans(whole: np.ndarray, missing: np.ndarray, unit: str) -> Numbers:
    """Return durations as seconds (unit "clock", displayed as hours and minutes)."""
    dates = whole_dates(whole, missing, unit)
    second = np.timedelta64(1, "s") / np.array(1, f"timedelta64[{dates.unit or unit}]")
    return Numbers.of(dates.values / second, unit="clock")


def with_missing(whole: np.ndarray, missing: np.ndarray, name: str) -> Numbers:
    """Return a column of integers with missing entries (whose values are ignored) as exact float64 with NaN."""
    values = whole.astype(np.float64)
    _refuse_inexact(whole[~missing], values[~missing], name)
    values[missing] = np.nan
    return Numbers.of(values, name, is_whole=True)


def _refuse_inexact(whole: np.ndarray, doubles: np.ndarray, name: str) -> None:
    if whole.dtype.itemsize < 8 or not len(whole):
        return
    same = doubles.astype(whole.dtype) == whole
    same &= np.abs(doubles) < 2.0**63 if whole.dtype.kind == "i" else doubles < 2.0**64
    if not same.all():
        row = int(np.argmin(same))
        raise inexact(name, row, whole[row])


def inexact(name: str, row: int, value: Any) -> ValueError:
    """Return the error for an integer without an exact double."""
    return ValueError(
        f"column {name!r}, row {row}: {value} is beyond 2^53 and has no exact double; "
        "declare the column nominal if it is a code, or subtract an offset"
    )


# random hash key of this process, so that no input can be crafted whose strings all collide
SECRET = int.from_bytes(os.urandom(8), "little"), int.from_bytes(os.urandom(8), "little")

# up to this, hashing is faster than clearing and reading a table of all possible values
_MAX_HASHED_ROWS = 8192


class Codes(msgspec.Struct, frozen=True):
    """Raw column of categories: codes with −1 for missing, and the levels in code order."""

    codes: np.ndarray  # any integer type
    levels: tuple[Any, ...]
    is_ordered: bool = False
    is_declared: bool = False

    def __len__(self) -> int:
        return len(self.codes)


def booleans(codes: np.ndarray) -> Codes:
    """Return a boolean column from codes 0 and 1, −1 for missing."""
    return Codes(codes, (False, True), False, True)


def factorise_fixed(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return codes and distinct items of an array of fixed-width items; the order depends only on the rows."""
    if values.dtype.kind in "iu" and len(values) > _MAX_HASHED_ROWS:
        (codes,), (levels,) = tabulate(values[:, None])
        if len(levels):
            return codes, levels.astype(values.dtype)
    items = np.ascontiguousarray(values)
    raw = items.view(np.uint8).reshape(len(items), items.dtype.itemsize)
    codes, first = _core.factorise(raw, _threads(raw))
    return codes, items[first]


def tabulate(numbers: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return codes [n_columns, n_rows] (−1 for NaN) and the ascending distinct numbers of each column.

    Only for columns of whole numbers in a narrow range; the levels of other columns are empty.
    """
    codes = np.empty(numbers.shape[::-1], np.int32)
    n_threads = _threads(numbers)
    if numbers.dtype == np.uint64:  # values beyond int64 look negative: such a column gets no levels here
        levels = _core.code_whole_numbers(numbers.view(np.int64), codes, n_threads)
        return codes, [found if found.min(initial=0) >= 0 else found[:0] for found in levels]
    if numbers.dtype.kind == "f":
        return codes, _core.code_whole_numbers(numbers.astype(np.float64, copy=False), codes, n_threads)
    return codes, _core.code_whole_numbers(numbers.astype(np.int64, copy=False), codes, n_threads)


def distinct_numbers(values: np.ndarray) -> Codes:
    """Return codes of the distinct numbers in ascending order; whole levels become int, so that 98101.0 reads 98101."""
    is_present = values == values
    codes, distinct = factorise_fixed(values[is_present] + values.dtype.type(0))  # maps −0.0 to 0.0
    order = np.argsort(distinct, kind="stable")
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    result = np.full(len(values), -1, np.int32)
    result[is_present] = rank[codes]
    return Codes(result, tuple(map(_as_written, distinct[order].tolist())))


def _as_written(number: Any) -> Any:
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _threads(items: np.ndarray) -> int:
    return count(None) if len(items) > MIN_PARALLEL_ROWS else 1
