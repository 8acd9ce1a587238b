"""Size checks of an Arrow stream, from the metadata of its messages, before any library decodes it.

A short stream may stand for a large table: buffers may be compressed, columns may share one buffer, a column of nulls has no
buffer at all, and string views may all point at one long value. So the messages are walked first (Arrow columnar format,
"Encapsulated message format"; `Message.fbs` and `Schema.fbs`). Compression and nested or binary types are refused; rows,
cells and bytes of strings are added up.

Flatbuffers: a table begins with the distance to its vtable, whose entry k (two bytes each, after two sizes) says where field
k is in the table; 0 if it is absent. A vector begins with its length. Offsets are relative to their own position.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from baytree.serve.limits import MAX_CELLS, MAX_STRING_BYTES, RequestError

NO_STREAM = "the body is not an Arrow stream of record batches"

_MAX_COLUMNS = 100_000  # columns of a stream; each needs memory even without rows

_MIN_BATCH_ROWS = 64  # rows that a shorter batch counts for, since each batch needs some memory of its own

_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3  # types of messages (Message.fbs)

_NULL, _TEXT, _LARGE_TEXT, _TEXT_VIEW = 1, 5, 20, 24  # types of columns (Schema.fbs)

_NUMBERS, _TIMES = {2, 3, 6, 7}, {8, 9, 10, 18}  # with booleans and decimals; with dates and durations

_PLAIN = {_NULL, _TEXT, _LARGE_TEXT, _TEXT_VIEW} | _NUMBERS | _TIMES


class _Field(NamedTuple):
    """Type of a column, and the identifier of the dictionary that holds its values, None if there is none."""

    kind: int
    dictionary: int | None


def check_stream(body: bytes, max_rows: int) -> None:
    """Raise RequestError for a stream that is compressed, nested, malformed, or too large when decoded."""
    fields: list[_Field] = []
    kinds: dict[int | None, int] = {}  # type of the values of each dictionary
    n_rows = n_cells = n_text = 0
    try:
        for kind, header, buffers in _messages(body):
            if kind == _SCHEMA:
                fields = _fields(header)
                kinds = {field.dictionary: field.kind for field in fields}
                continue
            is_dictionary = kind == _DICTIONARY
            batch = header.table(1) if is_dictionary else header
            batch_fields = [_Field(kinds.get(header.number(0, "<q"), _NULL), None)] if is_dictionary else fields
            if batch.position_of(3):
                raise RequestError(415, "the Arrow stream is compressed; write it without compression")
            length = batch.number(0, "<q")
            nodes = np.frombuffer(batch.vector(1, 16), "<i8")[::2]  # number of values of each column
            if length < 0 or len(nodes) != len(batch_fields) or (nodes != length).any():
                raise RequestError(400, NO_STREAM)
            n_rows += 0 if is_dictionary else length
            n_cells += max(length, _MIN_BATCH_ROWS) * len(batch_fields)
            if n_rows > max_rows:
                raise RequestError(413, f"there are more than {max_rows:,} rows; send them in several requests")
            if n_cells > MAX_CELLS:
                raise RequestError(413, f"there are more than {MAX_CELLS:,} cells; send them in several requests")
            n_text += _n_text(batch_fields, batch, buffers, length)
            if n_text > MAX_STRING_BYTES:
                raise RequestError(
                    413, f"the strings are longer than {MAX_STRING_BYTES >> 20} MiB; send them in several requests"
                )
    except (struct.error, IndexError, ValueError, OverflowError):
        raise RequestError(400, NO_STREAM) from None


class _Table:
    """A flatbuffers table."""

    def __init__(self, data: memoryview, position: int):
        self._data, self._position = data, position
        self._vtable = position - _read(data, position, "<i")
        self._n_bytes = _read(data, self._vtable, "<H")

    def position_of(self, field: int) -> int:
        """Return the position of a field; 0 if it is absent."""
        entry = 4 + 2 * field
        distance = _read(self._data, self._vtable + entry, "<H") if entry + 2 <= self._n_bytes else 0
        return self._position + distance if distance else 0

    def number(self, field: int, form: str) -> int:
        """Return a number; 0 if it is absent."""
        position = self.position_of(field)
        return _read(self._data, position, form) if position else 0

    def table(self, field: int) -> _Table:
        """Return the table that a field refers to."""
        position = self.position_of(field)
        if not position:
            raise IndexError(field)
        return _Table(self._data, position + _read(self._data, position, "<I"))

    def vector(self, field: int, n_bytes: int) -> memoryview:
        """Return the bytes of a vector with items of `n_bytes` each; empty if it is absent."""
        position = self.position_of(field)
        if not position:
            return self._data[:0]
        start = position + _read(self._data, position, "<I")
        size = _read(self._data, start, "<I") * n_bytes
        if start + 4 + size > len(self._data):
            raise IndexError(field)
        return self._data[start + 4 : start + 4 + size]

    def tables(self, field: int) -> Iterator[_Table]:
        """Yield the tables of a vector."""
        offsets = self.vector(field, 4)
        if len(offsets) > 4 * _MAX_COLUMNS:
            raise RequestError(413, f"there are more than {_MAX_COLUMNS:,} columns")
        position = self.position_of(field)
        first = position + _read(self._data, position, "<I") + 4 if position else 0
        for k in range(0, len(offsets), 4):
            yield _Table(self._data, first + k + _read(offsets, k, "<I"))


def _read(data: memoryview, position: int, form: str) -> int:
    if position < 0:  # a negative offset would count from the end
        raise IndexError(position)
    return struct.unpack_from(form, data, position)[0]


def _messages(body: bytes) -> Iterator[tuple[int, _Table, memoryview]]:
    """Yield the type, the header and the buffers of each message."""
    data, position = memoryview(body), 0
    if not body:
        raise RequestError(400, NO_STREAM)
    while position < len(data):
        size = _read(data, position, "<i")
        position += 4
        if size == -1:  # continuation marker; absent in streams before Arrow 0.15
            size = _read(data, position, "<i")
            position += 4
        if not size:  # end of stream
            return
        if size < 0 or position + size > len(data):
            raise IndexError(size)
        metadata = data[position : position + size]
        position += size
        message = _Table(metadata, _read(metadata, 0, "<I"))
        n_bytes = message.number(3, "<q")
        if n_bytes < 0 or position + n_bytes > len(data):
            raise IndexError(n_bytes)
        kind = message.number(1, "<B")
        if kind not in (_SCHEMA, _DICTIONARY, _BATCH):
            raise RequestError(400, NO_STREAM)
        yield kind, message.table(2), data[position : position + n_bytes]
        position += n_bytes


def _fields(schema: _Table) -> list[_Field]:
    fields = []
    for field in schema.tables(1):
        kind = field.number(2, "<B")
        if kind not in _PLAIN or len(field.vector(5, 4)):
            raise RequestError(
                422, "a column contains lists, structs or bytes; values must be numbers, strings, dates or booleans"
            )
        fields.append(_Field(kind, field.table(4).number(0, "<q") if field.position_of(4) else None))
    return fields


def _n_text(fields: list[_Field], batch: _Table, buffers: memoryview, n_rows: int) -> int:
    """Return the total bytes of the strings of a batch, counting repeated values once per row."""
    buffer_ranges = np.frombuffer(batch.vector(2, 16), "<i8").reshape(-1, 2).tolist()  # offset and length of each buffer
    n_data_buffers = np.frombuffer(batch.vector(4, 8), "<i8").tolist()  # number of data buffers of each string-view column
    total = position = n_views = 0
    for field in fields:
        if field.dictionary is not None:
            position += 2
        elif field.kind == _NULL:
            pass
        elif field.kind in (_TEXT, _LARGE_TEXT):
            total += max(buffer_ranges[position + 2][1], 0)
            position += 3
        elif field.kind == _TEXT_VIEW:
            start, length = buffer_ranges[position + 1]
            if start < 0 or length < 16 * n_rows or start + length > len(buffers):
                raise IndexError(position)
            views = np.frombuffer(buffers[start : start + 16 * n_rows], "<u4")
            total += int(views[::4].sum(dtype=np.uint64))
            position += 2 + max(n_data_buffers[n_views], 0)
            n_views += 1
        else:
            position += 2
    return total
