"""What a user asks for when a file is read; all else is found out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Asked:
    """How a file is to be read.

    `text` are columns of words, `numbers` of numbers, `words` those whose strings are read later; `missing` are further
    words for no value, `sheet` names the sheet of a workbook or the file in an archive, `header` its row (0: none).
    Columns in `drop`, and those that are not in `needed` where it is given, may hold lists or objects: nobody reads them.
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
    drop: frozenset[str] = frozenset()
    needed: frozenset[str] | None = None

    def is_read(self, column: str) -> bool:
        """Whether anybody reads the column."""
        return column not in self.drop and (self.needed is None or column in self.needed)


PLAINLY = Asked()  # nothing is asked for
