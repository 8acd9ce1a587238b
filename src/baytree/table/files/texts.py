"""A file of text: where it is, its encoding, and its bytes as UTF-8."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from baytree.table.files import encodings
from baytree.table.files.blocks import LONGEST_RECORD, too_long
from baytree.table.files.errors import FileError
from baytree.table.notes import Note

REMEDY = "name its encoding, or save it as CSV with the encoding UTF-8"
HEAD = 256 << 10  # bytes from which the layout is seen
_HEAD_LINES = 5  # at least, where rows are wide


@dataclass(frozen=True)
class Text:
    """A file of text: where it is, and how its bytes become UTF-8."""

    path: Path
    name: str
    encoding: str = "utf-8"
    has_bare_cr: bool = False
    by_blanks: bool = False


def from_byte(stream: BinaryIO, start: int) -> BinaryIO:
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


def opened(text: Text) -> BinaryIO:
    is_packed = text.path.suffix == ".gz"
    stream = cast(BinaryIO, gzip.open(text.path) if is_packed else open(text.path, "rb", buffering=0))  # noqa: SIM115
    if text.encoding == "utf-8" and not text.has_bare_cr and not text.by_blanks:
        return stream
    return cast(BinaryIO, encodings.Transcoded(stream, text.encoding, text.has_bare_cr, text.by_blanks, text.name))


def looked_at(path: Path, name: str, encoding: str | None) -> tuple[Text, list[Note]]:
    try:
        with opened(Text(path, name)) as stream:
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


def head_of(text: Text) -> str:
    with opened(text) as stream:
        head, is_whole = b"", False
        while not is_whole and (len(head) < HEAD or (head.count(b"\n") < _HEAD_LINES and len(head) < LONGEST_RECORD)):
            piece = stream.read(max(HEAD, len(head)))
            head, is_whole = head + piece, not piece
    if not is_whole and b"\n" not in head:
        raise too_long(text.name, "line 1")
    shown = head.decode("utf-8", "replace")
    return shown if is_whole or "\n" not in shown else shown[: shown.rindex("\n") + 1]
