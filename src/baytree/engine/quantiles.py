"""Approximate quantile bins of numeric columns in a fixed number of passes, independent of the partitioning.

Columns with few distinct values are counted exactly. For the others each quantile is found by radix search: a double is
mapped to a 64-bit integer of the same order, and each of four passes counts the next 16 bits of the values that share the
prefix of a quantile.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.engine.aggregates import AggregateRows
from baytree.engine.partitions import Partitions
from baytree.statistics.binning import cuts_of_counts
from baytree.statistics.value_counts import ValueCounts

_DIGIT_BITS = 16  # bits that one pass counts: four passes, and 65,536 counters per column

_DIGIT_SHIFTS = (48, 32, 16, 0)  # bits below the digit of each pass

_N_DIGIT_VALUES = 1 << _DIGIT_BITS

_SIGN_BIT, _LOW_BITS = np.uint64(1 << 63), np.int64((1 << 63) - 1)

_NO_PREFIX = np.zeros(1, np.uint64)


def quantile_edges(rows: Partitions, columns: Sequence[int], n_bins: int) -> list[np.ndarray]:
    """Upper edges of bins of similar weight of each column, without the last; see `binning.quantile_cuts`."""
    if isinstance(rows, AggregateRows):
        return rows.quantile_edges(columns, n_bins)
    counted = rows.map_reduce(partial(_values, columns), rows_per_part=None).columns
    incomplete = [j for j, counts in zip(columns, counted, strict=True) if not counts.is_complete]
    found = iter(_by_digits(rows, incomplete, n_bins) if incomplete else ())
    return [cuts_of_counts(c.value, c.weight, n_bins) if c.is_complete else next(found) for c in counted]


class _Columns(msgspec.Struct, frozen=True):
    """Value counts of several columns."""

    columns: tuple[ValueCounts, ...]

    def __add__(self, other: _Columns) -> _Columns:
        return _Columns(tuple(mine + theirs for mine, theirs in zip(self.columns, other.columns, strict=True)))


class _Digits(_Columns, frozen=True):
    """Value counts of requested digits, without a limit on their number."""

    def __add__(self, other: _Columns) -> _Digits:
        return _Digits(tuple(mine.joined(theirs) for mine, theirs in zip(self.columns, other.columns, strict=True)))


def _values(columns: Sequence[int], table: Table) -> _Columns:
    return _Columns(tuple(ValueCounts.of(table.values[j], table.weight) for j in columns))


class _QuantileSearch(msgspec.Struct, frozen=True):
    """State of the radix search for the quantiles of a column."""

    begin: np.ndarray  # uint64 [n], known leading bits of each quantile
    before: np.ndarray  # float64 [n], weight of all values with lower leading bits
    goal: np.ndarray  # float64 [n], cumulative weight at which the quantile is reached
    end: np.uint64  # known leading bits of the largest value

    def narrowed(self, counts: ValueCounts) -> _QuantileSearch:
        """State after the next digit, given its counts."""
        prefix = counts.value >> np.uint64(_DIGIT_BITS)
        begin, before = self.begin.copy(), self.before.copy()
        for k in range(len(begin)):
            first, last = np.searchsorted(prefix, begin[k]), np.searchsorted(prefix, begin[k], side="right")
            cumulative = before[k] + np.cumsum(counts.weight[first:last])
            index = min(int(np.searchsorted(cumulative, self.goal[k])), last - first - 1)
            begin[k], before[k] = counts.value[first + index], cumulative[index] - counts.weight[first + index]
        return msgspec.structs.replace(self, begin=begin, before=before, end=counts.value[-1])


def _by_digits(rows: Partitions, columns: list[int], n_bins: int) -> list[np.ndarray]:
    numbers = rows.apply(partial(_observed_columns, columns))
    first = numbers.map_reduce(partial(_digits, [_NO_PREFIX] * len(columns), _DIGIT_SHIFTS[0])).columns
    states = [_initial_search(counts, n_bins).narrowed(counts) for counts in first]
    for digit in _DIGIT_SHIFTS[1:]:
        # the maximum is searched too: it closes the last bin and is not an edge
        prefixes = [np.unique(np.append(state.begin, state.end)) for state in states]
        numbers = numbers.apply(partial(_with_prefixes, prefixes, digit + _DIGIT_BITS))
        digit_counts = numbers.map_reduce(partial(_digits, prefixes, digit)).columns
        states = [state.narrowed(counts) for state, counts in zip(states, digit_counts, strict=True)]
    return [_as_doubles(np.unique(state.begin[state.begin < state.end])) + 0.0 for state in states]


def _initial_search(counts: ValueCounts, n_bins: int) -> _QuantileSearch:
    goal = counts.weight.sum() * np.arange(1, n_bins) / n_bins * (1 - 1e-12)
    return _QuantileSearch(np.zeros(n_bins - 1, np.uint64), np.zeros(n_bins - 1), goal, np.uint64(0))


class _Numbers(msgspec.Struct, frozen=True):
    """Observed values of a column as order-preserving integers, and their weights."""

    bits: np.ndarray  # uint64 [n]
    weight: np.ndarray  # float64 [n]


def _observed_columns(columns: Sequence[int], table: Table) -> list[_Numbers]:
    return [_ordered_bits(np.ascontiguousarray(table.values[j]), table.weight) for j in columns]


def _ordered_bits(values: np.ndarray, weight: np.ndarray) -> _Numbers:
    known = ~np.isnan(values)
    if not known.all():
        values, weight = values[known], weight[known]
    bits = (values + 0.0).view(np.int64)  # turns −0.0 into 0.0
    return _Numbers((bits ^ ((bits >> 63) & _LOW_BITS)).view(np.uint64) ^ _SIGN_BIT, weight)


def _as_doubles(bits: np.ndarray) -> np.ndarray:
    signed = (bits ^ _SIGN_BIT).view(np.int64)
    return (signed ^ ((signed >> 63) & _LOW_BITS)).view(np.float64)


def _with_prefixes(prefixes: Sequence[np.ndarray], n_bits: int, numbers: list[_Numbers]) -> list[_Numbers]:
    """Values of each column that start with one of the requested prefixes (all but the lowest `n_bits` bits)."""
    return [
        _with_prefix(column, prefix_set, np.uint64(n_bits)) for column, prefix_set in zip(numbers, prefixes, strict=True)
    ]


def _with_prefix(numbers: _Numbers, prefixes: np.ndarray, n_bits: np.uint64) -> _Numbers:
    prefix = numbers.bits >> n_bits
    selected = _digit_mask(prefixes)[prefix] if n_bits == _DIGIT_SHIFTS[0] else np.isin(prefix, prefixes)
    return _Numbers(numbers.bits[selected], numbers.weight[selected])


def _digit_mask(digits: np.ndarray) -> np.ndarray:
    """Mask of the requested first digits: bool [_N_DIGIT_VALUES]. Faster than a search while all values are tested."""
    mask = np.zeros(_N_DIGIT_VALUES, bool)
    mask[digits] = True
    return mask


def _digits(prefixes: Sequence[np.ndarray], digit: int, numbers: list[_Numbers]) -> _Digits:
    return _Digits(tuple(_counts(column, prefix_set, digit) for column, prefix_set in zip(numbers, prefixes, strict=True)))


def _counts(numbers: _Numbers, prefixes: np.ndarray, digit: int) -> ValueCounts:
    """Weight of each next digit of values that all start with one of these prefixes (ascending)."""
    digits = numbers.bits >> np.uint64(digit)
    if len(prefixes) > 1:  # few values are left
        value, index = np.unique(digits, return_inverse=True)
        return ValueCounts(value, np.bincount(index, numbers.weight, len(value)))
    total = np.bincount((digits & np.uint64(_N_DIGIT_VALUES - 1)).astype(np.int64), numbers.weight, _N_DIGIT_VALUES)
    present = np.flatnonzero(total > 0)
    return ValueCounts((prefixes[0] << np.uint64(_DIGIT_BITS)) | present.astype(np.uint64), total[present])
