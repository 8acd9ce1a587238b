"""Delimited text (CSV, TSV and their kin): opened to see its columns, then read in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from baytree import _warnings
from baytree.data.files import blocks, delimiter
from baytree.data.files.convert import converted, drop_missing_tokens, infer_decimal_marks
from baytree.data.files.csv_parse import ColumnReader, infer, parse
from baytree.data.files.delimiter import DelimitedLayout
from baytree.data.files.options import ReadOptions, TypeConflict
from baytree.data.parsing.string_format import StringFormat
from baytree.data.schema.notes import Note

if TYPE_CHECKING:
    import polars as pl

SAMPLE = 4 << 20  # bytes from which the types are inferred

Result = TypeVar("Result")


@dataclass(frozen=True)
class DelimitedFile:
    """A file of delimited text: how it is laid out, and how each column is read."""

    layout: DelimitedLayout
    readings: tuple[ColumnReader, ...]
    forms: Mapping[str, StringFormat] = field(default_factory=dict)  # of columns whose marks only the whole file explains
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
        """The rows in frames of one set of types; a value that does not fit raises `TypeConflict`."""
        row = 1
        for block in delimiter.bodies(self.layout, blocks.BLOCK):
            frame = parse(self, block, row)
            row += len(frame)
            yield drop_missing_tokens(converted(frame.drop("", strict=False), self.forms), self.missing)
            if progress:
                progress(len(block))


def attempt(source: Any, work: Callable[[Any], Result]) -> Result:
    """What the work gives with types that hold for the whole source; after a contradiction it starts again.

    Types only ever widen, so this ends.
    """
    while True:
        try:
            return work(source)
        except TypeConflict as found:
            for sentence in found.sentences:
                _warnings.warn(sentence)
            source = found.source


def is_settled(source: Any) -> bool:
    """Whether no later value can ask for other types: files that carry their own, and types that were all asked for."""
    return not isinstance(source, DelimitedFile) or all(reading.is_fixed for reading in source.readings)


def read_as_text(source: Any, names: Iterable[str]) -> Any:
    """The source with these columns read as text, so that nothing in them can contradict a type."""
    if not isinstance(source, DelimitedFile):
        return source
    gone = frozenset(names)
    text = (replace(reading, kind="text", by_text=False, is_fixed=True, is_free=True) for reading in source.readings)
    pairs = zip(source.readings, text, strict=True)
    return replace(source, readings=tuple(new if old.name in gone else old for old, new in pairs))


def open_delimited(path: Path, name: str, asked: ReadOptions) -> DelimitedFile:
    """The file with its columns; types are inferred from the first rows, or asked for."""
    found = delimiter.detect_layout(path, name, asked.encoding, asked.header, tuple(asked.keep))
    texts = tuple(ColumnReader(column, "text", is_free=True) for column in found.names)
    source = DelimitedFile(found, texts, missing=asked.missing, notes=found.notes)
    sample = next(delimiter.bodies(found, SAMPLE), b"")
    if not sample:
        return replace(source, readings=tuple(ColumnReader(column, "text") for column in found.names))
    try:
        frame = parse(source, sample, 1)
    except TypeConflict as wider:  # bytes that are not UTF-8
        source, frame = wider.source, parse(wider.source, sample, 1)
    forms, notes = infer_decimal_marks(frame, found.separator, asked)
    readings = tuple(_reading(frame[column], asked, column in forms) for column in found.names)
    return replace(source, readings=readings, forms=forms, notes=(*source.notes, *notes))


def _reading(sample: pl.Series, asked: ReadOptions, has_form: bool) -> ColumnReader:
    if sample.name in asked.text:
        return ColumnReader(sample.name, "text", is_fixed=True)
    if has_form or sample.name in asked.words:
        return ColumnReader(sample.name, "text", is_free=True)
    found = infer(sample)
    if sample.name in asked.numbers:
        return replace(found, kind="number", is_fixed=True)
    return replace(found, is_free=found.kind == "text")
