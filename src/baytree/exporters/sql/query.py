"""Export of formulas to SQL: a SELECT of the table's columns, then `prediction` and `P(class)` of each class.

The formula becomes layers of columns (`layers`); each dialect nests or joins them in the way that its database computes
every column only once (`SOURCES`).
"""

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
except ModuleNotFoundError as error:  # optional dependency
    raise ModuleNotFoundError("SQL is written by sqlglot; pip install 'baytree[export]'", name="sqlglot") from error

LONGEST_NAME = {"postgres": 63, "mysql": 64}  # bytes of UTF-8 in PostgreSQL, characters in MySQL

MAX_LAYERS = {"mysql": 60}  # MariaDB joins at most 61 tables

JSON_TABLE_COLUMNS_STEP = 8  # columns of a table that MariaDB reads from JSON

MAX_COLUMNS = {"postgres": 1600, "sqlite": 1900, "mysql": 4000}


def query(
    formula: Formula, dialect: str = "duckdb", table: str = "t", view: str | None = None, effects: bool = False
) -> str:
    """One SELECT that can be used as a subquery, or a CREATE VIEW of it.

    For a row that `predict` would refuse (an infinite number, a negative count, with `unseen="error"` a new level), the
    predictions are NULL. `effects` adds the contribution of each column to the score of each class, as
    `effect(column, class)`. Raises ValueError for a model that the dialect cannot represent.
    """
    _check_supported(formula, dialect)
    layers = Layers(formula, dialect)
    formula = layers.formula
    explained_steps = [k for k, step in enumerate(formula.steps) if step.effect_of is not None] if effects else []
    layers.run(explained_steps)
    outputs = _outputs(formula, layers, dialect)
    output_columns = [*outputs, *_effects(formula, layers, explained_steps)]
    limit = MAX_COLUMNS.get(dialect, 10_000)
    widest = sum(map(len, layers.layers)) + len(output_columns)
    if widest > limit:
        raise ValueError(
            f"SQL: this model needs {widest:,} columns in one query, and {dialect} supports {limit:,}; export to Python or C"
        )
    if len(layers.layers) > (deepest := MAX_LAYERS.get(dialect, 10_000)):
        raise ValueError(
            f"SQL: this model needs {len(layers.layers)} nested steps, and {dialect} joins at most {deepest}; "
            "export to Python or C"
        )
    selected = SOURCES[dialect](table, layers.layers, _with_unique_names(output_columns, dialect), dialect)
    return selected if view is None else f"CREATE VIEW {_quoted(view, dialect)} AS {selected}"


def _check_supported(formula: Formula, dialect: str) -> None:
    if dialect not in SOURCES:
        raise ValueError(f"dialect={dialect!r} is not a supported dialect; choose one of {', '.join(map(repr, SOURCES))}")
    for column in formula.columns:
        if column.kind is Kind.TEXT:
            raise ValueError(
                f"column {column.name!r} is text: SQL cannot split text into words; export to Python or JavaScript"
            )
        if column.unit == "clock":
            raise ValueError(
                f"column {column.name!r} contains times of day, which SQL exports do not support; declare it numeric, in "
                "seconds since midnight, or export to Python or JavaScript"
            )
        if column.unit is not None and column.unit not in PER_UNIT:
            raise ValueError(
                f"column {column.name!r}: dates in units of {column.unit!r} are not supported in SQL exports; fit with "
                "dates in days"
            )


def _outputs(formula: Formula, layers: Layers, dialect: str) -> list[Computed]:
    values = layers.vector(formula.answers)
    columns = [layers.store(value).sql for value in values]
    if formula.choice is None:
        return _unless_refused([Computed("prediction", columns[0])], layers)
    index = layers.store(layers.element(formula.choice, 0)).sql
    classes = formula.classes or ()
    ifs = [exp.If(this=exp.Literal.number(k), true=terms.text(name, dialect)) for k, name in enumerate(classes)]
    probabilities = [Computed(f"P({name})", value) for name, value in zip(classes, columns, strict=True)]
    return _unless_refused([Computed("prediction", exp.Case(this=index, ifs=ifs)), *probabilities], layers)


def _unless_refused(outputs: list[Computed], layers: Layers) -> list[Computed]:
    conditions = layers.refused()
    if not conditions:
        return outputs
    refused = exp.or_(*(exp.Paren(this=condition) for condition in conditions))
    null = exp.Null()
    return [Computed(n, exp.Case(ifs=[exp.If(this=refused, true=null)], default=v)) for n, v in outputs]


def _effects(formula: Formula, layers: Layers, explained_steps: list[int]) -> Iterator[Computed]:
    for k in explained_steps:
        column = formula.columns[formula.steps[k].effect_of or 0].name
        values = layers.step(k)
        names = formula.classes if formula.classes and len(values) == len(formula.classes) else ("",)
        for name, value in zip(names, values, strict=True):
            yield Computed(f"effect({column}, {name})" if name else f"effect({column})", value.sql)


def _with_unique_names(computed: list[Computed], dialect: str) -> list[Computed]:
    """Computed columns under unique names that are short enough for the database."""
    limit, names_used, renamed = LONGEST_NAME.get(dialect, 10**6), set(), []
    for name, value in computed:
        short, n = _truncate(name, limit), 1
        while short.lower() in names_used:
            n += 1
            short = f"{_truncate(name, limit - 8)}~{n}"
        names_used.add(short.lower())
        renamed.append(Computed(short, value))
    return renamed


def _truncate(name: str, limit: int) -> str:
    return name.encode()[:limit].decode(errors="ignore") if len(name.encode()) > limit else name


# --- how each dialect combines the layers ------------------------------------------------------------------------------


def _nested(table: str, layers: list[list[Computed]], output_columns: list[Computed], dialect: str) -> str:
    """Nested subqueries; the columns of the layers are excluded by name at the end."""
    inner = _source(table, dialect)
    for k, layer in enumerate(layers):
        inner = f"(SELECT *, {_listed(layer, dialect)} FROM {inner}) AS layer_{k}"
    names = [_quoted(computed.name, dialect) for layer in layers for computed in layer]
    word = "EXCEPT" if dialect == "bigquery" else "EXCLUDE"
    every = f"* {word} ({', '.join(names)})" if names else "*"
    return f"SELECT {every}, {_listed(output_columns, dialect)} FROM {inner}"


def _whole_rows(table: str, layers: list[list[Computed]], output_columns: list[Computed], dialect: str) -> str:
    """Subqueries that pass the row on as one value; without OFFSET, PostgreSQL would recompute a column at each use."""
    rows, inner = _quoted(terms.ROWS, dialect), _source(table, dialect)
    for k, layer in enumerate(layers):
        carried = "*" if k else f"{rows} AS {_quoted('baytree_row', dialect)}"
        inner = f"(SELECT {carried}, {_listed(layer, dialect)} FROM {inner} OFFSET 0) AS layer_{k}"
    every = f"({_quoted('baytree_row', dialect)}).*" if layers else "*"
    return f"SELECT {every}, {_listed(output_columns, dialect)} FROM {inner}"


def _lateral(table: str, layers: list[list[Computed]], output_columns: list[Computed], dialect: str) -> str:
    """Lateral join: computed columns beside each row."""
    word = "CROSS APPLY" if dialect == "tsql" else "CROSS JOIN LATERAL"
    named = (f"{word} (SELECT {_listed(layer, dialect)}) AS layer_{k}" for k, layer in enumerate(layers))
    source, rows = _source(table, dialect), _quoted(terms.ROWS, dialect)
    return f"SELECT {rows}.*, {_listed(output_columns, dialect)} FROM {' '.join([source, *named])}"


def _as_json(table: str, layers: list[list[Computed]], output_columns: list[Computed], dialect: str) -> str:
    """SQLite can join table-valued functions: the predictions of a row are written as JSON, which JSON_EACH reads."""
    layer_tables = []
    for k, layer in enumerate(layers):
        before = ("*, ", f" FROM layer_{k - 1}") if k else ("", "")
        layer_tables.append(f"layer_{k} AS MATERIALIZED (SELECT {before[0]}{_listed(layer, dialect)}{before[1]})")
    values = ", ".join(computed.value.sql(dialect, copy=False) for computed in output_columns)
    json_array = f"SELECT JSON_ARRAY({values})"
    if layer_tables:
        json_array = f"WITH {', '.join(layer_tables)} {json_array} FROM layer_{len(layer_tables) - 1}"
    columns = [f"JSON_EXTRACT(answers.value, '$[{k}]') AS {_quoted(c.name, dialect)}" for k, c in enumerate(output_columns)]
    source, rows = _source(table, dialect), _quoted(terms.ROWS, dialect)
    return f"SELECT {rows}.*, {', '.join(columns)} FROM {source} CROSS JOIN JSON_EACH(JSON_ARRAY(({json_array}))) AS answers"


def _json_tables(table: str, layers: list[list[Computed]], output_columns: list[Computed], dialect: str) -> str:
    """Layers as JSON tables: MariaDB has no other lateral tables, and JSON keeps doubles exactly.

    Reading an element scans its array from the start, so arrays are short. The join order is fixed, because the optimiser
    would take longer to try all orders than the query takes.
    """
    named = []
    for k, layer in enumerate(_narrow(layers, MAX_LAYERS[dialect])):
        values = ", ".join(computed.value.sql(dialect, copy=False) for computed in layer)
        columns = ", ".join(f"{_quoted(c.name, dialect)} DOUBLE PATH '$[{j}]'" for j, c in enumerate(layer))
        named.append(f"JSON_TABLE(JSON_ARRAY({values}), '$' COLUMNS ({columns})) AS layer_{k}")
    source, rows = _source(table, dialect), _quoted(terms.ROWS, dialect)
    return f"SELECT {rows}.*, {_listed(output_columns, dialect)} FROM {' STRAIGHT_JOIN '.join([source, *named])}"


def _narrow(layers: list[list[Computed]], max_parts: int) -> list[list[Computed]]:
    """Split the layers into parts of few columns, as few as a maximum of `max_parts` parts allows."""
    width = JSON_TABLE_COLUMNS_STEP
    while sum(-(-len(layer) // width) for layer in layers) > max_parts:
        width += JSON_TABLE_COLUMNS_STEP
    return [layer[first : first + width] for layer in layers for first in range(0, len(layer), width)]


def _structs(table: str, layers: list[list[Computed]], output_columns: list[Computed], dialect: str) -> str:
    """BigQuery's lateral tables are arrays of one struct."""
    named = (f"CROSS JOIN UNNEST([STRUCT({_listed(layer, dialect)})]) AS layer_{k}" for k, layer in enumerate(layers))
    source, rows = _source(table, dialect), _quoted(terms.ROWS, dialect)
    return f"SELECT {rows}.*, {_listed(output_columns, dialect)} FROM {' '.join([source, *named])}"


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
    """Table under the alias that layers read; plain words separated by dots are a schema and its table."""
    parts = table.split(".")
    identifiers = parts if all(re.fullmatch(r"\w+", part) for part in parts) else [table]
    return f"{'.'.join(_quoted(part, dialect) for part in identifiers)} AS {_quoted(terms.ROWS, dialect)}"


def _quoted(name: str, dialect: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(dialect, copy=False)
