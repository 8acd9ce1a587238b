"""`Tree`: a decision tree as flat arrays, one entry per node, with the children of a node side by side.

Node 0 is the root and a child always comes after its parent, so every computation on a tree is a pass over arrays, never
a recursion: a chain of a million nodes is as safe as a stump. The optional records (surrogates, further thresholds,
significance, averaging, certificate, linear combinations) hold entries by node. `C50Tree` counts leaves as C5.0 does.
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
from baytree.uncertainty.decision import CostMatrix

if TYPE_CHECKING:
    from baytree import _core
    from baytree.formula import Formula
    from baytree.summary.tree import TreeSummary

MIN_LOG_P = -1e300  # finite stand-in for log 0, the p-value of groups that differ without any variance within them


class Surrogates(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="surrogates"):
    """Surrogate tests for rows that lack the value of a node's column, by node and, within a node, by preference.

    A test reads like that of a node: numbers below `cut` take the first branch (the second if `flipped`), levels take
    `branch_of[start + code]`. If the surrogate's value is missing too, the next surrogate is tried.
    """

    node: np.ndarray  # int32 [n_tests], ascending
    column: np.ndarray  # int32 [n_tests]
    cut: np.ndarray  # float64 [n_tests], NaN if the column is nominal
    strict: np.ndarray  # bool [n_tests], x < cut instead of x <= cut
    flipped: np.ndarray  # bool [n_tests]
    start: np.ndarray  # int32 [n_tests]
    levels: np.ndarray  # int32 [n_tests], entries of branch_of that belong to the test, 0 if numeric
    branch_of: np.ndarray  # int32 [n_entries]
    agree: np.ndarray  # float64 [n_tests], proportion of the weight that it sends to the same branch
    adjusted: np.ndarray  # float64 [n_tests], the same relative to the majority rule
    count: np.ndarray  # int64 [n_tests], training rows that it routed

    def __post_init__(self) -> None:
        arrays.check_surrogates(self)

    @classmethod
    @cache  # most trees have none, and validating it again takes longer than growing a small tree
    def none(cls) -> Surrogates:
        """Empty record."""
        return cls(
            **{name: np.zeros(0, dtype) for name, dtype in arrays.SURROGATE_TYPES.items()},
            branch_of=np.zeros(0, np.int32),
        )


class ExtraThresholds(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="more_cuts"):
    """Thresholds after the first, of tests with several thresholds, by node and ascending."""

    node: np.ndarray  # int32 [n_cuts], ascending
    cut: np.ndarray  # float64 [n_cuts]

    def __post_init__(self) -> None:
        arrays.check_entries(self, arrays.CUT_TYPES)

    @classmethod
    @cache
    def none(cls) -> ExtraThresholds:
        """Empty record."""
        return cls(np.zeros(0, np.int32), np.zeros(0))


class Significance(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="significance"):
    """Significance of splits with merged levels, in natural logarithms."""

    node: np.ndarray  # int32 [n_splits], ascending
    log_p: np.ndarray  # float64 [n_splits], of the test that the groups do not differ
    log_multiplier: np.ndarray  # float64 [n_splits], Bonferroni multiplier: number of ways to form the groups
    saw_missing: np.ndarray  # bool [n_splits], missing values were a group or part of one

    def __post_init__(self) -> None:
        arrays.check_entries(self, arrays.SIGNIFICANCE_TYPES)

    @property
    def log_adjusted(self) -> np.ndarray:
        """Log of p times the multiplier, float64 [n_splits]; not truncated at 1, but p = 1 stays 1."""
        return np.where(self.log_p < 0, np.maximum(self.log_p + self.log_multiplier, MIN_LOG_P), 0.0)


class Averaging(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="averaging"):
    """Probabilities of the splits of a tree that predicts with the average over all its prunings."""

    node: np.ndarray  # int32 [n_splits], ascending
    kept: np.ndarray  # float64 [n_splits], weight of the prunings that split the node among those that reach it

    def __post_init__(self) -> None:
        arrays.check_entries(self, arrays.AVERAGING_TYPES)


class CandidateTests(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="offered"):
    """Candidate tests of an exact search, in the order in which they win ties; they read like those of nodes."""

    column: np.ndarray  # int32 [n_tests]
    cut: np.ndarray  # float64 [n_tests], NaN if the test is by levels
    start: np.ndarray  # int32 [n_tests]
    levels: np.ndarray  # int32 [n_tests], entries of branch_of that belong to the test, 0 if it has a threshold
    branch_of: np.ndarray  # int32 [n_entries]
    missing: np.ndarray  # int32 [n_tests], branch of rows with a missing value

    def __post_init__(self) -> None:
        arrays.check_offered(self)

    def __len__(self) -> int:
        return len(self.column)


class Certificate(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="certificate"):
    """Optimality certificate of a tree: its cost and a lower bound.

    The cost is the proportion of misclassified weight, or the mean of the given costs, plus a penalty per leaf.
    """

    objective: float  # cost of the tree
    bound: float  # lower bound on the cost of any tree of these tests and this depth
    penalty: float  # per leaf
    max_depth: int
    min_leaf: float
    searched: int  # row sets whose best tree of depth two was computed
    stopped: str  # why the search ended early: "time" or "interrupt"; "" if it completed
    offered: CandidateTests
    costs: np.ndarray | msgspec.UnsetType = msgspec.UNSET  # float64 [n_classes (true), n_classes (predicted)], if given

    def __post_init__(self) -> None:
        arrays.check_certificate(self)

    @property
    def gap(self) -> float:
        """Upper bound on how much less another tree could cost; 0 if the tree is optimal."""
        return self.objective - self.bound

    @property
    def is_optimal(self) -> bool:
        """Whether no tree of these tests and this depth costs less."""
        return self.bound >= self.objective


class Tree(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="tree", dict=True):
    """Decision tree as arrays over its nodes.

    A threshold test sends x <= cut (x < cut if `strict`) to the first child and larger values to the second; with
    `more_cuts`, values above k thresholds go to child k. An ordinal value is its code. No value is above an infinite
    threshold. A test by levels, of a nominal or ordinal column, sends code c to branch `branch_of[start + c]`, where -1
    means none. A row whose branch is unknown tries the node's surrogates, then takes `missing`: a branch, `STOP` or
    `SPREAD`. A branch beyond those of thresholds or levels takes missing values only. A test whose column index is
    beyond the table reads a linear combination.
    """

    column: np.ndarray  # int32 [n_nodes], LEAF if the node is not split
    first: np.ndarray  # int32 [n_nodes], the first child, 0 at a leaf
    branches: np.ndarray  # int32 [n_nodes], the number of children
    cut: np.ndarray  # float64 [n_nodes], the first threshold; NaN unless it is a threshold test
    strict: np.ndarray  # bool [n_nodes]
    mirrored: np.ndarray  # bool [n_nodes], the reference program calls child 2 "left"; for ids and printing only
    start: np.ndarray  # int32 [n_nodes]
    levels: np.ndarray  # int32 [n_nodes], entries of branch_of that belong to the node, 0 unless its test is by levels
    branch_of: np.ndarray  # int32 [n_entries]
    missing: np.ndarray  # int32 [n_nodes]
    share: np.ndarray  # float64 [n_nodes], proportion of the parent's non-missing weight; 1 at the root
    rows: np.ndarray  # int64 [n_nodes], training rows, unweighted
    weight: np.ndarray  # float64 [n_nodes]
    counts: np.ndarray  # float64 [n_nodes, n_classes], weight per class; no columns in regression
    value: np.ndarray  # float64 [n_nodes, n_outputs], class probabilities or the mean
    prediction: np.ndarray  # int32 [n_nodes], class code; 0 in regression
    impurity: np.ndarray  # float64 [n_nodes], the criterion per unit of weight
    risk: np.ndarray  # float64 [n_nodes], cost of the node as a leaf: expected loss or sum of squares, in units of weight
    gain: np.ndarray  # float64 [n_nodes], decrease of the criterion by the split, in units of weight; 0 at a leaf
    complexity: np.ndarray  # float64 [n_nodes], penalty per split, relative to the root's risk, at which the split is pruned
    surrogates: Surrogates
    uses_surrogates: bool = True  # False: surrogates only count in importances and inspection
    more_cuts: ExtraThresholds = ExtraThresholds.none()
    significance: Significance | None = None  # of trees grown by significance tests, with an entry for each split
    averaging: Averaging | msgspec.UnsetType = msgspec.UNSET  # of trees that average prunings; an entry for each split
    certificate: Certificate | msgspec.UnsetType = msgspec.UNSET  # of trees that were found by exact search
    sums: LinearCombinations | msgspec.UnsetType = msgspec.UNSET  # of columns, if tests read any

    def __post_init__(self) -> None:
        arrays.check_tree(self)

    def __len__(self) -> int:
        return len(self.column)

    @property
    def is_leaf(self) -> np.ndarray:
        """Whether each node is a leaf, bool [n_nodes]."""
        return self.column < 0

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.column < 0))

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 in regression."""
        return self.counts.shape[1]

    @cached_property
    def router(self) -> _core.Router:
        """Core router of the tree. Cached at the first use: building it costs more than routing one row."""
        return reading.router(self)

    @cached_property
    def has_fractional_rows(self) -> bool:
        """Whether a row may follow several branches (fractional rows)."""
        return bool(np.any(self.missing[self.column >= 0] == SPREAD))

    def predict(self, table: Table) -> np.ndarray:
        """Class probabilities, or the mean, of each row, float64 [n_rows, n_outputs]."""
        return reading.values(self, table)

    def predict_with_codes(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """Predictions as in `predict`, and the class of least expected loss of each row."""
        if self.has_fractional_rows:
            return self.predict(table), self.predict_codes(table)
        leaf = reading.leaves(self, table)
        return self.value[leaf], self.prediction[leaf]

    def predict_codes(self, table: Table) -> np.ndarray:
        """Class of least expected loss of each row, [n_rows]."""
        if self.has_fractional_rows:
            return np.argmax(reading.values(without_smoothing(self), table), axis=1)
        return self.prediction[reading.leaves(self, table)]

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """Intervals of the class probabilities or of the mean, [n_rows, n_outputs, 2]."""
        from baytree.tree.model.intervals import intervals  # imported on demand

        return intervals(self, table, level)

    def explain(self, table: Table) -> list[Explanation]:
        """Explanation of each row: how each test on its path changed the root's distribution."""
        return reading.explain(self, table)

    def formula(self, schema: Schema) -> Formula:
        """The tree as an expression of the raw columns."""
        from baytree.tree.model.formula import decision_tree  # imported on demand

        return decision_tree(self, schema)

    def node_distribution(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Node weights and class probabilities for interviews; None in regression and with linear combinations.

        The proportion of the training weight that reaches each node, under the priors [n_nodes], and the class
        probabilities of each node [n_nodes, n_classes].
        """
        if self.sums or not self.n_classes:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            weighted = self.counts * np.where(self.counts[0] > 0, self.value[0] / self.counts[0], 0.0)
            proportions = weighted / weighted.sum(axis=1, keepdims=True)
        has_priors = np.allclose(proportions, self.value, atol=1e-9, equal_nan=True)  # false if probabilities are smoothed
        total = (weighted if has_priors else self.counts).sum(axis=1)
        return total / max(total[0], np.finfo(float).tiny), self.value

    def stop_at_penalty(self, penalty: float) -> Tree:
        """Tree whose rows stop at the first node on their path whose split is not worth more than the penalty."""
        stop = traversal.first_stops(self, (self.column < 0) | (self.complexity <= penalty))
        return msgspec.structs.replace(
            self, value=self.value[stop], prediction=self.prediction[stop], counts=self.counts[stop]
        )

    def decided_by(self, costs: CostMatrix) -> Tree:
        """The same tree, whose nodes predict the class of least expected cost."""
        return msgspec.structs.replace(self, prediction=costs.predict_codes(self.value).astype(np.int32))

    def summary(self, schema: Schema) -> TreeSummary:
        """Summary record of the tree, with its nodes depth first."""
        from baytree.tree.model import summary  # imported on demand

        return summary.summary(self, schema)

    def check(self, schema: Schema) -> None:
        """Raise an error unless every test suits the kind of its column in the schema."""
        arrays.check_schema(self, schema)


def without_smoothing(tree: Tree) -> Tree:
    """Tree that predicts unsmoothed proportions: smoothing changes probabilities but never the class. Averaged trees
    stay.
    """
    if tree.averaging:
        return tree
    total = tree.counts.sum(axis=1, keepdims=True)
    proportions = np.divide(tree.counts, total, out=tree.value.copy(), where=total > 0)
    return tree if np.array_equal(proportions, tree.value) else msgspec.structs.replace(tree, value=proportions)


class C50Tree(Tree, frozen=True, forbid_unknown_fields=True, tag="filled_tree"):
    """Tree of C5.0: a leaf without training rows is not counted."""

    @property
    def n_leaves(self) -> int:
        """Number of leaves with training rows."""
        return int(np.count_nonzero(self.is_leaf & (self.weight > 0)))
