"""Adapter for Python objects: lists, object arrays and columns of mixed types."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from baytree.data.frames.numbers import Codes, NumberMatrix, Numbers, booleans, inexact, whole_dates, whole_spans
from baytree.data.frames.raw import LazyCodes, Raw, Strings

# types that occur next to strings in the cells of a sheet
_TEXT_CELL_TYPES = (str, int, float, np.number, Decimal, date, time, np.datetime64)


def object_column(values: Any, name: str) -> Raw:
    """Return the raw column of a sequence of Python objects, by the types that occur in it."""
    items = values.tolist() if hasattr(values, "tolist") else list(values)
    kinds = set(map(type, items))
    if kinds == {float}:
        return Numbers.of(np.array(items), name)
    if kinds == {str}:
        return Strings(len(items), LazyCodes(lambda: _hashed(items)), lambda: items)
    present = {kind for kind in kinds if not _is_missing_kind(kind)}
    if len(present) > 1:  # NaN is a float and NaT a date, but they must not decide the type of the column
        present = {type(item) for item in items if not _is_missing(item)}
    if present <= {str, np.str_}:
        return _object_strings(items)
    if all(issubclass(kind, (bool, np.bool_)) for kind in present):
        return booleans(np.array([-1 if _is_missing(item) else int(item) for item in items], np.int8))
    if all(issubclass(kind, (Real, np.number, Decimal)) and not issubclass(kind, bool) for kind in present):
        return _object_numbers(items, name, present)
    if all(issubclass(kind, (datetime, date, np.datetime64, timedelta, np.timedelta64)) for kind in present):
        return _object_dates(items, present)
    if all(issubclass(kind, time) for kind in present):
        return _object_times(items)
    if any(issubclass(kind, str) for kind in present) and all(
        issubclass(kind, _TEXT_CELL_TYPES) and not issubclass(kind, bool) for kind in present
    ):
        return _object_strings([item if _is_missing(item) else _as_cell_text(item) for item in items])
    return _mixed_levels(items, name)


def floats_together(cells: Mapping[str, list]) -> dict[str, Numbers]:
    """Return the columns that hold only floats, sharing one array."""
    names = [name for name, items in cells.items() if set(map(type, items)) == {float}]
    matrix = NumberMatrix(np.array([cells[name] for name in names]).T, names) if names else None
    return {name: Numbers(matrix, j) for j, name in enumerate(names)} if matrix else {}


def _as_cell_text(item: Any) -> str:
    """Return a number or date as a string; whole numbers without a fraction."""
    return f"{item:.0f}" if isinstance(item, (float, np.floating)) and item == int(item) and abs(item) < 1e15 else str(item)


def _object_times(items: list) -> Numbers:
    seconds = [None if _is_missing(t) else 3600 * t.hour + 60 * t.minute + t.second + t.microsecond / 1e6 for t in items]
    return Numbers.of(np.array(seconds, float), unit="clock")


def _object_strings(items: list) -> Strings | Numbers:
    def documents() -> list[str | None]:
        return [item if isinstance(item, str) else None for item in items]

    if not any(isinstance(item, str) for item in items):  # all missing: a numeric column of NaN
        return Numbers.of(np.full(len(items), np.nan))
    return Strings(len(items), LazyCodes(lambda: _hashed(items)), documents)


def _object_numbers(items: list, name: str, kinds: set[type]) -> Numbers:
    if all(issubclass(kind, (int, np.integer)) for kind in kinds) and not any(map(_is_missing, items)):
        with contextlib.suppress(OverflowError):  # beyond 64 bits they are converted to float64 below
            return Numbers.of(np.array(items, np.int64), name)
    if kinds == {float} and set(map(type, items)) <= {float, type(None)}:
        return Numbers.of(np.array(items, dtype=np.float64), name)  # None becomes NaN
    try:
        values = np.array([np.nan if _is_missing(item) else item for item in items], dtype=np.float64)
    except OverflowError:
        raise ValueError(f"column {name!r} holds a whole number beyond the range of doubles; give it as a string") from None
    if any(issubclass(kind, (int, np.integer)) for kind in kinds):
        for row, (item, value) in enumerate(zip(items, values, strict=True)):
            if isinstance(item, (int, np.integer)) and int(item) != int(value):
                raise inexact(name, row, item)
    return Numbers.of(values, name, is_whole=all(issubclass(kind, (int, np.integer)) for kind in kinds))


def _object_dates(items: list, kinds: set[type]) -> Numbers:
    unit = "D" if all(issubclass(kind, date) and not issubclass(kind, datetime) for kind in kinds) else "us"
    is_span = all(issubclass(kind, (timedelta, np.timedelta64)) for kind in kinds)
    dtype = f"timedelta64[{unit}]" if is_span else f"datetime64[{unit}]"
    values = np.array([None if _is_missing(item) else _without_zone(item) for item in items], dtype=dtype)
    return (whole_spans if is_span else whole_dates)(values.view(np.int64), np.isnat(values), unit)


def _without_zone(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def _mixed_levels(items: list, name: str) -> Codes:
    present = [item for item in items if not _is_missing(item)]
    for item in present:
        if isinstance(item, (dict, list, set, np.ndarray)):
            raise TypeError(
                f"column {name!r} holds a {type(item).__name__} ({str(item)[:40]!r}); "
                "argument must be a string or a number, a date or a boolean"
            )
    codes = _hashed(items)
    texts: dict[str, Any] = {}
    for level in codes.levels:
        other = texts.setdefault(str(level), level)
        if type(other) is not type(level) and not (isinstance(other, Real) and isinstance(level, Real)):
            raise ValueError(
                f"column {name!r} mixes {other!r} and {level!r}, which look alike but differ in type; "
                "convert the column to one type"
            )
    return codes


def _hashed(items: list) -> Codes:
    """Return codes by Python's hashing, in order of first appearance; equal values of different types are distinct."""
    if set(map(type, items)) <= {str, type(None)}:
        words = dict.fromkeys(items)
        words.pop(None, None)
        table = {word: code for code, word in enumerate(words)}
        return Codes(np.fromiter(map({**table, None: -1}.__getitem__, items), np.int32, len(items)), tuple(table))
    present = [item for item in items if not _is_missing(item)]
    table = {level: code for code, level in enumerate(dict.fromkeys(present))}
    if len(present) == len(items):
        codes = np.fromiter(map(table.__getitem__, items), np.int32, len(items))
    else:
        codes = np.fromiter((-1 if _is_missing(item) else table[item] for item in items), np.int32, len(items))
    return Codes(codes, tuple(plain(level) for level in table))


def _is_missing_kind(kind: type) -> bool:
    return kind is type(None) or kind.__name__ in ("NAType", "NaTType", "MaskedConstant")


def _is_missing(item: Any) -> bool:
    """Return whether an item is None, NA, NaT, a masked cell or NaN."""
    if item is None or _is_missing_kind(type(item)):
        return True
    return isinstance(item, (float, np.floating, Decimal, np.datetime64, np.timedelta64)) and bool(item != item)


def plain(level: Any) -> Any:
    """Convert a NumPy scalar to the Python value, so that levels compare and serialize as expected."""
    return level.item() if isinstance(level, np.generic) and not isinstance(level, np.datetime64) else level
