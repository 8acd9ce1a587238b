"""Parse blocks of delimited text into frames, diagnose malformed blocks, and choose the parser of each column.

`data.inference` decides what a column is; this module only has fast parsers of plain cells. A column gets the narrowest
parser that holds its values, widened as later values require: whole number, number, text. ISO 8601 dates are dates as long
as every value is one. All other columns stay text, for inference to decide from all rows. Digits that a number would not
preserve (`01234`, `+491701234567`, 17 digits) stay text if `decide_format` calls them a code.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from baytree import _core
from baytree.data.files import blocks, delimiter, encodings
from baytree.data.files.encodings import REMEDY, not_utf8
from baytree.data.files.options import FileError, TypeConflict
from baytree.data.frames.polars import string_views
from baytree.data.inference.decide import decide_format
from baytree.data.inference.evidence import StringEvidence, TableConventions
from baytree.data.parsing.vocabulary import NULL_TOKENS

if TYPE_CHECKING:
    import polars as pl

    from baytree.data.files.csv import DelimitedFile


def parse(source: DelimitedFile, block: bytes, row: int) -> pl.DataFrame:
    """Return a block as a frame; `row` is the number of its first row, used in error messages."""
    import polars as pl

    _check_text(source, block, row)
    block = blocks.in_plain_quotes(block)
    try:
        frame = _read(source, block)
        if frame.to_series(0).null_count() and blocks.has_blank_line(block):
            return parse(source, blocks.without_blank_lines(block), row)
    except pl.exceptions.PolarsError as error:
        raise _diagnose(source, block, row, str(error)) from None
    if _has_short_row(source, block, frame):
        raise _diagnose(source, block, row, "the rows differ in length")
    return frame.with_columns(_convert_text_columns(source, block, frame, row))


def _convert_text_columns(source: DelimitedFile, block: bytes, frame: pl.DataFrame, row: int) -> list[pl.Series]:
    """Return the columns that still need trimming or conversion."""
    trims = blocks.may_be_padded(block, source.separator.encode())
    readers = [r for r in source.readers if r.by_text or (r.kind == "text" and (trims or not r.keeps_tokens))]
    trimmed = [strip_blanks(frame[reader.name]) if reader.keeps_tokens else trim(frame[reader.name]) for reader in readers]
    converted = [convert(reader, values) for reader, values in zip(readers, trimmed, strict=True)]
    if any(new.null_count() > old.null_count() for new, old in zip(converted, trimmed, strict=True)):
        raise _type_conflict(source, _read(_as_text(source), block), row)
    return converted


def _has_short_row(source: DelimitedFile, block: bytes, frame: pl.DataFrame) -> bool:
    """Return whether a row lacks fields: the parser fills them with null, so its last field is missing."""
    if not frame.to_series(-1).null_count():
        return False
    return blocks.separators(block, source.separator.encode()) != len(frame) * (len(source.readers) - 1)


def _read(source: DelimitedFile, block: bytes) -> pl.DataFrame:
    import polars as pl

    return pl.read_csv(
        block,
        has_header=False,
        schema={reader.name: reader.parsed for reader in source.readers},
        separator=source.separator,
        null_values=[""],
        missing_columns="insert",  # short rows are found by counting separators
    )


def _as_text(source: DelimitedFile) -> DelimitedFile:
    return replace(source, readers=tuple(ColumnReader(reader.name, "text") for reader in source.readers))


def _check_text(source: DelimitedFile, block: bytes, row: int) -> None:
    found = block.find(b"\0")
    if found >= 0:
        at = row + block.count(b"\n", 0, found)
        raise FileError(f"{source.name}, row {at:,}: a NUL byte; the file is damaged or is not text")


def _diagnose(source: DelimitedFile, block: bytes, row: int, reason: str) -> Exception:
    """Return the error that explains why a block could not be parsed."""
    import polars as pl

    try:
        text = block.decode()
    except UnicodeDecodeError as error:
        at, byte = row + block.count(b"\n", 0, error.start), block[error.start]
        if source.layout.text.encoding != "utf-8":
            return FileError(f"{source.name}, row {at:,}: byte 0x{byte:02x} is not UTF-8; {REMEDY}")
        return TypeConflict(_with_fallback(source), [str(not_utf8())])
    if stray := blocks.find_stray_quote(text, source.separator):
        return _stray_quote_error(source, row + stray[0], stray[1])
    if ragged := blocks.first_ragged(text, source.separator, len(source.readers)):
        return _ragged_error(source, row + ragged[0], ragged[1])
    try:
        return _type_conflict(source, _read(_as_text(source), block), row)
    except pl.exceptions.PolarsError:
        return FileError(f"{source.name}, after row {row - 1:,}: {reason.splitlines()[0]}")


def _with_fallback(source: DelimitedFile) -> DelimitedFile:
    """Return the source read as Windows-1252, for a late byte that is not UTF-8."""
    text = source.layout.text
    found = delimiter.detect_layout(text.path, text.name, encodings.FALLBACK)
    names = replace(found, names=source.layout.names)
    return replace(source, layout=names, notes=(*source.notes, not_utf8()))


def _stray_quote_error(source: DelimitedFile, row: int, field: str) -> FileError:
    return FileError(
        f"{source.name}, row {row:,}: misplaced quote mark at {field!r}; "
        "enclose a field that contains quote marks in quote marks, and double the marks inside"
    )


def _ragged_error(source: DelimitedFile, row: int, found: int) -> FileError:
    return FileError(
        f"{source.name}, row {row:,}: {found} {'field' if found == 1 else 'fields'}, but the header has "
        f"{len(source.readers)}; a field that holds {source.separator!r}, a quote mark or a line end "
        "must be enclosed in quote marks"
    )


def _type_conflict(source: DelimitedFile, text: pl.DataFrame, row: int) -> Exception:
    """Return a TypeConflict with wider types for values that do not fit, or a FileError if the type was requested."""
    sentences, readers = [], []
    for reader in source.readers:
        values = text[reader.name]
        wider = reader if reader.kind == "text" else widen(reader, values)
        wider = replace(wider, keeps_tokens=wider.kind == "text" and (reader.keeps_tokens or reader.kind != "text"))
        if wider.kind != reader.kind:
            at = first_misfit(reader, values)
            position = f"{source.name}, row {row + at:,}: column {reader.name!r}"
            if reader.is_fixed:
                return FileError(f"{position} must be a {reader.kind}, but holds {values[at]!r}")
            if wider.kind == "text":
                looked = f"looked like a {reader.kind}, but holds {values[at]!r}"
                sentences.append(f"{position} {looked}; it is read as text")
        readers.append(wider)
    if tuple(readers) == source.readers:  # the parser is stricter than the conversion: parse as text and convert
        readers = [replace(reader, by_text=reader.kind != "text") for reader in source.readers]
    if tuple(readers) == source.readers:
        return FileError(f"{source.name}, after row {row - 1:,}: the rows cannot be read")
    return TypeConflict(replace(source, readers=tuple(readers)), sentences)


@dataclass(frozen=True)
class ColumnReader:
    """How one column is read."""

    name: str
    kind: str = "whole number"  # or number, date, date and time, text
    by_text: bool = False  # parsed as text, then trimmed and converted
    is_fixed: bool = False  # requested by the user, so never widened
    keeps_tokens: bool = False  # text that keeps missing tokens: their meaning is decided from the whole column

    @property
    def parsed(self) -> pl.DataType | type[pl.DataType]:
        """Type in which the polars parser reads the column."""
        import polars as pl

        direct = {"whole number": pl.Int64, "number": pl.Float64}
        return pl.String if self.by_text else direct.get(self.kind, pl.String)


def infer_reader(values: pl.Series) -> ColumnReader:
    """Return the reader with the narrowest type that holds a sample of strings; text for codes."""
    trimmed = trim(values)
    is_padded = not values.equals(trimmed, null_equal=True)
    kind = _kind_of(trimmed.drop_nulls())
    return ColumnReader(values.name, kind, by_text=kind != "text" and (is_padded or kind.startswith("date")))


def widen(reader: ColumnReader, values: pl.Series) -> ColumnReader:
    """Return the reader widened to hold these strings; unchanged if it already does."""
    found = infer_reader(values)
    if trim(values).null_count() == len(values):
        return reader
    kind = _join(reader.kind, found.kind)
    return replace(reader, kind=kind, by_text=kind != "text" and (reader.by_text or found.by_text))


def first_misfit(reader: ColumnReader, values: pl.Series) -> int:
    """Return the index of the first value that the reader cannot hold; 0 if it holds all."""
    trimmed = trim(values)
    failed = trimmed.is_not_null() & convert(reader, trimmed).is_null()
    return failed.arg_max() or 0


def trim(values: pl.Series) -> pl.Series:
    """Strip blanks around the values and make the `NULL_TOKENS` null."""
    trimmed = values.str.strip_chars(" \t")
    return trimmed.set(trimmed.is_in(NULL_TOKENS).fill_null(False), None)


def strip_blanks(values: pl.Series) -> pl.Series:
    """Strip blanks around the values and make empty strings null."""
    if not _core.has_margins(string_views(values)):  # the usual case; rebuilding all strings takes ten times as long
        return values
    bare = values.str.strip_chars(" \t")
    return bare.set((bare == "").fill_null(False), None)


def convert(reader: ColumnReader, trimmed: pl.Series) -> pl.Series:
    """Convert strings to the type of the reader; null where that fails."""
    import polars as pl

    match reader.kind:
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


_KINDS = ("whole number", "number", "date", "date and time")

_LOSES_PREFIX = r"^(?:\+|[+-]?0[0-9])"  # as numbers, these strings lose a plus or a leading zero

_DIGITS = r"^[+-]?[0-9]+$"

_MAX_EXACT = 1 << 53  # up to this, every whole number has an exact double

_STRINGS_PER_DECISION = 1000  # one code decides for the column, so that most columns of codes need one decision


def _kind_of(present: pl.Series) -> str:
    for kind in _KINDS:
        converted = convert(ColumnReader(present.name, kind), present)
        if converted.null_count() == 0:
            return "text" if kind.endswith("number") and _holds_codes(present, converted) else kind
    return "text"


def _holds_codes(present: pl.Series, numbers: pl.Series) -> bool:
    """Return whether inference keeps digits of the column as a code, judged by the digits that `numbers` do not preserve."""
    is_inexact = (numbers > _MAX_EXACT) | (numbers < -_MAX_EXACT)
    changed = present.filter(is_inexact | present.str.contains(_LOSES_PREFIX))
    digits = changed.filter(changed.str.contains(_DIGITS)).unique(maintain_order=True).to_list()
    parts = (digits[k : k + _STRINGS_PER_DECISION] for k in range(0, len(digits), _STRINGS_PER_DECISION))
    decisions = (decide_format(present.name, _evidence_of(part), len(part), TableConventions()) for part in parts)
    return any(decision.form is None for decision in decisions)


def _evidence_of(strings: list[str]) -> StringEvidence:
    return StringEvidence.of(strings, [1] * len(strings))


def _join(a: str, b: str) -> str:
    numbers = {"whole number", "number"}
    if a == b:
        return a
    return "number" if {a, b} == numbers else "text"
