"""JSON to columns of values: dicts or lists by rows, or columns; nothing twice, nothing nested."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from operator import itemgetter
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from baytree.serve.limits import MOST_CELLS, MOST_ROWS, RequestError, named

Value: TypeAlias = int | float | str | bool | None

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"([ \t\r\n]*:)?')

_SHORT = 4096  # bytes

_SHAPE = (
    'send {"rows": [{column: value}]}, {"columns": [names], "rows": [[values]]} or {"columns": {name: [values]}}; '
    "a value is a number, a string, true, false or null"
)


class Rows(msgspec.Struct, forbid_unknown_fields=True):
    """What a body holds: rows as dicts, rows as lists beside the names of their columns, or columns."""

    rows: list[dict[str, Value] | list[Value]] | UnsetType = UNSET
    columns: dict[str, list[Value]] | list[str] | UnsetType = UNSET


class Columns(NamedTuple):
    """The values of each column that was named, None where it is missing."""

    values: dict[str, Sequence[Value]]
    n_rows: int


def joined(parts: list[Columns]) -> Columns:
    """The rows of all, one below the other; a column that one of them lacks is missing there.

    >>> joined([Columns({"a": [1]}, 1), Columns({"b": [2]}, 1)])
    Columns(values={'a': [1, None], 'b': [None, 2]}, n_rows=2)
    """
    names = dict.fromkeys(name for part in parts for name in part.values)
    values: dict[str, list[Value]] = {name: [] for name in names}
    for part in parts:
        nothing = (None,) * part.n_rows
        for name, whole in values.items():
            whole.extend(part.values.get(name, nothing))
    return Columns(dict(values), sum(part.n_rows for part in parts))


_rows = msgspec.json.Decoder(Rows)


def columns_of(body: bytes, most_rows: int = MOST_ROWS) -> Columns:
    """The columns of a JSON body."""
    check_size(body, most_rows)
    try:
        given = _rows.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:  # refusals of a wrong type are among them
        raise _refused(body, error) from None
    check_duplicate_keys(body, _n_keys(given))
    columns = _arranged(given)
    if columns.n_rows > most_rows:
        raise RequestError(413, f"there are more than {most_rows:,} rows; send them in several requests")
    return columns


def check_size(body: bytes, most_rows: int) -> None:
    """Refuses what would take far more memory as values than as bytes, before there are values."""
    if count(body, b",") > MOST_CELLS:
        raise RequestError(413, f"there are more than {MOST_CELLS:,} cells; send them in several requests")
    if any(count(body, sign) > most_rows + 100 and _n_outside(body, sign) > most_rows + 100 for sign in (b"{", b"[")):
        raise RequestError(413, f"there are more than {most_rows:,} rows; send them in several requests")


def _n_outside(body: bytes, sign: bytes) -> int:
    """How often a sign stands in a body outside of strings."""
    return count(body, sign) - sum(string.group().count(sign) for string in _STRING.finditer(body))


def count(body: bytes, sign: bytes) -> int:
    """How often a sign stands in a body: of a long one all at once, since Python looks for one after the other."""
    if len(body) < _SHORT:
        return body.count(sign)
    return int(np.count_nonzero(np.frombuffer(body, np.uint8) == sign[0]))


def decoded(body: bytes, decoder: msgspec.json.Decoder, shape: str) -> msgspec.Struct:
    """A record of a closed shape; `shape` says which one was asked for."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError:
        raise RequestError(422, shape) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise RequestError(400, "the body is no JSON") from None


def check_duplicate_keys(body: bytes, n_keys: int) -> None:
    """Refuses a key that stands twice in one object: then the body has more keys than became of it.

    Colons are counted first, since they are rarely part of strings; only where there are more of them are strings read.
    """
    if count(body, b":") == n_keys:
        return
    if sum(1 for string in _STRING.finditer(body) if string.group(1)) != n_keys:
        raise RequestError(400, "a key stands twice in one object")


def _n_keys(given: Rows) -> int:
    rows, columns = given.rows or (), given.columns or ()
    is_plain = set(map(type, rows)) <= {dict}
    inner = sum(map(len, rows)) if is_plain else sum(len(row) for row in rows if isinstance(row, dict))
    inner += len(columns) if isinstance(columns, dict) else 0
    return inner + (given.rows is not UNSET) + (given.columns is not UNSET)


def _arranged(given: Rows) -> Columns:
    rows, columns = given.rows, given.columns
    if isinstance(columns, dict) and rows is UNSET:
        return _of_columns(columns)
    if isinstance(rows, list) and columns is UNSET:
        return _of_dicts(rows)
    if isinstance(rows, list) and isinstance(columns, list):
        return _of_lists(rows, columns)
    raise RequestError(422, _SHAPE)


def _of_columns(columns: dict[str, list[Value]]) -> Columns:
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise RequestError(422, "the columns differ in length")
    return Columns(dict(columns), lengths.pop() if lengths else 0)


def _of_dicts(rows: list[dict[str, Value] | list[Value]]) -> Columns:
    if not set(map(type, rows)) <= {dict}:
        raise RequestError(422, _SHAPE)
    names = tuple(rows[0]) if rows else ()
    if len(names) > 1 and sum(map(len, rows)) == len(rows) * len(names):
        with suppress(KeyError):  # then all rows have the same names, as most bodies do
            return Columns(dict(zip(names, zip(*map(itemgetter(*names), rows), strict=True), strict=True)), len(rows))  # type: ignore
    names = dict.fromkeys(name for row in rows for name in row)
    if len(names) * len(rows) > MOST_CELLS:
        raise RequestError(413, f"there are more than {MOST_CELLS:,} cells, with those that rows lack; send fewer rows")
    return Columns({name: [row.get(name) for row in rows] for name in names}, len(rows))  # type: ignore


def _of_lists(rows: list[dict[str, Value] | list[Value]], names: list[str]) -> Columns:
    if not all(isinstance(row, list) for row in rows):
        raise RequestError(422, _SHAPE)
    if len(set(names)) < len(names):
        raise RequestError(422, "a column is named twice")
    if any(len(row) != len(names) for row in rows):
        raise RequestError(422, "a row has more or fewer values than there are names of columns")
    return Columns(dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ()), len(rows))


def _refused(body: bytes, error: Exception) -> RequestError:
    """The refusal of a body that is no JSON, or of another shape; of a value that is none it names the column."""
    if not isinstance(error, msgspec.ValidationError):
        return RequestError(400, "the body is no JSON, or holds a number beyond the range of doubles")
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return RequestError(400, "the body is no JSON, or nested too deeply")
    rows = found.get("rows") if isinstance(found, dict) else None
    for k, row in enumerate(rows if isinstance(rows, list) else ()):
        for name, value in row.items() if isinstance(row, dict) else ():
            if isinstance(value, (dict, list)):
                return RequestError(
                    422, f"column {named(name)}, row {k + 1}: a value is a number, a string, true, false or null"
                )
    return RequestError(422, _SHAPE)
