"""Formula expressions as Python source: numbers as they are, vectors as tuples or comprehensions over zipped vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from baytree.data.schema.column import Kind
from baytree.exporters.python.literals import LiteralTables, literal, rows, vector
from baytree.formula import Formula
from baytree.formula.builder import width
from baytree.formula.expressions import (
    Apply,
    Bag,
    Bumps,
    Case,
    Compare,
    Constant,
    Expression,
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

_FUNCTIONS = {"log": "_log", "round": "_round", "abs": "abs"}  # all others are functions of `math`


class Loop:
    """The vectors that a comprehension zips, each with the name of its loop variable."""

    def __init__(self) -> None:
        self.vectors: dict[str, str] = {}

    def element(self, source: str) -> str:
        """Name of the loop variable of a vector."""
        return self.vectors.setdefault(source, f"e{len(self.vectors)}")

    def over(self, element: str) -> str:
        """Comprehension that computes an element for all vectors."""
        if len(self.vectors) == 1:
            return f"[{element} for e0 in {next(iter(self.vectors))}]"
        return f"[{element} for {', '.join(self.vectors.values())} in zip({', '.join(self.vectors)})]"


class PythonExpressions:
    """Writes the expressions of a formula; the tables that they read are collected in `tables`."""

    def __init__(self, formula: Formula, widths: Sequence[int]) -> None:
        self.formula, self.widths = formula, widths
        self.tables = LiteralTables()

    def value(self, expression: Expression) -> str:
        """Source of a number, or of a whole vector."""
        if self._width(expression) == 1:
            return self._element(expression, Loop())
        as_integer = self._integer(expression)
        if as_integer is not None:
            return as_integer
        loop = Loop()
        element = self._element(expression, loop)
        return loop.over(element)

    def _width(self, expression: msgspec.Struct) -> int:
        return width(expression, self.widths)

    def _x(self, column: int) -> str:
        return f"x[{literal(self.formula.columns[column].name)}]"

    def _items(self, expressions: Iterable[Expression], loop: Loop) -> list[str]:
        return [self._element(each, loop) for each in expressions]

    def _element(self, expression: Expression, loop: Loop) -> str:
        """Source of a number or of one element of a vector; a vector that is computed as a whole becomes a loop variable."""
        as_integer = self._integer(expression)
        if as_integer is None:
            return self._number(expression, loop)
        return as_integer if self._width(expression) == 1 else loop.element(as_integer)

    # --- element by element -------------------------------------------------------------------------------------------

    def _number(self, expression: Expression, loop: Loop) -> str:
        match expression:
            case Number(column):
                return self._x(column)
            case Sum(terms):
                return _added(self._items(terms, loop))
            case Product((Constant((-1.0,)), other)):
                return f"-{self._element(other, loop)}"
            case Product(factors):
                return f"({' * '.join(self._items(factors, loop))})"
            case Quotient(above, below):
                return f"({' / '.join(self._items((above, below), loop))})"
            case Smallest(of) | Greatest(of):
                name = "min" if isinstance(expression, Smallest) else "max"
                return f"{name}({', '.join(self._items(of, loop))})"
            case Case(whens, otherwise):
                return f"({self._sides(whens, loop)} else {self._element(otherwise, loop)})"
        return self._call(expression, loop)

    def _sides(self, whens: tuple[When, ...], loop: Loop) -> str:
        conditionals = [f"{self._element(when.value, loop)} if {self._holds(when.condition, loop)}" for when in whens]
        return " else ".join(conditionals)

    def _holds(self, condition: Known | Compare, loop: Loop) -> str:
        if isinstance(condition, Known):
            return f"{self._x(condition.column)} is not None"
        left, right = self._items((condition.left, condition.right), loop)
        return f"{left} {condition.relation} {right}"

    def _call(self, expression: Expression, loop: Loop) -> str:
        match expression:
            case Apply(function, of):
                return f"{_FUNCTIONS.get(function, f'math.{function}')}({self._element(of, loop)})"
            case LogDensity(of, mean, scale, degrees, at_centre):
                of_class = self._items(map(Constant, (mean, scale, degrees, at_centre)), loop)
                return f"_log_density({', '.join([self._element(of, loop), *of_class])})"
            case LogRising(shape, amount):
                return f"_log_rising({', '.join(self._items((shape, amount), loop))})"
            case Total(of):
                return f"_total({self._listed(of)})"
            case Highest(of):
                return f"max({self._listed(of)})"
            case FirstHighest(of):
                return f"_first_highest({self._listed(of)})"
            case Route(tree):
                return f"_route(TREE_{tree}, x)"
            case Bag(column, words, scale, is_unit):
                scales = self.tables.by_key(
                    "the scale of each word", zip(map(literal, words), map(literal, scale), strict=True)
                )
                return f"_bag({self._x(column)}, {scales}, {is_unit})"
        raise TypeError(f"Python source has no {type(expression).__name__}")

    def _listed(self, expression: Expression) -> str:
        value = self.value(expression)
        return value if self._width(expression) > 1 else f"[{value}]"

    # --- computed as a whole ------------------------------------------------------------------------------------------

    def _integer(self, expression: Expression) -> str | None:
        """Source of a constant, name, table row or function result, which need no loop; None for any other expression."""
        match expression:
            case Constant(values):
                return vector(values)
            case Named(step):
                return f"s{step}"
            case Lookup():
                return self._looked_up(expression)
            case Pick(of, table):
                return f"{self.tables.in_order('by node', map(vector, table))}[{self.value(of)}]"
            case Case(whens, otherwise) if self._width(expression) > 1:
                return f"({self._whole_sides(whens)} else {self.value(otherwise)})" if self._is_whole(expression) else None
        call = self._list_of(expression)
        return call if call is None or self._width(expression) > 1 else f"{call}[0]"

    def _is_whole(self, case: Case) -> bool:
        """Whether all classes take the same branch, and each branch has one number per class."""
        n_elements, branches = self._width(case), [*(when.value for when in case.whens), case.otherwise]
        return all(self._width(when.condition) == 1 for when in case.whens) and all(
            self._width(s) == n_elements for s in branches
        )

    def _whole_sides(self, whens: tuple[When, ...]) -> str:
        return " else ".join(f"{self.value(when.value)} if {self._holds(when.condition, Loop())}" for when in whens)

    def _list_of(self, expression: Expression) -> str | None:
        """Call of a runtime function that returns a list with one number per class; None if there is none."""
        match expression:
            case Softmax(of):
                return f"_softmax({self._listed(of)})"
            case Spread(tree, table):
                return (
                    f"_spread(TREE_{tree}, x, {self.tables.in_order('by node', (rows(map(literal, row)) for row in table))})"
                )
            case Kernels(of, classes, precision):
                table_name = self.tables.in_order(
                    "centres, weights and width of the kernels of each class", map(_bumps, classes)
                )
                if precision is None:
                    return f"_kernels({self.value(of)}, {table_name})"
                return f"_interval_kernels({self.value(of)}, {table_name}, {literal(precision)})"
            case OverWords(Named(step), _, ()):
                return f"[_total(list(s{step}.values()))]"
            case OverWords(Named(step), rule, table):
                words = map(literal, self._bag(step).words)
                table_name = self.tables.by_key("by word", zip(words, (rows(map(literal, r)) for r in table), strict=True))
                return f"_over_words(s{step}, {literal(rule)}, {table_name}, {len(table[0])})"
            case Matching():
                return self._matched(expression)
        return None

    def _bag(self, step: int) -> Bag:
        bag = self.formula.steps[step].value
        if not isinstance(bag, Bag):
            raise TypeError(f"step {step} is no bag of words")
        return bag

    def _looked_up(self, lookup: Lookup) -> str:
        column, missing = self.formula.columns[lookup.column], ("None", vector(lookup.missing))
        if column.kind is Kind.NUMERIC:
            table_name = self.tables.by_key(
                f"{literal(column.name)} by bin", [*enumerate(map(vector, lookup.table)), missing]
            )
            return f"{table_name}[_place({self._x(lookup.column)}, {rows(map(literal, lookup.cuts))})]"
        keys = (literal(str(level)) for level in column.levels)
        table_name = self.tables.by_key(literal(column.name), [*zip(keys, map(vector, lookup.table), strict=True), missing])
        return f"{table_name}[{self._x(lookup.column)}]"

    def _matched(self, matching: Matching) -> str:
        columns = [self.formula.columns[j] for j in matching.columns]
        combinations = (
            rows([rows(literal(str(c.levels[k])) for c, k in zip(columns, codes, strict=True)), str(label), literal(weight)])
            for codes, label, weight in zip(matching.codes, matching.classes, matching.weight, strict=True)
        )
        table_name, names = (
            self.tables.in_order("levels, class and weight", combinations),
            rows(literal(c.name) for c in columns),
        )
        return f"_matching(x, {names}, {table_name}, {matching.n_levels}, {matching.n_classes}, {literal(matching.added)})"


def _added(terms: list[str]) -> str:
    """Sum in parentheses; negative terms are subtracted."""
    rest = [f" - {term[1:]}" if term.startswith("-") else f" + {term}" for term in terms[1:]]
    return f"({terms[0]}{''.join(rest)})"


def _bumps(bumps: Bumps) -> str:
    return rows([rows(map(literal, bumps.centre)), rows(map(literal, bumps.weight)), literal(bumps.width)])
