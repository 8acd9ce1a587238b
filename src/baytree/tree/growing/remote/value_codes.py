"""Numbers as codes that do not depend on how rows are parted: their distinct values where these are few, else quantiles."""

from __future__ import annotations

from functools import partial
from typing import Self

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column, Kind
from baytree.engine.partitions import Partitions

MOST_DISTINCT = 65_536

N_QUANTILES = 254  # with the largest number and the missing one 256 codes: a byte of each row

_FIRST_BITS, _BITS = 16, 7  # of a double that are counted in the first round, and in each further one

_FEW = 1 << 20  # numbers of all columns that still may be a quantile: all their bits are asked for at once


class ColumnCodes(msgspec.Struct, frozen=True):
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
        return _core.interval_codes(_plain(values), ends)

    def put(self, table: Table, column: int, cells: np.ndarray) -> None:
        """Writes the codes of a column into narrow integers. [n_rows]"""
        ends, values = self.ends[column], table.values[column]
        if ends is None:
            np.add(values, 1, out=cells, casting="unsafe")
        else:
            _core.code_intervals(_plain(values), ends, cells)

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


def codes_of(rows: Partitions) -> ColumnCodes:
    """The codes of all columns: one round, and two to six more where a column of numbers has too many different ones."""
    columns = rows.schema.columns
    numeric = tuple(j for j, column in enumerate(columns) if column.kind is Kind.NUMERIC)
    first_bits = rows.submit(partial(BitCounts.of, numeric, (), 64 - _FIRST_BITS, _FIRST_BITS)) if numeric else None
    found = dict(zip(numeric, rows.map_reduce(partial(DistinctNumbers.of, numeric)).values, strict=True)) if numeric else {}
    wide = tuple(j for j in numeric if found[j] is None)
    quantiles = {}
    if wide and first_bits is not None:
        counted = dict(zip(numeric, first_bits().columns, strict=True))
        quantiles = dict(zip(wide, _quantiles(rows, wide, [counted[j] for j in wide]), strict=True))
    ends = tuple(quantiles.get(j, found.get(j)) for j in range(len(columns)))
    sizes = [len(end) + 1 if end is not None else len(c.levels) + 1 for c, end in zip(columns, ends, strict=True)]
    return ColumnCodes(ends, tuple(j not in quantiles for j in range(len(columns))), tuple(sizes))


class DistinctNumbers(msgspec.Struct, frozen=True):
    """The different numbers of columns, in order; None where they are too many."""

    values: tuple[np.ndarray | None, ...]

    @classmethod
    def of(cls, columns: tuple[int, ...], table: Table) -> Self:
        """Of these columns."""
        return cls(tuple(_distinct(_plain(table.values[j])) for j in columns))

    def __add__(self, other: Self) -> Self:
        pairs = zip(self.values, other.values, strict=True)
        return type(self)(tuple(None if a is None or b is None else _few(np.union1d(a, b)) for a, b in pairs))


def _distinct(values: np.ndarray) -> np.ndarray | None:
    """The different numbers, sorted; None where they are too many."""
    return None if _core.are_many(values, MOST_DISTINCT) else _few(np.unique(_known(values)))


def _few(values: np.ndarray) -> np.ndarray | None:
    return values if len(values) <= MOST_DISTINCT else None


def _known(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values)] + 0.0  # −0.0 is 0.0


def _quantiles(rows: Partitions, columns: tuple[int, ...], first_bits: list[PrefixCounts]) -> list[np.ndarray]:
    """The exact quantiles of columns: the bits of doubles are counted from the left, where a quantile still may be.

    Once few numbers are left there, all their other bits are counted in one round.
    """
    wanted, left = [_Wanted.first(counts) for counts in first_bits], 64 - _FIRST_BITS
    while left:
        bits = left if sum(each.n_left for each in wanted) <= _FEW else min(_BITS, left)
        left -= bits
        prefixes = tuple(np.unique(each.prefix) for each in wanted)
        seen = rows.map_reduce(partial(BitCounts.of, columns, prefixes, left, bits))
        pairs = zip(wanted, prefixes, seen.columns, strict=True)
        wanted = [each.next(known, counts, bits) for each, known, counts in pairs]
    return [np.unique(_number(each.prefix)) for each in wanted]


class BitCounts(msgspec.Struct, frozen=True):
    """For each column how many numbers begin with each of some bits, and go on with each of the next few."""

    columns: tuple[PrefixCounts, ...]

    @classmethod
    def of(cls, columns: tuple[int, ...], prefixes: tuple[np.ndarray, ...], shift: int, bits: int, table: Table) -> Self:
        """Of these columns; without prefixes from the first bit on."""
        known = prefixes or tuple(np.zeros(1, np.uint64) for _ in columns)
        pairs = zip(columns, known, strict=True)
        return cls(tuple(_counted(_plain(table.values[j]), own, shift, bits) for j, own in pairs))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.columns, other.columns, strict=True)))


class PrefixCounts(msgspec.Struct, frozen=True):
    """How many numbers are in each cell, of which a prefix has 2^bits; only in those that have some, where these are few."""

    count: np.ndarray  # integers
    place: np.ndarray | None = None  # integers in order, the cell that each count is of; None where all are there
    n_cells: int = 0  # where they can be counted one by one

    def __add__(self, other: Self) -> Self:
        if self.place is None or other.place is None:
            return type(self)(counts_added(self._dense(), other._dense()), None, self.n_cells)
        place, at = np.unique(np.concatenate([self.place, other.place]), return_inverse=True)
        count = np.bincount(at, np.concatenate([self.count, other.count])).astype(np.int64)
        return type(self)(count, place, self.n_cells)

    def filled(self) -> tuple[np.ndarray, np.ndarray]:
        """The cells that have numbers, in order, and how many."""
        if self.place is not None:
            return self.place.astype(np.int64), self.count
        place = np.flatnonzero(self.count)
        return place, self.count[place]

    def _dense(self) -> np.ndarray:
        if self.place is None:
            return self.count
        counts = np.zeros(self.n_cells, self.count.dtype)
        counts[self.place] = self.count
        return counts


def counts_added(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Counts travel in four bytes while no sum can be more than these hold."""
    is_wide = one.dtype == np.int32 and max(one.max(initial=0), other.max(initial=0)) >= 1 << 30
    return one.astype(np.int64) + other if is_wide else one + other


def _counted(values: np.ndarray, prefixes: np.ndarray, shift: int, bits: int) -> PrefixCounts:
    if bits > _FIRST_BITS:
        place, count = np.unique(_core.prefix_cells(values, prefixes, shift, bits), return_counts=True)
        return PrefixCounts(count, place)
    counts = _core.prefix_counts(values, prefixes, shift, bits)
    place = np.flatnonzero(counts)
    is_sparse = 4 * len(place) <= len(counts)
    return (
        PrefixCounts(counts[place], place.astype(np.int32), len(counts))
        if is_sparse
        else PrefixCounts(counts, None, len(counts))
    )


class _Wanted(msgspec.Struct, frozen=True):
    """For each quantile the bits that are known of it, and its rank among the numbers that begin with them."""

    prefix: np.ndarray  # uint64 [n]
    rank: np.ndarray  # int64 [n], from 1
    n_left: int = 0  # numbers that begin so

    @classmethod
    def first(cls, counted: PrefixCounts) -> Self:
        n = int(counted.filled()[1].sum())
        rank = np.unique(np.append(np.arange(1, N_QUANTILES + 1) * n // (N_QUANTILES + 1), n))
        rank = rank[rank > 0]
        return cls(np.zeros(len(rank), np.uint64), rank).next(np.zeros(1, np.uint64), counted, _FIRST_BITS)

    def next(self, prefixes: np.ndarray, counted: PrefixCounts, bits: int) -> Self:
        """With as many more bits as were counted."""
        place, count = counted.filled()
        first = np.searchsorted(prefixes, self.prefix) << bits  # the first cell of each prefix
        below = np.concatenate([[0], np.cumsum(count)])  # numbers before each cell that has some
        rank = self.rank + below[np.searchsorted(place, first)]
        at = np.searchsorted(below, rank, side="left") - 1
        tail = (place[at] - first).astype(np.uint64)
        n_left = int(count[np.unique(at)].sum())
        return type(self)((self.prefix << np.uint64(bits)) | tail, rank - below[at], n_left)


def _plain(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, np.float64)


def _number(key: np.ndarray) -> np.ndarray:
    """The doubles of integers that ascend with them."""
    return np.where(key >> np.uint64(63), key & np.uint64((1 << 63) - 1), ~key).view(np.float64)
