"""Who is whose child, and which entries belong to which node: passes over a tree's arrays.

Answers of all prunings of a tree, mixed, and how many of them stop where: passes down its nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from baytree.tree.model.linear_combinations import shared

if TYPE_CHECKING:
    from baytree.tree.model.tree import ExtraThresholds, Significance, Surrogates, Tree


def parents(tree: Tree) -> np.ndarray:
    """int32 [n_nodes]: the parent of every node; the root is its own."""
    inner = np.flatnonzero(tree.column >= 0)
    parent = np.zeros(len(tree), np.int32)
    children = np.repeat(tree.first[inner] - np.cumsum(tree.branches[inner]) + tree.branches[inner], tree.branches[inner])
    parent[children + np.arange(len(children))] = np.repeat(inner, tree.branches[inner])
    return parent


def depths(tree: Tree) -> np.ndarray:
    """int32 [n_nodes]: the number of tests above each node, by doubling the jumps towards the root."""
    above = parents(tree)
    depth = np.ones(len(tree), np.int32)
    depth[0] = 0
    while above.any():
        depth = depth + depth[above]
        above = above[above]
    return depth


def preorder(tree: Tree) -> Iterator[int]:
    """The nodes depth first: a node, then its first child with everything below, then the next."""
    waiting = [0]
    while waiting:
        node = waiting.pop()
        yield node
        if tree.column[node] >= 0:
            first = int(tree.first[node])
            waiting.extend(range(first + int(tree.branches[node]) - 1, first - 1, -1))


def importances(tree: Tree, n_columns: int) -> np.ndarray:
    """float64 [n_columns]: the gain of each column's tests, and the adjusted share of its surrogates, over all.

    What a sum gains goes to its columns in equal parts.
    """
    total = shared(tree, tree.gain, n_columns)
    substitute = tree.surrogates
    total += np.bincount(substitute.column, tree.gain[substitute.node] * substitute.adjusted, n_columns)
    return total / total.sum() if total.sum() > 0 else total


def bounds(tree: Tree, record: Surrogates | ExtraThresholds | Significance) -> np.ndarray:
    """int64 [n_nodes + 1]: the entries of node i are those from bounds[i] up to bounds[i + 1]."""
    return np.searchsorted(record.node, np.arange(len(tree) + 1)).astype(np.int64)


def cuts(tree: Tree, node: int) -> np.ndarray:
    """float64 [n_cuts]: the thresholds of a test by cuts, ascending; none where all numbers take one branch."""
    first, last = np.searchsorted(tree.more_cuts.node, [node, node + 1])
    every = np.append(tree.cut[node], tree.more_cuts.cut[first:last])
    return every if tree.strict[node] else every[every < np.inf]


def first_stops(tree: Tree, is_stop: np.ndarray) -> np.ndarray:
    """int64 [n_nodes]: the first node on the way to each at which a row is to stop, itself where there is none."""
    above, at = parents(tree).tolist(), np.arange(len(tree))
    for node in range(1, len(tree)):  # a child comes after its parent
        parent = above[node]
        if is_stop[parent] or at[parent] != parent:
            at[node] = at[parent]
    return at


def mix_prunings(tree: Tree, answer: np.ndarray, is_kept: np.ndarray) -> np.ndarray:
    """float64 [n_nodes, n_outputs]: of the prunings, those that stop above a node answer there, the others at the node."""
    value, stopped = answer.copy(), np.zeros_like(answer)
    left, above, depth = np.ones(len(tree)), parents(tree), depths(tree)
    order = np.argsort(depth, kind="stable")
    ends = np.cumsum(np.bincount(depth))
    for first, last in pairwise(ends.tolist()):
        here, parent = order[first:last], above[order[first:last]]
        stops = left[parent] * (1 - is_kept[parent])
        stopped[here] = stopped[parent] + stops[:, None] * answer[parent]
        left[here] = left[parent] * is_kept[parent]
        value[here] = stopped[here] + left[here, None] * answer[here]
    return value


def stopped_and_split(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """float64 [n_nodes], twice: of all prunings, the share by weight that stops at a node, and that splits it.

    The others, of those that a row that reaches the node could meet, have stopped above it. A tree that does not average
    splits wherever it can.
    """
    kept, reaching, above = (~tree.is_leaf).astype(np.float64), np.ones(len(tree)), parents(tree).tolist()
    if tree.averaging:
        kept[tree.averaging.node] = tree.averaging.kept
    for node in range(1, len(tree)):  # a child comes after its parent
        reaching[node] = reaching[above[node]] * kept[above[node]]
    return reaching * (1 - kept), reaching * kept
