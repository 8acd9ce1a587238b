"""Block files on the machine of a Spark worker, shared by all Python workers there.

They are in the folder that Spark creates for each executor and removes with it. They are only a cache: a block whose file
is missing is sent to the worker again.
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

_MAX_IDLE_SECONDS = 3600  # age since the last pass that read it at which a file is removed: executors may run for days


def write(read: bytes) -> str | None:
    """Write a block to a file and return its name; None if that is not possible."""
    folder = _folder()
    if folder is None:
        return None
    _remove_idle(folder)
    name = f"{_digest(folder)}-{uuid4().hex}"
    return name if _write_atomically(folder / name, read) else None


def origin(name: str) -> str:
    """Digest of the machine and folder where a block of this name was first written."""
    return name.partition("-")[0]


def read(name: str | None, block: bytes | None = None) -> bytes | memoryview | None:
    """Content of the named file, else the given block, which is then written for the next pass; None if both are missing."""
    folder = _folder()
    if folder is None or name is None:
        return block
    mapped = _map_file(folder / name)
    if mapped is None and block is not None:
        _write_atomically(folder / name, block)
    return block if mapped is None else mapped


def read_or_compute(
    key: str, compute: Callable[..., bytes], name: str | None, block: bytes | None = None
) -> bytes | memoryview | None:
    """Value computed from a block and cached under `key`; None if neither the value nor the block is available."""
    folder = _folder()
    path = None if folder is None or name is None else folder / f"{name}-{key}"
    cached = None if path is None else _map_file(path)
    if cached is not None:
        return cached
    source = read(name, block)
    if source is None:
        return None
    computed = compute(source)
    if path is not None:
        _write_atomically(path, computed)
    return computed


def _map_file(path: Path) -> memoryview | None:
    """Memory-mapped file, without a copy; None if it does not exist."""
    try:
        with path.open("rb") as file:
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        os.utime(path)
    except (OSError, ValueError):  # an empty file cannot be mapped
        return None
    return mapped


def _folder() -> Path | None:
    """Folder of this executor, created on first use; None if there is no writable one."""
    from pyspark import SparkFiles

    try:
        folder = Path(SparkFiles.getRootDirectory()) / _FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
    except Exception:  # the worker has no folder or may not write to it, so nothing is cached
        return None
    return folder


def _digest(folder: Path) -> str:
    return hashlib.sha256(f"{socket.gethostname()}:{folder}".encode()).hexdigest()[:16]


def _write_atomically(path: Path, read: bytes) -> bool:
    """Write a file atomically, since another worker may read it at the same time; return whether it succeeded."""
    partial = path.with_suffix(f".{os.getpid()}")
    try:
        partial.write_bytes(read)
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        return False
    return True


def _remove_idle(folder: Path) -> None:
    for path in folder.iterdir():
        try:
            if time.time() - path.stat().st_mtime > _MAX_IDLE_SECONDS:
                path.unlink()
        except OSError:  # another worker removed it first
            continue
