"""What a user asks for when a file is read; all else is found out.

What can be wrong with a file, in the user's words: the file, the row, the column and the remedy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from baytree.data.files.csv import DelimitedFile


@dataclass(frozen=True)
class ReadOptions:
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


PLAINLY = ReadOptions()  # nothing is asked for


class FileError(ValueError):
    """A file that cannot be read as a table. The message names the file and, where there is one, the row."""


class PathError(FileError):
    """A path that names no table: nothing is there, or not a file, or not a kind of file that holds one."""


class TypeConflict(Exception):
    """A value that does not fit the type of its column; `source` reads the file with wider types."""

    def __init__(self, source: DelimitedFile, sentences: list[str]) -> None:
        super().__init__("; ".join(sentences))
        self.source = source
        self.sentences = sentences
