"""Rule sets from what the core has formed, and from the leaves of any tree."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from baytree.table.schema import Schema
from baytree.tree.boost.rules import VotingRules
from baytree.tree.boost.voting_rule import Asked, VotingRule
from baytree.tree.grow.c50_growth import six_digits
from baytree.tree.model.conditions import Condition, Interval
from baytree.tree.model.structure import Tree
from baytree.tree.rules.leaf_rules import paths


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
            rules.append(VotingRule(tuple(map(Asked.of, asked.values())), label, weight, right, lift))
    rules.sort(key=lambda rule: (rule.label, -rule.thousandths))
    return VotingRules(tuple(rules), int(tree.prediction[0]), prior / prior.sum())


def _condition(column: int, ask: int, cut: float, levels: list[int]) -> Condition:
    if ask == 2:
        return Condition(column, tuple(levels))
    return Condition(column, Interval(-inf, cut) if ask == 0 else Interval(cut, inf))


def _met(conditions: Sequence[Condition]) -> tuple[Asked, ...]:
    """One condition for each column."""
    by_column: dict[int, Condition] = {}
    for each in conditions:
        by_column[each.column] = by_column[each.column].meet(each) if each.column in by_column else each
    return tuple(map(Asked.of, by_column.values()))
