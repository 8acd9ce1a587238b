"""C5.0's voting rules: each rule that holds votes for its class with its confidence on the training rows.

`VotingRules` is the rule set of one trial, `RuleTrials` the model of all trials, `VotingRule` and `StoredCondition` are
the records of a model file.
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
from baytree.tree.boosting.tree_votes import (
    VoterLines,
    confidence_votes,
    most_voted,
    named_trials,
    normalize_votes,
    vote_explanations,
)
from baytree.tree.model.conditions import Condition, ValueRange
from baytree.tree.rules.rule_set import holding
from baytree.uncertainty.intervals import no_interval

if TYPE_CHECKING:
    from baytree.formula import Formula

_DEFAULT_CONFIDENCE = 0.5  # confidence in the default class if no rule holds


class VotingRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="voting_rules"):
    """Voting rules, ordered by class and confidence, and the default class if none holds.

    A set without rules predicts the default class, with the class proportions of the training rows as probabilities.
    """

    rules: tuple[VotingRule, ...]
    default: int
    proportions: np.ndarray | None = None  # float64 [n_classes], of the training rows; None in files of version 0.2

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[VotingRule]:
        return iter(self.rules)

    def __getitem__(self, index: int) -> VotingRule:
        return self.rules[index]

    def without(self, rule: int) -> VotingRules:
        """Rule set without the rule at this index."""
        if not -len(self.rules) <= rule < len(self.rules):
            raise ValueError(f"there is no rule {rule}; rules are numbered from 0 to {len(self.rules) - 1}")
        remaining = (remaining_rule for index, remaining_rule in enumerate(self.rules) if index != rule % len(self.rules))
        return VotingRules(tuple(remaining), self.default, self.proportions)

    def predict(self, table: Table) -> np.ndarray:
        """Class probabilities, float64 [n_rows, n_classes]: the normalised confidence of the rules that hold in each
        class.
        """
        if not self.rules and self.proportions is not None:
            return np.tile(self.proportions, (len(table), 1))
        firing, votes = self._fired(table)
        n_firing = np.maximum(firing.sum(axis=1), 1)[:, None]
        specific, mean = self._specific(firing, votes.shape[1]), votes / n_firing
        winner = most_voted(votes, self.default)[:, None] == np.arange(votes.shape[1])
        confidence = np.where(winner, np.maximum(specific, mean), np.where(votes > 0, np.minimum(specific, mean), 0.0))
        return normalize_votes(np.where(firing.any(axis=1, keepdims=True), confidence, 0.0))

    def predict_codes(self, table: Table) -> np.ndarray:
        """Class of most votes, int64 [n_rows]; the default class unless another has more."""
        return most_voted(self._fired(table)[1], self.default)

    def predict_with_confidence(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """Predicted class of each row, and the vote of its most specific rule, ½ if none holds for it."""
        firing, votes = self._fired(table)
        choice = most_voted(votes, self.default)
        vote = self._specific(firing, votes.shape[1])[np.arange(len(choice)), choice]
        confidence = np.rint(1000 * vote).astype(np.float32) * np.float32(
            0.001
        )  # not the nearest to the vote: it decides ties
        return choice, np.where(confidence > 0, confidence, np.float32(_DEFAULT_CONFIDENCE))

    def predict_as_reported(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """Predicted class of each row, and the confidence in it before normalisation."""
        firing, votes = self._fired(table)
        choice, rows = most_voted(votes, self.default), np.arange(len(votes))
        mean = votes[rows, choice] / np.maximum(firing.sum(axis=1), 1)
        confidence = np.maximum(self._specific(firing, votes.shape[1])[rows, choice], mean)
        return choice, np.where(confidence > 0, confidence, _DEFAULT_CONFIDENCE)

    def reads(self, table: Table) -> np.ndarray:
        """Columns that the rules which hold for a row test, bool [n_rows, n_columns]."""
        read = np.zeros((len(table.schema), len(table)), np.bool_)
        for rule, holds in zip(self.rules, self.holding(table).T, strict=True):
            for condition in rule.conditions:
                read[condition.column] |= holds
        return read.T

    def holding(self, table: Table) -> np.ndarray:
        """Whether each rule holds for each row, bool [n_rows, n_rules]."""
        holds = np.empty((len(self.rules), len(table)), np.bool_)
        for k, rule in enumerate(self.rules):
            holds[k] = holding(rule.conditions, table)
        return holds.T

    def ledger_lines(self, table: Table) -> VoterLines:
        """Lines of an explanation: each rule with its conditions, and its votes for each row."""
        firing, n = self.holding(table), len(table.schema.classes)
        lines: VoterLines = []
        for k, rule in enumerate(self.rules):
            text, vote = rule_line(rule.named(table.schema)), np.zeros(n)
            vote[rule.label] = rule.vote
            lines.append((f"rule {k}", [text] * len(table), firing[:, k, None] * vote))
        return lines

    def summary(self, schema: Schema) -> RuleSetSummary:
        """Summary record of the rules."""
        classes = tuple(map(str, schema.classes))
        rules = tuple(rule.named(schema) for rule in self.rules)
        return RuleSetSummary(schema.target.name, classes, rules, classes[self.default])

    def check(self, schema: Schema) -> None:
        """Raise an error unless every condition suits its column and every class exists."""
        if not 0 <= self.default < len(schema.classes):
            raise ValueError("the default of a rule set is not a known class")
        proportions = self.proportions
        if proportions is not None and (
            proportions.shape != (len(schema.classes),) or not np.isclose(proportions.sum(), 1) or (proportions < 0).any()
        ):
            raise ValueError("the class proportions of a rule set do not fit the classes")
        for rule in self.rules:
            rule.check(schema)

    def _fired(self, table: Table) -> tuple[np.ndarray, np.ndarray]:
        """Whether each rule holds for each row, and the votes, float64 [n_rows, n_classes]."""
        firing = self.holding(table)
        by_class = np.zeros((len(self.rules), len(table.schema.classes)))
        for k, rule in enumerate(self.rules):
            by_class[k, rule.label] = rule.thousandths
        return firing, (firing.astype(np.float64) @ by_class) / 1000.0

    def _specific(self, firing: np.ndarray, n_classes: int) -> np.ndarray:
        """Vote of the rule that holds and covers fewest rows (then of the larger vote), float64 [n_rows, n_classes]."""
        specific = np.zeros((len(firing), n_classes))
        for k in sorted(range(len(self.rules)), key=lambda k: (-self.rules[k].cover, self.rules[k].vote)):
            specific[firing[:, k], self.rules[k].label] = self.rules[k].vote
        return specific


class RuleTrials(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="rule_trials"):
    """Rule sets of the trials, in order: a single set predicts by itself, several vote."""

    sets: tuple[VotingRules, ...]
    usage: np.ndarray  # float64 [n_columns], proportion of training rows for which a rule that holds tests the column

    def predict(self, table: Table) -> np.ndarray:
        """Class probabilities, float64 [n_rows, n_classes]: confidence of a single set, or vote proportions of several."""
        return self.sets[0].predict(table) if len(self.sets) == 1 else normalize_votes(self._votes(table))

    def intervals(self, table: Table, level: float) -> np.ndarray:
        """Raise an error: votes are not proportions of rows, so they have no interval."""
        raise no_interval("rule sets have no intervals, because votes are not proportions of rows; set rules=False")

    def predict_codes(self, table: Table) -> np.ndarray:
        """Class of most votes, int64 [n_rows]; ties go to the default class of the first set."""
        if len(self.sets) == 1:
            return self.sets[0].predict_codes(table)
        return most_voted(self._votes(table), self.sets[0].default)

    def explain(self, table: Table) -> list[Explanation]:
        """Explanation of each row by the votes of rules or trials."""
        if len(self.sets) == 1:
            return vote_explanations(table, self.sets[0].ledger_lines(table), self.predict(table))
        each = [self._trial(rules, table) for rules in self.sets]
        return vote_explanations(table, named_trials(table, each), self.predict(table))

    def formula(self, schema: Schema) -> Formula:
        """The rules as an expression of the raw columns."""
        from baytree.tree.boosting.formula import rule_trials

        return rule_trials(self, schema)

    def summary(self, schema: Schema) -> RuleSetSummary | TrialsSummary:
        """Summary record of the rules, set by set."""
        summaries = tuple(rules.summary(schema) for rules in self.sets)
        return summaries[0] if len(summaries) == 1 else TrialsSummary(schema.target.name, summaries)

    def check(self, schema: Schema) -> None:
        """Raise an error unless every set fits the schema."""
        if not self.sets or self.usage.shape != (len(schema),):
            raise ValueError("the model has no rule set, or its columns do not fit the schema")
        for rules in self.sets:
            rules.check(schema)

    @property
    def title(self) -> str:
        """Name of the kind of model."""
        return "rule set" if len(self.sets) == 1 else f"{len(self.sets)} boosted rule sets"

    def _votes(self, table: Table) -> np.ndarray:
        return np.sum([self._trial(rules, table)[0] for rules in self.sets], axis=0)

    def _trial(self, rules: VotingRules, table: Table) -> tuple[np.ndarray, np.ndarray]:
        choice, confidence = rules.predict_as_reported(table)
        return confidence_votes(choice, confidence, len(table.schema.classes)), choice


class StoredCondition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Condition as stored in a model file, which cannot hold infinity: an absent bound is None."""

    column: int
    low: float | str | None = None  # "inf" or "-inf" if that is the bound
    high: float | str | None = None
    from_low: bool = False
    below_high: bool = False
    levels: tuple[int, ...] | None = None  # None if the column is numeric
    missing: bool = False

    @classmethod
    def of(cls, condition: Condition) -> StoredCondition:
        """Record of a condition."""
        allowed = condition.allowed
        if not isinstance(allowed, ValueRange):
            return cls(condition.column, levels=allowed, missing=condition.missing)
        low = None if allowed.low == -inf and not allowed.from_low else _encode_bound(allowed.low)
        high = None if allowed.high == inf and not allowed.below_high else _encode_bound(allowed.high)
        return cls(condition.column, low, high, allowed.from_low, allowed.below_high, None, condition.missing)

    @property
    def condition(self) -> Condition:
        """The stored condition."""
        if self.levels is not None:
            return Condition(self.column, self.levels, self.missing)
        low, high = -inf if self.low is None else float(self.low), inf if self.high is None else float(self.high)
        return Condition(self.column, ValueRange(low, high, self.from_low, self.below_high), self.missing)


class VotingRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rule: IF all conditions hold THEN the class, with its coverage and correct cases in the training rows."""

    asked: tuple[StoredCondition, ...]
    label: int  # class code
    cover: float
    right: float
    lift: float  # confidence divided by the proportion of the class in all rows

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Conditions that must hold, one per column."""
        return tuple(stored.condition for stored in self.asked)

    @property
    def confidence(self) -> float:
        """Laplace estimate of the accuracy: (right + 1) / (cover + 2)."""
        return (self.right + 1.0) / (self.cover + 2.0)

    @property
    def thousandths(self) -> float:
        """Confidence in whole thousandths, as rules vote with it."""
        return floor(1000.0 * self.confidence + 0.5)

    @property
    def vote(self) -> float:
        """Weight of the rule's vote: its confidence, rounded to thousandths."""
        return self.thousandths / 1000.0

    def check(self, schema: Schema) -> None:
        """Raise an error unless its class exists, and every condition suits its column."""
        if not 0 <= self.label < len(schema.classes):
            raise ValueError("a rule predicts an unknown class")
        for condition in self.conditions:
            _check_condition(condition, schema)

    def named(self, schema: Schema) -> VotingRuleSummary:
        """Summary record of the rule, with the names of columns, levels and classes."""
        conditions = tuple(condition.named(schema) for condition in self.conditions)
        label = str(schema.classes[self.label])
        return VotingRuleSummary(conditions, label, self.cover, self.right, self.lift, self.confidence)


def _encode_bound(edge: float) -> float | str:
    return edge if np.isfinite(edge) else str(edge)


def _check_condition(condition: Condition, schema: Schema) -> None:
    if not 0 <= condition.column < len(schema):
        raise ValueError("a rule tests an unknown column")
    column = schema.columns[condition.column]
    allowed = condition.allowed
    if allowed != () and isinstance(allowed, ValueRange) != (column.kind is Kind.NUMERIC):
        raise ValueError(f"a rule does not suit the kind of column {column.name!r}")
    if not isinstance(allowed, ValueRange) and any(not 0 <= code < len(column.levels) for code in allowed):
        raise ValueError(f"a rule tests an unknown level of column {column.name!r}")
