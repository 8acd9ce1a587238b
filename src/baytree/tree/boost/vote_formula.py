"""Votes as expressions: who leads, and the numbers that all of C5.0's formulas share."""

from __future__ import annotations

import numpy as np

from baytree.formula.expressions import (
    Case,
    Compare,
    Constant,
    Expression,
    FirstHighest,
    Highest,
    Pick,
    Product,
    Sum,
    Total,
    When,
)
from baytree.formula.steps import constant, matrix

ZERO, HALF, ONE, MINUS = Constant((0.0,)), Constant((0.5,)), Constant((1.0,)), Constant((-1.0,))

Voted = tuple[Expression, Expression, Expression]  # the answers of a trial alone, its choice, its vote for each class


def leading(votes: Expression, first: int, n_classes: int) -> tuple[Expression, Expression]:
    """The first class with most votes, `first` unless another has more; by its place, and as 1 beside 0 for the others."""
    units, place = np.eye(n_classes), FirstHighest(votes)
    is_beaten = Compare(Highest(votes), ">", Total(Product((votes, constant(units[first])))))
    choice = Case((When(is_beaten, place),), Constant((float(first),)))
    return choice, Case((When(is_beaten, Pick(place, matrix(units))),), constant(units[first]))


def complement(share: Expression) -> Expression:
    """1 − share."""
    return Sum((ONE, Product((MINUS, share))))
