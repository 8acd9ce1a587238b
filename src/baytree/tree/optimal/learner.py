"""The learner of best possible trees, and what it hands over where Ctrl-C ends its search.

The tree of least cost over offered tests, from the core's exact search, as an ordinary tree with its certificate.

Weights and costs as whole numbers, so that sums are exact, ties are ties, and their order does not matter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
import numpy as np

from baytree import _core, _warnings
from baytree.base.learner import FitResult
from baytree.data.encoding.table import Table
from baytree.display.terminal import number
from baytree.engine.partitions import Partitions, rescale_weights
from baytree.parallel import threads
from baytree.tree.model.arrays import LEAF, STOP
from baytree.tree.model.builder import build
from baytree.tree.model.tree import Certificate, Tree
from baytree.tree.optimal.candidate_tests import Tests, tests_of
from baytree.tree.policy.impurity import impurity_of
from baytree.tree.policy.policy import Criterion
from baytree.tree.pruning.cost_complexity import with_complexity


class StoppedSearch(KeyboardInterrupt):
    """Ctrl-C ended a search; the best tree until then is in it. To others it is an interrupt like any other."""

    def __init__(self, tree: Tree) -> None:
        super().__init__("the search was stopped before its end")
        self.tree = tree


class OptimalTreeLearner(msgspec.Struct, frozen=True):
    """The tree of least cost."""

    task: OptimalTreeSettings

    def learn(self, rows: Partitions) -> FitResult:
        """The tree of these rows, which are all brought here: every set of them may be looked at."""
        tree = best_tree(rescale_weights(rows).gather(), self.task)
        if certificate_of(tree).stopped == "interrupt":
            raise StoppedSearch(tree)
        if certificate_of(tree).stopped:
            _warnings.warn(unproved(tree, f"after time_limit={self.task.seconds:g} seconds"))
        return FitResult(tree)


def certificate_of(tree: Tree) -> Certificate:
    """What is known of a tree that was searched for."""
    if not tree.certificate:
        raise ValueError("this tree was pruned after its search, so nothing is known of better ones; see undo()")
    return tree.certificate


def unproved(tree: Tree, when: str) -> str:
    """The sentence about a search that did not come to its end."""
    told = certificate_of(tree)
    return (
        f"the search was stopped {when}: this tree costs {number(told.objective)}, and no tree costs less than "
        f"{number(told.bound)}"
    )


MOST_BYTES = 1 << 31  # of the tables of pairs that a search keeps


class OptimalTreeSettings(msgspec.Struct, frozen=True):
    """What is asked of a search."""

    max_depth: int
    penalty: float  # for a leaf, as a share of all weight
    min_leaf: float
    max_tests: int  # of a column
    seconds: float


def best_tree(table: Table, task: OptimalTreeSettings) -> Tree:
    """The tree of least cost, or the best one that was found in time: its certificate tells which."""
    weights = integer_weights(table)
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


def _searched(table: Table, tests: Tests, weights: IntegerWeights, task: OptimalTreeSettings) -> dict[str, Any]:
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
        threads.is_cancelled,
    )


def _words(bits: np.ndarray) -> np.ndarray:
    """uint64 [n_tests, ⌈n_rows / 64⌉]: 64 rows in a word, the first in its lowest bit."""
    packed = np.packbits(bits, axis=1, bitorder="little")
    padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return np.ascontiguousarray(padded).view("<u8").astype(np.uint64)


def _certificate(
    found: dict[str, Any], tree: Tree, tests: Tests, weights: IntegerWeights, task: OptimalTreeSettings
) -> Certificate:
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


def _tree(table: Table, tests: Tests, weights: IntegerWeights, found: dict[str, Any]) -> Tree:
    nodes, offered = _Nodes(found, tests.is_second), tests.offered
    test, first = np.array(nodes.test), np.array(nodes.first, np.int32)
    is_leaf = test < 0
    counts = np.array([np.bincount(table.label[rows], table.weight[rows], table.n_classes) for rows in nodes.rows])
    in_units = np.array([np.bincount(table.label[rows], weights.units[rows], table.n_classes) for rows in nodes.rows])
    weight, prediction = counts.sum(axis=1), in_units.argmax(axis=1)
    impurity = impurity_of(counts, Criterion.GINI)  # mistakes alone would leave splits without a gain that others build on
    entries = [offered.branch_of[offered.start[t] : offered.start[t] + offered.levels[t]] for t in nodes.test if t >= 0]
    return build(
        column=np.where(is_leaf, LEAF, _values_of_test(offered.column, test)).astype(np.int32),
        first=first,
        branches=np.where(is_leaf, 0, 2).astype(np.int32),
        cut=np.where(is_leaf, np.nan, _values_of_test(offered.cut, test)),
        levels=np.where(is_leaf, 0, _values_of_test(offered.levels, test)).astype(np.int32),
        branch_of=np.concatenate([np.zeros(0, np.int32), *entries]),
        missing=np.where(is_leaf, STOP, _values_of_test(offered.missing, test)).astype(np.int32),
        rows=np.array([len(rows) for rows in nodes.rows], np.int64),
        weight=weight,
        counts=counts,
        value=counts / weight[:, None],
        prediction=prediction.astype(np.int32),
        impurity=impurity,
        risk=weight - counts[np.arange(len(test)), prediction],
        gain=_gains(first, is_leaf, impurity * weight),
    )


def _values_of_test(values: np.ndarray, test: np.ndarray) -> np.ndarray:
    """The value of each node's test; of leaves whatever stands last."""
    return np.append(values, 0)[test]


def _gains(first: np.ndarray, is_leaf: np.ndarray, impurity: np.ndarray) -> np.ndarray:
    """float64 [n_nodes]: what each split takes of the impurity of its node; 0 at a leaf."""
    below = np.append(impurity, 0.0)
    return np.where(is_leaf, 0.0, np.maximum(impurity - below[first] - below[first + 1], 0.0))


_WHOLE = 2.0**50  # up to here weights may add up as they are

_FINE = 2.0**52  # other weights are read in this part of their sum

_MOST_COST = 56  # bits of the cost of getting every row wrong


class IntegerWeights(NamedTuple):
    """The weights of rows in units of their own."""

    units: np.ndarray  # int64 [n_rows]
    total: int
    per_weight: float  # units in a weight of 1

    @property
    def mistake(self) -> int:
        """What getting one unit wrong costs."""
        return 1 << (_MOST_COST - self.total.bit_length())

    def leaf(self, penalty: float) -> int:
        """What a leaf costs: the penalty, a share of all weight, and so little more that of equals the smaller tree wins."""
        return round(penalty * self.total * self.mistake) + 1

    def least(self, min_leaf: float) -> int:
        """The fewest units of a leaf."""
        return int(min(max(1.0, np.ceil(min_leaf * self.per_weight * (1 - 1e-12))), self.total + 1.0))


def integer_weights(table: Table) -> IntegerWeights:
    """Weights as they are where they are whole, or in units of the least where that divides them; else finely rounded."""
    weight = np.asarray(table.weight, np.float64)
    total, least = float(weight.sum()), float(weight[weight > 0].min(initial=np.inf))
    for unit in (1.0, least):
        in_units = weight / unit
        whole = np.rint(in_units)
        if total / unit <= _WHOLE and np.all(np.abs(in_units - whole) <= 1e-12 * whole):
            return _integer_weights_of(whole.astype(np.int64), 1 / unit)
    return _integer_weights_of(np.rint(weight / total * _FINE).astype(np.int64), _FINE / total)


def _integer_weights_of(units: np.ndarray, per_weight: float) -> IntegerWeights:
    return IntegerWeights(units, int(units.sum()), per_weight)
