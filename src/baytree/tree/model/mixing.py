"""Answers of all prunings of a tree, mixed: one pass down its nodes."""

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
