"""Which rows of a table pass which node of a tree."""

from __future__ import annotations

import numpy as np

from baytree.table.table import Table
from baytree.tree.model.links import parents, preorder
from baytree.tree.model.routing import leaves
from baytree.tree.model.structure import Tree


class NodeRows:
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
