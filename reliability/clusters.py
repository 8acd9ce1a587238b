"""F3: a worker or an executor that is killed in the middle of a fit changes no bit, and nothing hangs."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import baytree as bt
from baytree.storage import dumps
from figure import Figure, Scope

MOST = 60  # seconds that a fit may take longer
PIECES = 12
PROMISE = "a worker that is killed in the middle of a fit changes no bit, and costs at most 60 s"


def killed_workers(scope: Scope) -> Iterator[Figure]:
    """F3: Dask and Spark, each on a cluster of its own on this machine."""
    for name, full, place in (("Dask", 20, _dask), ("Spark", 5, _spark)):
        with tempfile.TemporaryDirectory() as folder, place(Path(folder)) as (rows, processes):
            yield _figure(name, scope.seeds(full), rows, processes)


def _figure(name: str, seeds: range, rows: Callable[[], Any], processes: Callable[[], list[int]]) -> Figure:
    expected = dumps(bt.DecisionTreeClassifier(max_depth=6).fit(pd.concat(map(piece, range(PIECES))), "y"))
    _fit(rows())  # what is started or imported once is not counted
    undisturbed, _ = _fit(rows())
    faults, slowest, n_struck = [], 0.0, 0
    for seed in seeds:
        moment = undisturbed * (0.1 + 0.8 * np.random.default_rng(seed).random())
        seconds, content, is_struck = _struck(rows(), processes, moment, seed)
        slowest, n_struck = max(slowest, seconds - undisturbed), n_struck + is_struck
        faults += [] if content == expected else [f"seed {seed}: other bits"]
    found = f"{n_struck} killed, {len(faults)} other models, at most {slowest:.0f} s more than {undisturbed:.0f} s"
    return Figure("F3", name, PROMISE, len(seeds), found, not faults and slowest <= MOST and n_struck > len(seeds) // 2)


def _struck(rows: Any, processes: Callable[[], list[int]], moment: float, seed: int) -> tuple[float, bytes, bool]:
    struck: list[float] = []
    there = processes()

    def strike() -> None:
        os.kill(there[seed % len(there)], signal.SIGKILL)
        struck.append(time.perf_counter())

    timer = threading.Timer(moment, strike)
    timer.start()
    seconds, content = _fit(rows)
    ended = time.perf_counter()
    timer.cancel()
    return seconds, content, bool(struck) and struck[0] < ended


def _fit(rows: Any) -> tuple[float, bytes]:
    start = time.perf_counter()
    model = bt.DecisionTreeClassifier(max_depth=6).fit(rows, "y")
    return time.perf_counter() - start, dumps(model)


def piece(k: int) -> pd.DataFrame:
    """The rows of a part: few different numbers, so that the tree is that of memory."""
    r, n = np.random.default_rng(k), 4000
    columns = {f"x{j}": r.integers(0, 200, n) for j in range(5)} | {"colour": r.choice(["red", "green", "blue"], n)}
    score = columns["x0"] - columns["x1"] * (columns["colour"] == "red") + r.normal(0, 60, n)
    return pd.DataFrame({**columns, "y": np.where(score > 0, "yes", "no")})


def slow_piece(k: int) -> pd.DataFrame:
    """The same rows, read slowly, so that a fit has a middle."""
    time.sleep(0.2)
    return piece(k)


@contextmanager
def _dask(_: Path) -> Iterator[tuple[Callable[[], Any], Callable[[], list[int]]]]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):

        def processes() -> list[int]:
            cluster.scale(3)  # a worker whose nanny gave up is replaced, too
            with suppress(TimeoutError):
                client.wait_for_workers(3, timeout=60)
            return sorted(set(client.run(os.getpid, on_error="return").values()) & _descendants(os.getpid()))

        yield lambda: dd.from_map(slow_piece, range(PIECES), meta=piece(0).iloc[:0]), processes


@contextmanager
def _spark(folder: Path) -> Iterator[tuple[Callable[[], Any], Callable[[], list[int]]]]:
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1", SPARK_SCALA_VERSION="2.13")
    for k in range(PIECES):
        piece(k).to_parquet(folder / f"part-{k:02d}.parquet")
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.log.level", "OFF")
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.files.openCostInBytes": "128m"}
    for key, value in quiet.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    try:
        yield lambda: session.read.parquet(str(folder)), _executors
    finally:
        session.stop()


def _executors() -> list[int]:
    """The executors that this process started; waits until there are two."""
    for _ in range(600):
        found = [each for each in _descendants(os.getpid()) if "CoarseGrainedExecutorBackend" in _command(each)]
        if len(found) == 2:
            return sorted(found)
        time.sleep(0.1)
    raise TimeoutError("Spark does not bring its executors back")


def _descendants(process: int) -> set[int]:
    parents = {int(path.name): _parent(path) for path in Path("/proc").iterdir() if path.name.isdigit()}
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _parent(path: Path) -> int:
    try:
        return int((path / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended
        return 0


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


CHECKS = {"F3": killed_workers}
