"""Reading of model files, and `ModelFileError`, the only error that a malformed file raises."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

import msgspec


def read(path: str | os.PathLike) -> bytes:
    """Return the bytes of a regular file; raise ModelFileError for pipes and devices."""
    with open(os.fspath(path), "rb", opener=_non_blocking) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ModelFileError(f"{path}: is not a regular file")
        return file.read()


def _non_blocking(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # open() of a pipe without a writer would block


class ModelFileError(ValueError):
    """A model file is damaged, foreign, or of a newer format."""


@contextlib.contextmanager
def naming_file(name: str) -> Iterator[None]:
    """Context manager that turns any error about a malformed document into a ModelFileError that names the file."""
    try:
        yield
    except ModelFileError:
        raise
    except (msgspec.MsgspecError, ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError) as error:
        raise ModelFileError(f"{name}: is not a valid model file: {error}") from error
