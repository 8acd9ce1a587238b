"""Trees whose leaves are naive Bayes models."""

from __future__ import annotations

import msgspec

from baytree.summary.bayes import NaiveBayesSummary
from baytree.summary.tree import NamedCondition, TreeSummary


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
