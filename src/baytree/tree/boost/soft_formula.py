"""A tree with soft thresholds as an expression: the value of every node from those of its branches, from the leaves up."""

from __future__ import annotations

import numpy as np

from baytree.formula.expressions import (
    Apply,
    Case,
    Compare,
    Expression,
    Known,
    Lookup,
    Named,
    Product,
    Quotient,
    Sum,
    When,
)
from baytree.formula.steps import Steps, constant, near
from baytree.tree.boost.vote_formula import HALF, MINUS, ONE, ZERO, complement
from baytree.tree.model.structure import Tree


def unrolled(steps: Steps, tree: Tree, soft: np.ndarray, table: np.ndarray) -> Named:
    """The value of every node from those of its branches, the last first."""
    value: dict[int, Expression] = {}
    for node in range(len(tree) - 1, -1, -1):
        if tree.column[node] < 0:
            value[node] = constant(table[node])
        else:
            value[node] = steps.keep(_inner(tree, node, soft[node], value))
    return value[0] if isinstance(value[0], Named) else steps.keep(value[0])


def _inner(tree: Tree, node: int, soft: np.ndarray, value: dict[int, Expression]) -> Expression:
    column, children = int(tree.column[node]), range(tree.first[node], tree.first[node] + tree.branches[node])
    spread = Sum(tuple(Product((constant(tree.share[c]), value[c])) for c in children if tree.share[c] > 0))
    if tree.levels[node]:
        taken = tree.branch_of[tree.start[node] : tree.start[node] + tree.levels[node]]
        parts = [Product((_is_level(column, taken == b), value[c])) for b, c in enumerate(children)]
        known = Sum((_is_level(column, taken >= 0), ZERO))
        return Case((When(Compare(known, ">", ZERO), Sum(tuple(parts))),), spread)
    below = _share_below(column, *soft.tolist())
    mixed = Sum((Product((below, value[children[0]])), Product((complement(below), value[children[1]]))))
    return Case((When(Known(column), mixed),), spread)


def _is_level(column: int, taken: np.ndarray) -> Lookup:
    return Lookup(column, tuple((float(each),) for each in taken), (0.0,))


def _share_below(column: int, low: float, middle: float, high: float, grid: float) -> Expression:
    """1 up to the low bound, ½ at the middle, 0 from the high bound on."""
    x = near(column, low, high, high - low + 4 * grid)
    if grid > 0:
        x = Product((Apply("round", Quotient(x, constant(grid))), constant(grid)))
    falling = Quotient(Product((HALF, Sum((x, constant(-low))))), constant(middle - low))
    rest = Quotient(Product((HALF, Sum((constant(high), Product((MINUS, x)))))), constant(high - middle))
    whens = [When(Compare(x, "<=", constant(low)), ONE), When(Compare(x, ">=", constant(high)), ZERO)]
    if middle > low:
        whens.append(When(Compare(x, "<=", constant(middle)), complement(falling)))
    return Case(tuple(whens), rest if high > middle else ZERO)
