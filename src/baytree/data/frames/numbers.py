"""Numbers and dates: as doubles, exactly or not at all; or as codes of the numbers that occur.

Codes with levels: what categories, truth values and items of a fixed width become.
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
from baytree.parallel.threads import MANY_ROWS, count

_FINER = {"ns": 1000, "ps": 10**6, "fs": 10**9, "as": 10**12}


class NumberMatrix:
    """Columns of numbers in one array; they turn into doubles, or into codes, when that is first asked for."""

    def __init__(self, array: np.ndarray, names: Sequence[str] | None = None):
        self.array, self._names = array, names  # [n_rows, n_columns]
        self._doubles: np.ndarray | None = array if array.dtype == np.float64 else None
        self._codes: dict[int, Codes] = {}
        self._lock = Lock()

    def doubles(self, column: int) -> np.ndarray:
        """A column as doubles; an integer that is no double is refused."""
        return self.all_doubles()[:, column]

    def all_doubles(self) -> np.ndarray:
        """All columns as doubles: [n_rows, n_columns]."""
        if self._doubles is not None:
            return self._doubles
        with self._lock:
            if self._doubles is None:
                doubles = self.array.astype(np.float64)
                self._refuse_inexact(doubles)
                self._doubles = doubles
        return self._doubles

    def codes(self, column: int) -> Codes:
        """A column as codes of its distinct numbers."""
        if column not in self._codes:
            self.code([column])
        return self._codes[column]

    def code(self, columns: Sequence[int]) -> None:
        """Makes the codes of these columns, where they are not there yet, in one read of the array."""
        columns = [column for column in columns if column not in self._codes]
        array = self.array if len(columns) == self.array.shape[1] else self.array[:, columns]
        codes, levels = place(array)
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
    """A raw column of numbers; `unit` where they are dates."""

    matrix: NumberMatrix
    column: int = 0
    unit: str | None = None
    is_whole: bool = False  # they came as integers

    @classmethod
    def of(cls, values: np.ndarray, name: str = "", unit: str | None = None, is_whole: bool = False) -> Self:
        """A column that lies in an array of its own: floats with NaN, or integers."""
        return cls(NumberMatrix(values[:, None], [name]), 0, unit, is_whole or values.dtype.kind in "iu")

    def __len__(self) -> int:
        return len(self.matrix.array)

    @property
    def values(self) -> np.ndarray:
        """The numbers as doubles with NaN."""
        return self.matrix.doubles(self.column)

    def factorise(self) -> Codes:
        """The numbers as codes; their levels in ascending order."""
        return self.matrix.codes(self.column)

    def take(self, rows: np.ndarray) -> Numbers:
        """The numbers of the rows that a mask keeps."""
        return Numbers.of(self.matrix.array[rows, self.column], unit=self.unit, is_whole=self.is_whole)


class MatrixColumns(Mapping[str, Numbers]):
    """The columns of one array of numbers by their names, each made when it is asked for."""

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
        """The columns of the rows that a mask keeps."""
        return MatrixColumns(self.matrix.array[rows], self.names)

    def at(self, place: int) -> Numbers:
        """The column at a place."""
        return Numbers(self.matrix, place, is_whole=self.matrix.array.dtype.kind in "iu")

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}


class NumberedColumns(MatrixColumns):
    """The columns of an array that has no names for them: they go by their positions."""

    def __init__(self, array: np.ndarray):
        super().__init__(array, position_names(array.shape[1]))

    def __getitem__(self, name: str) -> Numbers:
        place = name[1:] if name[:1] == "x" else ""
        if not place.isdecimal() or int(place) >= len(self) or self.names[int(place)] != name:
            raise KeyError(name)
        return self.at(int(place))

    def take(self, rows: np.ndarray) -> NumberedColumns:
        """The columns of the rows that a mask keeps."""
        return NumberedColumns(self.matrix.array[rows])


@lru_cache(maxsize=8)
def position_names(n_columns: int) -> tuple[str, ...]:
    """The names of columns that have none."""
    return tuple([f"x{j}" for j in range(n_columns)])


def factorise_together(columns: Sequence[Any]) -> None:
    """Makes the codes of those columns of numbers that share an array, in one read of it."""
    shared: dict[int, list[Numbers]] = {}
    for raw in columns:
        if isinstance(raw, Numbers):
            shared.setdefault(id(raw.matrix), []).append(raw)
    for together in shared.values():
        if len(together) > 1:
            together[0].matrix.code([raw.column for raw in together])


def whole_dates(whole: np.ndarray, missing: np.ndarray, unit: str) -> Numbers:
    """Dates as numbers of a unit in which they are exact doubles: microseconds at the finest."""
    if unit in _FINER:
        whole, unit = whole // _FINER[unit], "us"
    values = whole.astype(np.float64)
    values[missing] = np.nan
    return Numbers.of(values, unit=unit)


def whole_spans(whole: np.ndarray, missing: np.ndarray, unit: str) -> Numbers:
    """Durations as seconds, which are shown as hours and minutes."""
    dates = whole_dates(whole, missing, unit)
    second = np.timedelta64(1, "s") / np.array(1, f"timedelta64[{dates.unit or unit}]")
    return Numbers.of(dates.values / second, unit="clock")


def with_missing(whole: np.ndarray, missing: np.ndarray, name: str) -> Numbers:
    """A column of integers of which some are missing (whatever stands there): exact doubles with NaN."""
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
    """What is said where an integer has no exact double."""
    return ValueError(
        f"column {name!r}, row {row}: {value} is beyond 2^53 and has no exact double; "
        "declare the column nominal if it is a code, or subtract an offset"
    )


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
