"""JSON bodies to columns of values: rows as objects, rows as lists with column names, or columns.

Sizes are checked on the bytes before decoding; duplicate keys and nested values are refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from operator import itemgetter
from typing import NamedTuple, TypeAlias

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from baytree.serve.limits import MAX_CELLS, MAX_ROWS, RequestError, shown_name

Value: TypeAlias = int | float | str | bool | None

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"([ \t\r\n]*:)?')

_MIN_NUMPY_BYTES = 4096  # shorter bodies are counted faster by bytes.count than by NumPy

_SHAPE = (
    'send {"rows": [{column: value}]}, {"columns": [names], "rows": [[values]]} or {"columns": {name: [values]}}; '
    "a value is a number, a string, true, false or null"
)


class Rows(msgspec.Struct, forbid_unknown_fields=True):
    """Body of a request: rows as objects, rows as lists with the names of their columns, or columns."""

    rows: list[dict[str, Value] | list[Value]] | UnsetType = UNSET
    columns: dict[str, list[Value]] | list[str] | UnsetType = UNSET


class Columns(NamedTuple):
    """Values of each named column, None if missing."""

    values: dict[str, Sequence[Value]]
    n_rows: int


def joined(parts: list[Columns]) -> Columns:
    """Concatenate the rows of all parts; columns that a part lacks are missing in its rows.

    >>> joined([Columns({"a": [1]}, 1), Columns({"b": [2]}, 1)])
    Columns(values={'a': [1, None], 'b': [None, 2]}, n_rows=2)
    """
    names = dict.fromkeys(name for part in parts for name in part.values)
    values: dict[str, list[Value]] = {name: [] for name in names}
    for part in parts:
        missing = (None,) * part.n_rows
        for name, column in values.items():
            column.extend(part.values.get(name, missing))
    return Columns(dict(values), sum(part.n_rows for part in parts))


_rows = msgspec.json.Decoder(Rows)


def columns_of(body: bytes, max_rows: int = MAX_ROWS) -> Columns:
    """Return the columns of a JSON body."""
    check_size(body, max_rows)
    try:
        decoded_rows = _rows.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:  # includes refusals of wrong types
        raise _decoding_error(body, error) from None
    check_duplicate_keys(body, _n_keys(decoded_rows))
    columns = _columns_of_rows(decoded_rows)
    if columns.n_rows > max_rows:
        raise RequestError(413, f"there are more than {max_rows:,} rows; send them in several requests")
    return columns


def check_size(body: bytes, max_rows: int) -> None:
    """Raise RequestError for bodies that would need far more memory decoded than as bytes."""
    if count(body, b",") > MAX_CELLS:
        raise RequestError(413, f"there are more than {MAX_CELLS:,} cells; send them in several requests")
    if any(count(body, sign) > max_rows + 100 and _n_outside(body, sign) > max_rows + 100 for sign in (b"{", b"[")):
        raise RequestError(413, f"there are more than {max_rows:,} rows; send them in several requests")


def _n_outside(body: bytes, sign: bytes) -> int:
    """Count a character in a body, outside of strings."""
    return count(body, sign) - sum(string.group().count(sign) for string in _STRING.finditer(body))


def count(body: bytes, sign: bytes) -> int:
    """Count a character in a body; uses NumPy for long bodies, where bytes.count is slow."""
    if len(body) < _MIN_NUMPY_BYTES:
        return body.count(sign)
    return int(np.count_nonzero(np.frombuffer(body, np.uint8) == sign[0]))


def decoded(body: bytes, decoder: msgspec.json.Decoder, shape: str) -> msgspec.Struct:
    """Decode a record; `shape` is the error message for a body of another shape."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError:
        raise RequestError(422, shape) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise RequestError(400, "the body is not JSON") from None


def check_duplicate_keys(body: bytes, n_keys: int) -> None:
    """Raise RequestError for a duplicate key in an object: the body then has more keys than the decoded value.

    Colons are counted first, since strings rarely contain them; strings are parsed only if the counts differ.
    """
    if count(body, b":") == n_keys:
        return
    if sum(1 for string in _STRING.finditer(body) if string.group(1)) != n_keys:
        raise RequestError(400, "an object has a duplicate key")


def _n_keys(decoded_rows: Rows) -> int:
    rows, columns = decoded_rows.rows or (), decoded_rows.columns or ()
    is_plain = set(map(type, rows)) <= {dict}
    inner = sum(map(len, rows)) if is_plain else sum(len(row) for row in rows if isinstance(row, dict))
    inner += len(columns) if isinstance(columns, dict) else 0
    return inner + (decoded_rows.rows is not UNSET) + (decoded_rows.columns is not UNSET)


def _columns_of_rows(decoded_rows: Rows) -> Columns:
    rows, columns = decoded_rows.rows, decoded_rows.columns
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
        with suppress(KeyError):  # all rows have the same names, the usual case
            return Columns(dict(zip(names, zip(*map(itemgetter(*names), rows), strict=True), strict=True)), len(rows))  # type: ignore
    names = dict.fromkeys(name for row in rows for name in row)
    if len(names) * len(rows) > MAX_CELLS:
        raise RequestError(413, f"there are more than {MAX_CELLS:,} cells, including missing ones; send fewer rows")
    return Columns({name: [row.get(name) for row in rows] for name in names}, len(rows))  # type: ignore


def _of_lists(rows: list[dict[str, Value] | list[Value]], names: list[str]) -> Columns:
    if not all(isinstance(row, list) for row in rows):
        raise RequestError(422, _SHAPE)
    if len(set(names)) < len(names):
        raise RequestError(422, "a column is named twice")
    if any(len(row) != len(names) for row in rows):
        raise RequestError(422, "a row has more or fewer values than there are columns")
    return Columns(dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ()), len(rows))


def _decoding_error(body: bytes, error: Exception) -> RequestError:
    """Return the error for a body that is not JSON or has another shape; for a nested value it names the column and row."""
    if not isinstance(error, msgspec.ValidationError):
        return RequestError(400, "the body is not JSON, or contains a number beyond the range of doubles")
    try:
        decoded_body = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return RequestError(400, "the body is not JSON, or nested too deeply")
    rows = decoded_body.get("rows") if isinstance(decoded_body, dict) else None
    for k, row in enumerate(rows if isinstance(rows, list) else ()):
        for name, value in row.items() if isinstance(row, dict) else ():
            if isinstance(value, (dict, list)):
                return RequestError(
                    422, f"column {shown_name(name)}, row {k + 1}: a value is a number, a string, true, false or null"
                )
    return RequestError(422, _SHAPE)
