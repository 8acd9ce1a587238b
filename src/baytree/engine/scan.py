"""Tables on disk as an engine: files read in batches, and packed in memory or in a private folder of temporary files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from baytree._typing import FrameLike
from baytree.data import files
from baytree.data.files.options import PLAINLY
from baytree.engine.block_store import BlockStore
from baytree.engine.blocks import BlockInspection
from baytree.engine.progress import track_blocks
from baytree.engine.remote import SPACE, Content, Look, check_memory
from baytree.parallel import threads
from baytree.parallel.system import parse_memory_size
from baytree.parallel.threads import S

if TYPE_CHECKING:
    import polars as pl

_SHARE = 4  # of the memory that rows may take, a quarter holds packed pieces; the others are written


class Scan:
    """Files that are read in batches; see `baytree.scan`."""

    advice = "give more, as in bt.scan(path, memory='8GB')"

    def __init__(self, paths: Sequence[Path], memory: int, asked: files.ReadOptions = PLAINLY):
        self.paths, self.memory = tuple(paths), memory
        self.sources = tuple(files.open_table(path, asked) for path in self.paths)
        self.columns = self.sources[0].columns

    def __repr__(self) -> str:
        named = self.paths[0].name if len(self.paths) == 1 else f"{len(self.paths)} files from {self.paths[0].name}"
        return f"Scan({named}: {', '.join(self.columns)})"

    def pack_blocks(self, look: Look) -> tuple[BlockStore, BlockInspection]:
        """Every batch packed, and what was seen in it added up."""
        folder, total = BlockStore(self.memory // _SHARE), BlockInspection("")
        try:
            for source in track_blocks(self.sources, len(self.sources)):
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
            yield from files.settle_types(source).batches()

    def map_reduce(self, work: Callable[[FrameLike], S]) -> S:
        """One round over the rows as they are: what `work` makes of each batch, added up."""
        return threads.sum_in_order(list(threads.map_streamed(work, (frame for frame in self.batches() if len(frame)))))

    def first(self, column: str) -> pl.Series:
        """A column of the first rows."""
        return next(frame for frame in self.batches() if len(frame))[column]

    def read_all(self) -> pl.DataFrame:
        """All rows in memory, where they fit."""
        import polars as pl

        frames, size = [], 0.0
        for frame in self.batches():
            frames.append(frame)
            size += frame.estimated_size()
            check_memory(size * SPACE, self)
        return pl.concat(frames)

    def map_rows(self, answer: Callable[[FrameLike], np.ndarray], names: Sequence[str], empty: np.ndarray) -> np.ndarray:
        """The answers for all rows, in memory."""
        return np.concatenate([empty, *threads.map_streamed(answer, self.batches())])


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
    paths, budget = paths_of(path), parse_memory_size(memory)
    if verify:
        from baytree.data.files.binary import verify_pages

        threads.map_ordered(verify_pages, [each for each in paths if each.suffix.lower() == ".parquet"])
    return Scan(paths, budget)


def paths_of(path: str | os.PathLike) -> list[Path]:
    """The file of this name, or all files of a pattern in the order of their names."""
    text = os.fspath(path)
    paths = [Path(text)] if Path(text).exists() else [Path(found) for found in sorted(glob(text))]
    if not paths:
        raise files.PathError(f"there is no file {text!r}")
    return [each for each in paths if each.is_file()] or paths


def _filled(folder: BlockStore, look: Look, total: BlockInspection, source: files.TableSource) -> BlockInspection:
    return folder.filled(_looked_at(look, source), total)


def _looked_at(look: Look, source: files.TableSource) -> Iterator[tuple[Content, BlockInspection]]:
    """Each batch of a file, packed, and its summary."""
    return threads.map_streamed(lambda batch: look(*batch), _placed(source))


def _placed(source: files.TableSource) -> Iterator[tuple[pl.DataFrame, str]]:
    """Each batch, and the name of its file and rows for messages."""
    first = 0
    for frame in source.batches():
        yield frame, f"{source.name}, rows {first + 1:,} to {first + len(frame):,}"
        first += len(frame)
