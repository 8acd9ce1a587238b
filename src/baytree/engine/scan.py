"""Tables on disk as an engine: files read in batches, and packed in memory or in a private folder of temporary files."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from glob import glob
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from baytree.engine import threads
from baytree.engine.budget import bytes_of
from baytree.engine.elsewhere import SPACE, Content, Look, refuse_more_than_fits
from baytree.engine.keeping.packing import packed_bytes
from baytree.engine.processes import is_alive
from baytree.engine.sighting import Sighting
from baytree.engine.threads import S
from baytree.engine.watching import told
from baytree.given import FrameLike
from baytree.table import files
from baytree.table.files.asked import PLAINLY

if TYPE_CHECKING:
    import polars as pl

_PREFIX = "baytree-scan-"
_SHARE = 4  # of the memory that rows may take, a quarter holds packed pieces; the others are written


class Scan:
    """Files that are read in batches; see `baytree.scan`."""

    advice = "give more, as in bt.scan(path, memory='8GB')"

    def __init__(self, paths: Sequence[Path], memory: int, asked: files.Asked = PLAINLY):
        self.paths, self.memory = tuple(paths), memory
        self.sources = tuple(files.opened(path, asked) for path in self.paths)
        self.columns = self.sources[0].columns

    def __repr__(self) -> str:
        named = self.paths[0].name if len(self.paths) == 1 else f"{len(self.paths)} files from {self.paths[0].name}"
        return f"Scan({named}: {', '.join(self.columns)})"

    def packed(self, look: Look) -> tuple[Folder, Sighting]:
        """Every batch packed, and what was seen in it added up."""
        folder, total = Folder(self.memory // _SHARE), Sighting("")
        try:
            for source in told(self.sources, len(self.sources)):
                total = total + files.attempt(source, lambda found: folder.filled(_looked_at(look, found)))
        except BaseException:
            folder.remove()
            raise
        return folder, total

    def batches(self) -> Iterator[pl.DataFrame]:
        """The rows, batch by batch, of types that hold for all rows of a file."""
        for source in self.sources:
            yield from files.checked(source).batches()

    def total(self, work: Callable[[FrameLike], S]) -> S:
        """One round over the rows as they are: what `work` makes of each batch, added up."""
        return threads.added(list(threads.streamed(work, (frame for frame in self.batches() if len(frame)))))

    def first(self, column: str) -> pl.Series:
        """A column of the first rows."""
        return next(frame for frame in self.batches() if len(frame))[column]

    def whole(self) -> pl.DataFrame:
        """All rows in memory, where they fit."""
        import polars as pl

        frames, size = [], 0.0
        for frame in self.batches():
            frames.append(frame)
            size += frame.estimated_size()
            refuse_more_than_fits(size * SPACE, self)
        return pl.concat(frames)

    def predicted(self, answer: Callable[[FrameLike], np.ndarray], names: Sequence[str], empty: np.ndarray) -> np.ndarray:
        """The answers for all rows, in memory."""
        return np.concatenate([empty, *threads.streamed(answer, self.batches())])


def source_of(rows: Scan) -> Scan:
    """The files themselves."""
    return rows


def scan(path: str | os.PathLike, memory: str | int = "2GB", verify: bool = False) -> Scan:
    """A table on disk that is never in memory as a whole, for `fit`, `predict`, `score` and the functions that choose.

    The files are read in batches. What a model needs more than once is kept, packed, in a private folder of this machine's
    temporary files, which is removed afterwards. The model is the same as from memory.

    Parameters
    ----------
    path : str or path-like
        A file, or a pattern such as `big/*.parquet`: CSV and its kin, Parquet, NDJSON. The files of a pattern are taken in
        the order of their names; they must have the same columns, in any order.
    memory : str or int, default='2GB'
        What rows may take in memory, in bytes or as a size such as '500MB'.
    verify : bool, default=False
        Whether Parquet files are read once beforehand to compare their pages with the checksums that Spark, and others if
        asked, write with them. A flipped bit is then refused with the file and its row group; otherwise it may be read as
        another value. It needs pyarrow.

    Returns
    -------
    Scan
        What `fit` takes in place of a frame. The target, and weights, are named: `fit(bt.scan(path), "y")`.

    Examples
    --------
    >>> import baytree as bt, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("size,y\\n1,no\\n2,no\\n")
    >>> _ = (folder / "b.csv").write_text("size,y\\n7,yes\\n8,yes\\n")
    >>> model = bt.NaiveBayesClassifier().fit(bt.scan(folder / "*.csv"), "y")
    >>> model.predict({"size": [1.5, 7.5]}).tolist()
    ['no', 'yes']
    """
    paths, budget = paths_of(path), bytes_of(memory)
    if verify:
        from baytree.table.files.whole import verify_pages

        threads.in_order(verify_pages, [each for each in paths if each.suffix.lower() == ".parquet"])
    return Scan(paths, budget)


def paths_of(path: str | os.PathLike) -> list[Path]:
    """The file of this name, or all files of a pattern in the order of their names."""
    text = os.fspath(path)
    paths = [Path(text)] if Path(text).exists() else [Path(found) for found in sorted(glob(text))]
    if not paths:
        raise files.PathError(f"there is no file {text!r}")
    return [each for each in paths if each.is_file()] or paths


class Folder:
    """Packed pieces: in memory as far as there is room, the others in files of a private folder.

    The folder is removed with this object, at the latest when Python ends.
    """

    def __init__(self, room: int = 0) -> None:
        _remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self.room, self.n_pieces = room, 0
        self._held: dict[int, Content] = {}
        self._size = 0  # of what is held
        self._lock = Lock()

    def filled(self, pieces: Iterator[tuple[Content, Sighting]]) -> Sighting:
        """Keeps further pieces, and gives what was seen in them."""
        total, n_pieces = Sighting(""), self.n_pieces
        for k in [k for k in self._held if k >= n_pieces]:  # the last attempt may have failed
            self._size -= len(self._held.pop(k))
        try:
            for content, seen in pieces:
                self._keep(n_pieces, content)
                n_pieces += 1
                total = total + seen
        except OSError as error:
            raise _unwritten(self.path, error) from None
        self.n_pieces = n_pieces
        return total

    def total(self, work: Callable[[Content], S]) -> S:
        """One round: what `work` makes of each piece, added up in the order of the pieces."""
        found = threads.streamed(lambda k: work(self._piece(k)), range(self.n_pieces))
        answers = told(found, self.n_pieces)
        total = next(answers)
        for answer in answers:
            total = total + answer
        return total

    gather = total

    def made(self, make: Callable[[Content], bytes]) -> MadeFolder:
        """What `make` makes of each piece, made when a round first asks for it."""
        return MadeFolder(self, make)

    def _keep(self, k: int, content: Content) -> None:
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


class MadeFolder(Folder):
    """What is made of the pieces of a folder: half as much of it as of them is held in memory."""

    def __init__(self, pieces: Folder, make: Callable[[Content], bytes]):
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


def _looked_at(look: Look, source: files.Source) -> Iterator[tuple[Content, Sighting]]:
    """What `look` makes of each batch of a file, which it is told with its place there."""
    return threads.streamed(lambda batch: look(*batch), _placed(source))


def _placed(source: files.Source) -> Iterator[tuple[pl.DataFrame, str]]:
    first = 1
    for frame in source.batches():
        yield frame, f"{source.name}, rows {first:,} to {first + len(frame) - 1:,}"
        first += len(frame)


def _unwritten(path: Path, error: OSError) -> OSError:
    told = f"packed rows could not be written to {str(path.parent)!r} ({error.strerror}); "
    return OSError(error.errno, told + "name a folder with more room in the environment variable TMPDIR")


def _remove_abandoned() -> None:
    """Removes the folders of runs that were killed."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        process = path.name.removeprefix(_PREFIX).split("-")[0]
        if process.isdigit() and not is_alive(int(process)):
            shutil.rmtree(path, ignore_errors=True)
