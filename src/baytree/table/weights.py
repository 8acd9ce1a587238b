"""Weights: a column that holds them, and a unit in which sums and products of them stay within the doubles."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.table.table import Table

_HEAVY, _LIGHT = 1e200, 1e-200


def within_doubles(table: Table) -> Table:
    """The table, weights beyond 1e±200 in units of 2^±400, which rounds none: sums of products might leave the doubles.

    The unit is fixed, so that parts stay comparable: beside ordinary weights, extreme ones are still as good as everything,
    or as nothing.
    """
    largest = float(table.weight.max(initial=0.0))
    if _LIGHT < largest < _HEAVY or not largest:
        return table
    return times_power(table, -400 if largest >= _HEAVY else 400)


def times_power(table: Table, exponent: int) -> Table:
    """The table with weights times a power of two."""
    return msgspec.structs.replace(table, weight=np.ldexp(table.weight, exponent))
