"""A tree as IF–THEN rules: one for each leaf, with its support."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from baytree.show.names import number, quoted
from baytree.table.schema import Schema
from baytree.tree.model.conditions import Branches, Condition
from baytree.tree.model.structure import Tree


class Rule(msgspec.Struct, frozen=True):
    """IF all conditions hold THEN the prediction: how many training rows say so, and how surely."""

    node: int
    conditions: tuple[str, ...]
    prediction: Any
    probability: float | None  # of the prediction; None where it is a number
    rows: int
    weight: float
    share: float  # of all weight

    def __str__(self) -> str:
        test = " AND ".join(self.conditions)
        sure = "" if self.probability is None else f"probability {self.probability:.3f}; "
        told = f"{self.prediction:.6g}" if self.probability is None else quoted(self.prediction)
        support = f"{sure}{number(self.weight)} rows, {100 * self.share:.1f} %"
        return f"IF {test} THEN {told} ({support})" if test else f"ALWAYS {told} ({support})"

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain values."""
        return msgspec.structs.asdict(self) | {"conditions": list(self.conditions)}


def rules(tree: Tree, schema: Schema) -> list[Rule]:
    """One rule for each leaf, in the order of the text."""
    target = schema.target
    classes = target.classes if target and target.classes is not None else tuple(range(max(1, tree.n_classes)))
    return [_rule(tree, schema, node, asked, classes) for node, asked in paths(tree, schema)]


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


def _rule(tree: Tree, schema: Schema, node: int, asked: dict[int, Condition], classes: tuple) -> Rule:
    is_class, code = tree.n_classes > 0, int(tree.prediction[node])
    return Rule(
        node=node,
        conditions=tuple(condition.show(schema) for condition in asked.values()),
        prediction=classes[code] if is_class else float(tree.value[node, 0]),
        probability=float(tree.value[node, code]) if is_class else None,
        rows=int(tree.rows[node]),
        weight=float(tree.weight[node]),
        share=float(tree.weight[node] / tree.weight[0]),
    )
