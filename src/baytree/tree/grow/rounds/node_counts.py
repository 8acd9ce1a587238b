"""How often each code of each column occurs with each class in each open node: all that a split depends on."""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from baytree.table.schema import Schema
from baytree.table.table import Table
from baytree.tree.grow.rounds.value_codes import Codes
from baytree.tree.model.routing import leaves
from baytree.tree.model.structure import Tree


class NodeCounts(msgspec.Struct, frozen=True):
    """Weights by node, code and class, for each column."""

    counts: tuple[np.ndarray, ...]  # float64 [n_nodes, n_codes, n_classes] for each column

    @classmethod
    def of(cls, tree: Tree | None, nodes: np.ndarray, codes: Codes, table: Table) -> Self:
        """Of the rows that come to rest in these nodes of a tree; without a tree, of all rows, in one node."""
        place = places(tree, nodes, table)
        is_in = place >= 0
        inside = table if is_in.all() else table.take(is_in)
        place, n_classes = place[is_in], table.n_classes
        weight = None if table.is_unweighted else inside.weight
        counts = []
        for j, size in enumerate(codes.sizes):
            cell = (place * size + codes.of(inside, j)) * n_classes + inside.label
            flat = np.bincount(cell, weight, len(nodes) * size * n_classes)
            counts.append(flat.astype(np.float64, copy=False).reshape(len(nodes), size, n_classes))
        return cls(tuple(counts))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)))

    def __sub__(self, other: Self) -> Self:
        return type(self)(tuple(a - b for a, b in zip(self.counts, other.counts, strict=True)))

    def node(self, place: int) -> Self:
        """Those of one node."""
        return type(self)(tuple(counts[place : place + 1] for counts in self.counts))

    @property
    def single(self) -> tuple[np.ndarray, ...]:
        """Of one node: [n_codes, n_classes] for each column."""
        return tuple(counts[0] for counts in self.counts)


class AtRest(msgspec.Struct, frozen=True):
    """How many rows come to rest in each node."""

    rows: np.ndarray  # int64 [n_nodes]

    @classmethod
    def of(cls, tree: Tree, table: Table) -> Self:
        """Of these rows."""
        return cls(np.bincount(leaves(tree, table), minlength=len(tree)))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.rows + other.rows)


def places(tree: Tree | None, nodes: np.ndarray, table: Table) -> np.ndarray:
    """int64 [n_rows]: which of the nodes each row comes to rest in; −1 where it is none of them."""
    if tree is None:
        return np.zeros(len(table), np.int64)
    place = np.full(len(tree), -1, np.int64)
    place[nodes] = np.arange(len(nodes))
    return place[leaves(tree, table)]


def stand_ins(counts: tuple[np.ndarray, ...], codes: Codes, schema: Schema) -> Table:
    """Few weighted rows with the same counts of each column by class as the rows that were counted.

    A split depends on nothing else, so the search finds the same one in them. Within a class, each column's codes are laid
    out in order along the weight of the class; a row is a stretch in which no column changes.
    """
    pieces = [stretches([column[:, k] for column in counts]) for k in range(counts[0].shape[1])]
    weight = np.concatenate([own for own, _ in pieces])
    label = np.repeat(np.arange(len(pieces), dtype=np.int32), [len(own) for own, _ in pieces])
    code = [np.concatenate([found[j] for _, found in pieces]) for j in range(len(counts))]
    values = tuple(codes.values(column, j, code[j]) for j, column in enumerate(schema.columns))
    return Table(schema, values, weight, label)


def stretches(counts: list[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The weights of the rows that stand in for a class, and for each column their codes."""
    ends = [np.cumsum(column) for column in counts]
    edge = np.unique(np.concatenate(ends))
    edge = edge[edge > 0]
    weight = np.diff(edge, prepend=0)
    last = [int(np.flatnonzero(column)[-1]) if column.any() else 0 for column in counts]
    return weight, [np.minimum(np.searchsorted(end, edge, side="left"), most) for end, most in zip(ends, last, strict=True)]
