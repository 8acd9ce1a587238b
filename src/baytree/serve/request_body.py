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
from baytree.serve.cell_values import RequiredColumns, encoding_error, from_json, from_raw, from_text
from baytree.serve.json_body import Columns, columns_of, count
from baytree.serve.limits import (
    BODY_TIMEOUT,
    LARGE_BODY_BYTES,
    MAX_BODY_BYTES,
    MAX_CELLS,
    MAX_LARGE_BODIES_BYTES,
    MAX_STRING_BYTES,
    ClientDisconnected,
    RequestError,
)

if TYPE_CHECKING:
    import polars as pl

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"


def encoded(predictor: Predictor, frame: RawFrame) -> Table:
    """Encode rows; errors do not show values, and warnings are suppressed."""
    with _warnings.capture():
        try:
            return predictor.encoded(frame)
        except (ValueError, TypeError, OverflowError) as error:
            raise encoding_error(predictor.schema, error) from None


def frame_of(required: RequiredColumns, body: bytes, media: str, max_rows: int) -> RawFrame:
    """Decode a body to raw columns."""
    if media == JSON:
        return from_json(required, columns_of(body, max_rows))
    if media == CSV:
        return from_text(required, _csv_columns(body, max_rows))
    if media == ARROW:
        frame = _arrow_frame(body, max_rows)
        try:
            columns = read(frame).columns
        except (ValueError, TypeError, OverflowError) as error:
            raise encoding_error(required.schema, error) from None
        return from_raw(required, columns, frame.height)
    raise RequestError(415, f"send {JSON}, {CSV} or {ARROW}")


def _csv_columns(body: bytes, max_rows: int) -> Columns:
    """Decode CSV with column names in the first line; an empty cell is missing."""
    try:
        text = body.decode("utf-8-sig")
        separator = _separator(text)
        # checked first, because the reader turns a line into a list before cells can be counted
        if count(body, separator.encode()) > MAX_CELLS:
            raise RequestError(413, f"there are more than {MAX_CELLS:,} cells; send them in several requests")
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
            if len(rows) > max_rows:
                raise RequestError(413, f"there are more than {max_rows:,} rows; send them in several requests")
    except UnicodeDecodeError:
        raise RequestError(400, "the body is not UTF-8 text") from None
    except csv.Error:
        raise RequestError(400, "the body is not CSV: a quote is not closed, or a cell is longer than 128 kB") from None
    cells = zip(*rows, strict=True) if rows else [()] * len(names)
    return Columns({name: [cell or None for cell in values] for name, values in zip(names, cells, strict=True)}, len(rows))


def _separator(text: str) -> str:
    head = text[:4096].partition("\n")[0]
    return max(",;\t", key=head.count)


def _arrow_frame(body: bytes, max_rows: int) -> pl.DataFrame:
    """Decode an Arrow stream with polars, after its bounds were checked."""
    try:
        import polars as pl
    except ModuleNotFoundError:
        raise RequestError(415, "Arrow needs polars, which is not installed on this server; send JSON") from None
    check_stream(body, max_rows)
    try:
        frame = pl.read_ipc_stream(io.BytesIO(body))
    except BaseException as error:  # polars panics are BaseExceptions
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        raise RequestError(400, NO_STREAM) from None
    coded = [series for series in frame.get_columns() if isinstance(series.dtype, (pl.Categorical, pl.Enum))]
    if sum(map(_n_text, coded)) > MAX_STRING_BYTES:
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

_TOO_LONG = f"the body is longer than {MAX_BODY_BYTES >> 20} MiB; send the rows in several requests"


class MemoryBudget:
    """Memory for large bodies, measured by what has arrived; a request that needs more than is left waits.

    The oldest large body always gets memory, so that waiting bodies cannot deadlock.
    """

    def __init__(self, size: int = MAX_LARGE_BODIES_BYTES):
        self._max_other_bytes = size - MAX_BODY_BYTES  # memory for all large bodies except the oldest
        self._sizes: dict[MemoryLease, int] = {}  # bytes per request, in the order in which they became large
        self._released = asyncio.Condition()

    async def take(self, lease: MemoryLease, size: int) -> None:
        """Wait until a request may hold `size` bytes."""
        async with self._released:
            await self._released.wait_for(lambda: self._fits(lease, size))
            self._sizes[lease] = size

    async def release(self, lease: MemoryLease) -> None:
        """Free the memory of a request."""
        async with self._released:
            self._sizes.pop(lease, None)
            self._released.notify_all()

    def _fits(self, lease: MemoryLease, size: int) -> bool:
        first = next(iter(self._sizes), lease)
        others = sum(n_bytes for other, n_bytes in self._sizes.items() if other is not first and other is not lease)
        return lease is first or others + size <= self._max_other_bytes


class MemoryLease:
    """Memory that one request holds while it is read and answered."""

    def __init__(self, budget: MemoryBudget):
        self._budget, self.size = budget, 0

    async def release(self) -> None:
        """Free all of it."""
        await self._budget.release(self)
        self.size = 0

    async def grow(self, size: int) -> None:
        """Reserve memory for what has arrived of a large body; raise RequestError if it takes too long."""
        try:
            async with asyncio.timeout(BODY_TIMEOUT):
                await self._budget.take(self, size)
        except TimeoutError:
            raise RequestError(429, "too many large bodies at once; try again") from None
        self.size = size


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, lease: MemoryLease) -> bytes:
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
        if length > MAX_BODY_BYTES:
            raise RequestError(413, _TOO_LONG)
        if length > LARGE_BODY_BYTES:
            await lease.grow(length)
    return b"".join(parts)


def _check_headers(headers: Mapping[bytes, bytes]) -> None:
    if b"content-encoding" in headers:
        raise RequestError(415, "send the body without a content encoding")
    length = headers.get(b"content-length", b"")
    if length.isdigit() and (len(length) > 12 or int(length) > MAX_BODY_BYTES):
        raise RequestError(413, _TOO_LONG)


def _within(body: bytes) -> bytes:
    if len(body) > MAX_BODY_BYTES:
        raise RequestError(413, _TOO_LONG)
    return body


async def _next(receive: Receive) -> Message:
    message = await receive()
    if message["type"] != "http.request":
        raise ClientDisconnected
    return message
