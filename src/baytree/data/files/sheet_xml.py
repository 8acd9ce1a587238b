"""The XML of a workbook's sheets, read in pieces before the sheet is laid out as a rectangle of cells.

A sheet is stored as a list of cells, and the reader allocates every cell between the first and the last: one cell in the
last row and column asks for 17 billion. So its extent is measured first. Merged ranges are found on the way.
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

MOST_CELLS = 4_000_000  # of a rectangle, whatever is in it

MOST_PER_CELL = 25  # and cells of a rectangle for each that holds something

_MOST_XML = 16 << 20  # bytes of the list of sheets

_PIECE = 4 << 20

_OVERLAP = 64 << 10  # bytes of a piece that are looked at again: a tag may be cut in two

_NAME = rb"<(?:[\w.-]+:)?"

_ATTRIBUTES = rb"""((?:\s*[^\s=>/"']+\s*=\s*(?:"[^"]*"|'[^']*'))*)"""

_ANY_CELL = [begin + b"c" + end for begin in (b"<", b":") for end in (b" ", b">", b"\t", b"\n", b"\r")]

_USUAL_CELL = re.compile(rb'<c r="([A-Z]{1,3}[0-9]{1,7})"')  # as spreadsheets write it, also of one that is only formatted

_LETTERS, _DIGITS = bytes(range(65, 91)), bytes(range(48, 58))

_CELL = re.compile(_NAME + rb"c(?=[\s>])" + _ATTRIBUTES + rb"\s*>")  # not <c …/>: it has a format but no value

_ROW = re.compile(_NAME + rb"row(?=[\s>])" + _ATTRIBUTES + rb"\s*>")

_MERGED = re.compile(_NAME + rb"mergeCell(?=\s)" + _ATTRIBUTES)

_PLACE = re.compile(rb"""(?:^|[\s"'])r\s*=\s*["']\s*([A-Za-z]*)([0-9]*)""", re.MULTILINE)

_RANGE = re.compile(rb"""(?:^|[\s"'])ref\s*=\s*["']\$?([A-Za-z]+)\$?([0-9]+):\$?([A-Za-z]+)\$?([0-9]+)""")


class Extent(NamedTuple):
    """The rows and columns, from 1 on, between which a sheet holds something, and how many cells do."""

    first_row: int
    last_row: int
    first_column: int
    last_column: int
    n_cells: int

    @property
    def n_places(self) -> int:
        """The cells of the rectangle."""
        return (self.last_row - self.first_row + 1) * (self.last_column - self.first_column + 1)

    @property
    def is_too_large(self) -> bool:
        """Whether the rectangle is far larger than what it holds."""
        return self.n_places > max(MOST_CELLS, MOST_PER_CELL * self.n_cells)


class Range(NamedTuple):
    """A merged range, its rows and columns counted from 1."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int


def measure(path: Path, name: str, sheet: str) -> tuple[Extent | None, list[Range]]:
    """Return the extent of a sheet, None where it is empty, and its merged ranges.

    A sheet whose rectangle is far larger than its content is refused.
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


def _measured(pieces: Iterator[bytes], is_exact: bool) -> tuple[Extent | None, list[Range]]:
    rows, letters, merged, n_cells, n_rows, longest = set(), set(), set(), 0, 0, 0
    for piece in pieces:
        merged.update(_ranges(piece))
        if not is_exact and (usual := _usual_places(piece)) is not None:
            letters |= usual[0]
            rows |= usual[1]
            n_cells += usual[2]
            continue
        cells = _CELL.findall(piece)
        places = [place for place in _PLACE.findall(b"\n".join(cells)) if all(place)]
        n_cells += len(cells)
        letters.update(column for column, _ in places)
        rows.update(row for _, row in places)
        if len(places) < len(cells):  # cells without a place follow the one before, and rows without one the row before
            parts = _ROW.split(piece)
            rows.update(row for _, row in _PLACE.findall(b"\n".join(parts[1::2])) if row)
            n_rows, longest = n_rows + len(parts) // 2, max(longest, *(len(_CELL.findall(part)) for part in parts[::2]))
    if not n_cells:
        return None, []
    numbers, columns = [int(row) for row in rows] or [0], [_column(each) for each in letters] or [0]
    if longest:
        numbers, columns = [1, max(numbers) + n_rows], [1, max(columns) + longest]
    return Extent(min(numbers), max(numbers), min(columns), max(columns), n_cells), sorted(merged)


def _usual_places(piece: bytes) -> tuple[set[bytes], set[bytes], int] | None:
    """The columns and rows of the cells of a piece, and their number; None where a place is not written as usual.

    This is several times as fast as to read every attribute, but also counts cells that have only a format.
    """
    places = _USUAL_CELL.findall(piece)
    if len(places) != sum(map(piece.count, _ANY_CELL)):
        return None
    together = b" ".join(places)
    letters, rows = set(together.translate(None, _DIGITS).split()), set(together.translate(None, _LETTERS).split())
    return letters, rows, len(places)


def _ranges(piece: bytes) -> Iterator[Range]:
    for attributes in _MERGED.findall(piece) if b"mergeCell" in piece else ():
        if place := _RANGE.search(attributes):
            left, top, right, bottom = place.groups()
            yield Range(int(top), _column(left), int(bottom), _column(right))


def _pieces(path: Path, name: str, sheet: str) -> Iterator[bytes]:
    """The XML of a sheet, a piece at a time, each beginning with the end of the last one."""
    try:
        with zipfile.ZipFile(path) as book, book.open(_part_of(book, sheet)) as stream:
            rest = b""
            while piece := stream.read(_PIECE):
                yield rest + piece
                rest = (rest + piece)[-_OVERLAP:]
    except (zipfile.BadZipFile, KeyError, OSError, NotImplementedError, RuntimeError, ElementTree.ParseError) as error:
        raise FileError(f"{name}: this is not Excel, or the file is damaged or cut short ({error})") from None


def _part_of(book: zipfile.ZipFile, sheet: str) -> str:
    """The name of the part of the archive that holds a sheet."""
    names = {each.lower(): each for each in book.namelist()}
    key = next(
        (value for item in _elements(book, names["xl/workbook.xml"], "sheet") if item.get("name") == sheet
         for attribute, value in item.items() if attribute.endswith("}id")), None
    )  # fmt: skip
    links = _elements(book, names["xl/_rels/workbook.xml.rels"], "Relationship")
    target = next((link.get("Target") or "" for link in links if link.get("Id") == key), "")
    place = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")
    return names[place.lower()]


def _elements(book: zipfile.ZipFile, part: str, tag: str) -> list[ElementTree.Element]:
    with book.open(part) as stream:
        text = stream.read(_MOST_XML)
    return [item for item in ElementTree.fromstring(text).iter() if item.tag.rpartition("}")[2] == tag]


def _column(letters: bytes) -> int:
    """The number of a column by its letters, from 1 on.

    >>> _column(b"A"), _column(b"XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number
