"""The rows of a query as an Ibis expression with checked columns, and the text of a query in its dialect.

Ibis prints every expression in the dialect of the database. The user's query stays as it is: it becomes the first common
table expression, and the engine's own query reads it by name. Columns get names of their own (`c0`, `c1`, …, `y`, `w`), so
that the user's names occur once only, quoted by Ibis.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from baytree.engine.sql.catalog import ColumnType, Family

try:
    import ibis
    from ibis.backends.sql import compilers
    from sqlglot import exp
except ModuleNotFoundError as error:  # optional dependency
    raise ModuleNotFoundError("baytree writes SQL by Ibis; pip install 'baytree[sql]'", name="ibis") from error

ROWS = "baytree_rows"  # name of the user's query inside ours

_DECLARED = {
    Family.NUMBER: "decimal(38, 9)",  # any type but double, so that Ibis prints a cast
    Family.INTEGER: "decimal(38, 0)",
    Family.BOOLEAN: "boolean",
    Family.STRING: "string",
    Family.DATE: "date",
}


@ibis.udf.scalar.builtin
def hex(text: str) -> str:  # type: ignore[empty-body]
    """Bytes of a string in hexadecimal digits: equal only for equal strings, whatever the collation of the column."""


def source(types: dict[str, ColumnType]) -> Any:
    """The user's query as an Ibis table."""
    schema = {
        name: "float64" if kind.is_double else _DECLARED[kind.family]
        for name, kind in types.items()
        if kind.family is not Family.UNSUPPORTED
    }
    return ibis.table(schema, name=ROWS)


def clean(rows: Any, name: str, kind: ColumnType, dialect: str) -> Any:
    """Values of a column: doubles without NaN, days since 1970, 0 and 1, or strings that compare by their bytes."""
    column = rows[name]
    if kind.family is Family.BOOLEAN:
        return ibis.cases((column, double(1.0)), (~column, double(0.0)))
    if kind.family is Family.DATE:
        return column.epoch_days().cast("float64")
    if kind.family is Family.STRING:
        if dialect == "mysql":
            return hex(column)
        return column.concat("") if dialect == "sqlite" else column  # an expression has no collation
    number = column if kind.is_double else column.cast("float64")
    has_nan = dialect in ("duckdb", "postgres") and kind.family is Family.NUMBER
    return ibis.ifelse(number.isnan(), ibis.null("float64"), number) if has_nan else number


def text_of(expression: Any, dialect: str, query: str) -> str:
    """SQL of an expression over the user's query."""
    compiler = getattr(compilers, dialect).compiler
    tree = compiler.to_sqlglot(expression.unbind())
    for literal in tree.find_all(exp.Literal):  # without an exponent DuckDB and MySQL read decimals, whose products overflow
        if not literal.is_string and "." in literal.this and "e" not in literal.this.lower():
            literal.set("this", f"{literal.this}e0")
    sql = tree.sql(dialect=compiler.dialect)
    if sql.startswith("WITH RECURSIVE "):
        return f"WITH RECURSIVE {ROWS} AS ({query}), {sql.removeprefix('WITH RECURSIVE ')}"
    return f"WITH {ROWS} AS ({query}){', ' + sql.removeprefix('WITH ') if sql.startswith('WITH ') else ' ' + sql}"


def code_of(value: Any, ends: np.ndarray) -> Any:
    """Code of a number by the ascending upper bounds of the codes: 0 if it is missing, else 1 + its interval.

    A balanced search, of as many comparisons as the logarithm of the number of codes.
    """
    return ibis.ifelse(value.isnull(), double(0.0), _searched(value, ends, 0, max(len(ends) - 1, 0)))


def _searched(value: Any, ends: np.ndarray, first: int, last: int) -> Any:
    if first == last:
        return double(first + 1)
    middle = (first + last) // 2
    below, above = _searched(value, ends, first, middle), _searched(value, ends, middle + 1, last)
    return ibis.ifelse(value <= double(ends[middle]), below, above)


def double(value: float) -> Any:
    """Literal of a double."""
    return ibis.literal(float(value), "float64")


def between(value: Any, ends: np.ndarray, first: int, last: int) -> Any:
    """Whether a number has a code from `first` to `last`, both at least 1."""
    conditions = []
    if first > 1:
        conditions.append(value > double(ends[first - 2]))
    if last < len(ends):
        conditions.append(value <= double(ends[last - 1]))
    if not conditions:
        return value.notnull()
    return conditions[0] if len(conditions) == 1 else conditions[0] & conditions[1]


def any_of(conditions: Sequence[Any]) -> Any:
    """Whether one of the conditions holds."""
    whole = conditions[0]
    for condition in conditions[1:]:
        whole = whole | condition
    return whole


def whole(value: int) -> Any:
    """Literal of an integer."""
    return ibis.literal(int(value), "int64")
