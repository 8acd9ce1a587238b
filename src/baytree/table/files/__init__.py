"""Tables on disk: CSV, TSV, Parquet, JSON, NDJSON, Excel, zip and standard input, whole or in batches of bounded memory.

`source(path)` looks at a file and says how its columns are read; its `batches()` can be taken many times.
`attempt(source, work)` runs work over the batches, once more with wider types where a later value asks.

Text may be in UTF-8, UTF-16 or Windows-1252, its fields separated by `, ; TAB |` or blanks, whichever cuts its rows most
evenly. Lines above the header, a row of units below it, totals and remarks at the end are no rows (`arrangement`). Empty
fields are missing values, blank lines are skipped, blanks around values are trimmed; what all other words mean is decided
with the whole column (`table.infer`). Nothing is fetched from the network; a `*` in a name is just a star.
"""

from __future__ import annotations

import atexit
import dataclasses
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from baytree import notices
from baytree.table.files.asked import Asked
from baytree.table.files.conversion import as_read
from baytree.table.files.delimited import attempt, is_settled, open_delimited, passing_over
from baytree.table.files.errors import FileError, PathError
from baytree.table.notes import Note

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Asked",
    "FileError",
    "PathError",
    "Source",
    "all_rows",
    "attempt",
    "batches",
    "checked",
    "from_columns",
    "in_memory",
    "opened",
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
    def notes(self) -> tuple[Note, ...]:
        """What is told of how it is laid out."""

    @property
    def size(self) -> int | None:
        """How many bytes its batches will report to `progress`; None where that is not known."""

    def batches(self, progress: Callable[[int], Any] | None = None) -> Iterator[pl.DataFrame]:
        """Its rows; `progress` is told after each batch how many bytes of the file were read."""


def read(
    path: str | Path,
    decimal: str | None = None,
    missing: str | Sequence[str] | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    target: str | None = None,
    *,
    header: int | None = None,
    text: Iterable[str] = (),
    numbers: Iterable[str] = (),
) -> pl.DataFrame:
    """A table on disk as a polars frame, read as the command line reads it.

    Numbers with marks, units and signs of money become numbers, dates and times in any form become dates and times, words
    for no value become missing values; what was done is warned of.

    Parameters
    ----------
    path : str or path-like
        A file: CSV and its kin, Parquet, JSON, NDJSON, Excel, any of them in a zip, text also with gzip.
    decimal : {'.', ','}, optional
        The decimal mark of numbers; by default what the table itself tells.
    missing : str or sequence of str, optional
        Further words, or numbers, that stand for a missing value; a string may name several between commas.
    sheet : str, optional
        The sheet of a workbook, or the file in an archive; by default the first that holds something.
    encoding : str, optional
        The encoding of a text; by default UTF-8, UTF-16 or Windows-1252, whichever it is.
    target : str, optional
        A column that must be there; rows without a value in it are left out.
    header : int, optional
        The line of the header, the first being 1; 0 where there is none.
    text : iterable of str, default=()
        Columns that are taken as words.
    numbers : iterable of str, default=()
        Columns that are taken as plain numbers.

    Returns
    -------
    polars.DataFrame
        With every column of the table.

    Examples
    --------
    >>> import baytree as bt, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "prices.csv")
    >>> _ = path.write_text("size;price;day\\n1,5;1.234,50;13.02.2024\\n2,5;99,00;01.03.2024\\n")
    >>> bt.read(path).to_dicts()[0]
    {'size': 1.5, 'price': 1234.5, 'day': datetime.date(2024, 2, 13)}
    """
    words, text = _words(missing), frozenset(text)
    given = (text, frozenset(numbers), frozenset(), decimal or "", words, sheet, encoding, header)
    found = opened(path, Asked(*given))
    frame, notes = as_read(all_rows(found), decimal or "", text)
    for note in (*found.notes, *notes):
        notices.warn(str(note))
    if target is None:
        return frame
    if target not in frame.columns:
        columns = ", ".join(map(repr, frame.columns))
        raise ValueError(f"{found.name}: there is no column {target!r}; the columns are {columns}")
    return frame.filter(frame[target].is_not_null())


def _words(missing: str | Sequence[str] | None) -> tuple[str, ...]:
    given = missing.split(",") if isinstance(missing, str) else map(str, missing or ())
    return tuple(word.strip() for word in given)


def batches(path: str | Path, *, text: Iterable[str] = (), numbers: Iterable[str] = ()) -> Iterator[pl.DataFrame]:
    """The rows in frames of the same types throughout, of which a first reading of the file makes sure."""
    return checked(source(path, text=text, numbers=numbers)).batches()


def source(path: str | Path, *, text: Iterable[str] = (), numbers: Iterable[str] = ()) -> Source:
    """The file as a source of batches. `-` is CSV from standard input."""
    return opened(path, Asked(frozenset(text), frozenset(numbers)))


def opened(path: str | Path, asked: Asked) -> Source:
    """The file as a source of batches, read as asked. `-` is CSV from standard input."""
    path = Path(path)
    if str(path) == "-":
        return open_delimited(_spooled(sys.stdin.buffer), "standard input", asked)
    if path.is_fifo():
        with path.open("rb") as pipe:
            return open_delimited(_spooled(pipe), path.name, asked)
    kind = _format(path)
    _check_begins(path, kind)
    if kind == "zip":
        return _from_archive(path, asked)
    if kind == "text":
        return open_delimited(path, path.name, asked)
    return _openers()[kind](path, path.name, asked)


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
        raise FileError(f"{table.name}: there is a header but no row")
    return pl.concat(frames)


def _checked(table: Source) -> Source:
    for _ in table.batches():
        pass
    return table


_FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".data", ".dat", ".tab", ".asc", ".csv~"), "text"),
    **dict.fromkeys((".parquet", ".pq"), "Parquet"),
    **dict.fromkeys((".ndjson", ".jsonl"), "NDJSON"),
    **dict.fromkeys((".json",), "JSON"),
    **dict.fromkeys((".xlsx", ".xls", ".xlsb", ".xlsm", ".ods"), "Excel"),
    **dict.fromkeys((".zip",), "zip"),
}
_KNOWN = ".csv, .tsv, .parquet, .json, .ndjson, .xlsx, .zip or .csv.gz"


def _openers() -> dict[str, Callable[[Path, str, Asked], Source]]:
    from baytree.table.files.whole import open_excel, open_json, open_lines, open_parquet

    return {"Parquet": open_parquet, "NDJSON": open_lines, "Excel": open_excel, "JSON": open_json}


def _from_archive(path: Path, asked: Asked) -> Source:
    """The table in an archive: the one that is named, else the first; the others are told."""
    from baytree.table.files.archive import member

    content, notes = member(path, asked.sheet, frozenset(_FORMATS) - {".zip"})
    found = opened(content, dataclasses.replace(asked, sheet=None))
    return dataclasses.replace(found, notes=(*notes, *found.notes))  # type: ignore[type-var]


def _format(path: Path) -> str:
    if not path.exists():
        raise PathError(f"there is no file {str(path)!r}{_nearest(path)}")
    if not path.is_file():
        kind = "a folder" if path.is_dir() else "not an ordinary file"
        raise PathError(f"{str(path)!r} is {kind}; name a file that holds a table")
    suffix = Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix
    found = _FORMATS.get(suffix.lower())
    if found is None or (found != "text" and path.suffix.lower() == ".gz"):
        raise PathError(f"{path.name}: unknown kind of file; use {_KNOWN}")
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
    expected = "gzip" if path.suffix.lower() == ".gz" else {"NDJSON": "text", "JSON": "text", "zip": "Excel"}.get(kind, kind)
    if found != expected:
        what = "text" if found == "text" else f"a {found} file"
        raise FileError(f"{path.name}: the name says {expected}, but this is {what}; rename or convert it")


def _spooled(stream: BinaryIO) -> Path:
    """The stream as a file: a table may have to be read twice."""
    with tempfile.NamedTemporaryFile(suffix=".csv", delete=False) as spool:
        atexit.register(Path(spool.name).unlink, missing_ok=True)
        shutil.copyfileobj(stream, spool)
    return Path(spool.name)
