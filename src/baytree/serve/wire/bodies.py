"""The body of a request to the rows of a model: JSON, CSV or Arrow, by what its content type says, and by nothing else."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np

from baytree import notices
from baytree.predictor import Predictor
from baytree.serve.limits import MOST_BYTES, Refusal
from baytree.serve.wire.cell_values import Wanted, encoding_refusal, from_json, from_raw, from_text
from baytree.serve.wire.json_body import Columns, columns_of
from baytree.table.frames import RawFrame, read
from baytree.table.table import Table

if TYPE_CHECKING:
    import polars as pl

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"
_COMPRESSED = (0x184D2204, 0xFD2FB528)  # how LZ4 and zstd frames begin


def table_of(predictor: Predictor, wanted: Wanted, body: bytes, media: str, most_rows: int) -> Table | None:
    """The encoded rows of a body; None where there is no row."""
    frame = frame_of(wanted, body, media, most_rows)
    return encoded(predictor, frame) if frame.n_rows else None


def encoded(predictor: Predictor, frame: RawFrame) -> Table:
    """Encoded rows; what cannot be encoded is refused without its value, and what a user would be told is not printed."""
    with notices.keeping():
        try:
            return predictor.encoded(frame)
        except (ValueError, TypeError, OverflowError) as error:
            raise encoding_refusal(predictor.schema, error) from None


def frame_of(wanted: Wanted, body: bytes, media: str, most_rows: int) -> RawFrame:
    """The raw columns of a body."""
    if media == JSON:
        return from_json(wanted, columns_of(body, most_rows))
    if media == CSV:
        return from_text(wanted, _few(_csv_columns(body), most_rows))
    if media == ARROW:
        frame = _arrow_frame(body)
        _few(Columns({}, frame.height), most_rows)
        raw = read(frame)
        return from_raw(wanted, raw.columns, frame.height)
    raise Refusal(415, f"send {JSON}, {CSV} or {ARROW}")


def _few(columns: Columns, most_rows: int) -> Columns:
    if columns.n_rows > most_rows:
        raise Refusal(413, f"there are more than {most_rows:,} rows; send them in several requests")
    return columns


def _csv_columns(body: bytes) -> Columns:
    """The columns of a CSV text with names in its first line; an empty cell is missing."""
    try:
        text = body.decode("utf-8-sig")
        names, *rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text), strict=True)) or [[]]
    except UnicodeDecodeError:
        raise Refusal(400, "the body is no text in UTF-8") from None
    except csv.Error:
        raise Refusal(400, "the body is no CSV: a quote is not closed, or a cell is longer than 128 kB") from None
    rows = [row for row in rows if row]
    if not names or len(set(names)) < len(names):
        raise Refusal(422, "the first line names the columns, each once")
    if any(len(row) != len(names) for row in rows):
        raise Refusal(422, "a row has more or fewer cells than the first line has names")
    cells = zip(*rows, strict=True) if rows else [()] * len(names)
    return Columns({name: [cell or None for cell in own] for name, own in zip(names, cells, strict=True)}, len(rows))


def _separator(text: str) -> str:
    head = text[:4096].partition("\n")[0]
    return max(",;\t", key=head.count)


def _arrow_frame(body: bytes) -> pl.DataFrame:
    """The frame of an Arrow stream, which is read by a library in a safe language, and only where it is not compressed."""
    try:
        import polars as pl
    except ModuleNotFoundError:
        raise Refusal(415, "this server reads no Arrow; install polars beside it, or send JSON") from None
    _refuse_compressed(body)
    try:
        frame = pl.read_ipc_stream(io.BytesIO(body))
    except BaseException as error:  # polars panics with one
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        raise Refusal(400, "the body is no Arrow stream of record batches") from None
    if any(_is_repeated(series) for series in frame.get_columns()):
        raise Refusal(413, "levels of a column are too long to be repeated in all its rows")
    if any(series.dtype.is_nested() or series.dtype in (pl.Object, pl.Binary) for series in frame.get_columns()):
        raise Refusal(422, "a column holds lists, records or bytes; a value is a number, a string, a date or a boolean")
    return frame


def _refuse_compressed(body: bytes) -> None:
    """Refuses buffers that are compressed: a few bytes could become any number of them."""
    words = np.frombuffer(body, "<u8", len(body) // 8)
    if np.isin(words & 0xFFFFFFFF, _COMPRESSED).any():
        raise Refusal(415, "the Arrow stream is compressed; write it without compression")


def _is_repeated(series: pl.Series) -> bool:
    import polars as pl

    if not isinstance(series.dtype, (pl.Categorical, pl.Enum)):
        return False
    longest = series.unique().cast(pl.String).str.len_bytes().max()
    return isinstance(longest, int) and longest * len(series) > 4 * MOST_BYTES
