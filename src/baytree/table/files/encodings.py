"""Text in any encoding as UTF-8 with ordinary line ends, a piece at a time."""

from __future__ import annotations

import codecs
import io
import re
from typing import BinaryIO

from baytree.table.files.blocks import LONGEST_RECORD, too_long
from baytree.table.files.errors import FileError

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
FALLBACK = "cp1252"  # Windows-1252: where it differs from Latin-1, texts of the web mean it


def detect(head: bytes, is_whole: bool) -> str:
    """The encoding of a text by its first bytes: by its mark, by zeros, as UTF-8, else as Windows-1252.

    >>> detect("größe".encode("latin-1"), True), detect("a,b".encode("utf-16-le"), True), detect(b"a", True)
    ('cp1252', 'utf-16-le', 'utf-8')
    """
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    zeros = head[:4096].count(0)
    if zeros and zeros > len(head[:4096]) // 4:
        return "utf-16-be" if head[0] == 0 else "utf-16-le"
    return "utf-8" if _is_utf8(head, is_whole) else FALLBACK


def known(encoding: str) -> str:
    """The name of an encoding as Python knows it."""
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise FileError(f"there is no encoding {encoding!r}; use utf-8, latin-1, cp1252 or utf-16") from None


class Transcoded(io.RawIOBase):
    """A stream of bytes as UTF-8, its line ends LF where they were CR alone, runs of blanks a tab where these separate."""

    def __init__(
        self, stream: BinaryIO, encoding: str, has_bare_cr: bool = False, by_blanks: bool = False, name: str = "the text"
    ) -> None:
        self._stream, self._name = stream, name
        errors = "strict" if encoding.startswith("utf-8") else "replace"
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        self._has_bare_cr, self._by_blanks = has_bare_cr, by_blanks
        self._rest = ""

    def read(self, size: int = -1) -> bytes:
        """The next piece; empty at the end only."""
        while True:
            piece = self._stream.read(size)
            text = self._rest + self._decoder.decode(piece, final=not piece)
            self._rest = ""
            if self._by_blanks and piece:  # a line may be cut in two
                text, self._rest = _until_last_line(text)
                if len(self._rest) > LONGEST_RECORD:
                    raise too_long(self._name, "after the first lines")
            if text or not piece:
                return self._written(text).encode("utf-8")

    def _written(self, text: str) -> str:
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
