"""Tables on disk as an engine: files read in batches, and packed in memory or in a private folder of temporary files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from baytree.engine import threads
from baytree.engine.budget import bytes_of
from baytree.engine.elsewhere import SPACE, Content, Look, refuse_more_than_fits
from baytree.engine.keeping.folders import Folder
from baytree.engine.sighting import Sighting
from baytree.engine.threads import S
from baytree.engine.watching import told
from baytree.given import FrameLike
from baytree.table import files
from baytree.table.files.asked import PLAINLY

if TYPE_CHECKING:
    import polars as pl

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
                total = files.attempt(source, partial(_filled, folder, look, total))
            if not total.n_given:
                raise files.FileError(f"{', '.join(path.name for path in self.paths[:3])}: there is a header but no row")
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


def _filled(folder: Folder, look: Look, total: Sighting, source: files.Source) -> Sighting:
    return folder.filled(_looked_at(look, source), total)


def _looked_at(look: Look, source: files.Source) -> Iterator[tuple[Content, Sighting]]:
    """Each batch of a file, packed, and its summary."""
    return threads.streamed(lambda batch: look(*batch), _placed(source))


def _placed(source: files.Source) -> Iterator[tuple[pl.DataFrame, str]]:
    """Each batch, and the name of its file and rows for messages."""
    first = 0
    for frame in source.batches():
        yield frame, f"{source.name}, rows {first + 1:,} to {first + len(frame):,}"
        first += len(frame)
