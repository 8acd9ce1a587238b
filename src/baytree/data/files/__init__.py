"""Tables on disk: CSV, TSV, Parquet, JSON, NDJSON, Excel, zip and standard input, whole or in batches of bounded memory.

`source(path)` looks at a file and says how its columns are read; its `batches()` can be taken many times.
`attempt(source, work)` runs work over the batches, once more with wider types where a later value asks.

Text may be in UTF-8, UTF-16 or Windows-1252, its fields separated by `, ; TAB |` or blanks, whichever cuts its rows most
evenly. Lines above the header, a row of units below it, totals and remarks at the end are no rows (`arrangement`). Empty
fields are missing values, blank lines are skipped, blanks around values are trimmed; what all other words mean is decided
with the whole column (`table.infer`). Nothing is fetched from the network; a `*` in a name is just a star.
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
    "opened_with",
    "read_all",
    "read_as_text",
    "settle_types",
    "source",
    "to_csv",
]


class TableSource(Protocol):
    """A table that can be read in batches, from the beginning, as often as wanted."""

    @property
    def name(self) -> str:
        """What it is called in messages."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""

    @property
    def notes(self) -> tuple[Note, ...]:
        """What is told of how it is laid out."""

    @property
    def size(self) -> int | None:
        """How many bytes its batches will report to `progress`; None where that is not known."""

    def batches(self, progress: Callable[[int], Any] | None = None) -> Iterator[pl.DataFrame]:
        """Its rows; `progress` is told after each batch how many bytes of the file were read."""


def batches(path: str | Path, *, text: Iterable[str] = (), numbers: Iterable[str] = ()) -> Iterator[pl.DataFrame]:
    """The rows in frames of the same types throughout, of which a first reading of the file makes sure."""
    return settle_types(source(path, text=text, numbers=numbers)).batches()


def source(path: str | Path, *, text: Iterable[str] = (), numbers: Iterable[str] = ()) -> TableSource:
    """The file as a source of batches. `-` is CSV from standard input."""
    return open_table(path, ReadOptions(frozenset(text), frozenset(numbers)))


def open_table(path: str | Path, asked: ReadOptions) -> TableSource:
    """The file as a source of batches, read as asked. `-` is CSV from standard input."""
    path = Path(path)
    if str(path) == "-":
        return open_delimited(_spooled(sys.stdin.buffer), "standard input", asked)
    if path.is_fifo():
        with path.open("rb") as pipe:
            return open_delimited(_spooled(pipe), path.name, asked)
    kind = format_of(path)
    check_begins(path, kind)
    if kind == "zip":
        return _from_archive(path, asked)
    if kind == "text":
        return open_delimited(path, path.name, asked)
    return _openers()[kind](path, path.name, asked)


def opened_with(path: str | Path, asked: ReadOptions, column: str) -> TableSource:
    """The file as a source of batches; of a workbook the first sheet that has the column, unless a sheet is named."""
    found = open_table(path, asked)
    if column in found.columns or asked.sheet is not None or str(path) == "-" or format_of(Path(path)) != "Excel":
        return found
    from baytree.data.files.binary import sheet_names

    for sheet in sheet_names(Path(path), Path(path).name):
        try:
            other = open_table(path, dataclasses.replace(asked, sheet=sheet))
        except FileError:  # it is empty
            continue
        if column in other.columns:
            note = Note("", f"the sheet {sheet!r} is read, which has the column {column!r}", is_doubtful=True)
            return dataclasses.replace(other, notes=(note, *other.notes))  # type: ignore[type-var]
    return found


def read_all(table: TableSource) -> pl.DataFrame:
    """All rows of a source as a polars frame, of types that hold for every one of them."""
    return attempt(table, _whole)


def settle_types(table: TableSource) -> TableSource:
    """The source with types that hold for all of its rows, of which a first reading makes sure where they are inferred."""
    return table if is_settled(table) else attempt(table, _checked)


def from_columns(columns: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """Columns in memory as a frame."""
    import polars as pl

    return pl.DataFrame(columns, strict=False)


def to_csv(columns: Mapping[str, Sequence[Any]], shown: Callable[[str], str], has_header: bool = True) -> str:
    """Columns as CSV text; `shown` is asked once for each different text how it is to be written."""
    frame = from_columns(columns)
    return frame.with_columns(_rewritten(column, shown) for column in frame).write_csv(include_header=has_header)


def in_memory(name: str, frame: pl.DataFrame) -> TableSource:
    """A frame as a source."""
    from baytree.data.files.binary import FrameSource

    return FrameSource(name, frame)


def _rewritten(column: pl.Series, shown: Callable[[str], str]) -> pl.Series:
    import polars as pl

    if column.dtype != pl.String:
        return column
    texts = column.drop_nulls().unique().to_list()
    changed = {text: shown(text) for text in texts if shown(text) != text}
    return column.replace(changed) if changed else column


def _whole(table: TableSource) -> pl.DataFrame:
    import polars as pl

    frames = list(table.batches())
    if not sum(map(len, frames)):
        raise FileError(f"{table.name}: there is a header but no row")
    return pl.concat(frames)


def _checked(table: TableSource) -> TableSource:
    for _ in table.batches():
        pass
    return table


def _openers() -> dict[str, Callable[[Path, str, ReadOptions], TableSource]]:
    from baytree.data.files.binary import open_excel, open_parquet
    from baytree.data.files.json import open_json, open_lines

    return {"Parquet": open_parquet, "NDJSON": open_lines, "Excel": open_excel, "JSON": open_json}


def _from_archive(path: Path, asked: ReadOptions) -> TableSource:
    """The table in an archive: the one that is named, else the first; the others are told."""
    from baytree.data.files.formats import member

    content, notes = member(path, asked.sheet, TABLES)
    found = open_table(content, dataclasses.replace(asked, sheet=None))
    return dataclasses.replace(found, notes=(*notes, *found.notes))  # type: ignore[type-var]


def _spooled(stream: BinaryIO) -> Path:
    """The stream as a file: a table may have to be read twice."""
    path = temporary.create_folder() / "table.csv"
    with path.open("wb") as spool:
        shutil.copyfileobj(stream, spool)
    return path
