"""Formulas as a query: the columns of a table as they are, then `prediction` and `P(class)` of each class."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from baytree.data.schema.column import Kind
from baytree.exporters.sql import terms
from baytree.exporters.sql.dates import PER_UNIT
from baytree.exporters.sql.layers import Computed, Layers
from baytree.formula import Formula

try:
    from sqlglot import exp
except ModuleNotFoundError as error:  # an extra
    raise ModuleNotFoundError("SQL is written by sqlglot; pip install 'baytree[export]'", name="sqlglot") from error

LONGEST_NAME = {"postgres": 63, "mysql": 64}  # bytes of UTF-8, characters

MOST_LAYERS = {"mysql": 60}  # MariaDB joins at most 61 tables

NARROW = 8  # columns of a table that MariaDB reads from JSON

MOST_COLUMNS = {"postgres": 1600, "sqlite": 1900, "mysql": 4000}


def query(
    formula: Formula, dialect: str = "duckdb", table: str = "t", view: str | None = None, effects: bool = False
) -> str:
    """One SELECT that can stand as a subquery, or a view of it.

    A row that `predict` would refuse (an infinite number, a negative count, with `unseen="error"` a new level) has NULL as
    its answers. `effects` adds what each column adds to the score of each class, as `effect(column, class)`.
    """
    _refuse(formula, dialect)
    layers = Layers(formula, dialect)
    formula = layers.formula
    wanted = [k for k, step in enumerate(formula.steps) if step.effect_of is not None] if effects else []
    layers.run(wanted)
    answers = _answers(formula, layers, dialect)
    shown = [*answers, *_effects(formula, layers, wanted)]
    limit = MOST_COLUMNS.get(dialect, 10_000)
    widest = sum(map(len, layers.layers)) + len(shown)
    if widest > limit:
        raise ValueError(
            f"SQL: this model needs {widest:,} columns at once, and {dialect} holds {limit:,}; export to Python or C"
        )
    if len(layers.layers) > (deepest := MOST_LAYERS.get(dialect, 10_000)):
        raise ValueError(
            f"SQL: this model needs {len(layers.layers)} steps one after the other, and {dialect} joins {deepest} at once; "
            "export to Python or C"
        )
    selected = SOURCES[dialect](table, layers.layers, _short(shown, dialect), dialect)
    return selected if view is None else f"CREATE VIEW {_quoted(view, dialect)} AS {selected}"


def _refuse(formula: Formula, dialect: str) -> None:
    if dialect not in SOURCES:
        raise ValueError(f"dialect={dialect!r}: no such dialect; there is {', '.join(map(repr, SOURCES))}")
    for column in formula.columns:
        if column.kind is Kind.TEXT:
            raise ValueError(
                f"column {column.name!r} is text: SQL does not cut texts into words; export to Python or JavaScript"
            )
        if column.unit == "clock":
            raise ValueError(
                f"column {column.name!r} holds times of day, which SQL does not read; declare it numeric, in seconds since "
                "midnight, or export to Python or JavaScript"
            )
        if column.unit is not None and column.unit not in PER_UNIT:
            raise ValueError(
                f"column {column.name!r}: dates in units of {column.unit!r} have no number in SQL; train with dates of days"
            )


def _answers(formula: Formula, layers: Layers, dialect: str) -> list[Computed]:
    values = layers.vector(formula.answers)
    kept = [layers.keep(value).sql for value in values]
    if formula.choice is None:
        return _unless_refused([Computed("prediction", kept[0])], layers)
    place = layers.keep(layers.element(formula.choice, 0)).sql
    classes = formula.classes or ()
    ifs = [exp.If(this=exp.Literal.number(k), true=terms.text(name, dialect)) for k, name in enumerate(classes)]
    named = [Computed(f"P({name})", value) for name, value in zip(classes, kept, strict=True)]
    return _unless_refused([Computed("prediction", exp.Case(this=place, ifs=ifs)), *named], layers)


def _unless_refused(answers: list[Computed], layers: Layers) -> list[Computed]:
    conditions = layers.refused()
    if not conditions:
        return answers
    refused = exp.or_(*(exp.Paren(this=condition) for condition in conditions))
    nothing = exp.Null()
    return [Computed(n, exp.Case(ifs=[exp.If(this=refused, true=nothing)], default=v)) for n, v in answers]


def _effects(formula: Formula, layers: Layers, wanted: list[int]) -> Iterator[Computed]:
    for k in wanted:
        column = formula.columns[formula.steps[k].effect_of or 0].name
        values = layers.step(k)
        names = formula.classes if formula.classes and len(values) == len(formula.classes) else ("",)
        for name, value in zip(names, values, strict=True):
            yield Computed(f"effect({column}, {name})" if name else f"effect({column})", value.sql)


def _short(computed: list[Computed], dialect: str) -> list[Computed]:
    """Names that the database can hold, each once."""
    limit, seen, found = LONGEST_NAME.get(dialect, 10**6), set(), []
    for name, value in computed:
        short, n = _cut(name, limit), 1
        while short.lower() in seen:
            n += 1
            short = f"{_cut(name, limit - 8)}~{n}"
        seen.add(short.lower())
        found.append(Computed(short, value))
    return found


def _cut(name: str, limit: int) -> str:
    return name.encode()[:limit].decode(errors="ignore") if len(name.encode()) > limit else name


# --- where the layers stand ---------------------------------------------------------------------------------------------


def _nested(table: str, layers: list[list[Computed]], shown: list[Computed], dialect: str) -> str:
    """Subqueries in subqueries; the columns of the layers are left out by name in the end."""
    inner = _source(table, dialect)
    for k, layer in enumerate(layers):
        inner = f"(SELECT *, {_listed(layer, dialect)} FROM {inner}) AS layer_{k}"
    names = [_quoted(computed.name, dialect) for layer in layers for computed in layer]
    word = "EXCEPT" if dialect == "bigquery" else "EXCLUDE"
    every = f"* {word} ({', '.join(names)})" if names else "*"
    return f"SELECT {every}, {_listed(shown, dialect)} FROM {inner}"


def _whole_rows(table: str, layers: list[list[Computed]], shown: list[Computed], dialect: str) -> str:
    """Subqueries that hand on the row as one value; without OFFSET a column would be computed wherever it is read."""
    rows, inner = _quoted(terms.ROWS, dialect), _source(table, dialect)
    for k, layer in enumerate(layers):
        carried = "*" if k else f"{rows} AS {_quoted('baytree_row', dialect)}"
        inner = f"(SELECT {carried}, {_listed(layer, dialect)} FROM {inner} OFFSET 0) AS layer_{k}"
    every = f"({_quoted('baytree_row', dialect)}).*" if layers else "*"
    return f"SELECT {every}, {_listed(shown, dialect)} FROM {inner}"


def _lateral(table: str, layers: list[list[Computed]], shown: list[Computed], dialect: str) -> str:
    """A row of computed columns beside each row."""
    word = "CROSS APPLY" if dialect == "tsql" else "CROSS JOIN LATERAL"
    named = (f"{word} (SELECT {_listed(layer, dialect)}) AS layer_{k}" for k, layer in enumerate(layers))
    source, rows = _source(table, dialect), _quoted(terms.ROWS, dialect)
    return f"SELECT {rows}.*, {_listed(shown, dialect)} FROM {' '.join([source, *named])}"


def _as_json(table: str, layers: list[list[Computed]], shown: list[Computed], dialect: str) -> str:
    """SQLite joins tables and functions that give tables: the answers of a row are made as JSON, which one of them reads."""
    named = []
    for k, layer in enumerate(layers):
        before = ("*, ", f" FROM layer_{k - 1}") if k else ("", "")
        named.append(f"layer_{k} AS MATERIALIZED (SELECT {before[0]}{_listed(layer, dialect)}{before[1]})")
    values = ", ".join(computed.value.sql(dialect, copy=False) for computed in shown)
    made = f"SELECT JSON_ARRAY({values})"
    if named:
        made = f"WITH {', '.join(named)} {made} FROM layer_{len(named) - 1}"
    read = [f"JSON_EXTRACT(answers.value, '$[{k}]') AS {_quoted(c.name, dialect)}" for k, c in enumerate(shown)]
    source, rows = _source(table, dialect), _quoted(terms.ROWS, dialect)
    return f"SELECT {rows}.*, {', '.join(read)} FROM {source} CROSS JOIN JSON_EACH(JSON_ARRAY(({made}))) AS answers"


def _json_tables(table: str, layers: list[list[Computed]], shown: list[Computed], dialect: str) -> str:
    """MariaDB has no lateral tables but those that are read from JSON, which keeps doubles to the last bit.

    An element of an array is found from its beginning each time, so arrays are short. The order of tables is given, since
    trying all orders would take longer than everything else.
    """
    named = []
    for k, layer in enumerate(_narrow(layers, MOST_LAYERS[dialect])):
        values = ", ".join(computed.value.sql(dialect, copy=False) for computed in layer)
        columns = ", ".join(f"{_quoted(c.name, dialect)} DOUBLE PATH '$[{j}]'" for j, c in enumerate(layer))
        named.append(f"JSON_TABLE(JSON_ARRAY({values}), '$' COLUMNS ({columns})) AS layer_{k}")
    source, rows = _source(table, dialect), _quoted(terms.ROWS, dialect)
    return f"SELECT {rows}.*, {_listed(shown, dialect)} FROM {' STRAIGHT_JOIN '.join([source, *named])}"


def _narrow(layers: list[list[Computed]], most: int) -> list[list[Computed]]:
    """The layers in parts of few columns, as few as `most` parts in all allow."""
    width = NARROW
    while sum(-(-len(layer) // width) for layer in layers) > most:
        width += NARROW
    return [layer[first : first + width] for layer in layers for first in range(0, len(layer), width)]


def _structs(table: str, layers: list[list[Computed]], shown: list[Computed], dialect: str) -> str:
    """BigQuery's lateral tables are arrays of one struct."""
    named = (f"CROSS JOIN UNNEST([STRUCT({_listed(layer, dialect)})]) AS layer_{k}" for k, layer in enumerate(layers))
    source, rows = _source(table, dialect), _quoted(terms.ROWS, dialect)
    return f"SELECT {rows}.*, {_listed(shown, dialect)} FROM {' '.join([source, *named])}"


Source = Callable[[str, list[list[Computed]], list[Computed], str], str]

SOURCES: Mapping[str, Source] = {
    "duckdb": _nested,
    "sqlite": _as_json,
    "postgres": _whole_rows,
    "mysql": _json_tables,
    "spark": _lateral,
    "bigquery": _structs,
    "snowflake": _nested,
    "tsql": _lateral,
}


def _listed(computed: list[Computed], dialect: str) -> str:
    return ", ".join(f"{value.sql(dialect, copy=False)} AS {_quoted(name, dialect)}" for name, value in computed)


def _source(table: str, dialect: str) -> str:
    """The table under the name that layers read it by; plain words with dots between them are a schema and its table."""
    parts = table.split(".")
    named = parts if all(re.fullmatch(r"\w+", part) for part in parts) else [table]
    return f"{'.'.join(_quoted(part, dialect) for part in named)} AS {_quoted(terms.ROWS, dialect)}"


def _quoted(name: str, dialect: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(dialect, copy=False)
