"""A tree of two branches by rounds: a level of nodes is one round of counts, until it is less to bring their rows here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np

from baytree.table.schema import Schema
from baytree.table.table import Table
from baytree.tree.grow.costs import Costs
from baytree.tree.grow.policy import Arithmetic, Policy
from baytree.tree.grow.rounds.growing_nodes import NodeRecord, downwards, in_order, records, tree_of
from baytree.tree.grow.rounds.node_counts import NodeCounts, places
from baytree.tree.grow.rounds.questions import Ask, Bring, Growing
from baytree.tree.grow.rounds.target_sums import NumberCounts
from baytree.tree.grow.rounds.value_codes import Codes
from baytree.tree.grow.sorted import grow_arrays
from baytree.tree.model.places import STOP
from baytree.tree.model.structure import Tree

SMALL = 50_000  # rows of a node that is brought here
C = TypeVar("C", NodeCounts, NumberCounts)  # what is counted of a node
AT_ONCE = 1 << 20  # rows that are brought here together
MOST_CELLS = 1 << 24  # of counts that are made in one round
BYTES_OF_A_VALUE, BYTES_OF_A_CELL = 8, 32  # the latter of eight parts, each of which sends four


class Growth(ABC, Generic[C]):
    """A tree of two branches, while it grows from what is counted of its nodes."""

    def __init__(
        self,
        schema: Schema,
        n_jobs: int | None,
        policy: Policy,
        costs: Costs,
        codes: Codes,
        min_risk: float,
        weight: float,
        most_cells: int,
    ):
        self.schema, self.n_jobs, self.policy, self.costs, self.codes = schema, n_jobs, policy, costs, codes
        self.min_risk, self.weight, self.most_cells = min_risk, weight, most_cells
        self.is_cart = policy.arithmetic is Arithmetic.RPART

    def grown(self, counts: C) -> Growing[Tree]:
        """The tree, of the counts of its root."""
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
        """Tells each node of its rows."""

    def _next_level(self, root: NodeRecord, level: list, small: list[NodeRecord]) -> Growing[list]:
        """Counts the children that may be split, and splits them; of siblings, the last is what the others leave."""
        found = []
        wanted, pairs = [], []
        for parent, counts in level:
            open_children = [child for child in parent.children if not self._is_final(child)]
            large = [child for child in open_children if not self._is_brought(child)]
            small += [child for child in open_children if self._is_brought(child)]
            is_whole = len(large) == len(parent.children) == 2 and self._adds_up(parent)
            counted = [min(large, key=lambda child: child.fields["weight"])] if is_whole else large
            pairs.append((large, counted, counts))
            wanted += counted
        seen = yield from self._counts(root, wanted)
        for large, counted, counts in pairs:
            own = {id(child): seen[id(child)] for child in counted}
            for child in large:
                if id(child) not in own:
                    (other,) = own.values()
                    own[id(child)] = counts - other
            found += [(child, own[id(child)]) for child in large]
        for child, counts in found:
            child.become(self._split(counts, child.depth))
        return [(child, counts) for child, counts in found if child.children]

    def _counts(self, root: NodeRecord, wanted: list[NodeRecord]) -> Growing[dict[int, C]]:
        """The counts of nodes, in as few rounds as their cells allow."""
        if not wanted:
            return {}
        place = {id(record): k for k, record in enumerate(in_order(root))}
        step, counting = max(1, self.most_cells // self._cells), self._counting(root)
        seen = {}
        for first in range(0, len(wanted), step):
            some = wanted[first : first + step]
            nodes = np.array([place[id(record)] for record in some])
            counts = yield Ask(partial(counting, nodes))
            seen |= {id(record): counts.node(k) for k, record in enumerate(some)}
        return seen

    @property
    def _cells(self) -> int:
        """Numbers that are counted of a node."""
        return sum(self.codes.sizes) * self._width

    def _is_brought(self, node: NodeRecord) -> bool:
        """Whether a node is finished here: its rows are few, and fewer bytes than the counts of the levels below it."""
        depth, weight = self.policy.stopping.max_depth, node.fields["weight"]
        if weight > SMALL or depth is None:
            return weight <= SMALL
        n_counted = 2.0 ** min(depth - node.depth - 1, 30)  # of two siblings one is counted
        return weight * BYTES_OF_A_VALUE * len(self.codes.sizes) <= n_counted * self._cells * BYTES_OF_A_CELL

    @property
    @abstractmethod
    def _width(self) -> int:
        """Of a cell of the counts."""

    @abstractmethod
    def _counting(self, root: NodeRecord) -> Callable[[np.ndarray, Any], C]:
        """How rows are counted at nodes of a tree, given by their places."""

    @abstractmethod
    def _split(self, counts: C, depth: int) -> NodeRecord:
        """A node split once, its children as leaves."""

    def _finish(self, root: NodeRecord, small: list[NodeRecord]) -> Growing[None]:
        """Brings the rows of small nodes here, and grows what is left to grow."""
        if not small:
            return
        tree, place = self._way(root), {id(record): k for k, record in enumerate(in_order(root))}
        for some in _batches(small):
            nodes = np.array([place[id(record)] for record in some])
            table: Table = yield Bring(partial(_chosen, tree, nodes))
            at = places(tree, nodes, table)
            for k, record in enumerate(some):
                own = table.take(at == k)
                record.become(self._here(own, record.depth))

    def _here(self, table: Table, depth: int) -> NodeRecord:
        """What memory makes of the rows of a small node."""
        root = records(self._arrays(table, depth, most=None), depth)
        for record in downwards(root):
            record.is_exact = True
        return root

    def _arrays(self, table: Table, depth: int, most: int | None) -> dict[str, Any]:
        stop = self.policy.stopping
        left = None if stop.max_depth is None else stop.max_depth - depth
        limits = [limit for limit in (left, most) if limit is not None]
        share = self.weight / float(table.weight.sum())
        stopping = msgspec.structs.replace(
            stop, max_depth=min(limits) if limits else None, min_gain=stop.min_gain * share, counts_rows=False
        )
        policy = msgspec.structs.replace(self.policy, stopping=stopping)
        return grow_arrays(table, policy, self.costs, self.n_jobs, self.min_risk)

    @abstractmethod
    def _is_final(self, node: NodeRecord) -> bool:
        """Whether a node stays a leaf, whatever its rows are."""

    def _adds_up(self, parent: NodeRecord) -> bool:
        return parent.fields["weight"] == sum(child.fields["weight"] for child in parent.children)

    def _way(self, root: NodeRecord) -> Tree:
        """The tree as training rows take it: without surrogates, CART leaves a row where it misses a value."""
        tree = self._tree(root)
        return msgspec.structs.replace(tree, missing=np.full_like(tree.missing, STOP)) if self.is_cart else tree

    def _tree(self, root: NodeRecord) -> Tree:
        return tree_of(root, self.costs, self.policy.surrogates.use > 0)


def _chosen(tree: Tree, nodes: np.ndarray, table: Table) -> Table:
    return table.take(places(tree, nodes, table) >= 0)


def _batches(small: list[NodeRecord]) -> list[list[NodeRecord]]:
    batches: list[list[NodeRecord]] = [[]]
    weight = 0.0
    for record in small:
        if weight + record.fields["weight"] > AT_ONCE and batches[-1]:
            batches.append([])
            weight = 0.0
        batches[-1].append(record)
        weight += record.fields["weight"]
    return batches
