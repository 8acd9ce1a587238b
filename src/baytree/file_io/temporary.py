"""Temporary files and folders that are removed when the process ends, also by a signal.

A path is registered before it is created, so a signal cannot leave it behind. Only the process that registered a path
removes it: a forked child does not. Standard library modules are imported inside the functions to keep start-up fast,
since this module is also imported for prediction only.
"""

from __future__ import annotations

import atexit
import contextlib
import os
from collections.abc import Generator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

_registered: dict[str, int] = {}  # process id that registered each path


def create_folder(prefix: str = "baytree-") -> Path:
    """Create a private folder for temporary files and return its path."""
    import tempfile
    from pathlib import Path

    while True:
        path = Path(tempfile.gettempdir(), f"{prefix}{os.urandom(8).hex()}").absolute()
        register(path)
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            unregister(path)
            continue
        except OSError:
            unregister(path)
            raise
        return path


def register(path: str | os.PathLike) -> None:
    """Register a path for removal at exit."""
    _registered[os.fspath(path)] = os.getpid()


def unregister(path: str | os.PathLike) -> None:
    """Do not remove this path at exit."""
    _registered.pop(os.fspath(path), None)


def remove(path: str | os.PathLike) -> None:
    """Remove a file or folder, registered or not."""
    _remove(os.fspath(path))
    unregister(path)


@atexit.register
def remove_all() -> None:
    """Remove all paths that this process has registered."""
    for path, process in list(_registered.items()):
        if process == os.getpid():
            remove(path)


@contextlib.contextmanager
def removed_on_signals() -> Generator[None]:
    """During the block, let SIGTERM and SIGHUP remove all registered paths before they end the process."""
    import signal
    import threading

    names = ("SIGTERM", "SIGHUP") if threading.current_thread() is threading.main_thread() else ()
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    replaced = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in replaced:
        signal.signal(number, _remove_and_end)
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, signal.SIG_DFL)


def _remove_and_end(number: int, _: FrameType | None) -> None:
    import signal

    signal.signal(number, signal.SIG_IGN)  # `timeout` sends it twice
    remove_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _remove(path: str) -> None:
    import shutil

    if not os.path.isdir(path) or os.path.islink(path):
        with contextlib.suppress(OSError):
            os.unlink(path)
        return
    for _ in range(10):  # retry: a thread may still be writing there
        shutil.rmtree(path, ignore_errors=True)
        if not os.path.exists(path):
            return
