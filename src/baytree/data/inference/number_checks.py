"""Checks of numeric columns: row numbers, constants, dates written as numbers, and sentinels for missing values.

`NumberProfile` is a mergeable summary. Whole columns are only read if their first rows, or a regular sample, give reason
to. A sentinel is an extreme value such as -999, or a repeated one, that lies far from all other values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isinf
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np

from baytree import _core
from baytree.data.parsing.vocabulary import is_code_name, is_id_name, is_measure_name, is_moment_name
from baytree.data.schema.notes import Note

_ROWS_CHECKED_FIRST = 16  # rows that must satisfy a property before all are checked

# columns of a matrix are checked together up to so many rows, in steps that bound memory
_MAX_ROWS_TOGETHER, _COLUMNS_PER_STEP = 4096, 1024

# rows from which numbers may identify rows: in a column with the name of an identifier, and with any other name
_MIN_NAMED_IDS, _MIN_IDS = 5, 10


class NumberProfile(msgspec.Struct, frozen=True):
    """Mergeable summary of a column of numbers."""

    n_known: int
    first: float
    last: float
    counts_up: bool  # every number is its predecessor plus one
    all_differ: bool
    is_constant: bool
    is_whole: bool
    ends: Extremes | None = None  # set if one of them may be a sentinel, and always for partitions
    is_date: bool = False

    @classmethod
    def of(cls, name: str, values: np.ndarray) -> Self:
        """Return the profile of a whole column."""
        known = values[values == values] if np.isnan(values[:_ROWS_CHECKED_FIRST]).any() else values
        profile = cls._of_known(name, known)
        return msgspec.structs.replace(profile, ends=_ends(known)) if len(known) else profile

    @classmethod
    def _of_known(cls, name: str, known: np.ndarray) -> Self:
        if not len(known):
            return cls(0, np.nan, np.nan, False, False, False, False)
        counts_up = _holds(known, lambda v: bool((np.diff(v) == 1).all()))
        is_whole = all(map(_is_whole, known[:_ROWS_CHECKED_FIRST].tolist())) and bool((known == np.floor(known)).all())
        differ = counts_up or (is_id_name(name) and is_whole and len(np.unique(known)) == len(known))
        constant = _holds(known, lambda v: bool((v == v[0]).all()))
        return cls(len(known), float(known[0]), float(known[-1]), counts_up, differ, constant, is_whole)

    @classmethod
    def of_dates(cls, values: np.ndarray) -> Self:
        """Return the profile of a column of dates, which never number rows."""
        known = values[values == values]
        if not len(known):
            return cls(0, np.nan, np.nan, False, False, False, False, is_date=True)
        constant = _holds(known, lambda v: bool((v == v[0]).all()))
        return cls(len(known), float(known[0]), float(known[-1]), False, False, constant, False, _ends(known), True)

    @classmethod
    def of_part(cls, name: str, values: np.ndarray, is_date: bool) -> Self:
        """Return the profile of a partition, with exact extremes, so that profiles add up."""
        ends, n_missing = Extremes.and_missing(values)
        known = values[values == values] if n_missing else values
        profile = cls.of_dates(known) if is_date else cls._of_known(name, known)
        if not len(known):
            return profile
        profile = msgspec.structs.replace(profile, ends=ends)
        return (
            profile
            if len(known) > 1
            else msgspec.structs.replace(profile, counts_up=not is_date, all_differ=not is_date, is_constant=True)
        )

    def __add__(self, other: Self) -> Self:
        if not self.n_known or not other.n_known:
            return other if not self.n_known else self
        return type(self)(
            self.n_known + other.n_known,
            self.first,
            other.last,
            self.counts_up and other.counts_up and other.first == self.last + 1,
            self.all_differ and other.all_differ and other.first > self.last,
            self.is_constant and other.is_constant and self.first == other.first,
            self.is_whole and other.is_whole,
            None if self.ends is None or other.ends is None else self.ends + other.ends,
            self.is_date,
        )

    def is_identifier(self, name: str) -> bool:
        """Return whether the numbers only identify rows."""
        if not self.is_whole:
            return False
        if is_id_name(name):
            return self.all_differ and self.n_known >= _MIN_NAMED_IDS
        return self.counts_up and self.first in (0, 1) and self.n_known >= _MIN_IDS and not is_measure_name(name)

    def notes(self, name: str, show: Callable[[float], str], is_for_training: bool = True) -> list[Note]:
        """Return the notes on a column that is used, those on identifiers only for training; `show` formats a value."""
        found = self.ends.sentinels(self.is_whole, self.is_date) if self.ends is not None else ()
        notes = [sentinel_note(name, show(v), n, show(low), show(high)) for v, n, low, high in found]
        if self.is_constant and self.n_known > 1:
            message = f"every value is {show(self.first)}: nothing can be learnt from it"
            notes.append(Note(name, message, self.n_known, "drop"))
        elif is_for_training:
            notes += self._identifier_notes(name)
        if self.is_whole and self._may_be_dates(name):
            message = f"numbers such as {self.first:.0f} may be dates; they are read as numbers"
            notes.append(Note(name, message, self.n_known, "date"))
        return notes

    def _identifier_notes(self, name: str) -> list[Note]:
        if self.counts_up and self.n_known >= _MIN_IDS:
            message = f"counts upwards from {self.first:.6g} to {self.last:.6g}, as row numbers do; it is used in training"
            return [Note(name, message, self.n_known, "drop")]
        if self.is_whole and (is_id_name(name) or is_code_name(name)):
            return [Note(name, "whole numbers with the name of a code are read as numbers", self.n_known, "nominal")]
        return []

    def _may_be_dates(self, name: str) -> bool:
        """Return whether the numbers look like 20240131 or, under a date-like name, like Excel or Unix times."""
        low, high = min(self.first, self.last), max(self.first, self.last)
        spans = ((10_000, 80_000), (101, 991_231), (5e8, 5e9), (5e11, 5e12)) if is_moment_name(name) else ()
        return any(a <= low and high <= b for a, b in ((19000101, 21001231), *spans)) and high > 9999


def may_have_notes(numbers: np.ndarray) -> np.ndarray:
    """Return for which columns of a matrix `NumberProfile` may have notes, without false negatives: bool [n_columns]."""
    n_rows, n_columns = numbers.shape
    if not 1 < n_rows <= _MAX_ROWS_TOGETHER:
        return np.ones(n_columns, bool)
    parts = (numbers[:, first : first + _COLUMNS_PER_STEP] for first in range(0, n_columns, _COLUMNS_PER_STEP))
    return np.concatenate([_may_have_notes(part) for part in parts])


def _may_have_notes(numbers: np.ndarray) -> np.ndarray:
    first = numbers[:_ROWS_CHECKED_FIRST]
    with np.errstate(over="ignore", invalid="ignore"):
        is_known = np.isfinite(numbers.sum(axis=0))
        step = first[1] - first[0]
        is_whole = (first == np.floor(first)).all(axis=0)
        return ~is_known | (step == 0) | (step == 1) | is_whole | may_have_sentinels(numbers)


def sentinel_note(name: str, value: str, n: int, low: str, high: str) -> Note:
    """Return the note on a value that may be a sentinel."""
    message = f"{value} lies far from the other values ({low} to {high}) and may be a code for a missing value; it is kept"
    return Note(name, message, n, "missing", value, is_doubtful=True)


def _ends(known: np.ndarray) -> Extremes | None:
    if not may_have_sentinel(known):
        return None
    return Extremes.of(known[known == known])


def _is_whole(value: float) -> bool:
    return value.is_integer() or isinf(value)


def _holds(known: np.ndarray, law: Callable[[np.ndarray], bool]) -> bool:
    return len(known) > 1 and law(known[:2]) and law(known[:_ROWS_CHECKED_FIRST]) and law(known)


_SENTINELS = frozenset(sign * int(digit * k) for sign in (1, -1) for digit in "98" for k in range(2, 9)) | {-1, -9, -8}

_SENTINEL_NUMBERS = np.array(sorted(_SENTINELS), np.float64)

_SAMPLE_ROWS = 4096  # rows of the sample that decides whether all are read

_MAX_EXACT_ROWS = 1 << 16  # max rows for which the sample check uses the exact minimum and maximum

MAX_CHECKED_STRINGS = 20_000  # more distinct strings are not checked for sentinels, which bounds the time

Counts = tuple[tuple[float, int], ...]  # numbers and their counts


class Sentinel(NamedTuple):
    """Number far from all others, its count, and the range of the others."""

    value: float
    n: int
    low: float
    high: float


class Extremes(msgspec.Struct, frozen=True):
    """The two smallest and the two largest distinct numbers with their counts; mergeable."""

    lowest: Counts
    highest: Counts

    @classmethod
    def of(cls, values: np.ndarray) -> Self:
        """Return the extremes of these numbers; NaN is ignored."""
        return cls.and_missing(values)[0]

    @classmethod
    def and_missing(cls, values: np.ndarray) -> tuple[Self, int]:
        """Return the extremes of these numbers and the number of NaN."""
        lowest, highest, n_missing = _core.ends(np.ascontiguousarray(values, np.float64))
        return cls(tuple(lowest), tuple(highest)), n_missing

    def __add__(self, other: Self) -> Self:
        low, high = _counts(self.lowest, other.lowest), _counts(self.highest, other.highest)
        return type(self)(tuple(sorted(low)[:2]), tuple(sorted(high, reverse=True)[:2]))

    def sentinels(self, is_whole: bool, is_date: bool) -> Iterator[Sentinel]:
        """Yield the extremes that may be sentinels, the lower one first."""
        for extremes, opposite in ((self.lowest, self.highest), (self.highest, self.lowest)):
            if len(extremes) < 2:
                return
            (value, n), near = extremes[0], extremes[1][0]
            beyond = [end for end, _ in opposite[1:] if opposite[0][0] in _SENTINELS and end != value]
            ranges = ((min(near, end), max(near, end)) for end in (*beyond, opposite[0][0]))
            found = next((between for between in ranges if _is_far(value, n, *between, is_whole, is_date)), None)
            if found is not None:
                yield Sentinel(value, n, *found)


def _counts(mine: Counts, theirs: Counts) -> Iterable[tuple[float, int]]:
    """Return the summed counts of the numbers in both."""
    count = dict(mine)
    for value, n in theirs:
        count[value] = count.get(value, 0) + n
    return count.items()


def may_have_sentinel(known: np.ndarray) -> bool:
    """Return whether an extreme may be a sentinel, judged by a regular sample of the rows.

    In tables of up to `_MAX_EXACT_ROWS` rows the minimum and maximum are exact.
    """
    some = known[:: max(1, len(known) // _SAMPLE_ROWS)]
    some = some[some == some]
    if not len(some):
        return False
    whole = some if len(known) > _MAX_EXACT_ROWS else known
    low, high = float(np.fmin.reduce(whole)), float(np.fmax.reduce(whole))
    if low in _SENTINELS or high in _SENTINELS:
        return True
    inner = some[(some > low) & (some < high)]
    if not len(inner):
        return False
    return bool(_is_distant(low, float(inner.min()), float(inner.max()), high))


def may_have_sentinels(numbers: np.ndarray) -> np.ndarray:
    """Return `may_have_sentinel` for each column of a finite matrix with few rows: bool [n_columns]."""
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    is_inner = (numbers > low) & (numbers < high)
    near = numbers.min(axis=0, where=is_inner, initial=np.inf)
    far = numbers.max(axis=0, where=is_inner, initial=-np.inf)
    return np.isin(low, _SENTINEL_NUMBERS) | np.isin(high, _SENTINEL_NUMBERS) | _is_distant(low, near, far, high)


def _is_distant(low: Any, near: Any, far: Any, high: Any) -> Any:
    """Return whether an extreme is farther from the inner numbers than twice the range of all numbers but it."""
    spreads = 2 * (high - near), 2 * (far - low)
    return ((near - low > spreads[0]) & (spreads[0] > 0)) | ((high - far > spreads[1]) & (spreads[1] > 0))


def written(levels: Sequence[str], values: np.ndarray, is_date: bool) -> Iterator[tuple[str, str, str]]:
    """Yield the strings whose numbers may be sentinels, each with the strings that bound all others."""
    known = sorted((value, text) for value, text in zip(values.tolist(), levels, strict=True) if value == value)
    if not 3 < len(known) <= MAX_CHECKED_STRINGS:
        return
    texts = dict(known)
    is_whole = all(value == np.floor(value) for value, _ in known)
    ends = Extremes.of(np.array([value for value, _ in known]))
    for sentinel in ends.sentinels(is_whole, is_date):
        yield texts[sentinel.value], texts[sentinel.low], texts[sentinel.high]


def _is_far(value: float, n: int, low: float, high: float, is_whole: bool, is_date: bool) -> bool:
    """Return whether a number lies so far from all others that it may be a sentinel."""
    if low <= value <= high or not np.isfinite(value):
        return False
    distance, width = max(low - value, value - high), high - low
    if not is_date and value in (-1, -8, -9):
        return low >= 0 and is_whole and high > 5
    if not is_date and value in _SENTINELS:
        return distance > max(width, 1) * (0.5 if abs(value) >= 999 else 1)
    return distance > 2 * width > 0 and (n > 1 or (is_date and distance > 10 * width))
