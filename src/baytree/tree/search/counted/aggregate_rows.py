"""Multiway trees over rows that only answer aggregate queries: the tests so far take the place of the node of each row.

`AggregateRankedRows` answers what `coded_rows.RankedRows` are observed for. Rows in a database keep no state, so the steps
from node to node are collected and become the tests of the next query.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from baytree.data.schema.column import Kind
from baytree.engine.aggregates import Coding, NodeCells, as_query
from baytree.tree.search.counted.coded_rows import DistinctValueCodes, RowsOfClasses, count_classes, stepped_down
from baytree.tree.search.counted.counts import CodeSums, DepthCounts, depth_counts

MAX_DISTINCT = 65_536  # distinct numbers of a column, as in trees on remote rows


def aggregate_rows(rows: Any, max_distinct: int = MAX_DISTINCT) -> tuple[AggregateRankedRows, DistinctValueCodes]:
    """Coded rows at the root, and the values of the codes; raises ValueError for numbers of too many values."""
    values, ends, sizes, levels = [], [], [], []
    for j, column in enumerate(rows.schema.columns):
        if column.kind is Kind.NUMERIC:
            ((numbers, is_exact),) = rows.numeric_ends([j], max_distinct, 1)
            if not is_exact:
                raise ValueError(
                    f"column {column.name!r} has too many distinct numbers for a tree with branching='multiway' in a "
                    "database; round it in the query, or use branching='binary' or CHAIDClassifier, which bin it"
                )
            values.append(numbers)
            ends.append(numbers)
            sizes.append(len(numbers) + 1)
        else:
            is_ordinal = column.kind is Kind.ORDINAL
            values.append(np.arange(len(column.levels) if is_ordinal else 0, dtype=float))
            ends.append(None)
            sizes.append(max(len(column.levels), 1) + 1)
        levels.append(max(len(column.levels), 1) if column.kind is Kind.NOMINAL else 0)
    coding = DistinctValueCodes(values, np.array(levels, np.int32))
    return AggregateRankedRows(rows, Coding(tuple(ends), tuple(sizes))), coding


class AggregateRankedRows:
    """Rows of a database at the nodes of a multiway tree."""

    def __init__(self, rows: Any, codes: Coding, tests: dict[int, tuple[int, np.ndarray]] | None = None):
        self.rows, self.codes = rows, codes
        self._coded = rows.apply(as_query(lambda: codes)(lambda table: table))
        self._tests = tests or {}  # by node: its column, and the child of each code

    def map_reduce(self, observe: Callable[[Any], Any]) -> Any:
        """Class weights of all rows, or the counts of new nodes."""
        if isinstance(observe, partial) and observe.func is count_classes:
            _, is_open, index_of_node = observe.args
            return self._counts(is_open, index_of_node)
        assert observe == RowsOfClasses.of
        whole = self._count(np.zeros(1, np.int32), lambda counts, rows: (counts[0][0].sum(axis=0), int(rows[0])))
        weight, n_rows = whole
        return RowsOfClasses(weight.astype(np.float64), float(weight.sum()), n_rows)

    def apply(self, make: Callable[[Any], Any]) -> AggregateRankedRows:
        """Rows after they stepped down to the children of the nodes that were split."""
        assert isinstance(make, partial)
        assert make.func is stepped_down
        column, rank, first, missing = make.args
        tests = dict(self._tests)
        for node in np.flatnonzero(column >= 0):
            code = np.arange(self.codes.sizes[int(column[node])] - 1)
            child = first[node] + (code if rank[node] < 0 else (code > rank[node]).astype(np.int64))
            of_missing = first[node] + missing[node] if missing[node] >= 0 else -1
            tests[int(node)] = (int(column[node]), np.concatenate([[of_missing], child]).astype(np.int32))
        return AggregateRankedRows(self.rows, self.codes, tests)

    def _counts(self, is_open: np.ndarray, index_of_node: np.ndarray) -> DepthCounts:
        counts = self._count(index_of_node, partial(depth_counts, np.ones(len(is_open), bool)))
        cells = (_by_class(c, is_open[:, j], self.codes.sizes[j]) for j, c in enumerate(counts.cells))
        return DepthCounts(counts.rows, counts.sums, tuple(cells))

    def _count(self, index_of_node: np.ndarray, finish: Callable[..., Any]) -> Any:
        column, start, child = np.full(len(index_of_node), -1, np.int32), np.zeros(len(index_of_node), np.int64), []
        at = 0
        for node, (tested, child_of_code) in self._tests.items():
            column[node], start[node] = tested, at
            child.append(child_of_code)
            at += len(child_of_code)
        whole = np.concatenate(child) if child else np.zeros(0, np.int32)
        new = np.flatnonzero(index_of_node >= 0)
        nodes = new[np.argsort(index_of_node[new])]
        form = NodeCells(column, start, whole, nodes, finish)
        return self._coded.map_reduce(as_query(lambda: form)(lambda table: table))


def _by_class(cells: CodeSums, is_open: np.ndarray, size: int) -> CodeSums:
    """Cells of the open nodes with the class in their key, as the core counts them. sums [n_cells, 1]"""
    n_classes = cells.sums.shape[1]
    cell, label = np.nonzero(cells.sums)
    is_counted = is_open[cells.key[cell] // size]
    cell, label = cell[is_counted], label[is_counted]
    return CodeSums(cells.key[cell] * n_classes + label, cells.sums[cell, label][:, None])
