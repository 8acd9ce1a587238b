"""A rule set as expressions: rules that hold or not, as 1 and 0, and what their votes come to."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from baytree.formula.expressions import (
    Case,
    Compare,
    Constant,
    Expression,
    Greatest,
    Lookup,
    Named,
    Product,
    Quotient,
    Smallest,
    Sum,
    Total,
    When,
)
from baytree.formula.steps import Steps, constant
from baytree.table.schema import Schema
from baytree.tree.boost.rules import VotingRules
from baytree.tree.boost.vote_formula import HALF, ONE, ZERO, Voted, complement, leading
from baytree.tree.boost.voting_rule import VotingRule
from baytree.tree.model.conditions import Condition, Interval


def of_rules(steps: Steps, rules: VotingRules) -> Voted:
    """The shares that the rules which hold come to, the class of most votes, and the vote for it."""
    n, units = len(steps.schema.classes), np.eye(len(steps.schema.classes))
    holds = [steps.keep(_holds(rule, steps.schema)) for rule in rules]
    firing = steps.keep(Sum((ZERO, *holds)))
    voters = [
        Product((hold, constant(rule.thousandths * units[rule.label]))) for hold, rule in zip(holds, rules, strict=True)
    ]
    votes = steps.keep(Quotient(Sum((constant(np.zeros(n)), *voters)), Constant((1000.0,))))
    by_class = (Product((_specific(rules, holds, c), constant(units[c]))) for c in range(n))
    specific = steps.keep(Sum((constant(np.zeros(n)), *by_class)))
    choice, is_chosen = leading(votes, rules.default, n)
    mean = steps.keep(Quotient(votes, Greatest((firing, ONE))))
    chosen = steps.keep(is_chosen)
    winner = Product((chosen, Greatest((specific, mean))))
    sure = steps.keep(Sum((winner, Product((complement(chosen), Smallest((specific, mean)))))))
    none = Compare(firing, "<", HALF)
    unsure = np.full(n, 1.0 / n) if len(rules) or rules.proportions is None else rules.proportions
    answers = steps.keep(Case((When(none, constant(unsure)),), Quotient(sure, Total(sure))))
    own = steps.keep(Total(winner))
    doubted = Case((When(Compare(own, ">", ZERO), own),), HALF)
    return answers, choice, Product((chosen, doubted))


def _specific(rules: VotingRules, holds: Sequence[Named], label: int) -> Expression:
    """The vote of the most specific rule of a class that holds, 0 where none does."""
    order = sorted(range(len(rules)), key=lambda k: (-rules[k].cover, rules[k].vote), reverse=True)
    whens = [When(Compare(holds[k], ">", HALF), constant(rules[k].vote)) for k in order if rules[k].label == label]
    return Case(tuple(whens), ZERO) if whens else ZERO


def _holds(rule: VotingRule, schema: Schema) -> Expression:
    """1 where all conditions hold, 0 elsewhere."""
    return Product((ONE, *(_condition(each, schema) for each in rule.conditions)))


def _condition(condition: Condition, schema: Schema) -> Lookup:
    missing = (float(condition.missing),)
    if not isinstance(condition.allowed, Interval):
        codes = range(len(schema.columns[condition.column].levels)) or range(1)  # of numbers only missing ones are asked for
        return Lookup(condition.column, tuple((float(code in condition.allowed),) for code in codes), missing)
    edges, passes = _edges(condition.allowed)
    return Lookup(condition.column, tuple((each,) for each in passes), missing, edges)


def _edges(allowed: Interval) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Cuts as a lookup reads them, where a number that equals a cut lies below it, and which pieces pass."""
    low = np.nextafter(allowed.low, -inf) if allowed.from_low else allowed.low
    high = np.nextafter(allowed.high, -inf) if allowed.below_high else allowed.high
    cuts: list[float] = []
    passes = [1.0]
    if allowed.low > -inf or allowed.from_low:
        cuts, passes = [float(low)], [0.0, 1.0]
    if allowed.high < inf or allowed.below_high:
        cuts, passes = [*cuts, float(high)], [*passes, 0.0]
    return tuple(cuts), tuple(passes)
