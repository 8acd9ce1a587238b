"""Counts of a level of a tree: sums of each new node, and of each code of each column at the nodes that may be split.

`DepthCounts` is additive over partitions, so one map-reduce pass per level suffices. Rows are routed by the tests so
far, so no partition keeps state between passes. `BinEncoder` codes numeric columns by quantile bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.engine.aggregates import Coding, NodeCells, as_query
from baytree.engine.partitions import Partitions, PartitionValues
from baytree.engine.quantiles import quantile_edges
from baytree.parallel import threads
from baytree.statistics.binning import bin_codes


class CodeSums(msgspec.Struct, frozen=True):
    """Sums by node and code of one column, for the pairs that occur."""

    key: np.ndarray  # int64 [n_cells], ascending: node · (n_codes + 1) + code + 1, where code −1 is a missing value
    sums: np.ndarray  # float64 [n_cells, n_sums]: weight per class, or weight, Σ w y and Σ w y² about the node's centre

    def __add__(self, other: CodeSums) -> CodeSums:
        return _joined(self, other, other.sums)

    def __sub__(self, other: CodeSums) -> CodeSums:
        return _joined(self, other, -other.sums)


class DepthCounts(msgspec.Struct, frozen=True):
    """Statistics of the nodes of a level, by index within the level."""

    rows: np.ndarray  # int64 [n_nodes], unweighted
    sums: np.ndarray  # float64 [n_nodes, n_sums], weight per class, or Σ w y² about the node's centre
    cells: tuple[CodeSums, ...]  # [n_columns], of the nodes that may be split

    def __add__(self, other: DepthCounts) -> DepthCounts:
        cells = (mine + others for mine, others in zip(self.cells, other.cells, strict=True))
        return DepthCounts(self.rows + other.rows, self.sums + other.sums, tuple(cells))

    def __sub__(self, other: DepthCounts) -> DepthCounts:
        cells = (mine - others for mine, others in zip(self.cells, other.cells, strict=True))
        return DepthCounts(self.rows - other.rows, self.sums - other.sums, tuple(cells))


class Centres(msgspec.Struct, frozen=True):
    """Weight and sum of the targets at each node of a level, and their range."""

    weight: np.ndarray  # float64 [n_nodes]
    sum: np.ndarray  # float64 [n_nodes], about the current centre
    low: np.ndarray  # float64 [n_nodes]
    high: np.ndarray  # float64 [n_nodes]

    def __add__(self, other: Centres) -> Centres:
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Centres(self.weight + other.weight, self.sum + other.sum, low, high)


class OpenDepth(msgspec.Struct, frozen=True):
    """Nodes of a level, with what a partition needs to find their rows."""

    tests: dict[str, np.ndarray]  # tests so far, over codes, as the router reads them
    index_of_node: np.ndarray  # int32 [n_nodes of the tree], index of a node within the level, −1 for others
    is_open: np.ndarray  # bool [n_nodes of the level], nodes whose columns are counted
    n_codes: Sequence[int]

    def node_indices(self, table: Table) -> np.ndarray:
        """Index of each row's node within the level, int32 [n_rows]; −1 for other nodes."""
        if len(self.index_of_node) == 1:
            return np.zeros(len(table), np.int32)
        return self.index_of_node[
            _router(self.tests).leaves(list(table.values), np.array(self.n_codes, np.int32), len(table), 1)
        ]


def centres(rows: PartitionValues[Table], level: OpenDepth) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weight and mean of each node's targets, and whether they vary: three arrays [n_nodes].

    A second pass about the first mean removes its rounding error.
    """
    first = rows.map_reduce(partial(_centres, level, np.zeros(len(level.is_open))))
    mean = first.sum / first.weight
    mean = mean + rows.map_reduce(partial(_centres, level, mean)).sum / first.weight
    return first.weight, mean, first.low < first.high


def count(rows: PartitionValues[Table], level: OpenDepth, centre: np.ndarray | None) -> DepthCounts:
    """Count a level in one pass; sums of numeric targets are taken about these centres [n_nodes]."""
    return rows.map_reduce(partial(_count, level, centre))


def _centres(level: OpenDepth, centre: np.ndarray, table: Table) -> Centres:
    """Sums over the rows of each node."""
    index = level.node_indices(table)
    order = np.argsort(index, kind="stable")
    ends = np.searchsorted(index[order], np.arange(len(centre) + 1))
    sums = [_centre(table, order[ends[k] : ends[k + 1]], centre[k]) for k in range(len(centre))]
    return Centres(*np.array(sums).reshape(-1, 4).T.copy())


def _centre(table: Table, rows: np.ndarray, centre: float) -> tuple[float, float, float, float]:
    if not len(rows):
        return 0.0, 0.0, np.inf, -np.inf
    weight, label = table.weight[rows], table.label[rows]
    centred = label - centre if centre else label
    return float(weight.sum()), float(weight @ centred), float(label.min()), float(label.max())


def _count_form(level: OpenDepth, centre: np.ndarray | None) -> NodeCells | None:
    """Request for the counts of a level; None for numeric targets."""
    if centre is not None:
        return None
    tests, index = level.tests, level.index_of_node
    sizes = np.array([0 if j < 0 else level.n_codes[j] + 1 for j in tests["column"]], np.int64)
    children = [_child_of_code(tests, node, int(sizes[node])) for node in range(len(sizes))]
    new = np.flatnonzero(index >= 0)
    child = np.concatenate([np.zeros(0, np.int32), *children])
    nodes = new[np.argsort(index[new])]
    return NodeCells(tests["column"], np.cumsum(sizes) - sizes, child, nodes, partial(depth_counts, level.is_open))


def _child_of_code(tests: dict[str, np.ndarray], node: int, size: int) -> np.ndarray:
    """Child of each code at a node, the first for a missing value; −1 if rows stop there. int32 [size]"""
    if not size:
        return np.zeros(0, np.int32)
    start = tests["start"][node]
    branch = tests["branch_of"][start : start + size - 1]
    missing = tests["missing"][node]
    of_missing = tests["first"][node] + missing if missing >= 0 else -1
    known = np.where(branch >= 0, tests["first"][node] + branch, of_missing)
    return np.concatenate([[of_missing], known]).astype(np.int32)


def depth_counts(is_open: np.ndarray, counts: Sequence[np.ndarray], rows: np.ndarray) -> DepthCounts:
    """Statistics of a level from the counts of each column [n_nodes, n_codes + 1, n_classes] and the rows of its nodes."""
    sums = counts[0].sum(axis=1).astype(np.float64)
    return DepthCounts(rows, sums, tuple(_open_cells(column.astype(np.float64), is_open) for column in counts))


def _open_cells(counts: np.ndarray, is_open: np.ndarray) -> CodeSums:
    cells = (counts * is_open[:, None, None]).reshape(-1, counts.shape[2])
    key = np.flatnonzero(cells.any(axis=1))
    return CodeSums(key, cells[key])


@as_query(_count_form)
def _count(level: OpenDepth, centre: np.ndarray | None, table: Table) -> DepthCounts:
    index = level.node_indices(table)
    if centre is None:
        return _count_classes(level, table, index)
    rows = np.bincount(index[index >= 0], minlength=len(level.is_open))
    return DepthCounts(rows, _squares(table, index, centre), _cells(level, table, index, centre))


def _count_classes(level: OpenDepth, table: Table, node_index: np.ndarray) -> DepthCounts:
    rows, sums, cells = _core.count_codes(
        [np.ascontiguousarray(codes, np.int32) for codes in table.values],
        np.array(level.n_codes, np.int32),
        node_index,
        np.ascontiguousarray(table.label, np.int32),
        np.zeros(0) if table.is_unweighted else np.ascontiguousarray(table.weight, np.float64),
        table.n_classes,
        np.repeat(level.is_open[:, None], len(table.values), axis=1),
        threads.free() if len(table) * len(table.values) >= _MIN_PARALLEL_VALUES else 1,
    )
    return DepthCounts(rows, sums, tuple(CodeSums(key, weights) for key, weights in cells))


_MIN_PARALLEL_VALUES = 1 << 16  # values; below this one thread is faster


def _squares(table: Table, node_index: np.ndarray, centre: np.ndarray) -> np.ndarray:
    order = np.argsort(node_index, kind="stable")
    ends = np.searchsorted(node_index[order], np.arange(len(centre) + 1))
    parts = [order[ends[k] : ends[k + 1]] for k in range(len(centre))]
    return np.array([[float(table.weight[r] @ (table.label[r] - c) ** 2)] for r, c in zip(parts, centre, strict=True)])


def _cells(level: OpenDepth, table: Table, node_index: np.ndarray, centre: np.ndarray) -> tuple[CodeSums, ...]:
    is_counted = (node_index >= 0) & level.is_open[node_index]
    rows = slice(None) if is_counted.all() else np.flatnonzero(is_counted)
    node_index, label = node_index[rows].astype(np.int64), table.label[rows]
    weight = np.ones(len(node_index)) if table.is_unweighted else table.weight[rows]
    moments = [weight * (label - centre[node_index]) ** power for power in (0, 1, 2)]
    columns = zip(table.values, level.n_codes, strict=True)
    return tuple(
        _column_cells(node_index * (n + 1) + (codes[rows] + 1), len(level.is_open) * (n + 1), moments)
        for codes, n in columns
    )


def _column_cells(key: np.ndarray, n_keys: int, moments: list[np.ndarray]) -> CodeSums:
    """Sums by key; few keys are counted directly, many are first compressed."""
    if n_keys > len(key):
        present, key = np.unique(key, return_inverse=True)
        return CodeSums(present, _sums(moments, key, len(present)))
    sums = _sums(moments, key, n_keys)
    present = np.flatnonzero(sums.any(axis=1))  # weights are positive
    return CodeSums(present, sums[present])


def _sums(moments: list[np.ndarray], key: np.ndarray, n: int) -> np.ndarray:
    # without rows bincount returns integers
    return np.stack([np.bincount(key, each, n) for each in moments], axis=1).astype(np.float64)


def _joined(left: CodeSums, right: CodeSums, added: np.ndarray) -> CodeSums:
    if np.array_equal(left.key, right.key):
        return CodeSums(left.key, left.sums + added)
    return CodeSums(*_core.add_cells(left.key, left.sums, right.key, np.ascontiguousarray(added)))


def _router(tests: dict[str, np.ndarray]) -> _core.Router:
    n = len(tests["column"])
    kinds = {np.int32: ("column", "start", "levels", "branch_of"), float: ("cut",), bool: ("strict", "flipped")}
    surrogates = {name: np.zeros(0, kind) for kind, names in kinds.items() for name in names}
    return _core.Router(tests, surrogates, np.zeros(n + 1, np.int64), np.zeros(0), np.zeros(n + 1, np.int64))


class BinEncoder(msgspec.Struct, frozen=True, dict=True):
    """Codes of each column: bin k of a numeric column holds edge[k − 1] < x ≤ edge[k]; other columns have codes already."""

    schema: Schema
    edges: tuple[np.ndarray | None, ...]  # [n_columns], None if the column has levels

    @classmethod
    def of(cls, rows: Partitions, n_bins: int) -> BinEncoder:
        """Encoder with edges at the quantiles of the training rows."""
        numeric = [j for j, column in enumerate(rows.schema) if column.kind is Kind.NUMERIC]
        edges = dict(zip(numeric, quantile_edges(rows, numeric, n_bins), strict=True))
        return cls(rows.schema, tuple(edges.get(j) for j in range(len(rows.schema))))

    @cached_property
    def n_codes(self) -> list[int]:
        """Number of codes of each column."""
        columns = zip(self.schema, self.edges, strict=True)
        return [len(column.levels) if edges is None else len(edges) + 1 for column, edges in columns]

    @cached_property
    def is_ordered(self) -> list[bool]:
        """Whether only adjacent codes of each column may merge."""
        return [column.kind is not Kind.NOMINAL for column in self.schema]

    @as_query(lambda self: self.coding_form)
    def coded(self, table: Table) -> Table:
        """Table with every column as int32 codes, −1 if missing."""
        columns = zip(table.values, self.edges, strict=True)
        codes = tuple(values if edges is None else bin_codes(values, edges) for values, edges in columns)
        return msgspec.structs.replace(table, values=codes)

    @property
    def coding_form(self) -> Coding:
        """The same codes plus 1 for engines without rows; 0 is a missing value."""
        ends = tuple(None if edges is None else np.append(edges, np.inf) for edges in self.edges)
        return Coding(ends, tuple(n + 1 for n in self.n_codes))

    def thresholds(self, column: int, group_of: np.ndarray) -> np.ndarray | None:
        """Edges between the groups of a numeric column's bins, each the maximum of its group; None if the column has
        levels.
        """
        edges = self.edges[column]
        return None if edges is None else edges[np.flatnonzero(np.diff(group_of))]

    def groups(self, column: int, group_of: np.ndarray, n_groups: int) -> list[list[Any]]:
        """Level names of each group of codes; for numeric columns, the text of its interval."""
        from baytree.tree.inspection.node_records import intervals

        described, thresholds = self.schema.columns[column], self.thresholds(column, group_of)
        if thresholds is None:
            return [[described.levels[code] for code in np.flatnonzero(group_of == group)] for group in range(n_groups)]
        known_groups = [[interval] for interval in intervals(described, thresholds)]
        return known_groups + [[] for _ in range(n_groups - len(known_groups))]
