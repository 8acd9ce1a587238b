"""Databases that exports are run in: those inside Python, and servers that are started privately and stopped again."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from export_runners import Answers, is_number, is_time, stored


class Database(NamedTuple):
    """A connection, and how its dialect writes tables."""

    dialect: str
    connection: Any
    number: str
    text: str
    time: str
    quote: str = '"'
    mark: str = "?"

    def run(self, query: str, rows: Sequence[dict], classes: list[str] | None) -> Answers:
        """What a query answers of these rows, which stand in the table t."""
        kinds = {name: self.time if is_time(rows, name) else None for name in rows[0]}
        kinds = {name: kind or (self.number if is_number(rows, name) else self.text) for name, kind in kinds.items()}
        self.fill(kinds, [[stored(row[name]) for name in kinds] for row in rows])
        cursor = self.connection.cursor()
        cursor.execute(f"SELECT * FROM ({query}) answers ORDER BY row_id")
        found, n = cursor.fetchall(), len(classes or ())
        predicted = [row[len(row) - n - 1] for row in found]
        return predicted, None if classes is None else np.array([row[len(row) - n :] for row in found], float)

    def fill(self, kinds: dict[str, str], rows: Sequence[Sequence]) -> None:
        """Makes the table t of columns of these types, with these rows and their numbers as `row_id`."""
        cursor = self.connection.cursor()
        cursor.execute("DROP TABLE IF EXISTS t")
        listed = ", ".join(f"{self.quoted(name)} {kind}" for name, kind in kinds.items())
        cursor.execute(f"CREATE TABLE t (row_id INTEGER, {listed})")
        values = [(k, *row) for k, row in enumerate(rows)]
        cursor.executemany(f"INSERT INTO t VALUES ({', '.join([self.mark] * (len(kinds) + 1))})", values)

    def quoted(self, name: str) -> str:
        return f"{self.quote}{name.replace(self.quote, 2 * self.quote)}{self.quote}"


@contextmanager
def duckdb(_: Path) -> Iterator[Database]:
    """In this process."""
    with pytest.importorskip("duckdb").connect() as connection:
        yield Database("duckdb", connection, "DOUBLE", "VARCHAR", "TIMESTAMP")


@contextmanager
def sqlite(_: Path) -> Iterator[Database]:
    """In this process."""
    connection = sqlite3.connect(":memory:")
    yield Database("sqlite", connection, "REAL", "TEXT", "TEXT")
    connection.close()


@contextmanager
def postgres(folder: Path) -> Iterator[Database]:
    """A server of its own, on a socket in the folder."""
    psycopg, programs = pytest.importorskip("psycopg"), _postgres_programs()
    initdb, server = (shutil.which(name, path=programs) for name in ("initdb", "postgres"))
    if not initdb or not server:
        pytest.skip("PostgreSQL is not installed")
    owner = _owner(folder, "postgres")
    how = ("-A", "trust", "-U", "baytree", "-E", "UTF8", "--locale=C", "-N")
    subprocess.run([initdb, "-D", str(folder / "data"), *how], check=True, capture_output=True, cwd=folder, **owner)
    command = [server, "-D", str(folder / "data"), "-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off"]
    with _running(command, folder, owner, signal.SIGINT):
        settings = {"host": str(folder), "user": "baytree", "dbname": "postgres", "autocommit": True}
        settings["prepare_threshold"] = None  # tables of the same name differ from test to test
        connection = _patiently(lambda: psycopg.connect(**settings))
        yield Database("postgres", connection, "DOUBLE PRECISION", "TEXT", "TIMESTAMP", mark="%s")
        connection.close()


@contextmanager
def mysql(folder: Path) -> Iterator[Database]:
    """A server of MariaDB of its own, on a socket in the folder."""
    pymysql = pytest.importorskip("pymysql")
    server = shutil.which("mariadbd", path=f"{os.environ['PATH']}:/usr/sbin")
    if not server:
        pytest.skip("MariaDB is not installed")
    (folder / "data").mkdir()
    (folder / "tmp").mkdir()  # of its own: a server that starts deletes the temporary tables that it finds
    owner = _owner(folder, "mysql")
    places = {"datadir": "data", "tmpdir": "tmp", "socket": "s", "pid-file": "pid"}
    where = [f"--{name}={folder / place}" for name, place in places.items()]
    how = ["--no-defaults", "--skip-networking", "--skip-grant-tables", "--character-set-server=utf8mb4"]
    with _running([server, *how[:1], *where, *how[1:]], folder, owner, signal.SIGTERM):
        settings = {"unix_socket": str(folder / "s"), "user": "baytree", "charset": "utf8mb4", "autocommit": True}
        connection = _patiently(lambda: pymysql.connect(**settings))
        connection.cursor().execute("CREATE DATABASE a")
        connection.select_db("a")
        yield Database("mysql", connection, "DOUBLE", "VARCHAR(190)", "DATETIME(6)", quote="`", mark="%s")
        connection.close()


DATABASES = {each.__name__: each for each in (duckdb, sqlite, postgres, mysql)}


def _postgres_programs() -> str:
    """Where Debian keeps what starts a server: beside its version, not on the path."""
    return ":".join([os.environ["PATH"], *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin")))])


def _owner(folder: Path, user: str) -> dict[str, str]:
    """Servers refuse to be run by root: the folder and the process are given to their user."""
    if os.geteuid() != 0:
        return {}
    for path in (folder, *folder.iterdir()):
        shutil.chown(path, user)
    return {"user": user}


@contextmanager
def _running(command: list[str], folder: Path, owner: dict[str, str], stop: signal.Signals) -> Iterator[None]:
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **owner)
    try:
        yield
    finally:
        process.send_signal(stop)
        process.wait(60)


def _patiently(connect: Callable[[], Any], seconds: int = 60) -> Any:
    """A connection, as soon as the server takes one."""
    until = time.monotonic() + seconds
    while True:
        try:
            return connect()
        except Exception:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
