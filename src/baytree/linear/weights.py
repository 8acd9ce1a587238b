"""Weights whose sums are doubles."""

from __future__ import annotations

import msgspec
import numpy as np

from ..table import Table

_HEAVY = 1e200


def bearable(table: Table) -> Table:
    """The table, weights beyond 1e200 counted in units of 2^400: a sum of them might be none that a double can hold.

    A linear model of that many rows is the same in any unit.
    """
    if table.weight.max(initial=0.0) < _HEAVY:
        return table
    return msgspec.structs.replace(table, weight=np.ascontiguousarray(table.weight * 2.0**-400))
