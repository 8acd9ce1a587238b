"""Model cards as Markdown; names from a table cannot form markup."""

from __future__ import annotations

import re

from baytree.display.terminal import plain
from baytree.rendering.page.table_views import CardPart, CardView


def to_markdown(card: CardView) -> str:
    """Card as a Markdown document."""
    return "\n\n".join([f"# {_text(card.heading)}", *map(_part, card.parts)]) + "\n"


def _part(part: CardPart) -> str:
    blocks = [f"## {part.title}", *map(_text, part.lines)]
    if part.rows:
        lines = [_row(part.header), "|" + "---|" * len(part.header), *map(_row, part.rows)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(_text, cells))} |"


def _text(text: str) -> str:
    r"""Text with its Markdown characters escaped; an underscore within a word is none.

    >>> print(_text("a_b|c <i> *d*"))
    a_b\|c \<i\> \*d\*
    """
    return re.sub(r"([\\|<>*\[\]#&`~]|(?<![^\W_])_|_(?![^\W_]))", r"\\\1", plain(text))
