"""How often each code of each column occurs with each class in each open node: all that a split depends on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import msgspec
import numpy as np

from baytree import _core
from baytree.table.schema import Schema
from baytree.table.table import Table
from baytree.tree.grow.rounds.narrow_codes import CodedRows, CodeTests
from baytree.tree.grow.rounds.value_codes import Codes, counts_added
from baytree.tree.model.routing import leaves
from baytree.tree.model.structure import Tree


class NodeCounts(msgspec.Struct, frozen=True):
    """Weights by node, code and class, for each column."""

    counts: tuple[np.ndarray, ...]  # [n_nodes, n_codes, n_classes] for each column: rows as integers, or sums of weights

    @classmethod
    def of(cls, tests: CodeTests, nodes: np.ndarray, sizes: tuple[int, ...], rows: CodedRows) -> Self:
        """Of the rows that come to rest in these nodes of a tree."""
        place_of = np.full(len(tests.column), -1, np.int32)
        place_of[nodes] = np.arange(len(nodes))
        place, n_codes = tests.places(place_of, rows), np.array(sizes, np.int64)
        flat = _core.coded_counts(rows.codes, place, rows.label, rows.weight, n_codes, len(nodes), rows.n_classes)
        each = np.split(np.asarray(flat), np.cumsum(n_codes * (len(nodes) * rows.n_classes))[:-1])
        return cls(tuple(own.reshape(len(nodes), size, rows.n_classes) for own, size in zip(each, sizes, strict=True)))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(counts_added(a, b) for a, b in zip(self.counts, other.counts, strict=True)))

    def __sub__(self, other: Self) -> Self:
        return type(self)(tuple(a - b for a, b in zip(self.counts, other.counts, strict=True)))

    def node(self, place: int) -> Self:
        """Those of one node."""
        return type(self)(tuple(counts[place : place + 1] for counts in self.counts))

    @property
    def single(self) -> tuple[np.ndarray, ...]:
        """Of one node: float64 [n_codes, n_classes] for each column."""
        return tuple(counts[0].astype(np.float64, copy=False) for counts in self.counts)


class AtRest(msgspec.Struct, frozen=True):
    """How many rows come to rest in each node."""

    rows: np.ndarray  # int64 [n_nodes]

    @classmethod
    def of(cls, tests: CodeTests, rows: CodedRows) -> Self:
        """Of these rows."""
        n_nodes = len(tests.column)
        return cls(np.bincount(tests.places(np.arange(n_nodes), rows), minlength=n_nodes))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.rows + other.rows)


def places(tree: Tree | None, nodes: np.ndarray, table: Table) -> np.ndarray:
    """int64 [n_rows]: which of the nodes each row comes to rest in; −1 where it is none of them."""
    if tree is None:
        return np.zeros(len(table), np.int64)
    place = np.full(len(tree), -1, np.int64)
    place[nodes] = np.arange(len(nodes))
    return place[leaves(tree, table)]


def stand_ins(counts: tuple[np.ndarray, ...], codes: Codes, schema: Schema, columns: Sequence[int]) -> Table:
    """Few weighted rows with the same counts of each of these columns by class as the rows that were counted.

    A split depends on nothing else, so the search finds the same one in them. Within a class, each column's codes are laid
    out in order along the weight of the class; a row is a stretch in which no column changes.
    """
    pieces = [_stretches([counts[j][:, k] for j in columns]) for k in range(counts[0].shape[1])]
    weight = np.concatenate([own for own, _ in pieces])
    label = np.repeat(np.arange(len(pieces), dtype=np.int32), [len(own) for own, _ in pieces])
    code = [np.concatenate([found[place] for _, found in pieces]) for place in range(len(columns))]
    values = tuple(codes.values(schema.columns[j], j, own) for j, own in zip(columns, code, strict=True))
    only = msgspec.structs.replace(schema, columns=tuple(schema.columns[j] for j in columns))
    return Table(only, values, weight, label)


def _stretches(counts: list[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """The weights of the rows that stand in for a class, and for each column their codes."""
    ends = [np.cumsum(column) for column in counts]
    edge = np.unique(np.concatenate(ends))
    edge = edge[edge > 0]
    weight = np.diff(edge, prepend=0)
    last = [int(np.flatnonzero(column)[-1]) if column.any() else 0 for column in counts]
    return weight, [np.minimum(np.searchsorted(end, edge, side="left"), most) for end, most in zip(ends, last, strict=True)]
