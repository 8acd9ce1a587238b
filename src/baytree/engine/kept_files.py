"""Packed blocks in files of the machine that a Spark worker runs on, shared by all Python workers there.

They are in the folder that Spark gives each executor and removes with it. Nothing depends on them: a block whose file is
gone is handed to the worker again.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import socket
import time
from collections.abc import Callable
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
    name = f"{_digest(folder)}-{uuid4().hex}"
    return name if _written(folder / name, content) else None


def home(name: str) -> str:
    """Which folder of which machine a block of this name was kept in first."""
    return name.partition("-")[0]


def content(name: str | None, block: bytes | None = None) -> bytes | memoryview | None:
    """The block of this name, or the block itself, which is kept for the next round; None where neither is here."""
    folder = _folder()
    if folder is None or name is None:
        return block
    found = _mapped(folder / name)
    if found is None and block is not None:
        _written(folder / name, block)
    return block if found is None else found


def made(key: str, make: Callable[..., bytes], name: str | None, block: bytes | None = None) -> bytes | memoryview | None:
    """What was made of a block under this key, or is made now, and kept; None where the block is not here."""
    folder = _folder()
    path = None if folder is None or name is None else folder / f"{name}-{key}"
    found = None if path is None else _mapped(path)
    if found is not None:
        return found
    whole = content(name, block)
    if whole is None:
        return None
    new = make(whole)
    if path is not None:
        _written(path, new)
    return new


def _mapped(path: Path) -> memoryview | None:
    """The file as it lies in the page cache, not copied; None where there is none."""
    try:
        with path.open("rb") as file:
            found = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        os.utime(path)
    except (OSError, ValueError):  # an empty file cannot be mapped
        return None
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


def _digest(folder: Path) -> str:
    return hashlib.sha256(f"{socket.gethostname()}:{folder}".encode()).hexdigest()[:16]


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
