"""A table in pieces: as files, on Dask and on Spark."""

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest


def mixed_table() -> pl.DataFrame:
    """Numbers of few values and one of many, levels, gaps; a class and a level that occur in the last rows only."""
    r, n = np.random.default_rng(1), 1500
    age, colour = r.integers(18, 60, n).astype(float), r.choice(["red", "green", "blue"], n).tolist()
    size, width = r.choice(["S", "M", "L"], n).tolist(), r.normal(0, 1, n)
    y = np.where(age + 8 * width + 6 * r.normal(size=n) > 40, "high", "low").tolist()
    y[-9:], size[-7:] = ["rare"] * 9, ["XL"] * 7
    frame = pl.DataFrame({"age": age, "colour": colour, "size": size, "width": width, "y": y})
    gaps = [pl.when(pl.Series(r.random(n) > 0.07)).then(pl.col(name)).alias(name) for name in ("age", "colour", "width")]
    weight = pl.Series("w", r.choice([0.0, 0.5, 1.0, 3.0], n))
    return frame.with_columns(*gaps, weight)


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
