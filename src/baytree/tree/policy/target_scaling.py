"""Labels in a unit in which their squares stay within the range of doubles."""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.engine.partitions import Partitions
from baytree.tree.model.tree import Tree

_SAFE = 1e100  # the squares of such numbers, and sums of 10^100 of them, are doubles


class Extent(msgspec.Struct, frozen=True):
    """The least and the largest label."""

    low: float
    high: float

    @classmethod
    def of(cls, table: Table) -> Extent:
        """Of these rows."""
        return cls(float(table.label.min(initial=np.inf)), float(table.label.max(initial=-np.inf)))

    def __add__(self, other: Extent) -> Extent:
        return Extent(min(self.low, other.low), max(self.high, other.high))


def in_range(rows: Partitions) -> tuple[Partitions, float]:
    """The rows with their labels divided by a power of two, which is exact, and that power; 1 for ordinary numbers."""
    extent = rows.map_reduce(Extent.of, rows_per_part=None)
    most = max(abs(extent.low), abs(extent.high))
    if most == 0 or 1 / _SAFE < most < _SAFE:
        return rows, 1.0
    unit = 2.0 ** min(max(int(np.frexp(most)[1]), -1000), 1000)
    return rows.map_partitions(lambda table: msgspec.structs.replace(table, label=table.label / unit)), unit


def in_unit(tree: Tree, unit: float) -> Tree:
    """The tree in the unit of the labels as they came; a square that is no double is shown as the largest one."""
    if unit == 1.0:
        return tree
    with np.errstate(over="ignore"):
        squares = {
            name: np.minimum(getattr(tree, name) * unit * unit, np.finfo(float).max) for name in ("impurity", "risk", "gain")
        }
    return msgspec.structs.replace(tree, value=tree.value * unit, **squares)


def near_zero(rows: Partitions) -> tuple[Partitions, float]:
    """The rows with labels counted from the least one, and that one, where they differ in their last bits only; else 0.

    The difference of neighbours is exact, and a mean between them is then a number.
    """
    extent = rows.map_reduce(Extent.of, rows_per_part=None)
    low, high = extent.low, extent.high
    if not high - low < 2.0**-30 * max(abs(low), abs(high)):
        return rows, 0.0
    return rows.map_partitions(lambda table: msgspec.structs.replace(table, label=table.label - low)), low


def from_zero(tree: Tree, origin: float) -> Tree:
    """The tree of labels counted from an origin, with predictions as they came."""
    return tree if origin == 0 else msgspec.structs.replace(tree, value=tree.value + origin)
