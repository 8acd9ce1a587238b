"""How a file of delimited text is laid out: its header, what separates its fields, and its rows in blocks."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from baytree import notices
from baytree.table.files import blocks
from baytree.table.files.errors import FileError

REMEDY = "save it as CSV with the encoding UTF-8"


def header(path: Path, name: str) -> str:
    """The first record of the file, as text."""
    block = next(_blocks(path, name, blocks.BLOCK), b"")
    first = block[: blocks.first_end(block)]
    if not block.strip():
        raise FileError(f"{name}: the file is empty")
    if b"\0" in first:
        raise FileError(f"{name}: this is not a text file (it holds NUL bytes); {REMEDY}")
    if b"\n" not in block and b"\r" in block.strip():
        raise FileError(f"{name}: its lines end in CR only, as on old Macs; save it with LF line ends")
    try:
        return first.decode()
    except UnicodeDecodeError as error:
        byte = first[error.start]
        raise FileError(f"{name}: the header is not UTF-8 (byte 0x{byte:02x}); {REMEDY}") from None


def separator(header: str, path: Path) -> str:
    """What separates the fields: a tab in `.tsv`, elsewhere what the header uses most."""
    if ".tsv" in path.suffixes:
        return "\t"
    return max(",;\t|", key=lambda mark: blocks.separators(header.encode(), mark.encode()))


def names(header: str, separator: str, name: str) -> list[str]:
    """The names of the columns, no two the same; the first is empty where it only numbers the rows."""
    fields = next(csv.reader(io.StringIO(header, newline=""), delimiter=separator))
    found = [field.strip() for field in fields]
    if not found[0] and len(found) > 1:
        sentence = f"{name}: the first column has no name; it is taken for row numbers and left out"
        notices.warn(sentence)
    found[1:] = [column or f"column_{i}" for i, column in enumerate(found[1:], start=2)]
    twice = next((column for i, column in enumerate(found) if column in found[:i]), None)
    if twice is not None:
        first, second, *_ = (i for i, column in enumerate(found, start=1) if column == twice)
        places = f"columns {first} and {second}"
        raise FileError(f"{name}: two columns are called {twice!r} ({places}); rename one")
    return found


def bodies(path: Path, name: str, size: int) -> Iterator[bytes]:
    """The blocks of the file after its header."""
    for i, block in enumerate(_blocks(path, name, size)):
        rows = block if i else block[blocks.first_end(block) :]
        if rows and not rows.isspace():
            yield rows


def _blocks(path: Path, name: str, size: int) -> Iterator[bytes]:
    """The blocks of the file from its header on."""
    try:
        with _open(path) as stream:
            for i, block in enumerate(blocks.blocks(stream, name, size)):
                yield block if i else block.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileError(f"{name}: the compressed file is damaged or cut short ({error})") from None


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path) if path.suffix == ".gz" else open(path, "rb", buffering=0))
