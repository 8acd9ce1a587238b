"""A regression tree of two branches by rounds: rows and sums of targets by code are all that a split depends on.

A column of a large node is handed to the sorted search as two weighted rows for each code, about its mean and as far from it
as the sum of squares of the node asks. The columns are compared here, by the rule of the search.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.partitions import Partitions
from baytree.tree.growing.remote.growth import MOST_CELLS, Growing, MapReduceRequest, RemoteGrowth, answered
from baytree.tree.growing.remote.nodes import NodeRecord, downwards, in_order, records
from baytree.tree.growing.remote.target_sums import NodeTotals, NumberCounts, TargetUnits, measured
from baytree.tree.growing.remote.value_codes import ColumnCodes, codes_of
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import equal_costs
from baytree.tree.policy.policy import Policy

_SLACK = 1e-12  # of the squares: closer gains are a tie, as in the core

_NO_GAIN = 1e-10  # CART: beside the largest improvement above, less is rounding


def grow_numbers_in_rounds(rows: Partitions, policy: Policy, cp: float = 0.0) -> Tree:
    """The regression tree that a policy grows, not pruned."""
    return answered(rows, [_grown(rows, policy, codes_of(rows), TargetUnits.of(rows), cp)], [None])[0]


def _grown(rows: Partitions, policy: Policy, codes: ColumnCodes, units: TargetUnits, cp: float) -> Growing[Tree]:
    seen: NumberCounts = yield MapReduceRequest(partial(NumberCounts.of, None, np.zeros(1, np.int64), codes, units))
    _, _, squares = seen.totals.of_node(0, units)
    growth = NumberGrowth(rows.schema, rows.n_jobs, policy, codes, units, cp * squares * (1 - 1e-9), rows.n_rows)
    return (yield from growth.grown(seen))


class NumberGrowth(RemoteGrowth[NumberCounts]):
    """A regression tree, while it grows."""

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
        super().__init__(schema, n_jobs, policy, equal_costs(0), codes, min_risk, float(n_rows), MOST_CELLS)
        self.units = units

    @property
    def _width(self) -> int:
        return 3

    def _counting(self, root: NodeRecord) -> Callable[[np.ndarray, Table], NumberCounts]:
        return partial(_counted, self._way(root), self.codes, self.units)

    def _split(self, counts: NumberCounts, depth: int) -> NodeRecord:
        """A node split once by the best of its columns, the earlier one among equals; its children as leaves."""
        n, mean, squares = counts.totals.of_node(0, self.units)
        best, most = None, 0.0
        for j in range(len(self.schema)):
            offer = self._offer(j, counts.counts[j][:, 0], (n, mean, squares), depth)
            gain = float(offer.fields["gain"]) if offer.children else 0.0
            most = max(most, gain)
            if best is None or (offer.children and self._is_better(gain, best, most, squares)):
                best = offer
        assert best is not None
        return best

    def _is_better(self, gain: float, best: NodeRecord, most: float, squares: float) -> bool:
        if self.is_cart and gain <= _NO_GAIN * most:
            return False
        return not best.children or gain > float(best.fields["gain"]) + _SLACK * squares

    def _offer(self, column: int, cells: np.ndarray, whole: tuple[int, float, float], depth: int) -> NodeRecord:
        """The node split once by one column."""
        table = self._stand_ins(column, cells, *whole)
        root = records(self._arrays(table, depth, most=1), depth)
        if root.children:
            root.fields["column"] = np.int32(column)
            root.fields["cut"] = self.codes.cut(column, float(root.fields["cut"]), bool(root.fields["strict"]))
        return root

    def _stand_ins(self, column: int, cells: np.ndarray, n: int, mean: float, squares: float) -> Table:
        code = np.flatnonzero(cells[0])
        rows = cells[0, code].astype(np.float64)
        means = self.units.sums(cells[1, code], cells[2, code]) / rows
        within = max(squares - float((rows * (means - mean) ** 2).sum()), 0.0) / n
        label = np.concatenate([means - np.sqrt(within), means + np.sqrt(within)])
        only = msgspec.structs.replace(self.schema, columns=(self.schema.columns[column],))
        values = self.codes.values(self.schema.columns[column], column, np.tile(code, 2))
        return Table(only, (values,), np.tile(rows / 2, 2), label)

    def _is_final(self, node: NodeRecord) -> bool:
        """Squares of children are not known before they are counted, or brought here."""
        stop = self.policy.stopping
        is_deep = stop.max_depth is not None and node.depth >= stop.max_depth
        return is_deep or node.fields["weight"] < stop.min_split

    def _count_rows(self, root: NodeRecord) -> Growing[None]:
        """Rows, means and squares of all nodes that memory has not seen, from sums without rounding."""
        at_rest: NodeTotals = yield MapReduceRequest(partial(NodeTotals.at_rest, self._way(root), self.units))
        own = dict(zip(map(id, in_order(root)), at_rest.cells.T, strict=True))
        for record in reversed(downwards(root)):
            cells = own[id(record)] = own[id(record)] + sum(own[id(child)] for child in record.children)
            n, mean, squares = measured(cells, self.units)
            record.fields["rows"] = n
            if not record.is_exact:
                figures = {
                    "weight": float(n),
                    "mean": self.units.centre + mean,
                    "risk": squares,
                    "impurity": squares / max(n, 1),
                }
                record.fields |= figures


def _counted(tree: Tree, codes: ColumnCodes, units: TargetUnits, nodes: np.ndarray, table: Table) -> NumberCounts:
    return NumberCounts.of(tree, nodes, codes, units, table)
