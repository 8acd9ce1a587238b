"""A tree as IF–THEN rules: one for each leaf, with its support."""

from __future__ import annotations

from collections.abc import Iterator

from baytree.table.schema import Schema
from baytree.tree.model.conditions import Branches, Condition
from baytree.tree.model.structure import Tree
from baytree.tree.rules.rule_set import Rule, RuleSet


def rules(tree: Tree, schema: Schema) -> RuleSet:
    """One rule for each leaf, in the order of the text."""
    found = (_rule(tree, schema, node, tuple(asked.values())) for node, asked in paths(tree, schema))
    return RuleSet(tuple(found), _rule(tree, schema, 0, ()))


def paths(tree: Tree, schema: Schema) -> Iterator[tuple[int, dict[int, Condition]]]:
    """Each leaf and what it asks of each column, in the order in which the columns are first asked for."""
    branches = Branches(tree, schema)
    waiting: list[tuple[int, dict[int, Condition]]] = [(0, {})]
    while waiting:
        node, asked = waiting.pop()
        if branches.column[node] < 0:
            yield node, asked
            continue
        column, first = branches.column[node], branches.first[node]
        before = asked.get(column)
        further = [before.meet(each) if before else each for each in branches.of(node)]
        waiting += [(first + b, asked | {column: each}) for b, each in reversed(list(enumerate(further)))]


def _rule(tree: Tree, schema: Schema, node: int, conditions: tuple[Condition, ...]) -> Rule:
    is_class, code = tree.n_classes > 0, int(tree.prediction[node])
    classes = schema.classes or range(tree.n_classes)
    return Rule(
        node=node,
        conditions=conditions,
        prediction=classes[code] if is_class else float(tree.value[node, 0]),
        probability=float(tree.value[node, code]) if is_class else None,
        rows=int(tree.rows[node]),
        weight=float(tree.weight[node]),
        share=float(tree.weight[node] / tree.weight[0]),
        answer=tree.value[node],
        schema=schema,
    )
