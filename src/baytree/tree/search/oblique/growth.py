"""Trees whose tests may read several columns: an ordinary tree, in which a sum takes the place of a test where it pays.

The sums that are tried come from the scatter of the rows at a node, as in QUEST (Loh and Shih 1997) and CRUISE (Kim and Loh
2001); their weights are then tried one step up and down, as in OC1 (Murthy, Kasif and Salzberg 1994). The cut, the way of
missing values and the size of branches are those of the sorted search, to which a sum is a column. Below a sum the tree is
grown anew.

Trees put together of others: a node of one is replaced by a stump, and the branches of that by whole trees.

Which rows of a table pass which node of a tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import msgspec
import numpy as np

from baytree.data.encoding.table import Table
from baytree.data.schema.column import Column, Kind
from baytree.parallel import blas
from baytree.tree.model.linear_combinations import LinearCombinations, Terms, summed
from baytree.tree.model.routing import columns, leaves
from baytree.tree.model.traversal import depths, parents, preorder
from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import ClassCosts
from baytree.tree.policy.policy import Policy
from baytree.tree.search.oblique.directions import (
    WEIGHT_BITS,
    class_bits,
    cost,
    directions,
    near_one,
    neighbours,
    scatter_of,
)
from baytree.tree.search.sorted import grow_arrays, grow_sorted

PROMISED = 0.5  # of what a sum costs beyond a column: the scatter must promise as much before rows are asked

MOST_GROUPS = 8  # classes that are tried each against all others

_LARGE = 20_000  # rows; below it a second thread costs more than it brings


class ScoredCombination(msgspec.Struct, frozen=True):
    """A test of a sum, and the bits that it saves beyond its own."""

    terms: Terms  # by the place of columns among those of numbers
    gain: float  # of the criterion
    bits: float
    here: _Here


def grow_with_sums(table: Table, policy: Policy, costs: ClassCosts, n_jobs: int | None = None) -> Tree:
    """The tree of tests of up to `policy.split_columns` columns; the ordinary one where no sum pays."""
    plain = grow_sorted(table, policy, costs, n_jobs)
    numbers = [j for j, column in enumerate(table.schema.columns) if column.kind is Kind.NUMERIC and column.unit is None]
    if len(numbers) < 2:
        return plain
    search = _CombinationSearch(table, numbers, policy, costs, n_jobs)
    with blas.one_blas_thread():
        piece = search.with_sums(plain)
    return graft(piece, LinearCombinations.of(search.sums, len(table.schema))) if search.sums else plain


class _CombinationSearch:
    """The sums of a table, node by node."""

    def __init__(self, table: Table, numbers: list[int], policy: Policy, costs: ClassCosts, n_jobs: int | None) -> None:
        every = columns(table)
        self.numbers, matrix = numbers, np.column_stack([every[j] for j in numbers])
        # rows in an order of their own: sums then have the same last bit whatever order they came in
        order = np.lexsort([table.weight, table.label, *matrix.T])
        self.table, self.matrix = table.take(order), matrix[order]
        self.scaled, self.unit = near_one(self.matrix)
        self.policy, self.costs, self.n_jobs = policy, costs, n_jobs
        self.total = float(table.weight.sum())
        self.sums: list[Terms] = []

    def with_sums(self, plain: Tree) -> GraftedTree:
        """The tree of the whole table, and the sums in it."""
        whole = GraftedTree(plain, {})
        waiting = [(whole, np.arange(len(self.table)), 0)]
        while waiting:
            piece, rows, depth = waiting.pop()
            for node, found in self._found(piece.tree, rows, depth):
                stump, branches = self._grown(found)
                piece.grafts[node] = (stump, [below for below, _, _ in branches])
                waiting += reversed(branches)
        return whole

    def _found(self, tree: Tree, rows: np.ndarray, depth: int) -> Iterator[tuple[int, ScoredCombination]]:
        """The nodes where a sum takes the place of the test, the first on each way down."""
        saved, level = _savings(tree, len(self.table.schema)), depths(tree) + depth
        may_pay = self._may_pay(tree, saved, level)
        if not may_pay.any():
            return
        passing = RowsByNode(tree, self.table.take(rows))
        for node in np.flatnonzero(may_pay).tolist():
            if not may_pay[node]:
                continue
            found = self._best_sum(tree, node, rows[passing.of(node)], int(level[node]), float(saved[node]))
            if found is not None and found.bits > saved[node] and found.gain > tree.gain[node]:
                may_pay[passing.below(node)] = False
                yield node, found

    def _may_pay(self, tree: Tree, saved: np.ndarray, level: np.ndarray) -> np.ndarray:
        """bool [n_nodes]: whether telling all classes is worth more than any sum costs beyond what the test saves."""
        stopping = self.policy.stopping
        least = np.array([cost(2, len(self.table.schema), weight) for weight in tree.weight.tolist()])
        may = (class_bits(tree.counts) - least > saved) & (tree.weight >= stopping.min_split)
        if stopping.max_depth is not None:
            may &= level < stopping.max_depth
        return may & ((level > 0) | (self.policy.first_split is None))

    def _best_sum(self, tree: Tree, node: int, rows: np.ndarray, level: int, saved: float) -> ScoredCombination | None:
        """The sum that saves most bits."""
        scatter = scatter_of(self.scaled[rows], self.table.label[rows], self.table.weight[rows], tree.n_classes)
        sides, here = _sides(tree, node), None
        found: list[ScoredCombination] = []
        n_columns, weight = len(self.table.schema), float(tree.weight[node])
        for n_read in range(2, min(self.policy.split_columns, len(self.numbers)) + 1):
            more = cost(n_read, n_columns, weight) - cost(1, n_columns, weight)
            if promising := directions(scatter, self.unit, sides, n_read, more * PROMISED):
                here = here or _Here(self, rows, level)
                found += here.refined(promising, saved)
        return max(found, key=lambda each: each.bits, default=None)

    def _grown(self, found: ScoredCombination) -> tuple[Tree, list[tuple[GraftedTree, np.ndarray, int]]]:
        """The test as a stump that reads its place among the sums, and the trees below it with their rows and depth."""
        stump, side = found.here.parted(found.terms)
        rows, level, branches = found.here.rows, found.here.level + 1, []
        for b in range(int(stump.branches[0])):
            below = rows[side == b]
            tree = grow_sorted(self.table.take(below), self.rules(below, level), self.costs, self.n_jobs)
            branches.append((GraftedTree(tree, {}), below, level))
        terms = tuple((self.numbers[j], weight) for j, weight in found.terms)
        self.sums += [] if terms in self.sums else [terms]
        column = np.where(stump.column == 0, len(self.table.schema) + self.sums.index(terms), stump.column)
        return msgspec.structs.replace(stump, column=column.astype(np.int32)), branches

    def rules(self, rows: np.ndarray, level: int, deepest: int | None = None) -> Policy:
        """The policy for some of the rows, at a level: what is measured from the whole stays what it is there."""
        stopping = self.policy.stopping
        left = None if stopping.max_depth is None else stopping.max_depth - level
        weight = float(self.table.weight[rows].sum())
        least = stopping.min_gain * self.total / weight if weight > 0 else stopping.min_gain
        here = msgspec.structs.replace(stopping, max_depth=left if deepest is None else deepest, min_gain=least)
        return msgspec.structs.replace(self.policy, stopping=here, first_split=None)


class _Here:
    """The rows of a node, asked for the best of several sums."""

    def __init__(self, search: _CombinationSearch, rows: np.ndarray, level: int) -> None:
        self.search, self.rows, self.level = search, rows, level
        self.label, self.weight = search.table.label[rows], search.table.weight[rows]
        self.columns = search.matrix[rows].T
        self.policy = search.rules(rows, level, deepest=1)

    def refined(self, sums: list[Terms], saved: float) -> list[ScoredCombination]:
        """The best of the sums, its weights tried up and down unless it is far from worth it; none where none parts rows."""
        found = self._best_of(sums)
        for k in range(1, len(sums[0])):
            if found and found.bits > saved - WEIGHT_BITS:
                found = self._best_of(neighbours(found.terms, k))
        return [found] if found else []

    def parted(self, terms: Terms) -> tuple[Tree, np.ndarray]:
        """The test of a sum as a tree of one column, and the branch of each row: int32 [n_rows]."""
        table = self._table([terms])
        stump = grow_sorted(table, self.policy, self.search.costs, 1)
        return stump, leaves(stump, table) - 1

    def _best_of(self, sums: list[Terms]) -> ScoredCombination | None:
        """The sum of largest gain, the first of equals."""
        n_jobs = self.search.n_jobs if len(self.rows) >= _LARGE else 1
        stump = grow_arrays(self._table(sums), self.policy, self.search.costs, n_jobs)
        chosen, counts = int(stump["column"][0]), stump["counts"]
        if chosen < 0:
            return None
        bits = class_bits(counts)
        told = cost(len(sums[chosen]), len(self.search.table.schema), float(counts[0].sum()))
        return ScoredCombination(sums[chosen], float(stump["gain"][0]), float(bits[0] - bits[1:].sum()) - told, self)

    def _table(self, sums: list[Terms]) -> Table:
        whole = self.search.table
        schema = msgspec.structs.replace(whole.schema, columns=_columns(len(sums)))
        values = tuple(summed(terms, self.columns) for terms in sums)
        return Table(schema, values, self.weight, self.label, whole.is_unweighted)


def _savings(tree: Tree, n_columns: int) -> np.ndarray:
    """float64 [n_nodes]: the bits that each node's test saves beyond its own; 0 at a leaf."""
    bits, inner = class_bits(tree.counts), np.flatnonzero(tree.column >= 0)
    below = np.bincount(parents(tree)[1:], bits[1:], len(tree))
    told = [cost(1, n_columns, weight) for weight in tree.weight[inner].tolist()]
    saved = np.zeros(len(tree))
    saved[inner] = bits[inner] - below[inner] - told
    return np.maximum(saved, 0.0)


def _sides(tree: Tree, node: int) -> list[np.ndarray]:
    """Groups of classes to part: those that the node's own test sends first, and each class against the others."""
    counts = tree.counts[node]
    present = np.flatnonzero(counts > 0)
    heaviest = present[np.argsort(-counts[present], kind="stable")][:MOST_GROUPS]
    alone = [np.arange(len(counts)) == c for c in (heaviest[:1] if len(present) == 2 else heaviest)]
    if len(present) == 2 or tree.column[node] < 0:
        return alone
    return [2 * tree.counts[tree.first[node]] > counts, *alone]


@cache
def _columns(n: int) -> tuple[Column, ...]:
    return tuple(Column(f"sum {k}", Kind.NUMERIC) for k in range(n))


_OF_NODES = (
    "column", "cut", "strict", "mirrored", "levels", "missing", "share", "rows", "weight", "counts", "value", "prediction",
    "impurity", "risk", "gain", "complexity", "branches",
)  # fmt: skip


class GraftedTree(msgspec.Struct):
    """A tree, and what takes the place of some of its nodes: there, its stump and a piece for each branch."""

    tree: Tree
    grafts: dict[int, tuple[Tree, list[GraftedTree]]]


def graft(piece: GraftedTree, sums: LinearCombinations) -> Tree:
    """One tree, its nodes level by level."""
    pieces, place = [piece], 0
    while place < len(pieces):
        pieces += [below for _, branches in pieces[place].grafts.values() for below in branches]
        place += 1
    stumps = [(id(each), node, stump) for each in pieces for node, (stump, _) in each.grafts.items()]
    trees = [*(each.tree for each in pieces), *(stump for _, _, stump in stumps)]
    offset = np.cumsum([0, *(len(tree) for tree in trees)])
    at_piece = {id(each): int(offset[k]) for k, each in enumerate(pieces)}
    at_stump = {(key, node): int(offset[len(pieces) + k]) for k, (key, node, _) in enumerate(stumps)}
    return _laid_out(piece, sums, trees, at_piece, at_stump)


def _laid_out(
    piece: GraftedTree, sums: LinearCombinations, trees: list[Tree], at_piece: dict[int, int], at_stump: dict
) -> Tree:
    """The nodes level by level, each by its place among those of all trees; a branch has the share that its stump gave."""
    order: list[int] = []
    share: list[int] = []
    first: list[int] = []
    open_nodes = [(piece, 0, at_piece[id(piece)])]
    for here, node, shared in open_nodes:  # grows while it is read
        graft = here.grafts.get(node)
        share.append(shared)
        if graft is None:
            order.append(at_piece[id(here)] + node)
            at, n = int(here.tree.first[node]), int(here.tree.branches[node])
            below = [(here, at + b, at_piece[id(here)] + at + b) for b in range(n)]
        else:
            stump = at_stump[id(here), node]
            order.append(stump)
            below = [(each, 0, stump + 1 + b) for b, each in enumerate(graft[1])]
        first.append(len(open_nodes) if below else 0)
        open_nodes += below
    arrays = {name: np.concatenate([getattr(tree, name) for tree in trees]) for name in _OF_NODES}
    found = {name: array[order] for name, array in arrays.items()} | {"share": arrays["share"][share]}
    start, branch_of = _branches_of(trees, np.array(order), found["levels"])
    nodes = found | {"first": np.array(first, np.int32), "start": start, "branch_of": branch_of}
    return msgspec.structs.replace(piece.tree, **nodes, sums=sums)


def _branches_of(trees: list[Tree], order: np.ndarray, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the entries of each node begin, and the entries in the order of the nodes."""
    shift = np.cumsum([0, *(len(tree.branch_of) for tree in trees)])
    old = np.concatenate([tree.start + shift[k] for k, tree in enumerate(trees)])[order]
    every = np.concatenate([tree.branch_of for tree in trees])
    start = (np.cumsum(levels) - levels).astype(np.int32)
    entry = np.arange(int(levels.sum())) + np.repeat(old - start, levels)
    return start, every[entry].astype(np.int32)


class RowsByNode:
    """The rows of each node of a tree, in their order: those of a subtree lie side by side in a walk through it."""

    def __init__(self, tree: Tree, table: Table) -> None:
        self.walk = np.fromiter(preorder(tree), np.int64, len(tree))
        self.rank = np.argsort(self.walk)
        rank = self.rank[leaves(tree, table)]
        self.order = np.argsort(rank, kind="stable")
        self.sorted = rank[self.order]
        self.size, above = np.ones(len(tree), np.int64), parents(tree).tolist()
        for node in range(len(tree) - 1, 0, -1):
            self.size[above[node]] += self.size[node]

    def below(self, node: int) -> np.ndarray:
        """A node and all that are below it: int64 [n_nodes]."""
        return self.walk[self.rank[node] : self.rank[node] + self.size[node]]

    def of(self, node: int) -> np.ndarray:
        """The rows that pass a node: int64 [n_rows], ascending."""
        first, last = np.searchsorted(self.sorted, [self.rank[node], self.rank[node] + self.size[node]])
        return np.sort(self.order[first:last])
