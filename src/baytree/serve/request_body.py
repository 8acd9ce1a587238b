"""Request bodies: read with limits on size, time and memory, and decoded as JSON, CSV or Arrow by content type.

`read_body` receives the bytes, with a `MemoryBudget` that all large bodies share; `frame_of` decodes them to raw columns.
"""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from baytree import _warnings
from baytree.base.predictor import Predictor
from baytree.data.encoding.table import Table
from baytree.data.frames import read
from baytree.data.frames.raw import RawFrame
from baytree.serve.arrow_messages import NO_STREAM, check_stream
from baytree.serve.cell_values import RequiredColumns, encoding_refusal, from_json, from_raw, from_text
from baytree.serve.json_body import Columns, columns_of, count
from baytree.serve.limits import (
    BODY_SECONDS,
    LARGE,
    MOST_BYTES,
    MOST_CELLS,
    MOST_LARGE_BYTES,
    MOST_TEXT,
    ClientDisconnected,
    RequestError,
)

if TYPE_CHECKING:
    import polars as pl

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"


def read_table(predictor: Predictor, wanted: RequiredColumns, body: bytes, media: str, most_rows: int) -> Table | None:
    """Decode and encode the rows of a body; None if there are no rows."""
    frame = frame_of(wanted, body, media, most_rows)
    return encoded(predictor, frame) if frame.n_rows else None


def encoded(predictor: Predictor, frame: RawFrame) -> Table:
    """Encode rows; errors do not show values, and warnings are suppressed."""
    with _warnings.capture():
        try:
            return predictor.encoded(frame)
        except (ValueError, TypeError, OverflowError) as error:
            raise encoding_refusal(predictor.schema, error) from None


def frame_of(wanted: RequiredColumns, body: bytes, media: str, most_rows: int) -> RawFrame:
    """Decode a body to raw columns."""
    if media == JSON:
        return from_json(wanted, columns_of(body, most_rows))
    if media == CSV:
        return from_text(wanted, _csv_columns(body, most_rows))
    if media == ARROW:
        frame = _arrow_frame(body, most_rows)
        try:
            columns = read(frame).columns
        except (ValueError, TypeError, OverflowError) as error:
            raise encoding_refusal(wanted.schema, error) from None
        return from_raw(wanted, columns, frame.height)
    raise RequestError(415, f"send {JSON}, {CSV} or {ARROW}")


def _csv_columns(body: bytes, most_rows: int) -> Columns:
    """Decode CSV with column names in the first line; an empty cell is missing."""
    try:
        text = body.decode("utf-8-sig")
        separator = _separator(text)
        # checked first, because the reader turns a line into a list before cells can be counted
        if count(body, separator.encode()) > MOST_CELLS:
            raise RequestError(413, f"there are more than {MOST_CELLS:,} cells; send them in several requests")
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        names = next(lines, [])
        if not names or len(set(names)) < len(names):
            raise RequestError(422, "the first line must contain the column names, without duplicates")
        rows: list[list[str]] = []
        for row in lines:
            if row and len(row) != len(names):
                raise RequestError(422, "a row has more or fewer cells than the first line")
            if row:
                rows.append(row)
            if len(rows) > most_rows:
                raise RequestError(413, f"there are more than {most_rows:,} rows; send them in several requests")
    except UnicodeDecodeError:
        raise RequestError(400, "the body is not UTF-8 text") from None
    except csv.Error:
        raise RequestError(400, "the body is not CSV: a quote is not closed, or a cell is longer than 128 kB") from None
    cells = zip(*rows, strict=True) if rows else [()] * len(names)
    return Columns({name: [cell or None for cell in own] for name, own in zip(names, cells, strict=True)}, len(rows))


def _separator(text: str) -> str:
    head = text[:4096].partition("\n")[0]
    return max(",;\t", key=head.count)


def _arrow_frame(body: bytes, most_rows: int) -> pl.DataFrame:
    """Decode an Arrow stream with polars, after its bounds were checked."""
    try:
        import polars as pl
    except ModuleNotFoundError:
        raise RequestError(415, "Arrow needs polars, which is not installed on this server; send JSON") from None
    check_stream(body, most_rows)
    try:
        frame = pl.read_ipc_stream(io.BytesIO(body))
    except BaseException as error:  # polars panics are BaseExceptions
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        raise RequestError(400, NO_STREAM) from None
    coded = [series for series in frame.get_columns() if isinstance(series.dtype, (pl.Categorical, pl.Enum))]
    if sum(map(_n_text, coded)) > MOST_TEXT:
        raise RequestError(413, "the levels of a column are too long for its number of rows")
    return frame


def _n_text(series: pl.Series) -> int:
    """Return the total bytes of a categorical column as strings, without building them."""
    import polars as pl

    counted = series.alias("level").value_counts(name="n")
    return int((counted["level"].cast(pl.String).str.len_bytes().cast(pl.Int64) * counted["n"].cast(pl.Int64)).sum())


Message = MutableMapping[str, Any]

Receive = Callable[[], Awaitable[Message]]

Send = Callable[[Message], Awaitable[None]]

_TOO_LONG = f"the body is longer than {MOST_BYTES >> 20} MiB; send the rows in several requests"


class MemoryBudget:
    """Memory for large bodies, measured by what has arrived; a request that needs more than is left waits.

    The oldest large body always gets memory, so that waiting bodies cannot deadlock.
    """

    def __init__(self, size: int = MOST_LARGE_BYTES):
        self._others = size - MOST_BYTES  # memory for all large bodies except the oldest
        self._sizes: dict[MemoryLease, int] = {}  # bytes per request, in the order in which they became large
        self._turn = asyncio.Condition()

    async def take(self, held: MemoryLease, size: int) -> None:
        """Wait until a request may hold `size` bytes."""
        async with self._turn:
            await self._turn.wait_for(lambda: self._fits(held, size))
            self._sizes[held] = size

    async def give_back(self, held: MemoryLease) -> None:
        """Free the memory of a request."""
        async with self._turn:
            self._sizes.pop(held, None)
            self._turn.notify_all()

    def _fits(self, held: MemoryLease, size: int) -> bool:
        first = next(iter(self._sizes), held)
        others = sum(own for each, own in self._sizes.items() if each is not first and each is not held)
        return held is first or others + size <= self._others


class MemoryLease:
    """Memory that one request holds while it is read and answered."""

    def __init__(self, room: MemoryBudget):
        self._room, self.size = room, 0

    async def give_back(self) -> None:
        """Free all of it."""
        await self._room.give_back(self)
        self.size = 0

    async def grow(self, size: int) -> None:
        """Reserve memory for what has arrived of a large body; raise RequestError if it takes too long."""
        try:
            async with asyncio.timeout(BODY_SECONDS):
                await self._room.take(self, size)
        except TimeoutError:
            raise RequestError(429, "too many large bodies at once; try again") from None
        self.size = size


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, held: MemoryLease) -> bytes:
    """Receive all bytes of a body. The deadline is enforced by the connection."""
    _check_headers(headers)
    message = await _next(receive)
    if not message.get("more_body"):
        return _within(message.get("body", b""))
    parts = [message.get("body", b"")]
    length = len(parts[0])
    while message.get("more_body"):
        message = await _next(receive)
        parts.append(message.get("body", b""))
        length += len(parts[-1])
        if length > MOST_BYTES:
            raise RequestError(413, _TOO_LONG)
        if length > LARGE:
            await held.grow(length)
    return b"".join(parts)


def _check_headers(headers: Mapping[bytes, bytes]) -> None:
    if b"content-encoding" in headers:
        raise RequestError(415, "send the body without a content encoding")
    length = headers.get(b"content-length", b"")
    if length.isdigit() and (len(length) > 12 or int(length) > MOST_BYTES):
        raise RequestError(413, _TOO_LONG)


def _within(body: bytes) -> bytes:
    if len(body) > MOST_BYTES:
        raise RequestError(413, _TOO_LONG)
    return body


async def _next(receive: Receive) -> Message:
    message = await receive()
    if message["type"] != "http.request":
        raise ClientDisconnected
    return message
