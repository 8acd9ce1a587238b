"""Delimited text files (CSV, TSV and similar): open and infer column types, then read in blocks.

Types are inferred from the first bytes. A later value that does not fit raises a `TypeConflict`, and `attempt` restarts
with wider types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from baytree import _warnings
from baytree.data.files import blocks, delimiter
from baytree.data.files.convert import convert_columns, drop_missing_tokens, infer_decimal_marks
from baytree.data.files.csv_parse import ColumnReader, infer_reader, parse
from baytree.data.files.delimiter import DelimitedLayout
from baytree.data.files.options import ReadOptions, TypeConflict
from baytree.data.parsing.string_format import StringFormat
from baytree.data.schema.notes import Note

if TYPE_CHECKING:
    import polars as pl

SAMPLE_BYTES = 4 << 20  # bytes from which column types are inferred

Result = TypeVar("Result")


@dataclass(frozen=True)
class DelimitedFile:
    """Delimited text file: its layout and the reader of each column."""

    layout: DelimitedLayout
    readers: tuple[ColumnReader, ...]
    formats: Mapping[str, StringFormat] = field(default_factory=dict)  # of columns whose marks are ambiguous in themselves
    missing: tuple[str, ...] = ()  # further missing tokens
    notes: tuple[Note, ...] = ()

    @property
    def name(self) -> str:
        """Name in messages."""
        return self.layout.text.name

    @property
    def separator(self) -> str:
        """Field separator."""
        return self.layout.separator

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, without an unnamed first column, which only numbers the rows."""
        return tuple(reader.name for reader in self.readers if reader.name)

    @property
    def size(self) -> int | None:
        """Size of the file in bytes; None if it is compressed or not UTF-8."""
        text = self.layout.text
        return None if text.path.suffix == ".gz" or text.encoding != "utf-8" else text.path.stat().st_size

    def batches(self, progress: Callable[[int], Any] | None = None) -> Iterator[pl.DataFrame]:
        """Yield the rows as frames of the same types; raise a `TypeConflict` for a value that does not fit."""
        row = 1
        for block in delimiter.bodies(self.layout, blocks.BLOCK_BYTES):
            frame = parse(self, block, row)
            row += len(frame)
            yield drop_missing_tokens(convert_columns(frame.drop("", strict=False), self.formats), self.missing)
            if progress:
                progress(len(block))


def attempt(source: Any, work: Callable[[Any], Result]) -> Result:
    """Return `work(source)` with types that hold for the whole source; restart it after each `TypeConflict`.

    This terminates because types only ever widen.
    """
    while True:
        try:
            return work(source)
        except TypeConflict as found:
            for sentence in found.sentences:
                _warnings.warn(sentence)
            source = found.source


def is_settled(source: Any) -> bool:
    """Return whether the types cannot change: the file carries its own types, or all were requested by the user."""
    return not isinstance(source, DelimitedFile) or all(reader.is_fixed for reader in source.readers)


def read_as_text(source: Any, names: Iterable[str]) -> Any:
    """Return the source with these columns read as text, so that they cannot cause a type conflict."""
    if not isinstance(source, DelimitedFile):
        return source
    as_text = frozenset(names)
    text = (replace(reader, kind="text", by_text=False, is_fixed=True, keeps_tokens=True) for reader in source.readers)
    pairs = zip(source.readers, text, strict=True)
    return replace(source, readers=tuple(new if old.name in as_text else old for old, new in pairs))


def open_delimited(path: Path, name: str, options: ReadOptions) -> DelimitedFile:
    """Open the file: detect its layout and infer the types of its columns, unless requested, from the first rows."""
    layout = delimiter.detect_layout(path, name, options.encoding, options.header, tuple(options.keep))
    texts = tuple(ColumnReader(column, "text", keeps_tokens=True) for column in layout.names)
    source = DelimitedFile(layout, texts, missing=options.missing, notes=layout.notes)
    sample = next(delimiter.bodies(layout, SAMPLE_BYTES), b"")
    if not sample:
        return replace(source, readers=tuple(ColumnReader(column, "text") for column in layout.names))
    try:
        frame = parse(source, sample, 1)
    except TypeConflict as wider:  # bytes that are not UTF-8: read as Windows-1252
        source, frame = wider.source, parse(wider.source, sample, 1)
    formats, notes = infer_decimal_marks(frame, layout.separator, options)
    readers = tuple(_infer_reader(frame[column], options, column in formats) for column in layout.names)
    return replace(source, readers=readers, formats=formats, notes=(*source.notes, *notes))


def _infer_reader(sample: pl.Series, options: ReadOptions, has_form: bool) -> ColumnReader:
    if sample.name in options.text:
        return ColumnReader(sample.name, "text", is_fixed=True)
    if has_form or sample.name in options.words:
        return ColumnReader(sample.name, "text", keeps_tokens=True)
    found = infer_reader(sample)
    if sample.name in options.numbers:
        return replace(found, kind="number", is_fixed=True)
    return replace(found, keeps_tokens=found.kind == "text")
