"""What can be wrong with a file, in the user's words: the file, the row, the column and the remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from baytree.table.files.delimited import Delimited


class FileError(ValueError):
    """A file that cannot be read as a table. The message names the file and, where there is one, the row."""


class PathError(FileError):
    """A path that names no table: nothing is there, or not a file, or not a kind of file that holds one."""


class Contradiction(Exception):
    """A value that does not fit the type of its column; `source` reads the file with wider types."""

    def __init__(self, source: Delimited, sentences: list[str]) -> None:
        super().__init__("; ".join(sentences))
        self.source = source
        self.sentences = sentences
