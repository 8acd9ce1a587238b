"""Exact sums of targets, independent of the partitions: targets as integers, in two halves whose sums doubles hold
exactly.
"""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.engine.partitions import Partitions
from baytree.tree.growing.remote.coded_rows import node_indices
from baytree.tree.growing.remote.value_codes import ColumnCodes
from baytree.tree.model.routing import leaves
from baytree.tree.model.tree import Tree
from baytree.tree.policy.target_scaling import Extent

_HALF_BITS = 26  # bits of the lower half of a target

_ROUNDING = 1e-14  # of a sum of squares: less is rounding


class TargetUnits(msgspec.Struct, frozen=True):
    """Fixed-point format: targets about the middle of their range in units of 2^-power, squares in units of 2^-squared."""

    centre: float
    power: int
    squared: int

    @classmethod
    def of(cls, rows: Partitions) -> Self:
        """Units as fine as 52 bits allow for the target farthest from the centre."""
        extent = rows.map_reduce(Extent.of, rows_per_part=None)
        centre = extent.low / 2 + extent.high / 2
        largest = max(extent.high - centre, centre - extent.low, np.finfo(float).tiny)
        return cls(centre, 2 * _HALF_BITS - int(np.frexp(largest)[1]), 2 * _HALF_BITS - int(np.frexp(largest * largest)[1]))

    def halves(self, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Upper and lower half of the centred targets, int64 [n_rows] each."""
        return _halves(label - self.centre, self.power)

    def square_halves(self, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Upper and lower half of the squared centred targets, int64 [n_rows] each."""
        return _halves((label - self.centre) ** 2, self.squared)

    def sums(self, high: np.ndarray, low: np.ndarray) -> np.ndarray:
        """Sums of centred targets, float64."""
        return np.ldexp(np.ldexp(high.astype(np.float64), _HALF_BITS) + low, -self.power)

    def squares(self, high: np.ndarray, low: np.ndarray) -> np.ndarray:
        """Sums of squared centred targets, float64."""
        return np.ldexp(np.ldexp(high.astype(np.float64), _HALF_BITS) + low, -self.squared)


class NodeTotals(msgspec.Struct, frozen=True):
    """Rows, sums of targets and sums of their squares, by node."""

    cells: np.ndarray  # int64 [5, n_nodes]: rows, halves of the sums, halves of the squares

    @classmethod
    def of(cls, node_index: np.ndarray, label: np.ndarray, n_nodes: int, units: TargetUnits) -> Self:
        """Totals of rows at these nodes."""
        return cls(_cell_sums(node_index, [*units.halves(label), *units.square_halves(label)], n_nodes))

    @classmethod
    def of_leaves(cls, tree: Tree, units: TargetUnits, table: Table) -> Self:
        """Totals of the rows that stop in each node of a tree."""
        return cls.of(leaves(tree, table), table.label, len(tree), units)

    def __add__(self, other: Self) -> Self:
        return type(self)(self.cells + other.cells)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.cells - other.cells)

    def of_node(self, node: int, units: TargetUnits) -> tuple[int, float, float]:
        """Rows, mean of the centred targets, and sum of squares about it."""
        return node_moments(self.cells[:, node], units)


def node_moments(cells: np.ndarray, units: TargetUnits) -> tuple[int, float, float]:
    """Rows, mean of the centred targets, and sum of squares about it, from the totals of a node, int64 [5]."""
    n, total, squares = int(cells[0]), float(units.sums(cells[1], cells[2])), float(units.squares(cells[3], cells[4]))
    if n == 0:
        return 0, 0.0, 0.0
    centred_squares = squares - total * (total / n)
    return n, total / n, centred_squares if centred_squares > _ROUNDING * squares else 0.0


class NumberCounts(msgspec.Struct, frozen=True):
    """Rows and sums of targets by node and code, for each column; and the totals of the nodes."""

    counts: tuple[np.ndarray, ...]  # int64 [3, n_nodes, n_codes] for each column: rows, halves of the sums
    totals: NodeTotals

    @classmethod
    def of(cls, tree: Tree | None, nodes: np.ndarray, codes: ColumnCodes, units: TargetUnits, table: Table) -> Self:
        """Counts of the rows that stop in these nodes of a tree; without a tree, of all rows as one node."""
        index = node_indices(tree, nodes, table)
        is_inside = index >= 0
        inside = table if is_inside.all() else table.take(is_inside)
        index, halves, counts = index[is_inside], units.halves(inside.label), []
        for j, size in enumerate(codes.sizes):
            summed = _cell_sums(index * size + codes.of(inside, j), halves, len(nodes) * size)
            counts.append(summed.reshape(3, len(nodes), size))
        return cls(tuple(counts), NodeTotals.of(index, inside.label, len(nodes), units))

    def __add__(self, other: Self) -> Self:
        pairs = zip(self.counts, other.counts, strict=True)
        return type(self)(tuple(a + b for a, b in pairs), self.totals + other.totals)

    def __sub__(self, other: Self) -> Self:
        pairs = zip(self.counts, other.counts, strict=True)
        return type(self)(tuple(a - b for a, b in pairs), self.totals - other.totals)

    def node(self, index: int) -> Self:
        """Counts of one node."""
        selected = slice(index, index + 1)
        return type(self)(tuple(counts[:, selected] for counts in self.counts), NodeTotals(self.totals.cells[:, selected]))


def _halves(values: np.ndarray, power: int) -> tuple[np.ndarray, np.ndarray]:
    units = np.rint(np.ldexp(values, power)).astype(np.int64)
    return units >> _HALF_BITS, units & ((1 << _HALF_BITS) - 1)


def _cell_sums(cell: np.ndarray, parts: list[np.ndarray] | tuple[np.ndarray, ...], n_cells: int) -> np.ndarray:
    """Number of rows and exact sums of each cell, int64 [1 + n_parts, n_cells]."""
    return np.array([np.bincount(cell, part, n_cells).astype(np.int64) for part in (None, *parts)])
