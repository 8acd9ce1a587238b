"""Nodes of a growing tree, linked to their children, and their conversion from and to the flat arrays of the core."""

from __future__ import annotations

from typing import Any

import numpy as np

from baytree.tree.model.tree import Tree
from baytree.tree.policy.class_costs import ClassCosts
from baytree.tree.search.sorted import tree_of_arrays

# rows of a node that the core grows level by level; it grows smaller subtrees one after the other. The order of the nodes in
# a model depends on it, so it equals the value in the core (docs/decisions/0101)
MIN_LEVELWISE_ROWS = 16_384

_LINKS = ("first", "branches", "start", "levels", "branch_of", "surrogates", "depth")


class NodeRecord:
    """Fields of a node, the groups of levels that it tests, and its children."""

    def __init__(self, fields: dict[str, Any], groups: np.ndarray, depth: int):
        self.fields, self.groups, self.depth = fields, groups, depth
        self.children: list[NodeRecord] = []
        self.is_exact = False  # measured on its rows in memory
        self.branch_of = np.zeros(0, np.int32)  # [n_codes], branch of each code of its column; −1 if rows stop

    def replace_by(self, other: NodeRecord) -> None:
        """Replace this node by another one of the same rows."""
        self.fields, self.groups, self.children, self.is_exact = other.fields, other.groups, other.children, other.is_exact
        self.branch_of = other.branch_of

    def set_rows(self, stopped_rows: dict[int, int]) -> None:
        """Set the number of rows in or below each node that was not measured in memory."""
        for record in reversed(preorder_nodes(self)):
            if not record.is_exact:
                record.fields["rows"] = stopped_rows[id(record)] + sum(child.fields["rows"] for child in record.children)


def records(arrays: dict[str, Any], depth: int) -> NodeRecord:
    """Root of the core's arrays, with all nodes below it."""
    names = [name for name in arrays if name not in _LINKS]
    n = len(arrays["column"])
    nodes = []
    for i in range(n):
        start, size = int(arrays["start"][i]), int(arrays["levels"][i])
        groups = arrays["branch_of"][start : start + size]
        nodes.append(NodeRecord({name: arrays[name][i] for name in names}, groups, depth + int(arrays["depth"][i])))
    for i, node in enumerate(nodes):
        first, branches = int(arrays["first"][i]), int(arrays["branches"][i])
        node.children = nodes[first : first + branches] if branches else []
    return nodes[0]


def tree_of(root: NodeRecord, costs: ClassCosts, uses_surrogates: bool) -> Tree:
    """Tree of these nodes."""
    nodes = core_order(root)
    index = {id(node): k for k, node in enumerate(nodes)}
    arrays: dict[str, Any] = {name: np.array([node.fields[name] for node in nodes]) for name in root.fields}
    arrays["first"] = np.array([index[id(node.children[0])] if node.children else 0 for node in nodes], np.int32)
    arrays["branches"] = np.array([len(node.children) for node in nodes], np.int32)
    arrays["column"] = np.where(arrays["branches"] > 0, arrays["column"], -1).astype(np.int32)
    arrays["rows"] = arrays["rows"].astype(np.int64)
    levels = np.array([len(node.groups) for node in nodes], np.int32)
    arrays["levels"], arrays["start"] = levels, (np.cumsum(levels) - levels).astype(np.int32)
    arrays["branch_of"] = np.concatenate([node.groups for node in nodes]).astype(np.int32)
    arrays["depth"] = np.array([node.depth for node in nodes], np.int32)
    return tree_of_arrays(arrays, costs, uses_surrogates)


def core_order(root: NodeRecord) -> list[NodeRecord]:
    """All nodes in the order of the core: levels of large nodes, then all descendants of each small node."""
    nodes, small = [root], []
    large = [root] if root.fields["rows"] >= MIN_LEVELWISE_ROWS else []
    if not large:
        small.append(root)
    while large:
        following = []
        for parent in large:
            nodes += parent.children
            for child in parent.children:
                (following if child.fields["rows"] >= MIN_LEVELWISE_ROWS else small).append(child)
        large = following
    for node in small:
        nodes += _descendants(node)
    return nodes


def _descendants(root: NodeRecord) -> list[NodeRecord]:
    nodes, pending = [], [root]
    while pending:
        node = pending.pop()
        nodes += node.children
        pending += reversed(node.children)
    return nodes


def preorder_nodes(root: NodeRecord) -> list[NodeRecord]:
    """All nodes, each after its parent."""
    return [root, *_descendants(root)]
