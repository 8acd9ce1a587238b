"""A regression tree with a branch for each level: least squares, numbers and ranks cut in two, levels parted into all."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from baytree.table.schema import Kind
from baytree.table.table import Table
from baytree.tree.grow.costs import equal_costs
from baytree.tree.grow.policy import Branching, Missing, Policy
from baytree.tree.grow.sorted import grow_arrays, grow_sorted
from baytree.tree.model.places import LEAF, STOP
from baytree.tree.model.structure import Surrogates, Tree
from baytree.tree.prune.cost_complexity import to_leaves, with_complexity

ROADS = (Missing.LEARNED, Missing.CATEGORY, Missing.LARGEST)
_FEW = 16384  # rows; below it a second thread costs more than it brings
_SLACK = 1e-12  # of the node's sum of squares: a gain must be greater by more than rounding


class Parting(msgspec.Struct, frozen=True):
    """What a column offers at a node: the branch of each row, and what its squares fall by."""

    column: int
    gain: float
    branch: np.ndarray  # int [n_rows of the node]
    branches: int
    missing: int
    cut: float = np.nan
    branch_of: np.ndarray | None = None  # int32 [n_levels], of a nominal column


class _Node:
    """A node while the tree grows: its rows, and their weight, mean and squares about the mean."""

    def __init__(self, table: Table, rows: np.ndarray, depth: int) -> None:
        self.rows, self.n_rows, self.depth, self.first = rows, len(rows), depth, 0
        self.parting: Parting | None = None
        self.weight, self.mean, self.squares = _moments(table.label[rows], table.weight[rows])


def grow_multiway_numbers(table: Table, policy: Policy, threads: int = 1) -> Tree:
    """The tree of a policy. At least two branches of a split must hold `min_leaf`; an empty branch is not made.

    Rows without a level go where the sum of squares is least ("learned"), into a branch of their own ("category"), or
    with the heaviest branch ("largest", which judges a column by its known rows).
    """
    if policy.missing not in ROADS:
        known = ", ".join(repr(road.value) for road in ROADS)
        raise ValueError(f"missing={policy.missing.value!r} is for two branches; with 'multiway' give {known}")
    tree = _grow_nodes(table, policy, threads) if _has_levels(table) else _grow_in_two(table, policy, threads)
    most = policy.stopping.max_leaves
    return with_complexity(tree) if most is None else to_leaves(with_complexity(tree), most)


def _has_levels(table: Table) -> bool:
    return any(column.kind is Kind.NOMINAL for column in table.schema)


def _grow_in_two(table: Table, policy: Policy, threads: int) -> Tree:
    """Without levels every split has two branches, and the whole tree is the machine's that grows those."""
    return grow_sorted(table, msgspec.structs.replace(policy, branching=Branching.BINARY), equal_costs(0), threads)


def _grow_nodes(table: Table, policy: Policy, threads: int) -> Tree:
    stop = policy.stopping
    table = table if table.weight.all() else table.take(table.weight > 0)
    nodes, opened = [_Node(table, np.arange(len(table)), 0)], [0]
    least = stop.min_gain * float(table.weight.sum())
    while opened:
        node = nodes[opened.pop()]
        if node.weight < stop.min_split or node.squares <= stop.min_impurity * node.weight:
            continue
        if stop.max_depth is not None and node.depth >= stop.max_depth:
            continue
        best = _best(table, node, policy, threads)
        if best is None or best.gain < least:
            continue
        node.parting, node.first = best, len(nodes)
        nodes += [_Node(table, node.rows[best.branch == b], node.depth + 1) for b in range(best.branches)]
        node.rows = node.rows[:0]
        opened += range(len(nodes) - 1, node.first - 1, -1)
    return _tree(nodes)


def _best(table: Table, node: _Node, policy: Policy, threads: int) -> Parting | None:
    """The parting of largest gain, the earlier column of equals."""
    best: Parting | None = None
    for offer in sorted(_offers(table.take(node.rows), node, policy, threads), key=lambda offer: offer.column):
        if best is None or offer.gain > best.gain + _SLACK * node.squares:
            best = offer
    return best if best is not None and best.gain > _SLACK * node.squares else None


def _offers(here: Table, node: _Node, policy: Policy, threads: int) -> Iterator[Parting]:
    is_nominal = [column.kind is Kind.NOMINAL for column in here.schema]
    if not all(is_nominal):
        yield from _cut(here, [j for j, each in enumerate(is_nominal) if not each], policy, threads)
    for j in np.flatnonzero(is_nominal):
        offer = _by_level(here, int(j), node, policy)
        if offer is not None:
            yield offer


def _cut(here: Table, columns: list[int], policy: Policy, threads: int) -> Iterator[Parting]:
    """The best cut of all columns that are cut, by the machine that grows trees of two branches."""
    once = msgspec.structs.replace(policy.stopping, max_depth=1, max_leaves=None, min_gain=0.0, min_split=0)
    in_two = msgspec.structs.replace(policy, branching=Branching.BINARY, stopping=once)
    stump = grow_arrays(here.select(columns), in_two, equal_costs(0), threads if len(here) > _FEW else 1)
    if stump["column"][0] < 0:
        return
    column, cut = columns[int(stump["column"][0])], float(stump["cut"][0])
    values = here.values[column].astype(np.float64)
    is_missing = np.isnan(values) if here.schema.columns[column].kind is Kind.NUMERIC else values < 0
    road = int(stump["missing"][0])
    branch = np.where(is_missing, road, ~(values <= cut))
    yield Parting(column, float(stump["gain"][0]), branch, int(stump["branches"][0]), road, cut)


def _by_level(here: Table, column: int, node: _Node, policy: Policy) -> Parting | None:
    """A branch for each level that occurs, in the order of the levels."""
    code = here.values[column]
    present, place = np.unique(code[code >= 0], return_inverse=True)
    branch = np.full(len(code), -1)
    branch[code >= 0] = place
    sums, weight = _sums(here, branch, node.mean, len(present))
    if np.count_nonzero(weight[:-1] >= policy.stopping.min_leaf) < 2:
        return None
    road, gain = _road(sums, weight, policy.missing)
    branch_of = np.full(len(here.schema.columns[column].levels), -1, np.int32)
    branch_of[present] = np.arange(len(present))
    branch[branch < 0] = road
    return Parting(column, gain, branch, max(len(present), road + 1 if weight[-1] > 0 else 0), road, np.nan, branch_of)


def _sums(here: Table, branch: np.ndarray, centre: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Σ w (y − centre) and Σ w of each branch, and at the end of the rows without a level: two arrays [n + 1]."""
    place = np.where(branch < 0, n, branch)
    return np.bincount(place, here.weight * (here.label - centre), n + 1), np.bincount(place, here.weight, n + 1)


def _road(sums: np.ndarray, weight: np.ndarray, missing: Missing) -> tuple[int, float]:
    """The branch of the rows without a level, and the gain of the parting with them."""
    heaviest = int(np.argmax(weight[:-1]))
    if weight[-1] == 0 or missing is Missing.LARGEST:
        return heaviest, _gain(sums[:-1], weight[:-1])
    if missing is Missing.CATEGORY:
        return len(sums) - 1, _gain(sums, weight)
    joined = (sums[:-1] + sums[-1]) ** 2 / (weight[:-1] + weight[-1]) - sums[:-1] ** 2 / weight[:-1]
    road = int(np.argmax(joined))
    together, heavier = sums[:-1].copy(), weight[:-1].copy()
    together[road], heavier[road] = together[road] + sums[-1], heavier[road] + weight[-1]
    return road, _gain(together, heavier)


def _gain(sums: np.ndarray, weight: np.ndarray) -> float:
    """What the squares about the means fall by, from sums about any common centre."""
    return float((sums**2 / weight).sum() - sums.sum() ** 2 / weight.sum())


def _moments(y: np.ndarray, weight: np.ndarray) -> tuple[float, float, float]:
    total = float(weight.sum())
    mean = float(y[0] + weight @ (y - y[0]) / total)
    mean += float(weight @ (y - mean) / total)  # the second pass takes away what the first one rounded
    return total, mean, float(weight @ (y - mean) ** 2)


def _tree(nodes: list[_Node]) -> Tree:
    """The nodes as flat arrays."""
    n, parts = len(nodes), [node.parting for node in nodes]
    levels = np.array([0 if p is None or p.branch_of is None else len(p.branch_of) for p in parts], np.int32)
    weight, squares = np.array([node.weight for node in nodes]), np.array([node.squares for node in nodes])
    share = np.ones(n)
    for node in nodes:
        if node.parting is not None:
            children = slice(node.first, node.first + node.parting.branches)
            share[children] = weight[children] / weight[children].sum()
    maps = [p.branch_of for p in parts if p is not None and p.branch_of is not None]
    return Tree(
        column=np.array([LEAF if p is None else p.column for p in parts], np.int32),
        first=np.array([node.first for node in nodes], np.int32),
        branches=np.array([0 if p is None else p.branches for p in parts], np.int32),
        cut=np.array([np.nan if p is None else p.cut for p in parts]),
        strict=np.zeros(n, bool), mirrored=np.zeros(n, bool),
        start=(np.cumsum(levels) - levels).astype(np.int32), levels=levels,
        branch_of=np.concatenate([np.zeros(0, np.int32), *maps]),
        missing=np.array([STOP if p is None else p.missing for p in parts], np.int32), share=share,
        rows=np.array([node.n_rows for node in nodes], np.int64), weight=weight, counts=np.zeros((n, 0)),
        value=np.array([[node.mean] for node in nodes]), prediction=np.zeros(n, np.int32),
        impurity=squares / weight, risk=squares, gain=np.array([0.0 if p is None else p.gain for p in parts]),
        complexity=np.zeros(n), surrogates=Surrogates.none(),
    )  # fmt: skip
