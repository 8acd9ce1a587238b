"""What a column of numbers shows beside its numbers: that it counts rows, never changes, or holds a number for no value.

Whole columns are read only where their first rows, or some taken at equal steps, give a reason to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import msgspec
import numpy as np

from baytree.table.notes import Note
from baytree.table.reading.words import is_id_name, is_measure_name

_SENTINELS = frozenset(sign * int(digit * k) for sign in (1, -1) for digit in "98" for k in range(2, 9)) | {-1, -9, -8}
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
    def of_part(cls, name: str, values: np.ndarray) -> Self:
        """What these numbers show, all of them looked at, so that parts add up to the whole."""
        known = values[values == values] if np.isnan(values.sum()) else values
        if not len(known):
            return cls.of(name, known)
        low, high = float(known.min()), float(known.max())
        far = {v: int((known == v).sum()) for v in {low, high} if v in _SENTINELS}
        if far:
            others = known[~np.isin(known, list(far))]
            low, high = float(others.min(initial=np.inf)), float(others.max(initial=-np.inf))
        seen = msgspec.structs.replace(cls.of(name, known), far=far, low=low, high=high)
        return seen if len(known) > 1 else msgspec.structs.replace(seen, counts_up=True, all_differ=True, is_constant=True)

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

    def notes(self, name: str) -> list[Note]:
        """What is told of a column that is learnt from."""
        seen = self._settled()
        notes = [_sentinel(name, value, n, seen) for value, n in sorted(seen.far.items())]
        if self.is_constant and self.n_known > 1:
            notes.append(Note(name, f"every value is {self.first:.6g}: nothing can be learnt from it", self.n_known, "drop"))
        elif self.counts_up and self.n_known >= FEWEST:
            done = f"counts upwards from {self.first:.6g} to {self.last:.6g}, as row numbers do; it is learnt from"
            notes.append(Note(name, done, self.n_known, "drop"))
        elif self.is_whole and is_id_name(name):
            notes.append(Note(name, "whole numbers with the name of a code are read as numbers", self.n_known, "nominal"))
        if self.is_whole and 19000101 <= min(self.first, self.last) <= max(self.first, self.last) <= 21001231:
            notes.append(
                Note(name, f"numbers such as {self.first:.0f} may be dates; they are read as numbers", self.n_known, "date")
            )
        return notes

    def _settled(self) -> Self:
        """With those numbers only that stand far from all others: an extreme of one part may be ordinary in the whole."""
        everything = [self.low, self.high, *self.far]
        ends = [v for v in self.far if v in (min(everything), max(everything))]
        others = [v for v in everything if v not in ends]
        low, high = min(others, default=np.inf), max(others, default=-np.inf)
        far = {v: self.far[v] for v in ends if low <= high and _is_far(v, low, high, self.is_whole)}
        return msgspec.structs.replace(self, far=far, low=low, high=high)


def _holds(known: np.ndarray, law: Callable[[np.ndarray], bool]) -> bool:
    return len(known) > 1 and law(known[:_FIRST]) and law(known)


def _far(known: np.ndarray) -> tuple[dict[float, int], float, float]:
    """The least and the largest number where they look like a word for no value: far from all others, and not once."""
    some = known[:: max(1, len(known) // _SOME)]
    candidates = [v for v in {float(some.min()), float(some.max())} if v in _SENTINELS]
    if not candidates:
        return {}, np.inf, -np.inf
    others = known[~np.isin(known, candidates)]
    if not len(others):
        return {}, np.inf, -np.inf
    low, high = float(others.min()), float(others.max())
    far = {v: int((known == v).sum()) for v in candidates if _is_far(v, low, high, bool((others == np.floor(others)).all()))}
    return far, low, high


def _is_far(value: float, low: float, high: float, are_whole: bool) -> bool:
    if low <= value <= high:
        return False
    if value in (-1, -8, -9):
        return low >= 0 and are_whole and high > 5
    gap = low - value if value < low else value - high
    return gap > max(high - low, 1) * (0.5 if abs(value) >= 999 else 1)


def _sentinel(name: str, value: float, n: int, seen: Amounts) -> Note:
    others = f"the other values ({seen.low:.6g} to {seen.high:.6g})"
    done = f"{value:g} lies far from {others} and may mean a missing one; it is read as a number"
    return Note(name, done, n, "missing", f"{value:g}", is_doubtful=True)
