"""What a user asks for when a file is read; all else is found out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """How a file is to be read.

    `text` are columns of words, `numbers` of numbers, `words` those whose strings are read later; `missing` are further
    words for no value, `sheet` names the sheet of a workbook or the file in an archive, `header` its row (0: none).
    """

    text: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    decimal: str = ""
    missing: tuple[str, ...] = ()
    sheet: str | None = None
    encoding: str | None = None
    header: int | None = None
    keep: frozenset[str] = frozenset()


PLAINLY = Asked()  # nothing is asked for
