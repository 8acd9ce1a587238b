"""Columns whose spread is one far value's alone: in units of it, all others are nearly the same number."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from baytree import notices
from baytree.table.table import SparseColumns, Table

_ALIKE = 1e-3  # of the spread: where half of a column lies closer together, models in these units hardly see it


def warn_of_outliers(table: Table, columns: Iterable[int], spread: np.ndarray) -> None:
    """Name each of these columns of numbers that its farthest value has made useless, the value, and the remedy.

    `spread` has the standard deviation of each of the columns.
    """
    if isinstance(table.values, SparseColumns):
        return
    for j, size in zip(columns, spread, strict=True):
        values = table.values[j]
        if values.dtype.kind == "f" and _are_alike(values, size):
            _warn(table.schema.columns[j].name, values)


def _are_alike(values: np.ndarray, spread: float) -> bool:
    first, other = values[0] / 2, values[len(values) // 2] / 2  # halves: the distance between two doubles may be none
    if abs(first - other) > _ALIKE * spread:
        return False
    some = values[:: max(1, len(values) // 101)]
    some = some[~np.isnan(some)] / 2
    if len(some) < 3:
        return False
    apart = np.sort(np.abs(some - np.sort(some)[len(some) // 2]))[len(some) // 2]
    return bool(0 < apart < _ALIKE * spread)


def _warn(name: str, values: np.ndarray) -> None:
    far = float(values[np.nanargmax(np.abs(values))])
    notices.warn(
        f"column {name!r}: the value {far:g} is so far from the others that, in units of the spread it makes, they are "
        "nearly the same; remove or clip it, or use a tree"
    )
