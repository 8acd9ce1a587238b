"""Sums of targets that are the same for any parts: targets are whole units, in two halves that doubles add up exactly."""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.engine.partitions import Partitions
from baytree.tree.growing.remote.coded_rows import places
from baytree.tree.growing.remote.value_codes import ColumnCodes
from baytree.tree.model.routing import leaves
from baytree.tree.model.tree import Tree
from baytree.tree.policy.target_scaling import Extent

_HALF = 26  # bits of a target that are added up apart

_NOISE = 1e-14  # of a sum of squares: less is rounding


class TargetUnits(msgspec.Struct, frozen=True):
    """Targets from the middle of their range, in units of 2^-power; their squares in units of 2^-squared."""

    centre: float
    power: int
    squared: int

    @classmethod
    def of(cls, rows: Partitions) -> Self:
        """As fine as 52 bits allow for the farthest target."""
        extent = rows.map_reduce(Extent.of, rows_per_part=None)
        centre = extent.low / 2 + extent.high / 2
        most = max(extent.high - centre, centre - extent.low, np.finfo(float).tiny)
        return cls(centre, 2 * _HALF - int(np.frexp(most)[1]), 2 * _HALF - int(np.frexp(most * most)[1]))

    def halves(self, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """int64 [n_rows] each: the upper and the lower half of targets."""
        return _halves(label - self.centre, self.power)

    def square_halves(self, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """int64 [n_rows] each: the upper and the lower half of their squares."""
        return _halves((label - self.centre) ** 2, self.squared)

    def sums(self, high: np.ndarray, low: np.ndarray) -> np.ndarray:
        """float64: sums of targets from their middle."""
        return np.ldexp(np.ldexp(high.astype(np.float64), _HALF) + low, -self.power)

    def squares(self, high: np.ndarray, low: np.ndarray) -> np.ndarray:
        """float64: sums of their squares."""
        return np.ldexp(np.ldexp(high.astype(np.float64), _HALF) + low, -self.squared)


class NodeTotals(msgspec.Struct, frozen=True):
    """Rows, sums of targets and of their squares, by node."""

    cells: np.ndarray  # int64 [5, n_nodes]: rows, halves of the sums, halves of the squares

    @classmethod
    def of(cls, place: np.ndarray, label: np.ndarray, n_nodes: int, units: TargetUnits) -> Self:
        """Of rows at these nodes."""
        return cls(_summed(place, [*units.halves(label), *units.square_halves(label)], n_nodes))

    @classmethod
    def at_rest(cls, tree: Tree, units: TargetUnits, table: Table) -> Self:
        """Of the rows that come to rest in each node of a tree."""
        return cls.of(leaves(tree, table), table.label, len(tree), units)

    def __add__(self, other: Self) -> Self:
        return type(self)(self.cells + other.cells)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.cells - other.cells)

    def of_node(self, node: int, units: TargetUnits) -> tuple[int, float, float]:
        """Rows, mean from the middle of all targets, and sum of squares about it."""
        return measured(self.cells[:, node], units)


def measured(cells: np.ndarray, units: TargetUnits) -> tuple[int, float, float]:
    """Rows, mean from the middle of all targets, and sum of squares about it: of rows and halves of sums, int64 [5]."""
    n, total, squares = int(cells[0]), float(units.sums(cells[1], cells[2])), float(units.squares(cells[3], cells[4]))
    if n == 0:
        return 0, 0.0, 0.0
    about = squares - total * (total / n)
    return n, total / n, about if about > _NOISE * squares else 0.0


class NumberCounts(msgspec.Struct, frozen=True):
    """Rows and sums of targets by node and code, for each column; and the totals of the nodes."""

    counts: tuple[np.ndarray, ...]  # int64 [3, n_nodes, n_codes] for each column: rows, halves of the sums
    totals: NodeTotals

    @classmethod
    def of(cls, tree: Tree | None, nodes: np.ndarray, codes: ColumnCodes, units: TargetUnits, table: Table) -> Self:
        """Of the rows that come to rest in these nodes of a tree; without a tree, of all rows, in one node."""
        place = places(tree, nodes, table)
        is_in = place >= 0
        inside = table if is_in.all() else table.take(is_in)
        place, halves, counts = place[is_in], units.halves(inside.label), []
        for j, size in enumerate(codes.sizes):
            summed = _summed(place * size + codes.of(inside, j), halves, len(nodes) * size)
            counts.append(summed.reshape(3, len(nodes), size))
        return cls(tuple(counts), NodeTotals.of(place, inside.label, len(nodes), units))

    def __add__(self, other: Self) -> Self:
        pairs = zip(self.counts, other.counts, strict=True)
        return type(self)(tuple(a + b for a, b in pairs), self.totals + other.totals)

    def __sub__(self, other: Self) -> Self:
        pairs = zip(self.counts, other.counts, strict=True)
        return type(self)(tuple(a - b for a, b in pairs), self.totals - other.totals)

    def node(self, place: int) -> Self:
        """Those of one node."""
        own = slice(place, place + 1)
        return type(self)(tuple(counts[:, own] for counts in self.counts), NodeTotals(self.totals.cells[:, own]))


def _halves(values: np.ndarray, power: int) -> tuple[np.ndarray, np.ndarray]:
    units = np.rint(np.ldexp(values, power)).astype(np.int64)
    return units >> _HALF, units & ((1 << _HALF) - 1)


def _summed(cell: np.ndarray, parts: list[np.ndarray] | tuple[np.ndarray, ...], n_cells: int) -> np.ndarray:
    """int64 [1 + n_parts, n_cells]: how many rows each cell has, and their sums, which doubles hold."""
    return np.array([np.bincount(cell, part, n_cells).astype(np.int64) for part in (None, *parts)])
