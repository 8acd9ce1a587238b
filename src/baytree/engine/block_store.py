"""Storage of packed blocks on this machine: in memory up to a limit, the rest in a private temporary folder.

`BlockStore` is the `BlockCollection` of scanned files (`engine.scan`); `DerivedBlockStore` holds values computed from its
blocks. Folders of killed processes are recognised by their unlocked lock file and removed.
"""

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

LOCK = "lock"  # name of a file in the folder; the process that uses the folder holds a lock on it


class BlockStore:
    """Packed blocks, in memory while they fit into `max_memory_bytes`, otherwise in files of a private folder.

    The folder is removed with this object, at the latest when Python exits.
    """

    def __init__(self, max_memory_bytes: int = 0):
        _remove_abandoned()
        self.path = temporary.create_folder(f"{PREFIX}{os.getpid()}-")
        self.remove = weakref.finalize(self, _remove, self.path, _create_lock(self.path))
        self.max_memory_bytes, self.n_blocks = max_memory_bytes, 0
        self._in_memory: dict[int, Content] = {}
        self._size = 0  # bytes of the blocks in memory
        self._lock = Lock()

    def append(self, blocks: Iterator[tuple[Content, BlockInspection]], total: BlockInspection) -> BlockInspection:
        """Append blocks and return the sum of their inspections and `total`."""
        before = self.n_blocks
        for k in [k for k in self._in_memory if k >= before]:  # an earlier attempt may have failed part-way
            self._size -= len(self._in_memory.pop(k))
        try:
            for content, inspection in blocks:
                self._store(self.n_blocks, content)
                self.n_blocks += 1
                total = total + inspection
        except OSError as error:
            raise _write_error(self.path, error) from None
        except BaseException:
            self.n_blocks = before  # these blocks will be appended again
            raise
        return total

    def map_reduce(self, work: Callable[[Content], S]) -> S:
        """Apply `work` to every block and return the sum of the results, in block order (one pass)."""
        results = self.stream(work)
        total = next(results)
        for result in results:
            total = total + result
        return total

    gather = map_reduce

    def stream(self, work: Callable[[Content], S]) -> Iterator[S]:
        """Result of `work` for every block, in block order; only a few blocks are in progress at a time."""
        return track_blocks(threads.map_streamed(lambda k: work(self._block(k)), range(self.n_blocks)), self.n_blocks)

    def apply(self, make: Callable[[Content], bytes]) -> DerivedBlockStore:
        """Store of `make(block)` for every block; each is computed when a pass first reads it."""
        return DerivedBlockStore(self, make)

    def _store(self, k: int, content: Content) -> None:
        """Store a block, in memory if it fits."""
        with self._lock:  # passes run on threads
            in_memory = len(content) + self._size <= self.max_memory_bytes
            if in_memory:
                self._in_memory[k] = content
                self._size += len(content)
        if not in_memory:
            self._path_of(k).write_bytes(packed_bytes(content))

    def _block(self, k: int) -> Content:
        return self._in_memory[k] if k in self._in_memory else self._path_of(k).read_bytes()

    def _path_of(self, k: int) -> Path:
        return self.path / f"{k:06d}"


class DerivedBlockStore(BlockStore):
    """Values computed from the blocks of another store, on first use; memory limit is half of that store's."""

    def __init__(self, source: BlockStore, make: Callable[[Content], bytes]):
        super().__init__(source.max_memory_bytes // 2)
        self.source, self.make, self.n_blocks = source, make, source.n_blocks
        self._computed: set[int] = set()

    def _block(self, k: int) -> Content:
        if k in self._computed:
            return super()._block(k)
        content = self.make(self.source._block(k))
        try:
            self._store(k, content)
        except OSError as error:
            raise _write_error(self.path, error) from None
        self._computed.add(k)
        return content


def _write_error(path: Path, error: OSError) -> OSError:
    message = f"cannot write packed rows to {str(path.parent)!r} ({error.strerror}); "
    return OSError(error.errno, message + "set the environment variable TMPDIR to a folder with more free space")


def _create_lock(folder: Path) -> int:
    """Create the lock file of a folder and return its descriptor, which holds the lock while the process lives."""
    draft = folder / f"{LOCK}.new"
    try:
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        if try_lock(descriptor):  # where locking is not supported, no folder is ever considered abandoned
            draft.rename(folder / LOCK)
    except OSError as error:
        temporary.remove(folder)
        raise _write_error(folder, error) from None
    return descriptor


def _remove(folder: Path, lock: int) -> None:
    os.close(lock)
    temporary.remove(folder)


def _remove_abandoned() -> None:
    """Remove the folders of killed processes, i.e. those whose lock is not held by any process of any host."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if (lock := open_if_abandoned(path / LOCK)) is not None:
            _remove(path, lock)
