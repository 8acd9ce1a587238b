"""Delimited text (CSV, TSV and their kin): opened to see its columns, then read in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from baytree import notices
from baytree.table.files import blocks, encodings, layout
from baytree.table.files.asked import Asked
from baytree.table.files.column_types import Reading, convert, first_misfit, infer, stripped, trim, widened
from baytree.table.files.conversion import converted, open_marks, without_words
from baytree.table.files.errors import FileError
from baytree.table.files.layout import Layout
from baytree.table.notes import Note
from baytree.table.reading.forms import Form

if TYPE_CHECKING:
    import polars as pl

SAMPLE = 4 << 20  # bytes from which the types are inferred
Result = TypeVar("Result")


@dataclass(frozen=True)
class Delimited:
    """A file of delimited text: how it is laid out, and how each column is read."""

    layout: Layout
    readings: tuple[Reading, ...]
    forms: Mapping[str, Form] = field(default_factory=dict)  # of columns whose marks only the whole file explains
    missing: tuple[str, ...] = ()  # further words for no value
    notes: tuple[Note, ...] = ()

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return self.layout.text.name

    @property
    def separator(self) -> str:
        """What separates its fields."""
        return self.layout.separator

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, without a first one that has no name: it only numbers the rows."""
        return tuple(reading.name for reading in self.readings if reading.name)

    @property
    def size(self) -> int | None:
        """The bytes of the file; None where it is compressed or in another encoding."""
        text = self.layout.text
        return None if text.path.suffix == ".gz" or text.encoding != "utf-8" else text.path.stat().st_size

    def batches(self, progress: Callable[[int], Any] | None = None) -> Iterator[pl.DataFrame]:
        """The rows in frames of one set of types; a value that does not fit raises `Contradiction`."""
        row = 1
        for block in layout.bodies(self.layout, blocks.BLOCK):
            frame = parse(self, block, row)
            row += len(frame)
            yield without_words(converted(frame.drop("", strict=False), self.forms), self.missing)
            if progress:
                progress(len(block))


class Contradiction(Exception):
    """A value that does not fit the type of its column; `source` reads the file with wider types."""

    def __init__(self, source: Delimited, sentences: list[str]) -> None:
        super().__init__("; ".join(sentences))
        self.source = source
        self.sentences = sentences


def attempt(source: Any, work: Callable[[Any], Result]) -> Result:
    """What the work gives with types that hold for the whole source; after a contradiction it starts again.

    Types only ever widen, so this ends.
    """
    while True:
        try:
            return work(source)
        except Contradiction as found:
            for sentence in found.sentences:
                notices.warn(sentence)
            source = found.source


def is_settled(source: Any) -> bool:
    """Whether no later value can ask for other types: files that carry their own, and types that were all asked for."""
    return not isinstance(source, Delimited) or all(reading.is_fixed for reading in source.readings)


def passing_over(source: Any, names: Iterable[str]) -> Any:
    """The source with these columns read as text, so that nothing in them can contradict a type."""
    if not isinstance(source, Delimited):
        return source
    gone = frozenset(names)
    text = (replace(reading, kind="text", by_text=False, is_fixed=True, is_free=True) for reading in source.readings)
    pairs = zip(source.readings, text, strict=True)
    return replace(source, readings=tuple(new if old.name in gone else old for old, new in pairs))


def open_delimited(path: Path, name: str, asked: Asked) -> Delimited:
    """The file with its columns; types are inferred from the first rows, or asked for."""
    found = layout.see(path, name, asked.encoding, asked.header, tuple(asked.keep))
    texts = tuple(Reading(column, "text", is_free=True) for column in found.names)
    source = Delimited(found, texts, missing=asked.missing, notes=found.notes)
    sample = next(layout.bodies(found, SAMPLE), b"")
    if not sample:
        return replace(source, readings=tuple(Reading(column, "text") for column in found.names))
    try:
        frame = parse(source, sample, 1)
    except Contradiction as wider:  # bytes that are not UTF-8
        source, frame = wider.source, parse(wider.source, sample, 1)
    forms, notes = open_marks(frame, found.separator, asked)
    readings = tuple(_reading(frame[column], asked, column in forms) for column in found.names)
    return replace(source, readings=readings, forms=forms, notes=(*source.notes, *notes))


def parse(source: Delimited, block: bytes, row: int) -> pl.DataFrame:
    """A block as a frame; what is wrong with it is told with the number of the row, `row` being its first."""
    import polars as pl

    _check_text(source, block, row)
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


def _reading(sample: pl.Series, asked: Asked, has_form: bool) -> Reading:
    if sample.name in asked.text:
        return Reading(sample.name, "text", is_fixed=True)
    if has_form or sample.name in asked.words:
        return Reading(sample.name, "text", is_free=True)
    found = infer(sample)
    if sample.name in asked.numbers:
        return replace(found, kind="number", is_fixed=True)
    return replace(found, is_free=found.kind == "text")


# what is wrong with it


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
            return FileError(f"{source.name}, row {at:,}: byte 0x{byte:02x} is not UTF-8; {layout.REMEDY}")
        return Contradiction(_in_fallback(source), [str(layout.not_utf8())])
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
    return replace(source, layout=names, notes=(*source.notes, layout.not_utf8()))


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
