"""Atomic file writes, and locks that detect drafts of writers that were killed.

`open_output` writes a draft next to the target, syncs it and renames it over the target, so a full disk, a kill or a second
writer never leaves a partial file. Drafts have unique names, so threads and processes do not share one. A writer holds a
`flock` on its draft: a draft whose lock is free was abandoned and is removed by the next writer in that folder. Locks work
across containers and, on file systems that support them, across hosts; process ids do not.

Devices and named pipes are written in place, because a rename would replace them. A symbolic link is kept; the file it
points to is replaced.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Generator
from typing import BinaryIO

from baytree.file_io import temporary

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_DRAFT = re.compile(r"\.baytree-[0-9a-f]{16}\.saving")


def write_file(path: str | os.PathLike, content: bytes) -> None:
    """Write a file atomically."""
    with open_output(path) as stream:
        stream.write(content)


@contextlib.contextmanager
def open_output(path: str | os.PathLike) -> Generator[BinaryIO]:
    """Yield a binary stream whose bytes replace the file at the end of the block; after an error the old file is unchanged.

    An existing file keeps its mode, and its owner if the system permits; a new file follows the umask.
    """
    existing = _status(path)
    if existing is not None and not stat.S_ISREG(existing.st_mode):
        with _open_in_place(path, existing.st_mode) as stream:
            yield stream
        return
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    remove_abandoned_drafts(folder)
    descriptor, draft = _open_draft(path, folder, 0o666 if existing is None else 0o600)
    try:
        with open(descriptor, "wb", closefd=fcntl is None) as stream:  # Windows only renames closed files
            yield stream
            stream.flush()
            if existing is not None:
                _copy_ownership(descriptor, existing)
            os.fsync(descriptor)
        os.replace(draft, target)
        temporary.unregister(draft)
    except BaseException:
        temporary.remove(draft)
        raise
    finally:
        if fcntl is not None:
            os.close(descriptor)  # releases the lock, so only after the rename
    _sync_folder(folder)


def is_written_in_place(path: str | os.PathLike) -> bool:
    """Return whether the path is a device, a pipe or similar, so that a write cannot be undone."""
    existing = _status(path)
    return existing is not None and not stat.S_ISREG(existing.st_mode)


def try_lock(descriptor: int) -> bool:
    """Lock an open file without waiting; return False if it is locked or locks are not supported."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def open_if_abandoned(path: str | os.PathLike) -> int | None:
    """Return a locked descriptor of a regular file on which no process holds a lock; None for every other file."""
    flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode) and try_lock(descriptor):
        return descriptor
    os.close(descriptor)
    return None


def remove_abandoned_drafts(folder: str) -> None:
    """Remove the drafts in a folder whose writers were killed."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for name in [entry.name for entry in entries if _DRAFT.fullmatch(entry.name)]:
            draft = os.path.join(folder, name)
            if (descriptor := open_if_abandoned(draft)) is not None:
                with contextlib.suppress(OSError):
                    os.unlink(draft)
                os.close(descriptor)


def _status(path: str | os.PathLike) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _open_in_place(path: str | os.PathLike, mode: int) -> BinaryIO:
    if stat.S_ISBLK(mode):
        raise ValueError(f"{os.fspath(path)}: is a block device; name a file")
    return open(os.open(path, os.O_WRONLY | getattr(os, "O_NOCTTY", 0)), "wb")


def _open_draft(path: str | os.PathLike, folder: str, mode: int) -> tuple[int, str]:
    """Create a draft with a unique name in the folder and lock it; return its descriptor and its path."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    while True:
        draft = os.path.join(folder, f".baytree-{os.urandom(8).hex()}.saving")
        temporary.register(draft)
        try:
            descriptor = os.open(draft, flags, mode)
        except FileExistsError:
            temporary.unregister(draft)
            continue
        except OSError as error:
            temporary.unregister(draft)
            raise type(error)(error.errno, error.strerror, os.fspath(path)) from None  # report the target, not the draft
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink or fcntl is None:
            return descriptor, draft
        temporary.unregister(draft)
        os.close(descriptor)  # another writer removed the draft as abandoned before it was locked


def _copy_ownership(descriptor: int, existing: os.stat_result) -> None:
    if not hasattr(os, "fchown"):
        return
    with contextlib.suppress(PermissionError):
        os.fchown(descriptor, existing.st_uid, existing.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(existing.st_mode))


def _sync_folder(folder: str) -> None:
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some file systems cannot sync a folder
            raise
    finally:
        os.close(descriptor)
