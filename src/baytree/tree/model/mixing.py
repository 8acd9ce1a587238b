"""Answers of all prunings of a tree, mixed, and how many of them stop where: passes down its nodes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from baytree.tree.model.links import depths, parents

if TYPE_CHECKING:
    from baytree.tree.model.structure import Tree


def mixed(tree: Tree, answer: np.ndarray, is_kept: np.ndarray) -> np.ndarray:
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
