"""Rule sets that vote: every rule that holds speaks for its class, as surely as it was right on the training rows.

One rule that votes: what it asks, as a model file can hold it, and how sure it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, inf
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from baytree.base.model import Explanation
from baytree.data.encoding.table import Table
from baytree.data.schema.column import Kind
from baytree.data.schema.schema import Schema
from baytree.rendering.tree_text import rule_line
from baytree.summary.tree import RuleSetSummary, TrialsSummary, VotingRuleSummary
from baytree.tree.boosting.tree_votes import Lines, leading, named_trials, shares_of, vote_ledgers, votes_for
from baytree.tree.model.conditions import Condition, ValueRange
from baytree.tree.rules.rule_set import holding
from baytree.uncertainty.intervals import no_interval

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

    def predict(self, table: Table) -> np.ndarray:
        """float64 [n_rows, n_classes]: how sure the rules that hold are of each class, as shares."""
        if not self.rules and self.proportions is not None:
            return np.tile(self.proportions, (len(table), 1))
        firing, votes = self._fired(table)
        n_firing = np.maximum(firing.sum(axis=1), 1)[:, None]
        specific, mean = self._specific(firing, votes.shape[1]), votes / n_firing
        winner = leading(votes, self.default)[:, None] == np.arange(votes.shape[1])
        sure = np.where(winner, np.maximum(specific, mean), np.where(votes > 0, np.minimum(specific, mean), 0.0))
        return shares_of(np.where(firing.any(axis=1, keepdims=True), sure, 0.0))

    def predict_codes(self, table: Table) -> np.ndarray:
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

    def predict(self, table: Table) -> np.ndarray:
        """float64 [n_rows, n_classes]: of one set how sure its rules are, of several their shares of the votes."""
        return self.sets[0].predict(table) if len(self.sets) == 1 else shares_of(self._votes(table))

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """Refused: votes are no shares of rows."""
        raise no_interval("rules vote by how sure each is, and votes are no shares of rows; rules=False gives a tree")

    def predict_codes(self, table: Table) -> np.ndarray:
        """int64 [n_rows]: the class with most votes; a tie goes to the default class of the first set."""
        if len(self.sets) == 1:
            return self.sets[0].predict_codes(table)
        return leading(self._votes(table), self.sets[0].default)

    def explain(self, table: Table) -> list[Explanation]:
        """The ledger of the votes of each row."""
        if len(self.sets) == 1:
            return vote_ledgers(table, self.sets[0].ledger_lines(table), self.predict(table))
        each = [self._trial(rules, table) for rules in self.sets]
        return vote_ledgers(table, named_trials(table, each), self.predict(table))

    def formula(self, schema: Schema) -> Formula:
        """The rules as an expression of the raw columns."""
        from baytree.tree.boosting.formula import rule_trials

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


class StoredCondition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A condition as a model file can hold it, which has no word for infinity: a bound that is not there is None."""

    column: int
    low: float | str | None = None  # "inf" or "-inf" where that is the bound
    high: float | str | None = None
    from_low: bool = False
    below_high: bool = False
    levels: tuple[int, ...] | None = None  # None where numbers are asked for
    missing: bool = False

    @classmethod
    def of(cls, condition: Condition) -> StoredCondition:
        """The record of a condition."""
        allowed = condition.allowed
        if not isinstance(allowed, ValueRange):
            return cls(condition.column, levels=allowed, missing=condition.missing)
        low = None if allowed.low == -inf and not allowed.from_low else _written(allowed.low)
        high = None if allowed.high == inf and not allowed.below_high else _written(allowed.high)
        return cls(condition.column, low, high, allowed.from_low, allowed.below_high, None, condition.missing)

    @property
    def condition(self) -> Condition:
        """The condition that was written."""
        if self.levels is not None:
            return Condition(self.column, self.levels, self.missing)
        low, high = -inf if self.low is None else float(self.low), inf if self.high is None else float(self.high)
        return Condition(self.column, ValueRange(low, high, self.from_low, self.below_high), self.missing)


class VotingRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """IF all conditions hold THEN the class: what it covers of the training rows, and how much of that is of the class."""

    asked: tuple[StoredCondition, ...]
    label: int  # the class by its code
    cover: float
    right: float
    lift: float  # its confidence over the share of the class in all rows

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What must hold, a condition for each column."""
        return tuple(each.condition for each in self.asked)

    @property
    def confidence(self) -> float:
        """(right + 1) / (cover + 2)."""
        return (self.right + 1.0) / (self.cover + 2.0)

    @property
    def thousandths(self) -> float:
        """The confidence in whole thousandths, as rules vote with it."""
        return floor(1000.0 * self.confidence + 0.5)

    @property
    def vote(self) -> float:
        """The same as a share."""
        return self.thousandths / 1000.0

    def check(self, schema: Schema) -> None:
        """Raises an error unless its class is one, and every condition reads a column in a way of its kind."""
        if not 0 <= self.label < len(schema.classes):
            raise ValueError("a rule names a class that there is not")
        for condition in self.conditions:
            _check_condition(condition, schema)

    def named(self, schema: Schema) -> VotingRuleSummary:
        """The rule with the names of columns, levels and classes."""
        conditions = tuple(condition.named(schema) for condition in self.conditions)
        label = str(schema.classes[self.label])
        return VotingRuleSummary(conditions, label, self.cover, self.right, self.lift, self.confidence)


def _written(edge: float) -> float | str:
    return edge if np.isfinite(edge) else str(edge)


def _check_condition(condition: Condition, schema: Schema) -> None:
    if not 0 <= condition.column < len(schema):
        raise ValueError("a rule asks for a column that there is not")
    column = schema.columns[condition.column]
    allowed = condition.allowed
    if allowed != () and isinstance(allowed, ValueRange) != (column.kind is Kind.NUMERIC):
        raise ValueError(f"a rule asks for column {column.name!r} as if it were of another kind")
    if not isinstance(allowed, ValueRange) and any(not 0 <= code < len(column.levels) for code in allowed):
        raise ValueError(f"a rule asks for a level of column {column.name!r} that there is not")
