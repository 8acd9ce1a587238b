"""Records of the section about trees whose leaves are naive Bayes models."""

from __future__ import annotations

import msgspec

from baytree.show.report.records.model_views import BayesView


class BayesLeafView(msgspec.Struct, frozen=True):
    """The naive Bayes model of a node: how rows get there, and what it counts for."""

    conditions: tuple[str, ...]
    share: float
    bayes: BayesView


class BayesLeavesView(msgspec.Struct, frozen=True):
    """The models that count for most first."""

    leaves: tuple[BayesLeafView, ...]
    hidden: int
    id: str = "leaves"
    title: str = "Naive Bayes in the tree"
