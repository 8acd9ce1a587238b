"""Delimited text (CSV, TSV and their kin): opened to see its columns, then read in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from baytree import notices
from baytree.table.files import blocks, layout
from baytree.table.files.asked import Asked
from baytree.table.files.column_types import Reading, infer
from baytree.table.files.conversion import converted, open_marks, without_words
from baytree.table.files.errors import Contradiction
from baytree.table.files.layout import Layout
from baytree.table.files.parsing import parse
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
