"""Records of the sections about C5.0's rules and trials: what votes, and how surely."""

from __future__ import annotations

import msgspec

from baytree.show.report.records.model_views import RulesView


class VotingRuleView(msgspec.Struct, frozen=True):
    """IF conditions THEN the class: what it covers, how much of that is right, and how sure it is."""

    conditions: tuple[str, ...]
    answer: str
    place: int  # of the class
    confidence: float
    cover: float
    right: float
    lift: float


class VotingRulesView(msgspec.Struct, frozen=True):
    """Rules that vote, by class and by how sure they are, and the class where none holds."""

    rules: tuple[VotingRuleView, ...]
    hidden: int
    default: str
    id: str = "rules"
    title: str = "Rules that vote"


class TrialView(msgspec.Struct, frozen=True):
    """A tree or rule set among several: its size and its rules."""

    name: str
    size: str
    rules: RulesView | VotingRulesView

    @property
    def votes(self) -> bool:
        """Whether its rules vote among themselves."""
        return isinstance(self.rules, VotingRulesView)


class TrialsView(msgspec.Struct, frozen=True):
    """The trials in their order; each votes for its class."""

    trials: tuple[TrialView, ...]
    hidden: int
    id: str = "trials"
    title: str = "Trials that vote"
