"""What a grown tree is: flat arrays, one entry per node, with the children of a node side by side.

Node 0 is the root and a child always comes after its parent, so every question about a tree is a pass over
arrays, never a recursion: a chain of a million nodes is as safe as a stump.

A tree whose size is counted as C5.0 counts it.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.base.model import Explanation
from baytree.data.encoding.table import Table
from baytree.data.schema.schema import Schema
from baytree.tree.model import arrays, traversal
from baytree.tree.model import routing as reading
from baytree.tree.model.arrays import SPREAD
from baytree.tree.model.linear_combinations import LinearCombinations

if TYPE_CHECKING:
    from baytree import _core
    from baytree.formula import Formula
    from baytree.summary.tree import TreeSummary

LEAST_LOG = -1e300  # log of p = 0, for groups that leave no variance at all


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
        arrays.check_surrogates(self)

    @classmethod
    @cache  # most trees have none, and to check that anew takes longer than to grow a small one
    def none(cls) -> Surrogates:
        """No surrogate at all."""
        return cls(
            **{name: np.zeros(0, dtype) for name, dtype in arrays.SURROGATE_TYPES.items()},
            branch_of=np.zeros(0, np.int32),
        )


class ExtraThresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="more_cuts"):
    """The thresholds after the first of tests that have several, by node and ascending."""

    node: np.ndarray  # int32 [n_cuts], ascending
    cut: np.ndarray  # float64 [n_cuts]

    def __post_init__(self) -> None:
        arrays.check_entries(self, arrays.CUT_TYPES)

    @classmethod
    @cache
    def none(cls) -> ExtraThresholds:
        """No test has more than one threshold."""
        return cls(np.zeros(0, np.int32), np.zeros(0))


class Significance(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="significance"):
    """How significant splits are whose levels were merged, in natural logarithms."""

    node: np.ndarray  # int32 [n_splits], ascending
    log_p: np.ndarray  # float64 [n_splits], that the groups do not differ
    log_multiplier: np.ndarray  # float64 [n_splits], Bonferroni's: in how many ways the groups could have been formed
    saw_missing: np.ndarray  # bool [n_splits], missing values were a group or part of one

    def __post_init__(self) -> None:
        arrays.check_entries(self, arrays.SIGNIFICANCE_TYPES)

    @property
    def log_adjusted(self) -> np.ndarray:
        """float64 [n_splits]: log of p times the multiplier, not cut at 1; p = 1 stays 1."""
        return np.where(self.log_p < 0, np.maximum(self.log_p + self.log_multiplier, LEAST_LOG), 0.0)


class Averaging(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="averaging"):
    """How probable splits are in a tree that answers with the average of all its prunings."""

    node: np.ndarray  # int32 [n_splits], ascending
    kept: np.ndarray  # float64 [n_splits], of the prunings that reach the node, the share by weight that splits it

    def __post_init__(self) -> None:
        arrays.check_entries(self, arrays.AVERAGING_TYPES)


class CandidateTests(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="offered"):
    """The tests that an exact search could choose from, in the order in which they win ties; they read like a node's."""

    column: np.ndarray  # int32 [n_tests]
    cut: np.ndarray  # float64 [n_tests], NaN where the test is by levels
    start: np.ndarray  # int32 [n_tests]
    levels: np.ndarray  # int32 [n_tests], entries of branch_of that belong to the test, 0 where it is a cut
    branch_of: np.ndarray  # int32 [n_entries]
    missing: np.ndarray  # int32 [n_tests], the branch of rows without a value

    def __post_init__(self) -> None:
        arrays.check_offered(self)

    def __len__(self) -> int:
        return len(self.column)


class Certificate(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="certificate"):
    """What is known of a tree of least cost: the share of the weight that it gets wrong, and a penalty for each leaf."""

    objective: float  # the cost of the tree
    bound: float  # no tree of these tests and this depth costs less
    penalty: float  # for a leaf
    max_depth: int
    min_leaf: float
    searched: int  # sets of rows whose best tree of two levels was found
    stopped: str  # what ended the search before its end: "", "time" or "interrupt"
    offered: CandidateTests

    def __post_init__(self) -> None:
        arrays.check_certificate(self)

    @property
    def gap(self) -> float:
        """How much less another tree could cost at most; 0 where none does."""
        return self.objective - self.bound

    @property
    def is_optimal(self) -> bool:
        """Whether no tree of these tests and this depth costs less."""
        return self.bound >= self.objective


class Tree(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="tree", dict=True):
    """A grown tree as arrays over its nodes.

    A test by cuts sends x <= cut (x < cut where `strict`) to the first child, what is above to the second, and, where it has
    `more_cuts`, what is above k cuts to child k; an ordinal value is its code. Nothing is above a cut at infinity. A test by
    levels, of a nominal or ordinal column, sends code c to branch `branch_of[start + c]`, where -1 means none. A row whose
    branch is not known tries the node's surrogates, then takes `missing`: a branch, `STOP` or `SPREAD`. A branch beyond
    those of cuts or levels is for missing values alone. A test whose column lies beyond those of the table reads a sum.
    """

    column: np.ndarray  # int32 [n_nodes], LEAF where the node is not split
    first: np.ndarray  # int32 [n_nodes], the first child, 0 at a leaf
    branches: np.ndarray  # int32 [n_nodes], the number of children
    cut: np.ndarray  # float64 [n_nodes], the first threshold; NaN unless the test is by cuts
    strict: np.ndarray  # bool [n_nodes]
    mirrored: np.ndarray  # bool [n_nodes], the reference calls the second child "left": for ids and printing only
    start: np.ndarray  # int32 [n_nodes]
    levels: np.ndarray  # int32 [n_nodes], entries of branch_of that belong to the node, 0 unless its test is by levels
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
    more_cuts: ExtraThresholds = ExtraThresholds.none()
    significance: Significance | None = None  # of trees that are grown by tests, with an entry for each split
    averaging: Averaging | msgspec.UnsetType = msgspec.UNSET  # of trees that average all prunings; an entry for each split
    certificate: Certificate | msgspec.UnsetType = msgspec.UNSET  # of trees that were found by exact search
    sums: LinearCombinations | msgspec.UnsetType = msgspec.UNSET  # of several columns, where tests read them

    def __post_init__(self) -> None:
        arrays.check_tree(self)

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

    @cached_property
    def router(self) -> _core.Router:
        """The tree as the core routes by it, made when rows first come: for one row it costs more than its way."""
        return reading.router(self)

    @cached_property
    def has_fractional_rows(self) -> bool:
        """Whether a row may follow several branches."""
        return bool(np.any(self.missing[self.column >= 0] == SPREAD))

    def predict(self, table: Table) -> np.ndarray:
        """The probability of each class, or the expected number, for each row: [n_rows, n_outputs]."""
        return reading.values(self, table)

    def predict_with_codes(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """The answers, and the class of least expected loss, for each row."""
        if self.has_fractional_rows:
            return self.predict(table), self.predict_codes(table)
        leaf = reading.leaves(self, table)
        return self.value[leaf], self.prediction[leaf]

    def predict_codes(self, table: Table) -> np.ndarray:
        """The class of least expected loss for each row: [n_rows]."""
        if self.has_fractional_rows:
            return np.argmax(reading.values(without_smoothing(self), table), axis=1)
        return self.prediction[reading.leaves(self, table)]

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """Of the probability of each class, or of the expected number: [n_rows, n_outputs, 2]."""
        from baytree.tree.model.intervals import intervals  # only who doubts needs it

        return intervals(self, table, level)

    def explain(self, table: Table) -> list[Explanation]:
        """The ledger of each row: what each test on its way changed of the root's distribution."""
        return reading.explain(self, table)

    def formula(self, schema: Schema) -> Formula:
        """The tree as an expression of the raw columns."""
        from baytree.tree.model.formula import decision_tree  # only who leaves needs it

        return decision_tree(self, schema)

    def node_distribution(self) -> tuple[np.ndarray, np.ndarray] | None:
        """What an interview reads of a classification tree; None where tests read sums of columns.

        The proportion of the training weight that reaches each node, under the priors [n_nodes], and the class probabilities
        of each node [n_nodes, n_classes].
        """
        if self.sums or not self.n_classes:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            weighted = self.counts * np.where(self.counts[0] > 0, self.value[0] / self.counts[0], 0.0)
            shares = weighted / weighted.sum(axis=1, keepdims=True)
        has_priors = np.allclose(shares, self.value, atol=1e-9, equal_nan=True)  # not so where probabilities are smoothed
        total = (weighted if has_priors else self.counts).sum(axis=1)
        return total / max(total[0], np.finfo(float).tiny), self.value

    def stop_at_penalty(self, penalty: float) -> Tree:
        """The tree that answers with the first node on a row's way whose split is not worth more than a penalty."""
        at = traversal.first_stops(self, (self.column < 0) | (self.complexity <= penalty))
        return msgspec.structs.replace(self, value=self.value[at], prediction=self.prediction[at], counts=self.counts[at])

    def summary(self, schema: Schema) -> TreeSummary:
        """The tree as records, a node after the other."""
        from baytree.tree.model import summary  # only a person asks for it

        return summary.summary(self, schema)

    def check(self, schema: Schema) -> None:
        """Raises an error unless every test reads a column of the schema in a way of its kind."""
        arrays.check_schema(self, schema)


def without_smoothing(tree: Tree) -> Tree:
    """The tree that answers with plain shares: smoothing changes how sure an answer is, never the answer; averaging may."""
    if tree.averaging:
        return tree
    total = tree.counts.sum(axis=1, keepdims=True)
    shares = np.divide(tree.counts, total, out=tree.value.copy(), where=total > 0)
    return tree if np.array_equal(shares, tree.value) else msgspec.structs.replace(tree, value=shares)


class C50Tree(Tree, frozen=True, forbid_unknown_fields=True, tag="filled_tree"):
    """A tree of C5.0: a leaf that no training row has reached does not count."""

    @property
    def n_leaves(self) -> int:
        """The number of leaves that hold training rows."""
        return int(np.count_nonzero(self.is_leaf & (self.weight > 0)))
