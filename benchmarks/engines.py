"""Tables beyond memory: time and peak memory of `scan`, and what a round on Dask costs beside its work.

    SCAN_ROWS=1000000,5000000,20000000 python benchmarks/run.py engines

Each model is fitted in a process of its own to 20 Parquet files of 12 columns, under a budget of 1 GB. The processor time of
a fit stands beside that of reading the files with polars, the peak of memory beside 1.3 GB. For Dask the median of rounds
whose work is nothing is held against 30 ms.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from harness import Row

PEAK, ROUND = 1300.0, 0.030  # MB, seconds
MODELS = {  # and how many readings a fit may take
    "naive Bayes": ("bt.NaiveBayesClassifier()", 1.5),
    "logistic regression": ("bt.LogisticRegression()", 0.0),
    "CART of depth 10": ("bt.CARTClassifier(max_depth=10, cp=0.0005, max_surrogates=0)", 0.0),
}
FIT = """
import json, time
import polars as pl
import baytree as bt
def timed(work):
    start = time.process_time()
    work()
    return time.process_time() - start
def reading():
    for path in bt.scan({files!r}).paths:
        pl.read_parquet(path).select(pl.all().count())
model, rows = {model}, bt.scan({files!r}, memory="1GB")
cpu = min(timed(lambda: model.fit(rows, "y")) for _ in range({runs}))
peak = dict(line.split(":") for line in open("/proc/self/status"))["VmHWM"].split()[0]
read = min(timed(reading) for _ in range(3))
print(json.dumps([read, cpu, int(peak) / 1000]))
"""


def by_scan() -> Iterator[Row]:
    """Fits from files at several sizes: processor time beside readings, and peaks of memory."""
    for n_rows in map(int, os.environ.get("SCAN_ROWS", "1000000,2000000,5000000").split(",")):
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), n_rows)
            for name, (model, readings) in MODELS.items():
                read, cpu, peak = measured(model, f"{folder}/*.parquet", 2 if n_rows <= 1_000_000 else 1)
                told = f"scan, {n_rows:,} × 12: {name}"
                yield Row(told, "reading with polars", read, cpu, 1 / readings if readings else 0.0, "processor time")
                yield Row(f"{told}, peak memory", "a budget of 1.3 GB", PEAK / 1000, peak / 1000, 1.0, unit="MB")


def write(folder: Path, n_rows: int, pieces: int = 20) -> None:
    """Six columns of many numbers, three of few, two of levels, and the target; a file at a time."""
    names = np.array([f"level{j}" for j in range(8)])
    for k in range(pieces):
        r, n = np.random.default_rng(k), n_rows // pieces
        numbers, few, levels = r.normal(size=(n, 6)), r.integers(0, 1000, (n, 3)) / 8, r.integers(0, 8, (n, 2))
        score = numbers[:, 0] - 0.7 * numbers[:, 1] * (levels[:, 0] > 3) + 0.02 * (few[:, 0] - 60) + r.logistic(0, 1, n)
        columns = {f"x{j}": numbers[:, j] for j in range(6)} | {f"few{j}": few[:, j] for j in range(3)}
        columns |= {f"c{j}": names[levels[:, j]] for j in range(2)}
        pl.DataFrame({**columns, "y": np.where(score > 0, "yes", "no")}).write_parquet(folder / f"part-{k:02d}.parquet")


def measured(model: str, files: str, runs: int) -> tuple[float, float, float]:
    """Processor seconds of a reading and of a fit, and the peak of memory in MB."""
    code = FIT.format(files=files, model=model, runs=runs)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    read, cpu, peak = json.loads(done.stdout.splitlines()[-1])
    return read, cpu, peak


def round_on_dask() -> Iterator[Row]:
    """The time of a round whose work is nothing: what the engine costs."""
    try:
        import dask
        import dask.dataframe as dd
        import pandas as pd
        from dask.distributed import Client, LocalCluster
    except ImportError:
        return
    from baytree.engine.dask import collect_blocks

    frame = dd.from_pandas(pd.DataFrame({"x": range(1000)}), npartitions=8)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        packs = collect_blocks(dask.persist(*frame.to_delayed()))
        packs.sum(len)
        taken = []
        for _ in range(30):
            start = time.perf_counter()
            packs.sum(len)
            taken.append(time.perf_counter() - start)
    note = f"median of 30; the least took {1000 * min(taken):.1f} ms"
    yield Row("a round on Dask, 2 workers, 8 pieces", "30 ms", ROUND, statistics.median(taken), 1.0, note)


WORKLOADS = [by_scan, round_on_dask]
