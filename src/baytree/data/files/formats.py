"""Detect the format of a file from its suffix and first bytes; extract a table from a zip archive."""

from __future__ import annotations

import shutil
import zipfile
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from baytree.data.files.options import FileError, PathError
from baytree.data.schema.notes import Note
from baytree.file_io import temporary

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

TABLES = frozenset(_FORMATS) - {".zip"}  # suffixes of tables in an archive

_KNOWN = ".csv, .tsv, .parquet, .json, .ndjson, .xlsx, .zip or .csv.gz"


def format_of(path: Path) -> str:
    """Return the format for the suffix; raise a PathError for a missing file, a folder or an unknown suffix."""
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
    close_matches = get_close_matches(path.name, names, 1)
    return f"; did you mean {str(folder / close_matches[0])!r}?" if close_matches else ""


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
    """Raise a FileError if the first bytes contradict the suffix; the parsers' own errors would be cryptic."""
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


_MAX_UNPACKED_BYTES = 64 << 30  # guards against zip bombs


def member(path: Path, requested: str | None, suffixes: frozenset[str]) -> tuple[Path, list[Note]]:
    """Extract the named or first table of an archive to a temporary file; return it with a note on the other tables."""
    try:
        with zipfile.ZipFile(path) as archive:
            tables = [each for each in archive.infolist() if _is_table(each.filename, suffixes)]
            chosen = _chosen(path.name, tables, requested)
            return _unpacked(archive, chosen), _others(chosen, tables) if requested is None else []
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError) as error:
        raise FileError(f"{path.name}: the archive is damaged or cut short ({error})") from None


def _is_table(name: str, suffixes: frozenset[str]) -> bool:
    member_path = Path(name)
    return (
        member_path.suffix.lower() in suffixes
        and not member_path.name.startswith(".")
        and "__MACOSX" not in member_path.parts
    )


def _chosen(name: str, tables: list[zipfile.ZipInfo], requested: str | None) -> zipfile.ZipInfo:
    if not tables:
        raise FileError(f"{name}: there is no table in the archive")
    if requested is None:
        return tables[0]
    found = [each for each in tables if requested in (each.filename, Path(each.filename).name)]
    if not found:
        raise FileError(f"{name}: there is no {requested!r}; there is {', '.join(each.filename for each in tables)}")
    return found[0]


def _unpacked(archive: zipfile.ZipFile, chosen: zipfile.ZipInfo) -> Path:
    if chosen.file_size > _MAX_UNPACKED_BYTES:
        raise FileError(f"{chosen.filename}: {chosen.file_size:,} bytes exceed the limit; unpack the archive")
    folder = temporary.create_folder()
    # base name only, so that paths in the archive cannot escape the folder
    target = Path(folder, Path(chosen.filename).name)
    with archive.open(chosen) as packed, target.open("wb") as stream:
        shutil.copyfileobj(packed, stream)
    return target


def _others(chosen: zipfile.ZipInfo, tables: list[zipfile.ZipInfo]) -> list[Note]:
    others = [each.filename for each in tables if each is not chosen]
    if not others:
        return []
    done = f"{chosen.filename!r} of the archive is read; there are also {', '.join(map(repr, others))}"
    return [Note("", done, 0, "sheet", others[0], is_doubtful=True)]
