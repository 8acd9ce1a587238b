"""Voting rules from the rules that the core extracted, or from the leaves of any tree; C5.0's table of column usage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

import msgspec
import numpy as np

from baytree.data.schema.schema import Schema
from baytree.display.results import frame_of
from baytree.display.terminal import in_columns, plain
from baytree.tree.boosting.rule_votes import StoredCondition, VotingRule, VotingRules
from baytree.tree.model.conditions import Condition, ValueRange
from baytree.tree.model.tree import Tree
from baytree.tree.rules.rule_set import paths
from baytree.tree.search.c50 import six_digits


def voting_rules(core_rules: Sequence[tuple[int, float, float, int, Any]], default: int, prior: np.ndarray) -> VotingRules:
    """Voting rules of the core; `prior` is the proportion of each class in all rows."""
    rules = []
    for label, cover, right, _, tests in core_rules:
        cover, right = six_digits(np.array([cover, right])).tolist()
        lift = (right + 1.0) / (cover + 2.0) / float(prior[label])
        rules.append(VotingRule(_intersected([_condition(*test) for test in tests]), label, cover, right, lift))
    return VotingRules(tuple(rules), default, prior / prior.sum())


def rules_of_leaves(tree: Tree, schema: Schema) -> VotingRules:
    """A voting rule per leaf with rows, for any tree; the default is the majority class of all rows."""
    prior, rules = tree.counts[0] / tree.weight[0], []
    for node, conditions in paths(tree, schema):
        label, weight = int(tree.prediction[node]), float(tree.weight[node])
        if weight > 0:
            right = float(tree.counts[node, label])
            lift = (right + 1.0) / (weight + 2.0) / max(float(prior[label]), 1e-300)
            rules.append(VotingRule(tuple(map(StoredCondition.of, conditions.values())), label, weight, right, lift))
    rules.sort(key=lambda rule: (rule.label, -rule.thousandths))
    return VotingRules(tuple(rules), int(tree.prediction[0]), prior / prior.sum())


def _condition(column: int, ask: int, cut: float, levels: list[int]) -> Condition:
    if ask == 2:
        return Condition(column, tuple(levels))
    return Condition(column, ValueRange(-inf, cut) if ask == 0 else ValueRange(cut, inf))


def _intersected(conditions: Sequence[Condition]) -> tuple[StoredCondition, ...]:
    """Intersect the conditions on each column."""
    by_column: dict[int, Condition] = {}
    for each in conditions:
        by_column[each.column] = by_column[each.column].meet(each) if each.column in by_column else each
    return tuple(map(StoredCondition.of, by_column.values()))


class Usage(msgspec.Struct, frozen=True):
    """A column, and the proportion of training rows for which its value is read."""

    column: str
    usage: float


class UsageTable(msgspec.Struct, frozen=True):
    """Columns by falling usage; prints as a table and converts to a data frame."""

    rows: tuple[Usage, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Usage]:
        return iter(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict per column."""
        return [msgspec.structs.asdict(row) for row in self.rows]

    def to_frame(self) -> Any:
        """Data frame of the library in use."""
        return frame_of({name: [getattr(row, name) for row in self] for name in Usage.__struct_fields__})

    def __str__(self) -> str:
        cells = [[plain(row.column), f"{100 * row.usage:.2f} %"] for row in self]
        return "\n".join(in_columns([["column", "usage"], *cells], "<>"))


def usage_table(usage: np.ndarray, schema: Schema) -> UsageTable:
    """One row per column, by falling usage; of equals, in table order."""
    rows = [Usage(name, usage_of_column) for name, usage_of_column in zip(schema.names, usage.tolist(), strict=True)]
    return UsageTable(tuple(sorted(rows, key=lambda row: -row.usage)))
