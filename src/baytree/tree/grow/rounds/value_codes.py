"""Numbers as codes that do not depend on how rows are parted: their distinct values where these are few, else quantiles."""

from __future__ import annotations

from functools import partial
from typing import Self

import msgspec
import numpy as np

from baytree.engine.parts import Parts
from baytree.table.schema import Column, Kind
from baytree.table.table import Table

MOST_DISTINCT = 65_536
N_QUANTILES = 2047
_FIRST_BITS, _BITS = 16, 8  # of a double that are counted in the first round, and in each further one
_FEW = 1 << 20  # numbers of all columns that still may be a quantile: all their bits are asked for at once
_TABLE_BITS = 24  # of a number that are looked up in a table
_HASH_BITS, _ODD = 20, np.uint64(0x9E3779B97F4A7C15)


class Codes(msgspec.Struct, frozen=True):
    """For each column what its codes stand for; code 0 is a missing value.

    `ends[j]` are the numbers of a numeric column: code k is what is above ends[k − 2] and at most ends[k − 1]. It is None
    for levels and ranks, which have codes already.
    """

    ends: tuple[np.ndarray | None, ...]
    is_exact: tuple[bool, ...]  # each code stands for one number
    sizes: tuple[int, ...]

    def of(self, table: Table, column: int) -> np.ndarray:
        """int64 [n_rows]: the codes of a column."""
        ends, values = self.ends[column], table.values[column]
        if ends is None:
            return values.astype(np.int64) + 1
        return np.where(np.isnan(values), 0, np.searchsorted(ends, values, side="left") + 1)

    def values(self, column: Column, place: int, codes: np.ndarray) -> np.ndarray:
        """What a column holds where it has these codes: numbers at the upper end of theirs."""
        ends = self.ends[place]
        if ends is None:
            return (codes - 1).astype(np.int32)
        return np.concatenate([[np.nan], ends])[codes]

    def cut(self, column: int, cut: float, is_strict: bool) -> float:
        """A cut between two codes as one between numbers: nothing between the ends of two quantiles is on a wrong side."""
        ends = self.ends[column]
        if ends is None or self.is_exact[column] or np.isinf(cut):
            return cut
        below = float(ends[np.searchsorted(ends, cut, side="right") - 1])
        return float(np.nextafter(below, np.inf)) if is_strict else below


def codes_of(rows: Parts) -> Codes:
    """The codes of all columns: one round, and two to six more where a column of numbers has too many different ones."""
    columns = rows.schema.columns
    numeric = tuple(j for j, column in enumerate(columns) if column.kind is Kind.NUMERIC)
    first_bits = rows.later(partial(BitCounts.of, numeric, (), 64 - _FIRST_BITS, _FIRST_BITS)) if numeric else None
    found = dict(zip(numeric, rows.total(partial(Distinct.of, numeric)).values, strict=True)) if numeric else {}
    wide = tuple(j for j in numeric if found[j] is None)
    quantiles = {}
    if wide and first_bits is not None:
        counted = dict(zip(numeric, first_bits().columns, strict=True))
        quantiles = dict(zip(wide, _quantiles(rows, wide, [counted[j] for j in wide]), strict=True))
    ends = tuple(quantiles.get(j, found.get(j)) for j in range(len(columns)))
    sizes = [len(end) + 1 if end is not None else len(c.levels) + 1 for c, end in zip(columns, ends, strict=True)]
    return Codes(ends, tuple(j not in quantiles for j in range(len(columns))), tuple(sizes))


class Distinct(msgspec.Struct, frozen=True):
    """The different numbers of columns, in order; None where they are too many."""

    values: tuple[np.ndarray | None, ...]

    @classmethod
    def of(cls, columns: tuple[int, ...], table: Table) -> Self:
        """Of these columns."""
        return cls(tuple(_distinct(_known(table.values[j])) for j in columns))

    def __add__(self, other: Self) -> Self:
        pairs = zip(self.values, other.values, strict=True)
        return type(self)(tuple(None if a is None or b is None else _few(np.union1d(a, b)) for a, b in pairs))


def _distinct(values: np.ndarray) -> np.ndarray | None:
    """Sorted only where they may be few: there are at least as many different numbers as hashes of them."""
    if len(values) > MOST_DISTINCT:
        is_met = np.zeros(1 << _HASH_BITS, bool)
        is_met[(values.view(np.uint64) * _ODD) >> np.uint64(64 - _HASH_BITS)] = True
        if np.count_nonzero(is_met) > MOST_DISTINCT:
            return None
    return _few(np.unique(values))


def _few(values: np.ndarray) -> np.ndarray | None:
    return values if len(values) <= MOST_DISTINCT else None


def _known(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values)] + 0.0  # −0.0 is 0.0


def _quantiles(rows: Parts, columns: tuple[int, ...], first_bits: list[Cells]) -> list[np.ndarray]:
    """The exact quantiles of columns: the bits of doubles are counted from the left, where a quantile still may be.

    Once few numbers are left there, all their other bits are counted in one round.
    """
    wanted, left = [_Wanted.first(counts) for counts in first_bits], 64 - _FIRST_BITS
    while left:
        bits = left if sum(each.n_left for each in wanted) <= _FEW else min(_BITS, left)
        left -= bits
        prefixes = tuple(np.unique(each.prefix) for each in wanted)
        seen = rows.total(partial(BitCounts.of, columns, prefixes, left, bits))
        pairs = zip(wanted, prefixes, seen.columns, strict=True)
        wanted = [each.next(known, counts, bits) for each, known, counts in pairs]
    return [np.unique(_number(each.prefix)) for each in wanted]


class BitCounts(msgspec.Struct, frozen=True):
    """For each column how many numbers begin with each of some bits, and go on with each of the next few."""

    columns: tuple[Cells, ...]

    @classmethod
    def of(cls, columns: tuple[int, ...], prefixes: tuple[np.ndarray, ...], shift: int, bits: int, table: Table) -> Self:
        """Of these columns; without prefixes from the first bit on."""
        known = prefixes or tuple(np.zeros(1, np.uint64) for _ in columns)
        pairs = zip(columns, known, strict=True)
        return cls(tuple(_counted(_key(_known(table.values[j])), own, shift, bits) for j, own in pairs))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.columns, other.columns, strict=True)))


class Cells(msgspec.Struct, frozen=True):
    """How many numbers are in each cell that has some: 2^bits cells for each prefix, of which a part fills few."""

    place: np.ndarray  # integers in order; of eight bits four bytes each, which travel
    count: np.ndarray  # integers

    def __add__(self, other: Self) -> Self:
        place, at = np.unique(np.concatenate([self.place, other.place]), return_inverse=True)
        count = np.bincount(at, np.concatenate([self.count, other.count])).astype(np.int64)
        return type(self)(place, count)


def _counted(key: np.ndarray, prefixes: np.ndarray, shift: int, bits: int) -> Cells:
    at = np.zeros(len(key), np.int64)
    if shift + bits < 64:
        key = key[_may_begin(key, prefixes, 64 - shift - bits)]
        head = key >> np.uint64(shift + bits)
        at = np.minimum(np.searchsorted(prefixes, head), len(prefixes) - 1)
        is_in = prefixes[at] == head
        key, at = key[is_in], at[is_in]
    tail = (key >> np.uint64(shift)) & np.uint64((1 << bits) - 1)
    cell = (at << bits) + tail.astype(np.int64)
    if bits > _FIRST_BITS:
        return Cells(*np.unique(cell, return_counts=True))
    counts = np.bincount(cell)
    place = np.flatnonzero(counts)
    return Cells(place.astype(np.int32), counts[place].astype(np.int32))


def _may_begin(key: np.ndarray, prefixes: np.ndarray, n_bits: int) -> np.ndarray:
    """Which numbers begin as one of the prefixes does, by a table of their first bits: most others are found out there."""
    known = min(n_bits, _TABLE_BITS)
    may = np.zeros(1 << known, bool)
    may[prefixes >> np.uint64(n_bits - known)] = True
    return may[key >> np.uint64(64 - known)]


class _Wanted(msgspec.Struct, frozen=True):
    """For each quantile the bits that are known of it, and its rank among the numbers that begin with them."""

    prefix: np.ndarray  # uint64 [n]
    rank: np.ndarray  # int64 [n], from 1
    n_left: int = 0  # numbers that begin so

    @classmethod
    def first(cls, counted: Cells) -> Self:
        n = int(counted.count.sum())
        rank = np.unique(np.append(np.arange(1, N_QUANTILES + 1) * n // (N_QUANTILES + 1), n))
        rank = rank[rank > 0]
        return cls(np.zeros(len(rank), np.uint64), rank).next(np.zeros(1, np.uint64), counted, _FIRST_BITS)

    def next(self, prefixes: np.ndarray, counted: Cells, bits: int) -> Self:
        """With as many more bits as were counted."""
        first = np.searchsorted(prefixes, self.prefix) << bits  # the first cell of each prefix
        below = np.concatenate([[0], np.cumsum(counted.count)])  # numbers before each cell that has some
        rank = self.rank + below[np.searchsorted(counted.place, first)]
        at = np.searchsorted(below, rank, side="left") - 1
        tail = (counted.place[at] - first).astype(np.uint64)
        n_left = int(counted.count[np.unique(at)].sum())
        return type(self)((self.prefix << np.uint64(bits)) | tail, rank - below[at], n_left)


def _key(values: np.ndarray) -> np.ndarray:
    """Doubles as integers in the same order."""
    bits = np.ascontiguousarray(values).view(np.uint64)
    return np.where(bits >> np.uint64(63), ~bits, bits | np.uint64(1 << 63))


def _number(key: np.ndarray) -> np.ndarray:
    return np.where(key >> np.uint64(63), key & np.uint64((1 << 63) - 1), ~key).view(np.float64)
