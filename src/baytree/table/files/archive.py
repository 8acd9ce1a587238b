"""A table in a zip archive, unpacked to a file of its own."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from baytree import temporary_files
from baytree.table.files.errors import FileError
from baytree.table.notes import Note

MOST_BYTES = 64 << 30  # of what is unpacked: more is no table


def member(path: Path, wanted: str | None, suffixes: frozenset[str]) -> tuple[Path, list[Note]]:
    """The table of this name in an archive, else its first, as a file; and which others there are."""
    try:
        with zipfile.ZipFile(path) as archive:
            tables = [each for each in archive.infolist() if _is_table(each.filename, suffixes)]
            chosen = _chosen(path.name, tables, wanted)
            return _unpacked(archive, chosen), _others(chosen, tables) if wanted is None else []
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError) as error:
        raise FileError(f"{path.name}: the archive is damaged or cut short ({error})") from None


def _is_table(name: str, suffixes: frozenset[str]) -> bool:
    place = Path(name)
    return place.suffix.lower() in suffixes and not place.name.startswith(".") and "__MACOSX" not in place.parts


def _chosen(name: str, tables: list[zipfile.ZipInfo], wanted: str | None) -> zipfile.ZipInfo:
    if not tables:
        raise FileError(f"{name}: there is no table in the archive")
    if wanted is None:
        return tables[0]
    found = [each for each in tables if wanted in (each.filename, Path(each.filename).name)]
    if not found:
        raise FileError(f"{name}: there is no {wanted!r}; there is {', '.join(each.filename for each in tables)}")
    return found[0]


def _unpacked(archive: zipfile.ZipFile, chosen: zipfile.ZipInfo) -> Path:
    if chosen.file_size > MOST_BYTES:
        raise FileError(f"{chosen.filename}: {chosen.file_size:,} bytes are too many; unpack the archive")
    folder = temporary_files.create_folder()
    place = Path(folder, Path(chosen.filename).name)  # its own name, so that no path in the archive is followed
    with archive.open(chosen) as packed, place.open("wb") as stream:
        shutil.copyfileobj(packed, stream)
    return place


def _others(chosen: zipfile.ZipInfo, tables: list[zipfile.ZipInfo]) -> list[Note]:
    others = [each.filename for each in tables if each is not chosen]
    if not others:
        return []
    done = f"{chosen.filename!r} of the archive is read; there are also {', '.join(map(repr, others))}"
    return [Note("", done, 0, "sheet", others[0], is_doubtful=True)]
