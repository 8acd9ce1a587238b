"""Formulas as statements on doubles, arrays and loops, shared by the exporters to C-like languages.

Each column is read into one number: a numeric value or NaN, or the code of a level or −1. A number becomes a variable and a
vector an array with one element per class; arithmetic on vectors is a loop over `k`. A `Language` supplies the syntax.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from baytree.data.schema.column import Kind
from baytree.exporters.imperative.language import ConstantArrays, Language, depth
from baytree.formula import Formula
from baytree.formula.builder import width, widths
from baytree.formula.expressions import (
    Apply,
    Bag,
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
    Numbers,
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
)

_FILLED = (Softmax, Spread, Kernels, OverWords, Matching)  # computed as a whole array by a runtime function

RULES = ("amount", "presence", "rising")  # rules for sums over words; the runtime takes their index


class StatementWriter:
    """Writes the steps of a formula as statements (`lines`); the arrays that they read are in `tables`."""

    def __init__(self, formula: Formula, language: Language) -> None:
        self.formula, self.language = formula, language
        self.widths = widths(formula)
        self.tables = ConstantArrays(formula, language)
        self.lines: list[str] = []

    def steps(self, indices: Iterable[int]) -> None:
        """Write these steps, step k as variable `s{k}`."""
        for k in indices:
            value = self.formula.steps[k].value
            if isinstance(value, Bag):
                tables, lines = self.language.bag(value, k)
                self.tables.lines += tables
                self.lines += lines
            else:
                self._define(f"s{k}", value)

    def number(self, expression: Expression) -> str:
        """Source of a number, or of the element at `k` of a vector."""
        match expression:
            case Constant(values):
                return self.language.number(values[0]) if len(values) == 1 else f"{self.tables.doubles(values)}[k]"
            case Named(step):
                return f"s{step}" if self.widths[step] == 1 else f"s{step}[k]"
            case Number(column):
                return f"x[{column}]"
            case Lookup():
                return self._looked_up(expression)
            case Pick(of, table):
                return self._row(table, self._index(of))
            case Sum(of) | Product(of):
                return f"({(' + ' if isinstance(expression, Sum) else ' * ').join(map(self.number, of))})"
            case Quotient(above, below):
                return f"({self.number(above)} / {self.number(below)})"
            case Case(whens, otherwise):
                conditionals = [f"{self._holds(when.condition)} ? {self.number(when.value)} : " for when in whens]
                return f"({''.join(conditionals)}{self.number(otherwise)})"
        return self._call(expression)

    def vector(self, expression: Expression) -> str:
        """Name of an array that holds a vector."""
        if isinstance(expression, Named):
            return f"s{expression.step}"
        name = self.tables.name("v")
        self._define(name, expression)
        return name

    # --- calls --------------------------------------------------------------------------------------------------------

    def _call(self, expression: Expression) -> str:
        call = self.language.call
        match expression:
            case Smallest(of) | Greatest(of):
                return self._folded("smaller" if isinstance(expression, Smallest) else "greater", of)
            case Apply(function, of):
                return call(function, self.number(of))
            case LogDensity(of, mean, scale, degrees, constant):
                of_class = (self.number(Constant(values)) for values in (mean, scale, degrees, constant))
                return call("log_density", self.number(of), *of_class)
            case LogRising(shape, amount):
                return call("log_rising", self.number(shape), self.number(amount))
            case Total(of) | Highest(of) if self._width(of) > 1:
                function = "total" if isinstance(expression, Total) else "highest"
                return call(function, self.vector(of), str(self._width(of)))
            case Total(of) | Highest(of):
                return self.number(of)
            case FirstHighest() | Route():
                return self._index(expression)
        return self._filled(expression)

    def _folded(self, function: str, of: Sequence[Expression]) -> str:
        first, *rest = map(self.number, of)
        for other in rest:
            first = self.language.call(function, first, other)
        return first

    def _index(self, expression: Expression) -> str:
        """Source of an index: an integer variable that is computed before."""
        match expression:
            case FirstHighest(of) if self._width(of) == 1:
                return "0"
            case FirstHighest(of):
                value = self.language.call("first_highest", self.vector(of), str(self._width(of)))
            case Route(tree):
                value = self.tables.route(tree)
            case Named(step) if isinstance(self.formula.steps[step].value, (Route, FirstHighest)):
                return f"s{step}"
            case _:
                value = self.language.call("whole", self.number(expression))
        name = self.tables.name("i")
        self.lines.append(self.language.place(name, value))
        return name

    def _holds(self, condition: Known | Compare) -> str:
        if isinstance(condition, Known):
            return self.language.is_observed(condition.column, self.formula.columns[condition.column].kind)
        return f"{self.number(condition.left)} {condition.relation} {self.number(condition.right)}"

    # --- arrays that runtime functions fill, one element per class
    # -------------------------------------------------------------

    def _filled(self, expression: Expression) -> str:
        name = self.tables.name("v")
        self._fill(expression, name)
        return f"{name}[k]" if self._width(expression) > 1 else f"{name}[0]"

    def _fill(self, expression: Expression, name: str) -> None:
        filling = self._filling(expression, name, self._width(expression))
        self.lines += [self.language.array(name, self._width(expression)), f"{filling};"]

    def _filling(self, expression: Expression, name: str, wide: int) -> str:
        call = self.language.call
        match expression:
            case Softmax(of):
                scores = self.vector(of) if wide > 1 else self._single(of)
                return call("softmax", scores, str(wide), name)
            case Spread(tree, table):
                nodes = self.formula.trees[tree]
                fractions = self.tables.doubles([fraction for node in nodes for fraction in node.shares] or [0.0])
                stack_size = str(depth(nodes))
                arguments = (fractions, stack_size, "x", self.tables.rows(table), str(wide), name)
                return call("spread", *self.tables.tree(tree), *arguments)
            case Kernels(of, _, None):
                return call("kernels", self.number(of), *self.tables.kernels(expression), name)
            case Kernels(of, _, precision) if precision is not None:
                precision_source = self.language.number(precision)
                return call("interval_kernels", self.number(of), *self.tables.kernels(expression), name, precision_source)
            case OverWords(Named(step), rule, table):
                values = self.tables.rows(table) if table else self.tables.doubles((1.0,) * self._n_words(step))
                return call(
                    "over_words", f"s{step}", str(self._n_words(step)), str(RULES.index(rule)), values, str(wide), name
                )
            case Matching():
                return call("matching", "x", *self.tables.combinations(expression), name)
        raise TypeError(f"there is no {type(expression).__name__} in C-like languages")

    def _single(self, expression: Expression) -> str:
        name = self.tables.name("v")
        self.lines += [self.language.array(name, 1), f"{name}[0] = {self.number(expression)};"]
        return name

    # --- tables -------------------------------------------------------------------------------------------------------

    def _looked_up(self, lookup: Lookup) -> str:
        """Row of a lookup table; its last row is used for missing values."""
        column, n = self.formula.columns[lookup.column], str(len(lookup.table))
        if column.kind is Kind.NUMERIC:
            thresholds = self.tables.doubles(lookup.cuts or [0.0])
            row = self.language.call("bin", f"x[{lookup.column}]", thresholds, str(len(lookup.cuts)), n)
        else:
            row = self.language.call("level", f"x[{lookup.column}]", n)
        name = self.tables.name("i")
        self.lines.append(self.language.place(name, row))
        return self._row((*lookup.table, lookup.missing), name)

    def _row(self, table: Sequence[Numbers], position: str) -> str:
        """Element `k` of a row of a table."""
        table_name, width_of_row = self.tables.rows(table), len(table[0])
        return f"{table_name}[{position}]" if width_of_row == 1 else f"{table_name}[{position} * {width_of_row} + k]"

    # --- names --------------------------------------------------------------------------------------------------------

    def _define(self, name: str, value: Expression) -> None:
        """Define a variable of this name with the value of an expression."""
        if isinstance(value, (Route, FirstHighest)):
            self.lines.append(self.language.place(name, self._index(value)))
        elif self._width(value) == 1:
            self.lines.append(self.language.local(name, self.number(value)))
        elif isinstance(value, _FILLED):
            self._fill(value, name)
        else:
            element = self.number(value)
            self.lines += [self.language.array(name, self._width(value))]
            self.lines += [self.language.loop(self._width(value), f"{name}[k] = {element};")]

    def _width(self, expression: msgspec.Struct) -> int:
        return width(expression, self.widths)

    def _n_words(self, step: int) -> int:
        bag = self.formula.steps[step].value
        if not isinstance(bag, Bag):
            raise TypeError(f"step {step} is no bag of words")
        return len(bag.words)
