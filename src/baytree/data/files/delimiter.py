"""Detect the layout of delimited text: separator, header, first row and footer.

The separator is the one that splits the rows most evenly, or runs of blanks. `detect_layout` combines it with the
encoding (`encodings`) and the header (`header`); `bodies` yields the blocks of rows.
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

_SEPARATORS = ",;\t|"

_COMMENT = re.compile(r"\s*(?:#|//|%|!|--|sep=).*")


def separator_of(head: str, path: Path) -> tuple[str, bool]:
    """Return the separator and whether fields are separated by runs of blanks; a tab in `.tsv`, else the most even one."""
    if ".tsv" in path.suffixes:
        return "\t", False
    lines = [line for line in head.splitlines() if line.strip() and not _COMMENT.fullmatch(line)][:200]
    declared = re.match(r"sep=(.)", head.lstrip("\ufeff"))
    if declared and declared[1] in _SEPARATORS:
        return declared[1], False
    best = max(_SEPARATORS, key=lambda separator: _evenness(lines, separator))
    if _evenness(lines, best)[0] == 0 and _is_separated_by_blanks(lines):
        return "\t", True
    return best, False


def _evenness(lines: Sequence[str], separator: str) -> tuple[float, int]:
    """Return the proportion of rows with the modal number of fields (at least two), and that number."""
    rows = [row for row in _until_error(csv.reader(io.StringIO("\n".join(lines), newline=""), delimiter=separator)) if row]
    width = header_detection.modal_width(rows)
    if width < 2:
        wide = max(map(len, rows), default=1)
        return (0.0, 0) if wide < 2 or len(rows) > 2 else (0.01, wide)
    return sum(len(row) == width for row in rows) / len(rows), width


def _is_separated_by_blanks(lines: Sequence[str]) -> bool:
    rows = [line.split() for line in lines]
    width = header_detection.modal_width(rows[1:])
    even = len(rows) > 2 and sum(len(row) == width for row in rows[1:]) >= 0.95 * len(rows[1:])
    has_numbers = all(any(map(header_detection.is_amount, row)) for row in rows[1:])
    return width > 1 and even and len(rows[0]) in (width, width - 1) and has_numbers


def records(head: str, separator: str) -> tuple[list[list[str]], list[tuple[int, int]]]:
    """Return the records of a text and their spans, without comment lines at the top and empty rows."""
    at = 1 if head.startswith("\ufeff") else 0
    lines = _lines(head[at:])
    skipped = next((k for k, line in enumerate(lines) if line.strip() and not _COMMENT.fullmatch(line.strip())), 0)
    at += sum(map(len, lines[:skipped]))
    ends = [at]
    for line in lines[skipped:]:
        ends.append(ends[-1] + len(line))
    rows, spans, reader, begins = [], [], csv.reader(lines[skipped:], delimiter=separator), 0
    for row in _until_error(reader):
        if any(cell.strip() for cell in row):
            rows.append(row)
            spans.append((ends[begins], ends[reader.line_num]))
        begins = reader.line_num
    return rows, spans


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _until_error(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yield the records until `csv` fails, as on a field beyond its limit in a wide row without its separator."""
    while True:
        try:
            yield next(reader)
        except (StopIteration, csv.Error):
            return


def records_of_tail(tail: str, separator: str) -> tuple[list[list[str]], list[int]]:
    lines = _lines(tail)
    ends = [0]
    for line in lines:
        ends.append(ends[-1] + len(line))
    rows, starts, reader, begins = [], [], csv.reader(lines, delimiter=separator), 0
    for row in _until_error(reader):
        rows.append(row)
        starts.append(ends[begins])
        begins = reader.line_num
    return rows, starts


_TAIL_BYTES = 64 << 10  # bytes at the end that are searched for remarks and totals


@dataclass(frozen=True)
class DelimitedLayout:
    """Position of the rows of a text, in bytes of UTF-8, and their separator."""

    text: TextFile
    separator: str
    names: tuple[str, ...]
    start: int  # byte offset of the first row
    n_lines: int  # lines before the first row
    footer: int = 0  # bytes at the end that are not rows
    header: bytes = b""  # header line, which may be repeated among the rows
    notes: tuple[Note, ...] = ()


def detect_layout(
    path: Path, name: str, encoding: str | None = None, header: int | None = None, keep: Sequence[str] = ()
) -> DelimitedLayout:
    """Return the layout of a file; `encoding` and `header` (its row from 1, 0 for none) override detection."""
    text, notes = encodings.detect_text(path, name, encoding)
    head = encodings.head_of(text)
    separator, by_blanks = separator_of(head, path)
    if by_blanks:
        text = TextFile(path, name, text.encoding, text.has_bare_cr, True)
        head = encodings.head_of(text)
        notes.append(Note("", "fields are separated by blanks", 0))
    rows, spans = records(head, separator)
    if not rows:
        raise FileError(f"{name}: the file is empty")
    sheet_layout = header_detection.detect_sheet_layout(rows, header)
    cells = rows[sheet_layout.header] if sheet_layout.header is not None else rows[0]
    cells = ["", *cells] if sheet_layout.has_row_names else cells
    names, name_notes = header_detection.names(cells, sheet_layout.width, sheet_layout.header is not None, keep)
    above = head[: spans[sheet_layout.first][0] if sheet_layout.header is None else spans[sheet_layout.first - 1][1]]
    start = len(above.encode())
    footer, footer_notes = _footer(text, separator, start, len(names))
    line = b"" if sheet_layout.header is None else head[slice(*spans[sheet_layout.header])].strip("\r\n").encode()
    notes += _repeated_header_notes(head[len(above) :], line) + _escape_notes(head)
    return DelimitedLayout(
        text,
        separator,
        tuple(names),
        start,
        above.count("\n"),
        footer,
        line,
        (*notes, *sheet_layout.notes, *name_notes, *footer_notes),
    )


def bodies(layout: DelimitedLayout, size: int) -> Iterator[bytes]:
    """Yield the blocks of the file after its header and without its footer."""
    pending = b""
    for block in _blocks(layout, size):
        if pending:
            yield pending
        pending = block
    pending = pending[: len(pending) - layout.footer] if layout.footer else pending
    if pending and not pending.isspace():
        yield pending


def _blocks(layout: DelimitedLayout, size: int) -> Iterator[bytes]:
    text = layout.text
    try:
        with encodings.open_utf8(text) as stream:
            for block in blocks.blocks(encodings.skip_bytes(stream, layout.start), text.name, size, lines=layout.n_lines):
                rows = _without_header(block, layout.header)
                if not rows.isspace():
                    yield rows
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileError(f"{text.name}: the compressed file is damaged or cut short ({error})") from None


def _repeated_header_notes(body: str, header: bytes) -> list[Note]:
    """Return a note if the header is repeated among the rows, as in concatenated files."""
    n = body.encode().count(b"\n" + header) if len(header) > 2 else 0
    rows = "1 row" if n == 1 else f"{n} rows"
    return [Note("", f"the header is repeated among the rows and left out there ({rows})")] if n else []


def _without_header(block: bytes, header: bytes) -> bytes:
    if len(header) < 3 or header not in block:
        return block
    return re.sub(rb"(?m)^" + re.escape(header) + rb"\r?(?:\n|\Z)", b"", block)


def _escape_notes(head: str) -> list[Note]:
    if not blocks.has_escapes(head.encode()):
        return []
    return [Note("", "quote marks inside fields are escaped by a backslash and read as quote marks")]


def _footer(text: TextFile, separator: str, start: int, width: int) -> tuple[int, list[Note]]:
    """Return the number of bytes at the end that are not rows, and notes; 0 for large files that are not plain UTF-8."""
    tail = _tail(text, start)
    if tail is None:
        return 0, []
    rows, starts = records_of_tail(tail, separator)
    n, notes = header_detection.footers(rows, width)
    return (len(tail[starts[-n] :].encode()), notes) if n else (0, [])


def _tail(text: TextFile, start: int) -> str | None:
    size = text.path.stat().st_size
    is_plain = text.encoding == "utf-8" and text.path.suffix != ".gz" and not text.has_bare_cr and not text.by_blanks
    with encodings.open_utf8(text) as stream:
        if size > 8 * _TAIL_BYTES:
            if not is_plain and size > blocks.BLOCK_BYTES:
                return None
            if is_plain:
                stream.seek(size - _TAIL_BYTES)
                piece = stream.read(_TAIL_BYTES)
                return piece[piece.find(b"\n") + 1 :].decode("utf-8", "replace")
        rows = _last_lines(encodings.skip_bytes(stream, start))
    return rows.decode("utf-8", "replace") if rows is not None and b"\xff" not in rows else None


def _last_lines(stream: BinaryIO) -> bytes | None:
    """Return the last whole lines of a stream, or all of it if short; None if a line is too long to search.

    Only the tail is held in memory: a small compressed file may expand to a very large one.
    """
    tail, is_cut, open_line = b"", False, 0
    while piece := stream.read(blocks.BLOCK_BYTES):
        end = piece.rfind(b"\n") + 1
        open_line = len(piece) - end + (0 if end else open_line)
        if open_line > blocks.MAX_RECORD_BYTES:
            return None
        tail += piece
        is_cut = is_cut or len(tail) > _TAIL_BYTES
        tail = tail[-_TAIL_BYTES:]
    if not is_cut:
        return tail
    return tail[tail.find(b"\n") + 1 :] if b"\n" in tail else None
