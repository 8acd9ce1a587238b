"""Formulas as layers of SQL columns: a layer reads only the layers before it, so that nothing is computed twice.

Databases have no vectors, and do not agree on infinite numbers: a vector is a column per class, and −∞ is a number far below
every score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from sqlglot import exp

from baytree.data.schema.column import Kind
from baytree.exporters.sql import dates, terms, trees
from baytree.exporters.sql import functions as sql_functions
from baytree.exporters.sql.terms import Term
from baytree.exporters.sql.trees import Read, listed, picked, routed
from baytree.formula import Formula
from baytree.formula.builder import required_steps, width, widths
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
from baytree.formula.limits import MINUS_INFINITY
from baytree.formula.transforms import deduplicate_leaves, records


class Computed(NamedTuple):
    """Column that a layer adds."""

    name: str
    value: exp.Expression


class Layers:
    """Writes a formula as layers; `layers[i]` reads the table and the layers before i."""

    def __init__(self, formula: Formula, dialect: str) -> None:
        self.formula, self.leaf_rows = deduplicate_leaves(formula)
        self.dialect = dialect
        self.widths = widths(self.formula)
        self.layers: list[list[Computed]] = []
        self._steps: dict[int, list[Term]] = {}
        self._columns: dict[int, Term] = {}
        self._stored: dict[str, Term] = {}
        self._n_named = 0

    def run(self, explained_steps: Sequence[int]) -> None:
        """Compute these steps and those that the predictions need."""
        n_read = Counter(record.step for record in records(self.formula) if isinstance(record, Named))
        for k in sorted({*required_steps(self.formula), *explained_steps}):
            value = self.vector(self.formula.steps[k].value)
            is_term = self.formula.steps[k].effect_of is not None and n_read[k] == 1 and k not in explained_steps
            self._steps[k] = value if is_term else self._store_vector(value)  # a term of a single sum needs no column

    def step(self, k: int) -> list[Term]:
        """Columns of a step."""
        return self._steps[k]

    def store(self, term: Term) -> Term:
        """Column that holds a value; equal values share one column."""
        if isinstance(term.sql, (exp.Column, exp.Literal)):
            return term
        key = term.sql.sql(copy=False)
        if key not in self._stored:
            self._n_named += 1
            while len(self.layers) <= term.layer:
                self.layers.append([])
            name = f"baytree_{self._n_named}"
            self.layers[term.layer].append(Computed(name, term.sql))
            self._stored[key] = Term(exp.column(exp.to_identifier(name, quoted=True)), term.layer + 1)
        return self._stored[key]

    def store_text(self, term: Term) -> Term:
        """Column that holds a text; for MariaDB, whose layers hold only numbers, the text itself."""
        return term if self.dialect == "mysql" else self.store(term)

    def column(self, j: int) -> Term:
        """Column of the table as a double, or as the code of its level; NULL if it is missing."""
        if j not in self._columns:
            self._columns[j] = self.store(self._read_column(j) if j < len(self.formula.columns) else self._sum(j))
        return self._columns[j]

    def _read_column(self, j: int) -> Term:
        column = self.formula.columns[j]
        if column.unit is None:
            return Term(terms.raw(column, self.dialect), 0)
        time = dates.microseconds(self, column.given, self.dialect)
        return dates.part(self, time, column.part) if column.part else dates.in_unit(self, time, column.unit)

    def _sum(self, j: int) -> Term:
        """Weighted sum of columns; NULL if one of them is missing or infinite terms of opposite sign meet."""
        weighted_sum = self.formula.made[j - len(self.formula.columns)]
        parts = zip(weighted_sum.columns, weighted_sum.weights, strict=True)
        products = [terms.multiplied([self.number(weight), self.column(k)]) for k, weight in parts]
        return terms.unless_nan(terms.added_in_order(products, self.store), self.dialect)

    def refused(self) -> list[exp.Expression]:
        """Conditions under which a row is refused, as `predict` would refuse it."""
        conditions: list[exp.Expression] = []
        for j, column in enumerate(self.formula.columns):
            if column.unit is not None:
                if all(other.given != column.given for other in self.formula.columns[:j]):
                    conditions.append(self._given_but_null(dates.is_given(column.given, self.dialect), j))
                continue
            if column.kind is Kind.NUMERIC and column.domain != "any":
                size = exp.Abs(this=self.column(j).sql)
                conditions.append(exp.GT(this=size, expression=terms.literal(1.7976931348623157e308, self.dialect)))
            if column.kind is Kind.NUMERIC and column.domain == "count":
                conditions.append(exp.LT(this=self.column(j).sql, expression=terms.literal(0.0, self.dialect)))
            if column.kind is not Kind.NUMERIC and self.formula.unseen == "error":
                given = exp.Case(
                    ifs=[exp.If(this=terms.is_null(terms.name(column.name)), true=exp.Literal.number(0))],
                    default=exp.Literal.number(1),
                )
                conditions.append(self._given_but_null(given, j))
        return conditions

    def _given_but_null(self, given: exp.Expression, j: int) -> exp.Expression:
        """Condition that `given` is 1 although column j has no value."""
        is_given = exp.EQ(this=self.store(Term(given, 0)).sql, expression=exp.Literal.number(1))
        return exp.And(this=is_given, expression=terms.is_null(self.column(j).sql))

    # --- values: one term per class, or one ---------------------------------------------------------------------------

    def vector(self, expression: Expression) -> list[Term]:
        """Terms of a value."""
        wide = width(expression, self.widths)
        match expression:
            case Named(step):
                return self._steps[step]
            case Softmax(of):
                return sql_functions.softmax(self, self.vector(of))
            case Spread(tree, table):
                return trees.spread(self, self.formula.trees[tree], table, self._read())
            case Matching():
                return trees.matched(self, expression, [self.column(j) for j in expression.columns])
            case Kernels(of, classes):
                sql_functions.check_kernels(expression)
                return [sql_functions.kernel_sum(self, bumps, self.store(self.element(of, 0))) for bumps in classes]
            case Bag() | OverWords():
                raise TypeError("SQL has no words")
        return [self.element(expression, k) for k in range(wide)]

    def element(self, expression: Expression, k: int) -> Term:
        """Element `k` of a value; a number is the same for every k."""
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
        """Literal; ±∞ becomes ±`MINUS_INFINITY`."""
        return Term(
            terms.literal(max(min(value, -MINUS_INFINITY), MINUS_INFINITY) if value - value else value, self.dialect), 0
        )

    def _looked_up(self, expression: Expression, k: int) -> Term:
        match expression:
            case Lookup(column, table, missing, thresholds):
                k %= len(missing)  # a single number holds for every class
                return self._table_of(column, [row[k] for row in table], missing[k], thresholds)
            case Pick(of, table):
                index = self.store(self.element(of, 0))
                values = [row[k % len(row)] for row in table]
                return listed(index, values, self) if self.dialect == "duckdb" else picked(index, values, self)
            case Route(tree):
                nodes = self.formula.trees[tree]
                return routed(nodes, self.leaf_rows.get(tree, range(len(nodes))), self._read())
            case Total(of):
                return terms.added(self._store_vector(self.vector(of)))
            case Highest(of):
                return terms.extreme(exp.Greatest, self._store_vector(self.vector(of)))
            case FirstHighest(of):
                return sql_functions.first_highest(self, self._store_vector(self.vector(of)))
            case Apply(function, of):
                return sql_functions.applied(self, function, self.store(self.element(of, k)))
            case LogDensity():
                return sql_functions.log_density(self, expression, k, self.store(self.element(expression.of, k)))
            case LogRising(shape, amount):
                return sql_functions.log_rising(self, self.element(shape, k), self.store(self.element(amount, k)))
        value = self.vector(expression)
        return value[k % len(value)]

    def _store_vector(self, values: list[Term]) -> list[Term]:
        return [self.store(value) for value in values]

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
            return terms.compared(left, "<=", self.number(MINUS_INFINITY / 10))
        return terms.compared(left, condition.relation, right)

    def _table_of(self, j: int, values: list[float], missing: float, thresholds: Sequence[float]) -> Term:
        x = self.column(j)
        if self.formula.columns[j].kind is not Kind.NUMERIC:
            return trees.by_level(self, x, values, missing)
        return trees.by_bin(self, x, values, missing, thresholds)

    def _read(self) -> Read:
        tested = self.formula.tested
        return lambda j: (self.column(j), tested[j].kind is Kind.NUMERIC)
