"""Values and the weight of each, ascending: a statistic, so parts add up."""

from __future__ import annotations

import msgspec
import numpy as np

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
