"""Connections by URL. Files of DuckDB and SQLite are opened for reading; passwords come from the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

SCHEMES = ("duckdb", "sqlite", "postgresql", "postgres", "mysql", "mariadb")


def is_url(text: str) -> bool:
    """Whether a text is a URL of a database.

    >>> is_url("duckdb:///warehouse.db?table=loans"), is_url("loans.csv")
    (True, False)
    """
    return text.partition("://")[0] in SCHEMES and "://" in text


def open_url(url: str, writes: bool = False) -> Any:
    """Connection to the database of a URL."""
    if not is_url(url):
        raise ValueError(f"{url.partition('://')[0]!r} is not a database; the URL starts with one of {', '.join(SCHEMES)}")
    parts = urlsplit(url)
    if parts.password is not None:
        raise ValueError(
            "the URL holds a password; give it in the environment (PGPASSWORD, MYSQL_PWD) or in a service file (~/.pgpass), "
            "so that it is neither shown nor stored"
        )
    if parts.scheme in ("duckdb", "sqlite"):
        return _open_file(parts, writes)
    return _connect_postgres(parts) if parts.scheme.startswith("postgres") else _connect_mysql(parts)


def _open_file(parts: SplitResult, writes: bool) -> Any:
    path = unquote(parts.path.removeprefix("/") if not parts.path.startswith("//") else parts.path[1:])
    if not path:
        raise ValueError(f"the URL names no file, as in {parts.scheme}:///warehouse.db")
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no file {path!r}")
    if parts.scheme == "duckdb":
        import duckdb

        return duckdb.connect(path, read_only=not writes)
    import sqlite3

    return sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode={'rw' if writes else 'ro'}", uri=True)


def _connect_postgres(parts: SplitResult) -> Any:
    import psycopg

    given = {"host": parts.hostname, "port": parts.port, "user": parts.username, "dbname": parts.path.strip("/")}
    return psycopg.connect(**{name: value for name, value in given.items() if value})  # type: ignore[arg-type]


def _connect_mysql(parts: SplitResult) -> Any:
    import pymysql

    given = {"host": parts.hostname, "port": parts.port, "user": parts.username, "database": parts.path.strip("/")}
    password = os.environ.get("MYSQL_PWD", "")
    return pymysql.connect(password=password, charset="utf8mb4", **{k: v for k, v in given.items() if v})
