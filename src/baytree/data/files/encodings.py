"""Detect text encodings and read text files as UTF-8 with LF line ends, piece by piece."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from baytree.data.files.blocks import MAX_RECORD_BYTES, too_long
from baytree.data.files.options import FileError
from baytree.data.schema.notes import Note

_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)

FALLBACK = "cp1252"  # Windows-1252, a superset of Latin-1's printable characters, as browsers assume


def detect(head: bytes, is_whole: bool) -> str:
    """Return the encoding of a text from its first bytes: byte order mark, NUL pattern, valid UTF-8, else Windows-1252.

    >>> detect("größe".encode("latin-1"), True), detect("a,b".encode("utf-16-le"), True), detect(b"a", True)
    ('cp1252', 'utf-16-le', 'utf-8')
    """
    for byte_order_mark, name in _BYTE_ORDER_MARKS:
        if head.startswith(byte_order_mark):
            return name
    zeros = head[:4096].count(0)
    if zeros and zeros > len(head[:4096]) // 4:
        return "utf-16-be" if head[0] == 0 else "utf-16-le"
    return "utf-8" if _is_utf8(head, is_whole) else FALLBACK


def canonical_name(encoding: str) -> str:
    """Return Python's canonical name of an encoding; raise a FileError if it is unknown."""
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise FileError(f"there is no encoding {encoding!r}; use utf-8, latin-1, cp1252 or utf-16") from None


class Utf8Stream(io.RawIOBase):
    """Byte stream re-encoded as UTF-8; a lone CR becomes LF and, optionally, runs of blanks become a tab."""

    def __init__(
        self, stream: BinaryIO, encoding: str, has_bare_cr: bool = False, by_blanks: bool = False, name: str = "the text"
    ) -> None:
        self._stream, self._name = stream, name
        errors = "strict" if encoding.startswith("utf-8") else "replace"
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        self._has_bare_cr, self._by_blanks = has_bare_cr, by_blanks
        self._rest = ""

    def read(self, size: int = -1) -> bytes:
        """Return the next piece; empty only at the end."""
        while True:
            piece = self._stream.read(size)
            text = self._rest + self._decoder.decode(piece, final=not piece)
            self._rest = ""
            if self._by_blanks and piece:  # a piece may end within a line
                text, self._rest = _until_last_line(text)
                if len(self._rest) > MAX_RECORD_BYTES:
                    raise too_long(self._name, "after the first lines")
            if text or not piece:
                return self._normalize(text).encode("utf-8")

    def _normalize(self, text: str) -> str:
        text = text.replace("\r", "\n") if self._has_bare_cr else text
        return re.sub(r"[ \t]+", "\t", re.sub(r"(?m)^[ \t]+|[ \t]+$", "", text)) if self._by_blanks else text

    def close(self) -> None:
        self._stream.close()
        super().close()


def _until_last_line(text: str) -> tuple[str, str]:
    end = text.rfind("\n") + 1
    return text[:end], text[end:]


def _is_utf8(head: bytes, is_whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=is_whole)
    except UnicodeDecodeError:
        return False
    return True


REMEDY = "name its encoding, or save it as CSV with the encoding UTF-8"

_HEAD_BYTES = 256 << 10  # bytes from which the layout is detected

_MIN_HEAD_LINES = 5  # min lines of the head if rows are wide


@dataclass(frozen=True)
class TextFile:
    """Text file: its path and how its bytes become UTF-8."""

    path: Path
    name: str
    encoding: str = "utf-8"
    has_bare_cr: bool = False
    by_blanks: bool = False


def skip_bytes(stream: BinaryIO, start: int) -> BinaryIO:
    """Skip `start` bytes of the stream; a re-encoded piece may be longer than requested, so the excess is pushed back."""
    while start > 0 and (piece := stream.read(start)):
        start -= len(piece)
        if start < 0:
            return cast(BinaryIO, _PushbackStream(stream, piece[start:]))
    return stream


class _PushbackStream:
    """Stream with a piece pushed back to its front."""

    def __init__(self, stream: BinaryIO, piece: bytes) -> None:
        self._stream, self._piece = stream, piece

    def read(self, size: int = -1) -> bytes:
        """Return the pushed piece first, then the stream."""
        piece, self._piece = self._piece, b""
        return piece or self._stream.read(size)


def open_utf8(text: TextFile) -> BinaryIO:
    """Open the file as a binary stream of UTF-8, decompressed if it ends in `.gz`."""
    is_packed = text.path.suffix == ".gz"
    stream = cast(BinaryIO, gzip.open(text.path) if is_packed else open(text.path, "rb", buffering=0))  # noqa: SIM115
    if text.encoding == "utf-8" and not text.has_bare_cr and not text.by_blanks:
        return stream
    return cast(BinaryIO, Utf8Stream(stream, text.encoding, text.has_bare_cr, text.by_blanks, text.name))


def detect_text(path: Path, name: str, encoding: str | None) -> tuple[TextFile, list[Note]]:
    """Detect the encoding and line ends of a text file from its head; return it with notes."""
    try:
        with open_utf8(TextFile(path, name)) as stream:
            first = stream.read(_HEAD_BYTES)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileError(f"{name}: the compressed file is damaged or cut short ({error})") from None
    if not first.strip():
        raise FileError(f"{name}: the file is empty")
    file_encoding = canonical_name(encoding) if encoding else detect(first, len(first) < _HEAD_BYTES)
    notes = []
    if file_encoding == FALLBACK and not encoding:
        notes.append(not_utf8())
    decoded = first.decode(file_encoding, "replace")
    if "\0" in decoded.lstrip().partition("\n")[0]:
        raise FileError(f"{name}: this is not a text file (it holds NUL bytes); {REMEDY}")
    return TextFile(path, name, file_encoding, "\n" not in decoded and "\r" in decoded.strip()), notes


def not_utf8() -> Note:
    """Return the note on a text that is not UTF-8."""
    return Note("", "the text is not UTF-8; it is read as Windows-1252", 0, "encoding", "latin-1", is_doubtful=True)


def head_of(text: TextFile) -> str:
    """Return the head of the text in whole lines: at least `_HEAD_BYTES` bytes and `_MIN_HEAD_LINES` lines, if available."""
    with open_utf8(text) as stream:
        head, is_whole = b"", False
        while not is_whole and (
            len(head) < _HEAD_BYTES or (head.count(b"\n") < _MIN_HEAD_LINES and len(head) < MAX_RECORD_BYTES)
        ):
            piece = stream.read(max(_HEAD_BYTES, len(head)))
            head, is_whole = head + piece, not piece
    if not is_whole and b"\n" not in head:
        raise too_long(text.name, "line 1")
    decoded = head.decode("utf-8", "replace")
    return decoded if is_whole or "\n" not in decoded else decoded[: decoded.rindex("\n") + 1]
