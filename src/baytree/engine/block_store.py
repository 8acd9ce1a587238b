"""Packed pieces of files: in memory as far as there is room, the others in a private folder of temporary files."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock

from baytree.engine.blocks import BlockInspection, packed_bytes
from baytree.engine.progress import track_blocks
from baytree.engine.remote import Content
from baytree.file_io import temporary
from baytree.file_io.atomic import open_if_abandoned, try_lock
from baytree.parallel import threads
from baytree.parallel.threads import S

PREFIX = "baytree-scan-"

LOCK = "lock"  # a file in the folder, which the process that uses the folder holds a lock on


class BlockStore:
    """Packed pieces: in memory as far as there is room, the others in files of a private folder.

    The folder is removed with this object, at the latest when Python ends.
    """

    def __init__(self, room: int = 0):
        _remove_abandoned()
        self.path = temporary.create_folder(f"{PREFIX}{os.getpid()}-")
        self.remove = weakref.finalize(self, _remove, self.path, _lock(self.path))
        self.room, self.n_pieces = room, 0
        self._held: dict[int, Content] = {}
        self._size = 0  # of what is held
        self._lock = Lock()

    def filled(self, pieces: Iterator[tuple[Content, BlockInspection]], total: BlockInspection) -> BlockInspection:
        """Adds further pieces; returns the sum of their summaries and `total`."""
        before = self.n_pieces
        for k in [k for k in self._held if k >= before]:  # the last attempt may have failed
            self._size -= len(self._held.pop(k))
        try:
            for content, seen in pieces:
                self._keep(self.n_pieces, content)
                self.n_pieces += 1
                total = total + seen
        except OSError as error:
            raise _unwritten(self.path, error) from None
        except BaseException:
            self.n_pieces = before  # pieces that come again must not be added twice
            raise
        return total

    def map_reduce(self, work: Callable[[Content], S]) -> S:
        """One round: what `work` makes of each piece, added up in the order of the pieces."""
        found = threads.map_streamed(lambda k: work(self._piece(k)), range(self.n_pieces))
        answers = track_blocks(found, self.n_pieces)
        total = next(answers)
        for answer in answers:
            total = total + answer
        return total

    gather = map_reduce

    def apply(self, make: Callable[[Content], bytes]) -> DerivedBlockStore:
        """What `make` makes of each piece, made when a round first asks for it."""
        return DerivedBlockStore(self, make)

    def _keep(self, k: int, content: Content) -> None:
        """Keeps a piece, in memory where there is room for it."""
        with self._lock:  # rounds run on threads
            is_held = len(content) + self._size <= self.room
            if is_held:
                self._held[k] = content
                self._size += len(content)
        if not is_held:
            self._file(k).write_bytes(packed_bytes(content))

    def _piece(self, k: int) -> Content:
        return self._held[k] if k in self._held else self._file(k).read_bytes()

    def _file(self, k: int) -> Path:
        return self.path / f"{k:06d}"


class DerivedBlockStore(BlockStore):
    """What is made of the pieces of a folder: half as much of it as of them is held in memory."""

    def __init__(self, pieces: BlockStore, make: Callable[[Content], bytes]):
        super().__init__(pieces.room // 2)
        self.pieces, self.make, self.n_pieces = pieces, make, pieces.n_pieces
        self._made: set[int] = set()

    def _piece(self, k: int) -> Content:
        if k in self._made:
            return super()._piece(k)
        content = self.make(self.pieces._piece(k))
        try:
            self._keep(k, content)
        except OSError as error:
            raise _unwritten(self.path, error) from None
        self._made.add(k)
        return content


def _unwritten(path: Path, error: OSError) -> OSError:
    told = f"packed rows could not be written to {str(path.parent)!r} ({error.strerror}); "
    return OSError(error.errno, told + "name a folder with more room in the environment variable TMPDIR")


def _lock(folder: Path) -> int:
    """Create the lock file of a folder and return its descriptor, which holds the lock while the process lives."""
    draft = folder / f"{LOCK}.new"
    try:
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        if try_lock(descriptor):  # without locks no folder is ever taken for abandoned
            draft.rename(folder / LOCK)
    except OSError as error:
        temporary.remove(folder)
        raise _unwritten(folder, error) from None
    return descriptor


def _remove(folder: Path, lock: int) -> None:
    os.close(lock)
    temporary.remove(folder)


def _remove_abandoned() -> None:
    """Remove the folders of processes that were killed: those whose lock no process holds, whatever host it is on."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if (lock := open_if_abandoned(path / LOCK)) is not None:
            _remove(path, lock)
