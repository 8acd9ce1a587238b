"""SQL terms: sqlglot expressions with the first layer in which they can be computed; arithmetic is parenthesised.

Expressions are only printed, never modified, so one expression may occur in several others without a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from sqlglot import exp

from baytree.data.schema.column import Kind
from baytree.formula.inputs import Input, spellings

ROWS = "baytree_rows"  # alias of the table in a query

MAX_FUNCTION_ARGUMENTS = 50  # databases limit the arguments of a function, SQLite to 100 by default


_WITH_NAN = ("duckdb", "postgres", "spark", "bigquery", "snowflake")

_RELATIONS = {"<": exp.LT, "<=": exp.LTE, "==": exp.EQ, ">": exp.GT, ">=": exp.GTE}


class Term(NamedTuple):
    """Expression, and the first layer in which everything that it reads is available."""

    sql: exp.Expression
    layer: int


class ColumnCache(Protocol):
    """Stores values as columns of a layer, so that nothing is computed twice."""

    def store(self, term: Term) -> Term:
        """Column that holds a value."""

    def store_text(self, term: Term) -> Term:
        """Column that holds a text; the text itself if layers can hold only numbers."""

    def number(self, value: float) -> Term:
        """Literal."""


def all_of(conditions: Sequence[exp.Expression]) -> exp.Expression:
    """Conjunction of all conditions."""
    joined: Any = exp.and_(*conditions, copy=False)  # sqlglot's annotations are narrower than what it accepts
    return joined


def any_of(conditions: Sequence[exp.Expression]) -> exp.Expression:
    """Disjunction of the conditions."""
    joined: Any = exp.or_(*conditions, copy=False)
    return joined


def literal(value: float, dialect: str) -> exp.Expression:
    """Double literal: plain decimals are exact numerics in databases, which are slow and overflow."""
    text = repr(abs(float(value)))
    number = exp.Literal.number(text if "e" in text else f"{text}e0")
    if dialect == "postgres":
        return exp.Cast(this=exp.Literal.string(repr(float(value))), to=exp.DataType.build("double"))
    return exp.Paren(this=exp.Neg(this=number)) if value < 0 or str(value) == "-0.0" else number


def value_of(sql: exp.Expression) -> float | None:
    """Number of a literal; None for any other expression."""
    if isinstance(sql, exp.Cast) and isinstance(sql.this, exp.Literal):
        return float(sql.this.this)
    if isinstance(sql, exp.Literal) and not sql.is_string:
        return float(sql.this)
    return None


def text(value: str, dialect: str) -> exp.Expression:
    """Text literal; in MySQL, where a setting decides what a backslash means, a non-plain text is written as bytes."""
    if dialect == "mysql" and not (value.isascii() and value.replace(" ", "").replace("_", "").replace("-", "").isalnum()):
        content = exp.HexString(this=value.encode("utf-8", "surrogatepass").hex(), is_integer=False)
        return exp.Cast(this=content, to=_utf8())
    return exp.Literal.string(value)


def _utf8() -> exp.DataType:
    return exp.DataType(this=exp.DataType.Type.CHARACTER_SET, kind=exp.Var(this="utf8mb4"))


def name(column: str) -> exp.Column:
    """Column of the table."""
    return exp.column(exp.to_identifier(column, quoted=True), table=exp.to_identifier(ROWS, quoted=True))


def raw(column: Input, dialect: str) -> exp.Expression:
    """Column of the table as a double, or as the code of its level; NULL if it is missing or did not occur in training."""
    if column.kind is Kind.NUMERIC:
        number = exp.Cast(this=name(column.name), to=exp.DataType.build("double"))
        return unless_nan(Term(number, 0), dialect).sql
    compared = _small(name(column.name), dialect) if column.is_boolean else name(column.name)
    if dialect == "mysql":  # MySQL compares texts without regard to case and trailing blanks
        utf8 = exp.Cast(this=compared, to=_utf8())
        compared = exp.Cast(this=utf8, to=exp.DataType.build("binary"))
    if dialect == "tsql":
        compared = exp.Cast(
            this=exp.Cast(this=compared, to=exp.DataType.build("nvarchar(4000)")), to=exp.DataType.build("varbinary(8000)")
        )
    levels = [(str(level), code) for code, level in enumerate(column.levels)]
    if column.is_boolean:
        levels = [*spellings(column).items()]
    ifs = [exp.If(this=_level(level, dialect), true=exp.Literal.number(code)) for level, code in levels]
    if not ifs:
        return exp.Cast(this=exp.Null(), to=exp.DataType.build("int"))
    return exp.Case(this=compared, ifs=ifs)


def _small(column: exp.Expression, dialect: str) -> exp.Expression:
    """Column of any type as lower-case text without surrounding blanks."""
    to = _utf8() if dialect == "mysql" else exp.DataType.build("nvarchar(4000)" if dialect == "tsql" else "text")
    return exp.Lower(this=exp.Trim(this=exp.Cast(this=column, to=to)))


def unless_nan(number: Term, dialect: str) -> Term:
    """Number, or NULL if it is NaN, in databases that have NaN."""
    if dialect not in _WITH_NAN:
        return number
    nan = exp.Cast(this=exp.Literal.string("NaN"), to=exp.DataType.build("double"))
    return Term(exp.Nullif(this=number.sql, expression=nan), number.layer)


def _level(level: str, dialect: str) -> exp.Expression:
    if dialect == "mysql":
        return exp.HexString(this=level.encode("utf-8", "surrogatepass").hex(), is_integer=False)
    if dialect == "tsql":
        # written verbatim: HexString prints bytes or a decimal number depending on the version of sqlglot
        return exp.Var(this=f"0x{level.encode('utf-16-le', 'surrogatepass').hex()}")
    return exp.Literal.string(level)


def integer(value: int) -> Term:
    """Non-negative integer literal."""
    return Term(exp.Literal.number(value), 0)


def equal(x: Term, value: int) -> Term:
    """Condition that a value equals an integer."""
    return Term(exp.EQ(this=x.sql, expression=exp.Literal.number(value)), x.layer)


def is_null(sql: exp.Expression) -> exp.Expression:
    """Condition that there is no value."""
    return exp.Is(this=sql, expression=exp.Null())


def is_known(sql: exp.Expression) -> exp.Expression:
    """Condition that there is a value."""
    return exp.Not(this=is_null(sql))


def added(parts: Sequence[Term]) -> Term:
    """Sum as a balanced tree, so that no database or parser has to handle a deep one."""
    return _balanced(exp.Add, parts)


def added_in_order(parts: Sequence[Term], store: Callable[[Term], Term]) -> Term:
    """Sum from left to right, exact to the last bit of that order; long sums span several layers."""
    total, *rest = parts
    for first in range(0, len(rest), MAX_FUNCTION_ARGUMENTS):
        sql, layer = total.sql, total.layer
        for part in rest[first : first + MAX_FUNCTION_ARGUMENTS]:
            sql, layer = exp.Add(this=sql, expression=part.sql), max(layer, part.layer)
        total = store(Term(exp.Paren(this=sql), layer))
    return total


def multiplied(parts: Sequence[Term]) -> Term:
    """Product."""
    return _balanced(exp.Mul, parts)


def subtracted(left: Term, right: Term) -> Term:
    """Difference."""
    return _binary(exp.Sub, left, right)


def divided(left: Term, right: Term) -> Term:
    """Quotient of doubles."""
    return Term(
        exp.Paren(this=exp.Div(this=left.sql, expression=right.sql, typed=True, safe=False)),
        max(left.layer, right.layer),
    )


def extreme(kind: type[exp.Expression], parts: Sequence[Term]) -> Term:
    """Greatest or least of several values."""
    while len(parts) > 1:
        groups = [parts[first : first + MAX_FUNCTION_ARGUMENTS] for first in range(0, len(parts), MAX_FUNCTION_ARGUMENTS)]
        parts = [_call(kind, group) for group in groups]
    return parts[0]


def compared(left: Term, relation: str, right: Term) -> Term:
    """Comparison."""
    comparison = _RELATIONS[relation](this=left.sql, expression=right.sql)
    return Term(comparison, max(left.layer, right.layer))


def function(kind: type[exp.Expression], of: Term) -> Term:
    """Function of one value."""
    return Term(kind(this=of.sql), of.layer)


def case(sides: Sequence[tuple[Term, Term]], otherwise: Term) -> Term:
    """CASE: the value of the first condition that holds."""
    if not sides:
        return otherwise
    ifs = [exp.If(this=condition.sql, true=value.sql) for condition, value in sides]
    layer = max(otherwise.layer, *(t.layer for side in sides for t in side))
    return Term(exp.Case(ifs=ifs, default=otherwise.sql), layer)


def _call(kind: type[exp.Expression], parts: Sequence[Term]) -> Term:
    if len(parts) == 1:
        return parts[0]
    first, *rest = (part.sql for part in parts)
    return Term(kind(this=first, expressions=rest), max(part.layer for part in parts))


def _binary(kind: type[exp.Expression], left: Term, right: Term) -> Term:
    return Term(exp.Paren(this=kind(this=left.sql, expression=right.sql)), max(left.layer, right.layer))


def _balanced(kind: type[exp.Expression], parts: Sequence[Term]) -> Term:
    parts = list(parts)
    while len(parts) > 1:
        paired = [_binary(kind, *parts[k : k + 2]) for k in range(0, len(parts) - 1, 2)]
        parts = [*paired, *parts[2 * len(paired) :]]
    return parts[0]
