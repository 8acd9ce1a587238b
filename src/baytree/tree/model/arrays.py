"""Validation of the arrays of a tree, so that a damaged file is rejected before anything reads it.

Also the dtypes of the arrays, and the negative codes `LEAF`, `STOP` and `SPREAD` of columns and branches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baytree import _core
from baytree.data.schema.column import Column, Kind
from baytree.data.schema.schema import Schema

if TYPE_CHECKING:
    from baytree.tree.model.linear_combinations import LinearCombinations
    from baytree.tree.model.tree import (
        Averaging,
        CandidateTests,
        Certificate,
        ExtraThresholds,
        Significance,
        Surrogates,
        Tree,
    )

_INT32, _INT64, _FLOAT, _BOOL = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.bool_)

_TEST_TYPES = {"column": _INT32, "cut": _FLOAT, "strict": _BOOL, "start": _INT32, "levels": _INT32}

SURROGATE_TYPES = {
    "node": _INT32, **_TEST_TYPES, "flipped": _BOOL, "agree": _FLOAT, "adjusted": _FLOAT, "count": _INT64,
}  # fmt: skip

OFFERED_TYPES = {"column": _INT32, "cut": _FLOAT, "start": _INT32, "levels": _INT32, "missing": _INT32}

NODE_TYPES = {
    **_TEST_TYPES, "first": _INT32, "branches": _INT32, "mirrored": _BOOL, "missing": _INT32, "share": _FLOAT,
    "rows": _INT64, "weight": _FLOAT, "counts": _FLOAT, "value": _FLOAT, "prediction": _INT32,
    "impurity": _FLOAT, "risk": _FLOAT, "gain": _FLOAT, "complexity": _FLOAT,
}  # fmt: skip

CUT_TYPES = {"cut": _FLOAT}

SUM_TYPES = {"place": _INT32, "column": _INT32, "weight": _FLOAT}

AVERAGING_TYPES = {"kept": _FLOAT}

SIGNIFICANCE_TYPES = {"log_p": _FLOAT, "log_multiplier": _FLOAT, "saw_missing": _BOOL}

_MATRICES = {"counts", "value"}


def check_tree(tree: Tree) -> None:
    """Raise an error if an array has a wrong dtype or length, or a node leads to no node of the tree."""
    _check_arrays(tree, len(tree.column), NODE_TYPES)
    _require(len(tree.column) > 0, "a tree has at least one node")
    _check_map(tree)
    _require(tree.value.shape[1] == max(1, tree.counts.shape[1]), "values and counts have different numbers of classes")
    _check_nodes(tree)
    _check_more_cuts(tree)
    for record in (tree.surrogates, tree.more_cuts, tree.significance, tree.averaging):
        if record:
            _require(bool(((record.node >= 0) & (record.node < len(tree))).all()), "an entry belongs to no node")
    _require(bool((tree.branches[tree.surrogates.node] == 2).all()), "a surrogate belongs to a node that is not binary")


def check_surrogates(tests: Surrogates) -> None:
    """Raise an error if an array has a wrong dtype or length, or a surrogate is malformed."""
    _check_arrays(tests, len(tests.node), SURROGATE_TYPES)
    _check_map(tests)
    _check_tests(tests, "surrogate")
    _require(bool((np.diff(tests.node) >= 0).all()), "surrogates are not sorted by node")
    _require(bool((tests.column >= 0).all()), "a surrogate has no column")
    _require(bool(((tests.branch_of >= -1) & (tests.branch_of <= 1)).all()), "a surrogate has a third branch")


def check_offered(tests: CandidateTests) -> None:
    """Raise an error if an array has a wrong dtype or length, or a candidate test is malformed."""
    _check_arrays(tests, len(tests.column), OFFERED_TYPES)
    _check_map(tests)
    _check_tests(tests, "test")
    _require(bool((tests.column >= 0).all()), "a test has no column")
    _require(bool(((tests.missing == 0) | (tests.missing == 1)).all()), "a test has no branch for missing values")
    _require(bool(((tests.branch_of >= -1) & (tests.branch_of <= 1)).all()), "a test has a third branch")


def check_certificate(certificate: Certificate) -> None:
    """Raise an error if the cost or the bound of a certificate is impossible."""
    numbers = (certificate.objective, certificate.bound, certificate.penalty, certificate.min_leaf)
    _require(all(np.isfinite(number) and number >= 0 for number in numbers), "a certificate contains an invalid cost")
    _require(certificate.bound <= certificate.objective, "the cost of the tree is below its lower bound")
    _require(certificate.stopped in ("", "time", "interrupt"), "the reason why the search stopped is unknown")
    _require(certificate.max_depth >= 0 and certificate.searched >= 0, "a certificate contains a negative number")
    if isinstance(costs := certificate.costs, np.ndarray):
        _require(costs.dtype == np.float64 and costs.ndim == 2, "the costs of a certificate are not a matrix of numbers")
        _require(bool(np.isfinite(costs).all() and (costs >= 0).all()), "a certificate contains an invalid cost")


def check_sums(sums: LinearCombinations) -> None:
    """Raise an error unless each combination has two or more columns of the table, each once, with a finite non-zero
    weight.
    """
    _check_arrays(sums, len(sums.place), SUM_TYPES)
    rise = np.diff(sums.place.astype(np.int64), prepend=-1)
    _require(len(sums.place) > 0 and bool((rise >= 0).all()), "terms are not sorted by linear combination")
    # counts are taken below, where indices are less than the number of terms
    is_without_terms = sums.place[0] < 0 or bool((rise > 1).any())
    _require(
        not is_without_terms and bool((np.bincount(sums.place) >= 2).all()),
        "a linear combination has fewer than two columns",
    )
    _require(bool(((sums.column >= 0) & (sums.column < sums.n_columns)).all()), "a linear combination has an unknown column")
    rises = (np.diff(sums.column) > 0) | (np.diff(sums.place) > 0)
    _require(bool(rises.all()), "a linear combination has a column twice")
    _require(
        bool((np.isfinite(sums.weight) & (sums.weight != 0)).all()),
        "a linear combination has a weight that is zero or not finite",
    )


def check_entries(record: ExtraThresholds | Significance | Averaging, types: dict[str, np.dtype]) -> None:
    """Raise an error if the entries of nodes have a wrong dtype or length, or are not ordered by node."""
    _check_arrays(record, len(record.node), {"node": _INT32, **types})
    _require(bool((np.diff(record.node) >= 0).all()), "entries are not sorted by node")
    for name in types:
        _require(not bool(np.isnan(getattr(record, name)).any()), f"{name} is not a number")


def check_schema(tree: Tree, schema: Schema) -> None:
    """Raise an error unless every test suits the kind of its column in the schema."""
    _require(tree.n_classes == len(schema.classes), "its classes do not match the target")
    offered = (tree.certificate.offered,) if tree.certificate else ()
    for record in (tree.surrogates, *offered):
        _check_columns(record.column, record.levels, schema)
    is_plain = np.ones(len(tree), np.bool_)
    if tree.sums:
        is_plain = tree.column < tree.sums.n_columns
        _check_sums_of(tree.sums, schema)
        _require(bool((tree.column < len(schema) + len(tree.sums)).all()), "a test reads an unknown linear combination")
        _require(not bool(tree.levels[~is_plain].any()), "a linear combination has levels")
    _check_columns(tree.column[is_plain], tree.levels[is_plain], schema)


def _require(is_true: bool, fault: str) -> None:
    if not is_true:
        raise ValueError(f"not a tree: {fault}")


def _check_arrays(
    record: Tree | Surrogates | ExtraThresholds | Significance | Averaging | CandidateTests | LinearCombinations,
    length: int,
    types: dict[str, np.dtype],
) -> None:
    for name, dtype in types.items():
        array, n_axes = getattr(record, name), 2 if name in _MATRICES else 1
        if not (isinstance(array, np.ndarray) and array.dtype == dtype):
            raise ValueError(f"not a tree: {name} is not an array of {dtype}")
        if array.ndim != n_axes or len(array) != length:  # formatting is slower than the check, so format on failure only
            _require(array.ndim == n_axes, f"{name} has {array.ndim} axes")
            raise ValueError(f"not a tree: {name} has {len(array)} entries instead of {length}")


def _check_map(record: Tree | Surrogates | CandidateTests) -> None:
    is_int32 = isinstance(record.branch_of, np.ndarray) and record.branch_of.dtype == _INT32
    _require(is_int32, "branch_of is not int32")
    _require(record.branch_of.ndim == 1, "branch_of has more than one axis")


def _check_tests(record: Tree | Surrogates | CandidateTests, what: str) -> None:
    column, start, levels = record.column, record.start, record.levels
    _require(bool((column >= LEAF).all()), f"a {what} has a negative column")
    _require(bool(((start >= 0) & (levels >= 0)).all()), f"a {what} has a negative index into branch_of")
    _require(bool((start.astype(np.int64) + levels <= len(record.branch_of)).all()), f"a {what} reads past branch_of")
    is_cut = (column >= 0) & (levels == 0)
    _require(not bool(np.isnan(record.cut[is_cut]).any()), f"a {what} has neither a threshold nor levels")


def _check_columns(column: np.ndarray, levels: np.ndarray, schema: Schema) -> None:
    """Numeric columns have thresholds, ordinal ones thresholds or levels, nominal ones levels, text columns no tests."""
    _require(bool((column < len(schema)).all()), "a test reads an unknown column")
    tested, used_levels = column[column >= 0], levels[column >= 0]
    n_levels = np.array([len(c.levels) for c in schema] or [0])
    _require(
        bool(((used_levels == 0) | (used_levels == n_levels[tested])).all()), "a test does not fit the levels of its column"
    )
    for name, is_by_level in (("number", used_levels > 0), ("name", used_levels == 0)):
        kind = Kind.NUMERIC if name == "number" else Kind.NOMINAL
        _require(
            not bool((_is_kind(schema, kind)[tested] & is_by_level).any()), "a test does not fit the levels of its column"
        )
    _require(not bool(_is_kind(schema, Kind.TEXT)[tested].any()), "a test reads a text column")


def _check_sums_of(sums: LinearCombinations, schema: Schema) -> None:
    _require(sums.n_columns == len(schema), "its linear combinations belong to another table")
    _require(
        bool(_is_kind(schema, Kind.NUMERIC)[sums.column].all()), "a linear combination has a column that is not numeric"
    )


def _is_kind(schema: Schema, kind: Kind) -> np.ndarray:
    columns: tuple[Column, ...] = schema.columns
    return np.array([column.kind is kind for column in columns] or [False])


# faults that the core reports, in the order in which it checks
_FAULTS = (
    "", "a node has a negative column", "a node has a negative index into branch_of", "a node reads past branch_of",
    "a node has neither a threshold nor levels", "a split has no branch", "a child does not come after its parent",
    "children overlap, or a node has no parent", "some nodes are not children of any node",
    "missing values take an unknown branch", "a threshold has fewer than two branches", "a level takes a negative branch",
    "a level takes an unknown branch", "a proportion of weight is not between 0 and 1",
    "a node predicts a number that is not finite", "a node predicts an unknown class",
)  # fmt: skip


def _check_nodes(tree: Tree) -> None:
    fault = _core.tree_fault(
        tree.column, tree.cut, tree.start, tree.levels, tree.branch_of, tree.first, tree.branches, tree.missing, tree.share,
        tree.value, tree.prediction,
    )  # fmt: skip
    _require(not fault, _FAULTS[fault])


def _check_more_cuts(tree: Tree) -> None:
    """Check that the thresholds of a node ascend, the last below infinity, and make no more branches than it has."""
    node, cut = tree.more_cuts.node, tree.more_cuts.cut
    if not len(node):
        return
    _require(bool(((node >= 0) & (node < len(tree))).all()), "a threshold belongs to no node")
    is_plain = (tree.column[node] >= 0) & (tree.levels[node] == 0) & ~tree.strict[node]
    _require(bool(is_plain.all()), "several thresholds belong to a test without thresholds")
    previous = np.where(np.diff(node, prepend=-1) > 0, tree.cut[node], np.roll(cut, 1))
    _require(bool((previous < cut).all()), "the thresholds of a node are not increasing")
    n_branches = np.bincount(node, minlength=len(tree))[node] + 2
    _require(bool((n_branches <= tree.branches[node]).all()), "a node has too few branches for its thresholds")


STOP = -1  # a row whose branch is unknown stops at the node itself

SPREAD = -2  # a row whose branch is unknown follows every branch, weighted by the proportions of the training rows

LEAF = -1  # the column of a node that is not split
