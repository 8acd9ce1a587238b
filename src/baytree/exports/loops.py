"""Formulas as statements of doubles, arrays and loops: what the printers of C-like languages share.

A column is read into one number: a numeric value, or NaN; the code of a level, or −1. A number is a variable, a vector an
array with a place for each class; arithmetic on vectors is a loop over `k`. A `Language` says how each of these is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Protocol

import msgspec

from baytree.exports.loop_trees import arrays, depth
from baytree.formula import Formula
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
from baytree.formula.steps import width, widths
from baytree.table.schema import Kind

_FILLED = (Softmax, Spread, Kernels, OverWords, Matching)  # what a function of the runtime makes as a whole
RULES = ("amount", "presence", "rising")  # of sums over words, by the number that the runtime takes


class Language(Protocol):
    """How a language writes what all of them have."""

    def number(self, value: float) -> str:
        """A literal."""

    def doubles(self, name: str, values: Iterable[float]) -> str:
        """A constant array of doubles."""

    def integers(self, name: str, values: Iterable[int]) -> str:
        """A constant array of whole numbers."""

    def local(self, name: str, value: str) -> str:
        """A number that is evaluated here."""

    def place(self, name: str, value: str) -> str:
        """A whole number that is evaluated here."""

    def array(self, name: str, n: int) -> str:
        """An array that is filled by what follows."""

    def loop(self, n: int, statement: str) -> str:
        """A statement for each k below n."""

    def call(self, function: str, *arguments: str) -> str:
        """A call of a function of the runtime, or of one that the language has."""

    def table(self, name: str) -> str:
        """The name of a constant array where it is read."""

    def known(self, column: int, kind: Kind) -> str:
        """Whether a column has a value."""

    def bag(self, bag: Bag, k: int) -> tuple[list[str], list[str]]:
        """The tables of a bag of words, and the statements that fill the array of its amounts, `s{k}`."""


class Loops:
    """Writes the steps of a formula as statements (`lines`); the tables that they read are in `tables`."""

    def __init__(self, formula: Formula, language: Language) -> None:
        self.formula, self.language = formula, language
        self.widths = widths(formula)
        self.tables: list[str] = []
        self.lines: list[str] = []
        self._n_named = 0
        self._trees: dict[int, tuple[str, ...]] = {}

    def steps(self, wanted: Iterable[int]) -> None:
        """Writes these steps, each under its own name."""
        for k in wanted:
            value = self.formula.steps[k].value
            if isinstance(value, Bag):
                tables, lines = self.language.bag(value, k)
                self.tables += tables
                self.lines += lines
            else:
                self._define(f"s{k}", value)

    def number(self, expression: Expression) -> str:
        """The source of a number, or of the element at `k` of a vector."""
        match expression:
            case Constant(values):
                return self.language.number(values[0]) if len(values) == 1 else f"{self._doubles(values)}[k]"
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
                taken = [f"{self._holds(when.condition)} ? {self.number(when.value)} : " for when in whens]
                return f"({''.join(taken)}{self.number(otherwise)})"
        return self._called(expression)

    def vector(self, expression: Expression) -> str:
        """The name of an array that holds a vector."""
        if isinstance(expression, Named):
            return f"s{expression.step}"
        name = self._name("v")
        self._define(name, expression)
        return name

    # --- calls --------------------------------------------------------------------------------------------------------

    def _called(self, expression: Expression) -> str:
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
        """The source of a place: a whole number that is evaluated before."""
        match expression:
            case FirstHighest(of) if self._width(of) == 1:
                return "0"
            case FirstHighest(of):
                value = self.language.call("first_highest", self.vector(of), str(self._width(of)))
            case Route(tree):
                value = self.language.call("route", *self._tree(tree), "x")
            case Named(step) if isinstance(self.formula.steps[step].value, (Route, FirstHighest)):
                return f"s{step}"
            case _:
                value = self.language.call("whole", self.number(expression))
        name = self._name("i")
        self.lines.append(self.language.place(name, value))
        return name

    def _holds(self, condition: Known | Compare) -> str:
        if isinstance(condition, Known):
            return self.language.known(condition.column, self.formula.columns[condition.column].kind)
        return f"{self.number(condition.left)} {condition.relation} {self.number(condition.right)}"

    # --- what functions of the runtime fill: an array with a place for each class -----------------------------------------

    def _filled(self, expression: Expression) -> str:
        name = self._name("v")
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
                shares, waiting = (
                    self._doubles([share for node in nodes for share in node.shares] or [0.0]),
                    str(depth(nodes)),
                )
                return call("spread", *self._tree(tree), shares, waiting, "x", self._table(table), str(wide), name)
            case Kernels():
                return self._kernels(expression, name)
            case OverWords(Named(step), rule, table):
                values = self._table(table) if table else self._doubles((1.0,) * self._n_words(step))
                return call(
                    "over_words", f"s{step}", str(self._n_words(step)), str(RULES.index(rule)), values, str(wide), name
                )
            case Matching():
                return self._matched(expression, name)
        raise TypeError(f"there is no {type(expression).__name__} in C-like languages")

    def _single(self, expression: Expression) -> str:
        name = self._name("v")
        self.lines += [self.language.array(name, 1), f"{name}[0] = {self.number(expression)};"]
        return name

    def _kernels(self, kernels: Kernels, name: str) -> str:
        classes = kernels.classes
        starts = [0, *accumulate(len(bumps.centre) for bumps in classes)]
        centre, weight = [v for c in classes for v in c.centre], [w for c in classes for w in c.weight]
        tables = map(self._doubles, (centre, weight, [c.width for c in classes]))
        given = (self.number(kernels.of), *tables, self._integers(starts), str(len(kernels.classes)), name)
        if kernels.precision is None:
            return self.language.call("kernels", *given)
        return self.language.call("interval_kernels", *given, self.language.number(kernels.precision))

    def _matched(self, matching: Matching, name: str) -> str:
        codes = self._integers([code for combination in matching.codes for code in combination] or [0])
        classes, weight = self._integers(matching.classes or [0]), self._doubles(matching.weight or [0.0])
        columns, n_levels = self._integers(matching.columns), self._integers(matching.n_levels)
        sizes = (str(len(matching.columns)), str(len(matching.codes)), str(matching.n_classes))
        added = self.language.number(matching.added)
        return self.language.call("matching", "x", columns, n_levels, codes, classes, weight, *sizes, added, name)

    # --- tables -------------------------------------------------------------------------------------------------------

    def _looked_up(self, lookup: Lookup) -> str:
        """The last row of the table is that of a missing value."""
        column, n = self.formula.columns[lookup.column], str(len(lookup.table))
        if column.kind is Kind.NUMERIC:
            cuts = self._doubles(lookup.cuts or [0.0])
            place = self.language.call("bin", f"x[{lookup.column}]", cuts, str(len(lookup.cuts)), n)
        else:
            place = self.language.call("level", f"x[{lookup.column}]", n)
        name = self._name("i")
        self.lines.append(self.language.place(name, place))
        return self._row((*lookup.table, lookup.missing), name)

    def _row(self, table: Sequence[Sequence[float]], place: str) -> str:
        """The element at `k` of the row at a place."""
        named, wide = self._table(table), len(table[0])
        return f"{named}[{place}]" if wide == 1 else f"{named}[{place} * {wide} + k]"

    def _table(self, table: Sequence[Sequence[float]]) -> str:
        return self._doubles([value for row in table for value in row])

    def _doubles(self, values: Sequence[float]) -> str:
        name = self._name("T")
        self.tables.append(self.language.doubles(name, values))
        return self.language.table(name)

    def _integers(self, values: Sequence[int]) -> str:
        name = self._name("T")
        self.tables.append(self.language.integers(name, values))
        return self.language.table(name)

    def _tree(self, tree: int) -> tuple[str, ...]:
        """The arrays of a tree by name, written once."""
        if tree not in self._trees:
            found = arrays(self.formula.trees[tree], self.formula.columns)
            whole = (self._integers(values) for values in (found.nodes, found.tests, found.branches))
            self._trees[tree] = (*whole, self._doubles(found.cuts))
        return self._trees[tree]

    # --- names --------------------------------------------------------------------------------------------------------

    def _define(self, name: str, value: Expression) -> None:
        """A variable of this name that holds a value."""
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

    def _name(self, letter: str) -> str:
        self._n_named += 1
        return f"{letter}{self._n_named}"

    def _width(self, expression: msgspec.Struct) -> int:
        return width(expression, self.widths)

    def _n_words(self, step: int) -> int:
        bag = self.formula.steps[step].value
        if not isinstance(bag, Bag):
            raise TypeError(f"step {step} is no bag of words")
        return len(bag.words)
