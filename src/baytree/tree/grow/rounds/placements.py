"""Rows in a tree that is still growing, as placements of weight: a row without a value follows every branch, in its share.

Sums of fractions of rows hang on their order. So fractions are counted in whole units of a power of two, whose sums are the
same for any parts.
"""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree.table.schema import Kind
from baytree.table.table import Table
from baytree.tree.grow.rounds.value_codes import Codes

_WIDTH = 61  # bits of a sum of all weights
_LOW = 26  # bits of a number of units that are added up apart, so that doubles hold both sums


class Units(msgspec.Struct, frozen=True):
    """How weights are counted: in units of 2^-power, and as float32 where the program that is followed does so."""

    power: int
    is_single: bool

    @classmethod
    def of(cls, total: float, is_single: bool) -> Self:
        """As fine as the weight of all rows allows."""
        return cls(_WIDTH - int(np.frexp(total)[1]), is_single)

    @property
    def real(self) -> type[np.floating]:
        """The numbers of the program that is followed."""
        return np.float32 if self.is_single else np.float64

    def weights(self, counted: np.ndarray) -> np.ndarray:
        """float64: what so many units weigh, rounded as the program's numbers are."""
        return np.ldexp(counted.astype(np.float64), -self.power).astype(self.real).astype(np.float64)

    def summed(self, cell: np.ndarray, weight: np.ndarray, n_cells: int) -> np.ndarray:
        """int64 [n_cells]: the units of each cell."""
        units = np.rint(np.ldexp(weight.astype(np.float64), self.power)).astype(np.int64)
        high = np.bincount(cell, units >> _LOW, n_cells).astype(np.int64)
        low = np.bincount(cell, units & ((1 << _LOW) - 1), n_cells).astype(np.int64)
        return (high << _LOW) + low


class Way(msgspec.Struct, frozen=True):
    """A growing tree as rows take it; the children of a node stand side by side, after it."""

    column: np.ndarray  # int64 [n_nodes], −1 where rows come to rest
    first: np.ndarray  # int64 [n_nodes]
    branches: np.ndarray  # int64 [n_nodes]
    cut: np.ndarray  # float64 [n_nodes], numbers up to it take the first branch
    start: np.ndarray  # int64 [n_nodes], where the branches of the levels begin
    branch_of: np.ndarray  # int64
    share: np.ndarray  # float64 [n_nodes], of the rows without a value at the node above
    units: Units


class Placements(msgspec.Struct, frozen=True):
    """Parts of rows at nodes; a row may be at several."""

    row: np.ndarray  # int64 [n]
    node: np.ndarray  # int64 [n]
    weight: np.ndarray  # float32 or float64 [n]
    is_known: np.ndarray  # bool [n], a value led there

    def take(self, chosen: np.ndarray) -> Placements:
        """Some of them."""
        return Placements(self.row[chosen], self.node[chosen], self.weight[chosen], self.is_known[chosen])


def levels_of(way: Way, table: Table) -> list[Placements]:
    """All placements of the rows, one level of the tree after the other."""
    n = len(table)
    here = Placements(np.arange(n), np.zeros(n, np.int64), table.weight.astype(way.units.real), np.ones(n, bool))
    found = [here]
    while len((here := _stepped(way, table, here.take(way.column[here.node] >= 0))).row):
        found.append(here)
    return found


def resting(way: Way, nodes: np.ndarray, table: Table) -> Placements:
    """The placements at some nodes, `node` being their place among these; by row."""
    place = np.full(len(way.column), -1, np.int64)
    place[nodes] = np.arange(len(nodes))
    at = [each.take(place[each.node] >= 0) for each in levels_of(way, table)]
    whole = _strung(at)
    order = np.argsort(whole.row, kind="stable")
    return msgspec.structs.replace(whole.take(order), node=place[whole.node[order]])


def rows_at(way: Way, nodes: np.ndarray, table: Table) -> Table:
    """The rows that are at some nodes, each once."""
    is_there = np.zeros(len(table), bool)
    is_there[resting(way, nodes, table).row] = True
    return table.take(is_there)


class Passed(msgspec.Struct, frozen=True):
    """What comes to each node of a tree: weight of each class, parts of rows, and the weight that a value led there."""

    counts: np.ndarray  # int64 [n_nodes, n_classes], units
    cases: np.ndarray  # int64 [n_nodes]
    known: np.ndarray  # int64 [n_nodes], units

    @classmethod
    def of(cls, way: Way, table: Table) -> Self:
        """Of these rows."""
        n, k = len(way.column), table.n_classes
        here = _strung(levels_of(way, table))
        counts = way.units.summed(here.node * k + table.label[here.row], here.weight, n * k)
        known = here.take(here.is_known)
        return cls(counts.reshape(n, k), np.bincount(here.node, minlength=n), way.units.summed(known.node, known.weight, n))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.counts + other.counts, self.cases + other.cases, self.known + other.known)

    def at(self, nodes: np.ndarray) -> Self:
        """What comes to some of the nodes."""
        return type(self)(self.counts[nodes], self.cases[nodes], self.known[nodes])

    def is_spread(self, way: Way, node: int) -> bool:
        """Whether rows have no value for the test of a node."""
        first = way.first[node]
        return self.counts[node].sum() > self.known[first : first + way.branches[node]].sum()


class CodeUnits(msgspec.Struct, frozen=True):
    """Units of weight by node, code and class, for each column."""

    counts: tuple[np.ndarray, ...]  # int64 [n_nodes, n_codes, n_classes] for each column

    @classmethod
    def of(cls, way: Way, nodes: np.ndarray, codes: Codes, table: Table) -> Self:
        """Of the rows that are at these nodes of a tree."""
        here, n_classes, counts = resting(way, nodes, table), table.n_classes, []
        label = table.label[here.row]
        for j, size in enumerate(codes.sizes):
            cell = (here.node * size + codes.of(table, j)[here.row]) * n_classes + label
            flat = way.units.summed(cell, here.weight, len(nodes) * size * n_classes)
            counts.append(flat.reshape(len(nodes), size, n_classes))
        return cls(tuple(counts))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)))

    def node(self, place: int) -> tuple[np.ndarray, ...]:
        """The units of one node: [n_codes, n_classes] for each column."""
        return tuple(counts[place] for counts in self.counts)


def _stepped(way: Way, table: Table, here: Placements) -> Placements:
    """The placements one level below."""
    branch = np.full(len(here.row), -1, np.int64)
    column = way.column[here.node]
    for j in np.unique(column):
        at = np.flatnonzero(column == j)
        branch[at] = _branches(way, table, int(j), here.row[at], here.node[at])
    has_value = branch >= 0
    led, spread = here.take(has_value), here.take(~has_value)
    led = msgspec.structs.replace(led, node=way.first[led.node] + branch[has_value], is_known=np.ones(len(led.row), bool))
    return _strung([led, _spread(way, spread)]) if len(spread.row) else led


def _branches(way: Way, table: Table, column: int, row: np.ndarray, node: np.ndarray) -> np.ndarray:
    """int64 [n]: the branch that the value of each row takes, −1 without a value."""
    values = table.values[column][row]
    if table.schema.columns[column].kind is Kind.NUMERIC:
        return np.where(np.isnan(values), -1, values > way.cut[node])
    return np.where(values < 0, -1, way.branch_of[way.start[node] + np.maximum(values, 0)])


def _spread(way: Way, here: Placements) -> Placements:
    """Each of these down every branch that has a share."""
    count = way.branches[here.node]
    of = np.repeat(np.arange(len(count)), count)
    child = np.repeat(way.first[here.node] - np.cumsum(count) + count, count) + np.arange(count.sum())
    share = way.share[child]
    of, child, share = of[share > 0], child[share > 0], share[share > 0]
    weight = here.weight[of] * share.astype(here.weight.dtype)
    return Placements(here.row[of], child, weight, np.zeros(len(of), bool))


def _strung(several: list[Placements]) -> Placements:
    fields = Placements.__struct_fields__
    return Placements(*(np.concatenate([getattr(each, name) for each in several]) for name in fields))
