"""Rule sets from what the core has formed, and from the leaves of any tree.

C5.0's usage of columns, as a table.
"""

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


def voting_rules(found: Sequence[tuple[int, float, float, int, Any]], otherwise: int, prior: np.ndarray) -> VotingRules:
    """The rules that the core has formed; `prior` is the share of each class in all rows."""
    rules = []
    for label, cover, right, _, asked in found:
        cover, right = six_digits(np.array([cover, right])).tolist()
        lift = (right + 1.0) / (cover + 2.0) / float(prior[label])
        rules.append(VotingRule(_met([_condition(*each) for each in asked]), label, cover, right, lift))
    return VotingRules(tuple(rules), otherwise, prior / prior.sum())


def rules_of_leaves(tree: Tree, schema: Schema) -> VotingRules:
    """A rule for each leaf of any tree that holds rows; where none holds, the class of all rows."""
    prior, rules = tree.counts[0] / tree.weight[0], []
    for node, asked in paths(tree, schema):
        label, weight = int(tree.prediction[node]), float(tree.weight[node])
        if weight > 0:
            right = float(tree.counts[node, label])
            lift = (right + 1.0) / (weight + 2.0) / max(float(prior[label]), 1e-300)
            rules.append(VotingRule(tuple(map(StoredCondition.of, asked.values())), label, weight, right, lift))
    rules.sort(key=lambda rule: (rule.label, -rule.thousandths))
    return VotingRules(tuple(rules), int(tree.prediction[0]), prior / prior.sum())


def _condition(column: int, ask: int, cut: float, levels: list[int]) -> Condition:
    if ask == 2:
        return Condition(column, tuple(levels))
    return Condition(column, ValueRange(-inf, cut) if ask == 0 else ValueRange(cut, inf))


def _met(conditions: Sequence[Condition]) -> tuple[StoredCondition, ...]:
    """One condition for each column."""
    by_column: dict[int, Condition] = {}
    for each in conditions:
        by_column[each.column] = by_column[each.column].meet(each) if each.column in by_column else each
    return tuple(map(StoredCondition.of, by_column.values()))


class Usage(msgspec.Struct, frozen=True):
    """One column, and the share of the training rows for which its value is read."""

    column: str
    usage: float


class UsageTable(msgspec.Struct, frozen=True):
    """The columns, the most used first; prints as a table, and is a frame on demand."""

    rows: tuple[Usage, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Usage]:
        return iter(self.rows)

    def to_dicts(self) -> list[dict[str, Any]]:
        """One dict per column."""
        return [msgspec.structs.asdict(row) for row in self.rows]

    def to_frame(self) -> Any:
        """A data frame of the library that is in use."""
        return frame_of({name: [getattr(row, name) for row in self] for name in Usage.__struct_fields__})

    def __str__(self) -> str:
        cells = [[plain(row.column), f"{100 * row.usage:.2f} %"] for row in self]
        return "\n".join(in_columns([["column", "usage"], *cells], "<>"))


def usage_table(usage: np.ndarray, schema: Schema) -> UsageTable:
    """One line per column, by falling usage and, of equals, in the order of the table."""
    rows = [Usage(name, share) for name, share in zip(schema.names, usage.tolist(), strict=True)]
    return UsageTable(tuple(sorted(rows, key=lambda row: -row.usage)))
