"""Classification trees by map-reduce: rows are coded once on the workers, and only counts by node, code and class travel.

A split depends on these counts alone. Each counted node is handed to the sorted search as a few weighted rows with the
same counts, so that there is one split search; if every number has its own code, the tree is identical bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec
import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.engine.aggregates import AggregateRows, as_query, form_of
from baytree.engine.partitions import Partitions
from baytree.tree.growing.remote.coded_rows import (
    ROOT,
    CodeTests,
    LeafRowCounts,
    NarrowCodedRows,
    NodeCounts,
    representative_rows,
)
from baytree.tree.growing.remote.growth import (
    MAX_CELLS_PER_PASS,
    Growing,
    Inside,
    MapReduceRequest,
    RemoteGrowth,
    run_growths,
)
from baytree.tree.growing.remote.nodes import NodeRecord, core_order, preorder_nodes, records
from baytree.tree.growing.remote.value_codes import ColumnCodes, codes_of
from baytree.tree.model.arrays import STOP
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import ClassCosts
from baytree.tree.policy.policy import Policy

# proportion of a node's weight: a column whose gain is smaller than the best by more cannot win. Larger than every tolerance
# of the sorted search, which decides among the remaining columns (benchmarks/notes/0108)
GAIN_TOLERANCE = 1e-9


def grow_class_tree(rows: Partitions, policy: Policy, costs_of: Callable[[Table], ClassCosts], cp: float = 0.0) -> Tree:
    """Grow the tree of a policy, without pruning."""
    return grow_together(rows, [TreeJob(policy, costs_of, lambda risk: cp * risk)], codes_of(rows))[0]


class TreeJob(msgspec.Struct, frozen=True):
    """Request for a tree: its policy, class costs, the minimum risk of a node, and the rows that it learns from."""

    policy: Policy
    costs_of: Callable[[Table], ClassCosts]
    min_risk: Callable[[float], float]  # of the risk of the root
    inside: Inside = None


def grow_together(rows: Partitions, jobs: Sequence[TreeJob], codes: ColumnCodes) -> list[Tree]:
    """Grow several trees, without pruning; their statistics are computed in common passes."""
    max_cells = MAX_CELLS_PER_PASS // len(jobs)
    gathers = not isinstance(rows, AggregateRows)
    growths = [_grow_job(job, rows.schema, rows.n_jobs, codes, max_cells, gathers) for job in jobs]
    coded = rows.apply_and_persist(partial(NarrowCodedRows.of, codes), NarrowCodedRows)
    return run_growths(rows, growths, [job.inside for job in jobs], coded)


def _grow_job(
    job: TreeJob, schema: Schema, n_jobs: int | None, codes: ColumnCodes, max_cells: int, gathers: bool
) -> Growing[Tree]:
    root_counts: NodeCounts = yield MapReduceRequest(partial(NodeCounts.of, ROOT, np.zeros(1, np.int64), codes.sizes))
    table = representative_rows(root_counts.single, codes, schema, [0])
    costs = job.costs_of(table)
    risk = float(costs.least_risk(root_counts.single[0].sum(axis=0)))
    min_risk = job.min_risk(risk) * (1 - 1e-9)  # the exact test uses the complexities
    growth = ClassGrowth(schema, n_jobs, job.policy, costs, codes, min_risk, float(table.weight.sum()), max_cells)
    growth.gathers = gathers
    growth.are_rows = root_counts.counts[0].dtype.kind == "i"
    return (yield from growth.grow(root_counts))


class ClassGrowth(RemoteGrowth[NodeCounts]):
    """Classification tree during growth."""

    are_rows = False  # unweighted rows are counted

    @property
    def _width(self) -> int:
        return len(self.costs.scale)

    def _counting(self, root: NodeRecord) -> Callable[[np.ndarray, NarrowCodedRows], NodeCounts]:
        return partial(_count_nodes, self._tests(root), self.codes.sizes)

    def _tests(self, root: NodeRecord) -> CodeTests:
        """Tests on codes of the current tree, down to gathered nodes."""
        nodes = core_order(root)
        index = {id(node): k for k, node in enumerate(nodes)}
        column = [int(node.fields["column"]) if len(node.branch_of) else -1 for node in nodes]
        children = [np.array([-1] + [index[id(child)] for child in node.children], np.int32) for node in nodes]
        return CodeTests.of(column, [child_of[node.branch_of + 1] for child_of, node in zip(children, nodes, strict=True)])

    def _split(self, counts: NodeCounts, depth: int) -> NodeRecord:
        single = counts.single
        columns = self._candidate_columns(single)
        table = representative_rows(single, self.codes, self.schema, columns)
        root = records(self._grow_arrays(table, depth, max_levels=1), depth)
        if root.children:
            column, is_strict = columns[int(root.fields["column"])], bool(root.fields["strict"])
            root.fields["column"] = np.int32(column)
            root.fields["cut"] = self.codes.threshold(column, float(root.fields["cut"]), is_strict)
            root.branch_of = self._branch_of_codes(root)
        return root

    def _candidate_columns(self, counts: tuple[np.ndarray, ...]) -> list[int]:
        """Columns that may have the best split: those whose best gain is clearly less than another's are skipped."""
        columns = list(range(len(counts)))
        if not (self.costs.scale == 1.0).all() or self.policy.stopping.counts_rows:
            return columns
        complete = [j for j in columns if self.schema.columns[j].kind is not Kind.NOMINAL and not counts[j][0].any()]
        criterion, min_leaf = self.policy.criterion.value, self.policy.stopping.min_leaf
        gain = {j: _core.best_cut_worth(np.ascontiguousarray(counts[j][1:]), criterion, float(min_leaf)) for j in complete}
        required = max(gain.values(), default=0.0) - GAIN_TOLERANCE * float(counts[0].sum())
        return [j for j in columns if gain.get(j, required) >= required]

    def _branch_of_codes(self, node: NodeRecord) -> np.ndarray:
        """Branch of each code of the column that a node tests, int32 [n_codes]; −1 if rows stop."""
        column = int(node.fields["column"])
        missing = STOP if self.is_cart else int(node.fields["missing"])
        if self.schema.columns[column].kind is Kind.NOMINAL:
            branch = np.full(self.codes.sizes[column], -1, np.int32)
            branch[1 : len(node.groups) + 1] = node.groups
        else:
            branch = self._threshold_branches(node, column)
        return np.where(branch < 0, missing, branch).astype(np.int32)

    def _threshold_branches(self, node: NodeRecord, column: int) -> np.ndarray:
        value = self.codes.values(self.schema.columns[column], column, np.arange(self.codes.sizes[column]))
        numbers = value if value.dtype.kind == "f" else np.where(value < 0, np.nan, value)
        threshold = float(node.fields["cut"])
        is_above = numbers >= threshold if node.fields["strict"] else numbers > threshold
        return np.where(np.isnan(numbers), -1, is_above)

    def _count_rows(self, root: NodeRecord) -> Growing[None]:
        """Set the number of rows of each node; that of unweighted rows is its weight."""
        if self.are_rows:
            for node in preorder_nodes(root):
                node.fields["rows"] = int(node.fields["weight"])
            return
        leaf_rows: LeafRowCounts = yield MapReduceRequest(partial(LeafRowCounts.of, self._tests(root)))
        n_rows = leaf_rows.rows.tolist()
        root.set_rows(dict(zip(map(id, core_order(root)), n_rows, strict=True)))

    def _is_final(self, node: NodeRecord) -> bool:
        stop, fields = self.policy.stopping, node.fields
        is_deep = stop.max_depth is not None and node.depth >= stop.max_depth
        is_safe = self.is_cart and fields["risk"] <= self.min_risk
        return is_deep or is_safe or fields["weight"] < stop.min_split or fields["impurity"] <= stop.min_impurity


@as_query(lambda tests, sizes, nodes: form_of(partial(NodeCounts.of, tests, nodes, sizes)))
def _count_nodes(tests: CodeTests, sizes: tuple[int, ...], nodes: np.ndarray, rows: NarrowCodedRows) -> NodeCounts:
    return NodeCounts.of(tests, nodes, sizes, rows)
