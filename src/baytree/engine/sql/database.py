"""One connection to a database: how it runs a query, what types a query has, and its read snapshot.

`Database` is what the engine knows of a connection of DuckDB, SQLite, PostgreSQL (psycopg) or MySQL and MariaDB (PyMySQL,
mysqlclient), or of an Ibis backend on one of them. Every query that it runs is logged with its rows and bytes. It only
reads, except in `write`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import msgspec

from baytree.engine.sql.catalog import ColumnType, duckdb_type, mysql_type, postgres_type, sqlite_type


class LoggedQuery(msgspec.Struct, frozen=True):
    """A query that was sent to a database, and what came back."""

    sql: str
    rows: int
    bytes: int  # of the values that were returned
    seconds: float


class DatabaseError(ValueError):
    """A query that the database did not answer."""


class Database(ABC):
    """A connection to a database."""

    dialect: str

    def __init__(self, connection: Any):
        self.connection = connection
        self.log: list[LoggedQuery] = []

    def run(self, sql: str) -> list[tuple]:
        """Rows that a query returns."""
        begin = time.perf_counter()
        try:
            rows = self._fetch(sql)
        except Exception as error:
            raise DatabaseError(f"{self.dialect} did not answer: {error}\nthe query was: {_shortened(sql)}") from error
        self.log.append(LoggedQuery(sql, len(rows), _size(rows), time.perf_counter() - begin))
        return rows

    def write(self, statements: Sequence[str]) -> None:
        """Run statements that create the table or view that the user named, all or none of them."""
        try:
            self._write(statements)
        except Exception as error:
            raise DatabaseError(f"{self.dialect} refused: {error}") from error

    @contextmanager
    def snapshot(self) -> Iterator[bool]:
        """Read all queries of this context in one transaction; yields whether there is one."""
        try:
            is_inside = self._is_in_transaction()
            if not is_inside:
                self._begin()
        except DatabaseError:
            raise
        except Exception as error:
            raise DatabaseError(f"{self.dialect} did not answer: {error}") from error
        if is_inside:
            yield True
            return
        try:
            yield True
        finally:
            with suppress(Exception):  # a lost connection has no transaction either
                self._end()

    def query_names(self, query: str) -> str:
        """Query that returns no rows, whose description names the columns."""
        return f"SELECT * FROM ({query}) AS t LIMIT 0"

    def quoted(self, name: str) -> str:
        """Name as an identifier."""
        return '"' + name.replace('"', '""') + '"'

    @abstractmethod
    def columns(self, query: str) -> dict[str, ColumnType]:
        """Types of the columns of a query."""

    @abstractmethod
    def _fetch(self, sql: str) -> list[tuple]: ...

    @abstractmethod
    def _is_in_transaction(self) -> bool: ...

    @abstractmethod
    def _begin(self) -> None: ...

    def _write(self, statements: Sequence[str]) -> None:
        for statement in statements:
            self.connection.execute(statement)

    def _end(self) -> None:
        self.connection.rollback()


class DuckDB(Database):
    """A DuckDB connection."""

    dialect = "duckdb"

    def columns(self, query: str) -> dict[str, ColumnType]:
        """Types of the columns of a query."""
        return {name: duckdb_type(kind) for name, kind, *_ in self.run(f"DESCRIBE {query}")}

    def _fetch(self, sql: str) -> list[tuple]:
        return self.connection.execute(sql).fetchall()

    def _is_in_transaction(self) -> bool:
        try:
            self.connection.execute("BEGIN TRANSACTION")
        except Exception as error:
            if "within a transaction" in str(error):
                return True
            raise DatabaseError(f"duckdb did not answer: {error}") from error
        return False

    def _begin(self) -> None:
        """Nothing: `_is_in_transaction` has begun it, since DuckDB does not say whether there is one."""

    def _write(self, statements: Sequence[str]) -> None:
        if self._is_in_transaction():
            super()._write(statements)
            return
        try:
            super()._write(statements)
            self.connection.commit()
        except BaseException:
            self.connection.rollback()
            raise


class DuckDBRelation(Database):
    """A DuckDB relation, whose connection it does not show."""

    dialect = "duckdb"
    view = "baytree_relation"

    def columns(self, query: str) -> dict[str, ColumnType]:
        """Types of the columns of the relation."""
        kinds = zip(self.connection.columns, self.connection.types, strict=True)
        return {name: duckdb_type(str(kind)) for name, kind in kinds}

    @contextmanager
    def snapshot(self) -> Iterator[bool]:
        """A relation cannot start a transaction."""
        yield False

    def _fetch(self, sql: str) -> list[tuple]:
        return self.connection.query(self.view, sql).fetchall()

    def _write(self, statements: Sequence[str]) -> None:
        raise ValueError("a DuckDB relation cannot create tables; give the connection: bt.sql(query, connection)")

    def _is_in_transaction(self) -> bool:
        return False

    def _begin(self) -> None: ...


class SQLite(Database):
    """A connection of `sqlite3`."""

    dialect = "sqlite"

    def columns(self, query: str) -> dict[str, ColumnType]:
        """Types of the values that the columns hold: SQLite has types of values, not of columns."""
        cursor = self.connection.execute(self.query_names(query))
        names = [column[0] for column in cursor.description]
        found: list[Any] = []
        for first in range(0, len(names), 300):
            some = [self.quoted(name) for name in names[first : first + 300]]
            kinds = ", ".join(f"group_concat(DISTINCT typeof({name}))" for name in some)
            found += list(self.run(f"SELECT {kinds} FROM ({query}) AS t")[0])
        return {name: sqlite_type(kinds) for name, kinds in zip(names, found, strict=True)}

    def _fetch(self, sql: str) -> list[tuple]:
        return self.connection.execute(sql).fetchall()

    def _is_in_transaction(self) -> bool:
        return self.connection.in_transaction

    def _begin(self) -> None:
        self.connection.execute("BEGIN")

    def _write(self, statements: Sequence[str]) -> None:
        self.connection.execute("SAVEPOINT baytree")  # the user may be inside a transaction
        try:
            super()._write(statements)
        except BaseException:
            self.connection.execute("ROLLBACK TO baytree")
            raise
        finally:
            self.connection.execute("RELEASE baytree")


class PostgreSQL(Database):
    """A connection of psycopg."""

    dialect = "postgres"

    def columns(self, query: str) -> dict[str, ColumnType]:
        """Types of the columns of a query."""
        with self.connection.cursor() as cursor:
            try:
                cursor.execute(self.query_names(query).encode())
            except Exception as error:
                raise DatabaseError(f"postgres did not answer: {error}\nthe query was: {_shortened(query)}") from error
            return {column.name: postgres_type(column.type_display) for column in cursor.description}

    def _fetch(self, sql: str) -> list[tuple]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql.encode())
            return cursor.fetchall()

    def _is_in_transaction(self) -> bool:
        return self.connection.info.transaction_status.name in ("INTRANS", "INERROR", "ACTIVE")

    def _begin(self) -> None:
        characteristics = "ISOLATION LEVEL REPEATABLE READ, READ ONLY"
        self.connection.execute(
            f"BEGIN {characteristics}" if self.connection.autocommit else f"SET TRANSACTION {characteristics}"
        )

    def _end(self) -> None:
        if self.connection.autocommit:
            self.connection.execute("ROLLBACK")
        else:
            self.connection.rollback()

    def _write(self, statements: Sequence[str]) -> None:
        with self.connection.transaction(), self.connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement.encode())
        if not self.connection.autocommit and self.connection.info.transaction_status.name != "IDLE":
            self.connection.commit()


class MySQL(Database):
    """A connection of PyMySQL or mysqlclient to MySQL or MariaDB."""

    dialect = "mysql"
    _is_begun = False

    def columns(self, query: str) -> dict[str, ColumnType]:
        """Types of the columns of a query."""
        with self.connection.cursor() as cursor:
            try:
                cursor.execute(self.query_names(query))
            except Exception as error:
                raise DatabaseError(f"mysql did not answer: {error}\nthe query was: {_shortened(query)}") from error
            return {column[0]: mysql_type(column[1]) for column in cursor.description}

    def quoted(self, name: str) -> str:
        """Name as an identifier."""
        return "`" + name.replace("`", "``") + "`"

    def _fetch(self, sql: str) -> list[tuple]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def _is_in_transaction(self) -> bool:
        return self._is_begun or bool(self._fetch("SELECT @@in_transaction")[0][0]) if self._is_mariadb else self._is_begun

    @property
    def _is_mariadb(self) -> bool:
        return "MariaDB" in str(self.connection.get_server_info())

    def _begin(self) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        self._is_begun = True

    def _end(self) -> None:
        self._is_begun = False
        self.connection.rollback()

    def _write(self, statements: Sequence[str]) -> None:
        with self.connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
        self.connection.commit()


def database_of(connection: Any) -> Database:
    """Database of a connection, chosen by its type; raises TypeError for others."""
    kind = type(connection)
    modules = {base.__module__.split(".")[0].lstrip("_") for base in kind.__mro__}
    if "ibis" in modules and hasattr(connection, "con"):
        if connection.name not in ("duckdb", "sqlite", "postgres", "mysql"):
            raise TypeError(
                f"the Ibis backend {connection.name!r} is not supported; baytree trains in DuckDB, SQLite, PostgreSQL and "
                "MySQL or MariaDB; export the rows to Parquet and use bt.scan"
            )
        return database_of(connection.con)
    if "duckdb" in modules:
        return (
            DuckDBRelation(connection)
            if hasattr(connection, "aggregate") and hasattr(connection, "types")
            else DuckDB(connection)
        )
    if "sqlite3" in modules:
        return SQLite(connection)
    if "psycopg" in modules:
        return PostgreSQL(connection)
    if modules & {"pymysql", "MySQLdb"}:
        return MySQL(connection)
    raise TypeError(
        f"{kind.__module__}.{kind.__name__} is not a connection that bt.sql can use; give a connection of duckdb, sqlite3, "
        "psycopg, pymysql or MySQLdb, an Ibis backend, or a URL such as 'duckdb:///warehouse.db'"
    )


def _size(rows: list[tuple]) -> int:
    """Bytes of the values: 8 for a number, the length of a string."""
    return sum(len(value) if isinstance(value, (str, bytes)) else 8 for row in rows for value in row)


def _shortened(sql: str, limit: int = 300) -> str:
    return sql if len(sql) <= limit else f"{sql[:limit]} … ({len(sql):,} characters)"
