"""Values and the weight of each, ascending: a statistic, so parts add up.

Values and their weight in groups, ascending: of ever more values the last digits are let go, whatever the parts are.
"""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree.statistics.counts import Counts
from baytree.statistics.exact_sum import ExactSum, joined, regrouped

MOST_VALUES = 1 << 16  # of a column; more are not kept

_GLANCE = 1 << 13  # rows: where even so many are all different, a column has more values than are kept


class ValueCounts(msgspec.Struct, frozen=True):
    """The distinct values that are known and the weight of each, or nothing of a column that has too many."""

    value: np.ndarray  # [n_values]
    weight: np.ndarray  # float64 [n_values]
    is_complete: bool = True

    @classmethod
    def of(cls, values: np.ndarray, weight: np.ndarray) -> ValueCounts:
        """The values of a column of numbers, NaN where they are missing."""
        if len(values) > MOST_VALUES and len(np.unique(values[:_GLANCE])) == _GLANCE:
            return _TOO_MANY  # as good as surely: to count them would take longer than to do without
        known = ~np.isnan(values)
        if not known.all():
            values, weight = values[known], weight[known]
        distinct, place = _distinct(values)
        return cls(distinct, np.bincount(place, weight, len(distinct)))._bounded()

    def __add__(self, other: ValueCounts) -> ValueCounts:
        if not (self.is_complete and other.is_complete):
            return _TOO_MANY
        return self.joined(other)._bounded()

    def joined(self, other: ValueCounts) -> ValueCounts:
        """The values of both, however many."""
        value = np.union1d(self.value, other.value)
        weight = np.zeros(len(value))
        for part in (self, other):
            weight[np.searchsorted(value, part.value)] += part.weight
        return ValueCounts(value, weight)

    def _bounded(self) -> ValueCounts:
        return self if len(self.value) <= MOST_VALUES else _TOO_MANY


def _distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values, ascending, and the place of each value among them: short columns would wait for `np.unique`."""
    order = values.argsort()
    ascending = values[order]
    is_first = np.ones(len(values), bool)
    np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
    place = np.empty(len(values), np.int64)
    place[order] = is_first.cumsum() - 1
    return ascending[is_first], place


_TOO_MANY = ValueCounts(np.zeros(0), np.zeros(0), is_complete=False)


class WeightedValues(msgspec.Struct, frozen=True):
    """The weight of each value in each group, exactly; beyond 65,536 different values, of their first digits."""

    value: np.ndarray  # float64 [n_values], ascending
    cells: ExactSum  # [n_values, n_groups]
    is_coarse: bool = False

    @classmethod
    def of(cls, values: np.ndarray, group: np.ndarray, weight: np.ndarray | None, n_groups: int) -> Self:
        """Of these rows; a weight of None is 1 for every row."""
        distinct, place = np.unique(values, return_inverse=True)
        counts = Counts.of(place.astype(np.int32), group.astype(np.int32), weight, len(distinct), n_groups)
        return cls(distinct, counts.cells.take(np.arange(1, len(distinct) + 1)))._bounded()

    def __add__(self, other: Self) -> Self:
        is_coarse = self.is_coarse or other.is_coarse
        both = [part._in_first_digits() if is_coarse else part for part in (self, other)]
        values = np.concatenate([part.value for part in both])
        return self._united(values, joined([part.cells for part in both], 0), is_coarse)._bounded()

    def weights(self) -> np.ndarray:
        """The weight of each value in each group: float64 [n_values, n_groups]."""
        return self.cells.rounded()

    @classmethod
    def first_digits(cls, values: np.ndarray) -> np.ndarray:
        """The values without their last digits, in the same order."""
        return _truncated(values, 12)

    def _bounded(self) -> Self:
        return self if self.is_coarse or len(self.value) <= MOST_VALUES else self._in_first_digits()

    def _in_first_digits(self) -> Self:
        return self if self.is_coarse else self._united(self.first_digits(self.value), self.cells, True)

    @classmethod
    def _united(cls, values: np.ndarray, cells: ExactSum, is_coarse: bool) -> Self:
        distinct, place = np.unique(values, return_inverse=True)
        return cls(distinct, regrouped([(cells, place)], len(distinct)), is_coarse)


class WeightedProbabilities(WeightedValues, frozen=True):
    """Values between 0 and 1, of which those near 1 are told apart as well as those near 0: 65,536 of them at most."""

    @classmethod
    def first_digits(cls, values: np.ndarray) -> np.ndarray:
        """The nine first bits of each value, or of what it lacks of 1."""
        is_low = values <= 0.5
        rest = np.where(is_low, values, 1.0 - values)
        rest = np.where(rest < 2.0**-127, 0.0, _truncated(rest, 9))
        return np.where(is_low, rest, 1.0 - rest)


def _truncated(values: np.ndarray, bits: int) -> np.ndarray:
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.floor(fraction * 2.0**bits), exponent - bits)
