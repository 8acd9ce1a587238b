"""Tables in databases on the command line: URLs such as `duckdb:///bank.db?table=loans`.

Passwords come from the environment (PGPASSWORD, MYSQL_PWD, ~/.pgpass), never from the URL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import click

from baytree.cli import arguments
from baytree.cli.console import echo_status

_SCHEMES = ("duckdb", "sqlite", "postgresql", "postgres", "mysql", "mariadb")

EXPLAIN = click.option("--explain", is_flag=True, help="Database only: list the queries, with the rows that they returned.")

_INTO = (
    click.option("--into", metavar="NAME", help="Database only: table that is created for the predictions."),
    click.option("--as-view", is_flag=True, help="With --into: create a view instead of a table."),
    click.option("--replace", is_flag=True, help="With --into: replace a table or view of that name."),
)


def into_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for predictions in a database to a command."""
    for option in reversed(_INTO):
        command = option(command)
    return command


def is_url(table: str) -> bool:
    """Whether a table is the URL of a database.

    >>> is_url("duckdb:///bank.db?table=loans"), is_url("loans.csv")
    (True, False)
    """
    return "://" in table and table.partition("://")[0] in _SCHEMES


def rows_of_url(url: str, writes: bool = False) -> Any:
    """Rows of the table or query that a URL names."""
    from baytree.engine.sql.connect import open_url
    from baytree.engine.sql.rows import sql

    given = parse_qs(urlsplit(url).query)
    name = (given.get("table") or given.get("query") or [None])[0]
    if name is None:
        raise click.UsageError("the URL names no table: add ?table=NAME, or ?query=SELECT…")
    return sql(name, open_url(url.partition("?")[0], writes))


def explain_queries(fitted: Any, is_asked: bool) -> None:
    """Print the queries of a fit, if asked for."""
    for query in getattr(fitted, "queries_", ()) if is_asked else ():
        echo_status(f"{query.rows:>8,} rows {query.bytes:>10,} bytes {query.seconds:>8.3f} s  {query.sql}")


def predict_into(model: Path, table: str, options: dict[str, Any]) -> bool:
    """Predict the rows of a database into a table of it; returns whether `table` is a database."""
    into: Mapping[str, Any] = {name: options.pop(name) for name in ("into", "as_view", "replace")}
    if not is_url(table):
        if any(into.values()):
            raise click.UsageError("--into, --as-view and --replace are for tables in a database")
        return False
    if not into["into"]:
        raise click.UsageError("name the table for the predictions: --into NAME")
    from baytree.exporters.in_database import predicted_rows

    predicted = predicted_rows(arguments.predictor(model, options["strict"]), rows_of_url(table, writes=True))
    predicted.into(into["into"], replace=into["replace"], view=into["as_view"])
    echo_status(f"created {into['into']}")
    return True
