"""Which columns a formula reads, so that the others may be absent.

Formulas that may choose no class: the place of the choice is then −1.

Where rows rest, told in few numbers: answers of a tree stand once, however many leaves have them.
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
    """The places of the columns that decide an answer; a surrogate, which only stands in for a missing value, does not."""
    tested = {node.tests[0].column for nodes in formula.trees for node in nodes if node.tests}
    tests = {j for place in tested for j in columns_of(formula, place)}
    steps = [msgspec.to_builtins(part) for part in (formula.answers, formula.choice, formula.steps) if part is not None]
    return frozenset(tests | {column for part in steps for column in _columns(part)})


def columns_of(formula: Formula, place: int) -> tuple[int, ...]:
    """The columns that a test reads: one, or those of a sum."""
    n_columns = len(formula.columns)
    return (place,) if place < n_columns else formula.made[place - n_columns].columns


def _columns(part: Any) -> set[int]:
    """Every value of a key `column`, at any depth."""
    found, rest = set(), [part]
    while rest:
        each = rest.pop()
        if isinstance(each, dict):
            if isinstance(each.get("column"), int):
                found.add(each["column"])
            rest += each.values()
        elif isinstance(each, (list, tuple)):
            rest += [item for item in each if isinstance(item, (dict, list, tuple))]
    return found


_NOTHING = Constant((-1.0,))


def abstain_below(formula: Formula, least: float) -> Formula:
    """The formula that chooses nothing where its class has a smaller probability."""
    if formula.choice is None:
        raise ValueError(f"reject={least:g}: {formula.target!r} is a number, which has no probability; leave reject out")
    steps = (*formula.steps, Step(formula.choice))
    choice = Named(len(steps) - 1)
    is_unsure = Compare(_probability(formula, choice), "<", Constant((least,)))
    return msgspec.structs.replace(formula, steps=steps, choice=Case((When(is_unsure, _NOTHING),), choice))


def may_abstain(formula: Formula) -> bool:
    """Whether it may choose nothing."""
    return isinstance(formula.choice, Case) and any(when.value == _NOTHING for when in formula.choice.whens)


def _probability(formula: Formula, choice: Named) -> Expression:
    """That of the class that is chosen, which with costs need not be the likeliest."""
    if formula.choice == FirstHighest(formula.answers):
        return Highest(formula.answers)
    n = len(formula.classes or ())
    *others, last = (Constant(tuple(float(j == k) for j in range(n))) for k in range(n))
    whens = tuple(When(Compare(choice, "==", Constant((float(k),))), only) for k, only in enumerate(others))
    return Total(Product((Case(whens, last), formula.answers)))


Places = dict[int, list[int]]


def deduplicate_leaves(formula: Formula) -> tuple[Formula, Places]:
    """The formula with tables that hold each answer once, and for each tree that is only read so the row that a node has."""
    picks = [record for record in records(formula) if isinstance(record, Pick)]
    routes = [record for record in records(formula) if isinstance(record, (Named, Route))]
    places: Places = {}
    for tree in range(len(formula.trees)):
        own = [pick for pick in picks if _meant(formula, pick.of) == Route(tree)]
        n_read = sum(_meant(formula, each) == Route(tree) for each in routes) - _is_step(formula, Route(tree))
        if own and n_read == len(own):
            formula, places[tree] = _merged(formula, own)
    return formula, places


def _merged(formula: Formula, picks: list[Pick]) -> tuple[Formula, list[int]]:
    rows = [*zip(*(pick.table for pick in picks), strict=True)]
    place: dict[tuple[Numbers, ...], int] = {}
    places = [place.setdefault(row, len(place)) for row in rows]
    shorter = {pick: Pick(pick.of, table) for pick, table in zip(picks, zip(*place, strict=True), strict=True)}

    def replaced(value: Expression) -> Expression:
        return shorter.get(value, value) if isinstance(value, Pick) else value

    steps = tuple(msgspec.structs.replace(step, value=replaced(step.value)) for step in formula.steps)
    choice = None if formula.choice is None else replaced(formula.choice)
    return msgspec.structs.replace(formula, steps=steps, answers=replaced(formula.answers), choice=choice), places


def _meant(formula: Formula, expression: msgspec.Struct) -> msgspec.Struct:
    while isinstance(expression, Named):
        expression = formula.steps[expression.step].value
    return expression


def _is_step(formula: Formula, route: Route) -> bool:
    return any(step.value == route for step in formula.steps)


def records(formula: Formula) -> Iterator[msgspec.Struct]:
    """Everything that the answers and the choice are made of."""
    asked = [formula.answers, formula.choice, *(formula.steps[k].value for k in required_steps(formula))]
    rest: list[msgspec.Struct] = [each for each in asked if each is not None]
    while rest:
        yield (each := rest.pop())
        rest.extend(parts(each))
