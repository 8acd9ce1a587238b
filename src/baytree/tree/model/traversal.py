"""Passes over the arrays of a tree: parents, depths, preorder, importances, averages over all prunings.

Children come after their parents, so that every pass is a loop over the nodes and none is recursive.
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
    """Parent of each node, int32 [n_nodes]; the root is its own parent."""
    inner = np.flatnonzero(tree.column >= 0)
    parent = np.zeros(len(tree), np.int32)
    children = np.repeat(tree.first[inner] - np.cumsum(tree.branches[inner]) + tree.branches[inner], tree.branches[inner])
    parent[children + np.arange(len(children))] = np.repeat(inner, tree.branches[inner])
    return parent


def depths(tree: Tree) -> np.ndarray:
    """Number of tests above each node, int32 [n_nodes], by pointer doubling towards the root."""
    above = parents(tree)
    depth = np.ones(len(tree), np.int32)
    depth[0] = 0
    while above.any():
        depth = depth + depth[above]
        above = above[above]
    return depth


def preorder(tree: Tree) -> Iterator[int]:
    """Yield the nodes depth first: a node, then its first child with all descendants, then the next child."""
    pending = [0]
    while pending:
        node = pending.pop()
        yield node
        if tree.column[node] >= 0:
            first = int(tree.first[node])
            pending.extend(range(first + int(tree.branches[node]) - 1, first - 1, -1))


def importances(tree: Tree, n_columns: int) -> np.ndarray:
    """Relative importance of each column, float64 [n_columns]: gain of its splits plus adjusted agreement of its surrogates.

    The gain of a linear combination is split equally among its columns.
    """
    total = shared(tree, tree.gain, n_columns)
    surrogate = tree.surrogates
    total += np.bincount(surrogate.column, tree.gain[surrogate.node] * surrogate.adjusted, n_columns)
    return total / total.sum() if total.sum() > 0 else total


def bounds(tree: Tree, record: Surrogates | ExtraThresholds | Significance) -> np.ndarray:
    """Offsets of the entries of nodes, int64 [n_nodes + 1]: those of node i are bounds[i] to bounds[i + 1]."""
    return np.searchsorted(record.node, np.arange(len(tree) + 1)).astype(np.int64)


def cuts(tree: Tree, node: int) -> np.ndarray:
    """Thresholds of a node's test, ascending, float64 [n_thresholds]; empty if all numbers take one branch."""
    first, last = np.searchsorted(tree.more_cuts.node, [node, node + 1])
    every = np.append(tree.cut[node], tree.more_cuts.cut[first:last])
    return every if tree.strict[node] else every[every < np.inf]


def first_stops(tree: Tree, is_stop: np.ndarray) -> np.ndarray:
    """First node on the path to each node at which a row stops, int64 [n_nodes]; the node itself if there is none."""
    parent_of, stop = parents(tree).tolist(), np.arange(len(tree))
    for node in range(1, len(tree)):  # a child comes after its parent
        parent = parent_of[node]
        if is_stop[parent] or stop[parent] != parent:
            stop[node] = stop[parent]
    return stop


def mix_prunings(tree: Tree, answer: np.ndarray, is_kept: np.ndarray) -> np.ndarray:
    """Average prediction over all prunings, float64 [n_nodes, n_outputs].

    `is_kept` [n_nodes] is the probability of each split. Prunings that stop above a node predict there, the others at the
    node.
    """
    value, stopped = answer.copy(), np.zeros_like(answer)
    open_weight, parent_of, depth = np.ones(len(tree)), parents(tree), depths(tree)
    order = np.argsort(depth, kind="stable")
    ends = np.cumsum(np.bincount(depth))
    for first, last in pairwise(ends.tolist()):
        nodes, parent = order[first:last], parent_of[order[first:last]]
        stopping = open_weight[parent] * (1 - is_kept[parent])
        stopped[nodes] = stopped[parent] + stopping[:, None] * answer[parent]
        open_weight[nodes] = open_weight[parent] * is_kept[parent]
        value[nodes] = stopped[nodes] + open_weight[nodes, None] * answer[nodes]
    return value


def stopped_and_split(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Weights of all prunings that stop at each node and that split it, float64 [n_nodes] each.

    The rest, of the prunings that apply to rows reaching the node, stops above it. A tree without averaging splits every
    inner node.
    """
    split_probability, reaching, parent_of = (~tree.is_leaf).astype(np.float64), np.ones(len(tree)), parents(tree).tolist()
    if tree.averaging:
        split_probability[tree.averaging.node] = tree.averaging.kept
    for node in range(1, len(tree)):  # a child comes after its parent
        reaching[node] = reaching[parent_of[node]] * split_probability[parent_of[node]]
    return reaching * (1 - split_probability), reaching * split_probability
