"""Bytes of a file: read without hanging, and written so that neither a full disk nor a kill harms what was there."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from typing import TYPE_CHECKING

from baytree.engine.processes import is_alive
from baytree.storage.model_file_error import ModelFileError

if TYPE_CHECKING:
    from pathlib import Path


def read(path: str | os.PathLike) -> bytes:
    """The bytes of a regular file."""
    with open(os.fspath(path), "rb", opener=_non_blocking) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ModelFileError(f"{path}: is not a regular file")
        return file.read()


def _non_blocking(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # a pipe without a writer must not hang the reader


def write(given: str | os.PathLike, content: bytes) -> None:
    """A new file beside the old one, synced, then put in its place."""
    from pathlib import Path  # reading does without

    path = Path(given).resolve()
    _sweep(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}.saving")
    try:
        with open(draft, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise
    _sync_folder(path.parent)


def _sweep(path: Path) -> None:
    """Removes drafts that a killed process left behind."""
    for draft in path.parent.glob(f".{_literal(path.name)}.*.saving"):
        owner = draft.name.split(".")[-2]
        if owner.isdigit() and int(owner) != os.getpid() and not is_alive(int(owner)):
            with contextlib.suppress(OSError):
                draft.unlink()


def _literal(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)


def _sync_folder(folder: Path) -> None:
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
