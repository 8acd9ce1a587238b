"""How a file of delimited text is laid out: its encoding, what separates its fields, where its rows begin and end."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from baytree.table.files import arrangement, blocks, encodings
from baytree.table.files.errors import FileError
from baytree.table.notes import Note

REMEDY = "name its encoding, or save it as CSV with the encoding UTF-8"
HEAD = 256 << 10  # bytes from which the layout is seen
TAIL = 64 << 10  # bytes in which remarks and totals are looked for
MARKS = ",;\t|"
_COMMENT = re.compile(r"\s*(?:#|//|%|!|--|sep=).*")


@dataclass(frozen=True)
class Text:
    """A file of text: where it is, and how its bytes become UTF-8."""

    path: Path
    name: str
    encoding: str = "utf-8"
    has_bare_cr: bool = False
    by_blanks: bool = False


@dataclass(frozen=True)
class Layout:
    """Where the rows of a text are, in bytes of UTF-8, and what separates their fields."""

    text: Text
    separator: str
    names: tuple[str, ...]
    start: int  # of the first row
    n_lines: int  # before it
    footer: int = 0  # bytes at the end that are no rows
    notes: tuple[Note, ...] = ()


def see(path: Path, name: str, encoding: str | None = None, header: int | None = None, kept: Sequence[str] = ()) -> Layout:
    """The layout of a file; `encoding` and `header` (its row, 0 for none) where they are declared."""
    text, notes = _text(path, name, encoding)
    head = _head(text)
    mark, by_blanks = _separator(head, path)
    if by_blanks:
        text = Text(path, name, text.encoding, text.has_bare_cr, True)
        head = _head(text)
        notes.append(Note("", "fields are separated by blanks", 0))
    rows, spans = _records(head, mark)
    if not rows:
        raise FileError(f"{name}: the file is empty")
    found = arrangement.arrange(rows, header)
    cells = rows[found.header] if found.header is not None else rows[0]
    cells = ["", *cells] if found.has_row_names else cells
    names, told = arrangement.names(cells, found.width, found.header is not None, kept)
    above = head[: spans[found.first][0] if found.header is None else spans[found.first - 1][1]]
    start = len(above.encode())
    footer, below = _footer(text, mark, start, len(names))
    return Layout(text, mark, tuple(names), start, above.count("\n"), footer, (*notes, *found.notes, *told, *below))


def bodies(layout: Layout, size: int) -> Iterator[bytes]:
    """The blocks of the file after its header, without what stands below its rows."""
    held = b""
    for block in _blocks(layout, size):
        if held:
            yield held
        held = block
    held = held[: len(held) - layout.footer] if layout.footer else held
    if held and not held.isspace():
        yield held


def _blocks(layout: Layout, size: int) -> Iterator[bytes]:
    text = layout.text
    try:
        with _open(text) as stream:
            for block in blocks.blocks(_from(stream, layout.start), text.name, size, lines=layout.n_lines):
                if not block.isspace():
                    yield block
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileError(f"{text.name}: the compressed file is damaged or cut short ({error})") from None


def _from(stream: BinaryIO, start: int) -> BinaryIO:
    """The stream from this byte on; a piece in another encoding may be longer than what was asked for."""
    while start > 0 and (piece := stream.read(start)):
        start -= len(piece)
        if start < 0:
            return cast(BinaryIO, _Pushed(stream, piece[start:]))
    return stream


class _Pushed:
    """A stream with a piece put back in front."""

    def __init__(self, stream: BinaryIO, piece: bytes) -> None:
        self._stream, self._piece = stream, piece

    def read(self, size: int = -1) -> bytes:
        """The piece first, then what follows."""
        piece, self._piece = self._piece, b""
        return piece or self._stream.read(size)


def _open(text: Text) -> BinaryIO:
    is_packed = text.path.suffix == ".gz"
    stream = cast(BinaryIO, gzip.open(text.path) if is_packed else open(text.path, "rb", buffering=0))  # noqa: SIM115
    if text.encoding == "utf-8" and not text.has_bare_cr and not text.by_blanks:
        return stream
    return cast(BinaryIO, encodings.Transcoded(stream, text.encoding, text.has_bare_cr, text.by_blanks))


def _text(path: Path, name: str, encoding: str | None) -> tuple[Text, list[Note]]:
    try:
        with _open(Text(path, name)) as stream:
            first = stream.read(HEAD)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileError(f"{name}: the compressed file is damaged or cut short ({error})") from None
    if not first.strip():
        raise FileError(f"{name}: the file is empty")
    found = encodings.known(encoding) if encoding else encodings.detect(first, len(first) < HEAD)
    notes = []
    if found == encodings.FALLBACK and not encoding:
        notes.append(not_utf8())
    shown = first.decode(found, "replace")
    if "\0" in shown.lstrip().partition("\n")[0]:
        raise FileError(f"{name}: this is not a text file (it holds NUL bytes); {REMEDY}")
    return Text(path, name, found, "\n" not in shown and "\r" in shown.strip()), notes


def not_utf8() -> Note:
    """What is told where a text is not UTF-8."""
    return Note("", "the text is not UTF-8; it is read as Windows-1252", 0, "encoding", "latin-1", is_doubtful=True)


def _head(text: Text) -> str:
    with _open(text) as stream:
        head = stream.read(HEAD)
        is_whole = len(head) < HEAD and not stream.read(1)
    shown = head.decode("utf-8", "replace")
    return shown if is_whole or "\n" not in shown else shown[: shown.rindex("\n") + 1]


def _separator(head: str, path: Path) -> tuple[str, bool]:
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
    rows = [row for row in csv.reader(io.StringIO("\n".join(lines), newline=""), delimiter=mark) if row]
    width = arrangement.modal_width(rows)
    if width < 2:
        wide = max(map(len, rows), default=1)
        return (0.0, 0) if wide < 2 or len(rows) > 2 else (0.01, wide)
    return sum(len(row) == width for row in rows) / len(rows), width


def _is_cut_by_blanks(lines: Sequence[str]) -> bool:
    rows = [line.split() for line in lines]
    width = arrangement.modal_width(rows[1:])
    even = len(rows) > 2 and sum(len(row) == width for row in rows[1:]) >= 0.95 * len(rows[1:])
    has_numbers = all(any(map(arrangement.is_amount, row)) for row in rows[1:])
    return width > 1 and even and len(rows[0]) in (width, width - 1) and has_numbers


def _records(head: str, mark: str) -> tuple[list[list[str]], list[tuple[int, int]]]:
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
    """The records as far as they can be read: a field without end is told of when its block is parsed."""
    while True:
        try:
            yield next(reader)
        except (StopIteration, csv.Error):
            return


def _footer(text: Text, mark: str, start: int, width: int) -> tuple[int, list[Note]]:
    """How many bytes at the end are no rows of the table, and what is told; of small files, and large ones in UTF-8."""
    tail = _tail(text, start)
    if tail is None:
        return 0, []
    rows, starts = _records_of_tail(tail, mark)
    n, notes = arrangement.footers(rows, width)
    return (len(tail[starts[-n] :].encode()), notes) if n else (0, [])


def _tail(text: Text, start: int) -> str | None:
    size = text.path.stat().st_size
    is_plain = text.encoding == "utf-8" and text.path.suffix != ".gz" and not text.has_bare_cr and not text.by_blanks
    with _open(text) as stream:
        if size > 8 * TAIL:
            if not is_plain and size > blocks.BLOCK:
                return None
            if is_plain:
                stream.seek(size - TAIL)
                piece = stream.read(TAIL)
                return piece[piece.find(b"\n") + 1 :].decode("utf-8", "replace")
        content = b"".join(iter(lambda: stream.read(blocks.BLOCK), b""))
    rows = content[start:]
    if len(rows) > TAIL:
        rows = rows[rows.find(b"\n", len(rows) - TAIL) + 1 :]
    return rows.decode("utf-8", "replace") if b"\xff" not in rows else None


def _records_of_tail(tail: str, mark: str) -> tuple[list[list[str]], list[int]]:
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
