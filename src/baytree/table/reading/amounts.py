"""What a column of numbers shows beside its numbers: that it counts rows, never changes, or holds a number for no value.

Whole columns are read only where their first rows, or some taken at equal steps, give a reason to.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isinf
from typing import Self

import msgspec
import numpy as np

from baytree.table.notes import Note
from baytree.table.reading.extremes import Ends, may_be_strange, may_hold_strangers
from baytree.table.reading.words import is_code_name, is_id_name, is_measure_name, is_moment_name

_FIRST = 16  # rows that must agree before all are compared
_FEW_ROWS, _AT_ONCE = 4096, 1024  # rows, and columns, of a matrix whose columns are looked at together
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
    ends: Ends | None = None  # where one of them may stand for no value, and always of parts
    is_date: bool = False

    @classmethod
    def of(cls, name: str, values: np.ndarray) -> Self:
        """What these numbers show."""
        known = values[values == values] if np.isnan(values[:_FIRST]).any() else values
        seen = cls._of_known(name, known)
        return msgspec.structs.replace(seen, ends=_ends(known)) if len(known) else seen

    @classmethod
    def _of_known(cls, name: str, known: np.ndarray) -> Self:
        if not len(known):
            return cls(0, np.nan, np.nan, False, False, False, False)
        counts_up = _holds(known, lambda v: bool((np.diff(v) == 1).all()))
        is_whole = all(map(_is_whole, known[:_FIRST].tolist())) and bool((known == np.floor(known)).all())
        differ = counts_up or (is_id_name(name) and is_whole and len(np.unique(known)) == len(known))
        constant = _holds(known, lambda v: bool((v == v[0]).all()))
        return cls(len(known), float(known[0]), float(known[-1]), counts_up, differ, constant, is_whole)

    @classmethod
    def of_dates(cls, values: np.ndarray) -> Self:
        """What these dates show: they number no rows."""
        known = values[values == values]
        if not len(known):
            return cls(0, np.nan, np.nan, False, False, False, False, is_date=True)
        constant = _holds(known, lambda v: bool((v == v[0]).all()))
        return cls(len(known), float(known[0]), float(known[-1]), False, False, constant, False, _ends(known), True)

    @classmethod
    def of_part(cls, name: str, values: np.ndarray, is_date: bool) -> Self:
        """What some of the rows show, all of them looked at, so that parts add up to the whole."""
        ends, n_missing = Ends.and_missing(values)
        known = values[values == values] if n_missing else values
        seen = cls.of_dates(known) if is_date else cls._of_known(name, known)
        if not len(known):
            return seen
        seen = msgspec.structs.replace(seen, ends=ends)
        return (
            seen
            if len(known) > 1
            else msgspec.structs.replace(seen, counts_up=not is_date, all_differ=not is_date, is_constant=True)
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

    def identifies(self, name: str) -> bool:
        """Whether the numbers only tell rows apart."""
        if not self.is_whole:
            return False
        if is_id_name(name):
            return self.all_differ and self.n_known >= FEWEST_NAMED
        return self.counts_up and self.first in (0, 1) and self.n_known >= FEWEST and not is_measure_name(name)

    def notes(self, name: str, show: Callable[[float], str]) -> list[Note]:
        """What is told of a column that is learnt from; `show` says a value in words."""
        strangers = self.ends.strangers(self.is_whole, self.is_date) if self.ends is not None else ()
        notes = [stranger_note(name, show(v), n, show(low), show(high)) for v, n, low, high in strangers]
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


def may_tell(numbers: np.ndarray) -> np.ndarray:
    """Of which columns of a matrix `Amounts` may have something to tell; of all others surely nothing. bool [n_columns]"""
    n_rows, n_columns = numbers.shape
    if not 1 < n_rows <= _FEW_ROWS:
        return np.ones(n_columns, bool)
    parts = (numbers[:, first : first + _AT_ONCE] for first in range(0, n_columns, _AT_ONCE))
    return np.concatenate([_may_tell(part) for part in parts])


def _may_tell(numbers: np.ndarray) -> np.ndarray:
    first = numbers[:_FIRST]
    with np.errstate(over="ignore", invalid="ignore"):
        is_known = np.isfinite(numbers.sum(axis=0))
        step = first[1] - first[0]
        is_whole = (first == np.floor(first)).all(axis=0)
        return ~is_known | (step == 0) | (step == 1) | is_whole | may_hold_strangers(numbers)


def stranger_note(name: str, value: str, n: int, low: str, high: str) -> Note:
    """What is told of a value that may stand for no value."""
    done = f"{value} lies far from the other values ({low} to {high}) and may mean a missing one; it is kept"
    return Note(name, done, n, "missing", value, is_doubtful=True)


def _ends(known: np.ndarray) -> Ends | None:
    if not may_be_strange(known):
        return None
    return Ends.of(known[known == known])


def _is_whole(value: float) -> bool:
    return value.is_integer() or isinf(value)


def _holds(known: np.ndarray, law: Callable[[np.ndarray], bool]) -> bool:
    return len(known) > 1 and law(known[:2]) and law(known[:_FIRST]) and law(known)
