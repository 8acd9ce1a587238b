"""Rows as narrow column codes, persisted with their partition while a tree grows, and their counts by node and class.

A split depends only on how often each code of each column occurs with each class in each open node (`NodeCounts`).
`representative_rows` turns the counts of a node back into weighted rows for the sorted search.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.aggregates import Coding, NodeCells, NodeRows, as_query
from baytree.engine.representative import stretches
from baytree.tree.growing.remote.value_codes import ColumnCodes, add_counts
from baytree.tree.model.routing import leaves
from baytree.tree.model.tree import Tree


class NarrowCodedRows(msgspec.Struct, frozen=True):
    """Codes of all columns, in the narrowest integers that hold the widest column, with labels and weights."""

    codes: np.ndarray  # uint8, uint16 or uint32 [n_columns, n_rows]
    label: np.ndarray  # int32 [n_rows]
    weight: np.ndarray | None  # float64 [n_rows]; None if all are 1
    n_classes: int
    first: int  # number of rows before these

    @classmethod
    @as_query(lambda codes: Coding(codes.ends, codes.sizes))
    def of(cls, codes: ColumnCodes, table: Table) -> Self:
        """Code the rows of a table."""
        codes_by_column = np.empty((len(codes.sizes), len(table)), np.min_scalar_type(max(codes.sizes, default=1) - 1))
        for j, cells in enumerate(codes_by_column):
            codes.write(table, j, cells)
        weight = None if table.is_unweighted else table.weight
        return cls(codes_by_column, np.ascontiguousarray(table.label, np.int32), weight, table.n_classes, table.first)

    def __len__(self) -> int:
        return len(self.label)

    def take(self, rows: np.ndarray) -> Self:
        """Subset of the rows by a mask, bool [n_rows]."""
        weight = None if self.weight is None else self.weight[rows]
        return type(self)(np.ascontiguousarray(self.codes[:, rows]), self.label[rows], weight, self.n_classes, self.first)

    def arrays(self) -> Sequence[np.ndarray]:
        """Arrays from which `from_arrays` rebuilds this object."""
        meta = np.array([self.n_classes, self.first])
        return [self.codes, self.label, meta, *([] if self.weight is None else [self.weight])]

    @classmethod
    def from_arrays(cls, arrays: Sequence[np.ndarray]) -> Self:
        """Rebuild the rows from their arrays."""
        codes, label, meta, *weight = arrays
        return cls(codes, label, weight[0] if weight else None, *meta.tolist())


class CodeTests(msgspec.Struct, frozen=True):
    """Tests of a tree on codes: a row at node k with code c goes to child[start[k] + c], or stops there if that is −1."""

    column: np.ndarray  # int32 [n_nodes], −1 for leaves
    start: np.ndarray  # int64 [n_nodes]
    child: np.ndarray  # int32

    @classmethod
    def of(cls, column: Sequence[int], children: Sequence[np.ndarray]) -> Self:
        """Tests from the column of each node and the child of each of its codes."""
        sizes = np.array([len(child_of_code) for child_of_code in children], np.int64)
        child = np.concatenate(children).astype(np.int32, copy=False)
        return cls(np.array(column, np.int32), np.cumsum(sizes) - sizes, child)

    def node_indices(self, index_of_node: np.ndarray, rows: NarrowCodedRows) -> np.ndarray:
        """Entry of `index_of_node` for the node where each row stops, int32 [n_rows]."""
        return _core.coded_places(
            rows.codes, self.column, self.start, self.child, index_of_node.astype(np.int32, copy=False)
        )


ROOT = CodeTests.of([-1], [np.zeros(0, np.int32)])


def _node_counts_form(tests: CodeTests, nodes: np.ndarray, _sizes: tuple[int, ...]) -> NodeCells:
    return NodeCells(tests.column, tests.start, tests.child, nodes, lambda counts, _: NodeCounts(tuple(counts)))


class NodeCounts(msgspec.Struct, frozen=True):
    """Weights by node, code and class, for each column."""

    counts: tuple[np.ndarray, ...]  # [n_nodes, n_codes, n_classes] for each column: rows as integers, or sums of weights

    @classmethod
    @as_query(_node_counts_form)
    def of(cls, tests: CodeTests, nodes: np.ndarray, sizes: tuple[int, ...], rows: NarrowCodedRows) -> Self:
        """Count the rows that stop in these nodes of a tree."""
        index_of_node = np.full(len(tests.column), -1, np.int32)
        index_of_node[nodes] = np.arange(len(nodes))
        index, n_codes = tests.node_indices(index_of_node, rows), np.array(sizes, np.int64)
        flat = _core.coded_counts(rows.codes, index, rows.label, rows.weight, n_codes, len(nodes), rows.n_classes)
        by_column = np.split(np.asarray(flat), np.cumsum(n_codes * (len(nodes) * rows.n_classes))[:-1])
        return cls(
            tuple(
                column_counts.reshape(len(nodes), size, rows.n_classes)
                for column_counts, size in zip(by_column, sizes, strict=True)
            )
        )

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(add_counts(a, b) for a, b in zip(self.counts, other.counts, strict=True)))

    def __sub__(self, other: Self) -> Self:
        return type(self)(tuple(a - b for a, b in zip(self.counts, other.counts, strict=True)))

    def node(self, index: int) -> Self:
        """Counts of one node."""
        return type(self)(tuple(counts[index : index + 1] for counts in self.counts))

    @property
    def single(self) -> tuple[np.ndarray, ...]:
        """Counts of a single node: float64 [n_codes, n_classes] for each column."""
        return tuple(counts[0].astype(np.float64, copy=False) for counts in self.counts)


class LeafRowCounts(msgspec.Struct, frozen=True):
    """Number of rows that stop in each node."""

    rows: np.ndarray  # int64 [n_nodes]

    @classmethod
    @as_query(lambda tests: NodeRows(tests.column, tests.start, tests.child, lambda rows: LeafRowCounts(rows)))
    def of(cls, tests: CodeTests, rows: NarrowCodedRows) -> Self:
        """Count the rows that stop in each node."""
        n_nodes = len(tests.column)
        return cls(np.bincount(tests.node_indices(np.arange(n_nodes), rows), minlength=n_nodes))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.rows + other.rows)


def node_indices(tree: Tree | None, nodes: np.ndarray, table: Table) -> np.ndarray:
    """Index into `nodes` of the node where each row stops, int64 [n_rows]; −1 if it is none of them."""
    if tree is None:
        return np.zeros(len(table), np.int64)
    index = np.full(len(tree), -1, np.int64)
    index[nodes] = np.arange(len(nodes))
    return index[leaves(tree, table)]


def representative_rows(counts: tuple[np.ndarray, ...], codes: ColumnCodes, schema: Schema, columns: Sequence[int]) -> Table:
    """A few weighted rows with the same counts by code and class, in each of these columns, as the counted rows.

    A split depends on nothing else, so the search finds the same one. Within a class, the codes of each column are laid
    out in order along the weight of the class; a row is a stretch in which no column changes.
    """
    by_class = [stretches([counts[j][:, k] for j in columns]) for k in range(counts[0].shape[1])]
    weight = np.concatenate([class_weights for class_weights, _ in by_class])
    label = np.repeat(np.arange(len(by_class), dtype=np.int32), [len(class_weights) for class_weights, _ in by_class])
    code = [np.concatenate([codes_of_class[k] for _, codes_of_class in by_class]) for k in range(len(columns))]
    values = tuple(codes.values(schema.columns[j], j, class_weights) for j, class_weights in zip(columns, code, strict=True))
    only = msgspec.structs.replace(schema, columns=tuple(schema.columns[j] for j in columns))
    return Table(only, values, weight, label)
