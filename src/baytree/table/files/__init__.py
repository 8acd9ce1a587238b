"""Tables on disk: CSV, TSV, Parquet, NDJSON, Excel and standard input, whole or in batches of bounded memory.

`source(path)` looks at a file and says how its columns are read; its `batches()` can be taken many times.
`attempt(source, work)` runs work over the batches, once more with wider types where a later value asks.

In text files and spreadsheets the empty field, `?`, `NA`, `N/A`, `NaN`, `nan`, `null` and `NULL` are missing
values, in every column, quoted or not. Blank lines are skipped, and blanks around values are trimmed. The
separator is the one of `, ; TAB |` that the header uses most. Nothing is fetched from the network; a `*` in a
name is just a star.
"""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from baytree.table.files.delimited import attempt, is_settled, open_delimited, passing_over
from baytree.table.files.errors import FileError, PathError

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "FileError",
    "PathError",
    "Source",
    "all_rows",
    "attempt",
    "batches",
    "checked",
    "from_columns",
    "in_memory",
    "passing_over",
    "read",
    "source",
    "to_csv",
]


class Source(Protocol):
    """A table that can be read in batches, from the beginning, as often as wanted."""

    @property
    def name(self) -> str:
        """What it is called in messages."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""

    @property
    def size(self) -> int | None:
        """How many bytes its batches will report to `progress`; None where that is not known."""

    def batches(self, progress: Callable[[int], Any] | None = None) -> Iterator[pl.DataFrame]:
        """Its rows; `progress` is told after each batch how many bytes of the file were read."""


def read(path: str | Path, *, text: Iterable[str] = (), numbers: Iterable[str] = ()) -> pl.DataFrame:
    """The whole table as a polars frame. Columns named in `text` or `numbers` are read as that."""
    return all_rows(source(path, text=text, numbers=numbers))


def batches(path: str | Path, *, text: Iterable[str] = (), numbers: Iterable[str] = ()) -> Iterator[pl.DataFrame]:
    """The rows in frames of the same types throughout, of which a first reading of the file makes sure."""
    return checked(source(path, text=text, numbers=numbers)).batches()


def source(path: str | Path, *, text: Iterable[str] = (), numbers: Iterable[str] = ()) -> Source:
    """The file as a source of batches. `-` is CSV from standard input."""
    path, asked = Path(path), (frozenset(text), frozenset(numbers))
    if str(path) == "-":
        return open_delimited(_spooled(sys.stdin.buffer), "standard input", *asked)
    if path.is_fifo():
        with path.open("rb") as pipe:
            return open_delimited(_spooled(pipe), path.name, *asked)
    kind = _format(path)
    _check_begins(path, kind)
    if kind == "text":
        return open_delimited(path, path.name, *asked)
    return _openers()[kind](path, path.name)


def all_rows(table: Source) -> pl.DataFrame:
    """All rows of a source as a polars frame, of types that hold for every one of them."""
    return attempt(table, _whole)


def checked(table: Source) -> Source:
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


def in_memory(name: str, frame: pl.DataFrame) -> Source:
    """A frame as a source."""
    from baytree.table.files.whole import Frame

    return Frame(name, frame)


def _rewritten(column: pl.Series, shown: Callable[[str], str]) -> pl.Series:
    import polars as pl

    if column.dtype != pl.String:
        return column
    texts = column.drop_nulls().unique().to_list()
    changed = {text: shown(text) for text in texts if shown(text) != text}
    return column.replace(changed) if changed else column


def _whole(table: Source) -> pl.DataFrame:
    import polars as pl

    frames = list(table.batches())
    if not sum(map(len, frames)):
        raise FileError(f"{table.name}: there is no row")
    return pl.concat(frames)


def _checked(table: Source) -> Source:
    for _ in table.batches():
        pass
    return table


_FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".data"), "text"),
    **dict.fromkeys((".parquet", ".pq"), "Parquet"),
    **dict.fromkeys((".ndjson", ".jsonl"), "NDJSON"),
    **dict.fromkeys((".xlsx", ".xls", ".xlsb", ".ods"), "Excel"),
}


def _openers() -> dict[str, Callable[[Path, str], Source]]:
    from baytree.table.files.whole import open_excel, open_lines, open_parquet

    return {"Parquet": open_parquet, "NDJSON": open_lines, "Excel": open_excel}


def _format(path: Path) -> str:
    if not path.exists():
        raise PathError(f"there is no file {str(path)!r}{_nearest(path)}")
    if not path.is_file():
        kind = "a folder" if path.is_dir() else "not an ordinary file"
        raise PathError(f"{str(path)!r} is {kind}; name a file that holds a table")
    suffix = Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix
    found = _FORMATS.get(suffix.lower())
    if found is None or (found != "text" and path.suffix.lower() == ".gz"):
        known = ".csv, .tsv, .parquet, .ndjson, .xlsx or .csv.gz"
        raise PathError(f"{path.name}: unknown kind of file; use {known}")
    return found


def _nearest(path: Path) -> str:
    folder = path.parent
    names = [file.name for file in folder.iterdir()] if folder.is_dir() else []
    near = get_close_matches(path.name, names, 1)
    return f"; did you mean {str(folder / near[0])!r}?" if near else ""


_BEGINNINGS = {
    b"PAR1": "Parquet",
    b"PK\x03\x04": "Excel",
    b"\xd0\xcf\x11\xe0": "Excel",
    b"\x1f\x8b": "gzip",
    b"%PDF": "PDF",
    b"SQLite": "SQLite",
    b"ARROW1": "Arrow",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


def _check_begins(path: Path, kind: str) -> None:
    """Refuse a file whose first bytes belie its name: the parsers would answer with a riddle."""
    try:
        with path.open("rb") as stream:
            first = stream.read(8)
    except OSError as error:
        raise FileError(f"{path.name}: cannot be read ({error.strerror})") from None
    if not first:
        raise FileError(f"{path.name}: the file is empty")
    found = next((name for begin, name in _BEGINNINGS.items() if first.startswith(begin)), "text")
    expected = "gzip" if path.suffix.lower() == ".gz" else {"NDJSON": "text"}.get(kind, kind)
    if found == "UTF-16":
        raise FileError(f"{path.name}: the text is UTF-16; save it as CSV with the encoding UTF-8")
    if found != expected:
        what = "text" if found == "text" else f"a {found} file"
        raise FileError(f"{path.name}: the name says {expected}, but this is {what}; rename or convert it")


def _spooled(stream: BinaryIO) -> Path:
    """The stream as a file: a table may have to be read twice."""
    with tempfile.NamedTemporaryFile(suffix=".csv", delete=False) as spool:
        atexit.register(Path(spool.name).unlink, missing_ok=True)
        shutil.copyfileobj(stream, spool)
    return Path(spool.name)
