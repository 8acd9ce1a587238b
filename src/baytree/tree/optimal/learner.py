"""Optimal classification trees: exact search in the core for the tree of least cost, with a certificate of optimality.

There are two searches. Few tests are searched by counts of their pairs. Many thresholds are searched by bounds between
neighbouring ones, so that every threshold between two values of a column can be a test.

The cost is the proportion of misclassified weight plus a penalty per leaf; with a matrix of misclassification costs, the
mean cost of the leaves' decisions plus the penalty. Weights and costs are integers, so that sums are exact, ties are ties,
and the order of the rows does not matter. A search stopped by time returns its best tree and the bound; one stopped by
Ctrl-C raises `StoppedSearch`, which carries the tree.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple

import msgspec
import numpy as np

from baytree import _core, _warnings
from baytree.base.learner import FitResult
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.display.terminal import number
from baytree.engine.partitions import Partitions, rescale_weights
from baytree.parallel import threads
from baytree.param_validation import ClassAmounts
from baytree.tree.model.arrays import LEAF, STOP
from baytree.tree.model.builder import build
from baytree.tree.model.tree import Certificate, Tree
from baytree.tree.optimal.candidate_tests import Tests, different_tests, tests_of
from baytree.tree.optimal.search_rows import IntegerWeights, SearchRows, integer_weights, search_rows
from baytree.tree.policy.class_costs import ClassCosts, equal_costs
from baytree.tree.policy.impurity import impurity_of
from baytree.tree.policy.policy import Criterion
from baytree.tree.pruning.cost_complexity import with_complexity
from baytree.uncertainty.decision import min_expected_cost_class


class StoppedSearch(KeyboardInterrupt):
    """A search was stopped by Ctrl-C; holds the best tree so far. Other code sees an ordinary KeyboardInterrupt."""

    def __init__(self, tree: Tree) -> None:
        super().__init__("the search was stopped early")
        self.tree = tree


class OptimalTreeLearner(msgspec.Struct, frozen=True):
    """Learner of the tree of least cost."""

    task: OptimalTreeSettings

    def learn(self, rows: Partitions) -> FitResult:
        """Find the tree of these rows. All rows are gathered, because the search may examine any subset of them."""
        tree = best_tree(rescale_weights(rows).gather(), self.task, rows.n_jobs)
        if certificate_of(tree).stopped == "interrupt":
            raise StoppedSearch(tree)
        if certificate_of(tree).stopped:
            _warnings.warn(unproved(tree, f"after time_limit={self.task.seconds:g} seconds"))
        return FitResult(tree)

    def costs(self, tree: Tree, schema: Schema) -> ClassCosts:
        """Costs of misclassifications, for pruning the tree later; the classes keep their proportions."""
        loss = self.task.loss(schema)
        return msgspec.structs.replace(equal_costs(tree.n_classes), loss=loss)


def certificate_of(tree: Tree) -> Certificate:
    """Certificate of a tree from an exact search; raise an error if the tree was pruned since."""
    if not tree.certificate:
        raise ValueError(
            "this tree was pruned after its search and has no certificate; call undo() to restore the original tree"
        )
    return tree.certificate


def unproved(tree: Tree, when: str) -> str:
    """Message of a search that ended early."""
    certificate = certificate_of(tree)
    return (
        f"the search was stopped {when}: this tree costs {number(certificate.objective)}, and no tree costs less than "
        f"{number(certificate.bound)}"
    )


MAX_BYTES = 1 << 31  # of the tables of test pairs, or of the sorted rows, in a search

# Up to so many tests, in all and per row, pairs of tests are counted; more tests are searched by thresholds. Found on seven
# tables of 150 to 2,310 rows at depth 3, where both searches took the same time at about these numbers.
MAX_PAIRED_TESTS, MAX_PAIRED_TESTS_PER_ROW = 768, 2

# A search by thresholds begins with so many tests in all at depth 3, and four times as many where there are many rows, since
# it will hardly come to its end there. This takes milliseconds on small tables, less than the search itself.
FEW_TESTS, MANY_ROWS, SECONDS_OF_FEW_TESTS = 64, 4_000, 10.0

_NO_COST = 2**62


class OptimalTreeSettings(msgspec.Struct, frozen=True):
    """Settings of a search."""

    max_depth: int
    penalty: float  # per leaf, relative to the total weight
    min_leaf: float
    max_tests: int | None  # per column; None: all thresholds
    seconds: float
    costs: ClassAmounts | None = None

    def loss(self, schema: Schema) -> np.ndarray | None:
        """Cost of each misclassification, float64 [n_classes (true), n_classes (predicted)]; None if all cost 1."""
        return None if self.costs is None else np.asarray(self.costs.of(schema.classes), np.float64)


class _Search(NamedTuple):
    tests: Tests  # those that the found nodes name
    found: dict[str, Any]


def best_tree(table: Table, task: OptimalTreeSettings, n_jobs: int | None = None) -> Tree:
    """Tree of least cost, or the best one found in time; its certificate tells which."""
    weights, loss = integer_weights(table.weight), task.loss(table.schema)
    rows = search_rows(table, weights, loss, task.min_leaf)
    tests = tests_of(table, weights.units, task.max_tests, None)
    if _is_paired(len(tests.offered), table, task.max_depth):
        tests = different_tests(tests, weights.units > 0)
        search = _Search(tests, _search_pairs(table, tests, rows, task))
    else:
        search = _search_from_few(table, tests, weights, rows, task, threads.count(n_jobs))
    tree = with_complexity(_tree(table, search.tests, weights, loss, search.found))
    return msgspec.structs.replace(tree, certificate=_certificate(search.found, tree, tests, rows, task, loss))


def _is_paired(n_tests: int, table: Table, max_depth: int) -> bool:
    n_bytes = n_tests**2 * (8 * table.n_classes + 8) * max(2, max_depth)
    return n_tests <= min(MAX_PAIRED_TESTS, MAX_PAIRED_TESTS_PER_ROW * len(table)) and n_bytes <= MAX_BYTES


def _search_pairs(table: Table, tests: Tests, rows: SearchRows, task: OptimalTreeSettings) -> dict[str, Any]:
    sides = tests.sides(rows.row)
    return _core.best_tree(
        _pack_bits(sides).ravel(), len(sides), is_given_up=threads.is_cancelled, **_limits(table, rows, task)
    )


def _search_from_few(
    table: Table, tests: Tests, weights: IntegerWeights, rows: SearchRows, task: OptimalTreeSettings, n_threads: int
) -> _Search:
    """Search over thresholds; of deep trees first over a few: for an upper bound, and a good tree if time runs out."""
    started, few = perf_counter(), _search_few(table, weights, rows, task) if task.max_depth > 2 else None
    if few is None:
        return _Search(tests, _search_thresholds(table, tests, rows, task, _NO_COST, n_threads))
    is_interrupted = few.found["is_interrupted"]
    seconds = 0.0 if is_interrupted else max(0.0, task.seconds - (perf_counter() - started))
    rest = msgspec.structs.replace(task, seconds=seconds)
    found = _search_thresholds(table, tests, rows, rest, few.found["cost"], n_threads)
    found["is_interrupted"] |= is_interrupted
    if found["cost"] < few.found["cost"]:
        return _Search(tests, found)
    return _Search(few.tests, found | {name: few.found[name] for name in ("test", "low", "high")})


def _search_few(table: Table, weights: IntegerWeights, rows: SearchRows, task: OptimalTreeSettings) -> _Search | None:
    n_tests = (FEW_TESTS if len(table) < MANY_ROWS else 4 * FEW_TESTS) ** (3 / task.max_depth)
    maximum = max(1, int(n_tests / len(table.schema)))
    tests = different_tests(tests_of(table, weights.units, task.max_tests, maximum), weights.units > 0)
    if not _is_paired(len(tests.offered), table, task.max_depth):
        return None
    seconds = min(task.seconds / 4, SECONDS_OF_FEW_TESTS)
    return _Search(tests, _search_pairs(table, tests, rows, msgspec.structs.replace(task, seconds=seconds)))


def _search_thresholds(
    table: Table, tests: Tests, rows: SearchRows, task: OptimalTreeSettings, known_cost: int, n_threads: int
) -> dict[str, Any]:
    ranks = np.ascontiguousarray(tests.ranks[:, rows.row])
    if (n_bytes := 8 * ranks.size * (1 + n_threads * max(1, task.max_depth - 2))) > MAX_BYTES:
        raise ValueError(
            f"{len(table):,} rows of {len(ranks):,} columns need {n_bytes / 2**30:.1f} GB for the rows in each order, "
            f"more than the limit of {MAX_BYTES / 2**30:.2g} GB; reduce max_depth, n_jobs or the number of rows"
        )
    limits = _limits(table, rows, task)
    return _core.best_threshold_tree(
        ranks, known_cost=known_cost, threads=n_threads, is_given_up=threads.is_cancelled, **limits
    )


def _limits(table: Table, rows: SearchRows, task: OptimalTreeSettings) -> dict[str, Any]:
    """Arguments of both searches: labels, weights, costs and limits."""
    return {
        "label": rows.decision,
        "weight": rows.units,
        "classes": table.n_classes,
        "mistake": rows.mistake,
        "leaf": rows.leaf(task.penalty),
        "least": rows.least,
        "max_depth": task.max_depth,
        "seconds": task.seconds,
    }


def _pack_bits(bits: np.ndarray) -> np.ndarray:
    """Bits packed into uint64 [n_tests, ⌈n_rows / 64⌉]: 64 rows per word, the first in the lowest bit."""
    packed = np.packbits(bits, axis=1, bitorder="little")
    padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return np.ascontiguousarray(padded).view("<u8").astype(np.uint64)


def _certificate(
    found: dict[str, Any],
    tree: Tree,
    tests: Tests,
    rows: SearchRows,
    task: OptimalTreeSettings,
    loss: np.ndarray | None,
) -> Certificate:
    """Certificate with costs relative to the total weight, without the tie-breaking unit per leaf of the search."""
    mean_cost = float(tree.risk[tree.is_leaf].sum() / tree.weight[0])
    objective, is_optimal = mean_cost + task.penalty * tree.n_leaves, found["lower"] >= found["cost"]
    bound = objective if is_optimal else min(objective, max(0.0, rows.mean_cost(found["lower"])))
    stopped = "interrupt" if found["is_interrupted"] else "time" if found["is_late"] else ""
    return Certificate(
        objective=objective,
        bound=bound,
        penalty=task.penalty,
        max_depth=task.max_depth,
        min_leaf=task.min_leaf,
        searched=found["searched"],
        stopped="" if is_optimal else stopped,
        offered=tests.offered,
        costs=msgspec.UNSET if loss is None else loss,
    )


class _Nodes:
    """Nodes from the root on, children side by side: test (−1 at a leaf), first child and rows of each."""

    def __init__(self, found: dict[str, Any], tests: Tests, table: Table) -> None:
        test, below = found["test"].tolist(), list(zip(found["low"].tolist(), found["high"].tolist(), strict=True))
        shapes = [len(test) - 1]  # indices in the core's list, whose last entry is the root; −1 is a leaf
        self.rows, self.test, self.first = [np.arange(len(table))], [], []
        for node, shape in enumerate(shapes):  # the list grows during iteration
            self.test.append(test[shape] if shape >= 0 else -1)
            self.first.append(len(shapes) if shape >= 0 else 0)
            if shape >= 0:
                node_rows = self.rows[node]
                goes_second = tests.takes_second(test[shape], table)[node_rows]
                self.rows += [node_rows[~goes_second], node_rows[goes_second]]
                shapes += below[shape]


def _tree(table: Table, tests: Tests, weights: IntegerWeights, loss: np.ndarray | None, found: dict[str, Any]) -> Tree:
    nodes, offered = _Nodes(found, tests, table), tests.offered
    test, first = np.array(nodes.test), np.array(nodes.first, np.int32)
    is_leaf = test < 0
    counts = np.array([np.bincount(table.label[rows], table.weight[rows], table.n_classes) for rows in nodes.rows])
    weight = counts.sum(axis=1)
    if loss is None:
        units = np.array([np.bincount(table.label[rows], weights.units[rows], table.n_classes) for rows in nodes.rows])
        prediction = units.argmax(axis=1)
        risk = weight - counts[np.arange(len(test)), prediction]
    else:
        prediction = min_expected_cost_class(counts / weight[:, None], loss)
        risk = np.einsum("nk,kn->n", counts, loss[:, prediction])
    # with the error rate, splits that later splits build on would have no gain
    impurity = impurity_of(counts, Criterion.GINI)
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
        risk=risk,
        gain=_gains(first, is_leaf, impurity * weight),
    )


def _values_of_test(values: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Value of each node's test; arbitrary at leaves."""
    return np.append(values, 0)[test]


def _gains(first: np.ndarray, is_leaf: np.ndarray, impurity: np.ndarray) -> np.ndarray:
    """Decrease of impurity by each split, float64 [n_nodes]; 0 at a leaf."""
    padded = np.append(impurity, 0.0)
    return np.where(is_leaf, 0.0, np.maximum(impurity - padded[first] - padded[first + 1], 0.0))
