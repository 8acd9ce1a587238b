"""Weight of each distinct value, with a bound on the number of values.

`ValueCounts` gives up beyond `MAX_DISTINCT_VALUES` values. `WeightedValues`, exact and by group, then truncates values to
their leading bits instead, in the same way for all partitionings.
"""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree.statistics.counts import Counts
from baytree.statistics.exact_sum import ExactSum, joined, regrouped

# Distinct values of a column that are counted: the counts take at most a megabyte per partition, and 16-bit codes suffice.
MAX_DISTINCT_VALUES = 1 << 16

_PROBE_ROWS = 1 << 13  # leading rows of a long column; if their values all differ, it is taken to have too many to count


class ValueCounts(msgspec.Struct, frozen=True):
    """Distinct known values and the weight of each; empty and not complete if there are too many."""

    value: np.ndarray  # [n_values]
    weight: np.ndarray  # float64 [n_values]
    is_complete: bool = True

    @classmethod
    def of(cls, values: np.ndarray, weight: np.ndarray) -> ValueCounts:
        """Value counts of a numeric column, NaN where missing."""
        if len(values) > MAX_DISTINCT_VALUES and len(np.unique(values[:_PROBE_ROWS])) == _PROBE_ROWS:
            return _TOO_MANY  # almost surely; counting them would take longer than the benefit
        known = ~np.isnan(values)
        if not known.all():
            values, weight = values[known], weight[known]
        distinct, index = _unique_inverse(values)
        return cls(distinct, np.bincount(index, weight, len(distinct)))._bounded()

    def __add__(self, other: ValueCounts) -> ValueCounts:
        if not (self.is_complete and other.is_complete):
            return _TOO_MANY
        return self.joined(other)._bounded()

    def joined(self, other: ValueCounts) -> ValueCounts:
        """Sum of both, without a bound on the number of values."""
        value = np.union1d(self.value, other.value)
        weight = np.zeros(len(value))
        for part in (self, other):
            weight[np.searchsorted(value, part.value)] += part.weight
        return ValueCounts(value, weight)

    def _bounded(self) -> ValueCounts:
        return self if len(self.value) <= MAX_DISTINCT_VALUES else _TOO_MANY


def _unique_inverse(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ascending distinct values and the index of each value; faster than `np.unique` for short columns."""
    order = values.argsort()
    ascending = values[order]
    is_first = np.ones(len(values), bool)
    np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
    index = np.empty(len(values), np.int64)
    index[order] = is_first.cumsum() - 1
    return ascending[is_first], index


_TOO_MANY = ValueCounts(np.zeros(0), np.zeros(0), is_complete=False)


class WeightedValues(msgspec.Struct, frozen=True):
    """Exact weight of each value in each group; beyond 65,536 values, of values truncated to their leading bits."""

    value: np.ndarray  # float64 [n_values], ascending
    cells: ExactSum  # [n_values, n_groups]
    is_coarse: bool = False

    @classmethod
    def of(cls, values: np.ndarray, group: np.ndarray, weight: np.ndarray | None, n_groups: int) -> Self:
        """Weighted values of rows; a weight of None is 1 for every row."""
        distinct, index = np.unique(values, return_inverse=True)
        counts = Counts.of(index.astype(np.int32), group.astype(np.int32), weight, len(distinct), n_groups)
        return cls(distinct, counts.cells.take(np.arange(1, len(distinct) + 1)))._bounded()

    def __add__(self, other: Self) -> Self:
        is_coarse = self.is_coarse or other.is_coarse
        both = [part._in_first_digits() if is_coarse else part for part in (self, other)]
        values = np.concatenate([part.value for part in both])
        return self._united(values, joined([part.cells for part in both], 0), is_coarse)._bounded()

    def weights(self) -> np.ndarray:
        """Weight of each value in each group: float64 [n_values, n_groups]."""
        return self.cells.rounded()

    @classmethod
    def first_digits(cls, values: np.ndarray) -> np.ndarray:
        """Values truncated to their leading bits, which preserves the order."""
        return _leading_bits(values, 12)

    def _bounded(self) -> Self:
        return self if self.is_coarse or len(self.value) <= MAX_DISTINCT_VALUES else self._in_first_digits()

    def _in_first_digits(self) -> Self:
        return self if self.is_coarse else self._united(self.first_digits(self.value), self.cells, True)

    @classmethod
    def _united(cls, values: np.ndarray, cells: ExactSum, is_coarse: bool) -> Self:
        distinct, index = np.unique(values, return_inverse=True)
        return cls(distinct, regrouped([(cells, index)], len(distinct)), is_coarse)


class WeightedProbabilities(WeightedValues, frozen=True):
    """Values between 0 and 1, truncated with equal resolution near 0 and near 1, if there are more than 65,536 of them."""

    @classmethod
    def first_digits(cls, values: np.ndarray) -> np.ndarray:
        """Nine leading bits of each value, or of its distance from 1 if that is smaller."""
        is_low = values <= 0.5
        distance = np.where(is_low, values, 1.0 - values)
        distance = np.where(distance < 2.0**-127, 0.0, _leading_bits(distance, 9))
        return np.where(is_low, distance, 1.0 - distance)


def _leading_bits(values: np.ndarray, bits: int) -> np.ndarray:
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.floor(fraction * 2.0**bits), exponent - bits)
