"""Tables beyond memory: time and peak memory of `scan`, and what a round on Dask costs beside its work.

    python benchmarks/engines.py [ROWS ...]

Each model is fitted in a process of its own to 20 Parquet files of 12 columns, under a budget of 1 GB. One line of JSON per
fit is printed: CPU seconds of the fit, how many readings of the files with polars these are, and the peak of memory. The
goal is 1.3 GB. For Dask the median and the least of ten rounds that count rows are printed, with
the load of the machine.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

GOAL = 1.3e9  # bytes
MODELS = {
    "naive Bayes": "bt.NaiveBayesClassifier()",
    "logistic regression": "bt.LogisticRegression()",
    "CART, depth 10": "bt.CARTClassifier(max_depth=10, cp=0.0005, max_surrogates=0)",
}
FIT = """
import json, sys, time
import polars as pl
import baytree as bt
start = time.process_time()
for path in bt.scan({files!r}).paths:
    pl.read_parquet(path).select(pl.all().count())
read = time.process_time() - start
model = {model}
start = time.process_time()
model.fit(bt.scan({files!r}, memory="1GB"), "y")
cpu = time.process_time() - start
peak = dict(line.split(":") for line in open("/proc/self/status"))["VmHWM"].split()[0]
print(json.dumps([read, cpu, int(peak) * 1024]))
"""


def main(sizes: list[int]) -> None:
    for n_rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), n_rows)
            for name, model in MODELS.items():
                measure(name, model, f"{folder}/*.parquet", n_rows)
    round_on_dask()


def write(folder: Path, n_rows: int, pieces: int = 20) -> None:
    """Six columns of many numbers, three of few, two of levels, and the target."""
    for k in range(pieces):
        r, n = np.random.default_rng(k), n_rows // pieces
        numbers, few, levels = r.normal(size=(n, 6)), r.integers(0, 1000, (n, 3)) / 8, r.integers(0, 8, (n, 2))
        score = numbers[:, 0] - 0.7 * numbers[:, 1] * (levels[:, 0] > 3) + 0.02 * (few[:, 0] - 60) + r.logistic(0, 1, n)
        columns = {f"x{j}": numbers[:, j] for j in range(6)} | {f"few{j}": few[:, j] for j in range(3)}
        columns |= {f"c{j}": np.char.add("level", levels[:, j].astype(str)) for j in range(2)}
        pl.DataFrame({**columns, "y": np.where(score > 0, "yes", "no")}).write_parquet(folder / f"part-{k:02d}.parquet")


def measure(name: str, model: str, files: str, n_rows: int) -> None:
    code = FIT.format(files=files, model=model)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    read, cpu, peak = json.loads(done.stdout.splitlines()[-1])
    tell(
        model=name, rows=n_rows, cpu_seconds=round(cpu, 1), readings=round(cpu / read, 1), peak_gb=round(peak / 1e9, 2),
        goal_met=peak <= GOAL,
    )  # fmt: skip


def round_on_dask() -> None:
    """The time of a round whose work is nothing: what the engine costs."""
    try:
        import dask
        import dask.dataframe as dd
        import pandas as pd
        from dask.distributed import Client, LocalCluster
    except ImportError:
        tell(model="a round on Dask", note="Dask is not installed")
        return
    from baytree.engine.dask import kept

    frame = dd.from_pandas(pd.DataFrame({"x": range(1000)}), npartitions=8)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        packs = kept(dask.persist(*frame.to_delayed()))
        packs.sum(len)
        taken = []
        for _ in range(10):
            start = time.perf_counter()
            packs.sum(len)
            taken.append(time.perf_counter() - start)
    middle, least = (round(1000 * each, 1) for each in (statistics.median(taken), min(taken)))
    tell(model="a round on Dask", milliseconds=middle, least=least, load=round(os.getloadavg()[0], 1))


def tell(**result: object) -> None:
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [1_000_000, 5_000_000, 20_000_000])
