"""Nodes of a growing multiway classification tree, as arrays, and the selection of tests under a limit on leaves."""

from __future__ import annotations

from heapq import heappop, heappush

import msgspec
import numpy as np

from baytree.tree.policy.policy import Stopping


class Nodes(msgspec.Struct, frozen=True):
    """Nodes in the order of their creation, with the children of a node side by side."""

    parent: np.ndarray  # int32 [n_nodes]
    depth: np.ndarray  # int32 [n_nodes]
    counts: np.ndarray  # float64 [n_nodes, n_classes]
    rows: np.ndarray  # int64 [n_nodes], unweighted
    multiway_ancestor: (
        np.ndarray
    )  # int32 [n_nodes], nearest ancestor whose test has one branch per level, −1 if there is none
    column: np.ndarray  # int32 [n_nodes], −1 if there is no test
    rank: np.ndarray  # int32 [n_nodes], codes up to it take the first branch; −1 if code c takes branch c
    cut: np.ndarray  # float64 [n_nodes]
    branches: np.ndarray  # int32 [n_nodes]
    missing: np.ndarray  # int32 [n_nodes]
    gain: np.ndarray  # float64 [n_nodes], per unit of weight
    first: np.ndarray  # int32 [n_nodes], the first child
    is_split: np.ndarray  # bool [n_nodes], the rows have moved to the children

    @classmethod
    def root(cls, counts: np.ndarray) -> Nodes:
        """A root without a test."""
        none = np.full(1, -1, np.int32)
        return _nodes_without_tests(np.zeros(1, np.int32), np.zeros(1, np.int32), counts[None], none)

    def __len__(self) -> int:
        return len(self.column)

    @property
    def weight(self) -> np.ndarray:
        """float64 [n_nodes]"""
        return self.counts.sum(axis=1)

    def may_split(self, selected: np.ndarray, stop: Stopping) -> np.ndarray:
        """Whether nodes have several classes, enough weight and are not too deep, bool [n_chosen]."""
        counts = self.counts[selected]
        weight = counts.sum(axis=1)
        is_heavy = (weight >= 2 * stop.min_leaf - 1e-5) & (weight >= stop.min_split)
        is_deep = self.depth[selected] >= (np.inf if stop.max_depth is None else stop.max_depth)
        return (counts.max(axis=1) < weight) & is_heavy & ~is_deep

    def is_used_above(self, selected: np.ndarray, n_columns: int) -> np.ndarray:
        """Columns that an ancestor has split into their levels, bool [n_chosen, n_columns]."""
        used, ancestor = np.zeros((len(selected), n_columns), bool), self.multiway_ancestor[selected]
        while (open_rows := np.flatnonzero(ancestor >= 0)).size:
            used[open_rows, self.column[ancestor[open_rows]]] = True
            ancestor = np.where(ancestor >= 0, self.multiway_ancestor[ancestor], -1)
        return used

    def with_tests(self, selected: np.ndarray, n_rows: np.ndarray, tests: dict[str, np.ndarray]) -> Nodes:
        """Nodes with the tests of the selected ones set and their children appended."""
        child_counts = tests.pop("counts").reshape(-1, self.counts.shape[1])
        changed = {
            name: _replaced(getattr(self, name), selected, entries) for name, entries in (tests | {"rows": n_rows}).items()
        }
        split, branches = selected[tests["column"] >= 0], tests["branches"][tests["column"] >= 0]
        changed["first"] = _replaced(self.first, split, len(self) + np.cumsum(branches) - branches)
        multiway_ancestor = np.where(changed["rank"][split] < 0, split, self.multiway_ancestor[split])
        parent = np.repeat(split, branches).astype(np.int32)
        children = _nodes_without_tests(
            parent, self.depth[parent] + 1, child_counts, np.repeat(multiway_ancestor, branches).astype(np.int32)
        )
        return msgspec.structs.replace(self, **changed)._joined(children)

    def mark_split(self, selected: np.ndarray) -> tuple[Nodes, np.ndarray]:
        """Nodes with the selected ones marked as split, and those of them that were not before."""
        new = selected[~self.is_split[selected]]
        return msgspec.structs.replace(self, is_split=_replaced(self.is_split, new, True)), new

    def columns_of(self, selected: np.ndarray) -> np.ndarray:
        """Columns of the chosen tests, −1 for other nodes, int32 [n_nodes]."""
        return _replaced(np.full(len(self), -1, np.int32), selected, self.column[selected])

    def children(self, selected: np.ndarray) -> np.ndarray:
        """Children of these nodes, in node order."""
        count = self.branches[selected].astype(np.int64)
        return np.repeat(self.first[selected] - np.cumsum(count) + count, count) + np.arange(count.sum())

    def compact(self, split: np.ndarray) -> tuple[Nodes, np.ndarray]:
        """Tree in which only these nodes are split, breadth first, and the former id of each node."""
        is_split = np.zeros(len(self), bool)
        is_split[split] = True
        level = order = np.zeros(1, np.int64)
        while (level := self.children(level[is_split[level]])).size:
            order = np.concatenate([order, level])
        new_id = np.zeros(len(self), np.int32)
        new_id[order] = np.arange(len(order))
        fields = {name: getattr(self, name)[order] for name in self.__struct_fields__}
        fields |= {
            "parent": new_id[fields["parent"]],
            "column": np.where(is_split[order], fields["column"], -1).astype(np.int32),
        }
        fields["first"] = np.where(is_split[order], new_id[fields["first"]], 0).astype(np.int32)
        fields["branches"] = np.where(is_split[order], fields["branches"], 0).astype(np.int32)
        return Nodes(**fields), order

    def as_raw(self, levels: np.ndarray) -> dict[str, np.ndarray]:
        """Fields of the nodes in the core's names; `levels` [n_columns] is 0 for columns with thresholds."""
        inner, weight = self.column >= 0, self.weight
        label = self.counts.argmax(axis=1).astype(np.int32)
        return {
            "test": np.where(inner, np.where(self.rank >= 0, 1, 2), 0),
            "column": self.column, "first": self.first, "branches": self.branches,
            "label": np.where(weight > 0, label, label[self.parent]),
            "levels": np.where(inner, levels[self.column], 0).astype(np.int32),
            "missing": self.missing, "cut": self.cut, "weight": weight, "rows": self.rows, "gain": self.gain,
            "counts": self.counts,
        }  # fmt: skip

    def _joined(self, others: Nodes) -> Nodes:
        names = self.__struct_fields__
        return Nodes(**{name: np.concatenate([getattr(self, name), getattr(others, name)]) for name in names})


def best_first(nodes: Nodes, max_leaves: int) -> np.ndarray:
    """Nodes that are split under a limit on leaves, best first: those of largest known gain."""
    column, branches, first = nodes.column.tolist(), nodes.branches.tolist(), nodes.first.tolist()
    gains, selected, leaves, n_pushed = (nodes.gain * nodes.weight).tolist(), [], 1, 1
    heap = [(-gains[0], 0, 0)] if column[0] >= 0 else []
    while heap:
        node = heappop(heap)[-1]
        if leaves + branches[node] - 1 > max_leaves:
            continue
        leaves += branches[node] - 1
        selected.append(node)
        for child in range(first[node], first[node] + branches[node]):
            if column[child] >= 0:
                heappush(heap, (-gains[child], n_pushed, child))
                n_pushed += 1
    return np.array(selected, np.int64)


def _nodes_without_tests(parent: np.ndarray, depth: np.ndarray, counts: np.ndarray, multiway_ancestor: np.ndarray) -> Nodes:
    n = len(parent)
    minus_ones = {name: np.full(n, -1, np.int32) for name in ("column", "rank", "missing")}
    zero = {name: np.zeros(n, np.int32) for name in ("branches", "first")}
    numbers = {"cut": np.full(n, np.nan), "gain": np.zeros(n), "rows": np.zeros(n, np.int64)}
    numbers["is_split"] = np.zeros(n, bool)
    return Nodes(
        parent=parent, depth=depth, counts=counts, multiway_ancestor=multiway_ancestor, **minus_ones, **zero, **numbers
    )


def _replaced(array: np.ndarray, index: np.ndarray, entries: np.ndarray | bool) -> np.ndarray:
    changed = array.copy()
    changed[index] = entries
    return changed
