"""Formulas as layers of columns: what a layer computes reads only the layers before it, so that nothing is computed twice.

Databases have neither vectors nor infinite numbers that all of them agree on: a vector is a column for each class, and
−∞ is a number far below every score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from typing import NamedTuple

from sqlglot import exp

from baytree.exports import sql_terms as terms
from baytree.exports.sql_terms import Term
from baytree.exports.sql_trees import picked, routed, weights
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
from baytree.formula.steps import reached, width, widths
from baytree.table.schema import Kind

MOST_TERMS = 4_000  # kernels, or combinations of a joint table
MOST_PARTS = 600  # nodes of a tree that rows pass in parts
FAR_BELOW = -1e305  # stands for −∞; scores that can be are above −1e304


class Computed(NamedTuple):
    """A column that a layer adds."""

    name: str
    value: exp.Expression


class Layers:
    """Writes a formula as layers; `layers[i]` reads the table and the layers before i."""

    def __init__(self, formula: Formula, dialect: str) -> None:
        self.formula, self.dialect = formula, dialect
        self.widths = widths(formula)
        self.layers: list[list[Computed]] = []
        self._steps: dict[int, list[Term]] = {}
        self._columns: dict[int, Term] = {}
        self._kept: dict[str, Term] = {}
        self._n_named = 0

    def run(self, wanted: Sequence[int]) -> None:
        """Computes these steps."""
        for k in sorted({*reached(self.formula), *wanted}):
            self._steps[k] = self._kept_vector(self.vector(self.formula.steps[k].value))

    def step(self, k: int) -> list[Term]:
        """The columns of a step."""
        return self._steps[k]

    def keep(self, term: Term) -> Term:
        """The name of a column that holds a value; equal values are held once."""
        if isinstance(term.sql, (exp.Column, exp.Literal)):
            return term
        key = term.sql.sql()
        if key not in self._kept:
            self._n_named += 1
            while len(self.layers) <= term.layer:
                self.layers.append([])
            name = f"baytree_{self._n_named}"
            self.layers[term.layer].append(Computed(name, term.sql))
            self._kept[key] = Term(exp.column(exp.to_identifier(name, quoted=True)), term.layer + 1)
        return self._kept[key]

    def column(self, j: int) -> Term:
        """A column of the table as a double, or as the code of its level; NULL where it is missing."""
        if j not in self._columns:
            column = self.formula.columns[j]
            raw = terms.raw(column, self.dialect)
            self._columns[j] = self.keep(Term(raw, 0))
        return self._columns[j]

    def refused(self) -> list[exp.Expression]:
        """Conditions under which a row is refused, as `predict` refuses it."""
        found: list[exp.Expression] = []
        for j, column in enumerate(self.formula.columns):
            if column.kind is Kind.NUMERIC and column.domain != "any":
                size = exp.Abs(this=self.column(j).sql.copy())
                found.append(exp.GT(this=size, expression=terms.literal(1.7976931348623157e308, self.dialect)))
            if column.kind is Kind.NUMERIC and column.domain == "count":
                found.append(exp.LT(this=self.column(j).sql.copy(), expression=terms.literal(0.0, self.dialect)))
            if column.kind is not Kind.NUMERIC and self.formula.unseen == "error":
                given = exp.Case(
                    ifs=[exp.If(this=terms.is_null(terms.name(column.name)), true=exp.Literal.number(0))],
                    default=exp.Literal.number(1),
                )
                is_given = exp.EQ(this=self.keep(Term(given, 0)).sql, expression=exp.Literal.number(1))
                found.append(exp.And(this=is_given, expression=terms.is_null(self.column(j).sql)))
        return found

    # --- values: a term for each class, or one ------------------------------------------------------------------------

    def vector(self, expression: Expression) -> list[Term]:
        """The terms of a value."""
        wide = width(expression, self.widths)
        match expression:
            case Named(step):
                return self._steps[step]
            case Softmax(of):
                return self._softmax(self.vector(of))
            case Spread(tree, table):
                return self._spread(tree, table)
            case Matching():
                return self._matched(expression)
            case Kernels():
                return [self._kernel_sum(expression, k) for k in range(wide)]
            case Bag() | OverWords():
                raise TypeError("SQL has no words")
        return [self.element(expression, k) for k in range(wide)]

    def element(self, expression: Expression, k: int) -> Term:
        """Element k of a value; of a number the number."""
        match expression:
            case Constant(values):
                return self.number(values[k % len(values)])
            case Named(step):
                return self._steps[step][k % len(self._steps[step])]
            case Number(column):
                return self.column(column)
            case Sum(of) | Product(of):
                parts = [self.element(each, k) for each in of]
                return terms.added(parts) if isinstance(expression, Sum) else terms.multiplied(parts)
            case Quotient(above, below):
                return terms.divided(self.element(above, k), self.element(below, k))
            case Smallest(of) | Greatest(of):
                kind = exp.Least if isinstance(expression, Smallest) else exp.Greatest
                return terms.extreme(kind, [self.element(each, k) for each in of])
            case Case(whens, otherwise):
                sides = [(self._holds(when.condition, k), self.element(when.value, k)) for when in whens]
                return terms.case(sides, self.element(otherwise, k))
        return self._looked_up(expression, k)

    def number(self, value: float) -> Term:
        """A literal."""
        return Term(terms.literal(max(min(value, -FAR_BELOW), FAR_BELOW) if value - value else value, self.dialect), 0)

    def _looked_up(self, expression: Expression, k: int) -> Term:
        match expression:
            case Lookup(column, table, missing, cuts):
                k %= len(missing)  # one number stands for every class
                return self._table_of(column, [row[k] for row in table], missing[k], cuts)
            case Pick(of, table):
                place = self.keep(self.element(of, 0))
                return picked(place, [(n, row[k % len(row)]) for n, row in enumerate(table)], self.number)
            case Route(tree):
                return routed(self.formula.trees[tree], self._test_of())
            case Total(of):
                return terms.added(self._kept_vector(self.vector(of)))
            case Highest(of):
                return terms.extreme(exp.Greatest, self._kept_vector(self.vector(of)))
            case FirstHighest(of):
                return self._first_highest(self._kept_vector(self.vector(of)))
            case Apply(function, of):
                return self._applied(function, self.keep(self.element(of, k)))
            case LogDensity():
                return self._log_density(expression, k)
            case LogRising(shape, amount):
                return self._log_rising(self.element(shape, k), self.keep(self.element(amount, k)))
        value = self.vector(expression)
        return value[k % len(value)]

    def _kept_vector(self, values: list[Term]) -> list[Term]:
        return [self.keep(value) for value in values]

    def _holds(self, condition: Known | Compare, k: int) -> Term:
        if isinstance(condition, Known):
            column = self.column(condition.column)
            return Term(terms.is_known(column.sql), column.layer)
        left, right = self.element(condition.left, k), self.element(condition.right, k)
        if (
            condition.relation == "=="
            and isinstance(condition.right, Constant)
            and condition.right.values[0] == -float("inf")
        ):
            return terms.compared(left, "<=", self.number(FAR_BELOW / 10))
        return terms.compared(left, condition.relation, right)

    def _table_of(self, j: int, values: list[float], missing: float, cuts: Sequence[float]) -> Term:
        x = self.column(j)
        if self.formula.columns[j].kind is not Kind.NUMERIC:
            sides = [(self._is(x, exp.Literal.number(c)), self.number(v)) for c, v in enumerate(values) if v != missing]
            return terms.case(sides, self.number(missing))
        bounds = [(terms.compared(x, "<=", self.number(cut)), self.number(v)) for cut, v in zip(cuts, values, strict=False)]
        return terms.case([(Term(terms.is_null(x.sql), x.layer), self.number(missing)), *bounds], self.number(values[-1]))

    @staticmethod
    def _is(x: Term, value: exp.Expression) -> Term:
        return Term(exp.EQ(this=x.sql.copy(), expression=value), x.layer)

    # --- functions ----------------------------------------------------------------------------------------------------

    def _softmax(self, scores: list[Term]) -> list[Term]:
        scores = self._kept_vector(scores)
        top = self.keep(terms.extreme(exp.Greatest, scores))
        parts = [self.keep(self._exponential(self.keep(terms.subtracted(score, top)), -700.0)) for score in scores]
        total = self.keep(terms.added(parts))
        return [terms.divided(part, total) for part in parts]

    def _exponential(self, x: Term, least: float) -> Term:
        """PostgreSQL refuses results that are too small for a double."""
        return terms.case([(terms.compared(x, "<", self.number(least)), self.number(0.0))], terms.function(exp.Exp, x))

    def _logarithm(self, x: Term) -> Term:
        is_positive = terms.compared(x, ">", self.number(0.0))
        return terms.case([(is_positive, terms.function(exp.Ln, x))], self.number(FAR_BELOW))

    def _log1p(self, x: Term) -> Term:
        """log(1 + x) · x / ((1 + x) − 1), which is right to the last bits also of small x."""
        more = self.keep(terms.added([self.number(1.0), x]))
        less = terms.subtracted(more, self.number(1.0))
        near = terms.compared(more, "==", self.number(1.0))
        return terms.case([(near, x)], terms.divided(terms.multiplied([terms.function(exp.Ln, more), x]), less))

    def _applied(self, function: str, x: Term) -> Term:
        if function == "round":
            return self._rounded(x)
        if function == "erfc":
            return self._erfc(x)
        written: dict[str, Callable[[Term], Term]] = {
            "exp": lambda t: self._exponential(t, -745.0),
            "log": self._logarithm,
            "log1p": self._log1p,
            "sqrt": lambda t: terms.function(exp.Sqrt, t),
            "abs": lambda t: terms.function(exp.Abs, t),
        }
        return written[function](x)

    def _rounded(self, x: Term) -> Term:
        """Half to even."""
        up = self.keep(terms.function(exp.Floor, terms.added([x, self.number(0.5)])))
        half = self.keep(terms.function(exp.Floor, terms.divided(up, self.number(2.0))))
        is_tie = terms.compared(terms.subtracted(up, x), "==", self.number(0.5))
        is_odd = terms.compared(terms.subtracted(up, terms.multiplied([self.number(2.0), half])), "==", self.number(1.0))
        both = Term(exp.And(this=is_tie.sql, expression=is_odd.sql), max(is_tie.layer, is_odd.layer))
        return terms.case([(both, terms.subtracted(up, self.number(1.0)))], up)

    def _erfc(self, x: Term) -> Term:
        """Two series: of the error function about 0, and the continued fraction of its tail."""
        size = self.keep(terms.function(exp.Abs, x))
        square = self.keep(terms.multiplied([size, size]))
        series, factor = self.number(0.0), 1.0
        for n in range(60, 0, -1):  # Σ (2x²)ⁿ / (1 · 3 ⋯ (2n + 1)), Horner's way
            part = self.keep(terms.multiplied([square, self.number(2.0 * factor / (2 * n + 1))]))
            series = self.keep(terms.multiplied([part, terms.added([self.number(1.0), series])]))
        bell = self.keep(self._exponential(self.keep(terms.multiplied([self.number(-1.0), square])), -745.0))
        scale = self.number(1.1283791670955126)
        near = terms.multiplied([scale, bell, size, terms.added([self.number(1.0), series])])
        fraction = size
        for n in range(60, 0, -1):
            safe = terms.extreme(exp.Greatest, [fraction, self.number(1e-9)])
            fraction = self.keep(terms.added([size, terms.divided(self.number(n / 2), safe)]))
        tail = terms.divided(terms.multiplied([self.number(0.5641895835477563), bell]), fraction)
        is_near = terms.compared(size, "<", self.number(2.5))
        above = self.keep(terms.case([(is_near, terms.subtracted(self.number(1.0), near))], tail))
        return terms.case([(terms.compared(x, "<", self.number(0.0)), terms.subtracted(self.number(2.0), above))], above)

    def _log_density(self, density: LogDensity, k: int) -> Term:
        mean, scale, degrees, constant = (v[k] for v in (density.mean, density.scale, density.degrees, density.constant))
        x, reach, half = self.keep(self.element(density.of, k)), 2.0**500 * scale, 1.0
        if not abs(mean) + reach < 4e307:
            reach, half = min(reach, 1.7e308), 0.5
        low, high = (max(min(mean * half + side * reach * half, 1.7e308), -1.7e308) / half for side in (-1, 1))
        low, high = max(low, -1.7976931348623157e308), min(high, 1.7976931348623157e308)
        apart = terms.subtracted(terms.multiplied([x, self.number(half)]) if half < 1 else x, self.number(mean * half))
        z = self.keep(self._within(x, low, high, terms.divided(apart, self.number(scale * half))))
        tiny = terms.compared(terms.function(exp.Abs, z), "<", self.number(1e-150))
        square = terms.case([(tiny, self.number(0.0))], terms.multiplied([z, z]))
        if degrees == float("inf"):
            near = terms.added([self.number(constant), terms.multiplied([self.number(-0.5), square])])
        else:
            share = self.keep(terms.divided(square, self.number(degrees)))
            near = terms.added(
                [self.number(constant), terms.multiplied([self.number(-0.5 * (degrees + 1)), self._log1p(share)])]
            )
        return terms.case([(Term(terms.is_known(z.sql), z.layer), near)], self._tail(density, k, x))

    def _within(self, x: Term, low: float, high: float, value: Term) -> Term:
        between = exp.Between(this=x.sql.copy(), low=self.number(low).sql, high=self.number(high).sql)
        return terms.case([(Term(between, x.layer), value)], Term(exp.Null(), 0))

    def _tail(self, density: LogDensity, k: int, x: Term) -> Term:
        """Beyond 2^500 scales from the mean, where squares leave the doubles."""
        mean, scale, degrees, constant = (v[k] for v in (density.mean, density.scale, density.degrees, density.constant))
        far = terms.subtracted(terms.multiplied([x, self.number(0.5)]), self.number(mean * 0.5))
        size = terms.extreme(exp.Greatest, [terms.function(exp.Abs, far), self.number(1e-300)])
        distance = terms.added([terms.function(exp.Ln, size), self.number(log(2.0) - log(scale))])
        if degrees == float("inf"):
            return terms.added([self.number(-(2.0**990)), terms.multiplied([self.number(-(2.0**990) / 2048), distance])])
        rest = terms.added([distance, self.number(-0.5 * log(degrees))])
        return terms.added([self.number(constant), terms.multiplied([self.number(-(degrees + 1)), rest])])

    def _log_rising(self, shape: Term, amount: Term) -> Term:
        """Stirling's series after the shape is shifted to 15 or more; a shape must be known here."""
        a = terms.value_of(shape.sql)
        if a is None:
            raise ValueError("SQL: an urn whose contents are not known in advance has no closed form; export to Python or C")
        none = terms.compared(amount, "==", self.number(0.0))
        if a == 0:
            return terms.case([(none, self.number(0.0))], self.number(FAR_BELOW))
        shift: list[Term] = []
        while a < 15:
            shift.append(self._log1p(self.keep(terms.divided(amount, self.number(a)))))
            a += 1
        more = self.keep(terms.added([amount, self.number(a)]))
        logs = terms.multiplied([amount, terms.function(exp.Ln, more)])
        ratio = self._log1p(self.keep(terms.divided(amount, self.number(a))))
        parts = [logs, terms.multiplied([self.number(a - 0.5), ratio]), terms.multiplied([self.number(-1.0), amount])]
        parts += [self._stirling(more), self.number(-_stirling(a))]
        parts += [terms.multiplied([self.number(-1.0), each]) for each in shift]
        return terms.case([(none, self.number(0.0))], terms.added(parts))

    def _stirling(self, x: Term) -> Term:
        r = self.keep(terms.divided(self.number(1.0), terms.multiplied([x, x])))
        inner = self.number(1 / 1680)
        for factor in (1 / 1260, 1 / 360, 1 / 12):
            inner = terms.subtracted(self.number(factor), terms.multiplied([r, inner]))
        return terms.divided(inner, x)

    # --- classes ------------------------------------------------------------------------------------------------------

    def _first_highest(self, values: list[Term]) -> Term:
        if len(values) == 1:
            return Term(exp.Literal.number(0), 0)
        top = self.keep(terms.extreme(exp.Greatest, values))
        sides = [(terms.compared(v, "==", top), Term(exp.Literal.number(k), 0)) for k, v in enumerate(values[:-1])]
        return terms.case(sides, Term(exp.Literal.number(len(values) - 1), 0))

    def _kernel_sum(self, kernels: Kernels, k: int) -> Term:
        bumps = kernels.classes[k]
        if kernels.precision is not None:
            raise ValueError("SQL: Weka's kernels are added up until little is left, which no query can; use Python or C")
        if sum(len(each.centre) for each in kernels.classes) > MOST_TERMS:
            raise ValueError(f"SQL: a density of more than {MOST_TERMS:,} kernels makes too long a query; use Python or C")
        x, wide = self.keep(self.element(kernels.of, 0)), self.number(bumps.width)
        low, high = (
            max(min(end, 1e150), -1e150)
            for end in (bumps.centre[0] - 1e100 * bumps.width, bumps.centre[-1] + 1e100 * bumps.width)
        )
        near = self.keep(self._within(x, low, high, x))
        apart = [terms.function(exp.Abs, terms.divided(terms.subtracted(near, self.number(v)), wide)) for v in bumps.centre]
        z = self._kept_vector(apart)
        least = self.keep(terms.extreme(exp.Least, z))
        parts = []
        for each, weight in zip(z, bumps.weight, strict=True):
            gap = terms.multiplied([self.number(-0.5), terms.subtracted(each, least), terms.added([each, least])])
            parts.append(terms.multiplied([self.number(weight), self._exponential(self.keep(gap), -745.0)]))
        size = log(sum(bumps.weight)) + log(bumps.width) + 0.5 * log(2 * 3.141592653589793)
        whole = terms.added([terms.function(exp.Ln, terms.added(parts)), self.number(-size)])
        inside = terms.subtracted(whole, terms.multiplied([self.number(0.5), least, least]))
        return terms.case(
            [(Term(terms.is_known(near.sql), near.layer), inside)], self._far_kernel(x, bumps.centre, bumps.width)
        )

    def _far_kernel(self, x: Term, centre: Sequence[float], wide: float) -> Term:
        ends = [
            terms.function(exp.Abs, terms.subtracted(terms.multiplied([x, self.number(0.5)]), self.number(c / 2)))
            for c in (centre[0], centre[-1])
        ]
        least = terms.extreme(exp.Greatest, [terms.extreme(exp.Least, ends), self.number(1e-300)])
        distance = terms.added([terms.function(exp.Ln, least), self.number(log(2.0) - log(wide))])
        return terms.added([self.number(-(2.0**990)), terms.multiplied([self.number(-(2.0**990) / 2048), distance])])

    def _matched(self, matching: Matching) -> list[Term]:
        if len(matching.codes) > MOST_TERMS:
            raise ValueError(f"SQL: a joint table of more than {MOST_TERMS:,} combinations makes too long a query")
        x = [self.column(j) for j in matching.columns]
        free = [
            terms.case([(Term(terms.is_null(t.sql), t.layer), self.number(float(n)))], self.number(1.0))
            for t, n in zip(x, matching.n_levels, strict=True)
        ]
        start = self.keep(terms.multiplied([self.number(matching.added), *free]))
        parts: list[list[Term]] = [[start] for _ in range(matching.n_classes)]
        for codes, label, weight in zip(matching.codes, matching.classes, matching.weight, strict=True):
            agrees = [
                exp.Paren(
                    this=exp.Or(
                        this=terms.is_null(t.sql), expression=exp.EQ(this=t.sql.copy(), expression=exp.Literal.number(c))
                    )
                )
                for t, c in zip(x, codes, strict=True)
            ]
            condition = Term(terms.all_of(agrees), max((t.layer for t in x), default=0))
            parts[label].append(terms.case([(condition, self.number(weight))], self.number(0.0)))
        return [terms.added(each) for each in parts]

    # --- trees --------------------------------------------------------------------------------------------------------

    def _test_of(self) -> Callable[[int], tuple[Term, bool]]:
        return lambda j: (self.column(j), self.formula.columns[j].kind is Kind.NUMERIC)

    def _spread(self, tree: int, table: Sequence[Sequence[float]]) -> list[Term]:
        nodes = self.formula.trees[tree]
        if len(nodes) > MOST_PARTS:
            raise ValueError(
                f"SQL: rows pass this tree in parts, and {len(nodes):,} nodes are more than the {MOST_PARTS} that a query "
                "can hold; prune the tree, or export to Python, JavaScript or C"
            )
        parts = weights(nodes, self._test_of(), self.keep, self.number)
        return [self._mixed(parts, [row[k] for row in table]) for k in range(len(table[0]))]

    def _mixed(self, parts: list[tuple[int, Term]], values: list[float]) -> Term:
        """In the order of the runtime of other languages, so that ties are the same."""
        return terms.added_in_order([terms.multiplied([part, self.number(values[n])]) for n, part in parts], self.keep)


def _stirling(x: float) -> float:
    r = 1 / (x * x)
    return (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r / 1680))) / x
