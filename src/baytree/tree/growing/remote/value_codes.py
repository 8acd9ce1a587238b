"""Codes of numbers, independent of the partitions: one per distinct value if there are few, else exact quantile bins.

Quantiles are found by counting the bits of the (order-preserving) integer image of doubles from the left, a few bits per
map-reduce pass, only below the prefixes in which a quantile may lie.
"""

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

N_QUANTILES = 254  # with the maximum and the missing value 256 codes: a byte per row

_FIRST_BITS, _BITS = 16, 7  # bits of a double that are counted in the first pass, and in each further one

# numbers of all columns under the wanted prefixes; below it, all remaining bits are counted in one pass
_MAX_REMAINING = 1 << 20


class ColumnCodes(msgspec.Struct, frozen=True):
    """Meaning of the codes of each column; code 0 is a missing value.

    `ends[j]` are the upper bounds of a numeric column: code k covers numbers above ends[k − 2] and up to ends[k − 1].
    It is None for nominal and ordinal columns, which have codes already.
    """

    ends: tuple[np.ndarray | None, ...]
    is_exact: tuple[bool, ...]  # each code stands for one number
    sizes: tuple[int, ...]

    def of(self, table: Table, column: int) -> np.ndarray:
        """Codes of a column, int64 [n_rows]."""
        ends, values = self.ends[column], table.values[column]
        if ends is None:
            return values.astype(np.int64) + 1
        return _core.interval_codes(_as_float64(values), ends)

    def put(self, table: Table, column: int, cells: np.ndarray) -> None:
        """Write the codes of a column into an array of narrow integers [n_rows]."""
        ends, values = self.ends[column], table.values[column]
        if ends is None:
            np.add(values, 1, out=cells, casting="unsafe")
        else:
            _core.code_intervals(_as_float64(values), ends, cells)

    def values(self, column: Column, place: int, codes: np.ndarray) -> np.ndarray:
        """Values of a column that codes stand for; the upper bound of a quantile bin."""
        ends = self.ends[place]
        if ends is None:
            return (codes - 1).astype(np.int32)
        return np.concatenate([[np.nan], ends])[codes]

    def cut(self, column: int, cut: float, is_strict: bool) -> float:
        """Convert a threshold between two codes to a number that separates the rows of the two bins as the codes do."""
        ends = self.ends[column]
        if ends is None or self.is_exact[column] or np.isinf(cut):
            return cut
        below = float(ends[np.searchsorted(ends, cut, side="right") - 1])
        return float(np.nextafter(below, np.inf)) if is_strict else below


def codes_of(rows: Partitions) -> ColumnCodes:
    """Codes of all columns, in one pass, and two to six more if a numeric column has too many distinct values."""
    columns = rows.schema.columns
    numeric = tuple(j for j, column in enumerate(columns) if column.kind is Kind.NUMERIC)
    first_bits = rows.submit(partial(BitCounts.of, numeric, (), 64 - _FIRST_BITS, _FIRST_BITS)) if numeric else None
    distinct = (
        dict(zip(numeric, rows.map_reduce(partial(DistinctNumbers.of, numeric)).values, strict=True)) if numeric else {}
    )
    wide = tuple(j for j in numeric if distinct[j] is None)
    quantiles = {}
    if wide and first_bits is not None:
        first_counts = dict(zip(numeric, first_bits().columns, strict=True))
        quantiles = dict(zip(wide, _quantiles(rows, wide, [first_counts[j] for j in wide]), strict=True))
    ends = tuple(quantiles.get(j, distinct.get(j)) for j in range(len(columns)))
    sizes = [len(end) + 1 if end is not None else len(c.levels) + 1 for c, end in zip(columns, ends, strict=True)]
    return ColumnCodes(ends, tuple(j not in quantiles for j in range(len(columns))), tuple(sizes))


class DistinctNumbers(msgspec.Struct, frozen=True):
    """Distinct numbers of columns, ascending; None if there are too many."""

    values: tuple[np.ndarray | None, ...]

    @classmethod
    def of(cls, columns: tuple[int, ...], table: Table) -> Self:
        """Distinct numbers of these columns of a table."""
        return cls(tuple(_distinct(_as_float64(table.values[j])) for j in columns))

    def __add__(self, other: Self) -> Self:
        pairs = zip(self.values, other.values, strict=True)
        return type(self)(tuple(None if a is None or b is None else _unless_many(np.union1d(a, b)) for a, b in pairs))


def _distinct(values: np.ndarray) -> np.ndarray | None:
    """Distinct numbers, ascending; None if there are too many."""
    return None if _core.are_many(values, MOST_DISTINCT) else _unless_many(np.unique(_without_missing(values)))


def _unless_many(values: np.ndarray) -> np.ndarray | None:
    return values if len(values) <= MOST_DISTINCT else None


def _without_missing(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values)] + 0.0  # −0.0 is 0.0


def _quantiles(rows: Partitions, columns: tuple[int, ...], first_bits: list[PrefixCounts]) -> list[np.ndarray]:
    """Exact quantiles of columns, by counting bits of doubles from the left under the prefixes that may hold a quantile.

    Once few numbers are left under these prefixes, all remaining bits are counted in one pass.
    """
    searches, bits_left = [_PrefixSearch.first(counts) for counts in first_bits], 64 - _FIRST_BITS
    while bits_left:
        bits = bits_left if sum(each.n_left for each in searches) <= _MAX_REMAINING else min(_BITS, bits_left)
        bits_left -= bits
        prefixes = tuple(np.unique(each.prefix) for each in searches)
        counts_of = rows.map_reduce(partial(BitCounts.of, columns, prefixes, bits_left, bits))
        pairs = zip(searches, prefixes, counts_of.columns, strict=True)
        searches = [each.next(known, counts, bits) for each, known, counts in pairs]
    return [np.unique(_double_of_key(each.prefix)) for each in searches]


class BitCounts(msgspec.Struct, frozen=True):
    """Number of values of each column under each prefix, by their next bits."""

    columns: tuple[PrefixCounts, ...]

    @classmethod
    def of(cls, columns: tuple[int, ...], prefixes: tuple[np.ndarray, ...], shift: int, bits: int, table: Table) -> Self:
        """Count the values of these columns of a table; without prefixes, from the first bit on."""
        known = prefixes or tuple(np.zeros(1, np.uint64) for _ in columns)
        pairs = zip(columns, known, strict=True)
        return cls(tuple(_counted(_as_float64(table.values[j]), own, shift, bits) for j, own in pairs))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.columns, other.columns, strict=True)))


class PrefixCounts(msgspec.Struct, frozen=True):
    """Number of values per cell, of which each prefix has 2^bits; sparse if few cells are filled."""

    count: np.ndarray  # integers
    place: np.ndarray | None = None  # integers in order, the cell of each count; None if dense
    n_cells: int = 0  # if dense counting is possible

    def __add__(self, other: Self) -> Self:
        if self.place is None or other.place is None:
            return type(self)(counts_added(self._dense(), other._dense()), None, self.n_cells)
        place, inverse = np.unique(np.concatenate([self.place, other.place]), return_inverse=True)
        count = np.bincount(inverse, np.concatenate([self.count, other.count])).astype(np.int64)
        return type(self)(count, place, self.n_cells)

    def filled(self) -> tuple[np.ndarray, np.ndarray]:
        """Filled cells in order, and their counts."""
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
    """Sum of counts, in four bytes unless it could overflow them."""
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


class _PrefixSearch(msgspec.Struct, frozen=True):
    """Search state of quantiles: the known leading bits, and the rank among the numbers with this prefix."""

    prefix: np.ndarray  # uint64 [n]
    rank: np.ndarray  # int64 [n], from 1
    n_left: int = 0  # numbers with these prefixes

    @classmethod
    def first(cls, counted: PrefixCounts) -> Self:
        n = int(counted.filled()[1].sum())
        rank = np.unique(np.append(np.arange(1, N_QUANTILES + 1) * n // (N_QUANTILES + 1), n))
        rank = rank[rank > 0]
        return cls(np.zeros(len(rank), np.uint64), rank).next(np.zeros(1, np.uint64), counted, _FIRST_BITS)

    def next(self, prefixes: np.ndarray, counted: PrefixCounts, bits: int) -> Self:
        """State after the next bits are counted."""
        place, count = counted.filled()
        first = np.searchsorted(prefixes, self.prefix) << bits  # first cell of each prefix
        cumulative = np.concatenate([[0], np.cumsum(count)])  # numbers before each filled cell
        rank = self.rank + cumulative[np.searchsorted(place, first)]
        cell = np.searchsorted(cumulative, rank, side="left") - 1
        tail = (place[cell] - first).astype(np.uint64)
        n_left = int(count[np.unique(cell)].sum())
        return type(self)((self.prefix << np.uint64(bits)) | tail, rank - cumulative[cell], n_left)


def _as_float64(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, np.float64)


def _double_of_key(key: np.ndarray) -> np.ndarray:
    """Doubles of their order-preserving unsigned integers."""
    return np.where(key >> np.uint64(63), key & np.uint64((1 << 63) - 1), ~key).view(np.float64)
