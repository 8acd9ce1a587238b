"""The body of a request to the rows of a model: JSON, CSV or Arrow, by what its content type says, and by nothing else."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from baytree import notices
from baytree.predictor import Predictor
from baytree.serve.limits import MOST_CELLS, MOST_TEXT, Refusal
from baytree.serve.wire.arrow_messages import NO_STREAM, check_stream
from baytree.serve.wire.cell_values import Wanted, encoding_refusal, from_json, from_raw, from_text
from baytree.serve.wire.json_body import Columns, columns_of, count
from baytree.table.frames import RawFrame, read
from baytree.table.table import Table

if TYPE_CHECKING:
    import polars as pl

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"


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
        return from_text(wanted, _csv_columns(body, most_rows))
    if media == ARROW:
        frame = _arrow_frame(body, most_rows)
        try:
            columns = read(frame).columns
        except (ValueError, TypeError, OverflowError) as error:
            raise encoding_refusal(wanted.schema, error) from None
        return from_raw(wanted, columns, frame.height)
    raise Refusal(415, f"send {JSON}, {CSV} or {ARROW}")


def _csv_columns(body: bytes, most_rows: int) -> Columns:
    """The columns of a CSV text with names in its first line; an empty cell is missing."""
    try:
        text = body.decode("utf-8-sig")
        separator = _separator(text)
        if count(body, separator.encode()) > MOST_CELLS:  # a line becomes a list before its cells can be counted
            raise Refusal(413, f"there are more than {MOST_CELLS:,} cells; send them in several requests")
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        names = next(lines, [])
        if not names or len(set(names)) < len(names):
            raise Refusal(422, "the first line names the columns, each once")
        rows: list[list[str]] = []
        for row in lines:
            if row and len(row) != len(names):
                raise Refusal(422, "a row has more or fewer cells than the first line has names")
            if row:
                rows.append(row)
            if len(rows) > most_rows:
                raise Refusal(413, f"there are more than {most_rows:,} rows; send them in several requests")
    except UnicodeDecodeError:
        raise Refusal(400, "the body is no text in UTF-8") from None
    except csv.Error:
        raise Refusal(400, "the body is no CSV: a quote is not closed, or a cell is longer than 128 kB") from None
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
        raise Refusal(415, "this server reads no Arrow; install polars beside it, or send JSON") from None
    check_stream(body, most_rows)
    try:
        frame = pl.read_ipc_stream(io.BytesIO(body))
    except BaseException as error:  # polars panics with one
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        raise Refusal(400, NO_STREAM) from None
    coded = [series for series in frame.get_columns() if isinstance(series.dtype, (pl.Categorical, pl.Enum))]
    if sum(map(_n_text, coded)) > MOST_TEXT:
        raise Refusal(413, "levels of a column are too long to be repeated in all its rows")
    return frame


def _n_text(series: pl.Series) -> int:
    """How many bytes the levels of a column would have as strings of its rows, without making these."""
    import polars as pl

    counted = series.alias("level").value_counts(name="n")
    return int((counted["level"].cast(pl.String).str.len_bytes().cast(pl.Int64) * counted["n"].cast(pl.Int64)).sum())
