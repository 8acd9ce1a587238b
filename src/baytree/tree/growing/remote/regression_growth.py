"""Regression trees by map-reduce: a split depends only on the rows and sums of targets by code.

Each column of a large node is handed to the sorted search as two weighted rows per code, at equal distances from the
code's mean that reproduce the node's sum of squares. The best column is then chosen by the rule of the search.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import Partitions
from baytree.tree.growing.remote.growth import MAX_CELLS_PER_PASS, Growing, MapReduceRequest, RemoteGrowth, run_growths
from baytree.tree.growing.remote.nodes import NodeRecord, core_order, preorder_nodes, records
from baytree.tree.growing.remote.target_sums import NodeTotals, NumberCounts, TargetUnits, node_moments
from baytree.tree.growing.remote.value_codes import ColumnCodes, codes_of
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import equal_costs
from baytree.tree.policy.policy import Policy

_TIE_TOLERANCE = 1e-12  # proportion of the sum of squares; gains that are closer tie, as in the sorted search of the core

_GAIN_TOLERANCE = 1e-10  # CART: relative to the largest improvement so far, less is rounding


def grow_regression_tree(rows: Partitions, policy: Policy, cp: float = 0.0) -> Tree:
    """Grow the regression tree of a policy, without pruning."""
    return run_growths(rows, [_grow_tree(rows, policy, codes_of(rows), TargetUnits.of(rows), cp)], [None])[0]


def _grow_tree(rows: Partitions, policy: Policy, codes: ColumnCodes, units: TargetUnits, cp: float) -> Growing[Tree]:
    root_counts: NumberCounts = yield MapReduceRequest(partial(NumberCounts.of, None, np.zeros(1, np.int64), codes, units))
    _, _, squares = root_counts.totals.of_node(0, units)
    growth = NumberGrowth(rows.schema, rows.n_jobs, policy, codes, units, cp * squares * (1 - 1e-9), rows.n_rows)
    return (yield from growth.grow(root_counts))


class NumberGrowth(RemoteGrowth[NumberCounts]):
    """Regression tree during growth."""

    def __init__(
        self,
        schema: Schema,
        n_jobs: int | None,
        policy: Policy,
        codes: ColumnCodes,
        units: TargetUnits,
        min_risk: float,
        n_rows: int,
    ):
        super().__init__(schema, n_jobs, policy, equal_costs(0), codes, min_risk, float(n_rows), MAX_CELLS_PER_PASS)
        self.units = units

    @property
    def _width(self) -> int:
        return 3

    def _counting(self, root: NodeRecord) -> Callable[[np.ndarray, Table], NumberCounts]:
        return partial(_count_nodes, self._routing_tree(root), self.codes, self.units)

    def _split(self, counts: NumberCounts, depth: int) -> NodeRecord:
        """Split a node once by its best column, the first among equals, with its children as leaves."""
        n, mean, squares = counts.totals.of_node(0, self.units)
        best, largest = None, 0.0
        for j in range(len(self.schema)):
            candidate = self._split_by_column(j, counts.counts[j][:, 0], (n, mean, squares), depth)
            gain = float(candidate.fields["gain"]) if candidate.children else 0.0
            largest = max(largest, gain)
            if best is None or (candidate.children and self._is_better(gain, best, largest, squares)):
                best = candidate
        assert best is not None
        return best

    def _is_better(self, gain: float, best: NodeRecord, largest_gain: float, squares: float) -> bool:
        if self.is_cart and gain <= _GAIN_TOLERANCE * largest_gain:
            return False
        return not best.children or gain > float(best.fields["gain"]) + _TIE_TOLERANCE * squares

    def _split_by_column(
        self, column: int, cells: np.ndarray, node_moments: tuple[int, float, float], depth: int
    ) -> NodeRecord:
        """The node, split once by one column."""
        table = self._representative_rows(column, cells, *node_moments)
        root = records(self._grow_arrays(table, depth, max_levels=1), depth)
        if root.children:
            root.fields["column"] = np.int32(column)
            root.fields["cut"] = self.codes.threshold(column, float(root.fields["cut"]), bool(root.fields["strict"]))
        return root

    def _representative_rows(self, column: int, cells: np.ndarray, n: int, mean: float, squares: float) -> Table:
        code = np.flatnonzero(cells[0])
        rows = cells[0, code].astype(np.float64)
        means = self.units.sums(cells[1, code], cells[2, code]) / rows
        within = max(squares - float((rows * (means - mean) ** 2).sum()), 0.0) / n
        label = np.concatenate([means - np.sqrt(within), means + np.sqrt(within)])
        sub_schema = msgspec.structs.replace(self.schema, columns=(self.schema.columns[column],))
        values = self.codes.values(self.schema.columns[column], column, np.tile(code, 2))
        return Table(sub_schema, (values,), np.tile(rows / 2, 2), label)

    def _is_final(self, node: NodeRecord) -> bool:
        """Sums of squares of children are unknown until they are counted or gathered, so impurity cannot stop growth
        here.
        """
        stop = self.policy.stopping
        is_deep = stop.max_depth is not None and node.depth >= stop.max_depth
        return is_deep or node.fields["weight"] < stop.min_split

    def _count_rows(self, root: NodeRecord) -> Growing[None]:
        """Set rows, means and sums of squares of all nodes not measured in memory, from exact sums."""
        totals: NodeTotals = yield MapReduceRequest(partial(NodeTotals.of_leaves, self._routing_tree(root), self.units))
        cells_of = dict(zip(map(id, core_order(root)), totals.cells.T, strict=True))
        for record in reversed(preorder_nodes(root)):
            cells = cells_of[id(record)] = cells_of[id(record)] + sum(cells_of[id(child)] for child in record.children)
            n, mean, squares = node_moments(cells, self.units)
            record.fields["rows"] = n
            if not record.is_exact:
                moments = {
                    "weight": float(n),
                    "mean": self.units.centre + mean,
                    "risk": squares,
                    "impurity": squares / max(n, 1),
                }
                record.fields |= moments


def _count_nodes(tree: Tree, codes: ColumnCodes, units: TargetUnits, nodes: np.ndarray, table: Table) -> NumberCounts:
    return NumberCounts.of(tree, nodes, codes, units, table)
