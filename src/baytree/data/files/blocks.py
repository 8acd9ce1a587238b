"""Split delimited text into blocks of whole records, so that memory is bounded and each block parses on its own.

A record ends at a line end outside quote marks. Also here: normalization of quotes and blank lines, and the search for
ragged records and stray quote marks.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import BinaryIO

from baytree.data.files.options import FileError

BLOCK_BYTES = 8 << 20  # smaller blocks take less memory and more calls of the parser

MAX_RECORD_BYTES = 64 << 20  # a longer record is an unclosed quote mark or no table: bounds memory


def blocks(stream: BinaryIO, name: str, size: int = BLOCK_BYTES, quote: bytes = b'"', lines: int = 0) -> Iterator[bytes]:
    """Yield the records of a stream in blocks of about `size` bytes, without splitting a record.

    `quote` is the mark inside which a line end does not end a record; empty if every line is a record. `lines` is the number
    of lines before the stream.
    """
    rest = b""
    while chunk := stream.read(size):
        rest += chunk
        end = last_end(rest) if quote else rest.rfind(b"\n") + 1
        if end == 0 and len(rest) > MAX_RECORD_BYTES:
            raise too_long(name, f"line {lines + 1:,}")
        if end:
            lines += rest.count(b"\n", 0, end)
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def last_end(block: bytes) -> int:
    """Return the end of the last whole record of the block; 0 if there is none.

    >>> last_end(b'1,"a' + b"\\n" + b'b"' + b"\\n" + b"2,")
    8
    """
    quotes, end = block.count(b'"'), len(block)
    while (found := block.rfind(b"\n", 0, end)) >= 0:
        quotes -= block.count(b'"', found, end)
        if quotes % 2 == 0:
            return found + 1
        end = block.rfind(b'"', 0, found)  # every line end after this quote mark is inside quotes too
        quotes -= 1
    return 0


def first_end(block: bytes) -> int:
    """Return the end of the first whole record of the block; the length of the block if it holds only one."""
    start = 0
    while (found := block.find(b"\n", start)) >= 0:
        opened = block.find(b'"', start, found)
        if opened < 0:
            return found + 1
        start = block.find(b'"', opened + 1) + 1
        if start == 0:
            break
    return len(block)


def has_blank_line(block: bytes) -> bool:
    """Return whether the block contains two consecutive line ends or begins with one."""
    return block.startswith((b"\r", b"\n")) or b"\n\n" in block or b"\n\r\n" in block


def without_blank_lines(block: bytes) -> bytes:
    """Remove blank lines, except those inside quote marks, which are part of a field."""
    fields = block.split(b'"')
    fields[::2] = [_BLANK_LINES.sub(b"\n", outside) for outside in fields[::2]]
    return b'"'.join(fields).lstrip(b"\r\n")


def in_plain_quotes(block: bytes) -> bytes:
    """Double quote marks that are escaped by a backslash, and remove the `="…"` of spreadsheets.

    >>> in_plain_quotes(b'1,"5\\\\" pipe",="007"')
    b'1,"5"" pipe","007"'
    """
    if b'="' in block or b'"=""' in block:
        block = _FORMULA.sub(rb'"\1\2"', block)
    return block.replace(b'\\"', b'""') if has_escapes(block) else block


def has_escapes(block: bytes) -> bool:
    """Return whether quote marks inside fields are escaped by a backslash."""
    return b'\\"' in block and _ESCAPED.search(block) is not None


def separators(block: bytes, separator: bytes) -> int:
    """Return the number of separators outside quote marks."""
    if b'"' not in block:
        return block.count(separator)
    return sum(outside.count(separator) for outside in block.split(b'"')[::2])


def may_be_padded(block: bytes, separator: bytes) -> bool:
    """Return whether a field can begin or end with a blank."""
    return b" " in block or (separator != b"\t" and b"\t" in block)


def first_ragged(text: str, separator: str, width: int) -> tuple[int, int] | None:
    """Return the index of the first record whose number of fields is not `width`, and that number; None if there is none."""
    records = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    lengths = enumerate(map(len, records))
    return next(((i, length) for i, length in lengths if length not in (0, width)), None)


def find_stray_quote(text: str, separator: str) -> tuple[int, str] | None:
    """Return the index of the first record with a misplaced quote mark, and the field around it; None if there is none.

    >>> find_stray_quote('1,5" pipe', ",")
    (0, '5" pipe')
    """
    escaped_separator = re.escape(separator)
    quoted, plain, end = r'"[^"]*(?:""[^"]*)*"', rf'[^"{escaped_separator}\r\n]*', rf"({escaped_separator}|\r*\n|\Z)"
    field = re.compile(f"(?:{quoted}|{plain}){end}")
    row, at = 0, 0
    while at < len(text):
        found = field.match(text, at)
        if not found:
            return row, re.split(rf"[{escaped_separator}\r\n]", text[at : at + 40], maxsplit=1)[0]
        row += found[1].endswith("\n")
        at = found.end()
    return None


_ESCAPED = re.compile(rb'\\"(?=[^,;\t|\r\n])')

_FORMULA = re.compile(rb'(?<![^,;\t|\n])(?:="([^"\r\n]*)"|"=""([^"\r\n]*)""")(?=[,;\t|\r\n]|$)')

_BLANK_LINES = re.compile(rb"\r?\n(?:\r?\n)+")


def too_long(name: str, position: str) -> FileError:
    """Return the error for a record that exceeds the memory limit."""
    return FileError(
        f"{name}, {position}: one record is longer than {MAX_RECORD_BYTES >> 20} MB; "
        "a quote mark may be unclosed here, or this is not a table"
    )
