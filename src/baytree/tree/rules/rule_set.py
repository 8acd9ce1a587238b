"""Ordered sets of IF–THEN rules: derived from a tree (one rule per leaf), applied to rows, simplified and displayed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import msgspec
import numpy as np

from baytree.data.encoding.table import Table, is_missing
from baytree.data.schema.schema import Schema
from baytree.display.terminal import MAX_LISTED_LEVELS, number, quoted
from baytree.tree.model.conditions import Branches, Condition, ValueRange
from baytree.tree.model.tree import Tree


class Rule(msgspec.Struct, frozen=True):
    """Rule: IF all conditions hold THEN the prediction, with its support in the training rows."""

    node: int
    conditions: tuple[Condition, ...]
    prediction: Any  # a class label, or a number
    probability: float | None  # of the prediction; None in regression
    rows: int
    weight: float
    share: float  # proportion of the total weight
    answer: np.ndarray  # float64 [n_outputs], probability of each class, or the number
    schema: Schema  # of the columns in the conditions

    def covers(self, table: Table) -> np.ndarray:
        """Whether each row passes every condition, bool [n_rows]."""
        return holding(self.conditions, table)

    def __str__(self) -> str:
        test = " AND ".join(condition.show(self.schema, MAX_LISTED_LEVELS) for condition in self.conditions)
        probability = "" if self.probability is None else f"probability {self.probability:.3f}; "
        prediction = f"{self.prediction:.6g}" if self.probability is None else quoted(self.prediction)
        support = f"{probability}{number(self.weight)} {'row' if self.weight == 1 else 'rows'}, {100 * self.share:.1f} %"
        return f"IF {test} THEN {prediction} ({support})" if test else f"ALWAYS {prediction} ({support})"

    def to_dict(self) -> dict[str, Any]:
        """The rule as plain values: `conditions` as text, `tests` as names and numbers."""
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
    """Ordered rules: the first one whose conditions hold predicts, `default` if none does."""

    rules: tuple[Rule, ...]
    default: Rule  # rule without conditions, of all rows

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    @overload
    def __getitem__(self, position: int) -> Rule: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[Rule]: ...

    def __getitem__(self, position: int | slice) -> Rule | Sequence[Rule]:
        return self.rules[position]

    def __str__(self) -> str:
        return "\n".join(map(str, self.rules))

    def _repr_html_(self) -> str:
        from baytree.display.results import table  # imported on demand

        return table(f"{len(self)} rules", ["if", "then", "probability", "rows", "share"], map(_cells, self))

    def apply(self, table: Table) -> np.ndarray:
        """Index of the rule that predicts each row, int64 [n_rows]; −1 for the default."""
        index, pending = np.full(len(table), -1), np.arange(len(table))
        for k, rule in enumerate(self.rules):
            index[passing(rule.conditions, table, pending)] = k
            pending = pending[index[pending] < 0]
        return index

    def predict(self, table: Table) -> np.ndarray:
        """Class probabilities, or the number, predicted for each row, float64 [n_rows, n_outputs]."""
        return np.array([rule.answer for rule in (*self.rules, self.default)])[self.apply(table)]

    def predictions(self, table: Table) -> list[Any]:
        """Predicted class label, or number, of each row."""
        all_rules = (*self.rules, self.default)
        return [all_rules[k].prediction for k in self.apply(table)]

    def simplified(self, table: Table) -> RuleSet:
        """Fewer and shorter rules with the same prediction for each of these rows.

        From the first rule on, a condition is dropped if the rows that the rule gains have its prediction. A rule is
        dropped if no row is left for it, or if it is last and predicts the default.
        """
        codes = _codes((*self.rules, self.default))
        target, pending, simplified = codes[self.apply(table)], np.arange(len(table)), []
        for rule, code in zip(self.rules, codes, strict=False):
            required = _required_conditions(rule.conditions, table, pending, target == code)
            covered = passing(required, table, pending)
            if len(covered):
                simplified.append(msgspec.structs.replace(rule, conditions=required))
                pending = np.setdiff1d(pending, covered, assume_unique=True)
        while simplified and simplified[-1].prediction == self.default.prediction:
            simplified.pop()
        return RuleSet(tuple(simplified), self.default)

    def to_dict(self) -> dict[str, Any]:
        """The rules and the default as plain values."""
        return {"rules": [rule.to_dict() for rule in self.rules], "default": self.default.to_dict()}


def holding(conditions: Sequence[Condition], table: Table) -> np.ndarray:
    """Whether every condition holds, bool [n_rows]."""
    holds = np.ones(len(table), np.bool_)
    for condition in conditions:
        holds &= _holds(condition, condition.values(table.values))
    return holds


def passing(conditions: Sequence[Condition], table: Table, rows: np.ndarray) -> np.ndarray:
    """Indices of those of the rows that pass every condition."""
    for condition in conditions:
        rows = rows[_holds(condition, condition.values(table.values)[rows])]
    return rows


def _holds(condition: Condition, values: np.ndarray) -> np.ndarray:
    """Which numbers, or codes, pass a condition, bool [n_values]."""
    allowed = condition.allowed
    holds = _is_between(values, allowed) if isinstance(allowed, ValueRange) else _is_among(values, allowed)
    return holds | is_missing(values) if condition.missing else holds


def _is_among(values: np.ndarray, codes: tuple[int, ...]) -> np.ndarray:
    """Which codes are among the allowed ones, bool [n_values]; a numeric column has no allowed codes."""
    if not codes:
        return np.zeros(len(values), np.bool_)
    passes = np.zeros(int(values.max(initial=max(codes))) + 2, np.bool_)  # the last entry is that of code −1
    passes[list(codes)] = True
    return passes.take(values)


def _is_between(values: np.ndarray, interval: ValueRange) -> np.ndarray:
    """Which numbers are in an interval, bool [n_values]; an absent bound excludes no number, not even −∞; NaN is in none."""
    is_inside = ~np.isnan(values)
    if interval.low > -np.inf or interval.from_low:
        is_inside &= values >= interval.low if interval.from_low else values > interval.low
    if interval.high < np.inf or interval.below_high:
        is_inside &= values < interval.high if interval.below_high else values <= interval.high
    return is_inside


def _codes(rules: Sequence[Rule]) -> np.ndarray:
    """Code of each rule's prediction, int64 [n_rules]."""
    code_of: dict[Any, int] = {}
    return np.array([code_of.setdefault(rule.prediction, len(code_of)) for rule in rules])


def _required_conditions(
    conditions: tuple[Condition, ...], table: Table, waiting: np.ndarray, is_right: np.ndarray
) -> tuple[Condition, ...]:
    """Conditions without which pending rows of another prediction would pass; the last condition is tried first."""
    for condition in reversed(conditions):
        fewer = tuple(each for each in conditions if each is not condition)
        if is_right[passing(fewer, table, waiting)].all():
            conditions = fewer
    return conditions


def _cells(rule: Rule) -> list[str]:
    """Cells of a rule in a table."""
    test = " and ".join(condition.show(rule.schema, MAX_LISTED_LEVELS) for condition in rule.conditions) or "always"
    is_number = rule.probability is None
    prediction = f"{rule.prediction:.6g}" if is_number else str(rule.prediction)
    return [
        test,
        prediction,
        "" if is_number else f"{rule.probability:.3f}",
        number(rule.weight),
        f"{100 * rule.share:.1f}%",
    ]


def rules(tree: Tree, schema: Schema) -> RuleSet:
    """One rule per leaf, in the order of the printed tree."""
    leaf_rules = (_rule(tree, schema, node, tuple(conditions.values())) for node, conditions in paths(tree, schema))
    return RuleSet(tuple(leaf_rules), _rule(tree, schema, 0, ()))


def paths(tree: Tree, schema: Schema) -> Iterator[tuple[int, dict[int, Condition]]]:
    """Yield each leaf with its condition on each column, in the order in which the path first tests the columns."""
    branches = Branches(tree, schema)
    pending: list[tuple[int, dict[int, Condition]]] = [(0, {})]
    while pending:
        node, conditions = pending.pop()
        if branches.column[node] < 0:
            yield node, conditions
            continue
        column, first = branches.column[node], branches.first[node]
        previous = conditions.get(column)
        refined = [previous.meet(each) if previous else each for each in branches.of(node)]
        pending += [(first + b, conditions | {column: each}) for b, each in reversed(list(enumerate(refined)))]


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
