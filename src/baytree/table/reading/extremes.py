"""Numbers that may stand for no value: an extreme such as -999, or one that is often there, far from all others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np

from baytree import _core

_SENTINELS = frozenset(sign * int(digit * k) for sign in (1, -1) for digit in "98" for k in range(2, 9)) | {-1, -9, -8}
_SENTINEL_NUMBERS = np.array(sorted(_SENTINELS), np.float64)
_SOME = 4096  # rows that tell whether all are to be looked at
_MOST_EXACT = 1 << 16  # rows of which the ends are found exactly
MOST_STRINGS = 20_000  # that are looked at
Counts = tuple[tuple[float, int], ...]  # numbers, and how often each is there


class Stranger(NamedTuple):
    """A number far from all others, how often it is there, and the range of the others."""

    value: float
    n: int
    low: float
    high: float


class Ends(msgspec.Struct, frozen=True):
    """The two least and the two largest different numbers, and how often each is there; those of parts add up."""

    lowest: Counts
    highest: Counts

    @classmethod
    def of(cls, values: np.ndarray) -> Self:
        """The ends of these numbers; NaN is none."""
        return cls.and_missing(values)[0]

    @classmethod
    def and_missing(cls, values: np.ndarray) -> tuple[Self, int]:
        """The ends of these numbers, and how many are NaN."""
        lowest, highest, n_missing = _core.ends(np.ascontiguousarray(values, np.float64))
        return cls(tuple(lowest), tuple(highest)), n_missing

    def __add__(self, other: Self) -> Self:
        low, high = _counts(self.lowest, other.lowest), _counts(self.highest, other.highest)
        return type(self)(tuple(sorted(low)[:2]), tuple(sorted(high, reverse=True)[:2]))

    def strangers(self, is_whole: bool, is_date: bool) -> Iterator[Stranger]:
        """The ends that may stand for no value, the lower one first."""
        for here, there in ((self.lowest, self.highest), (self.highest, self.lowest)):
            if len(here) < 2:
                return
            (value, n), near = here[0], here[1][0]
            beyond = [end for end, _ in there[1:] if there[0][0] in _SENTINELS and end != value]
            ranges = ((min(near, end), max(near, end)) for end in (*beyond, there[0][0]))
            found = next((between for between in ranges if _is_far(value, n, *between, is_whole, is_date)), None)
            if found is not None:
                yield Stranger(value, n, *found)


def _counts(mine: Counts, theirs: Counts) -> Iterable[tuple[float, int]]:
    """How often each number is there in both."""
    count = dict(mine)
    for value, n in theirs:
        count[value] = count.get(value, 0) + n
    return count.items()


def may_be_strange(known: np.ndarray) -> bool:
    """Whether an end may stand for no value, by its place among some of the rows; of large tables, by that among these."""
    some = known[:: max(1, len(known) // _SOME)]
    some = some[some == some]
    if not len(some):
        return False
    whole = some if len(known) > _MOST_EXACT else known
    low, high = float(np.fmin.reduce(whole)), float(np.fmax.reduce(whole))
    if low in _SENTINELS or high in _SENTINELS:
        return True
    inner = some[(some > low) & (some < high)]
    if not len(inner):
        return False
    return bool(_lies_apart(low, float(inner.min()), float(inner.max()), high))


def may_hold_strangers(numbers: np.ndarray) -> np.ndarray:
    """`may_be_strange` of each column of a matrix of few rows, all of them finite: [n_columns]."""
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    is_inner = (numbers > low) & (numbers < high)
    near = numbers.min(axis=0, where=is_inner, initial=np.inf)
    far = numbers.max(axis=0, where=is_inner, initial=-np.inf)
    return np.isin(low, _SENTINEL_NUMBERS) | np.isin(high, _SENTINEL_NUMBERS) | _lies_apart(low, near, far, high)


def _lies_apart(low: Any, near: Any, far: Any, high: Any) -> Any:
    """Whether an end lies farther from the numbers between both ends than these spread."""
    spreads = 2 * (high - near), 2 * (far - low)
    return ((near - low > spreads[0]) & (spreads[0] > 0)) | ((high - far > spreads[1]) & (spreads[1] > 0))


def written(levels: Sequence[str], values: np.ndarray, is_date: bool) -> Iterator[tuple[str, str, str]]:
    """The strings whose numbers may stand for no value, each with the strings between which all others lie."""
    known = sorted((value, text) for value, text in zip(values.tolist(), levels, strict=True) if value == value)
    if not 3 < len(known) <= MOST_STRINGS:
        return
    texts = dict(known)
    is_whole = all(value == np.floor(value) for value, _ in known)
    ends = Ends.of(np.array([value for value, _ in known]))
    for stranger in ends.strangers(is_whole, is_date):
        yield texts[stranger.value], texts[stranger.low], texts[stranger.high]


def _is_far(value: float, n: int, low: float, high: float, is_whole: bool, is_date: bool) -> bool:
    """Whether a number lies so far from all others that it may stand for no value."""
    if low <= value <= high or not np.isfinite(value):
        return False
    gap, spread = max(low - value, value - high), high - low
    if not is_date and value in (-1, -8, -9):
        return low >= 0 and is_whole and high > 5
    if not is_date and value in _SENTINELS:
        return gap > max(spread, 1) * (0.5 if abs(value) >= 999 else 1)
    return gap > 2 * spread > 0 and (n > 1 or (is_date and gap > 10 * spread))
