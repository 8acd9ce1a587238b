"""Conversion of the core's nodes of the fractional and the counted classification search to a `Tree`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from baytree.tree.model.arrays import SPREAD, STOP
from baytree.tree.model.builder import build
from baytree.tree.model.tree import Tree
from baytree.tree.policy.impurity import ClassCells, impurity_of_cells
from baytree.tree.policy.policy import Policy
from baytree.tree.search.fractional import PROGRAMS, FractionalNodes

_THRESHOLD, _EACH_LEVEL, _ONE_LEVEL = 1, 2, 3  # kinds of tests in the core; all others have a branch map of their own


def tree_of(growth: FractionalNodes, policy: Policy) -> Tree:
    """Tree of the nodes that remain after pruning."""
    return tree_of_nodes(growth.nodes.compact().arrays(), policy)


Nodes = dict[str, np.ndarray]  # an array per field of the nodes


def tree_of_nodes(raw: Nodes, policy: Policy, predictions: Callable[[Nodes, ClassCells], np.ndarray] | None = None) -> Tree:
    """Tree of nodes in breadth-first order; `predictions` computes their class probabilities, by default proportions."""
    inner, cells = raw["test"] > 0, ClassCells.of(raw["counts"], raw.get("cell"))
    start, branch_of = _branch_maps(raw)
    return build(
        column=raw["column"],
        first=np.where(inner, raw["first"], 0).astype(np.int32),
        branches=raw["branches"],
        cut=np.where(raw["test"] == _THRESHOLD, raw["cut"] + 0.0, np.nan),  # −0.0 and 0.0 are equal, whichever comes first
        start=start,
        levels=raw["levels"],
        branch_of=branch_of,
        missing=np.where(inner, np.where(raw["missing"] >= 0, raw["missing"], SPREAD), STOP).astype(np.int32),
        rows=raw["rows"],
        weight=raw["weight"],
        counts=raw["counts"],
        value=predictions(raw, cells) if predictions else _distributions(raw, cells, policy),
        prediction=raw["label"],
        impurity=impurity_of_cells(cells, policy.criterion),
        risk=raw["weight"] - cells.largest(cells.weight),
        gain=np.where(inner, np.maximum(raw["gain"], 0) * raw["weight"], 0.0),
    )


def _branch_maps(raw: Nodes) -> tuple[np.ndarray, np.ndarray]:
    """Start of each node's map from levels to branches, and all maps concatenated.

    Tests with one branch per level share one identity map.
    """
    is_each_level = raw["test"] == _EACH_LEVEL
    maps = [np.arange(raw["levels"][is_each_level].max(initial=0), dtype=np.int32)]
    start, end = np.zeros(len(is_each_level), np.int32), len(maps[0])
    for i in np.flatnonzero((raw["levels"] > 0) & ~is_each_level):
        maps.append(_branch_map(raw, int(i)))
        start[i], end = end, end + len(maps[-1])
    return start, np.concatenate(maps).astype(np.int32)


def _branch_map(raw: Nodes, i: int) -> np.ndarray:
    length = raw["levels"][i]
    if raw["test"][i] == _ONE_LEVEL:
        return np.where(np.arange(length) == raw["level"][i], 0, 1)
    return raw["branch_of"][raw["group"][i] : raw["group"][i] + length]


def _distributions(raw: Nodes, cells: ClassCells, policy: Policy) -> np.ndarray:
    proportion, empty = _proportions(raw, cells, policy.laplace), np.flatnonzero(raw["weight"] <= 0)
    if PROGRAMS[policy.arithmetic].empty == "parent":
        proportion[empty] = proportion[parents_of(raw)[empty]]
    else:
        proportion[empty] = 0.0
        proportion[empty, raw["label"][empty]] = 1.0
    return proportion


def _proportions(raw: Nodes, cells: ClassCells, laplace: bool) -> np.ndarray:
    if not laplace:
        return cells.table(cells.weight / cells.sums(cells.weight)[cells.node])
    counts = raw["counts"] + 1.0
    return counts / counts.sum(axis=1, keepdims=True)


def parents_of(raw: Nodes) -> np.ndarray:
    """Parent of each node, int64 [n_nodes]; the root is its own parent."""
    parent = np.zeros(len(raw["test"]), np.int64)
    inner = np.flatnonzero(raw["test"] > 0)
    count = raw["branches"][inner]
    child = np.repeat(raw["first"][inner] - np.cumsum(count) + count, count) + np.arange(count.sum())
    parent[child] = np.repeat(inner, count)
    return parent
