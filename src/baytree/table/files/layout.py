"""How a file of delimited text is laid out: its encoding, what separates its fields, where its rows begin and end."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from baytree.table.files import arrangement, blocks, texts
from baytree.table.files.errors import FileError
from baytree.table.files.separators import records, records_of_tail, separator_of
from baytree.table.files.texts import Text
from baytree.table.notes import Note

TAIL = 64 << 10  # bytes in which remarks and totals are looked for


@dataclass(frozen=True)
class Layout:
    """Where the rows of a text are, in bytes of UTF-8, and what separates their fields."""

    text: Text
    separator: str
    names: tuple[str, ...]
    start: int  # of the first row
    n_lines: int  # before it
    footer: int = 0  # bytes at the end that are no rows
    header: bytes = b""  # the line of the header, which may stand again among the rows
    notes: tuple[Note, ...] = ()


def see(path: Path, name: str, encoding: str | None = None, header: int | None = None, kept: Sequence[str] = ()) -> Layout:
    """The layout of a file; `encoding` and `header` (its row, 0 for none) where they are declared."""
    text, notes = texts.looked_at(path, name, encoding)
    head = texts.head_of(text)
    mark, by_blanks = separator_of(head, path)
    if by_blanks:
        text = Text(path, name, text.encoding, text.has_bare_cr, True)
        head = texts.head_of(text)
        notes.append(Note("", "fields are separated by blanks", 0))
    rows, spans = records(head, mark)
    if not rows:
        raise FileError(f"{name}: the file is empty")
    found = arrangement.arrange(rows, header)
    cells = rows[found.header] if found.header is not None else rows[0]
    cells = ["", *cells] if found.has_row_names else cells
    names, told = arrangement.names(cells, found.width, found.header is not None, kept)
    above = head[: spans[found.first][0] if found.header is None else spans[found.first - 1][1]]
    start = len(above.encode())
    footer, below = _footer(text, mark, start, len(names))
    line = b"" if found.header is None else head[slice(*spans[found.header])].strip("\r\n").encode()
    notes += _again(head[len(above) :], line) + _escapes(head)
    return Layout(text, mark, tuple(names), start, above.count("\n"), footer, line, (*notes, *found.notes, *told, *below))


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
        with texts.opened(text) as stream:
            for block in blocks.blocks(texts.from_byte(stream, layout.start), text.name, size, lines=layout.n_lines):
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


def _footer(text: Text, mark: str, start: int, width: int) -> tuple[int, list[Note]]:
    """How many bytes at the end are no rows of the table, and what is told; of small files, and large ones in UTF-8."""
    tail = _tail(text, start)
    if tail is None:
        return 0, []
    rows, starts = records_of_tail(tail, mark)
    n, notes = arrangement.footers(rows, width)
    return (len(tail[starts[-n] :].encode()), notes) if n else (0, [])


def _tail(text: Text, start: int) -> str | None:
    size = text.path.stat().st_size
    is_plain = text.encoding == "utf-8" and text.path.suffix != ".gz" and not text.has_bare_cr and not text.by_blanks
    with texts.opened(text) as stream:
        if size > 8 * TAIL:
            if not is_plain and size > blocks.BLOCK:
                return None
            if is_plain:
                stream.seek(size - TAIL)
                piece = stream.read(TAIL)
                return piece[piece.find(b"\n") + 1 :].decode("utf-8", "replace")
        rows = _last(texts.from_byte(stream, start))
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
