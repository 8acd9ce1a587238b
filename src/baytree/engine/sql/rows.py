"""`SqlRows`: the rows of a query, as users pass them to `fit`; the public function `sql`.

Nothing is read when it is made, except the types of the columns. `SqlRows` builds the clean expression of the columns that
a model needs, runs aggregate queries, and decodes what comes back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from baytree.engine.sql import expressions
from baytree.engine.sql.catalog import ColumnType, Family
from baytree.engine.sql.connect import open_url
from baytree.engine.sql.database import Database, DuckDBRelation, LoggedQuery, database_of

_QUERY = re.compile(
    r"^\s*(--[^\n]*\n\s*|/\*.*?\*/\s*)*(\(|select\b|with\b|values\b|from\b|table\b)", re.IGNORECASE | re.DOTALL
)


class SqlRows:
    """Rows of a query in a database; see `baytree.sql`."""

    def __init__(self, database: Database, query: str, min_count: int = 0):
        self.database, self.query, self.min_count = database, query, min_count
        self.types: dict[str, ColumnType] = database.columns(query)
        self.columns = tuple(self.types)

    def __repr__(self) -> str:
        return f"SqlRows({self.database.dialect}: {', '.join(self.columns)})"

    @property
    def queries(self) -> list[LoggedQuery]:
        """Every query that was sent so far, with its rows and bytes."""
        return self.database.log

    def open_frame(self, target: str, weight: str | None, read_labels: Any, reader: str) -> Any:
        """Columns, target and weights for a model."""
        from baytree.engine.sql.frame import SqlFrame  # it imports this module

        return SqlFrame(self, target, weight, read_labels, reader)

    def into(self, name: str, *, replace: bool = False, view: bool = False) -> None:
        """Store these rows in the database, as a table or as a view; the only method that writes.

        Parameters
        ----------
        name : str
            Name of the table, such as ``"scores"`` or ``"reports.scores"``.
        replace : bool
            Whether to replace a table (or view) of that name; otherwise one that exists is an error.
        view : bool
            Whether to create a view, which predicts whenever it is read, instead of a table.
        """
        kind, quoted = "VIEW" if view else "TABLE", table_name(self.database, name)
        drop = [f"DROP {kind} IF EXISTS {quoted}"] if replace else []
        self.database.write([*drop, f"CREATE {kind} {quoted} AS SELECT * FROM ({self.query}) AS t"])

    def first(self, column: str) -> Any:
        """Some distinct values of a column, as a polars series."""
        import polars as pl

        values = self.database.run(f"SELECT DISTINCT {self.database.quoted(column)} FROM ({self.query}) AS t LIMIT 1000")
        return pl.Series(column, [value for (value,) in values], strict=False)

    def map_reduce(self, *_: Any) -> Any:
        """Refuse: rows stay in the database."""
        raise ValueError(
            "this needs the rows themselves, which stay in the database; export them and use bt.scan('export.parquet')"
        )

    map_rows = read_all = map_reduce

    def fetch(self) -> dict[str, list]:
        """All rows, as a dict of columns. This is the only method that brings rows here; no model calls it."""
        rows = self.database.run(f"SELECT * FROM ({self.query}) AS t")
        return {name: [row[k] for row in rows] for k, name in enumerate(self.columns)}

    def run(self, expression: Any) -> list[tuple]:
        """Answer of an Ibis expression over these rows."""
        return self.database.run(expressions.text_of(expression, self.database.dialect, self._readable))

    @property
    def _readable(self) -> str:
        """The query without columns of unsupported types: Ibis reads all columns that it does not know of."""
        names = [name for name, kind in self.types.items() if kind.family is not Family.UNSUPPORTED]
        if len(names) == len(self.types) or not names:
            return self.query
        return f"SELECT {', '.join(map(self.database.quoted, names))} FROM ({self.query}) AS t"

    def source(self) -> Any:
        """These rows as an Ibis table."""
        return expressions.source(self.types)

    def value(self, rows: Any, name: str) -> Any:
        """Clean values of a column; raises TypeError for a type that is not supported."""
        kind = self.types[name]
        if kind.family is Family.UNSUPPORTED:
            raise TypeError(
                f"column {name!r} has the type {kind.name}, which is not supported in a database; cast it in the query to a "
                "number, a string, a boolean or a date, or leave it out"
            )
        return expressions.clean(rows, name, kind, self.database.dialect)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read all queries of this context in one transaction; without one, refuse a table whose size changes."""
        with self.database.snapshot() as is_snapshot:
            before = None if is_snapshot else self._count()
            yield
            if before is not None and self._count() != before:
                raise ValueError(
                    "the table changed while the model was fitted; fit again, or give a connection instead of a relation, "
                    "so that all queries read one snapshot"
                )

    def _count(self) -> int:
        return int(self.run(self.source().aggregate(n=self.source().count()))[0][0])

    def decode(self, name: str, values: Sequence[Any]) -> list[Any]:
        """Strings of a column as they are in the table."""
        if self.database.dialect != "mysql":
            return list(values)
        try:
            return [None if value is None else bytes.fromhex(value).decode() for value in values]
        except UnicodeDecodeError:
            raise ValueError(
                f"column {name!r} holds bytes that are not UTF-8; write CONVERT({name} USING utf8mb4) in the query, or "
                "leave it out"
            ) from None

    def labels_of(self, name: str, values: Sequence[Any]) -> Any:
        """Values of a target column, as clean columns return them, in the type that the column has in memory."""
        family = self.types[name].family
        if family is Family.STRING:
            return self.decode(name, values)
        numbers = np.array([np.nan if value is None else value for value in values], np.float64)
        if np.isnan(numbers).any():
            return [None if value != value else _typed(value, family) for value in numbers.tolist()]
        if family is Family.BOOLEAN:
            return numbers.astype(bool)
        if family is Family.DATE:
            return numbers.astype("datetime64[D]")
        return numbers.astype(np.int64) if family is Family.INTEGER else numbers

    def literal(self, name: str, text: str) -> Any:
        """String of a column as the clean column has it."""
        return expressions.ibis.literal(text.encode().hex().upper() if self.database.dialect == "mysql" else text, "string")


def _typed(value: float, family: Family) -> Any:
    return bool(value) if family is Family.BOOLEAN else int(value) if family is Family.INTEGER else value


def sql(query: Any, connection: Any = None, min_count: int = 0) -> SqlRows:
    """Rows of a query in a database, for `fit`, `predict` and other functions that take tables.

    A model is fitted by aggregate queries: counts and sums leave the database, rows do not. Counts are exact, so a model of
    counts is the model that the same rows give in memory; sums of numbers agree to about ten digits.

    Parameters
    ----------
    query : str, DuckDB relation, Ibis table or narwhals lazy frame
        A SELECT, the name of a table, or a relation. Relations may be given to `fit` as they are.
    connection : connection or str, optional
        Connection of `duckdb`, `sqlite3`, `psycopg`, `pymysql` or `MySQLdb`, an Ibis backend on one of them, or a URL such
        as ``'duckdb:///warehouse.db'``. Not needed for a relation. Passwords come from the environment (``PGPASSWORD``,
        ``~/.pgpass``, ``MYSQL_PWD``), never from the URL.
    min_count : int, default=0
        Smallest number of rows of a group whose counts or sums may be fetched. The database checks it first, and a query
        with a smaller group is refused. The range and the quantiles of numbers and one label are fetched all the same.

    Returns
    -------
    SqlRows
        Pass it to `fit` in place of a frame. Give target and weights by name: `fit(bt.sql("loans", connection), "y")`.
        `queries` lists what was sent to the database.

    Examples
    --------
    >>> import baytree as bt, sqlite3
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.execute("CREATE TABLE pets (legs INTEGER, sound TEXT, kind TEXT)")
    >>> _ = connection.execute("INSERT INTO pets VALUES (4, 'bark', 'dog'), (4, 'bark', 'dog'), (2, 'chirp', 'bird')")
    >>> model = bt.NaiveBayesClassifier().fit(bt.sql("pets", connection), "kind")
    >>> model.predict({"legs": [2], "sound": ["chirp"]}).tolist()
    ['bird']
    """
    if connection is None and not isinstance(query, str):
        found = rows_of(query, min_count)
        if found is None:
            raise TypeError(
                f"bt.sql cannot read a {type(query).__name__}; give a query or the name of a table, and a connection"
            )
        return found
    if connection is None:
        raise TypeError("bt.sql needs a connection, as in bt.sql('loans', duckdb.connect('warehouse.db'))")
    if not isinstance(query, str) or not query.strip():
        raise ValueError("give a SELECT or the name of a table as a string")
    database = database_of(open_url(connection) if isinstance(connection, str) else connection)
    text = query.strip().rstrip(";").rstrip()
    return SqlRows(database, text if _QUERY.match(text) else f"SELECT * FROM {table_name(database, text)}", min_count)


def table_name(database: Database, text: str) -> str:
    """Quoted name of a table; parts are separated by dots unless the whole is quoted already."""
    return text if text[:1] in '"`' else ".".join(map(database.quoted, text.split(".")))


def rows_of(relation: Any, min_count: int = 0) -> SqlRows | None:
    """Rows of a relation of another library, or None if it is none."""
    module = type(relation).__module__.split(".")[0].lstrip("_")
    if module == "narwhals":
        return rows_of(relation.to_native(), min_count)
    if module == "duckdb" and hasattr(relation, "aggregate") and hasattr(relation, "types"):
        return SqlRows(DuckDBRelation(relation), f"SELECT * FROM {DuckDBRelation.view}", min_count)
    if module == "ibis" and hasattr(relation, "get_backend"):
        backend = relation.get_backend()
        return SqlRows(database_of(backend), str(backend.compile(relation)), min_count)
    return None
