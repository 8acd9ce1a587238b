"""Bytes of a regular file, read without hanging.

The one error of model files.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

import msgspec


def read(path: str | os.PathLike) -> bytes:
    """The bytes of a regular file."""
    with open(os.fspath(path), "rb", opener=_non_blocking) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ModelFileError(f"{path}: is not a regular file")
        return file.read()


def _non_blocking(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a pipe without a writer must not hang the reader


class ModelFileError(ValueError):
    """A model file that is damaged, foreign, or of a newer format."""


@contextlib.contextmanager
def naming_file(name: str) -> Iterator[None]:
    """Turns whatever a malformed document causes into one kind of error that names the file."""
    try:
        yield
    except ModelFileError:
        raise
    except (msgspec.MsgspecError, ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError) as error:
        raise ModelFileError(f"{name}: is not a valid model file: {error}") from error
