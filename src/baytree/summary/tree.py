"""Summaries of decision trees, rule sets, boosting trials and trees with naive Bayes leaves.

Nodes are a flat list in depth-first order, so that a chain of a million tests is a list like any other.
"""

from __future__ import annotations

import msgspec

from baytree.summary.naive_bayes import NaiveBayesSummary

STOP, SPREAD = -1, -2  # what a node does with a row whose branch is unknown: stop there, or follow every branch


class NamedCondition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Condition of a branch on its column: low < x ≤ high, or one of the levels."""

    column: str
    low: float | None = None
    high: float | None = None
    from_low: bool = False  # low ≤ x
    below_high: bool = False  # x < high
    levels: tuple[str, ...] | None = None  # None for a numeric condition; empty if only missing values pass
    missing: bool = False  # a row without a value passes, too
    unit: str | None = None


class NamedSurrogate(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Surrogate split of a node: its conditions for the first and the second branch."""

    first: NamedCondition
    second: NamedCondition


class Node(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Tree node: the condition that leads to it, the prediction, and the next test."""

    id: int
    depth: int
    condition: NamedCondition | None  # None at the root
    rows: int
    weight: float
    prediction: int  # index of a class; 0 if the target is numeric
    value: float  # probability of that class, or the mean
    counts: tuple[tuple[int, float], ...] = ()  # classes that occur, and their weight
    column: str = ""  # tested next; empty at a leaf
    branches: int = 0  # 0 at a leaf, and where the subtree is not listed
    missing: int = STOP  # branch of rows without a value, or STOP or SPREAD
    has_surrogates: bool = False  # other columns are tested before `missing` applies
    log_p: float | None = None  # of the split, adjusted for the number of possible merges
    risk: float = 0.0  # cost of stopping here: expected loss, or sum of squares; in units of weight
    complexity: float = 0.0  # penalty per split, relative to the root's risk, at which the split is pruned
    surrogates: tuple[NamedSurrogate, ...] = ()  # tested in order if the column has no value
    kept: float | None = None  # posterior probability of the split, if the model averages over all prunings


class CertificateSummary(msgspec.Struct, frozen=True):
    """Result of an exact search: the cost of the tree, and a lower bound for all trees of that many tests and this depth."""

    objective: float  # proportion of the weight that is misclassified, or mean of the given costs, plus a penalty per leaf
    bound: float  # no tree costs less
    penalty: float
    max_depth: int
    n_tests: int
    has_costs: bool | msgspec.UnsetType = msgspec.UNSET  # mistakes were counted by given costs


class NamedSum(msgspec.Struct, frozen=True):
    """Weighted sum of columns that tests read: its name in conditions, and the columns with their weights."""

    name: str
    terms: tuple[tuple[str, float], ...]


class TreeSummary(msgspec.Struct, frozen=True, tag="tree"):
    """Decision tree, its nodes in depth-first order."""

    target: str
    classes: tuple[str, ...]  # empty if the target is numeric
    nodes: tuple[Node, ...]
    is_merged: bool = False  # levels that do not differ significantly were merged (CHAID)
    certificate: CertificateSummary | None = None  # of a tree that was found by exact search
    sums: tuple[NamedSum, ...] | msgspec.UnsetType = msgspec.UNSET  # weighted sums of columns, if tests read any


class VotingRuleSummary(msgspec.Struct, frozen=True):
    """IF all conditions hold THEN the class: covered weight, correct weight, lift and confidence."""

    conditions: tuple[NamedCondition, ...]
    label: str
    cover: float
    right: float
    lift: float
    confidence: float


class RuleSetSummary(msgspec.Struct, frozen=True, tag="rule_set"):
    """Rules, each of which votes where it holds, and the default class where none does."""

    target: str
    classes: tuple[str, ...]
    rules: tuple[VotingRuleSummary, ...]
    default: str


class TrialsSummary(msgspec.Struct, frozen=True, tag="trials"):
    """Trees or rule sets that vote, one per boosting trial."""

    target: str
    trials: tuple[TreeSummary | RuleSetSummary, ...]


class BayesLeaf(msgspec.Struct, frozen=True):
    """Naive Bayes model of a node: the path to the node, and its weight in predictions."""

    node: int
    conditions: tuple[NamedCondition, ...]  # from the root down; empty at the root
    chosen: float  # proportion of the prunings stopping at the node in which its leaf is a naive Bayes model
    share: float  # weight in the prediction of a row that reaches the node
    model: NaiveBayesSummary


class BayesTreeSummary(msgspec.Struct, frozen=True, tag="bayes_tree"):
    """Tree, and the naive Bayes models of its nodes."""

    target: str
    classes: tuple[str, ...]
    tree: TreeSummary
    leaves: tuple[BayesLeaf, ...]
