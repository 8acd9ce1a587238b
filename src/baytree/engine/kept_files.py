"""Packed blocks in files of the machine that a Spark worker runs on, shared by all Python workers there.

They are in the folder that Spark gives each executor and removes with it. Nothing depends on them: a block whose file is
gone is handed to the worker again.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from uuid import uuid4

_FOLDER = "baytree-blocks"
_IDLE = 3600  # seconds after which a file that no round has read is removed


def keep(content: bytes) -> str | None:
    """The name under which the block is kept; None where there is no room for it."""
    folder = _folder()
    if folder is None:
        return None
    _remove_idle(folder)
    name = uuid4().hex
    return name if _written(folder / name, content) else None


def content(name: str | None, block: bytes | None = None) -> bytes | None:
    """The block of this name, or the block itself, which is kept for the next round; None where neither is here."""
    folder = _folder()
    if folder is None or name is None:
        return block
    try:
        found = (folder / name).read_bytes()
        os.utime(folder / name)
    except OSError:
        if block is not None:
            _written(folder / name, block)
        return block
    return found


def _folder() -> Path | None:
    """The folder of this executor, made where there is none yet."""
    from pyspark import SparkFiles

    try:
        folder = Path(SparkFiles.getRootDirectory()) / _FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
    except Exception:  # a worker that was given no folder, or may not write there, keeps nothing
        return None
    return folder


def _written(path: Path, content: bytes) -> bool:
    """Writes a file whole or not at all: another worker may look for it at the same time."""
    partial = path.with_suffix(f".{os.getpid()}")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        return False
    return True


def _remove_idle(folder: Path) -> None:
    for path in folder.iterdir():
        try:
            if time.time() - path.stat().st_mtime > _IDLE:
                path.unlink()
        except OSError:  # another worker was faster
            continue
