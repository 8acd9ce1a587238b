"""A block of delimited text as a frame, and what is wrong with one that is none.

How a column of a text file is read: the narrowest type that holds its values, widened as later ones ask.

The order of widening is whole number, number, text. Dates (ISO 8601) are dates as long as every value is one.
Digits with a leading zero (`01234`) are a code, not a number: text. True and false stay the words they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from baytree import _core
from baytree.data.files import blocks, delimiter, encodings
from baytree.data.files.encodings import REMEDY, not_utf8
from baytree.data.files.options import FileError, TypeConflict
from baytree.data.frames.polars import string_views

if TYPE_CHECKING:
    import polars as pl

    from baytree.data.files.csv import DelimitedFile


def parse(source: DelimitedFile, block: bytes, row: int) -> pl.DataFrame:
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


def _converted(source: DelimitedFile, block: bytes, frame: pl.DataFrame, row: int) -> list[pl.Series]:
    """The columns that are not yet what they should be: text to trim, and text to convert."""
    trims = blocks.may_be_padded(block, source.separator.encode())
    again = [r for r in source.readings if r.by_text or (r.kind == "text" and (trims or not r.is_free))]
    trimmed = [stripped(frame[reading.name]) if reading.is_free else trim(frame[reading.name]) for reading in again]
    converted = [convert(reading, values) for reading, values in zip(again, trimmed, strict=True)]
    if any(new.null_count() > old.null_count() for new, old in zip(converted, trimmed, strict=True)):
        raise _contradiction(source, _read(_as_text(source), block), row)
    return converted


def _has_short_row(source: DelimitedFile, block: bytes, frame: pl.DataFrame) -> bool:
    """Whether a row lacks fields: the parser has filled them up, so its last one is missing."""
    if not frame.to_series(-1).null_count():
        return False
    return blocks.separators(block, source.separator.encode()) != len(frame) * (len(source.readings) - 1)


def _read(source: DelimitedFile, block: bytes) -> pl.DataFrame:
    import polars as pl

    return pl.read_csv(
        block,
        has_header=False,
        schema={reading.name: reading.parsed for reading in source.readings},
        separator=source.separator,
        null_values=[""],
        missing_columns="insert",  # short rows are found by counting, with their number
    )


def _as_text(source: DelimitedFile) -> DelimitedFile:
    return replace(source, readings=tuple(ColumnReader(reading.name, "text") for reading in source.readings))


def _check_text(source: DelimitedFile, block: bytes, row: int) -> None:
    found = block.find(b"\0")
    if found >= 0:
        at = row + block.count(b"\n", 0, found)
        raise FileError(f"{source.name}, row {at:,}: a NUL byte; the file is damaged or is not text")


def _diagnosis(source: DelimitedFile, block: bytes, row: int, reason: str) -> Exception:
    """The error that says what is wrong with a block that could not be parsed."""
    import polars as pl

    try:
        text = block.decode()
    except UnicodeDecodeError as error:
        at, byte = row + block.count(b"\n", 0, error.start), block[error.start]
        if source.layout.text.encoding != "utf-8":
            return FileError(f"{source.name}, row {at:,}: byte 0x{byte:02x} is not UTF-8; {REMEDY}")
        return TypeConflict(_in_fallback(source), [str(not_utf8())])
    if stray := blocks.find_stray_quote(text, source.separator):
        return _stray(source, row + stray[0], stray[1])
    if ragged := blocks.first_ragged(text, source.separator, len(source.readings)):
        return _ragged(source, row + ragged[0], ragged[1])
    try:
        return _contradiction(source, _read(_as_text(source), block), row)
    except pl.exceptions.PolarsError:
        return FileError(f"{source.name}, after row {row - 1:,}: {reason.splitlines()[0]}")


def _in_fallback(source: DelimitedFile) -> DelimitedFile:
    """The source read as Windows-1252: a byte that came late is not UTF-8."""
    text = source.layout.text
    found = delimiter.detect_layout(text.path, text.name, encodings.FALLBACK)
    names = replace(found, names=source.layout.names)
    return replace(source, layout=names, notes=(*source.notes, not_utf8()))


def _stray(source: DelimitedFile, row: int, field: str) -> FileError:
    return FileError(
        f"{source.name}, row {row:,}: a quote mark out of place at {field!r}; "
        "a field with a quote mark stands in quote marks, and the mark inside is doubled"
    )


def _ragged(source: DelimitedFile, row: int, found: int) -> FileError:
    return FileError(
        f"{source.name}, row {row:,}: {found} {'field' if found == 1 else 'fields'}, but the header has "
        f"{len(source.readings)}; a field that holds {source.separator!r}, a quote mark or a line end "
        "must stand in quote marks"
    )


def _contradiction(source: DelimitedFile, text: pl.DataFrame, row: int) -> Exception:
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
    return TypeConflict(replace(source, readings=tuple(readings)), sentences)


MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")

"""What stands for a missing value in text files and spreadsheets, in every column, quoted or not."""


@dataclass(frozen=True)
class ColumnReader:
    """How one column is read."""

    name: str
    kind: str = "whole number"  # or number, date, date and time, text
    by_text: bool = False  # parsed as text, then trimmed and converted
    is_fixed: bool = False  # asked for, so never widened
    is_free: bool = False  # text in which words for no value stay: what they mean is decided with the whole column

    @property
    def parsed(self) -> pl.DataType | type[pl.DataType]:
        """The type in which the parser itself delivers the column."""
        import polars as pl

        direct = {"whole number": pl.Int64, "number": pl.Float64}
        return pl.String if self.by_text else direct.get(self.kind, pl.String)


def infer(values: pl.Series) -> ColumnReader:
    """The narrowest reading of a sample of text."""
    trimmed = trim(values)
    is_padded = not values.equals(trimmed, null_equal=True)
    kind = _kind_of(trimmed.drop_nulls())
    return ColumnReader(values.name, kind, by_text=kind != "text" and (is_padded or kind.startswith("date")))


def widened(reading: ColumnReader, values: pl.Series) -> ColumnReader:
    """The reading that also holds these values (text); the same one where it already does."""
    found = infer(values)
    if trim(values).null_count() == len(values):
        return reading
    kind = _join(reading.kind, found.kind)
    return replace(reading, kind=kind, by_text=kind != "text" and (reading.by_text or found.by_text))


def first_misfit(reading: ColumnReader, values: pl.Series) -> int:
    """The position of the first value that the reading cannot hold; the first value where it can hold all."""
    trimmed = trim(values)
    lost = trimmed.is_not_null() & convert(reading, trimmed).is_null()
    return lost.arg_max() or 0


def trim(values: pl.Series) -> pl.Series:
    """The values without blanks around them; what then stands for a missing value is missing."""
    trimmed = values.str.strip_chars(" \t")
    return trimmed.set(trimmed.is_in(MISSING).fill_null(False), None)


def stripped(values: pl.Series) -> pl.Series:
    """The values without blanks around them; the empty one is missing."""
    if not _core.has_margins(string_views(values)):  # as a rule; to make all strings anew takes ten times as long
        return values
    bare = values.str.strip_chars(" \t")
    return bare.set((bare == "").fill_null(False), None)


def convert(reading: ColumnReader, trimmed: pl.Series) -> pl.Series:
    """Text converted to the reading's type; missing where it cannot be."""
    import polars as pl

    match reading.kind:
        case "whole number":
            return trimmed.cast(pl.Int64, strict=False)
        case "number":
            return trimmed.cast(pl.Float64, strict=False)
        case "date":
            return trimmed.str.to_date("%Y-%m-%d", strict=False)
        case "date and time":
            return trimmed.str.replace("T", " ", literal=True).str.to_datetime(
                "%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us"
            )
    return trimmed


_CODE = r"^[+-]?0[0-9]"  # a leading zero

_TOO_LONG = r"^[+-]?[0-9]{17,}$"  # as a float it would lose digits: it names something

_KINDS = ("whole number", "number", "date", "date and time")


def _kind_of(present: pl.Series) -> str:
    if present.str.contains(_CODE).any():
        return "text"
    for kind in _KINDS:
        if convert(ColumnReader(present.name, kind), present).null_count() == 0:
            return "text" if kind.endswith("number") and present.str.contains(_TOO_LONG).any() else kind
    return "text"


def _join(a: str, b: str) -> str:
    numbers = {"whole number", "number"}
    if a == b:
        return a
    return "number" if {a, b} == numbers else "text"
