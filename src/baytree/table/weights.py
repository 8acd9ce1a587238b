"""Weights in another unit: a power of two, so that no weight is rounded, and nothing where they are of an ordinary size.

Learners differ in what they need: sums and products that stay within the doubles, sums that do not vanish beside numbers of
rows such as a smallest leaf, or amounts that a penalty or a prior can be held against.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.table.table import Table

LEAST_ROWS = 2.0**-64  # weights that add up to less are no numbers of rows: only their proportions count
_HEAVY, _LIGHT = 1e200, 1e-200
_MODERATE = 2.0**40


def within_doubles(table: Table) -> Table:
    """The table, weights beyond 1e±200 in units of 2^±400: products and sums of them might leave the doubles.

    They stay as many, or as few, rows as they were: beside ordinary weights they are still as good as everything, or as
    nothing.
    """
    largest = _largest(table)
    if _LIGHT < largest < _HEAVY or not largest:
        return table
    return _times_power(table, -400 if largest >= _HEAVY else 400)


def near_one(table: Table) -> Table:
    """The table, weights beyond 2^±40 in a unit in which the largest is 1 … 2: sums must not vanish beside a least leaf."""
    largest = _largest(table)
    if table.is_unweighted or not largest or 1 / _MODERATE <= largest <= _MODERATE:
        return table
    return _largest_to_one(table)


def as_proportions(table: Table) -> Table:
    """The table with weights that a penalty can be held against: where they are less than a part of one row, proportions."""
    return _largest_to_one(table) if 0 < table.weight.sum() < LEAST_ROWS else table


def _largest(table: Table) -> float:
    return float(table.weight.max(initial=0.0))


def _largest_to_one(table: Table) -> Table:
    return _times_power(table, 1 - int(np.frexp(_largest(table))[1]))


def _times_power(table: Table, exponent: int) -> Table:
    return msgspec.structs.replace(table, weight=np.ldexp(table.weight, exponent))
