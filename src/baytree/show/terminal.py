"""What a person sees on a terminal: text made harmless, and cells in columns.

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
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode("ascii") for c in text)


def in_columns(rows: Sequence[Sequence[str]], sides: str) -> list[str]:
    """A line for each row, its cells below each other: '<' to the left, '>' to the right, the last side for all that follow.

    >>> print(*in_columns([["", "a", "b"], ["prior", "0.25", "0.75"]], "<>"), sep=chr(10))
              a     b
    prior  0.25  0.75
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    every = sides.ljust(len(widths), sides[-1])
    places = [f"{side}{width}" for side, width in zip(every, widths, strict=False)]
    return ["  ".join(map(format, row, places)).rstrip() for row in rows]


def ruled(lines: Sequence[str]) -> str:
    """The lines as one text, with a rule below the first."""
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def aligned(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in columns, numbers to the right and words to the left, a rule below the header.

    >>> print(aligned(["name", "rows"], [["iris", 150], ["loans", 9]]))
    name   rows
    -----------
    iris    150
    loans     9
    """
    cells = [list(header), *([_shown(cell) for cell in row] for row in rows)]
    sides = [">" if all(map(is_number, column[1:])) else "<" for column in zip(*cells, strict=True)]
    return ruled(in_columns(cells, "".join(sides)))


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


def _shown(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.4f}"
    return f"{cell:,}" if isinstance(cell, int) else escaped(str(cell))
