"""A regression tree with a branch for each level: least squares, numbers and ranks cut in two, levels parted into all.

The nodes of a depth are looked at together: the core's sorted search offers the best cut of each, and one count of every
nominal column over all their rows what its levels offer.
"""

from __future__ import annotations

import msgspec
import numpy as np

from baytree import _core
from baytree.table.schema import Kind
from baytree.table.table import Table
from baytree.tree.grow.costs import equal_costs
from baytree.tree.grow.policy import Branching, Missing, Policy
from baytree.tree.grow.sorted import grow_sorted, settings
from baytree.tree.model.build import build
from baytree.tree.model.places import LEAF, STOP
from baytree.tree.model.structure import Tree
from baytree.tree.prune.cost_complexity import to_leaves, with_complexity

WAYS = (Missing.LEARNED, Missing.CATEGORY, Missing.LARGEST)
_SLACK = 1e-12  # of the node's sum of squares: a gain must be greater by more than rounding


class Offer(msgspec.Struct, frozen=True):
    """What a column offers a node: its test, and what the node's squares fall by."""

    column: int
    gain: float
    branches: int
    missing: int
    cut: float = np.nan
    branch_of: np.ndarray | None = None  # int32 [n_levels], of a nominal column


class _Node:
    """A node while the tree grows: its rows, and their weight, mean and squares about the mean."""

    def __init__(self, table: Table, rows: np.ndarray, depth: int) -> None:
        self.rows, self.n_rows, self.depth = rows, len(rows), depth
        self.offer: Offer | None = None
        self.children: list[_Node] = []
        self.weight, self.mean, self.squares = _moments(table.label[rows], table.weight[rows])


def grow_multiway_numbers(table: Table, policy: Policy, threads: int = 1) -> Tree:
    """The tree of a policy. At least two branches of a split must hold `min_leaf`; an empty branch is not made.

    Rows without a level go where the sum of squares is least ("learned"), into a branch of their own ("category"), or
    with the heaviest branch ("largest", which judges a column by its known rows).
    """
    if policy.missing not in WAYS:
        known = ", ".join(repr(way.value) for way in WAYS)
        raise ValueError(f"missing={policy.missing.value!r} is for two branches; with 'multiway' give {known}")
    tree = _grow_nodes(table, policy, threads) if _has_levels(table) else _grow_in_two(table, policy, threads)
    most = policy.stopping.max_leaves
    return with_complexity(tree) if most is None else to_leaves(with_complexity(tree), most)


def _has_levels(table: Table) -> bool:
    return any(column.kind is Kind.NOMINAL for column in table.schema)


def _grow_in_two(table: Table, policy: Policy, threads: int) -> Tree:
    """Without levels every split has two branches, and the whole tree is that of the sorted search."""
    return grow_sorted(table, msgspec.structs.replace(policy, branching=Branching.BINARY), equal_costs(0), threads)


def _grow_nodes(table: Table, policy: Policy, threads: int) -> Tree:
    table = table if table.weight.all() else table.take(table.weight > 0)
    root = _Node(table, np.arange(len(table)), 0)
    level = [root]
    while level := [node for node in level if _may_split(node, policy)]:
        for node, offer in zip(level, _best(table, level, policy, threads), strict=True):
            if offer is not None:
                _split(table, node, offer)
        level = [child for node in level for child in node.children]
    return _tree(_numbered(root))


def _may_split(node: _Node, policy: Policy) -> bool:
    stop = policy.stopping
    if node.weight < stop.min_split or node.squares <= stop.min_impurity * node.weight:
        return False
    return stop.max_depth is None or node.depth < stop.max_depth


def _split(table: Table, node: _Node, offer: Offer) -> None:
    branch = _branches(table.values[offer.column][node.rows], offer)
    node.offer = offer
    node.children = [_Node(table, node.rows[branch == b], node.depth + 1) for b in range(offer.branches)]
    node.rows = node.rows[:0]  # its children have them now


def _branches(values: np.ndarray, offer: Offer) -> np.ndarray:
    """int [n_rows]: the branch of each value."""
    if offer.branch_of is not None:
        return np.append(offer.branch_of, offer.missing)[values]  # code −1 reads the last entry
    is_missing = np.isnan(values) if values.dtype.kind == "f" else values < 0
    return np.where(is_missing, offer.missing, ~(values <= offer.cut))


def _best(table: Table, level: list[_Node], policy: Policy, threads: int) -> list[Offer | None]:
    """The offer of largest gain for each node, that of the earlier column of equals."""
    offers = [*_cuts(table, level, policy, threads), *_partings(table, level, policy)]
    least = policy.stopping.min_gain * float(table.weight.sum())
    by_node = [[offer for each in offers if (offer := each[k]) is not None] for k in range(len(level))]
    return [
        _chosen(sorted(these, key=lambda offer: offer.column), node, least)
        for these, node in zip(by_node, level, strict=True)
    ]


def _chosen(offers: list[Offer], node: _Node, least: float) -> Offer | None:
    best: Offer | None = None
    for offer in offers:
        if best is None or offer.gain > best.gain + _SLACK * node.squares:
            best = offer
    return best if best is not None and best.gain > _SLACK * node.squares and best.gain >= least else None


def _cuts(table: Table, level: list[_Node], policy: Policy, threads: int) -> list[list[Offer | None]]:
    """The best cut of all columns that are cut, for each node, by the search of trees with two branches."""
    chosen = [j for j, column in enumerate(table.schema) if column.kind is not Kind.NOMINAL]
    if not chosen:
        return []
    once = msgspec.structs.replace(policy.stopping, max_depth=1, max_leaves=None, min_gain=0.0, min_split=0)
    in_two = msgspec.structs.replace(policy, branching=Branching.BINARY, stopping=once)
    found = _core.best_cuts(
        [table.values[j] for j in chosen],
        np.zeros(len(chosen), np.int32),
        np.ascontiguousarray(table.label, np.float64),
        None if table.is_unweighted else np.ascontiguousarray(table.weight, np.float64),
        np.concatenate([node.rows for node in level]),
        np.cumsum([0, *(node.n_rows for node in level)]),
        settings(table, in_two, equal_costs(0)),
        threads,
    )
    each = zip(*(found[name].tolist() for name in ("column", "gain", "branches", "missing", "cut")), strict=True)
    return [[None if j < 0 else Offer(chosen[j], *test) for j, *test in each]]


def _partings(table: Table, level: list[_Node], policy: Policy) -> list[list[Offer | None]]:
    """A branch for each level that occurs, of each nominal column and for each node."""
    rows = np.concatenate([node.rows for node in level])
    place = np.repeat(np.arange(len(level)), [node.n_rows for node in level])
    weight = table.weight[rows]
    apart = weight * (table.label[rows] - np.array([node.mean for node in level])[place])
    nominal = [j for j, column in enumerate(table.schema) if column.kind is Kind.NOMINAL]
    return [_of_column(table, j, rows, place, weight, apart, len(level), policy) for j in nominal]


def _of_column(
    table: Table, j: int, rows: np.ndarray, place: np.ndarray, weight: np.ndarray, apart: np.ndarray, n: int, policy: Policy
) -> list[Offer | None]:
    """Σ w and Σ w (y − mean) of each level at each node, and what they offer; missing values come after the levels."""
    n_levels = len(table.schema.columns[j].levels)
    code = table.values[j][rows]
    key = place * (n_levels + 1) + np.where(code < 0, n_levels, code)
    present, key = np.unique(key, return_inverse=True)
    sums, weights = np.bincount(key, apart, len(present)), np.bincount(key, weight, len(present))
    ends = np.searchsorted(present, np.arange(n + 1) * (n_levels + 1))
    each = [slice(ends[k], ends[k + 1]) for k in range(n)]
    codes = present % (n_levels + 1)
    return [_by_level(j, n_levels, codes[at], sums[at], weights[at], policy) for at in each]


def _by_level(
    column: int, n_levels: int, code: np.ndarray, sums: np.ndarray, weight: np.ndarray, policy: Policy
) -> Offer | None:
    if code[-1] < n_levels:  # no value is missing
        sums, weight, code = np.append(sums, 0.0), np.append(weight, 0.0), np.append(code, n_levels)
    if np.count_nonzero(weight[:-1] >= policy.stopping.min_leaf) < 2:
        return None
    missing, gain = _missing_branch(sums, weight, policy.missing)
    branch_of = np.full(n_levels, -1, np.int32)
    branch_of[code[:-1]] = np.arange(len(code) - 1)
    return Offer(column, gain, max(len(code) - 1, missing + 1 if weight[-1] > 0 else 0), missing, np.nan, branch_of)


def _missing_branch(sums: np.ndarray, weight: np.ndarray, missing: Missing) -> tuple[int, float]:
    """The branch of the rows without a level, and the gain of the parting with them."""
    heaviest = int(np.argmax(weight[:-1]))
    if weight[-1] == 0 or missing is Missing.LARGEST:
        return heaviest, _gain(sums[:-1], weight[:-1])
    if missing is Missing.CATEGORY:
        return len(sums) - 1, _gain(sums, weight)
    joined = (sums[:-1] + sums[-1]) ** 2 / (weight[:-1] + weight[-1]) - sums[:-1] ** 2 / weight[:-1]
    branch = int(np.argmax(joined))
    together, heavier = sums[:-1].copy(), weight[:-1].copy()
    together[branch], heavier[branch] = together[branch] + sums[-1], heavier[branch] + weight[-1]
    return branch, _gain(together, heavier)


def _gain(sums: np.ndarray, weight: np.ndarray) -> float:
    """What the squares about the means fall by, from sums about any common centre."""
    return float((sums**2 / weight).sum() - sums.sum() ** 2 / weight.sum())


def _moments(y: np.ndarray, weight: np.ndarray) -> tuple[float, float, float]:
    total = float(weight.sum())
    mean = float(y[0] + weight @ (y - y[0]) / total)
    mean += float(weight @ (y - mean) / total)  # the second pass takes away what the first one rounded
    return total, mean, float(weight @ (y - mean) ** 2)


def _numbered(root: _Node) -> tuple[list[_Node], list[int]]:
    """The nodes, the children of a node side by side and its first subtree before the next, and each one's first child."""
    nodes, first, waiting = [root], [0], [0]
    while waiting:
        k = waiting.pop()
        children = nodes[k].children
        if children:
            first[k] = len(nodes)
            nodes += children
            first += [0] * len(children)
            waiting += range(len(nodes) - 1, first[k] - 1, -1)
    return nodes, first


def _tree(numbered: tuple[list[_Node], list[int]]) -> Tree:
    """The nodes as flat arrays."""
    nodes, first = numbered
    n, tests = len(nodes), [node.offer for node in nodes]
    levels = np.array([0 if t is None or t.branch_of is None else len(t.branch_of) for t in tests], np.int32)
    weight, squares = np.array([node.weight for node in nodes]), np.array([node.squares for node in nodes])
    share = np.ones(n)
    for k, test in enumerate(tests):
        if test is not None:
            children = slice(first[k], first[k] + test.branches)
            share[children] = weight[children] / weight[children].sum()
    maps = [t.branch_of for t in tests if t is not None and t.branch_of is not None]
    return build(
        column=np.array([LEAF if t is None else t.column for t in tests], np.int32),
        first=np.array(first, np.int32),
        branches=np.array([0 if t is None else t.branches for t in tests], np.int32),
        cut=np.array([np.nan if t is None else t.cut for t in tests]),
        levels=levels,
        branch_of=np.concatenate([np.zeros(0, np.int32), *maps]),
        missing=np.array([STOP if t is None else t.missing for t in tests], np.int32), share=share,
        rows=np.array([node.n_rows for node in nodes], np.int64), weight=weight, counts=np.zeros((n, 0)),
        value=np.array([[node.mean] for node in nodes]), prediction=np.zeros(n, np.int32),
        impurity=squares / weight, risk=squares, gain=np.array([0.0 if t is None else t.gain for t in tests]),
    )  # fmt: skip
