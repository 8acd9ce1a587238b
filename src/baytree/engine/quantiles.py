"""Bins of similar weight for columns of numbers, in a fixed number of rounds and whatever the parts of the rows.

Few distinct values are counted as they are. Of more, each quantile is found digit by digit: a double is read as a number of
64 bits that ascends with it, and each of four rounds counts the next 16 bits of the numbers that begin as a quantile does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.engine.partitions import Partitions
from baytree.statistics.binning import cuts_of_counts
from baytree.statistics.value_counts import ValueCounts

_DIGITS = (48, 32, 16, 0)  # how many bits come after those that a round has counted

_BASE = 1 << 16

_SIGN, _LOW_BITS = np.uint64(1 << 63), np.int64((1 << 63) - 1)

_ANY = np.zeros(1, np.uint64)


def quantile_edges(rows: Partitions, columns: Sequence[int], n_bins: int) -> list[np.ndarray]:
    """The upper edges of bins of similar weight of each column, but for the last: see `discretize.quantile_cuts`."""
    seen = rows.map_reduce(partial(_values, columns), rows_per_part=None).columns
    many = [j for j, counts in zip(columns, seen, strict=True) if not counts.is_complete]
    found = iter(_by_digits(rows, many, n_bins) if many else ())
    return [cuts_of_counts(c.value, c.weight, n_bins) if c.is_complete else next(found) for c in seen]


class _Columns(msgspec.Struct, frozen=True):
    """The counts of several columns."""

    columns: tuple[ValueCounts, ...]

    def __add__(self, other: _Columns) -> _Columns:
        return _Columns(tuple(mine + theirs for mine, theirs in zip(self.columns, other.columns, strict=True)))


class _Digits(_Columns, frozen=True):
    """The counts of the digits that were asked for, however many."""

    def __add__(self, other: _Columns) -> _Digits:
        return _Digits(tuple(mine.joined(theirs) for mine, theirs in zip(self.columns, other.columns, strict=True)))


def _values(columns: Sequence[int], table: Table) -> _Columns:
    return _Columns(tuple(ValueCounts.of(table.values[j], table.weight) for j in columns))


class _QuantileSearch(msgspec.Struct, frozen=True):
    """How far the quantiles of a column are known."""

    begin: np.ndarray  # uint64 [n], the first bits of each
    before: np.ndarray  # float64 [n], the weight of all numbers that begin lower
    goal: np.ndarray  # float64 [n], the weight at which the quantile is reached
    end: np.uint64  # the first bits of the largest number

    def narrowed(self, counts: ValueCounts) -> _QuantileSearch:
        """With the next digit, of which these are the counts."""
        prefix = counts.value >> np.uint64(16)
        begin, before = self.begin.copy(), self.before.copy()
        for k in range(len(begin)):
            first, last = np.searchsorted(prefix, begin[k]), np.searchsorted(prefix, begin[k], side="right")
            reached = before[k] + np.cumsum(counts.weight[first:last])
            place = min(int(np.searchsorted(reached, self.goal[k])), last - first - 1)
            begin[k], before[k] = counts.value[first + place], reached[place] - counts.weight[first + place]
        return msgspec.structs.replace(self, begin=begin, before=before, end=counts.value[-1])


def _by_digits(rows: Partitions, columns: list[int], n_bins: int) -> list[np.ndarray]:
    numbers = rows.apply(partial(_ascending_columns, columns))
    first = numbers.map_reduce(partial(_digits, [_ANY] * len(columns), _DIGITS[0])).columns
    states = [_started(counts, n_bins).narrowed(counts) for counts in first]
    for digit in _DIGITS[1:]:
        # the largest number is looked for, too: it ends the last bin and is no edge between two
        asked = [np.unique(np.append(state.begin, state.end)) for state in states]
        numbers = numbers.apply(partial(_beginning, asked, digit + 16))
        found = numbers.map_reduce(partial(_digits, asked, digit)).columns
        states = [state.narrowed(counts) for state, counts in zip(states, found, strict=True)]
    return [_as_doubles(np.unique(state.begin[state.begin < state.end])) + 0.0 for state in states]


def _started(counts: ValueCounts, n_bins: int) -> _QuantileSearch:
    goal = counts.weight.sum() * np.arange(1, n_bins) / n_bins * (1 - 1e-12)
    return _QuantileSearch(np.zeros(n_bins - 1, np.uint64), np.zeros(n_bins - 1), goal, np.uint64(0))


class _Numbers(msgspec.Struct, frozen=True):
    """The known numbers of a column, as whole numbers that ascend with them, and the weight of each."""

    bits: np.ndarray  # uint64 [n]
    weight: np.ndarray  # float64 [n]


def _ascending_columns(columns: Sequence[int], table: Table) -> list[_Numbers]:
    return [_ascending(np.ascontiguousarray(table.values[j]), table.weight) for j in columns]


def _ascending(values: np.ndarray, weight: np.ndarray) -> _Numbers:
    known = ~np.isnan(values)
    if not known.all():
        values, weight = values[known], weight[known]
    bits = (values + 0.0).view(np.int64)  # −0.0 is 0.0
    return _Numbers((bits ^ ((bits >> 63) & _LOW_BITS)).view(np.uint64) ^ _SIGN, weight)


def _as_doubles(bits: np.ndarray) -> np.ndarray:
    signed = (bits ^ _SIGN).view(np.int64)
    return (signed ^ ((signed >> 63) & _LOW_BITS)).view(np.float64)


def _beginning(begin: Sequence[np.ndarray], n_bits: int, numbers: list[_Numbers]) -> list[_Numbers]:
    """The numbers of each column that begin with one of these, down to so many bits."""
    return [_with_prefix(each, own, np.uint64(n_bits)) for each, own in zip(numbers, begin, strict=True)]


def _with_prefix(numbers: _Numbers, begin: np.ndarray, n_bits: np.uint64) -> _Numbers:
    prefix = numbers.bits >> n_bits
    own = _marked(begin)[prefix] if n_bits == _DIGITS[0] else np.isin(prefix, begin)
    return _Numbers(numbers.bits[own], numbers.weight[own])


def _marked(digits: np.ndarray) -> np.ndarray:
    """Whether a first digit is one of these: bool [_BASE]. A look at a table, where all numbers are asked."""
    marked = np.zeros(_BASE, bool)
    marked[digits] = True
    return marked


def _digits(begin: Sequence[np.ndarray], digit: int, numbers: list[_Numbers]) -> _Digits:
    return _Digits(tuple(_counts(each, own, digit) for each, own in zip(numbers, begin, strict=True)))


def _counts(numbers: _Numbers, begin: np.ndarray, digit: int) -> ValueCounts:
    """The weight of each next digit of numbers that all begin with one of these (ascending)."""
    digits = numbers.bits >> np.uint64(digit)
    if len(begin) > 1:  # few numbers are left
        value, place = np.unique(digits, return_inverse=True)
        return ValueCounts(value, np.bincount(place, numbers.weight, len(value)))
    total = np.bincount((digits & np.uint64(_BASE - 1)).astype(np.int64), numbers.weight, _BASE)
    found = np.flatnonzero(total > 0)
    return ValueCounts((begin[0] << np.uint64(16)) | found.astype(np.uint64), total[found])
