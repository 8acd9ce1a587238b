"""Pruning of any classification tree by errors: a pessimistic estimate, or the errors on held-out rows (Quinlan 1987, 1993).

Both decide bottom-up whether a node stays split; they never replace a node by one of its branches. Trees of C4.5 are
pruned in `tree.search.fractional`, with subtree raising.
"""

from __future__ import annotations

import numpy as np

from baytree import _core
from baytree.data.encoding.table import Table
from baytree.tree.model.routing import leaves
from baytree.tree.model.traversal import parents
from baytree.tree.model.tree import Tree
from baytree.tree.pruning.cost_complexity import prune_to
from baytree.tree.pruning.pessimistic_error import PessimisticError


def error_based(tree: Tree, estimate: PessimisticError) -> Tree:
    """Tree without the splits whose branches have no fewer expected errors than a leaf."""
    nodes = _core.growth_of(
        tree.column, tree.first, tree.branches, tree.cut, tree.start, tree.levels, tree.branch_of, tree.missing,
        tree.rows, tree.weight, np.ascontiguousarray(tree.counts).ravel(), tree.prediction, tree.gain,
    )  # fmt: skip
    _core.error_prune(nodes, estimate.confidence, estimate.z, estimate.top_share, False)
    remaining = nodes.compact().arrays()
    is_split = np.zeros(len(tree), np.bool_)
    is_split[remaining["origin"][remaining["test"] > 0]] = True
    return prune_to(tree, is_split)


def reduced_error(tree: Tree, rows: Table) -> Tree:
    """Tree without the splits that make no fewer errors than a leaf on held-out rows.

    A row with a missing value that follows several branches is counted in the heaviest.
    """
    n, parent, leaf = len(tree), parents(tree), leaves(tree, rows)
    counts = np.bincount(leaf * tree.n_classes + rows.label, rows.weight, n * tree.n_classes).reshape(n, tree.n_classes)
    stopped = counts.sum(axis=1) - counts[np.arange(n), tree.prediction]  # errors of rows that end at the node
    for node in range(n - 1, 0, -1):  # a child comes after its parent
        counts[parent[node]] += counts[node]
    as_leaf = (counts.sum(axis=1) - counts[np.arange(n), tree.prediction]).tolist()
    errors, is_split = stopped.tolist(), tree.column >= 0
    for node in range(n - 1, -1, -1):
        if not is_split[node] or as_leaf[node] - errors[node] < _TOLERANCE:
            is_split[node], errors[node] = False, as_leaf[node]
        if node:
            errors[parent[node]] += errors[node]
    return prune_to(tree, is_split)


_TOLERANCE = 1e-6  # weight; sums of fractional weights have rounding errors
