"""Types of columns, as each database names them, in the few families that the engine tells apart."""

from __future__ import annotations

import re
from enum import StrEnum

import msgspec


class Family(StrEnum):
    """What the values of a column are in SQL."""

    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    STRING = "string"
    DATE = "date"
    UNSUPPORTED = "unsupported"


class ColumnType(msgspec.Struct, frozen=True):
    """Family of a column, its type as the database names it, and whether it is stored as a double."""

    family: Family
    name: str
    is_double: bool = False


_INTEGERS = re.compile(r"^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|UHUGEINT|INT[248]|BIGNUM|VARINT)$")

_STRINGS = re.compile(r"^(VARCHAR|TEXT|BPCHAR|NAME|CHAR|CITEXT|ENUM|UUID)\b")


def duckdb_type(name: str) -> ColumnType:
    """Type of a DuckDB column.

    >>> duckdb_type("DECIMAL(10,2)").family, duckdb_type("STRUCT(a INTEGER)").family
    (<Family.NUMBER: 'number'>, <Family.UNSUPPORTED: 'unsupported'>)
    """
    return _by_name(name)


def postgres_type(name: str) -> ColumnType:
    """Type of a PostgreSQL column, as psycopg displays it."""
    return _by_name(name)


def _by_name(name: str) -> ColumnType:
    upper = name.upper()
    if upper.endswith("]") or upper.startswith(("STRUCT", "MAP", "UNION", "LIST")):
        return ColumnType(Family.UNSUPPORTED, name)
    if _INTEGERS.match(upper):
        return ColumnType(Family.INTEGER, name)
    if upper in ("DOUBLE", "FLOAT8", "DOUBLE PRECISION"):
        return ColumnType(Family.NUMBER, name, True)
    if upper in ("FLOAT", "REAL", "FLOAT4") or upper.startswith(("DECIMAL", "NUMERIC")):
        return ColumnType(Family.NUMBER, name)
    if upper in ("BOOLEAN", "BOOL"):
        return ColumnType(Family.BOOLEAN, name)
    if upper == "DATE":
        return ColumnType(Family.DATE, name)
    if _STRINGS.match(upper):
        return ColumnType(Family.STRING, name)
    return ColumnType(Family.UNSUPPORTED, name)


def sqlite_type(kinds: str | None) -> ColumnType:
    """Type of a SQLite column that holds values of these storage classes."""
    found = set((kinds or "").split(",")) - {"null", ""}
    if found <= {"integer"}:
        return ColumnType(Family.INTEGER, "integer")
    if found <= {"integer", "real"}:
        return ColumnType(Family.NUMBER, "real", found == {"real"})
    if found == {"text"}:
        return ColumnType(Family.STRING, "text")
    return ColumnType(Family.UNSUPPORTED, " and ".join(sorted(found)))


_MYSQL_FAMILIES = {  # codes of the protocol
    **dict.fromkeys((1, 2, 3, 8, 9, 13), Family.INTEGER),
    **dict.fromkeys((0, 4, 5, 246), Family.NUMBER),
    **dict.fromkeys((15, 247, 248, 249, 250, 251, 252, 253, 254), Family.STRING),
    **dict.fromkeys((10, 14), Family.DATE),
}

_MYSQL_NAMES = {7: "TIMESTAMP", 11: "TIME", 12: "DATETIME", 16: "BIT", 245: "JSON", 255: "GEOMETRY"}


def mysql_type(code: int) -> ColumnType:
    """Type of a MySQL or MariaDB column, by the code of its type."""
    return ColumnType(_MYSQL_FAMILIES.get(code, Family.UNSUPPORTED), _MYSQL_NAMES.get(code, f"type {code}"), code == 5)
