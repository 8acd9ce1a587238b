"""Formulas that may choose no class: the place of the choice is then −1."""

from __future__ import annotations

import msgspec

from baytree.formula import Formula, Step
from baytree.formula.expressions import (
    Case,
    Compare,
    Constant,
    Expression,
    FirstHighest,
    Highest,
    Named,
    Product,
    Total,
    When,
)

_NOTHING = Constant((-1.0,))


def silent_below(formula: Formula, least: float) -> Formula:
    """The formula that chooses nothing where its class has a smaller probability."""
    if formula.choice is None:
        raise ValueError(f"reject={least:g}: {formula.target!r} is a number, which has no probability; leave reject out")
    steps = (*formula.steps, Step(formula.choice))
    choice = Named(len(steps) - 1)
    is_unsure = Compare(_probability(formula, choice), "<", Constant((least,)))
    return msgspec.structs.replace(formula, steps=steps, choice=Case((When(is_unsure, _NOTHING),), choice))


def may_be_silent(formula: Formula) -> bool:
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
