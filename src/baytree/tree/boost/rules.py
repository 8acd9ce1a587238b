"""Rule sets that vote: every rule that holds speaks for its class, as surely as it was right on the training rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.limits.intervals import no_interval
from baytree.model import Explanation
from baytree.show.tree.rule_text import rule_line
from baytree.summary.tree import RuleSetSummary, TrialsSummary
from baytree.table.schema import Schema
from baytree.table.table import Table
from baytree.tree.boost.votes import Lines, leading, named_trials, shares_of, vote_ledgers, votes_for
from baytree.tree.boost.voting_rule import VotingRule
from baytree.tree.rules.rule_set import holding

if TYPE_CHECKING:
    from baytree.formula import Formula

_UNSURE = 0.5  # of the default class, where no rule holds


class VotingRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="voting_rules"):
    """Rules that vote, by class and by how sure they are, and the class where none holds.

    A set without rules predicts the default class, with the class proportions of the training rows as probabilities.
    """

    rules: tuple[VotingRule, ...]
    default: int
    proportions: np.ndarray | None = None  # float64 [n_classes], of the training rows; None in files of version 0.2

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[VotingRule]:
        return iter(self.rules)

    def __getitem__(self, place: int) -> VotingRule:
        return self.rules[place]

    def without(self, rule: int) -> VotingRules:
        """The set without the rule at this place."""
        if not -len(self.rules) <= rule < len(self.rules):
            raise ValueError(f"there is no rule {rule}; the places of the rules go from 0 to {len(self.rules) - 1}")
        kept = (each for place, each in enumerate(self.rules) if place != rule % len(self.rules))
        return VotingRules(tuple(kept), self.default, self.proportions)

    def answers(self, table: Table) -> np.ndarray:
        """float64 [n_rows, n_classes]: how sure the rules that hold are of each class, as shares."""
        if not self.rules and self.proportions is not None:
            return np.tile(self.proportions, (len(table), 1))
        firing, votes = self._fired(table)
        n_firing = np.maximum(firing.sum(axis=1), 1)[:, None]
        specific, mean = self._specific(firing, votes.shape[1]), votes / n_firing
        winner = leading(votes, self.default)[:, None] == np.arange(votes.shape[1])
        sure = np.where(winner, np.maximum(specific, mean), np.where(votes > 0, np.minimum(specific, mean), 0.0))
        return shares_of(np.where(firing.any(axis=1, keepdims=True), sure, 0.0))

    def choices(self, table: Table) -> np.ndarray:
        """int64 [n_rows]: the class with most votes; the default class unless another has more."""
        return leading(self._fired(table)[1], self.default)

    def sure_choices(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """The class of each row, and the vote of its most specific rule, ½ where none holds for it."""
        firing, votes = self._fired(table)
        choice = leading(votes, self.default)
        sure = self._specific(firing, votes.shape[1])[np.arange(len(choice)), choice]
        return choice, np.where(sure > 0, sure, _UNSURE)

    def reported(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """The class of each row, and how sure the set is of it before shares are taken."""
        firing, votes = self._fired(table)
        choice, rows = leading(votes, self.default), np.arange(len(votes))
        mean = votes[rows, choice] / np.maximum(firing.sum(axis=1), 1)
        sure = np.maximum(self._specific(firing, votes.shape[1])[rows, choice], mean)
        return choice, np.where(sure > 0, sure, _UNSURE)

    def reads(self, table: Table) -> np.ndarray:
        """bool [n_rows, n_columns]: the columns that the rules which hold for a row ask for."""
        read = np.zeros((len(table.schema), len(table)), np.bool_)
        for rule, holds in zip(self.rules, self.holding(table).T, strict=True):
            for condition in rule.conditions:
                read[condition.column] |= holds
        return read.T

    def holding(self, table: Table) -> np.ndarray:
        """bool [n_rows, n_rules]: which rules hold for which rows."""
        holds = np.empty((len(self.rules), len(table)), np.bool_)
        for k, rule in enumerate(self.rules):
            holds[k] = holding(rule.conditions, table)
        return holds.T

    def ledger_lines(self, table: Table) -> Lines:
        """The rules with what they ask, and how they vote for each row."""
        firing, n = self.holding(table), len(table.schema.classes)
        lines: Lines = []
        for k, rule in enumerate(self.rules):
            text, vote = rule_line(rule.named(table.schema)), np.zeros(n)
            vote[rule.label] = rule.vote
            lines.append((f"rule {k}", [text] * len(table), firing[:, k, None] * vote))
        return lines

    def summary(self, schema: Schema) -> RuleSetSummary:
        """The rules as records."""
        classes = tuple(map(str, schema.classes))
        rules = tuple(rule.named(schema) for rule in self.rules)
        return RuleSetSummary(schema.target.name, classes, rules, classes[self.default])

    def check(self, schema: Schema) -> None:
        """Raises an error unless every condition reads a column in a way of its kind, and every class is one."""
        if not 0 <= self.default < len(schema.classes):
            raise ValueError("a rule set names a class that there is not")
        given = self.proportions
        if given is not None and (
            given.shape != (len(schema.classes),) or not np.isclose(given.sum(), 1) or (given < 0).any()
        ):
            raise ValueError("the class proportions of a rule set are not those of the classes")
        for rule in self.rules:
            rule.check(schema)

    def _fired(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """Which rules hold for each row, and float64 [n_rows, n_classes]: the votes."""
        firing = self.holding(table)
        by_class = np.zeros((len(self.rules), len(table.schema.classes)))
        for k, rule in enumerate(self.rules):
            by_class[k, rule.label] = rule.thousandths
        return firing, (firing.astype(np.float64) @ by_class) / 1000.0

    def _specific(self, firing: np.ndarray, n_classes: int) -> np.ndarray:
        """float64 [n_rows, n_classes]: the vote of the rule that holds and covers least, then of the larger vote."""
        found = np.zeros((len(firing), n_classes))
        for k in sorted(range(len(self.rules)), key=lambda k: (-self.rules[k].cover, self.rules[k].vote)):
            found[firing[:, k], self.rules[k].label] = self.rules[k].vote
        return found


class RuleTrials(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="rule_trials"):
    """The rule sets of the trials, in their order: one answers by itself, several vote."""

    sets: tuple[VotingRules, ...]
    usage: np.ndarray  # float64 [n_columns], the share of the training rows for which a rule that holds asks for a column

    def answers(self, table: Table) -> np.ndarray:
        """float64 [n_rows, n_classes]: of one set how sure its rules are, of several their shares of the votes."""
        return self.sets[0].answers(table) if len(self.sets) == 1 else shares_of(self._votes(table))

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """Refused: votes are no shares of rows."""
        raise no_interval("rules vote by how sure each is, and votes are no shares of rows; rules=False gives a tree")

    def choices(self, table: Table) -> np.ndarray:
        """int64 [n_rows]: the class with most votes; a tie goes to the default class of the first set."""
        if len(self.sets) == 1:
            return self.sets[0].choices(table)
        return leading(self._votes(table), self.sets[0].default)

    def explain(self, table: Table) -> list[Explanation]:
        """The ledger of the votes of each row."""
        if len(self.sets) == 1:
            return vote_ledgers(table, self.sets[0].ledger_lines(table), self.answers(table))
        each = [self._trial(rules, table) for rules in self.sets]
        return vote_ledgers(table, named_trials(table, each), self.answers(table))

    def formula(self, schema: Schema) -> Formula:
        """The rules as an expression of the raw columns."""
        from baytree.tree.boost.formula import rule_trials

        return rule_trials(self, schema)

    def summary(self, schema: Schema) -> RuleSetSummary | TrialsSummary:
        """The rules as records, set by set."""
        told = tuple(rules.summary(schema) for rules in self.sets)
        return told[0] if len(told) == 1 else TrialsSummary(schema.target.name, told)

    def check(self, schema: Schema) -> None:
        """Raises an error unless every set fits the schema."""
        if not self.sets or self.usage.shape != (len(schema),):
            raise ValueError("there is no rule set, or its columns are not those of the schema")
        for rules in self.sets:
            rules.check(schema)

    @property
    def title(self) -> str:
        """What the model is."""
        return "rule set" if len(self.sets) == 1 else f"{len(self.sets)} rule sets that vote"

    def _votes(self, table: Table) -> np.ndarray:
        return np.sum([self._trial(rules, table)[0] for rules in self.sets], axis=0)

    def _trial(self, rules: VotingRules, table: Table) -> tuple[np.ndarray, np.ndarray]:
        choice, sure = rules.reported(table)
        return votes_for(choice, sure, len(table.schema.classes)), choice
