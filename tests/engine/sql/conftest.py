"""Tables in databases: DuckDB and SQLite in this process, PostgreSQL and MariaDB as servers that the tests start."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("ibis")
sys.path.append(str(Path(__file__).parents[2] / "exporters"))

from database_servers import DATABASES, Database

import baytree as bt

SERVERS = ("postgres", "mysql")


@pytest.fixture(
    scope="session", params=[pytest.param(n, marks=pytest.mark.databases if n in SERVERS else ()) for n in DATABASES]
)
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    """A database that runs."""
    with tempfile.TemporaryDirectory(prefix="baytree") as folder:  # pytest's own are closed to the servers' users
        Path(folder).chmod(0o755)
        with DATABASES[request.param](Path(folder)) as started:
            yield started


@pytest.fixture
def stored(database: Database) -> Callable[..., Any]:
    """stored(frame, **options): a polars frame as the rows of a table of the database."""

    def place(frame: pl.DataFrame, pieces: int = 1, **options: Any) -> Any:  # noqa: ARG001
        fill(database, frame)
        listed = ", ".join(database.quoted(name) for name in frame.columns)
        return bt.sql(f"SELECT {listed} FROM t", database.connection, **options)

    return place


def fill(database: Database, frame: pl.DataFrame) -> None:
    """Make the table t of the rows of a frame."""
    kinds = {name: _kind(database, dtype) for name, dtype in frame.schema.items()}
    database.fill(kinds, frame.rows())
    if database.dialect == "sqlite":  # the others commit every statement
        database.connection.commit()


def _kind(database: Database, dtype: Any) -> str:
    if dtype in (pl.Float64, pl.Float32):
        return database.number
    if dtype == pl.Boolean:
        return "BOOLEAN"
    if dtype == pl.Date:
        return "DATE"
    return "BIGINT" if dtype.is_integer() else database.text
