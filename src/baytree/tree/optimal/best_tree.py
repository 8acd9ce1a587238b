"""The tree of least cost over offered tests, from the core's exact search, as an ordinary tree with its certificate."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from baytree import _core
from baytree.engine import threads
from baytree.table.table import Table
from baytree.tree.grow.impurity import impurity_of
from baytree.tree.grow.policy import Criterion
from baytree.tree.model.build import build
from baytree.tree.model.places import LEAF, STOP
from baytree.tree.model.structure import Certificate, Tree
from baytree.tree.optimal.offered import Tests, tests_of
from baytree.tree.optimal.whole_weights import Weights, whole_weights
from baytree.tree.prune.cost_complexity import with_complexity

MOST_BYTES = 1 << 31  # of the tables of pairs that a search keeps


class Task(msgspec.Struct, frozen=True):
    """What is asked of a search."""

    max_depth: int
    penalty: float  # for a leaf, as a share of all weight
    min_leaf: float
    max_tests: int  # of a column
    seconds: float


def best_tree(table: Table, task: Task) -> Tree:
    """The tree of least cost, or the best one that was found in time: its certificate tells which."""
    weights = whole_weights(table)
    tests = tests_of(table, weights.units, task.max_tests)
    _refuse_too_many(len(tests.offered), table.n_classes, task.max_depth)
    found = _searched(table, tests, weights, task)
    tree = with_complexity(_tree(table, tests, weights, found))
    return msgspec.structs.replace(tree, certificate=_certificate(found, tree, tests, weights, task))


def _refuse_too_many(n_tests: int, n_classes: int, max_depth: int) -> None:
    needed = n_tests**2 * (8 * n_classes + 8) * max(2, max_depth)
    if needed > MOST_BYTES:
        raise ValueError(
            f"{n_tests:,} tests of {n_classes} classes need {needed / 2**30:.1f} GB for their pairs, which is more than "
            f"{MOST_BYTES / 2**30:.2g} GB; give a lower max_tests, or fewer columns"
        )


def _searched(table: Table, tests: Tests, weights: Weights, task: Task) -> dict[str, Any]:
    is_there = weights.units > 0
    sides = tests.is_second if is_there.all() else tests.is_second[:, is_there]
    return _core.best_tree(
        _words(sides).ravel(),
        len(sides),
        np.ascontiguousarray(table.label[is_there], np.int32),
        weights.units[is_there],
        table.n_classes,
        weights.mistake,
        weights.leaf(task.penalty),
        weights.least(task.min_leaf),
        task.max_depth,
        task.seconds,
        threads.is_given_up,
    )


def _words(bits: np.ndarray) -> np.ndarray:
    """uint64 [n_tests, ⌈n_rows / 64⌉]: 64 rows in a word, the first in its lowest bit."""
    packed = np.packbits(bits, axis=1, bitorder="little")
    padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return np.ascontiguousarray(padded).view("<u8").astype(np.uint64)


def _certificate(found: dict[str, Any], tree: Tree, tests: Tests, weights: Weights, task: Task) -> Certificate:
    """Costs in shares of all weight; the trifle that a leaf costs more in the search is left out of them."""
    wrong = float(tree.risk[tree.is_leaf].sum() / tree.weight[0])
    objective, is_whole = wrong + task.penalty * tree.n_leaves, found["lower"] >= found["cost"]
    bound = objective if is_whole else min(objective, max(0.0, found["lower"] / (weights.mistake * weights.total)))
    stopped = "interrupt" if found["is_interrupted"] else "time" if found["is_late"] else ""
    return Certificate(
        objective=objective,
        bound=bound,
        penalty=task.penalty,
        max_depth=task.max_depth,
        min_leaf=task.min_leaf,
        searched=found["searched"],
        stopped="" if is_whole else stopped,
        offered=tests.offered,
    )


class _Nodes:
    """Nodes from the root on, children side by side: the test of each, -1 at a leaf, its first child and its rows."""

    def __init__(self, found: dict[str, Any], is_second: np.ndarray) -> None:
        test, below = found["test"].tolist(), list(zip(found["low"].tolist(), found["high"].tolist(), strict=True))
        shapes = [len(test) - 1]  # places in the core's list, whose last is the root; -1 is a leaf
        self.rows, self.test, self.first = [np.arange(is_second.shape[1])], [], []
        for node, shape in enumerate(shapes):  # grows on the way
            self.test.append(test[shape] if shape >= 0 else -1)
            self.first.append(len(shapes) if shape >= 0 else 0)
            if shape >= 0:
                here = self.rows[node]
                goes_second = is_second[test[shape], here]
                self.rows += [here[~goes_second], here[goes_second]]
                shapes += below[shape]


def _tree(table: Table, tests: Tests, weights: Weights, found: dict[str, Any]) -> Tree:
    nodes, offered = _Nodes(found, tests.is_second), tests.offered
    test, first = np.array(nodes.test), np.array(nodes.first, np.int32)
    is_leaf = test < 0
    counts = np.array([np.bincount(table.label[rows], table.weight[rows], table.n_classes) for rows in nodes.rows])
    in_units = np.array([np.bincount(table.label[rows], weights.units[rows], table.n_classes) for rows in nodes.rows])
    weight, prediction = counts.sum(axis=1), in_units.argmax(axis=1)
    impurity = impurity_of(counts, Criterion.GINI)  # mistakes alone would leave splits without a gain that others build on
    entries = [offered.branch_of[offered.start[t] : offered.start[t] + offered.levels[t]] for t in nodes.test if t >= 0]
    return build(
        column=np.where(is_leaf, LEAF, _of(offered.column, test)).astype(np.int32),
        first=first,
        branches=np.where(is_leaf, 0, 2).astype(np.int32),
        cut=np.where(is_leaf, np.nan, _of(offered.cut, test)),
        levels=np.where(is_leaf, 0, _of(offered.levels, test)).astype(np.int32),
        branch_of=np.concatenate([np.zeros(0, np.int32), *entries]),
        missing=np.where(is_leaf, STOP, _of(offered.missing, test)).astype(np.int32),
        rows=np.array([len(rows) for rows in nodes.rows], np.int64),
        weight=weight,
        counts=counts,
        value=counts / weight[:, None],
        prediction=prediction.astype(np.int32),
        impurity=impurity,
        risk=weight - counts[np.arange(len(test)), prediction],
        gain=_gains(first, is_leaf, impurity * weight),
    )


def _of(values: np.ndarray, test: np.ndarray) -> np.ndarray:
    """The value of each node's test; of leaves whatever stands last."""
    return np.append(values, 0)[test]


def _gains(first: np.ndarray, is_leaf: np.ndarray, impurity: np.ndarray) -> np.ndarray:
    """float64 [n_nodes]: what each split takes of the impurity of its node; 0 at a leaf."""
    below = np.append(impurity, 0.0)
    return np.where(is_leaf, 0.0, np.maximum(impurity - below[first] - below[first + 1], 0.0))
