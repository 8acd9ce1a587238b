"""`RemoteGrowth`: growth of a binary tree over remote rows, one map-reduce pass per level.

A level of nodes is counted in one pass. Once a node is so small that its rows cost less than further counts, its rows are
gathered and its subtree is grown in memory. Growths are generators that yield requests (`MapReduceRequest`,
`GatherRequest`); `run_growths` runs several of them and serves their requests in common passes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, Generic, Self, TypeVar

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.engine.aggregates import SeveralForms, as_query, form_of
from baytree.engine.partitions import Partitions, PartitionValues
from baytree.tree.growing.remote.coded_rows import NodeCounts, node_indices
from baytree.tree.growing.remote.nodes import NodeRecord, core_order, preorder_nodes, records, tree_of
from baytree.tree.growing.remote.target_sums import NumberCounts
from baytree.tree.growing.remote.value_codes import ColumnCodes
from baytree.tree.model.arrays import STOP
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import ClassCosts
from baytree.tree.policy.policy import Policy, ReferenceProgram
from baytree.tree.search.sorted import grow_arrays

# rows of a node that may be gathered (benchmarks/notes/0108): a larger value saves passes and takes more memory
MAX_GATHERED_NODE_ROWS = 50_000

C = TypeVar("C", NodeCounts, NumberCounts)  # counts of a node

MAX_GATHERED_ROWS = 1 << 20  # rows of several nodes that are gathered in one request, which bounds the memory

MAX_CELLS_PER_PASS = 1 << 24  # cells that one pass counts (128 MB as doubles); levels with more take several passes

VALUE_BYTES, CELL_BYTES = 8, 32  # bytes sent per gathered value; per counted cell, if eight partitions send four bytes each


class RemoteGrowth(ABC, Generic[C]):
    """Binary tree during growth from the counts of its nodes."""

    gathers = True  # the rows of small nodes; False where rows stay in a database

    def __init__(
        self,
        schema: Schema,
        n_jobs: int | None,
        policy: Policy,
        costs: ClassCosts,
        codes: ColumnCodes,
        min_risk: float,
        weight: float,
        max_cells: int,
    ):
        self.schema, self.n_jobs, self.policy, self.costs, self.codes = schema, n_jobs, policy, costs, codes
        self.min_risk, self.weight, self.max_cells = min_risk, weight, max_cells
        self.is_cart = policy.arithmetic is ReferenceProgram.RPART

    def grow(self, counts: C) -> Growing[Tree]:
        """Grow the tree, given the counts of its root."""
        root = self._split(counts, 0)
        small: list[NodeRecord] = []
        level = [(root, counts)]
        while level:
            level = yield from self._next_level(root, level, small)
        yield from self._finish(root, small)
        yield from self._count_rows(root)
        return self._tree(root)

    @abstractmethod
    def _count_rows(self, root: NodeRecord) -> Growing[None]:
        """Set the number of rows of each node."""

    def _next_level(self, root: NodeRecord, level: list, small: list[NodeRecord]) -> Growing[list]:
        """Count and split the children that may be split; the counts of the last sibling are what the others leave."""
        counted_nodes = []
        to_count, pairs = [], []
        for parent, counts in level:
            open_children = [child for child in parent.children if not self._is_final(child)]
            large = [child for child in open_children if not self._is_gathered(child)]
            small += [child for child in open_children if self._is_gathered(child)]
            can_subtract = len(large) == len(parent.children) == 2 and self._adds_up(parent)
            counted_children = [min(large, key=lambda child: child.fields["weight"])] if can_subtract else large
            pairs.append((large, counted_children, counts))
            to_count += counted_children
        node_counts = yield from self._counts(root, to_count)
        for large, counted_children, counts in pairs:
            counts_of = {id(child): node_counts[id(child)] for child in counted_children}
            for child in large:
                if id(child) not in counts_of:
                    (sibling_counts,) = counts_of.values()
                    counts_of[id(child)] = counts - sibling_counts
            counted_nodes += [(child, counts_of[id(child)]) for child in large]
        for child, counts in counted_nodes:
            child.replace_by(self._split(counts, child.depth))
        return [(child, counts) for child, counts in counted_nodes if child.children]

    def _counts(self, root: NodeRecord, requested: list[NodeRecord]) -> Growing[dict[int, C]]:
        """Counts of nodes, in as few passes as the number of cells allows."""
        if not requested:
            return {}
        index = {id(record): k for k, record in enumerate(core_order(root))}
        batch_size, counting = max(1, self.max_cells // self._cells), self._counting(root)
        result = {}
        for first in range(0, len(requested), batch_size):
            batch = requested[first : first + batch_size]
            nodes = np.array([index[id(record)] for record in batch])
            counts = yield MapReduceRequest(partial(counting, nodes))
            result |= {id(record): counts.node(k) for k, record in enumerate(batch)}
        return result

    @property
    def _cells(self) -> int:
        """Number of cells that are counted per node."""
        return sum(self.codes.sizes) * self._width

    def _is_gathered(self, node: NodeRecord) -> bool:
        """Whether a node is gathered: it has few rows, and they take fewer bytes than the counts of the levels below it."""
        if not self.gathers:
            return False
        depth, weight = self.policy.stopping.max_depth, node.fields["weight"]
        if weight > MAX_GATHERED_NODE_ROWS or depth is None:
            return weight <= MAX_GATHERED_NODE_ROWS
        n_counted = 2.0 ** min(depth - node.depth - 1, 30)  # of two siblings one is counted
        return weight * VALUE_BYTES * len(self.codes.sizes) <= n_counted * self._cells * CELL_BYTES

    @property
    @abstractmethod
    def _width(self) -> int:
        """Number of values per cell of the counts."""

    @abstractmethod
    def _counting(self, root: NodeRecord) -> Callable[[np.ndarray, Any], C]:
        """Function that counts rows at nodes of a tree, given by their indices."""

    @abstractmethod
    def _split(self, counts: C, depth: int) -> NodeRecord:
        """Split a node once, with its children as leaves."""

    def _finish(self, root: NodeRecord, small: list[NodeRecord]) -> Growing[None]:
        """Gather the rows of small nodes and grow their subtrees."""
        if not small:
            return
        tree, index = self._routing_tree(root), {id(record): k for k, record in enumerate(core_order(root))}
        for batch in _batches(small):
            nodes = np.array([index[id(record)] for record in batch])
            table: Table = yield GatherRequest(partial(_rows_of_nodes, tree, nodes))
            node = node_indices(tree, nodes, table)
            for k, record in enumerate(batch):
                node_table = table.take(node == k)
                record.replace_by(self._grow_in_memory(node_table, record.depth))

    def _grow_in_memory(self, table: Table, depth: int) -> NodeRecord:
        """Subtree of a small node, grown in memory."""
        root = records(self._grow_arrays(table, depth, max_levels=None), depth)
        for record in preorder_nodes(root):
            record.is_exact = True
        return root

    def _grow_arrays(self, table: Table, depth: int, max_levels: int | None) -> dict[str, Any]:
        stop = self.policy.stopping
        levels_left = None if stop.max_depth is None else stop.max_depth - depth
        limits = [limit for limit in (levels_left, max_levels) if limit is not None]
        scale = self.weight / float(table.weight.sum())
        stopping = msgspec.structs.replace(
            stop, max_depth=min(limits) if limits else None, min_gain=stop.min_gain * scale, counts_rows=False
        )
        policy = msgspec.structs.replace(self.policy, stopping=stopping)
        return grow_arrays(table, policy, self.costs, self.n_jobs, self.min_risk)

    @abstractmethod
    def _is_final(self, node: NodeRecord) -> bool:
        """Whether a node stays a leaf, whatever its counts."""

    def _adds_up(self, parent: NodeRecord) -> bool:
        return parent.fields["weight"] == sum(child.fields["weight"] for child in parent.children)

    def _routing_tree(self, root: NodeRecord) -> Tree:
        """Tree as training rows follow it: without surrogates, a row of CART stops at a node whose column it lacks."""
        tree = self._tree(root)
        return msgspec.structs.replace(tree, missing=np.full_like(tree.missing, STOP)) if self.is_cart else tree

    def _tree(self, root: NodeRecord) -> Tree:
        return tree_of(root, self.costs, self.policy.surrogates.use > 0)


def _rows_of_nodes(tree: Tree, nodes: np.ndarray, table: Table) -> Table:
    return table.take(node_indices(tree, nodes, table) >= 0)


def _batches(small: list[NodeRecord]) -> list[list[NodeRecord]]:
    batches: list[list[NodeRecord]] = [[]]
    weight = 0.0
    for record in small:
        if weight + record.fields["weight"] > MAX_GATHERED_ROWS and batches[-1]:
            batches.append([])
            weight = 0.0
        batches[-1].append(record)
        weight += record.fields["weight"]
    return batches


T = TypeVar("T")

# selects the rows of a table or of its persisted value that a tree learns from; None takes all
Inside = Callable[[Any], Any] | None


class MapReduceRequest(msgspec.Struct, frozen=True):
    """Request to add up `observe` over the partitions, or over their persisted values."""

    observe: Callable[[Any], Any]


class GatherRequest(msgspec.Struct, frozen=True):
    """Request to gather the rows that `choose` selects."""

    choose: Callable[[Table], Table]


Growing = Generator[MapReduceRequest | GatherRequest, Any, T]


def _requests_form(requests: Sequence[tuple[Inside, Callable[[Any], Any]]]) -> SeveralForms | None:
    """Requests of trees that learn from all rows."""
    forms = tuple(form_of(observe) for _, observe in requests)
    if any(inside is not None for inside, _ in requests) or None in forms:
        return None
    return SeveralForms(forms, lambda values: RequestResults(tuple(values)))


class RequestResults(msgspec.Struct, frozen=True):
    """Results of several requests."""

    values: tuple

    @classmethod
    @as_query(_requests_form)
    def of(cls, requests: Sequence[tuple[Inside, Callable[[Any], Any]]], rows: Any) -> Self:
        """Compute the statistics of all requests on one partition."""
        return cls(tuple(observe(_within(inside, rows)) for inside, observe in requests))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(mine + theirs for mine, theirs in zip(self.values, other.values, strict=True)))


def run_growths(
    rows: Partitions, growing: Sequence[Growing[T]], inside: Sequence[Inside], persisted: PartitionValues[Any] | None = None
) -> list[T]:
    """Run growths to their end and return their results; map-reduce requests read `persisted`, if given, not the rows.

    Rows are gathered for one growth after the other, because those of all would not fit in memory.
    """
    source = rows if persisted is None else persisted
    done: dict[int, T] = {}
    pending = {k: _resume(growth, None, k, done) for k, growth in enumerate(growing)}
    while len(done) < len(growing):
        for k in range(len(growing)):
            while isinstance(request := pending.get(k), GatherRequest):
                table = rows.gather(partial(_choose_inside, inside[k], request.choose))
                pending[k] = _resume(growing[k], table, k, done)
        requests = {k: request for k, request in pending.items() if isinstance(request, MapReduceRequest)}
        if requests:
            values = source.map_reduce(
                partial(RequestResults.of, [(inside[k], request.observe) for k, request in requests.items()])
            ).values
            pending |= {k: _resume(growing[k], value, k, done) for k, value in zip(requests, values, strict=True)}
    return [done[k] for k in range(len(growing))]


def _resume(growing: Growing[T], result: Any, index: int, done: dict[int, T]) -> MapReduceRequest | GatherRequest | None:
    try:
        return growing.send(result)
    except StopIteration as end:
        done[index] = end.value
        return None


def _choose_inside(inside: Inside, choose: Callable[[Table], Table], table: Table) -> Table:
    return choose(_within(inside, table))


def _within(inside: Inside, rows: Any) -> Any:
    return rows if inside is None else inside(rows)
