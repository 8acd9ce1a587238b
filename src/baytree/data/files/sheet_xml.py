"""Measure the extent and merged ranges of a workbook sheet from its XML, in pieces, before the sheet is loaded.

A sheet is stored as a list of cells, but the reader allocates the whole rectangle between the first and the last cell: a
single cell in the last row and column would need 17 billion cells. So the extent is checked first.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from baytree.data.files.options import FileError

_MAX_AREA = 4_000_000  # cells of the rectangle around all values that are always accepted

_MAX_AREA_PER_CELL = 25  # of a larger rectangle, cells per non-empty cell

_MAX_XML_BYTES = 16 << 20  # bytes of the list of sheets

_PIECE_BYTES = 4 << 20

_OVERLAP_BYTES = 64 << 10  # bytes repeated between pieces, since a tag may be split

_NAME = rb"<(?:[\w.-]+:)?"

_ATTRIBUTES = rb"""((?:\s*[^\s=>/"']+\s*=\s*(?:"[^"]*"|'[^']*'))*)"""

_ANY_CELL = [begin + b"c" + end for begin in (b"<", b":") for end in (b" ", b">", b"\t", b"\n", b"\r")]

# as spreadsheets write it, also for cells with a format but no value
_USUAL_CELL = re.compile(rb'<c r="([A-Z]{1,3}[0-9]{1,7})"')

_LETTERS, _DIGITS = bytes(range(65, 91)), bytes(range(48, 58))

_CELL = re.compile(_NAME + rb"c(?=[\s>])" + _ATTRIBUTES + rb"\s*>")  # excludes <c …/>, which has a format but no value

_ROW = re.compile(_NAME + rb"row(?=[\s>])" + _ATTRIBUTES + rb"\s*>")

_MERGED = re.compile(_NAME + rb"mergeCell(?=\s)" + _ATTRIBUTES)

_REFERENCE = re.compile(rb"""(?:^|[\s"'])r\s*=\s*["']\s*([A-Za-z]*)([0-9]*)""", re.MULTILINE)

_RANGE = re.compile(rb"""(?:^|[\s"'])ref\s*=\s*["']\$?([A-Za-z]+)\$?([0-9]+):\$?([A-Za-z]+)\$?([0-9]+)""")


class SheetExtent(NamedTuple):
    """Bounding rectangle of the non-empty cells of a sheet (rows and columns from 1), and their number."""

    first_row: int
    last_row: int
    first_column: int
    last_column: int
    n_cells: int

    @property
    def n_places(self) -> int:
        """Number of cells of the rectangle."""
        return (self.last_row - self.first_row + 1) * (self.last_column - self.first_column + 1)

    @property
    def is_too_large(self) -> bool:
        """Whether the rectangle is far larger than its content."""
        return self.n_places > max(_MAX_AREA, _MAX_AREA_PER_CELL * self.n_cells)


class Range(NamedTuple):
    """Merged range; rows and columns count from 1."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int


def measure(path: Path, name: str, sheet: str) -> tuple[SheetExtent | None, list[Range]]:
    """Return the extent of a sheet, None if it is empty, and its merged ranges.

    Raise a FileError if the rectangle is far larger than its content.
    """
    extent, merged = _measured(_pieces(path, name, sheet), is_exact=False)
    if extent is not None and (extent.is_too_large or merged):
        extent, merged = _measured(_pieces(path, name, sheet), is_exact=True)
    if extent is not None and extent.is_too_large:
        raise FileError(
            f"{name}: sheet {sheet!r} has {extent.n_cells:,} cells spread over {extent.last_row - extent.first_row + 1:,} "
            f"rows and {extent.last_column - extent.first_column + 1:,} columns; delete the cells far from the table"
        )
    return extent, merged


def _measured(pieces: Iterator[bytes], is_exact: bool) -> tuple[SheetExtent | None, list[Range]]:
    rows, letters, merged, n_cells, n_rows, longest = set(), set(), set(), 0, 0, 0
    for piece in pieces:
        merged.update(_ranges(piece))
        if not is_exact and (usual := _usual_references(piece)) is not None:
            letters |= usual[0]
            rows |= usual[1]
            n_cells += usual[2]
            continue
        cells = _CELL.findall(piece)
        references = [position for position in _REFERENCE.findall(b"\n".join(cells)) if all(position)]
        n_cells += len(cells)
        letters.update(column for column, _ in references)
        rows.update(row for _, row in references)
        if len(references) < len(cells):  # cells and rows without a reference follow the previous one
            parts = _ROW.split(piece)
            rows.update(row for _, row in _REFERENCE.findall(b"\n".join(parts[1::2])) if row)
            n_rows, longest = n_rows + len(parts) // 2, max(longest, *(len(_CELL.findall(part)) for part in parts[::2]))
    if not n_cells:
        return None, []
    numbers, columns = [int(row) for row in rows] or [0], [_column(each) for each in letters] or [0]
    if longest:
        numbers, columns = [1, max(numbers) + n_rows], [1, max(columns) + longest]
    return SheetExtent(min(numbers), max(numbers), min(columns), max(columns), n_cells), sorted(merged)


def _usual_references(piece: bytes) -> tuple[set[bytes], set[bytes], int] | None:
    """Return the columns and rows of the cells of a piece, and their number; None if a reference has an unusual form.

    This is several times faster than parsing all attributes, but also counts cells that have only a format.
    """
    references = _USUAL_CELL.findall(piece)
    if len(references) != sum(map(piece.count, _ANY_CELL)):
        return None
    together = b" ".join(references)
    letters, rows = set(together.translate(None, _DIGITS).split()), set(together.translate(None, _LETTERS).split())
    return letters, rows, len(references)


def _ranges(piece: bytes) -> Iterator[Range]:
    for attributes in _MERGED.findall(piece) if b"mergeCell" in piece else ():
        if reference := _RANGE.search(attributes):
            left, top, right, bottom = reference.groups()
            yield Range(int(top), _column(left), int(bottom), _column(right))


def _pieces(path: Path, name: str, sheet: str) -> Iterator[bytes]:
    """Yield the XML of a sheet in pieces; each repeats the end of the previous one."""
    try:
        with zipfile.ZipFile(path) as book, book.open(_part_of(book, sheet)) as stream:
            rest = b""
            while piece := stream.read(_PIECE_BYTES):
                yield rest + piece
                rest = (rest + piece)[-_OVERLAP_BYTES:]
    except (zipfile.BadZipFile, KeyError, OSError, NotImplementedError, RuntimeError, ElementTree.ParseError) as error:
        raise FileError(f"{name}: this is not Excel, or the file is damaged or cut short ({error})") from None


def _part_of(book: zipfile.ZipFile, sheet: str) -> str:
    """Return the archive member that holds a sheet."""
    names = {each.lower(): each for each in book.namelist()}
    key = next(
        (value for item in _elements(book, names["xl/workbook.xml"], "sheet") if item.get("name") == sheet
         for attribute, value in item.items() if attribute.endswith("}id")), None
    )  # fmt: skip
    links = _elements(book, names["xl/_rels/workbook.xml.rels"], "Relationship")
    target = next((link.get("Target") or "" for link in links if link.get("Id") == key), "")
    member = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")
    return names[member.lower()]


def _elements(book: zipfile.ZipFile, part: str, tag: str) -> list[ElementTree.Element]:
    with book.open(part) as stream:
        text = stream.read(_MAX_XML_BYTES)
    return [item for item in ElementTree.fromstring(text).iter() if item.tag.rpartition("}")[2] == tag]


def _column(letters: bytes) -> int:
    """Return the number of a column, from 1, for its letters.

    >>> _column(b"A"), _column(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number
