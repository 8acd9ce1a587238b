"""Text for the terminal: escape untrusted text, align cells in columns, format names and numbers.

A terminal obeys control characters, so text from a table is always escaped. A name may contain line breaks, control or
bidirectional characters, or lone surrogates; none of these may change how the rest of the line reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

TERMINAL_WIDTH = 80  # characters per line of printed output: the width of a terminal that nobody has resized

MAX_CLASS_COLUMNS = 8  # classes of a printed table: as many columns as fit the width; further classes are counted


def escaped(text: str, keep: str = "") -> str:
    r"""Escape everything that a terminal would obey or hide; characters in `keep` stay.

    >>> escaped("\x1b[31mred\u202e")
    '\\x1b[31mred\\u202e'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else c.encode("unicode_escape").decode("ascii") for c in text)


def in_columns(rows: Sequence[Sequence[str]], sides: str) -> list[str]:
    """Return one line per row with aligned cells: '<' left, '>' right; the last side applies to all further columns.

    >>> print(*in_columns([["", "a", "b"], ["prior", "0.25", "0.75"]], "<>"), sep=chr(10))
              a     b
    prior  0.25  0.75
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    all_sides = sides.ljust(len(widths), sides[-1])
    formats = [f"{side}{width}" for side, width in zip(all_sides, widths, strict=False)]
    return ["  ".join(map(format, row, formats)).rstrip() for row in rows]


def ruled(lines: Sequence[str]) -> str:
    """Join the lines, with a rule below the first."""
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def aligned(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a text table: numbers right-aligned, words left-aligned, a rule below the header.

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
    """Return whether the text is a number, optionally with thousands commas or a percent sign.

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


_SPACES = "".join(map(chr, (0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)))  # visible as blank space


def plain(text: object) -> str:
    r"""Escape every invisible character; spaces of all widths stay.

    >>> plain("a\nb")
    'a\\nb'
    """
    return escaped(str(text), _SPACES)


def quoted(level: object) -> str:
    """Return the name of a level, in quotation marks if it would be ambiguous.

    >>> quoted("first class"), quoted("a, b"), quoted("")
    ('first class', '"a, b"', '""')
    """
    name = plain(level)
    if name and name == name.strip() and not set(name) & set(',;"{}') and name != "missing":
        return name
    return '"' + name.replace('"', '\\"') + '"'


MAX_LISTED_LEVELS = 12  # levels of a condition that are listed by name in a line of text

MAX_LIST_CHARACTERS, _MAX_LEVEL_CHARACTERS = 64, 20  # of a shortened list of levels, and of a name in it


def listed(
    levels: Sequence[object],
    max_levels: int | None = None,
    max_characters: int = MAX_LIST_CHARACTERS,
    noun: str = "levels",
) -> str:
    """Return levels in one line; beyond `max_levels`, their number, as many names as fit, and how many more there are.

    >>> listed(["red", "green", "blue"], 3), listed(range(1618), 4), listed(["A very long name of a shop"] * 1618, 12, 45)
    ('red, green, blue', '1,618 levels: 0, 1, 2, +1,615', '1,618 levels: A very long name of…, +1,617')
    """
    if max_levels is None or len(levels) <= max_levels:
        return ", ".join(map(quoted, levels))
    head = f"{len(levels):,} {noun}"
    names = [quoted(shortened(plain(level), _MAX_LEVEL_CHARACTERS)) for level in levels[: max_levels - 1]]
    for n in range(len(names), 0, -1):
        text = f"{head}: {', '.join(names[:n])}, +{len(levels) - n:,}"
        if len(text) <= max_characters:
            return text
    return head


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, singular or plural.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{n:,} {noun if n == 1 else noun + 's'}"


def shortened(text: str, max_length: int) -> str:
    """Return the text, truncated to `max_length` characters with an ellipsis."""
    return text if len(text) <= max_length else text[: max_length - 1].rstrip() + "…"


def number(value: float) -> str:
    """Format a number with up to six significant digits, whole numbers without a decimal point.

    >>> number(20.0), number(1/3), number(1234567.0)
    ('20', '0.333333', '1234567')
    """
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else f"{value:.6g}"
