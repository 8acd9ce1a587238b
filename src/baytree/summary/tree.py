"""Trees, rules and trials: nodes in the order of the text, so that a chain of a million tests is a list like any other.

Trees whose leaves are naive Bayes models.
"""

from __future__ import annotations

import msgspec

from baytree.summary.naive_bayes import NaiveBayesSummary

STOP, SPREAD = -1, -2  # what a node does with a row whose branch is not known: it rests there, or goes down every branch


class NamedCondition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a branch asks of its column: low < x ≤ high, or one of the levels."""

    column: str
    low: float | None = None
    high: float | None = None
    from_low: bool = False  # low ≤ x
    below_high: bool = False  # x < high
    levels: tuple[str, ...] | None = None  # None where numbers are asked for; none at all where only missing values pass
    missing: bool = False  # a row without a value passes too
    unit: str | None = None


class NamedSurrogate(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What stands in where a node's column has no value: what it asks for the first branch, and for the second."""

    first: NamedCondition
    second: NamedCondition


class Node(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A node: how a row gets there, what is predicted, and what is asked next."""

    id: int
    depth: int
    condition: NamedCondition | None  # None at the root
    rows: int
    weight: float
    prediction: int  # a class by its place; 0 where the target is a number
    value: float  # the probability of that class, or the mean
    counts: tuple[tuple[int, float], ...] = ()  # classes that occur, and their weight
    column: str = ""  # asked next; empty at a leaf
    branches: int = 0  # 0 at a leaf, and where nothing below is told
    missing: int = STOP  # the branch of rows without a value, or STOP or SPREAD
    has_surrogates: bool = False  # other columns are asked before that
    log_p: float | None = None  # of the split, adjusted for the number of ways to merge
    risk: float = 0.0  # the cost of stopping here: expected loss, or sum of squares; in units of weight
    complexity: float = 0.0  # the penalty per split, over the root's risk, at which the split goes
    surrogates: tuple[NamedSurrogate, ...] = ()  # asked one after the other where the column has no value
    kept: float | None = None  # how probable the split is, where all prunings are averaged


class CertificateSummary(msgspec.Struct, frozen=True):
    """What an exact search has proved of a tree: its cost, and that of any tree of so many tests and this depth."""

    objective: float  # the share of the weight that is wrong, and a penalty for each leaf
    bound: float  # no tree costs less
    penalty: float
    max_depth: int
    n_tests: int


class NamedSum(msgspec.Struct, frozen=True):
    """A sum of columns that tests read: its name in conditions, and the columns with their weights."""

    name: str
    terms: tuple[tuple[str, float], ...]


class TreeSummary(msgspec.Struct, frozen=True, tag="tree"):
    """The nodes depth first."""

    target: str
    classes: tuple[str, ...]  # none where the target is a number
    nodes: tuple[Node, ...]
    is_merged: bool = False  # levels were merged as long as they do not differ
    certificate: CertificateSummary | None = None  # of a tree that was found by exact search
    sums: tuple[NamedSum, ...] | msgspec.UnsetType = msgspec.UNSET  # of several columns, where tests read them


class VotingRuleSummary(msgspec.Struct, frozen=True):
    """IF all conditions hold THEN the class: what it covers, how much of that is right, and how sure it is."""

    conditions: tuple[NamedCondition, ...]
    label: str
    cover: float
    right: float
    lift: float
    confidence: float


class RuleSetSummary(msgspec.Struct, frozen=True, tag="rule_set"):
    """The rules, each of which votes where it holds, and the class where none does."""

    target: str
    classes: tuple[str, ...]
    rules: tuple[VotingRuleSummary, ...]
    default: str


class TrialsSummary(msgspec.Struct, frozen=True, tag="trials"):
    """The trees, or the rule sets, that vote, one for each trial."""

    target: str
    trials: tuple[TreeSummary | RuleSetSummary, ...]


class BayesLeaf(msgspec.Struct, frozen=True):
    """The naive Bayes model of a node: how rows get there, and how much it counts."""

    node: int
    conditions: tuple[NamedCondition, ...]  # from the root down; none at the root
    chosen: float  # the share of the prunings that stop at the node whose leaf is naive Bayes
    share: float  # what it counts for in the answer of a row that reaches the node
    model: NaiveBayesSummary


class BayesTreeSummary(msgspec.Struct, frozen=True, tag="bayes_tree"):
    """The tree, and the naive Bayes models of its nodes."""

    target: str
    classes: tuple[str, ...]
    tree: TreeSummary
    leaves: tuple[BayesLeaf, ...]
