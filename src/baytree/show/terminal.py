"""What a person sees on a terminal: text made harmless, and numbers aligned.

A terminal obeys control characters, so text that came with a table must never reach it as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def escaped(text: str, keep: str = "") -> str:
    r"""The text with everything that a terminal would obey or hide written out; characters in `keep` stay.

    >>> escaped("\x1b[31mred\u202e")
    '\\x1b[31mred\\u202e'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text)


def aligned(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in columns, numbers to the right and words to the left.

    >>> print(aligned(["name", "rows"], [["iris", 150], ["loans", 9]]))
    name   rows
    -----------
    iris    150
    loans     9
    """
    cells = [list(header), *([_shown(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rights = [all(map(is_number, column[1:])) for column in zip(*cells, strict=True)]
    lines = [_line(row, widths, rights) for row in cells]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def is_number(text: str) -> bool:
    """Whether the text is a number, with or without commas in the thousands or a percent sign.

    >>> is_number("-1,234.5"), is_number("1 of 2")
    (True, False)
    """
    try:
        float(text.replace(",", "").removesuffix("%"))
    except ValueError:
        return False
    return True


def _line(cells: Sequence[str], widths: Sequence[int], rights: Sequence[bool]) -> str:
    places = zip(cells, widths, rights, strict=True)
    return "  ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in places).rstrip()


def _shown(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.4f}"
    return f"{cell:,}" if isinstance(cell, int) else escaped(str(cell))
