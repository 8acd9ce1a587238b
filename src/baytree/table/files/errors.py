"""What can be wrong with a file, in the user's words: the file, the row, the column and the remedy."""

from __future__ import annotations


class FileError(ValueError):
    """A file that cannot be read as a table. The message names the file and, where there is one, the row."""


class PathError(FileError):
    """A path that names no table: nothing is there, or not a file, or not a kind of file that holds one."""
