"""Bytes of a regular file, read without hanging."""

from __future__ import annotations

import os
import stat

from baytree.storage.model_file_error import ModelFileError


def read(path: str | os.PathLike) -> bytes:
    """The bytes of a regular file."""
    with open(os.fspath(path), "rb", opener=_non_blocking) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ModelFileError(f"{path}: is not a regular file")
        return file.read()


def _non_blocking(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a pipe without a writer must not hang the reader
