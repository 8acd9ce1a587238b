"""What a person sees on a terminal: text made harmless, and cells in columns.

A terminal obeys control characters, so text that came with a table must never reach it as it is.

Names in plain sight: text that came with the rows, made safe to stand in one line of print.

A name may hold line breaks, control characters, characters that turn the reading direction, or halves of characters; none
of these may change how the rest of the line reads, and a terminal must not obey them.
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


_SPACES = "".join(map(chr, (0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)))  # seen, if only as a gap


def plain(text: object) -> str:
    r"""The text with every character that cannot be seen written out; spaces of all widths stay.

    >>> plain("a\nb")
    'a\\nb'
    """
    return escaped(str(text), _SPACES)


def quoted(level: object) -> str:
    """A level's name, in quotation marks where it could be taken for something else.

    >>> quoted("first class"), quoted("a, b"), quoted("")
    ('first class', '"a, b"', '""')
    """
    name = plain(level)
    if name and name == name.strip() and not set(name) & set(',;"{}') and name != "missing":
        return name
    return '"' + name.replace('"', '\\"') + '"'


def listed(levels: Sequence[object], most: int | None = None) -> str:
    """Levels in one line; beyond `most` only their number."""
    if most is None or len(levels) <= most:
        return ", ".join(map(quoted, levels))
    return ", ".join([*map(quoted, levels[: most - 1]), f"… ({len(levels)} levels)"])


def counted(n: int, what: str) -> str:
    """A number of things, one of them without its s.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{n:,} {what if n == 1 else what + 's'}"


def shortened(text: str, most: int) -> str:
    """The text, cut to `most` characters with an ellipsis."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def number(value: float) -> str:
    """A number as short as it can be read: six digits, and no point after whole numbers.

    >>> number(20.0), number(1/3), number(1234567.0)
    ('20', '0.333333', '1234567')
    """
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else f"{value:.6g}"
