"""Weights whose sums are doubles."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.table.table import Table

_HEAVY, _LIGHT = 1e200, 1e-200
_LEAST_ROWS = 2.0**-64  # weights that add up to less are proportions, as in naive Bayes


def bearable(table: Table) -> Table:
    """The table, weights beyond 1e±200 counted in other units: products and sums of them might leave the doubles.

    A linear model of that many, or that few, rows is the same in any unit; beside ordinary weights they still are as good
    as everything, or as nothing.
    """
    largest = table.weight.max(initial=0.0)
    if _LIGHT < largest < _HEAVY or not largest:
        return table
    return _times(table, 2.0**-400 if largest >= _HEAVY else 2.0**400)


def as_rows(table: Table) -> Table:
    """The table with weights that a penalty can be held against: where they are less than a part of one row, proportions."""
    if not 0 < table.weight.sum() < _LEAST_ROWS:
        return table
    return _times(table, 2.0 ** -np.floor(np.log2(table.weight.max())))


def _times(table: Table, factor: float) -> Table:
    return msgspec.structs.replace(table, weight=np.ascontiguousarray(table.weight * factor))
