"""What a column of numbers shows beside its numbers: that it counts rows, never changes, or holds a number for no value.

Whole columns are read only where their first rows, or some taken at equal steps, give a reason to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

import msgspec
import numpy as np

from baytree.table.notes import Note
from baytree.table.reading.words import is_code_name, is_id_name, is_measure_name, is_moment_name

_SENTINELS = frozenset(sign * int(digit * k) for sign in (1, -1) for digit in "98" for k in range(2, 9)) | {-1, -9, -8}
_DAYS = tuple((np.datetime64(day, "D") - np.datetime64(0, "D")).astype(int) for day in (
    "0001-01-01", "1111-11-11", "1753-01-01", "1899-12-30", "1899-12-31", "1900-01-01", "1970-01-01", "2099-12-31",
    "2100-01-01", "2999-12-31", "9999-12-31",
))  # fmt: skip
MOST_STRINGS = 20_000  # that are looked at for numbers that stand for no value
_SOME = 4096  # rows that are looked at for numbers that stand for no value
_FIRST = 16  # rows that must agree before all are compared
FEWEST_NAMED, FEWEST = 5, 10  # rows that count upwards: with the name of an id, and with any other


class Amounts(msgspec.Struct, frozen=True):
    """What was seen in a column of numbers; what two parts of it showed adds up."""

    n_known: int
    first: float
    last: float
    counts_up: bool  # every number is its predecessor and one
    all_differ: bool
    is_constant: bool
    is_whole: bool
    far: dict[float, int] = {}  # numbers that may stand for no value, and how often
    low: float = np.inf  # of the others
    high: float = -np.inf

    @classmethod
    def of(cls, name: str, values: np.ndarray) -> Self:
        """What these numbers show."""
        known = values[values == values] if np.isnan(values[:_FIRST]).any() else values
        if not len(known):
            return cls(0, np.nan, np.nan, False, False, False, False)
        counts_up = _holds(known, lambda v: bool((np.diff(v) == 1).all()))
        head = known[:_FIRST]
        is_whole = bool((head == np.floor(head)).all()) and bool((known == np.floor(known)).all())
        differ = counts_up or (is_id_name(name) and is_whole and len(np.unique(known)) == len(known))
        constant = _holds(known, lambda v: bool((v == v[0]).all()))
        return cls(len(known), float(known[0]), float(known[-1]), counts_up, differ, constant, is_whole, *_far(known))

    @classmethod
    def of_dates(cls, values: np.ndarray, unit: str) -> Self:
        """What these dates show: they number no rows."""
        known = values[values == values]
        if not len(known):
            return cls(0, np.nan, np.nan, False, False, False, False)
        constant = _holds(known, lambda v: bool((v == v[0]).all()))
        far = _far(known, frozenset(day * (np.timedelta64(1, "D") / np.array(1, f"timedelta64[{unit}]")) for day in _DAYS))
        return cls(len(known), float(known[0]), float(known[-1]), False, False, constant, False, *far)

    def __add__(self, other: Self) -> Self:
        if not self.n_known or not other.n_known:
            return other if not self.n_known else self
        far = {v: self.far.get(v, 0) + other.far.get(v, 0) for v in {*self.far, *other.far}}
        return type(self)(
            self.n_known + other.n_known,
            self.first,
            other.last,
            self.counts_up and other.counts_up and other.first == self.last + 1,
            self.all_differ and other.all_differ and other.first > self.last,
            self.is_constant and other.is_constant and self.first == other.first,
            self.is_whole and other.is_whole,
            far,
            min(self.low, other.low),
            max(self.high, other.high),
        )

    def identifies(self, name: str) -> bool:
        """Whether the numbers only tell rows apart."""
        if not self.is_whole:
            return False
        if is_id_name(name):
            return self.all_differ and self.n_known >= FEWEST_NAMED
        return self.counts_up and self.first in (0, 1) and self.n_known >= FEWEST and not is_measure_name(name)

    def notes(self, name: str, show: Callable[[float], str]) -> list[Note]:
        """What is told of a column that is learnt from; `show` says a value in words."""
        far = [(v, n) for v, n in sorted(self.far.items()) if _is_far(v, n, self.low, self.high, self.is_whole)]
        notes = [_sentinel(name, show(value), n, (show(self.low), show(self.high))) for value, n in far]
        if self.is_constant and self.n_known > 1:
            done = f"every value is {show(self.first)}: nothing can be learnt from it"
            notes.append(Note(name, done, self.n_known, "drop"))
        elif self.counts_up and self.n_known >= FEWEST:
            done = f"counts upwards from {self.first:.6g} to {self.last:.6g}, as row numbers do; it is learnt from"
            notes.append(Note(name, done, self.n_known, "drop"))
        elif self.is_whole and (is_id_name(name) or is_code_name(name)):
            notes.append(Note(name, "whole numbers with the name of a code are read as numbers", self.n_known, "nominal"))
        if self.is_whole and self._may_be_dates(name):
            done = f"numbers such as {self.first:.0f} may be dates; they are read as numbers"
            notes.append(Note(name, done, self.n_known, "date"))
        return notes

    def _may_be_dates(self, name: str) -> bool:
        """Whether the numbers are days as 20240131, or, in a column of that name, as Excel or a clock counts them."""
        low, high = min(self.first, self.last), max(self.first, self.last)
        spans = ((10_000, 80_000), (101, 991_231), (5e8, 5e9), (5e11, 5e12)) if is_moment_name(name) else ()
        return any(a <= low and high <= b for a, b in ((19000101, 21001231), *spans)) and high > 9999


def _holds(known: np.ndarray, law: Callable[[np.ndarray], bool]) -> bool:
    return len(known) > 1 and law(known[:_FIRST]) and law(known)


def strangers(levels: Sequence[str], values: np.ndarray) -> list[Note]:
    """Strings whose numbers may stand for no value, each with the range of the others, as notes without a column."""
    known = [(float(value), text) for value, text in zip(values.tolist(), levels, strict=True) if value == value]
    if not 3 < len(known) <= MOST_STRINGS:
        return []
    known.sort()
    inner, notes = known[1:-1], []
    for (value, text), others in ((known[0], known[1:]), (known[-1], known[:-1])):
        gap, spread = max(inner[0][0] - value, value - inner[-1][0]), inner[-1][0] - inner[0][0]
        is_odd = value in _SENTINELS or gap > 10 * spread > 0
        is_whole = all(v == np.floor(v) for v, _ in others)
        if is_odd and _is_far(value, 2, others[0][0], others[-1][0], is_whole):
            notes.append(_sentinel("", text, 0, (others[0][1], others[-1][1])))
    return notes


def _far(known: np.ndarray, usual: frozenset[float] = _SENTINELS) -> tuple[dict[float, int], float, float]:
    """The least and the largest number where they may stand for no value, how often; and the range of the others."""
    some = known[:: max(1, len(known) // _SOME)]
    low, high = float(some.min()), float(some.max())
    candidates = [v for v in {low, high} if v in usual or _is_apart(v, some)]
    if not candidates:
        return {}, low, high
    others = known[~np.isin(known, candidates)]
    if not len(others):
        return {}, low, high
    return {v: int((known == v).sum()) for v in candidates}, float(others.min()), float(others.max())


def _is_apart(value: float, some: np.ndarray) -> bool:
    """Whether a number is there more than once, and far from all others."""
    others = some[some != value]
    if len(others) < 3 or len(some) - len(others) < 2 or not np.isfinite(value):
        return False
    low, high = others.min(), others.max()
    return not low <= value <= high and max(low - value, value - high) > 2 * (high - low) > 0


def _is_far(value: float, n: int, low: float, high: float, is_whole: bool) -> bool:
    """Whether a number lies so far from all others that it may stand for no value."""
    if low <= value <= high:
        return False
    if value in (-1, -8, -9):
        return low >= 0 and is_whole and high > 5
    gap, spread = max(low - value, value - high), high - low
    if value in _SENTINELS:
        return gap > max(spread, 1) * (0.5 if abs(value) >= 999 else 1)
    return gap > (2 if n > 1 else 10) * spread > 0


def _sentinel(name: str, value: str, n: int, others: tuple[str, str]) -> Note:
    done = f"{value} lies far from the other values ({others[0]} to {others[1]}) and may mean a missing one; it is kept"
    return Note(name, done, n, "missing", value, is_doubtful=True)
