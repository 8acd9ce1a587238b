"""Scan engine: files read in batches and packed in memory or in a private folder of temporary files."""

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
from baytree.data.files.options import DEFAULT_OPTIONS
from baytree.engine.block_store import BlockStore
from baytree.engine.blocks import BlockInspection
from baytree.engine.progress import track_blocks
from baytree.engine.remote import PEAK_MEMORY_FACTOR, Content, InspectBlock, check_memory
from baytree.parallel import threads
from baytree.parallel.system import parse_memory_size
from baytree.parallel.threads import S

if TYPE_CHECKING:
    import polars as pl

_BLOCK_MEMORY_DIVISOR = 4  # a quarter of the memory limit holds packed blocks; other blocks are written to files


class Scan:
    """Files that are read in batches; see `baytree.scan`."""

    advice = "raise the limit, as in bt.scan(path, memory='8GB')"

    def __init__(self, paths: Sequence[Path], memory: int, options: files.ReadOptions = DEFAULT_OPTIONS):
        self.paths, self.memory = tuple(paths), memory
        self.sources = tuple(files.open_table(path, options) for path in self.paths)
        self.columns = self.sources[0].columns

    def __repr__(self) -> str:
        named = self.paths[0].name if len(self.paths) == 1 else f"{len(self.paths)} files from {self.paths[0].name}"
        return f"Scan({named}: {', '.join(self.columns)})"

    def pack_blocks(self, inspect_block: InspectBlock) -> tuple[BlockStore, BlockInspection]:
        """Pack every batch and add up the inspections."""
        store, total = BlockStore(self.memory // _BLOCK_MEMORY_DIVISOR), BlockInspection("")
        try:
            for source in track_blocks(self.sources, len(self.sources)):
                total = files.attempt(source, partial(_pack_source, store, inspect_block, total))
            if not total.n_given:
                raise files.FileError(f"{', '.join(path.name for path in self.paths[:3])}: there is a header but no row")
        except BaseException:
            store.remove()
            raise
        return store, total

    def batches(self) -> Iterator[pl.DataFrame]:
        """Rows in batches, with column types that hold for all rows of a file."""
        for source in self.sources:
            yield from files.settle_types(source).batches()

    def map_reduce(self, work: Callable[[FrameLike], S]) -> S:
        """Apply `work` to every non-empty batch of raw rows and return the sum of the results (one pass)."""
        return threads.sum_in_order(list(threads.map_streamed(work, (frame for frame in self.batches() if len(frame)))))

    def first(self, column: str) -> pl.Series:
        """Column of the first rows, as a polars series."""
        return next(frame for frame in self.batches() if len(frame))[column]

    def read_all(self) -> pl.DataFrame:
        """All rows as a polars frame; raises ValueError if they do not fit in memory."""
        import polars as pl

        frames, size = [], 0.0
        for frame in self.batches():
            frames.append(frame)
            size += frame.estimated_size()
            check_memory(size * PEAK_MEMORY_FACTOR, self)
        return pl.concat(frames)

    def map_rows(self, predict: Callable[[FrameLike], np.ndarray], names: Sequence[str], empty: np.ndarray) -> np.ndarray:
        """Predictions for all rows, in memory."""
        return np.concatenate([empty, *threads.map_streamed(predict, self.batches())])


def source_of(rows: Scan) -> Scan:
    """Return the scan itself, which is a remote source."""
    return rows


def scan(path: str | os.PathLike, memory: str | int = "2GB", verify: bool = False) -> Scan:
    """Open a table on disk that is never loaded as a whole, for `fit`, `predict`, `score` and model selection.

    The files are read in batches. Data that a model reads more than once is packed into memory and a private folder of
    temporary files, which is removed afterwards. The model is the same as from memory.

    Parameters
    ----------
    path : str or path-like
        A file, or a pattern such as `big/*.parquet`: CSV and similar text tables, Parquet, NDJSON. The files of a
        pattern are read in the order of their names; they must have the same columns, in any order.
    memory : str or int, default='2GB'
        Memory limit for rows, in bytes or as a size such as '500MB'.
    verify : bool, default=False
        Whether to read Parquet files once beforehand and compare their pages with the checksums that Spark (and other
        writers, on request) store with them. A flipped bit is then reported with the file and its row group; otherwise
        it may be read as another value. Requires pyarrow.

    Returns
    -------
    Scan
        Pass it to `fit` in place of a frame. Give target and weights by name: `fit(bt.scan(path), "y")`.

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

        threads.map_ordered(verify_pages, [file for file in paths if file.suffix.lower() == ".parquet"])
    return Scan(paths, budget)


def paths_of(path: str | os.PathLike) -> list[Path]:
    """The file of this name, or all files that match a pattern, sorted by name."""
    text = os.fspath(path)
    paths = [Path(text)] if Path(text).exists() else [Path(found) for found in sorted(glob(text))]
    if not paths:
        raise files.PathError(f"there is no file {text!r}")
    return [file for file in paths if file.is_file()] or paths


def _pack_source(
    folder: BlockStore, inspect_block: InspectBlock, total: BlockInspection, source: files.TableSource
) -> BlockInspection:
    return folder.append(_inspected_batches(inspect_block, source), total)


def _inspected_batches(inspect_block: InspectBlock, source: files.TableSource) -> Iterator[tuple[Content, BlockInspection]]:
    """Pack and inspect each batch of a file."""
    return threads.map_streamed(lambda batch: inspect_block(*batch), _located_batches(source))


def _located_batches(source: files.TableSource) -> Iterator[tuple[pl.DataFrame, str]]:
    """Each batch with its location (file and row numbers) for messages."""
    first = 0
    for frame in source.batches():
        yield frame, f"{source.name}, rows {first + 1:,} to {first + len(frame):,}"
        first += len(frame)
