"""Options for reading a file and the errors of reading: `ReadOptions`, `FileError`, `PathError`, `TypeConflict`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from baytree.data.files.csv import DelimitedFile


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading a file; everything else is detected.

    `text` are columns of strings, `numbers` of numbers, `words` those whose strings are parsed later; `missing` are further
    missing tokens, `sheet` names the sheet of a workbook or the file in an archive, `header` its row (0: none). Columns in
    `drop`, and those not in `needed` if that is given, may hold lists or objects because they are not read.
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
        """Return whether the column is read."""
        return column not in self.drop and (self.needed is None or column in self.needed)


DEFAULT_OPTIONS = ReadOptions()


class FileError(ValueError):
    """File that cannot be read as a table. The message names the file and, if known, the row, the column and the remedy."""


class PathError(FileError):
    """Path that is not a table: nothing exists there, it is not a file, or its suffix is unknown."""


class TypeConflict(Exception):
    """Value that does not fit the type of its column; `source` reads the file with wider types."""

    def __init__(self, source: DelimitedFile, sentences: list[str]) -> None:
        super().__init__("; ".join(sentences))
        self.source = source
        self.sentences = sentences
