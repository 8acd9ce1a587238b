"""A table in pieces: as files, on Dask and on Spark."""

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest


def pieces_of(frame: pl.DataFrame, pieces: int) -> list[pl.DataFrame]:
    """The table in pieces of unequal size."""
    inner = np.sort(
        np.random.default_rng(pieces).choice(np.arange(1, len(frame)), pieces - 1 - (pieces >= 7), replace=False)
    )
    ends = [0, *inner.tolist(), len(frame)]
    if pieces >= 7:
        ends.insert(pieces // 2, ends[pieces // 2])
    return [frame[first:last] for first, last in pairwise(ends)]


def on_disk(frame: pl.DataFrame, folder: Any, pieces: int, kind: str = "parquet") -> Any:
    import baytree as bt

    return bt.scan(written(frame, folder, pieces, kind) / f"*.{kind}")


def on_dask(frame: pl.DataFrame, folder: Any, pieces: int) -> Any:
    dd = pytest.importorskip("dask.dataframe")
    return dd.read_parquet(sorted(map(str, written(frame, folder, pieces).glob("*.parquet"))))


def on_spark(session: Any, frame: pl.DataFrame, folder: Any, pieces: int) -> Any:
    from functools import reduce

    paths = sorted(map(str, written(frame, folder, pieces).glob("*.parquet")))
    return reduce(lambda left, right: left.union(right), (session.read.parquet(path) for path in paths))


def written(frame: pl.DataFrame, folder: Any, pieces: int, kind: str = "parquet") -> Any:
    """The folder with the pieces as files."""
    inside = folder / f"{len(list(folder.iterdir()))}"
    inside.mkdir()
    for k, piece in enumerate(pieces_of(frame, pieces)):
        getattr(piece, f"write_{kind}")(inside / f"part-{k:02d}.{kind}")
    return inside
