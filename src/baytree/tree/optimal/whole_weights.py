"""Weights and costs as whole numbers, so that sums are exact, ties are ties, and their order does not matter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from baytree.table.table import Table

_WHOLE = 2.0**50  # up to here weights may add up as they are
_FINE = 2.0**52  # other weights are read in this part of their sum
_MOST_COST = 56  # bits of the cost of getting every row wrong


class Weights(NamedTuple):
    """The weights of rows in units of their own."""

    units: np.ndarray  # int64 [n_rows]
    total: int
    per_weight: float  # units in a weight of 1

    @property
    def mistake(self) -> int:
        """What getting one unit wrong costs."""
        return 1 << (_MOST_COST - self.total.bit_length())

    def leaf(self, penalty: float) -> int:
        """What a leaf costs: the penalty, a share of all weight, and so little more that of equals the smaller tree wins."""
        return round(penalty * self.total * self.mistake) + 1

    def least(self, min_leaf: float) -> int:
        """The fewest units of a leaf."""
        return int(min(max(1.0, np.ceil(min_leaf * self.per_weight * (1 - 1e-12))), self.total + 1.0))


def whole_weights(table: Table) -> Weights:
    """Weights as they are where they are whole, or in units of the least where that divides them; else finely rounded."""
    weight = np.asarray(table.weight, np.float64)
    total, least = float(weight.sum()), float(weight[weight > 0].min(initial=np.inf))
    for unit in (1.0, least):
        in_units = weight / unit
        whole = np.rint(in_units)
        if total / unit <= _WHOLE and np.all(np.abs(in_units - whole) <= 1e-12 * whole):
            return _of(whole.astype(np.int64), 1 / unit)
    return _of(np.rint(weight / total * _FINE).astype(np.int64), _FINE / total)


def _of(units: np.ndarray, per_weight: float) -> Weights:
    return Weights(units, int(units.sum()), per_weight)
