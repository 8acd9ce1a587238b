"""Read tables on disk: CSV, TSV, Parquet, JSON, NDJSON, Excel, zip and standard input, whole or in batches.

Batches bound the memory. `source(path)` detects the format and how its columns are read; its `batches()` can be iterated
many times. `attempt(source, work)` runs work over the batches and restarts it with wider column types after a
`TypeConflict`.

Text may be in UTF-8, UTF-16 or Windows-1252, with fields separated by `, ; TAB |` or blanks, whichever splits the rows
most evenly (`delimiter`). Lines above the header, a row of units below it, totals and remarks at the end are not rows
(`header`). Empty fields are missing values, blank lines are skipped, blanks around values are trimmed; the meaning of
other words is decided from the whole column (`data.inference.infer`). Nothing is fetched from the network; a `*` in a
name is not a wildcard.
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from baytree.data.files.csv import attempt, is_settled, open_delimited, read_as_text
from baytree.data.files.formats import TABLES, check_begins, format_of
from baytree.data.files.options import FileError, PathError, ReadOptions
from baytree.data.schema.notes import Note
from baytree.file_io import temporary

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "FileError",
    "PathError",
    "ReadOptions",
    "TableSource",
    "attempt",
    "batches",
    "from_columns",
    "in_memory",
    "open_table",
    "open_table_with",
    "read_all",
    "read_as_text",
    "settle_types",
    "source",
    "to_csv",
]


class TableSource(Protocol):
    """Interface of a table that can be read in batches, repeatedly from the start."""

    @property
    def name(self) -> str:
        """Name in messages."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on how the file is laid out."""

    @property
    def size(self) -> int | None:
        """Number of bytes that the batches report to `progress`; None if unknown."""

    def batches(self, progress: Callable[[int], Any] | None = None) -> Iterator[pl.DataFrame]:
        """Yield the rows as frames; `progress` is called after each batch with the number of bytes read."""


def batches(path: str | Path, *, text: Iterable[str] = (), numbers: Iterable[str] = ()) -> Iterator[pl.DataFrame]:
    """Yield the rows as frames with the same types throughout, which a first pass over the file ensures."""
    return settle_types(source(path, text=text, numbers=numbers)).batches()


def source(path: str | Path, *, text: Iterable[str] = (), numbers: Iterable[str] = ()) -> TableSource:
    """Return the file as a source of batches; `-` is CSV from standard input."""
    return open_table(path, ReadOptions(frozenset(text), frozenset(numbers)))


def open_table(path: str | Path, options: ReadOptions) -> TableSource:
    """Return the file as a source of batches with these options; `-` is CSV from standard input."""
    path = Path(path)
    if str(path) == "-":
        return open_delimited(_spool(sys.stdin.buffer), "standard input", options)
    if path.is_fifo():
        with path.open("rb") as pipe:
            return open_delimited(_spool(pipe), path.name, options)
    kind = format_of(path)
    check_begins(path, kind)
    if kind == "zip":
        return _open_archive(path, options)
    if kind == "text":
        return open_delimited(path, path.name, options)
    return _openers()[kind](path, path.name, options)


def open_table_with(path: str | Path, options: ReadOptions, column: str) -> TableSource:
    """Return the file as a source; of a workbook without a named sheet, the first sheet that has the column."""
    table = open_table(path, options)
    if column in table.columns or options.sheet is not None or str(path) == "-" or format_of(Path(path)) != "Excel":
        return table
    from baytree.data.files.binary import sheet_names

    for sheet in sheet_names(Path(path), Path(path).name):
        try:
            other = open_table(path, dataclasses.replace(options, sheet=sheet))
        except FileError:  # the sheet is empty
            continue
        if column in other.columns:
            note = Note("", f"the sheet {sheet!r} is read, which has the column {column!r}", is_doubtful=True)
            return dataclasses.replace(other, notes=(note, *other.notes))  # type: ignore[type-var]
    return table


def read_all(table: TableSource) -> pl.DataFrame:
    """Return all rows of a source as a polars frame whose types hold for every row."""
    return attempt(table, _concatenated)


def settle_types(table: TableSource) -> TableSource:
    """Return the source with types that hold for all of its rows, ensured by a first pass if they are inferred."""
    return table if is_settled(table) else attempt(table, _read_through)


def from_columns(columns: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """Return columns in memory as a polars frame."""
    import polars as pl

    return pl.DataFrame(columns, strict=False)


def to_csv(columns: Mapping[str, Sequence[Any]], shown: Callable[[str], str], has_header: bool = True) -> str:
    """Return columns as CSV text; `shown` maps each distinct string to the string to write."""
    frame = from_columns(columns)
    return frame.with_columns(_map_strings(column, shown) for column in frame).write_csv(include_header=has_header)


def in_memory(name: str, frame: pl.DataFrame) -> TableSource:
    """Return a frame as a source."""
    from baytree.data.files.binary import FrameSource

    return FrameSource(name, frame)


def _map_strings(column: pl.Series, shown: Callable[[str], str]) -> pl.Series:
    import polars as pl

    if column.dtype != pl.String:
        return column
    texts = column.drop_nulls().unique().to_list()
    changed = {text: shown(text) for text in texts if shown(text) != text}
    return column.replace(changed) if changed else column


def _concatenated(table: TableSource) -> pl.DataFrame:
    import polars as pl

    frames = list(table.batches())
    if not sum(map(len, frames)):
        raise FileError(f"{table.name}: there is a header but no row")
    return pl.concat(frames)


def _read_through(table: TableSource) -> TableSource:
    for _ in table.batches():
        pass
    return table


def _openers() -> dict[str, Callable[[Path, str, ReadOptions], TableSource]]:
    from baytree.data.files.binary import open_excel, open_parquet
    from baytree.data.files.json import open_json, open_lines

    return {"Parquet": open_parquet, "NDJSON": open_lines, "Excel": open_excel, "JSON": open_json}


def _open_archive(path: Path, options: ReadOptions) -> TableSource:
    """Return the named or first table of a zip archive, with a note on the other tables."""
    from baytree.data.files.formats import member

    content, notes = member(path, options.sheet, TABLES)
    table = open_table(content, dataclasses.replace(options, sheet=None))
    return dataclasses.replace(table, notes=(*notes, *table.notes))  # type: ignore[type-var]


def _spool(stream: BinaryIO) -> Path:
    """Copy the stream to a temporary file, since a table may have to be read twice."""
    path = temporary.create_folder() / "table.csv"
    with path.open("wb") as spool:
        shutil.copyfileobj(stream, spool)
    return path
