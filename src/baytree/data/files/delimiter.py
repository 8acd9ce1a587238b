"""What separates the fields of a text, and its records.

How a file of delimited text is laid out: its encoding, what separates its fields, where its rows begin and end.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from baytree.data.files import blocks, encodings
from baytree.data.files import header as header_detection
from baytree.data.files.encodings import TextFile
from baytree.data.files.options import FileError
from baytree.data.schema.notes import Note

MARKS = ",;\t|"

_COMMENT = re.compile(r"\s*(?:#|//|%|!|--|sep=).*")


def separator_of(head: str, path: Path) -> tuple[str, bool]:
    """What separates fields, and whether these are runs of blanks: a tab in `.tsv`, else what cuts rows most evenly."""
    if ".tsv" in path.suffixes:
        return "\t", False
    lines = [line for line in head.splitlines() if line.strip() and not _COMMENT.fullmatch(line)][:200]
    declared = re.match(r"sep=(.)", head.lstrip("\ufeff"))
    if declared and declared[1] in MARKS:
        return declared[1], False
    best = max(MARKS, key=lambda mark: _evenness(lines, mark))
    if _evenness(lines, best)[0] == 0 and _is_cut_by_blanks(lines):
        return "\t", True
    return best, False


def _evenness(lines: Sequence[str], mark: str) -> tuple[float, int]:
    """The share of rows that have as many fields as most, at least two; and how many fields."""
    rows = [row for row in _quietly(csv.reader(io.StringIO("\n".join(lines), newline=""), delimiter=mark)) if row]
    width = header_detection.modal_width(rows)
    if width < 2:
        wide = max(map(len, rows), default=1)
        return (0.0, 0) if wide < 2 or len(rows) > 2 else (0.01, wide)
    return sum(len(row) == width for row in rows) / len(rows), width


def _is_cut_by_blanks(lines: Sequence[str]) -> bool:
    rows = [line.split() for line in lines]
    width = header_detection.modal_width(rows[1:])
    even = len(rows) > 2 and sum(len(row) == width for row in rows[1:]) >= 0.95 * len(rows[1:])
    has_numbers = all(any(map(header_detection.is_amount, row)) for row in rows[1:])
    return width > 1 and even and len(rows[0]) in (width, width - 1) and has_numbers


def records(head: str, mark: str) -> tuple[list[list[str]], list[tuple[int, int]]]:
    """The records of a text, and where each begins and ends; comment lines at the top and empty rows are not among them."""
    at = 1 if head.startswith("\ufeff") else 0
    lines = _lines(head[at:])
    skipped = next((k for k, line in enumerate(lines) if line.strip() and not _COMMENT.fullmatch(line.strip())), 0)
    at += sum(map(len, lines[:skipped]))
    ends = [at]
    for line in lines[skipped:]:
        ends.append(ends[-1] + len(line))
    rows, spans, reader, begins = [], [], csv.reader(lines[skipped:], delimiter=mark), 0
    for row in _quietly(reader):
        if any(cell.strip() for cell in row):
            rows.append(row)
            spans.append((ends[begins], ends[reader.line_num]))
        begins = reader.line_num
    return rows, spans


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _quietly(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """The records as far as they can be read: `csv` refuses fields beyond its limit, as a wide row without its separator."""
    while True:
        try:
            yield next(reader)
        except (StopIteration, csv.Error):
            return


def records_of_tail(tail: str, mark: str) -> tuple[list[list[str]], list[int]]:
    lines = _lines(tail)
    ends = [0]
    for line in lines:
        ends.append(ends[-1] + len(line))
    rows, starts, reader, begins = [], [], csv.reader(lines, delimiter=mark), 0
    for row in _quietly(reader):
        rows.append(row)
        starts.append(ends[begins])
        begins = reader.line_num
    return rows, starts


TAIL = 64 << 10  # bytes in which remarks and totals are looked for


@dataclass(frozen=True)
class DelimitedLayout:
    """Where the rows of a text are, in bytes of UTF-8, and what separates their fields."""

    text: TextFile
    separator: str
    names: tuple[str, ...]
    start: int  # of the first row
    n_lines: int  # before it
    footer: int = 0  # bytes at the end that are no rows
    header: bytes = b""  # the line of the header, which may stand again among the rows
    notes: tuple[Note, ...] = ()


def detect_layout(
    path: Path, name: str, encoding: str | None = None, header: int | None = None, kept: Sequence[str] = ()
) -> DelimitedLayout:
    """The layout of a file; `encoding` and `header` (its row, 0 for none) where they are declared."""
    text, notes = encodings.looked_at(path, name, encoding)
    head = encodings.head_of(text)
    mark, by_blanks = separator_of(head, path)
    if by_blanks:
        text = TextFile(path, name, text.encoding, text.has_bare_cr, True)
        head = encodings.head_of(text)
        notes.append(Note("", "fields are separated by blanks", 0))
    rows, spans = records(head, mark)
    if not rows:
        raise FileError(f"{name}: the file is empty")
    found = header_detection.detect_sheet_layout(rows, header)
    cells = rows[found.header] if found.header is not None else rows[0]
    cells = ["", *cells] if found.has_row_names else cells
    names, told = header_detection.names(cells, found.width, found.header is not None, kept)
    above = head[: spans[found.first][0] if found.header is None else spans[found.first - 1][1]]
    start = len(above.encode())
    footer, below = _footer(text, mark, start, len(names))
    line = b"" if found.header is None else head[slice(*spans[found.header])].strip("\r\n").encode()
    notes += _again(head[len(above) :], line) + _escapes(head)
    return DelimitedLayout(
        text, mark, tuple(names), start, above.count("\n"), footer, line, (*notes, *found.notes, *told, *below)
    )


def bodies(layout: DelimitedLayout, size: int) -> Iterator[bytes]:
    """The blocks of the file after its header, without what stands below its rows."""
    held = b""
    for block in _blocks(layout, size):
        if held:
            yield held
        held = block
    held = held[: len(held) - layout.footer] if layout.footer else held
    if held and not held.isspace():
        yield held


def _blocks(layout: DelimitedLayout, size: int) -> Iterator[bytes]:
    text = layout.text
    try:
        with encodings.opened(text) as stream:
            for block in blocks.blocks(encodings.from_byte(stream, layout.start), text.name, size, lines=layout.n_lines):
                rows = _without(block, layout.header)
                if not rows.isspace():
                    yield rows
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileError(f"{text.name}: the compressed file is damaged or cut short ({error})") from None


def _again(body: str, header: bytes) -> list[Note]:
    """What is told where the header stands again among the rows, as in files that were put together."""
    n = body.encode().count(b"\n" + header) if len(header) > 2 else 0
    rows = "1 row" if n == 1 else f"{n} rows"
    return [Note("", f"the header stands again among the rows, and is left out there ({rows})")] if n else []


def _without(block: bytes, header: bytes) -> bytes:
    if len(header) < 3 or header not in block:
        return block
    return re.sub(rb"(?m)^" + re.escape(header) + rb"\r?(?:\n|\Z)", b"", block)


def _escapes(head: str) -> list[Note]:
    if not blocks.has_escapes(head.encode()):
        return []
    return [Note("", "quote marks inside fields stand behind a backslash, and are read as quote marks")]


def _footer(text: TextFile, mark: str, start: int, width: int) -> tuple[int, list[Note]]:
    """How many bytes at the end are no rows of the table, and what is told; of small files, and large ones in UTF-8."""
    tail = _tail(text, start)
    if tail is None:
        return 0, []
    rows, starts = records_of_tail(tail, mark)
    n, notes = header_detection.footers(rows, width)
    return (len(tail[starts[-n] :].encode()), notes) if n else (0, [])


def _tail(text: TextFile, start: int) -> str | None:
    size = text.path.stat().st_size
    is_plain = text.encoding == "utf-8" and text.path.suffix != ".gz" and not text.has_bare_cr and not text.by_blanks
    with encodings.opened(text) as stream:
        if size > 8 * TAIL:
            if not is_plain and size > blocks.BLOCK:
                return None
            if is_plain:
                stream.seek(size - TAIL)
                piece = stream.read(TAIL)
                return piece[piece.find(b"\n") + 1 :].decode("utf-8", "replace")
        rows = _last(encodings.from_byte(stream, start))
    return rows.decode("utf-8", "replace") if rows is not None and b"\xff" not in rows else None


def _last(stream: BinaryIO) -> bytes | None:
    """The last whole lines of a stream, all of it where it is short; None where a line is too long to look for remarks.

    Nothing more is held in memory: a small compressed file may be a very large one.
    """
    kept, is_cut, open_line = b"", False, 0
    while piece := stream.read(blocks.BLOCK):
        end = piece.rfind(b"\n") + 1
        open_line = len(piece) - end + (0 if end else open_line)
        if open_line > blocks.LONGEST_RECORD:
            return None
        kept += piece
        is_cut = is_cut or len(kept) > TAIL
        kept = kept[-TAIL:]
    if not is_cut:
        return kept
    return kept[kept.find(b"\n") + 1 :] if b"\n" in kept else None
