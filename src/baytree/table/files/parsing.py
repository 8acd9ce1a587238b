"""A block of delimited text as a frame, and what is wrong with one that is none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from baytree.table.files import blocks, encodings, layout
from baytree.table.files.column_types import Reading, convert, first_misfit, stripped, trim, widened
from baytree.table.files.errors import Contradiction, FileError
from baytree.table.files.texts import REMEDY, not_utf8

if TYPE_CHECKING:
    import polars as pl

    from baytree.table.files.delimited import Delimited


def parse(source: Delimited, block: bytes, row: int) -> pl.DataFrame:
    """A block as a frame; what is wrong with it is told with the number of the row, `row` being its first."""
    import polars as pl

    _check_text(source, block, row)
    block = blocks.in_plain_quotes(block)
    try:
        frame = _read(source, block)
        if frame.to_series(0).null_count() and blocks.has_blank_line(block):
            return parse(source, blocks.without_blank_lines(block), row)
    except pl.exceptions.PolarsError as error:
        raise _diagnosis(source, block, row, str(error)) from None
    if _has_short_row(source, block, frame):
        raise _diagnosis(source, block, row, "the rows differ in length")
    return frame.with_columns(_converted(source, block, frame, row))


def _converted(source: Delimited, block: bytes, frame: pl.DataFrame, row: int) -> list[pl.Series]:
    """The columns that are not yet what they should be: text to trim, and text to convert."""
    trims = blocks.may_be_padded(block, source.separator.encode())
    again = [r for r in source.readings if r.by_text or (r.kind == "text" and (trims or not r.is_free))]
    trimmed = [stripped(frame[reading.name]) if reading.is_free else trim(frame[reading.name]) for reading in again]
    converted = [convert(reading, values) for reading, values in zip(again, trimmed, strict=True)]
    if any(new.null_count() > old.null_count() for new, old in zip(converted, trimmed, strict=True)):
        raise _contradiction(source, _read(_as_text(source), block), row)
    return converted


def _has_short_row(source: Delimited, block: bytes, frame: pl.DataFrame) -> bool:
    """Whether a row lacks fields: the parser has filled them up, so its last one is missing."""
    if not frame.to_series(-1).null_count():
        return False
    return blocks.separators(block, source.separator.encode()) != len(frame) * (len(source.readings) - 1)


def _read(source: Delimited, block: bytes) -> pl.DataFrame:
    import polars as pl

    return pl.read_csv(
        block,
        has_header=False,
        schema={reading.name: reading.parsed for reading in source.readings},
        separator=source.separator,
        null_values=[""],
        missing_columns="insert",  # short rows are found by counting, with their number
    )


def _as_text(source: Delimited) -> Delimited:
    return replace(source, readings=tuple(Reading(reading.name, "text") for reading in source.readings))


def _check_text(source: Delimited, block: bytes, row: int) -> None:
    found = block.find(b"\0")
    if found >= 0:
        at = row + block.count(b"\n", 0, found)
        raise FileError(f"{source.name}, row {at:,}: a NUL byte; the file is damaged or is not text")


def _diagnosis(source: Delimited, block: bytes, row: int, reason: str) -> Exception:
    """The error that says what is wrong with a block that could not be parsed."""
    import polars as pl

    try:
        text = block.decode()
    except UnicodeDecodeError as error:
        at, byte = row + block.count(b"\n", 0, error.start), block[error.start]
        if source.layout.text.encoding != "utf-8":
            return FileError(f"{source.name}, row {at:,}: byte 0x{byte:02x} is not UTF-8; {REMEDY}")
        return Contradiction(_in_fallback(source), [str(not_utf8())])
    if stray := blocks.first_stray_quote(text, source.separator):
        return _stray(source, row + stray[0], stray[1])
    if ragged := blocks.first_ragged(text, source.separator, len(source.readings)):
        return _ragged(source, row + ragged[0], ragged[1])
    try:
        return _contradiction(source, _read(_as_text(source), block), row)
    except pl.exceptions.PolarsError:
        return FileError(f"{source.name}, after row {row - 1:,}: {reason.splitlines()[0]}")


def _in_fallback(source: Delimited) -> Delimited:
    """The source read as Windows-1252: a byte that came late is not UTF-8."""
    text = source.layout.text
    found = layout.see(text.path, text.name, encodings.FALLBACK)
    names = replace(found, names=source.layout.names)
    return replace(source, layout=names, notes=(*source.notes, not_utf8()))


def _stray(source: Delimited, row: int, field: str) -> FileError:
    return FileError(
        f"{source.name}, row {row:,}: a quote mark out of place at {field!r}; "
        "a field with a quote mark stands in quote marks, and the mark inside is doubled"
    )


def _ragged(source: Delimited, row: int, found: int) -> FileError:
    return FileError(
        f"{source.name}, row {row:,}: {found} {'field' if found == 1 else 'fields'}, but the header has "
        f"{len(source.readings)}; a field that holds {source.separator!r}, a quote mark or a line end "
        "must stand in quote marks"
    )


def _contradiction(source: Delimited, text: pl.DataFrame, row: int) -> Exception:
    """What follows from values that do not fit: wider types, or an error where the type was asked for."""
    sentences, readings = [], []
    for reading in source.readings:
        values = text[reading.name]
        wider = reading if reading.kind == "text" else widened(reading, values)
        wider = replace(wider, is_free=wider.kind == "text" and (reading.is_free or reading.kind != "text"))
        if wider.kind != reading.kind:
            at = first_misfit(reading, values)
            place = f"{source.name}, row {row + at:,}: column {reading.name!r}"
            if reading.is_fixed:
                return FileError(f"{place} must be a {reading.kind}, but holds {values[at]!r}")
            if wider.kind == "text":
                looked = f"looked like a {reading.kind}, but holds {values[at]!r}"
                sentences.append(f"{place} {looked}; it is read as text")
        readings.append(wider)
    if tuple(readings) == source.readings:  # the parser is stricter than the conversion: convert everywhere
        readings = [replace(reading, by_text=reading.kind != "text") for reading in source.readings]
    if tuple(readings) == source.readings:
        return FileError(f"{source.name}, after row {row - 1:,}: the rows cannot be read")
    return Contradiction(replace(source, readings=tuple(readings)), sentences)
