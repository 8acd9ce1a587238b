"""A tree of two branches by rounds: a level of nodes is one round of counts, until it is less to bring their rows here.

What growing trees want to know of rows that are elsewhere; the questions of several trees are answered in one round.
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
from baytree.engine.partitions import Partitions, PartitionValues
from baytree.tree.growing.remote.coded_rows import NodeCounts, places
from baytree.tree.growing.remote.nodes import NodeRecord, downwards, in_order, records, tree_of
from baytree.tree.growing.remote.target_sums import NumberCounts
from baytree.tree.growing.remote.value_codes import ColumnCodes
from baytree.tree.model.arrays import STOP
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import ClassCosts
from baytree.tree.policy.policy import Policy, ReferenceProgram
from baytree.tree.search.sorted import grow_arrays

SMALL = 50_000  # rows of a node that is brought here

C = TypeVar("C", NodeCounts, NumberCounts)  # what is counted of a node

AT_ONCE = 1 << 20  # rows that are brought here together

MOST_CELLS = 1 << 24  # of counts that are made in one round

BYTES_OF_A_VALUE, BYTES_OF_A_CELL = 8, 32  # the latter of eight parts, each of which sends four


class RemoteGrowth(ABC, Generic[C]):
    """A tree of two branches, while it grows from what is counted of its nodes."""

    def __init__(
        self,
        schema: Schema,
        n_jobs: int | None,
        policy: Policy,
        costs: ClassCosts,
        codes: ColumnCodes,
        min_risk: float,
        weight: float,
        most_cells: int,
    ):
        self.schema, self.n_jobs, self.policy, self.costs, self.codes = schema, n_jobs, policy, costs, codes
        self.min_risk, self.weight, self.most_cells = min_risk, weight, most_cells
        self.is_cart = policy.arithmetic is ReferenceProgram.RPART

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
            counts = yield MapReduceRequest(partial(counting, nodes))
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
            table: Table = yield GatherRequest(partial(_rows_of_nodes, tree, nodes))
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


def _rows_of_nodes(tree: Tree, nodes: np.ndarray, table: Table) -> Table:
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


T = TypeVar("T")

Inside = Callable[[Any], Any] | None  # which rows of a part, or of what is kept of it, a tree learns from; None takes all


class MapReduceRequest(msgspec.Struct, frozen=True):
    """What `observe` sees in each part, or in what is kept of it, is to be added up."""

    observe: Callable[[Any], Any]


class GatherRequest(msgspec.Struct, frozen=True):
    """The rows that `choose` takes are to come here."""

    choose: Callable[[Table], Table]


Growing = Generator[MapReduceRequest | GatherRequest, Any, T]


class RequestResults(msgspec.Struct, frozen=True):
    """What was seen for each of several questions."""

    values: tuple

    @classmethod
    def of(cls, questions: Sequence[tuple[Inside, Callable[[Any], Any]]], rows: Any) -> Self:
        """In these rows."""
        return cls(tuple(observe(_within(inside, rows)) for inside, observe in questions))

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(mine + theirs for mine, theirs in zip(self.values, other.values, strict=True)))


def answered(
    rows: Partitions, growing: Sequence[Growing[T]], inside: Sequence[Inside], kept: PartitionValues[Any] | None = None
) -> list[T]:
    """What each of these ends with; questions go to what is `kept` of the rows, if anything is.

    Rows are brought for one after the other: they must not be here all at once.
    """
    told = rows if kept is None else kept
    done: dict[int, T] = {}
    asked = {k: _next(each, None, k, done) for k, each in enumerate(growing)}
    while len(done) < len(growing):
        for k in range(len(growing)):
            while isinstance(bring := asked.get(k), GatherRequest):
                table = rows.gather(partial(_choose_inside, inside[k], bring.choose))
                asked[k] = _next(growing[k], table, k, done)
        asks = {k: question for k, question in asked.items() if isinstance(question, MapReduceRequest)}
        if asks:
            seen = told.map_reduce(partial(RequestResults.of, [(inside[k], ask.observe) for k, ask in asks.items()])).values
            asked |= {k: _next(growing[k], value, k, done) for k, value in zip(asks, seen, strict=True)}
    return [done[k] for k in range(len(growing))]


def _next(growing: Growing[T], answer: Any, place: int, done: dict[int, T]) -> MapReduceRequest | GatherRequest | None:
    try:
        return growing.send(answer)
    except StopIteration as end:
        done[place] = end.value
        return None


def _choose_inside(inside: Inside, choose: Callable[[Table], Table], table: Table) -> Table:
    return choose(_within(inside, table))


def _within(inside: Inside, rows: Any) -> Any:
    return rows if inside is None else inside(rows)
