"""Nodes of a growing tree whose rows may follow several branches, linked to their children; and the ways that rows take."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator
from copy import copy
from typing import Any

import numpy as np

from baytree import _core
from baytree.tree.grow.rounds.placements import Passed, Units, Way

THRESHOLD, EACH_LEVEL, ONE_LEVEL = 1, 2, 3  # tests in the core; all others have a map of their own
_TEST = {"test": 0, "column": -1, "branches": 0, "level": -1, "levels": 0, "missing": -1, "cut": 0.0, "gain": 0.0}


class FractionalNode:
    """A node: its test, the branch of each level where it tests levels, what came to it, and its children."""

    def __init__(self, depth: int, used: frozenset[int] = frozenset(), above: FractionalNode | None = None):
        self.depth, self.used, self.above = depth, used, above  # `used`: columns with a branch for each level above
        self.test: dict[str, Any] = dict(_TEST)
        self.groups = np.zeros(0, np.int64)
        self.children: list[FractionalNode] = []
        self.share = 0.0  # of the rows without a value at the node above
        self.counts, self.weight, self.rows, self.known = np.zeros(0), 0.0, 0, 0.0
        self.label, self.errors, self.collapsed = 0, 0.0, 0.0  # what it is feared to get wrong, and what it got wrong
        self.remembered = 0.0  # its weight before rows were led here another way
        self.is_settled = False  # pruned as far as it can be, with the rows that are here
        self.is_moved = False  # rows came here that did not when it was grown

    @property
    def is_leaf(self) -> bool:
        """Whether rows come to rest here."""
        return not self.children

    def become_leaf(self) -> None:
        """Forgets the test and all below."""
        self.test, self.children = dict(_TEST), []

    def in_place_of(self, other: FractionalNode) -> FractionalNode:
        """A copy with all below it, where another stands."""
        twin = self._copied(other.above)
        twin.share = other.share
        for node in _below(twin):
            node.children = [child._copied(node) for child in node.children]
        return twin

    def _copied(self, above: FractionalNode | None) -> FractionalNode:
        twin = copy(self)
        twin.above, twin.remembered, twin.is_settled, twin.is_moved = above, self.weight, False, True
        return twin

    def become(self, other: FractionalNode) -> None:
        """Gives its place to another that stands for it, with all below."""
        for name in ("test", "groups", "children", "label", "counts", "weight", "rows"):
            setattr(self, name, getattr(other, name))
        for child in self.children:
            child.above = self

    def remember(self, counts: np.ndarray, rows: int, known: float, units: Units) -> None:
        """Keeps what came here: float64 [n_classes] weights, and in how many parts of rows."""
        self.counts, self.rows, self.known = counts, rows, known
        self.weight = total(counts, units)

    def share_out(self, units: Units) -> bool:
        """Sets the shares of the branches, and says whether they are others than before.

        They are those of the weights that values led there, or else that came there in training.
        """
        before = [child.share for child in self.children]
        weights = np.array([child.known for child in self.children])
        if not weights.any():
            weights = np.array([child.remembered for child in self.children])
            weights[0] += not weights.any()
        whole = units.real(total(weights, units))
        for child, weight in zip(self.children, weights, strict=True):
            child.share = float(units.real(weight) / whole)
        return before != [child.share for child in self.children]

    def path(self) -> list[FractionalNode]:
        """The nodes above, and this one."""
        found: list[FractionalNode] = [self]
        while found[-1].above is not None:
            found.append(found[-1].above)
        return found


def total(weights: np.ndarray, units: Units) -> float:
    """Weights added up one after the other, as the program does."""
    return float(np.cumsum(weights, dtype=units.real)[-1]) if len(weights) else 0.0


def heaviest(counts: np.ndarray) -> int:
    """The first class with the largest weight."""
    return int(np.argmax(counts))


def below(node: FractionalNode) -> list[FractionalNode]:
    """The node and all below it, each after its parent."""
    return list(_below(node))


def _below(node: FractionalNode) -> Iterator[FractionalNode]:
    waiting = deque([node])
    while waiting:
        each = waiting.popleft()
        yield each
        waiting += each.children


def way_to(
    root: FractionalNode,
    units: Units,
    opened: Container[int] | None = None,
    instead: dict[int, FractionalNode] | None = None,
) -> tuple[Way, list[FractionalNode]]:
    """The tree as rows take it, and its nodes in order.

    Rows go on at the `opened` nodes, given by their ids, or everywhere; another may stand for a node, `instead` of it.
    """
    stands = {} if instead is None else instead
    nodes = [stands.get(id(root), root)]
    first, inner = [], []
    for node in nodes:
        first.append(len(nodes))
        inner.append(not node.is_leaf and (opened is None or id(node) in opened))
        nodes += [stands.get(id(child), child) for child in node.children] if inner[-1] else []
    sizes = np.array([len(node.groups) if goes_on else 0 for node, goes_on in zip(nodes, inner, strict=True)], np.int64)
    maps = [node.groups for node, goes_on in zip(nodes, inner, strict=True) if goes_on]
    return Way(
        column=np.where(inner, [node.test["column"] for node in nodes], -1),
        first=np.array(first),
        branches=np.array([len(node.children) for node in nodes]),
        cut=np.array([node.test["cut"] for node in nodes]),
        start=np.cumsum(sizes) - sizes,
        branch_of=np.concatenate([*maps, np.zeros(0, np.int64)]).astype(np.int64),
        share=np.array([node.share for node in nodes]),
        units=units,
    ), nodes


def remember_all(nodes: list[FractionalNode], passed: Passed, units: Units) -> None:
    """Keeps what came to each of these nodes."""
    counts, known = units.weights(passed.counts), units.weights(passed.known)
    for k, node in enumerate(nodes):
        node.remember(counts[k], int(passed.cases[k]), float(known[k]), units)


def linked(grown: dict[str, np.ndarray], at: FractionalNode) -> list[FractionalNode]:
    """The core's nodes as nodes below this one, which is the first of them; in their order."""
    nodes = [at]
    for i, node in enumerate(nodes):
        node.test = {name: grown[name][i].item() for name in _TEST}
        start, size = int(grown["group"][i]), int(grown["levels"][i])
        node.groups = _groups(node.test, grown["branch_of"][start : start + size] if start >= 0 else None)
        node.counts, node.weight, node.rows = grown["counts"][i], float(grown["weight"][i]), int(grown["rows"][i])
        node.label, node.errors = int(grown["label"][i]), float(grown["errors"][i])
        is_parted = node.test["test"] == EACH_LEVEL
        used = node.used | {node.test["column"]} if is_parted else node.used
        node.children = [FractionalNode(node.depth + 1, used, node) for _ in range(node.test["branches"])]
        nodes += node.children
    return nodes


def growth_below(node: FractionalNode) -> tuple[_core.Growth, list[FractionalNode]]:
    """The node and all below it in the core, to be pruned, and themselves in the same order."""
    nodes = below(node)
    place = {id(each): k for k, each in enumerate(nodes)}
    sizes = np.array([len(each.groups) if each.children else 0 for each in nodes], np.int32)
    growth = _core.growth_of(
        np.array([each.test["column"] for each in nodes], np.int32),
        np.array([place[id(each.children[0])] if each.children else 0 for each in nodes], np.int32),
        np.array([len(each.children) for each in nodes], np.int32),
        np.array([each.test["cut"] for each in nodes], np.float64),
        (np.cumsum(sizes) - sizes).astype(np.int32),
        sizes,
        np.concatenate([*(each.groups for each in nodes if each.children), np.zeros(0, np.int64)]).astype(np.int32),
        np.array([each.test["missing"] for each in nodes], np.int32),
        np.array([each.rows for each in nodes], np.int64),
        np.array([each.weight for each in nodes], np.float64),
        np.concatenate([each.counts for each in nodes]),
        np.array([each.label for each in nodes], np.int32),
        np.zeros(len(nodes)),
    )  # fmt: skip
    return growth, nodes


def relink(growth: _core.Growth, before: list[FractionalNode]) -> None:
    """The nodes that pruning left, in the place of those that it was given; tests are those that they had before."""
    raw = growth.compact().arrays()
    tests = [(each.test, each.groups) for each in before]
    nodes = [before[0]]
    for i, node in enumerate(nodes):
        test, node.groups = tests[int(raw["origin"][i])]
        node.test = test if raw["branches"][i] else dict(_TEST)
        node.counts, node.weight, node.rows = raw["counts"][i], float(raw["weight"][i]), int(raw["rows"][i])
        node.label, node.errors = int(raw["label"][i]), float(raw["errors"][i])
        node.children = [FractionalNode(node.depth + 1, node.used, node) for _ in range(int(raw["branches"][i]))]
        nodes += node.children


def raw_of(root: FractionalNode, n_classes: int) -> dict[str, np.ndarray]:
    """All nodes, breadth first, as the core names their fields."""
    nodes = below(root)
    place = {id(node): k for k, node in enumerate(nodes)}
    has_map = [bool(node.children) and node.test["test"] > ONE_LEVEL for node in nodes]
    sizes = np.array([len(node.groups) if has else 0 for node, has in zip(nodes, has_map, strict=True)], np.int64)
    maps = [node.groups for node, has in zip(nodes, has_map, strict=True) if has]
    integers = {
        name: np.array([node.test[name] for node in nodes], np.int32) for name in _TEST if name not in ("cut", "gain")
    }
    return integers | {
        "first": np.array([place[id(node.children[0])] if node.children else -1 for node in nodes], np.int32),
        "label": np.array([node.label for node in nodes], np.int32),
        "group": np.where(has_map, np.cumsum(sizes) - sizes, -1),
        "branch_of": np.concatenate([*maps, np.zeros(0, np.int64)]).astype(np.int32),
        "cut": np.array([node.test["cut"] for node in nodes]),
        "gain": np.array([node.test["gain"] for node in nodes]),
        "weight": np.array([node.weight for node in nodes]),
        "rows": np.array([node.rows for node in nodes], np.int64),
        "counts": np.concatenate([node.counts for node in nodes]).reshape(len(nodes), n_classes),
    }


def _groups(test: dict[str, Any], given: np.ndarray | None) -> np.ndarray:
    """int64 [n_levels]: the branch of each level; empty where a number is tested."""
    level = np.arange(test["levels"])
    if test["test"] == EACH_LEVEL:
        return level
    if test["test"] == ONE_LEVEL:
        return np.where(level == test["level"], 0, 1)
    return np.zeros(0, np.int64) if given is None else given.astype(np.int64)
