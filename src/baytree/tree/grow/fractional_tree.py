"""The nodes of the fractional and of the counted search of classes as a tree."""

from __future__ import annotations

import numpy as np

from baytree.tree.grow.fractional import PROGRAMS, Growth
from baytree.tree.grow.impurity import impurity_of
from baytree.tree.grow.policy import Policy
from baytree.tree.model.build import build
from baytree.tree.model.places import SPREAD, STOP
from baytree.tree.model.structure import Tree

_THRESHOLD, _EACH_LEVEL, _ONE_LEVEL = 1, 2, 3  # tests in the core; all others have a map of their own


def tree_of(growth: Growth, policy: Policy) -> Tree:
    """The nodes that are left, as a tree."""
    return tree_of_nodes(growth.nodes.compact().arrays(), policy)


def tree_of_nodes(raw: dict[str, np.ndarray], policy: Policy) -> Tree:
    """Nodes, breadth first, as a tree."""
    inner = raw["test"] > 0
    start, branch_of = _branch_maps(raw)
    return build(
        column=raw["column"],
        first=np.where(inner, raw["first"], 0).astype(np.int32),
        branches=raw["branches"],
        cut=np.where(raw["test"] == _THRESHOLD, raw["cut"] + 0.0, np.nan),  # −0.0 and 0.0 are one number, in any order
        start=start,
        levels=raw["levels"],
        branch_of=branch_of,
        missing=np.where(inner, np.where(raw["missing"] >= 0, raw["missing"], SPREAD), STOP).astype(np.int32),
        rows=raw["rows"],
        weight=raw["weight"],
        counts=raw["counts"],
        value=_distributions(raw, PROGRAMS[policy.arithmetic].empty, policy.laplace),
        prediction=raw["label"],
        impurity=impurity_of(raw["counts"], policy.criterion),
        risk=raw["weight"] - raw["counts"].max(axis=1),
        gain=np.where(inner, np.maximum(raw["gain"], 0) * raw["weight"], 0.0),
    )


def _branch_maps(raw: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Where each node's level -> branch map starts, and all maps in a row.

    Tests with a branch for each level all share one map: level c takes branch c.
    """
    each = raw["test"] == _EACH_LEVEL
    maps = [np.arange(raw["levels"][each].max(initial=0), dtype=np.int32)]
    start, end = np.zeros(len(each), np.int32), len(maps[0])
    for i in np.flatnonzero((raw["levels"] > 0) & ~each):
        maps.append(_branch_map(raw, int(i)))
        start[i], end = end, end + len(maps[-1])
    return start, np.concatenate(maps).astype(np.int32)


def _branch_map(raw: dict[str, np.ndarray], i: int) -> np.ndarray:
    length = raw["levels"][i]
    if raw["test"][i] == _ONE_LEVEL:
        return np.where(np.arange(length) == raw["level"][i], 0, 1)
    return raw["branch_of"][raw["group"][i] : raw["group"][i] + length]


def _distributions(raw: dict[str, np.ndarray], empty: str, laplace: bool) -> np.ndarray:
    counts = raw["counts"] + (1.0 if laplace else 0.0)
    is_empty = raw["weight"] <= 0
    if empty == "parent":
        counts = np.where(is_empty[:, None], counts[_parents(raw)], counts)
    else:
        counts[is_empty] = 0
        counts[is_empty, raw["label"][is_empty]] = 1
    return counts / counts.sum(axis=1, keepdims=True)


def _parents(raw: dict[str, np.ndarray]) -> np.ndarray:
    parent = np.zeros(len(raw["test"]), np.int64)
    inner = np.flatnonzero(raw["test"] > 0)
    count = raw["branches"][inner]
    child = np.repeat(raw["first"][inner] - np.cumsum(count) + count, count) + np.arange(count.sum())
    parent[child] = np.repeat(inner, count)
    return parent
