"""Rule sets: IF–THEN rules in an order, which can be applied to rows, simplified, shown and written out.

A tree as IF–THEN rules: one for each leaf, with its support.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import msgspec
import numpy as np

from baytree.data.encoding.table import Table, is_missing
from baytree.data.schema.schema import Schema
from baytree.display.terminal import number, quoted
from baytree.tree.model.conditions import Branches, Condition, ValueRange
from baytree.tree.model.tree import Tree


class Rule(msgspec.Struct, frozen=True):
    """IF all conditions hold THEN the prediction: how many training rows say so, and how surely."""

    node: int
    conditions: tuple[Condition, ...]
    prediction: Any  # a class as it came, or a number
    probability: float | None  # of the prediction; None where it is a number
    rows: int
    weight: float
    share: float  # of all weight
    answer: np.ndarray  # float64 [n_outputs], the probability of each class, or the number
    schema: Schema  # what the conditions name

    def covers(self, table: Table) -> np.ndarray:
        """bool [n_rows]: the rows that pass every condition."""
        return holding(self.conditions, table)

    def __str__(self) -> str:
        test = " AND ".join(condition.show(self.schema) for condition in self.conditions)
        sure = "" if self.probability is None else f"probability {self.probability:.3f}; "
        told = f"{self.prediction:.6g}" if self.probability is None else quoted(self.prediction)
        support = f"{sure}{number(self.weight)} {'row' if self.weight == 1 else 'rows'}, {100 * self.share:.1f} %"
        return f"IF {test} THEN {told} ({support})" if test else f"ALWAYS {told} ({support})"

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain values: `conditions` in words, and as names and numbers in `tests`."""
        return {
            "node": self.node,
            "conditions": [condition.show(self.schema) for condition in self.conditions],
            "prediction": self.prediction,
            "probability": self.probability,
            "rows": self.rows,
            "weight": self.weight,
            "share": self.share,
            "tests": [msgspec.structs.asdict(condition.named(self.schema)) for condition in self.conditions],
        }


class RuleSet(msgspec.Struct, frozen=True):
    """Rules in an order: the first one whose conditions hold answers, and `default` where none does."""

    rules: tuple[Rule, ...]
    default: Rule  # without conditions: what is known of all rows

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    @overload
    def __getitem__(self, place: int) -> Rule: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Rule]: ...

    def __getitem__(self, place: int | slice) -> Rule | Sequence[Rule]:
        return self.rules[place]

    def __str__(self) -> str:
        return "\n".join(map(str, self.rules))

    def _repr_html_(self) -> str:
        from baytree.display.results import table  # only a notebook asks for it

        return table(f"{len(self)} rules", ["if", "then", "probability", "rows", "share"], map(_cells, self))

    def apply(self, table: Table) -> np.ndarray:
        """int64 [n_rows]: the place of the rule that answers each row, −1 where none does."""
        place, waiting = np.full(len(table), -1), np.arange(len(table))
        for k, rule in enumerate(self.rules):
            place[passing(rule.conditions, table, waiting)] = k
            waiting = waiting[place[waiting] < 0]
        return place

    def predict(self, table: Table) -> np.ndarray:
        """float64 [n_rows, n_outputs]: the probability of each class, or the number, of each row."""
        return np.array([rule.answer for rule in (*self.rules, self.default)])[self.apply(table)]

    def predictions(self, table: Table) -> list[Any]:
        """The class, or the number, that each row gets."""
        every = (*self.rules, self.default)
        return [every[k].prediction for k in self.apply(table)]

    def simplified(self, table: Table) -> RuleSet:
        """Fewer and shorter rules with the same prediction for each of these rows.

        From the first rule on, a condition goes if the rows that the rule gains are predicted alike. A rule goes if no row
        is left for it, and at the end if it says what holds anyway.
        """
        codes = _codes((*self.rules, self.default))
        wanted, waiting, kept = codes[self.apply(table)], np.arange(len(table)), []
        for rule, code in zip(self.rules, codes, strict=False):
            needed = _needed(rule.conditions, table, waiting, wanted == code)
            taken = passing(needed, table, waiting)
            if len(taken):
                kept.append(msgspec.structs.replace(rule, conditions=needed))
                waiting = np.setdiff1d(waiting, taken, assume_unique=True)
        while kept and kept[-1].prediction == self.default.prediction:
            kept.pop()
        return RuleSet(tuple(kept), self.default)

    def to_dict(self) -> dict[str, Any]:
        """The rules as plain values, and what holds where none does."""
        return {"rules": [rule.to_dict() for rule in self.rules], "default": self.default.to_dict()}


def holding(conditions: Sequence[Condition], table: Table) -> np.ndarray:
    """bool [n_rows]: for which rows every condition holds."""
    holds = np.ones(len(table), np.bool_)
    for condition in conditions:
        holds &= _holds(condition, condition.values(table.values))
    return holds


def passing(conditions: Sequence[Condition], table: Table, rows: np.ndarray) -> np.ndarray:
    """Those of the rows that pass every condition."""
    for condition in conditions:
        rows = rows[_holds(condition, condition.values(table.values)[rows])]
    return rows


def _holds(condition: Condition, values: np.ndarray) -> np.ndarray:
    """bool [n_values]: which numbers, or codes, a condition lets pass."""
    allowed = condition.allowed
    holds = _is_between(values, allowed) if isinstance(allowed, ValueRange) else _is_among(values, allowed)
    return holds | is_missing(values) if condition.missing else holds


def _is_among(values: np.ndarray, codes: tuple[int, ...]) -> np.ndarray:
    """bool [n_values]: which values are among these codes; a column of numbers is asked for none."""
    if not codes:
        return np.zeros(len(values), np.bool_)
    passes = np.zeros(int(values.max(initial=max(codes))) + 2, np.bool_)  # the last place is that of −1
    passes[list(codes)] = True
    return passes.take(values)


def _is_between(values: np.ndarray, interval: ValueRange) -> np.ndarray:
    """bool [n_values]: an edge that is not there keeps no number out, not even −∞; what is missing lies nowhere."""
    inside = ~np.isnan(values)
    if interval.low > -np.inf or interval.from_low:
        inside &= values >= interval.low if interval.from_low else values > interval.low
    if interval.high < np.inf or interval.below_high:
        inside &= values < interval.high if interval.below_high else values <= interval.high
    return inside


def _codes(rules: Sequence[Rule]) -> np.ndarray:
    """int64 [n_rules]: equal where rules predict the same."""
    place: dict[Any, int] = {}
    return np.array([place.setdefault(rule.prediction, len(place)) for rule in rules])


def _needed(
    conditions: tuple[Condition, ...], table: Table, waiting: np.ndarray, is_right: np.ndarray
) -> tuple[Condition, ...]:
    """The conditions that keep out waiting rows for which the rule is not right; the last condition is tried first."""
    for condition in reversed(conditions):
        fewer = tuple(each for each in conditions if each is not condition)
        if is_right[passing(fewer, table, waiting)].all():
            conditions = fewer
    return conditions


def _cells(rule: Rule) -> list[str]:
    """A rule as a row of a table."""
    test = " and ".join(condition.show(rule.schema) for condition in rule.conditions) or "always"
    is_number = rule.probability is None
    told = f"{rule.prediction:.6g}" if is_number else str(rule.prediction)
    return [test, told, "" if is_number else f"{rule.probability:.3f}", number(rule.weight), f"{100 * rule.share:.1f}%"]


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
