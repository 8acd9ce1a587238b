"""Which columns a formula reads, so that the others may be absent."""

from __future__ import annotations

from typing import Any

import msgspec

from baytree.formula import Formula


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
