"""Every expression has its place in every printer: it is printed, or refused in a sentence that names a remedy."""

import re
from functools import cache
from importlib import import_module
from typing import get_args, get_type_hints

import pytest

from baytree.data.schema import Kind
from baytree.exporters import EXPORTERS
from baytree.formula import Formula, Step, expressions
from baytree.formula.builder import parts
from baytree.formula.expressions import (
    Apply,
    Bag,
    Bumps,
    Case,
    Compare,
    Constant,
    FirstHighest,
    Greatest,
    Highest,
    Kernels,
    Known,
    LogDensity,
    LogRising,
    Lookup,
    Matching,
    Named,
    Number,
    OverWords,
    Pick,
    Product,
    Quotient,
    Route,
    Smallest,
    Softmax,
    Spread,
    Sum,
    Total,
    When,
)
from baytree.formula.inputs import FormulaNode, FormulaTest, Input, TokenOptions
from baytree.summary.tree import SPREAD

X, TWO = Number(0), Constant((0.25, 0.75))
SIZE, COLOUR = Input("size", Kind.NUMERIC), Input("colour", Kind.NOMINAL, ("red", "blue"))
REVIEW = Input("review", Kind.TEXT, tokens=TokenOptions(True, (1, 1), (), None))
TREE = (FormulaNode((FormulaTest(0, (0, 1), (0.5,)),), 1, SPREAD, (0.5, 0.5)), FormulaNode(), FormulaNode())
EXAMPLES = [
    TWO,
    X,
    Lookup(1, ((0.1, 0.9), (0.2, 0.8)), (0.5, 0.5)),
    Lookup(0, ((0.1, 0.9), (0.2, 0.8)), (0.5, 0.5), (1.5,)),
    Named(0),
    Sum((X, TWO)),
    Product((X, TWO)),
    Quotient(TWO, X),
    Smallest((X, TWO)),
    Greatest((X, TWO)),
    *(Apply(function, X) for function in ("exp", "log", "log1p", "sqrt", "abs", "round", "erfc")),
    Case((When(Known(0), TWO), When(Compare(X, "<", Constant((3.0,))), TWO)), TWO),
    LogDensity(X, (0.0, 1.0), (1.0, 2.0), (float("inf"), 3.0), (0.0, 0.0)),
    LogRising(Constant((0.5, 20.0)), X),
    LogRising(X, Constant((2.0,))),
    Kernels(X, (Bumps((0.0, 1.0), (1.0, 2.0), 0.5),)),
    Kernels(X, (Bumps((0.0, 1.0), (1.0, 2.0), 0.5),), 0.1),
    Softmax(TWO),
    Total(TWO),
    Highest(TWO),
    FirstHighest(TWO),
    Bag(2, ("cat", "dog"), (1.0, 2.0), True),
    OverWords(Named(0), "amount", ((0.1, 0.2), (0.3, 0.4))),
    Matching((1,), ((0,), (1,)), (0, 1), (2.0, 3.0), (2,), 2, 0.5),
    Route(0),
    Spread(0, ((0.5, 0.5), (0.1, 0.9), (0.7, 0.3))),
    Pick(Route(0), ((0.5, 0.5), (0.1, 0.9), (0.7, 0.3))),
]


def formula_with(expression) -> Formula:
    """A formula of two classes in which an expression is a step that the answers read."""
    is_text = isinstance(expression, (Bag, OverWords))
    columns = (SIZE, COLOUR, *([REVIEW] if is_text else []))
    first = next(e for e in EXAMPLES if isinstance(e, Bag)) if isinstance(expression, OverWords) else TWO
    read = Constant((0.0, 1.0)) if isinstance(expression, Bag) else Sum((Named(1), TWO))
    steps = (Step(first), Step(expression), Step(Softmax(read)))
    return Formula("a test", columns, "y", ("a", "b"), Named(2), FirstHighest(Named(2)), steps, (TREE,))


@pytest.mark.parametrize("expression", EXAMPLES, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("target", EXPORTERS)
def test_an_expression_is_printed_or_refused_in_a_sentence(target, expression):
    module, _, name = EXPORTERS[target].partition(":")
    printer = getattr(import_module(f"baytree.{module}"), name)
    try:
        assert printer(formula_with(expression))
    except ValueError as refusal:
        assert re.search(r"; (use|export to|prune|rename) ", str(refusal)), refusal


@cache
def chain_of(n: int) -> Formula:
    """A tree of n levels, each of which has a leaf on the left."""
    levels = [FormulaNode((FormulaTest(0, (0, 1), (float(k),)),), 2 * k + 1, 1) for k in range(n)]
    nodes = (levels[0], *(node for level in levels[1:] for node in (FormulaNode(), level)), FormulaNode(), FormulaNode())
    rows = tuple((float(k % 2), 1.0 - k % 2) for k in range(len(nodes)))
    place = (Step(Route(0)), Step(Pick(Named(0), rows)))
    return Formula("a chain", (SIZE,), "y", ("a", "b"), Named(1), FirstHighest(Named(1)), place, (nodes,))


@pytest.mark.slow
@pytest.mark.parametrize("target", EXPORTERS)
def test_a_chain_of_100_000_levels_is_printed_or_refused_with_its_limit(target):
    module, _, name = EXPORTERS[target].partition(":")
    try:
        assert getattr(import_module(f"baytree.{module}"), name)(chain_of(100_000))
    except ValueError as refusal:
        assert re.search(r"exceeds the limit of (2,000|20,000)|deeper than the (300|1,000)", str(refusal))


def test_every_expression_has_an_example():
    known = {*expressions.Expression.__args__, *expressions.Condition.__args__}
    shown = {type(part) for each in EXAMPLES for part in _all(each)}
    assert known == shown
    functions = get_args(get_type_hints(Apply, vars(expressions))["function"])
    assert set(functions) == {each.function for each in EXAMPLES if isinstance(each, Apply)}


def _all(record):
    yield record
    for part in parts(record):
        if isinstance(part, expressions.Record):
            yield from _all(part)
        elif isinstance(part, When):
            yield from (*_all(part.condition), *_all(part.value))
