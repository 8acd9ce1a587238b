"""Labels in a unit in which their squares stay within the range of doubles."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.table.table import Table
from baytree.tree.model.structure import Tree

_SAFE = 1e100  # the squares of such numbers, and sums of 10^100 of them, are doubles


def in_range(table: Table) -> tuple[Table, float]:
    """The table with its labels divided by a power of two, which is exact, and that power; 1 for ordinary numbers."""
    most = float(np.abs(table.label).max())
    if most == 0 or 1 / _SAFE < most < _SAFE:
        return table, 1.0
    unit = 2.0 ** min(max(int(np.frexp(most)[1]), -1000), 1000)
    return msgspec.structs.replace(table, label=table.label / unit), unit


def in_unit(tree: Tree, unit: float) -> Tree:
    """The tree in the unit of the labels as they came; a square that is no double is shown as the largest one."""
    if unit == 1.0:
        return tree
    with np.errstate(over="ignore"):
        squares = {
            name: np.minimum(getattr(tree, name) * unit * unit, np.finfo(float).max) for name in ("impurity", "risk", "gain")
        }
    return msgspec.structs.replace(tree, value=tree.value * unit, **squares)


def near_zero(table: Table) -> tuple[Table, float]:
    """The table with labels counted from the least one, and that one, where they differ in their last bits only; else 0.

    The difference of neighbours is exact, and a mean between them is then a number.
    """
    low, high = float(table.label.min()), float(table.label.max())
    if not high - low < 2.0**-30 * max(abs(low), abs(high)):
        return table, 0.0
    return msgspec.structs.replace(table, label=table.label - low), low


def from_zero(tree: Tree, origin: float) -> Tree:
    """The tree of labels counted from an origin, with predictions as they came."""
    return tree if origin == 0 else msgspec.structs.replace(tree, value=tree.value + origin)
