"""Codes of numbers, independent of the partitions: one per distinct value if there are few, else exact quantile bins.

Quantiles are found by counting the bits of the (order-preserving) integer image of doubles from the left, a few bits per
map-reduce pass, only below the prefixes in which a quantile may lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Self

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column, Kind
from baytree.engine.aggregates import AggregateRows
from baytree.engine.partitions import Partitions

MAX_DISTINCT = 65_536  # distinct numbers of a column that get a code each: two bytes per row; beyond, quantiles are coded

# with the maximum and the missing value 256 codes: a byte per row. A threshold is at most 1/510 of the rows away from the
# exact one; 2,047 quantiles gave no better accuracy on a table of 100,000 rows (benchmarks/notes/0108)
N_QUANTILES = 254

_FIRST_BITS, _NEXT_BITS = (
    16,
    7,
)  # bits of a double counted in the first and in each further pass: 16 bits resolve sign and exponent

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

    def write(self, table: Table, column: int, cells: np.ndarray) -> None:
        """Write the codes of a column into an array of narrow integers [n_rows]."""
        ends, values = self.ends[column], table.values[column]
        if ends is None:
            np.add(values, 1, out=cells, casting="unsafe")
        else:
            _core.code_intervals(_as_float64(values), ends, cells)

    def values(self, column: Column, index: int, codes: np.ndarray) -> np.ndarray:
        """Values of a column that codes stand for; the upper bound of a quantile bin."""
        ends = self.ends[index]
        if ends is None:
            return (codes - 1).astype(np.int32)
        return np.concatenate([[np.nan], ends])[codes]

    def threshold(self, column: int, threshold: float, is_strict: bool) -> float:
        """Convert a threshold between two codes to a number that separates the rows of the two bins as the codes do."""
        ends = self.ends[column]
        if ends is None or self.is_exact[column] or np.isinf(threshold):
            return threshold
        below = float(ends[np.searchsorted(ends, threshold, side="right") - 1])
        return float(np.nextafter(below, np.inf)) if is_strict else below


def codes_of(rows: Partitions) -> ColumnCodes:
    """Codes of all columns, in one pass, and two to six more if a numeric column has too many distinct values."""
    columns = rows.schema.columns
    numeric = tuple(j for j, column in enumerate(columns) if column.kind is Kind.NUMERIC)
    if isinstance(rows, AggregateRows):
        found = dict(zip(numeric, rows.numeric_ends(numeric, MAX_DISTINCT, N_QUANTILES), strict=True))
        return _column_codes(columns, {j: found[j][0] for j in numeric}, {j for j in numeric if not found[j][1]})
    first_bits = rows.submit(partial(BitCounts.of, numeric, (), 64 - _FIRST_BITS, _FIRST_BITS)) if numeric else None
    distinct = (
        dict(zip(numeric, rows.map_reduce(partial(DistinctNumbers.of, numeric)).values, strict=True)) if numeric else {}
    )
    wide = tuple(j for j in numeric if distinct[j] is None)
    quantiles = {}
    if wide and first_bits is not None:
        first_counts = dict(zip(numeric, first_bits().columns, strict=True))
        quantiles = dict(zip(wide, _quantiles(rows, wide, [first_counts[j] for j in wide]), strict=True))
    return _column_codes(
        columns, {j: end for j, end in {**distinct, **quantiles}.items() if end is not None}, set(quantiles)
    )


def _column_codes(columns: Sequence[Column], ends_of: dict[int, np.ndarray], binned: set[int]) -> ColumnCodes:
    ends = tuple(ends_of.get(j) for j in range(len(columns)))
    sizes = [len(end) + 1 if end is not None else len(c.levels) + 1 for c, end in zip(columns, ends, strict=True)]
    return ColumnCodes(ends, tuple(j not in binned for j in range(len(columns))), tuple(sizes))


class DistinctNumbers(msgspec.Struct, frozen=True):
    """Distinct numbers of columns, ascending; None if there are too many."""

    values: tuple[np.ndarray | None, ...]

    @classmethod
    def of(cls, columns: tuple[int, ...], table: Table) -> Self:
        """Distinct numbers of these columns of a table."""
        return cls(tuple(_distinct(_as_float64(table.values[j])) for j in columns))

    def __add__(self, other: Self) -> Self:
        pairs = zip(self.values, other.values, strict=True)
        return type(self)(tuple(None if a is None or b is None else _none_if_many(np.union1d(a, b)) for a, b in pairs))


def _distinct(values: np.ndarray) -> np.ndarray | None:
    """Distinct numbers, ascending; None if there are too many."""
    return None if _core.are_many(values, MAX_DISTINCT) else _none_if_many(np.unique(_without_missing(values)))


def _none_if_many(values: np.ndarray) -> np.ndarray | None:
    return values if len(values) <= MAX_DISTINCT else None


def _without_missing(values: np.ndarray) -> np.ndarray:
    return values[~np.isnan(values)] + 0.0  # −0.0 is 0.0


def _quantiles(rows: Partitions, columns: tuple[int, ...], first_bits: list[PrefixCounts]) -> list[np.ndarray]:
    """Exact quantiles of columns, by counting bits of doubles from the left under the prefixes that may hold a quantile.

    Once few numbers are left under these prefixes, all remaining bits are counted in one pass.
    """
    searches, bits_left = [_PrefixSearch.first(counts) for counts in first_bits], 64 - _FIRST_BITS
    while bits_left:
        bits = bits_left if sum(search.n_left for search in searches) <= _MAX_REMAINING else min(_NEXT_BITS, bits_left)
        bits_left -= bits
        prefixes = tuple(np.unique(search.prefix) for search in searches)
        counts_of = rows.map_reduce(partial(BitCounts.of, columns, prefixes, bits_left, bits))
        pairs = zip(searches, prefixes, counts_of.columns, strict=True)
        searches = [search.next(column_prefixes, counts, bits) for search, column_prefixes, counts in pairs]
    return [np.unique(_double_of_key(search.prefix)) for search in searches]


class BitCounts(msgspec.Struct, frozen=True):
    """Number of values of each column under each prefix, by their next bits."""

    columns: tuple[PrefixCounts, ...]

    @classmethod
    def of(cls, columns: tuple[int, ...], prefixes: tuple[np.ndarray, ...], shift: int, bits: int, table: Table) -> Self:
        """Count the values of these columns of a table; without prefixes, from the first bit on."""
        known_prefixes = prefixes or tuple(np.zeros(1, np.uint64) for _ in columns)
        pairs = zip(columns, known_prefixes, strict=True)
        return cls(
            tuple(
                _count_prefixes(_as_float64(table.values[j]), column_prefixes, shift, bits) for j, column_prefixes in pairs
            )
        )

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.columns, other.columns, strict=True)))


class PrefixCounts(msgspec.Struct, frozen=True):
    """Number of values per cell, of which each prefix has 2^bits; sparse if few cells are filled."""

    count: np.ndarray  # integers
    cell: np.ndarray | None = None  # integers in order, the cell of each count; None if dense
    n_cells: int = 0  # if dense counting is possible

    def __add__(self, other: Self) -> Self:
        if self.cell is None or other.cell is None:
            return type(self)(add_counts(self._dense(), other._dense()), None, self.n_cells)
        cell, inverse = np.unique(np.concatenate([self.cell, other.cell]), return_inverse=True)
        count = np.bincount(inverse, np.concatenate([self.count, other.count])).astype(np.int64)
        return type(self)(count, cell, self.n_cells)

    def nonzero(self) -> tuple[np.ndarray, np.ndarray]:
        """Filled cells in order, and their counts."""
        if self.cell is not None:
            return self.cell.astype(np.int64), self.count
        cell = np.flatnonzero(self.count)
        return cell, self.count[cell]

    def _dense(self) -> np.ndarray:
        if self.cell is None:
            return self.count
        counts = np.zeros(self.n_cells, self.count.dtype)
        counts[self.cell] = self.count
        return counts


def add_counts(counts: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Sum of counts, in four bytes unless it could overflow them."""
    is_wide = counts.dtype == np.int32 and max(counts.max(initial=0), other.max(initial=0)) >= 1 << 30
    return counts.astype(np.int64) + other if is_wide else counts + other


def _count_prefixes(values: np.ndarray, prefixes: np.ndarray, shift: int, bits: int) -> PrefixCounts:
    if bits > _FIRST_BITS:
        cell, count = np.unique(_core.prefix_cells(values, prefixes, shift, bits), return_counts=True)
        return PrefixCounts(count, cell)
    counts = _core.prefix_counts(values, prefixes, shift, bits)
    cell = np.flatnonzero(counts)
    is_sparse = 4 * len(cell) <= len(counts)
    return (
        PrefixCounts(counts[cell], cell.astype(np.int32), len(counts))
        if is_sparse
        else PrefixCounts(counts, None, len(counts))
    )


class _PrefixSearch(msgspec.Struct, frozen=True):
    """Search state of quantiles: the known leading bits, and the rank among the numbers with this prefix."""

    prefix: np.ndarray  # uint64 [n]
    rank: np.ndarray  # int64 [n], from 1
    n_left: int = 0  # numbers with these prefixes

    @classmethod
    def first(cls, prefix_counts: PrefixCounts) -> Self:
        n = int(prefix_counts.nonzero()[1].sum())
        rank = np.unique(np.append(np.arange(1, N_QUANTILES + 1) * n // (N_QUANTILES + 1), n))
        rank = rank[rank > 0]
        return cls(np.zeros(len(rank), np.uint64), rank).next(np.zeros(1, np.uint64), prefix_counts, _FIRST_BITS)

    def next(self, prefixes: np.ndarray, prefix_counts: PrefixCounts, bits: int) -> Self:
        """State after the next bits are counted."""
        filled_cell, count = prefix_counts.nonzero()
        first = np.searchsorted(prefixes, self.prefix) << bits  # first cell of each prefix
        cumulative = np.concatenate([[0], np.cumsum(count)])  # numbers before each filled cell
        rank = self.rank + cumulative[np.searchsorted(filled_cell, first)]
        cell = np.searchsorted(cumulative, rank, side="left") - 1
        tail = (filled_cell[cell] - first).astype(np.uint64)
        n_left = int(count[np.unique(cell)].sum())
        return type(self)((self.prefix << np.uint64(bits)) | tail, rank - cumulative[cell], n_left)


def _as_float64(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, np.float64)


def _double_of_key(key: np.ndarray) -> np.ndarray:
    """Doubles of their order-preserving unsigned integers."""
    return np.where(key >> np.uint64(63), key & np.uint64((1 << 63) - 1), ~key).view(np.float64)
