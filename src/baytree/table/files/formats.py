"""Which format a file has, by its name and its first bytes."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from baytree.table.files.errors import FileError, PathError

if TYPE_CHECKING:
    pass


_FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".data", ".dat", ".tab", ".asc", ".csv~"), "text"),
    **dict.fromkeys((".parquet", ".pq"), "Parquet"),
    **dict.fromkeys((".ndjson", ".jsonl"), "NDJSON"),
    **dict.fromkeys((".json",), "JSON"),
    **dict.fromkeys((".xlsx", ".xls", ".xlsb", ".xlsm", ".ods"), "Excel"),
    **dict.fromkeys((".zip",), "zip"),
}
TABLES = frozenset(_FORMATS) - {".zip"}  # what an archive may hold
_KNOWN = ".csv, .tsv, .parquet, .json, .ndjson, .xlsx, .zip or .csv.gz"


def format_of(path: Path) -> str:
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


def check_begins(path: Path, kind: str) -> None:
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
