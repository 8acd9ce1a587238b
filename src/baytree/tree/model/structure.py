"""What a grown tree is: flat arrays, one entry per node, with the children of a node side by side.

Node 0 is the root and a child always comes after its parent, so every question about a tree is a pass over
arrays, never a recursion: a chain of a million nodes is as safe as a stump.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.model import Explanation
from baytree.summary import TreeSummary
from baytree.table.schema import Kind, Schema
from baytree.table.table import Table
from baytree.tree.model import routing as reading

if TYPE_CHECKING:
    from baytree.formula import Formula

STOP = -1  # a row without a known branch rests at the node itself
SPREAD = -2  # a row without a known branch goes down every branch, in the shares of the training rows
LEAF = -1  # the column of a node that is not split


class Surrogates(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="surrogates"):
    """Substitute tests for rows that miss a node's own column, by node and, within a node, by preference.

    A test reads like a node's: numbers below `cut` take the first branch (the second if `flipped`), levels
    take `branch_of[start + code]`, and a value that is missing too leaves the row to the next test.
    """

    node: np.ndarray  # int32 [n_tests], ascending
    column: np.ndarray  # int32 [n_tests]
    cut: np.ndarray  # float64 [n_tests], NaN where the column is nominal
    strict: np.ndarray  # bool [n_tests], x < cut instead of x <= cut
    flipped: np.ndarray  # bool [n_tests]
    start: np.ndarray  # int32 [n_tests]
    levels: np.ndarray  # int32 [n_tests], entries of branch_of that belong to the test, 0 where numeric
    branch_of: np.ndarray  # int32 [n_entries]
    agree: np.ndarray  # float64 [n_tests], share of the weight that it sends the same way
    adjusted: np.ndarray  # float64 [n_tests], the same beyond what the majority rule gives
    count: np.ndarray  # int64 [n_tests], training rows that it sent

    def __post_init__(self) -> None:
        _check_arrays(self, len(self.node), _SURROGATE_TYPES)
        _check_tests(self.column, self.cut, self.start, self.levels, self.branch_of, "surrogate")
        _require(bool(np.all(np.diff(self.node) >= 0)), "surrogates are not in the order of their nodes")
        _require(bool(np.all(self.column >= 0)), "a surrogate names no column")
        _require(bool(np.all((self.branch_of >= -1) & (self.branch_of <= 1))), "a surrogate has a third branch")

    @classmethod
    def none(cls) -> Surrogates:
        """No surrogate at all."""
        return cls(
            **{name: np.zeros(0, dtype) for name, dtype in _SURROGATE_TYPES.items()},
            branch_of=np.zeros(0, np.int32),
        )


class Tree(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="tree"):
    """A grown tree as arrays over its nodes.

    A numeric or ordinal test sends x <= cut (x < cut where `strict`) to the first child and the rest to the
    second; an ordinal value is its code. A nominal test sends code c to branch `branch_of[start + c]`, where -1
    means none. A row whose branch is not known tries the node's surrogates, then takes `missing`: a branch,
    `STOP` or `SPREAD`.
    """

    column: np.ndarray  # int32 [n_nodes], LEAF where the node is not split
    first: np.ndarray  # int32 [n_nodes], the first child, 0 at a leaf
    branches: np.ndarray  # int32 [n_nodes], the number of children
    cut: np.ndarray  # float64 [n_nodes], NaN unless the test is numeric or ordinal
    strict: np.ndarray  # bool [n_nodes]
    mirrored: np.ndarray  # bool [n_nodes], the reference calls the second child "left": for ids and printing only
    start: np.ndarray  # int32 [n_nodes]
    levels: np.ndarray  # int32 [n_nodes], entries of branch_of that belong to the node, 0 unless its test is nominal
    branch_of: np.ndarray  # int32 [n_entries]
    missing: np.ndarray  # int32 [n_nodes]
    share: np.ndarray  # float64 [n_nodes], share of the parent's known weight; 1 at the root
    rows: np.ndarray  # int64 [n_nodes], training rows, unweighted
    weight: np.ndarray  # float64 [n_nodes]
    counts: np.ndarray  # float64 [n_nodes, n_classes], weight per class; no columns in regression
    value: np.ndarray  # float64 [n_nodes, n_outputs], class probabilities, or the mean
    prediction: np.ndarray  # int32 [n_nodes], class code; 0 in regression
    impurity: np.ndarray  # float64 [n_nodes], the criterion per unit of weight
    risk: np.ndarray  # float64 [n_nodes], cost of stopping here: expected loss, or sum of squares; in units of weight
    gain: np.ndarray  # float64 [n_nodes], decrease of the criterion by the split, in units of weight; 0 at a leaf
    complexity: np.ndarray  # float64 [n_nodes], the penalty per split, over the root's risk, at which the split goes
    surrogates: Surrogates
    uses_surrogates: bool = True  # False: they only tell which columns imitate each other

    def __post_init__(self) -> None:
        _check_arrays(self, len(self.column), _NODE_TYPES)
        _require(len(self.column) > 0, "a tree has at least one node")
        _check_tests(self.column, self.cut, self.start, self.levels, self.branch_of, "node")
        _check_children(self)
        _check_branches(self)
        _check_surrogates(self)

    def __len__(self) -> int:
        return len(self.column)

    @property
    def is_leaf(self) -> np.ndarray:
        """bool [n_nodes]: the nodes that are not split."""
        return self.column < 0

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int(np.count_nonzero(self.column < 0))

    @property
    def n_classes(self) -> int:
        """The number of classes; 0 in regression."""
        return self.counts.shape[1]

    def answers(self, table: Table) -> np.ndarray:
        """The probability of each class, or the expected number, for each row: [n_rows, n_outputs]."""
        return reading.values(self, table)

    def choices(self, table: Table) -> np.ndarray:
        """The class of least expected loss for each row: [n_rows]."""
        if np.any(self.missing[self.column >= 0] == SPREAD):
            return np.argmax(reading.values(_unsmoothed(self), table), axis=1)
        return self.prediction[reading.leaves(self, table)]

    def explain(self, table: Table) -> list[Explanation]:
        """The ledger of each row: what each test on its way changed of the root's distribution."""
        return reading.explain(self, table)

    def formula(self, schema: Schema) -> Formula:
        """The tree as an expression of the raw columns."""
        from baytree.tree.formula import decision_tree

        return decision_tree(self, schema)

    def summary(self, schema: Schema) -> TreeSummary:
        """The tree as records, a node after the other."""
        from baytree.tree.view.outline import summary

        return summary(self, schema)

    def check(self, schema: Schema, by_level: tuple[Kind, ...] = (Kind.NOMINAL,)) -> None:
        """Raises an error unless every test reads a column of the schema in the way of its kind.

        `by_level` are the kinds that are split by their levels; the others are cut.
        """
        _require(self.n_classes == len(schema.classes), "its classes are not those of the target")
        for record in (self, self.surrogates):
            _check_columns(record.column, record.levels, schema, by_level)


def _unsmoothed(tree: Tree) -> Tree:
    """The tree that answers with plain shares: smoothing changes how sure an answer is, never the answer."""
    total = tree.counts.sum(axis=1, keepdims=True)
    shares = np.divide(tree.counts, total, out=tree.value.copy(), where=total > 0)
    return tree if np.array_equal(shares, tree.value) else msgspec.structs.replace(tree, value=shares)


def parents(tree: Tree) -> np.ndarray:
    """int32 [n_nodes]: the parent of every node; the root is its own."""
    inner = np.flatnonzero(tree.column >= 0)
    parent = np.zeros(len(tree), np.int32)
    children = np.repeat(tree.first[inner] - np.cumsum(tree.branches[inner]) + tree.branches[inner], tree.branches[inner])
    parent[children + np.arange(len(children))] = np.repeat(inner, tree.branches[inner])
    return parent


def depths(tree: Tree) -> np.ndarray:
    """int32 [n_nodes]: the number of tests above each node, by doubling the jumps towards the root."""
    above = parents(tree)
    depth = np.ones(len(tree), np.int32)
    depth[0] = 0
    while above.any():
        depth = depth + depth[above]
        above = above[above]
    return depth


def preorder(tree: Tree) -> Iterator[int]:
    """The nodes depth first: a node, then its first child with everything below, then the next."""
    waiting = [0]
    while waiting:
        node = waiting.pop()
        yield node
        if tree.column[node] >= 0:
            first = int(tree.first[node])
            waiting.extend(range(first + int(tree.branches[node]) - 1, first - 1, -1))


def importances(tree: Tree, n_columns: int) -> np.ndarray:
    """float64 [n_columns]: the gain of each column's tests, and the adjusted share of its surrogates, over all."""
    inner = tree.column >= 0
    total = np.bincount(tree.column[inner], weights=tree.gain[inner], minlength=n_columns)
    substitute = tree.surrogates
    total += np.bincount(substitute.column, tree.gain[substitute.node] * substitute.adjusted, n_columns)
    return total / total.sum() if total.sum() > 0 else total


def bounds(tree: Tree) -> np.ndarray:
    """int64 [n_nodes + 1]: the surrogates of node i are those from bounds[i] up to bounds[i + 1]."""
    return np.searchsorted(tree.surrogates.node, np.arange(len(tree) + 1)).astype(np.int64)


_INT32, _INT64, _FLOAT, _BOOL = (
    np.dtype(np.int32),
    np.dtype(np.int64),
    np.dtype(np.float64),
    np.dtype(np.bool_),
)
_TEST_TYPES = {"column": _INT32, "cut": _FLOAT, "strict": _BOOL, "start": _INT32, "levels": _INT32}
_SURROGATE_TYPES = {
    "node": _INT32, **_TEST_TYPES, "flipped": _BOOL, "agree": _FLOAT, "adjusted": _FLOAT, "count": _INT64,
}  # fmt: skip
_NODE_TYPES = {
    **_TEST_TYPES, "first": _INT32, "branches": _INT32, "mirrored": _BOOL, "missing": _INT32, "share": _FLOAT,
    "rows": _INT64, "weight": _FLOAT, "counts": _FLOAT, "value": _FLOAT, "prediction": _INT32,
    "impurity": _FLOAT, "risk": _FLOAT, "gain": _FLOAT, "complexity": _FLOAT,
}  # fmt: skip
_MATRICES = {"counts", "value"}


def _require(is_true: bool, fault: str) -> None:
    if not is_true:
        raise ValueError(f"not a tree: {fault}")


def _check_arrays(record: Tree | Surrogates, length: int, types: dict[str, np.dtype]) -> None:
    for name, dtype in types.items():
        array = getattr(record, name)
        _require(isinstance(array, np.ndarray) and array.dtype == dtype, f"{name} is not an array of {dtype}")
        _require(array.ndim == (2 if name in _MATRICES else 1), f"{name} has {array.ndim} axes")
        _require(len(array) == length, f"{name} has {len(array)} entries instead of {length}")
    _require(
        isinstance(record.branch_of, np.ndarray) and record.branch_of.dtype == _INT32,
        "branch_of is not int32",
    )
    _require(record.branch_of.ndim == 1, "branch_of has more than one axis")


def _check_tests(
    column: np.ndarray,
    cut: np.ndarray,
    start: np.ndarray,
    levels: np.ndarray,
    branch_of: np.ndarray,
    what: str,
) -> None:
    _require(bool(np.all(column >= LEAF)), f"a {what} has a negative column")
    _require(bool(np.all((start >= 0) & (levels >= 0))), f"a {what} has a negative place in branch_of")
    _require(bool(np.all(start.astype(np.int64) + levels <= len(branch_of))), f"a {what} reads past branch_of")
    is_cut = (column >= 0) & (levels == 0)
    _require(not bool(np.isnan(cut[is_cut]).any()), f"a {what} has neither a cut nor levels")


def _check_columns(column: np.ndarray, levels: np.ndarray, schema: Schema, by_level: tuple[Kind, ...]) -> None:
    _require(bool(np.all(column < len(schema))), "a test reads a column that is not there")
    tested = column >= 0
    expected = np.array([len(c.levels) if c.kind in by_level else 0 for c in schema] or [0])
    _require(bool(np.all(levels[tested] == expected[column[tested]])), "a test does not fit the levels of its column")
    is_text = np.array([c.kind is Kind.TEXT for c in schema] or [False])
    _require(not bool(is_text[column[tested]].any()), "a test reads a column of text")


def _check_children(tree: Tree) -> None:
    inner = np.flatnonzero(tree.column >= 0)
    first, branches = tree.first[inner].astype(np.int64), tree.branches[inner].astype(np.int64)
    _require(bool(np.all(branches >= 1)), "a split has no branch")
    _require(bool(np.all(first > inner)), "a child does not come after its parent")
    order = np.argsort(first, kind="stable")
    expected = 1 + np.concatenate([[0], np.cumsum(branches[order])])
    _require(bool(np.array_equal(first[order], expected[:-1])), "children overlap, or a node has no parent")
    _require(int(expected[-1]) == len(tree), "children do not fill the tree")


def _check_branches(tree: Tree) -> None:
    inner = np.flatnonzero(tree.column >= 0)
    branches, missing = tree.branches[inner], tree.missing[inner]
    _require(
        bool(np.all((missing >= SPREAD) & (missing < branches))),
        "missing values take a branch that is not there",
    )
    _require(bool(np.all(branches[tree.levels[inner] == 0] >= 2)), "a cut has fewer than two branches")
    _require(bool(np.all(tree.branch_of >= -1)), "a level takes a negative branch")
    nominal = inner[tree.levels[inner] > 0]
    most = [tree.branch_of[s : s + n].max() for s, n in zip(tree.start[nominal], tree.levels[nominal], strict=True)]
    _require(
        bool(np.all(np.array(most, np.int64) < tree.branches[nominal])),
        "a level takes a branch that is not there",
    )
    share = tree.share
    _require(bool(np.all((share >= 0) & (share <= 1 + 1e-9))), "a share of weight is not between 0 and 1")
    _require(tree.value.shape[1] == max(1, tree.counts.shape[1]), "values and counts have different classes")
    _require(bool(np.isfinite(tree.value).all()), "a node predicts a number that is not finite")
    _require(
        bool(np.all((tree.prediction >= 0) & (tree.prediction < tree.value.shape[1]))),
        "a node predicts no known class",
    )


def _check_surrogates(tree: Tree) -> None:
    node = tree.surrogates.node
    _require(bool(np.all((node >= 0) & (node < len(tree)))), "a surrogate belongs to no node")
    _require(bool(np.all(tree.branches[node] == 2)), "a surrogate belongs to a node without two branches")
