"""Growth of trees with oblique splits: an ordinary tree in which a linear combination replaces a test where it pays.

Candidate directions come from the scatter at a node, as in QUEST (Loh and Shih 1997) and CRUISE (Kim and Loh 2001); their
weights are then varied step by step, as in OC1 (Murthy, Kasif and Salzberg 1994). Threshold, missing values and branch
sizes are those of the sorted search, to which a combination is a column. Below a combination the tree is grown again and
grafted in: `graft` assembles the flat arrays of one tree from the pieces.
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
    cost,
    directions,
    label_bits,
    neighbours,
    scale_near_one,
    scatter_of,
)
from baytree.tree.search.sorted import grow_arrays, grow_sorted

# proportion of the extra cost of a combination that the scatter must promise before the rows are evaluated. Without it,
# growth takes 1.6 times as long on a large table, and its trees have as many leaves (benchmarks/notes/0199)
MIN_PROMISED_SAVING = 0.5

MAX_ONE_VS_REST_CLASSES = (
    8  # heaviest classes of a node that are separated from all others; bounds the time with many classes
)

_MIN_PARALLEL_ROWS = 20_000  # rows; below this a second thread costs more than it saves


class ScoredCombination(msgspec.Struct, frozen=True):
    """Test of a linear combination, and the bits it saves beyond its own cost."""

    terms: Terms  # by the index of columns among the numeric ones
    gain: float  # of the criterion
    bits: float
    node_rows: _NodeRows


def grow_oblique(table: Table, policy: Policy, costs: ClassCosts, n_jobs: int | None = None) -> Tree:
    """Tree of tests of up to `policy.split_columns` columns; the ordinary tree if no combination pays."""
    plain = grow_sorted(table, policy, costs, n_jobs)
    numeric = [j for j, column in enumerate(table.schema.columns) if column.kind is Kind.NUMERIC and column.unit is None]
    if len(numeric) < 2:
        return plain
    search = _CombinationSearch(table, numeric, policy, costs, n_jobs)
    with blas.one_blas_thread():
        piece = search.grow(plain)
    return graft(piece, LinearCombinations.of(search.sums, len(table.schema))) if search.sums else plain


class _CombinationSearch:
    """Search for linear combinations in a table, node by node."""

    def __init__(self, table: Table, numbers: list[int], policy: Policy, costs: ClassCosts, n_jobs: int | None) -> None:
        column_values = columns(table)
        self.numbers, matrix = numbers, np.column_stack([column_values[j] for j in numbers])
        # rows in canonical order: the last bits of sums then do not depend on the order of the input
        order = np.lexsort([table.weight, table.label, *matrix.T])
        self.table, self.matrix = table.take(order), matrix[order]
        self.scaled, self.unit = scale_near_one(self.matrix)
        self.policy, self.costs, self.n_jobs = policy, costs, n_jobs
        self.total = float(table.weight.sum())
        self.sums: list[Terms] = []

    def grow(self, plain: Tree) -> GraftedTree:
        """Tree of the whole table with its grafts; fills `sums`."""
        root = GraftedTree(plain, {})
        pending = [(root, np.arange(len(self.table)), 0)]
        while pending:
            piece, rows, depth = pending.pop()
            for node, combination in self._find_combinations(piece.tree, rows, depth):
                stump, branches = self._grow_below(combination)
                piece.grafts[node] = (stump, [below for below, _, _ in branches])
                pending += reversed(branches)
        return root

    def _find_combinations(self, tree: Tree, rows: np.ndarray, depth: int) -> Iterator[tuple[int, ScoredCombination]]:
        """Yield the nodes where a combination replaces the test, only the first on each path."""
        saved, level = _savings(tree, len(self.table.schema)), depths(tree) + depth
        may_pay = self._may_pay(tree, saved, level)
        if not may_pay.any():
            return
        rows_by_node = RowsByNode(tree, self.table.take(rows))
        for node in np.flatnonzero(may_pay).tolist():
            if not may_pay[node]:
                continue
            best = self._best_combination(tree, node, rows[rows_by_node.of(node)], int(level[node]), float(saved[node]))
            if best is not None and best.bits > saved[node] and best.gain > tree.gain[node]:
                may_pay[rows_by_node.below(node)] = False
                yield node, best

    def _may_pay(self, tree: Tree, saved: np.ndarray, level: np.ndarray) -> np.ndarray:
        """Whether even a perfect combination could save more bits than the node's test, bool [n_nodes]."""
        stopping = self.policy.stopping
        min_cost = np.array([cost(2, len(self.table.schema), weight) for weight in tree.weight.tolist()])
        may = (label_bits(tree.counts) - min_cost > saved) & (tree.weight >= stopping.min_split)
        if stopping.max_depth is not None:
            may &= level < stopping.max_depth
        return may & ((level > 0) | (self.policy.first_split is None))

    def _best_combination(
        self, tree: Tree, node: int, rows: np.ndarray, level: int, saved: float
    ) -> ScoredCombination | None:
        """The combination that saves most bits."""
        scatter = scatter_of(self.scaled[rows], self.table.label[rows], self.table.weight[rows], tree.n_classes)
        sides, node_rows = _sides(tree, node), None
        candidates: list[ScoredCombination] = []
        n_columns, weight = len(self.table.schema), float(tree.weight[node])
        for n_terms in range(2, min(self.policy.split_columns, len(self.numbers)) + 1):
            extra_cost = cost(n_terms, n_columns, weight) - cost(1, n_columns, weight)
            if promising := directions(scatter, self.unit, sides, n_terms, extra_cost * MIN_PROMISED_SAVING):
                node_rows = node_rows or _NodeRows(self, rows, level)
                candidates += node_rows.refine(promising, saved)
        return max(candidates, key=lambda each: each.bits, default=None)

    def _grow_below(self, combination: ScoredCombination) -> tuple[Tree, list[tuple[GraftedTree, np.ndarray, int]]]:
        """The test as a stump that reads its index among the combinations, and the trees below with their rows and depth."""
        stump, side = combination.node_rows.split_rows(combination.terms)
        rows, level, branches = combination.node_rows.rows, combination.node_rows.level + 1, []
        for b in range(int(stump.branches[0])):
            below = rows[side == b]
            tree = grow_sorted(self.table.take(below), self.node_policy(below, level), self.costs, self.n_jobs)
            branches.append((GraftedTree(tree, {}), below, level))
        terms = tuple((self.numbers[j], weight) for j, weight in combination.terms)
        self.sums += [] if terms in self.sums else [terms]
        column = np.where(stump.column == 0, len(self.table.schema) + self.sums.index(terms), stump.column)
        return msgspec.structs.replace(stump, column=column.astype(np.int32)), branches

    def node_policy(self, rows: np.ndarray, level: int, deepest: int | None = None) -> Policy:
        """Policy for some of the rows at a depth; settings relative to the whole table are rescaled."""
        stopping = self.policy.stopping
        depth_left = None if stopping.max_depth is None else stopping.max_depth - level
        weight = float(self.table.weight[rows].sum())
        min_gain = stopping.min_gain * self.total / weight if weight > 0 else stopping.min_gain
        node_stopping = msgspec.structs.replace(
            stopping, max_depth=depth_left if deepest is None else deepest, min_gain=min_gain
        )
        return msgspec.structs.replace(self.policy, stopping=node_stopping, first_split=None)


class _NodeRows:
    """Rows of a node, on which linear combinations are evaluated."""

    def __init__(self, search: _CombinationSearch, rows: np.ndarray, level: int) -> None:
        self.search, self.rows, self.level = search, rows, level
        self.label, self.weight = search.table.label[rows], search.table.weight[rows]
        self.columns = search.matrix[rows].T
        self.policy = search.node_policy(rows, level, deepest=1)

    def refine(self, sums: list[Terms], saved: float) -> list[ScoredCombination]:
        """The best of the sums, its weights varied unless it is far from paying; empty if none separates rows."""
        best = self._evaluate(sums)
        for k in range(1, len(sums[0])):
            if best and best.bits > saved - WEIGHT_BITS:
                best = self._evaluate(neighbours(best.terms, k))
        return [best] if best else []

    def split_rows(self, terms: Terms) -> tuple[Tree, np.ndarray]:
        """Test of a sum as a tree of one column, and the branch of each row, int32 [n_rows]."""
        table = self._table([terms])
        stump = grow_sorted(table, self.policy, self.search.costs, 1)
        return stump, leaves(stump, table) - 1

    def _evaluate(self, sums: list[Terms]) -> ScoredCombination | None:
        """The sum of largest gain, the first among equals; None if none splits the node."""
        n_jobs = self.search.n_jobs if len(self.rows) >= _MIN_PARALLEL_ROWS else 1
        stump = grow_arrays(self._table(sums), self.policy, self.search.costs, n_jobs)
        winner, counts = int(stump["column"][0]), stump["counts"]
        if winner < 0:
            return None
        bits = label_bits(counts)
        description = cost(len(sums[winner]), len(self.search.table.schema), float(counts[0].sum()))
        return ScoredCombination(sums[winner], float(stump["gain"][0]), float(bits[0] - bits[1:].sum()) - description, self)

    def _table(self, sums: list[Terms]) -> Table:
        table = self.search.table
        schema = msgspec.structs.replace(table.schema, columns=_columns(len(sums)))
        values = tuple(summed(terms, self.columns) for terms in sums)
        return Table(schema, values, self.weight, self.label, table.is_unweighted)


def _savings(tree: Tree, n_columns: int) -> np.ndarray:
    """Bits that each node's test saves beyond its own cost, float64 [n_nodes]; 0 at a leaf."""
    bits, inner = label_bits(tree.counts), np.flatnonzero(tree.column >= 0)
    branch_bits = np.bincount(parents(tree)[1:], bits[1:], len(tree))
    test_cost = [cost(1, n_columns, weight) for weight in tree.weight[inner].tolist()]
    saved = np.zeros(len(tree))
    saved[inner] = bits[inner] - branch_bits[inner] - test_cost
    return np.maximum(saved, 0.0)


def _sides(tree: Tree, node: int) -> list[np.ndarray]:
    """Divisions of the classes: the majority in the first branch of the node's own test, and each class against the
    others.
    """
    counts = tree.counts[node]
    present = np.flatnonzero(counts > 0)
    heaviest = present[np.argsort(-counts[present], kind="stable")][:MAX_ONE_VS_REST_CLASSES]
    one_vs_rest = [np.arange(len(counts)) == c for c in (heaviest[:1] if len(present) == 2 else heaviest)]
    if len(present) == 2 or tree.column[node] < 0:
        return one_vs_rest
    return [2 * tree.counts[tree.first[node]] > counts, *one_vs_rest]


@cache
def _columns(n: int) -> tuple[Column, ...]:
    return tuple(Column(f"sum {k}", Kind.NUMERIC) for k in range(n))


_NODE_ARRAYS = (
    "column", "cut", "strict", "mirrored", "levels", "missing", "share", "rows", "weight", "counts", "value", "prediction",
    "impurity", "risk", "gain", "complexity", "branches",
)  # fmt: skip


class GraftedTree(msgspec.Struct):
    """Tree with grafts: a node with a graft is replaced by a stump and a piece for each of its branches."""

    tree: Tree
    grafts: dict[int, tuple[Tree, list[GraftedTree]]]


def graft(piece: GraftedTree, sums: LinearCombinations) -> Tree:
    """Assemble one tree, with its nodes level by level."""
    pieces, k = [piece], 0
    while k < len(pieces):
        pieces += [below for _, branches in pieces[k].grafts.values() for below in branches]
        k += 1
    stumps = [(id(part), node, stump) for part in pieces for node, (stump, _) in part.grafts.items()]
    trees = [*(part.tree for part in pieces), *(stump for _, _, stump in stumps)]
    offset = np.cumsum([0, *(len(tree) for tree in trees)])
    piece_offset = {id(part): int(offset[k]) for k, part in enumerate(pieces)}
    stump_offset = {(key, node): int(offset[len(pieces) + k]) for k, (key, node, _) in enumerate(stumps)}
    return _lay_out(piece, sums, trees, piece_offset, stump_offset)


def _lay_out(
    piece: GraftedTree, sums: LinearCombinations, trees: list[Tree], piece_offset: dict[int, int], stump_offset: dict
) -> Tree:
    """Lay out the nodes level by level, by their index among all trees; a branch keeps the share that its stump gave it."""
    order: list[int] = []
    share_source: list[int] = []
    first: list[int] = []
    open_nodes = [(piece, 0, piece_offset[id(piece)])]
    for owner, node, source in open_nodes:  # the list grows during iteration
        graft = owner.grafts.get(node)
        share_source.append(source)
        if graft is None:
            order.append(piece_offset[id(owner)] + node)
            child, n = int(owner.tree.first[node]), int(owner.tree.branches[node])
            below = [(owner, child + b, piece_offset[id(owner)] + child + b) for b in range(n)]
        else:
            stump = stump_offset[id(owner), node]
            order.append(stump)
            below = [(piece_below, 0, stump + 1 + b) for b, piece_below in enumerate(graft[1])]
        first.append(len(open_nodes) if below else 0)
        open_nodes += below
    arrays = {name: np.concatenate([getattr(tree, name) for tree in trees]) for name in _NODE_ARRAYS}
    fields = {name: array[order] for name, array in arrays.items()} | {"share": arrays["share"][share_source]}
    start, branch_of = _collect_branches(trees, np.array(order), fields["levels"])
    nodes = fields | {"first": np.array(first, np.int32), "start": start, "branch_of": branch_of}
    return msgspec.structs.replace(piece.tree, **nodes, sums=sums)


def _collect_branches(trees: list[Tree], order: np.ndarray, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Start of each node's entries, and the entries in node order."""
    shift = np.cumsum([0, *(len(tree.branch_of) for tree in trees)])
    old = np.concatenate([tree.start + shift[k] for k, tree in enumerate(trees)])[order]
    every = np.concatenate([tree.branch_of for tree in trees])
    start = (np.cumsum(levels) - levels).astype(np.int32)
    entry = np.arange(int(levels.sum())) + np.repeat(old - start, levels)
    return start, every[entry].astype(np.int32)


class RowsByNode:
    """Rows of each node of a tree: those of a subtree are contiguous in preorder."""

    def __init__(self, tree: Tree, table: Table) -> None:
        self.walk = np.fromiter(preorder(tree), np.int64, len(tree))
        self.rank = np.argsort(self.walk)
        rank = self.rank[leaves(tree, table)]
        self.order = np.argsort(rank, kind="stable")
        self.sorted = rank[self.order]
        self.size, parent = np.ones(len(tree), np.int64), parents(tree).tolist()
        for node in range(len(tree) - 1, 0, -1):
            self.size[parent[node]] += self.size[node]

    def below(self, node: int) -> np.ndarray:
        """A node and all its descendants, int64 [n_nodes]."""
        return self.walk[self.rank[node] : self.rank[node] + self.size[node]]

    def of(self, node: int) -> np.ndarray:
        """Rows that pass a node, int64 [n_rows], ascending."""
        first, last = np.searchsorted(self.sorted, [self.rank[node], self.rank[node] + self.size[node]])
        return np.sort(self.order[first:last])
