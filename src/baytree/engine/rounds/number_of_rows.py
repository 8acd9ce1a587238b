"""Weights that can be held against numbers of rows: a penalty, a prior, the smallest leaf."""

from __future__ import annotations

from functools import partial

import msgspec
import numpy as np

from baytree.engine.parts import Parts
from baytree.table.table import Table
from baytree.table.weights import times_power

LEAST_ROWS, MOST_ROWS = 2.0**-64, 2.0**64  # weights that add up to less, or to more, are no numbers of rows


class Weight(msgspec.Struct, frozen=True):
    """The weight of rows, and the largest of one of them."""

    total: float
    largest: float

    @classmethod
    def of(cls, table: Table) -> Weight:
        """The weight of these rows."""
        if table.is_unweighted:
            return cls(float(len(table)), 1.0)
        with np.errstate(over="ignore"):
            return cls(float(table.weight.sum()), float(table.weight.max(initial=0.0)))

    def __add__(self, other: Weight) -> Weight:
        return Weight(self.total + other.total, max(self.largest, other.largest))


def as_rows(rows: Parts) -> Parts:
    """The rows, weights in a unit in which the largest is 1 … 2 where they add up to no number of rows.

    Then only their proportions count. The unit is a power of two, so that no weight is rounded.
    """
    if rows.is_unweighted:
        return rows
    weight = rows.total(Weight.of, rows_per_part=None)
    if LEAST_ROWS <= weight.total <= MOST_ROWS or not weight.largest:
        return rows
    return rows.changed(partial(times_power, exponent=1 - int(np.frexp(weight.largest)[1])))
