"""The way of a row through a tree as a ledger: each test adds what it changes in the class probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from baytree.model import Evidence, Explanation
from baytree.table import Schema
from baytree.tree.structure import Tree, parents


def explain(tree: Tree, schema: Schema, columns: Sequence[np.ndarray], leaf: np.ndarray) -> list[Explanation]:
    """One ledger per row; `leaf` is the node where each row came to rest, `columns` the values that were tested."""
    parent = parents(tree)
    target = schema.target
    classes = target.classes if target and target.classes is not None else (target.name if target else "y",)
    return [
        Explanation(
            classes=classes,
            start=tree.value[0],
            evidence=tuple(_lines(tree, schema, columns, row, path(parent, int(node)))),
            probability=tree.value[node],
            unit="probability" if tree.n_classes else "value",
        )
        for row, node in enumerate(leaf)
    ]


def path(parent: np.ndarray, node: int) -> list[int]:
    """The nodes from the root to a node, both included."""
    way = [node]
    while way[-1]:
        way.append(int(parent[way[-1]]))
    return way[::-1]


def _lines(
    tree: Tree, schema: Schema, columns: Sequence[np.ndarray], row: int, way: list[int]
) -> list[Evidence]:
    return [
        Evidence(
            schema.columns[tree.column[node]].name,
            schema.columns[tree.column[node]].show(columns[tree.column[node]][row]),
            tree.value[child] - tree.value[node],
        )
        for node, child in zip(way[:-1], way[1:], strict=True)
    ]
