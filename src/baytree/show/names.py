"""Names in plain sight: text that came with the rows, made safe to stand in one line of print.

A name may hold line breaks, control characters, characters that turn the reading direction, or halves of characters; none
of these may change how the rest of the line reads, and a terminal must not obey them.
"""

from __future__ import annotations

from collections.abc import Sequence

from baytree.show.terminal import escaped

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
