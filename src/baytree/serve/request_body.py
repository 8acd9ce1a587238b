"""The body of a request to the rows of a model: JSON, CSV or Arrow, by what its content type says, and by nothing else.

The body of a request, counted while it is read: not too long, not too slow, and not all large ones at once.
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
    """The encoded rows of a body; None where there is no row."""
    frame = frame_of(wanted, body, media, most_rows)
    return encoded(predictor, frame) if frame.n_rows else None


def encoded(predictor: Predictor, frame: RawFrame) -> Table:
    """Encoded rows; what cannot be encoded is refused without its value, and what a user would be told is not printed."""
    with _warnings.capture():
        try:
            return predictor.encoded(frame)
        except (ValueError, TypeError, OverflowError) as error:
            raise encoding_refusal(predictor.schema, error) from None


def frame_of(wanted: RequiredColumns, body: bytes, media: str, most_rows: int) -> RawFrame:
    """The raw columns of a body."""
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
    """The columns of a CSV text with names in its first line; an empty cell is missing."""
    try:
        text = body.decode("utf-8-sig")
        separator = _separator(text)
        if count(body, separator.encode()) > MOST_CELLS:  # a line becomes a list before its cells can be counted
            raise RequestError(413, f"there are more than {MOST_CELLS:,} cells; send them in several requests")
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        names = next(lines, [])
        if not names or len(set(names)) < len(names):
            raise RequestError(422, "the first line names the columns, each once")
        rows: list[list[str]] = []
        for row in lines:
            if row and len(row) != len(names):
                raise RequestError(422, "a row has more or fewer cells than the first line has names")
            if row:
                rows.append(row)
            if len(rows) > most_rows:
                raise RequestError(413, f"there are more than {most_rows:,} rows; send them in several requests")
    except UnicodeDecodeError:
        raise RequestError(400, "the body is no text in UTF-8") from None
    except csv.Error:
        raise RequestError(400, "the body is no CSV: a quote is not closed, or a cell is longer than 128 kB") from None
    cells = zip(*rows, strict=True) if rows else [()] * len(names)
    return Columns({name: [cell or None for cell in own] for name, own in zip(names, cells, strict=True)}, len(rows))


def _separator(text: str) -> str:
    head = text[:4096].partition("\n")[0]
    return max(",;\t", key=head.count)


def _arrow_frame(body: bytes, most_rows: int) -> pl.DataFrame:
    """The frame of an Arrow stream, which is read by a library in a safe language, and only within its bounds."""
    try:
        import polars as pl
    except ModuleNotFoundError:
        raise RequestError(415, "this server reads no Arrow; install polars beside it, or send JSON") from None
    check_stream(body, most_rows)
    try:
        frame = pl.read_ipc_stream(io.BytesIO(body))
    except BaseException as error:  # polars panics with one
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        raise RequestError(400, NO_STREAM) from None
    coded = [series for series in frame.get_columns() if isinstance(series.dtype, (pl.Categorical, pl.Enum))]
    if sum(map(_n_text, coded)) > MOST_TEXT:
        raise RequestError(413, "levels of a column are too long to be repeated in all its rows")
    return frame


def _n_text(series: pl.Series) -> int:
    """How many bytes the levels of a column would have as strings of its rows, without making these."""
    import polars as pl

    counted = series.alias("level").value_counts(name="n")
    return int((counted["level"].cast(pl.String).str.len_bytes().cast(pl.Int64) * counted["n"].cast(pl.Int64)).sum())


Message = MutableMapping[str, Any]

Receive = Callable[[], Awaitable[Message]]

Send = Callable[[Message], Awaitable[None]]

_TOO_LONG = f"the body is longer than {MOST_BYTES >> 20} MiB; send the rows in several requests"


class MemoryBudget:
    """Memory for large bodies, by what has arrived of them: who needs more than is left waits.

    The body that came first always finds room, so that bodies which wait for each other cannot all stand still.
    """

    def __init__(self, size: int = MOST_LARGE_BYTES):
        self._others = size - MOST_BYTES  # for all bodies but the first
        self._sizes: dict[MemoryLease, int] = {}  # in the order in which they became large
        self._turn = asyncio.Condition()

    async def take(self, held: MemoryLease, size: int) -> None:
        """Wait until a request may hold so many bytes."""
        async with self._turn:
            await self._turn.wait_for(lambda: self._fits(held, size))
            self._sizes[held] = size

    async def give_back(self, held: MemoryLease) -> None:
        """Free what a request holds."""
        async with self._turn:
            self._sizes.pop(held, None)
            self._turn.notify_all()

    def _fits(self, held: MemoryLease, size: int) -> bool:
        first = next(iter(self._sizes), held)
        others = sum(own for each, own in self._sizes.items() if each is not first and each is not held)
        return held is first or others + size <= self._others


class MemoryLease:
    """The room that one request holds while it is read and answered."""

    def __init__(self, room: MemoryBudget):
        self._room, self.size = room, 0

    async def give_back(self) -> None:
        """Gives all of it back."""
        await self._room.give_back(self)
        self.size = 0

    async def grow(self, size: int) -> None:
        """Takes room for what has come of a large body; a client that must wait too long is told so."""
        try:
            async with asyncio.timeout(BODY_SECONDS):
                await self._room.take(self, size)
        except TimeoutError:
            raise RequestError(429, "too many large bodies at once; try again") from None
        self.size = size


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, held: MemoryLease) -> bytes:
    """All bytes of a body. How long it may take to come is the connection's affair."""
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
