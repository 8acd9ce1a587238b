"""C4.5, J48 and ID3 by rounds: a level of large nodes is one round of counts, small nodes are finished in memory.

As in trees of two branches, a large node is handed to the search of memory as a few weighted rows with the same counts of
codes by class. Parts of rows are counted in units (`placements`), so that no border of parts changes a bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
import numpy as np

from baytree.engine import threads
from baytree.table.schema import Schema
from baytree.table.table import Table
from baytree.tree.grow import fractional
from baytree.tree.grow.policy import Collapse, ErrorBased, Policy
from baytree.tree.grow.rounds.cut_values import CutValues
from baytree.tree.grow.rounds.fractional_nodes import (
    FractionalNode,
    below,
    heaviest,
    linked,
    remember_all,
    way_to,
)
from baytree.tree.grow.rounds.node_counts import stretches
from baytree.tree.grow.rounds.placements import CodeUnits, Passed, Units, Way, resting, rows_at
from baytree.tree.grow.rounds.questions import Ask, Bring, Growing
from baytree.tree.grow.rounds.value_codes import Codes
from baytree.tree.prune.error_pruning import prune_nodes

AT_ONCE = 1 << 20  # parts of rows that are brought here together


class FractionalGrowth(msgspec.Struct, frozen=True):
    """A tree whose rows may follow several branches, while it grows."""

    schema: Schema
    policy: Policy
    codes: Codes
    cuts: tuple[CutValues | None, ...]  # of columns of numbers
    units: Units
    total: float  # weight of all rows
    small: int  # a node of so much weight is brought here
    most_cells: int  # of counts that are made in one round
    n_jobs: int | None

    def grown(self) -> Growing[FractionalNode]:
        """The root of the tree; what is small is pruned already, and collapsed, as far as its own rows tell."""
        root = FractionalNode(0)
        level, small = [root], []
        while level:
            level = yield from self._next_level(root, level, small)
        way, nodes = way_to(root, self.units)
        passed: Passed = yield Ask(partial(Passed.of, way))
        remember_all(nodes, passed, self.units)
        for node in nodes:
            node.label = heaviest(node.counts) if node.rows or node.above is None else node.above.label
        yield from self._finish(way, nodes, small)
        return root

    def _next_level(self, root: FractionalNode, level: list, small: list) -> Growing[list[FractionalNode]]:
        """Counts and splits the nodes of a level; their children that are large are the next."""
        way, nodes = way_to(root, self.units)
        place = {id(node): k for k, node in enumerate(nodes)}
        step = max(1, self.most_cells // (sum(self.codes.sizes) * len(self.schema.classes)))
        following = []
        for first in range(0, len(level), step):
            some = level[first : first + step]
            at = np.array([place[id(node)] for node in some])
            seen: CodeUnits = yield Ask(partial(CodeUnits.of, way, at, self.codes))
            for k, node in enumerate(some):
                self._split(node, seen.node(k))
                opened = [child for child in node.children if self._is_open(child)]
                following += [child for child in opened if child.weight > self.small]
                small += [child for child in opened if child.weight <= self.small]
        return following

    def _split(self, node: FractionalNode, counted: tuple[np.ndarray, ...]) -> None:
        """Gives a node its test and children, with what they weigh as far as it is known."""
        rows = self._stand_ins(counted, node.used)
        grown = fractional.grow_nodes_in(self.units.is_single, rows, len(self.schema.classes), self._limited(node.depth, 1))
        linked(grown.nodes.compact().arrays(), node)
        if node.is_leaf:
            return
        column = node.test["column"]
        node.test["cut"] = self.codes.cut(column, node.test["cut"], is_strict=False)
        branch, units = self._branch_of_code(node), counted[column]
        for b, child in enumerate(node.children):
            child.known = float(self.units.weights(units[branch == b].sum()))
        node.share_out(self.units)

    def _branch_of_code(self, node: FractionalNode) -> np.ndarray:
        """int64 [n_codes]: where each code of the tested column goes; −1 is a missing value."""
        ends = self.codes.ends[node.test["column"]]
        known = node.groups if ends is None else (ends > node.test["cut"]).astype(np.int64)
        return np.concatenate([[-1], known])

    def _is_open(self, node: FractionalNode) -> bool:
        most = self.policy.stopping.max_depth
        return int(np.count_nonzero(node.counts)) > 1 and (most is None or node.depth < most)

    def _stand_ins(self, counted: tuple[np.ndarray, ...], used: frozenset[int]) -> fractional.Rows:
        """Few weighted rows with these counts, and rows that are not chosen, at whose numbers a cut may lie, too."""
        pieces = [stretches([column[:, k] for column in counted]) for k in range(len(self.schema.classes))]
        weight = np.ldexp(np.concatenate([own for own, _ in pieces]).astype(np.float64), -self.units.power)
        label = np.repeat(np.arange(len(pieces), dtype=np.int32), [len(own) for own, _ in pieces])
        code = [np.concatenate([found[j] for _, found in pieces]) for j in range(len(counted))]
        values = tuple(self.codes.values(column, j, code[j]) for j, column in enumerate(self.schema.columns))
        return self.rows_of(Table(self.schema, values, weight, label), used)

    def rows_of(self, table: Table, used: frozenset[int]) -> fractional.Rows:
        """A table as the search reads it, without the columns that have a branch for each level above."""
        rows = fractional.rows_of(table, self.policy.arithmetic)
        beside = [
            None if cuts is None else cuts.beside(values) for cuts, values in zip(self.cuts, rows.columns, strict=True)
        ]
        more = max((len(numbers) for numbers in beside if numbers is not None), default=0)
        columns = [_longer(values, beside[j], more, j in used) for j, values in enumerate(rows.columns)]
        label, weight = np.append(rows.label, np.zeros(more, np.int32)), np.append(rows.weight, np.zeros(more))
        return msgspec.structs.replace(rows, columns=columns, label=label, weight=weight, total=self.total)

    def _limited(self, depth: int, most: int | None) -> Policy:
        stop = self.policy.stopping
        left = None if stop.max_depth is None else stop.max_depth - depth
        limits = [limit for limit in (left, most) if limit is not None]
        stopping = msgspec.structs.replace(stop, max_depth=min(limits) if limits else None)
        return msgspec.structs.replace(self.policy, stopping=stopping)

    def _finish(self, way: Way, nodes: list[FractionalNode], small: list[FractionalNode]) -> Growing[None]:
        """Brings the rows of small nodes here, and grows and prunes what is below them."""
        place = {id(node): k for k, node in enumerate(nodes)}
        for some in batches(small):
            yield from cases_brought(way, [place[id(node)] for node in some], partial(self._finished, some))

    def _finished(self, some: list[FractionalNode], k: int, table: Table) -> None:
        node = some[k]
        policy, rows = self._limited(node.depth, None), self.rows_of(table, node.used)
        n_threads = threads.count(self.n_jobs)
        growth = fractional.grow_nodes_in(self.units.is_single, rows, len(self.schema.classes), policy, n_threads)
        prune_nodes(growth, msgspec.structs.replace(policy, pruning=_before(policy)), rows, None)
        collapsed = float(growth.nodes.arrays()["errors"][0])
        prune_nodes(growth, msgspec.structs.replace(policy, pruning=_after(policy)), rows, None)
        linked(growth.nodes.compact().arrays(), node)
        for each in below(node):
            each.is_settled = True
        node.collapsed = collapsed


def _longer(values: np.ndarray, numbers: np.ndarray | None, more: int, is_used: bool) -> np.ndarray:
    """A column with so many more rows: of these numbers, and of missing values; one that is used has nothing else."""
    if numbers is not None:
        return np.concatenate([values, numbers, np.full(more - len(numbers), np.nan)])
    return np.append(np.full(len(values), -1, np.int32) if is_used else values, np.full(more, -1, np.int32))


def _before(policy: Policy) -> tuple[Collapse, ...]:
    return tuple(step for step in policy.pruning if isinstance(step, Collapse))


def _after(policy: Policy) -> tuple[ErrorBased, ...]:
    return tuple(step for step in policy.pruning if isinstance(step, ErrorBased))


def cases_brought(way: Way, nodes: list[int], finish: Callable[[int, Table], None]) -> Growing[None]:
    """Brings the rows at some nodes here, weighed as they are there, and finishes one node after the other."""
    at = np.array(nodes)
    table: Table = yield Bring(partial(rows_at, way, at))
    here = resting(way, at, table)
    for k in range(len(nodes)):
        own = here.take(here.node == k)
        weighed = table.take(own.row)
        finish(k, msgspec.structs.replace(weighed, weight=own.weight.astype(np.float64), is_unweighted=False))


def batches(nodes: list[FractionalNode]) -> list[list[FractionalNode]]:
    """The nodes in groups of not too many parts of rows."""
    found: list[list[FractionalNode]] = []
    rows = AT_ONCE
    for node in nodes:
        if rows + node.rows > AT_ONCE:
            found.append([])
            rows = 0
        found[-1].append(node)
        rows += node.rows
    return found
