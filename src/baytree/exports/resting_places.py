"""Where rows rest, told in few numbers: answers of a tree stand once, however many leaves have them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from baytree.formula import Formula
from baytree.formula.expressions import Expression, Named, Numbers, Pick, Route
from baytree.formula.steps import parts, reached

Places = dict[int, list[int]]


def with_few_places(formula: Formula) -> tuple[Formula, Places]:
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
    asked = [formula.answers, formula.choice, *(formula.steps[k].value for k in reached(formula))]
    rest: list[msgspec.Struct] = [each for each in asked if each is not None]
    while rest:
        yield (each := rest.pop())
        rest.extend(parts(each))
