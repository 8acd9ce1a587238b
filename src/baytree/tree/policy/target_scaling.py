"""Scaling of numeric targets, so that their squares and differences stay in the range and precision of doubles.

`in_range` divides very large or small labels by a power of two, `near_zero` subtracts the minimum of nearly constant
labels; `in_unit` and `from_zero` convert the tree back.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.engine.partitions import Partitions
from baytree.tree.model.tree import Tree

_MAX_UNSCALED = 1e100  # larger targets are scaled; below it, squares and sums of 10^100 of them are finite doubles


class Extent(msgspec.Struct, frozen=True):
    """Minimum and maximum of the labels."""

    low: float
    high: float

    @classmethod
    def of(cls, table: Table) -> Extent:
        """Extent of the labels of a table."""
        return cls(float(table.label.min(initial=np.inf)), float(table.label.max(initial=-np.inf)))

    def __add__(self, other: Extent) -> Extent:
        return Extent(min(self.low, other.low), max(self.high, other.high))


def in_range(rows: Partitions) -> tuple[Partitions, float]:
    """Rows with labels divided by a power of two, which is exact, and that power; 1 for ordinary numbers."""
    extent = rows.map_reduce(Extent.of, rows_per_part=None)
    largest = max(abs(extent.low), abs(extent.high))
    if largest == 0 or 1 / _MAX_UNSCALED < largest < _MAX_UNSCALED:
        return rows, 1.0
    unit = 2.0 ** min(max(int(np.frexp(largest)[1]), -1000), 1000)
    return rows.map_partitions(lambda table: msgspec.structs.replace(table, label=table.label / unit)), unit


def in_unit(tree: Tree, unit: float) -> Tree:
    """Tree with values in the original unit of the labels; a square that overflows becomes the largest double."""
    if unit == 1.0:
        return tree
    with np.errstate(over="ignore"):
        squares = {
            name: np.minimum(getattr(tree, name) * unit * unit, np.finfo(float).max) for name in ("impurity", "risk", "gain")
        }
    return msgspec.structs.replace(tree, value=tree.value * unit, **squares)


def near_zero(rows: Partitions) -> tuple[Partitions, float]:
    """Rows with the minimum subtracted from the labels, and the minimum, if they differ only in their last bits; else 0.

    The difference of neighbouring doubles is exact, and their mean is then representable.
    """
    extent = rows.map_reduce(Extent.of, rows_per_part=None)
    low, high = extent.low, extent.high
    if not high - low < 2.0**-30 * max(abs(low), abs(high)):
        return rows, 0.0
    return rows.map_partitions(lambda table: msgspec.structs.replace(table, label=table.label - low)), low


def from_zero(tree: Tree, origin: float) -> Tree:
    """Tree with predictions shifted back by the origin that was subtracted from the labels."""
    return tree if origin == 0 else msgspec.structs.replace(tree, value=tree.value + origin)
