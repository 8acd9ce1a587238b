"""Analyses and rewrites of formulas: used columns, the reject option, and merging of equal leaf values.

A formula with a reject option may choose no class; the index of the choice is then −1. `deduplicate_leaves` stores each
distinct leaf value of a tree once, however many leaves have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from baytree.formula import Formula, Step
from baytree.formula.builder import parts, required_steps
from baytree.formula.expressions import (
    Case,
    Compare,
    Constant,
    Expression,
    FirstHighest,
    Highest,
    Named,
    Numbers,
    Pick,
    Product,
    Route,
    Total,
    When,
)


def columns_used(formula: Formula) -> frozenset[int]:
    """Indices of the columns that influence a prediction; surrogates, which only replace missing values, do not count."""
    first_tested = {node.tests[0].column for nodes in formula.trees for node in nodes if node.tests}
    tests = {j for position in first_tested for j in columns_of(formula, position)}
    steps = [msgspec.to_builtins(part) for part in (formula.answers, formula.choice, formula.steps) if part is not None]
    return frozenset(tests | {column for part in steps for column in _columns(part)})


def columns_of(formula: Formula, position: int) -> tuple[int, ...]:
    """Columns that a test reads: one, or those of a weighted sum."""
    n_columns = len(formula.columns)
    return (position,) if position < n_columns else formula.made[position - n_columns].columns


def _columns(part: Any) -> set[int]:
    """Values of the key `column` at any depth."""
    columns, stack = set(), [part]
    while stack:
        each = stack.pop()
        if isinstance(each, dict):
            if isinstance(each.get("column"), int):
                columns.add(each["column"])
            stack += each.values()
        elif isinstance(each, (list, tuple)):
            stack += [item for item in each if isinstance(item, (dict, list, tuple))]
    return columns


def with_step(formula: Formula, value: Expression) -> tuple[Formula, Named]:
    """Formula with one more step, and the reference to its value."""
    return msgspec.structs.replace(formula, steps=(*formula.steps, Step(value))), Named(len(formula.steps))


_NO_CLASS = Constant((-1.0,))


def abstain_below(formula: Formula, min_probability: float) -> Formula:
    """Formula that chooses no class if the chosen one has a probability below `min_probability`."""
    if formula.choice is None:
        raise ValueError(
            f"reject={min_probability:g}: {formula.target!r} is numeric and has no class probabilities; omit reject"
        )
    stepped, choice = with_step(formula, formula.choice)
    is_unsure = Compare(_probability(formula, choice), "<", Constant((min_probability,)))
    return msgspec.structs.replace(stepped, choice=Case((When(is_unsure, _NO_CLASS),), choice))


def may_abstain(formula: Formula) -> bool:
    """Whether a formula may choose no class."""
    return isinstance(formula.choice, Case) and any(when.value == _NO_CLASS for when in formula.choice.whens)


def _probability(formula: Formula, choice: Named) -> Expression:
    """Probability of the chosen class, which need not be the most probable one if costs differ."""
    if formula.choice == FirstHighest(formula.answers):
        return Highest(formula.answers)
    n = len(formula.classes or ())
    *others, last = (Constant(tuple(float(j == k) for j in range(n))) for k in range(n))
    whens = tuple(When(Compare(choice, "==", Constant((float(k),))), only) for k, only in enumerate(others))
    return Total(Product((Case(whens, last), formula.answers)))


Places = dict[int, list[int]]


def deduplicate_leaves(formula: Formula) -> tuple[Formula, Places]:
    """Merge equal leaf values: the formula with shorter tables, and the table row of each node per tree that was merged.

    Only trees whose node numbers are read by nothing but `Pick` are merged.
    """
    picks = [record for record in records(formula) if isinstance(record, Pick)]
    routes = [record for record in records(formula) if isinstance(record, (Named, Route))]
    leaf_rows: Places = {}
    for tree in range(len(formula.trees)):
        own_picks = [pick for pick in picks if resolve(formula, pick.of) == Route(tree)]
        n_read = sum(resolve(formula, each) == Route(tree) for each in routes) - _is_step(formula, Route(tree))
        if own_picks and n_read == len(own_picks):
            formula, leaf_rows[tree] = _merged(formula, own_picks)
    return formula, leaf_rows


def _merged(formula: Formula, picks: list[Pick]) -> tuple[Formula, list[int]]:
    rows = [*zip(*(pick.table for pick in picks), strict=True)]
    row_of: dict[tuple[Numbers, ...], int] = {}
    leaf_rows = [row_of.setdefault(row, len(row_of)) for row in rows]
    replacements = {pick: Pick(pick.of, table) for pick, table in zip(picks, zip(*row_of, strict=True), strict=True)}

    def replaced(value: Expression) -> Expression:
        return replacements.get(value, value) if isinstance(value, Pick) else value

    steps = tuple(msgspec.structs.replace(step, value=replaced(step.value)) for step in formula.steps)
    choice = None if formula.choice is None else replaced(formula.choice)
    return msgspec.structs.replace(formula, steps=steps, answers=replaced(formula.answers), choice=choice), leaf_rows


def resolve(formula: Formula, expression: msgspec.Struct) -> msgspec.Struct:
    """Expression that a reference to a step stands for."""
    while isinstance(expression, Named):
        expression = formula.steps[expression.step].value
    return expression


def _is_step(formula: Formula, route: Route) -> bool:
    return any(step.value == route for step in formula.steps)


def records(formula: Formula) -> Iterator[msgspec.Struct]:
    """All records that the predictions and the choice consist of."""
    expressions = [formula.answers, formula.choice, *(formula.steps[k].value for k in required_steps(formula))]
    stack: list[msgspec.Struct] = [each for each in expressions if each is not None]
    while stack:
        yield (each := stack.pop())
        stack.extend(parts(each))
