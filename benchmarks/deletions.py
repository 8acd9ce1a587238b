"""Processor time of the workloads that the special paths of the core were written for, to decide which of them may go.

`python benchmarks/deletions.py OUTPUT.json [CENSUS.csv]` writes the processor time of each workload in seconds, all threads
and child processes together, the least of three runs. CENSUS.csv is a table whose last column is the target, of which the
first 30,000 rows are compared once; without it the generated census stands in. Run the script before and after a deletion,
in turn, on the same machine.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import baytree as bt
from baytree import datasets

RUNS = 3
CENSUS_ROWS = 30_000


def main(output: str, census: str | None = None) -> None:
    warnings.simplefilter("ignore")
    seconds = {}
    for name, work, runs in workloads(census):
        seconds[name] = round(processor_time(work, runs), 3)
        print(f"{name}: {seconds[name]:.3f} s", flush=True)
    Path(output).write_text(json.dumps(seconds, indent=2) + "\n")


def workloads(census: str | None) -> list[tuple[str, Callable[[], object], int]]:
    """Name, work and number of runs of each workload."""
    large, people = mixed_columns(100_000), census_table(census)
    small = {name: datasets.load(name, as_="pandas") for name in ("titanic", "penguins")}
    listed: list[tuple[str, Callable[[], object], int]] = []
    for name, table in small.items():
        listed.append((f"compare {name}", partial(bt.compare, table, datasets.describe(name).target), RUNS))
    for name in ("GaussianNB", "CARTClassifier", "DecisionTreeClassifier", "LogisticRegression", "LogisticRegressionCV"):
        listed.append((f"{name} 100,000 rows", partial(getattr(bt, name)().fit, large, "y"), RUNS))
    for name, table in small.items():
        fit = partial(bt.LogisticRegressionCV().fit, table, datasets.describe(name).target)
        listed.append((f"LogisticRegressionCV {name}", fit, RUNS))
    return [*listed, ("compare census", partial(bt.compare, people, people.columns[-1]), 1)]


def mixed_columns(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """Ten numeric and three nominal columns, and two classes that depend on some of them."""
    rng = np.random.default_rng(seed)
    numeric = rng.normal(size=(n_rows, 10))
    levels = {f"level{n}": rng.integers(n, size=n_rows) for n in (3, 8, 20)}
    score = numeric[:, :4] @ [1.0, -0.5, 0.5, 0.25] + (levels["level8"] % 3) - 1 + rng.logistic(size=n_rows)
    frame = pd.DataFrame(numeric, columns=[f"number{j}" for j in range(10)])
    nominal = {name: pd.Categorical(code.astype(str)) for name, code in levels.items()}
    return frame.assign(**nominal, y=np.where(score > 0, "yes", "no"))


def census_table(path: str | None) -> pd.DataFrame:
    if path is not None:
        return pd.read_csv(path)[:CENSUS_ROWS]
    from choose import census

    return census(CENSUS_ROWS)


def processor_time(work: Callable[[], object], runs: int) -> float:
    """The least processor time of several runs, in seconds: all threads and the children that have ended."""
    times = []
    for _ in range(runs):
        gc.collect()
        start = _used()
        work()
        times.append(_used() - start)
    return min(times)


def _used() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main(*sys.argv[1:])
