"""A file larger than memory should be: time and peak memory of `baytree fit` and `predict` on a CSV of some gigabytes.

    python benchmarks/stream.py [GIGABYTES] [FOLDER]

The goal is that 2 GB train under 600 MB. One line of JSON per command is printed.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

GOAL = 600  # MB


def main(gigabytes: float, folder: Path) -> None:
    table, model = folder / "stream.csv", folder / "stream.baytree"
    n_rows = write(table, gigabytes)
    measure("fit", ["fit", table, "--target", "label", "-o", model], table, n_rows)
    measure("predict", ["predict", model, table, "--proba", "-o", folder / "answers.csv"], table, n_rows)


def write(path: Path, gigabytes: float) -> int:
    """A mixed table of that size: numbers, whole numbers, words, and some cells missing; the number of its rows."""
    rng, n = np.random.default_rng(0), 100_000
    columns = {f"x{i}": rng.normal(size=n).round(5) for i in range(8)}
    columns |= {f"n{i}": rng.integers(0, 1000, n) for i in range(4)}
    columns |= {f"c{i}": rng.choice(["red", "green", "blue", "violet", "?"], n) for i in range(6)}
    columns["label"] = np.where(columns["x0"] + rng.normal(size=n) > 0, "yes", "no")
    block = pl.DataFrame(columns).write_csv(include_header=False).encode()
    n_blocks = max(1, round(gigabytes * 1e9 / len(block)))
    with path.open("wb") as stream:
        stream.write((",".join(columns) + "\n").encode())
        for _ in range(n_blocks):
            stream.write(block)
    return n * n_blocks


def measure(name: str, words: list, table: Path, n_rows: int) -> None:
    # not ru_maxrss, which begins with the memory of the process that starts another
    code = "from baytree.cli import main\ntry:\n    main()\nfinally:\n    "
    code += "print(dict(line.split(':') for line in open('/proc/self/status'))['VmHWM'].split()[0])"
    start = time.perf_counter()
    command = [sys.executable, "-c", code, *map(str, words), "--quiet"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    seconds, peak = time.perf_counter() - start, int(out) / 1024
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = {
        "command": name,
        "gigabytes": round(table.stat().st_size / 1e9, 2),
        "rows": n_rows,
        "seconds": round(seconds, 1),
        "cpu_seconds_so_far": round(cpu.ru_utime + cpu.ru_stime, 1),
        "peak_mb": round(peak),
        "goal_met": peak < GOAL,
    }
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    size = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    if len(sys.argv) > 2:
        main(size, Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            main(size, Path(scratch))
