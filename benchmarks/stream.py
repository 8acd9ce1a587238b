"""A file larger than memory should be: time and peak memory of `baytree fit` and `predict` on a CSV of some gigabytes.

    python benchmarks/stream.py [GIGABYTES] [FOLDER]
    python benchmarks/stream.py growth          # 1, 2, 4 and 8 times 50 MB, written to STREAM.md

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


def growth(folder: Path) -> None:
    """How time and memory of a fit grow with the file: a table of 1, 2, 4 and 8 times 50 MB."""
    lines = [
        "# Fitting files in batches",
        "",
        "`baytree fit` (naive Bayes) on a CSV of numbers, whole numbers and words, by `python benchmarks/stream.py growth`.",
        "What all rows together say of the columns is counted on the way; the file is read again only where they ask for",
        "other kinds than the first batch did.",
        "",
        "| MB | rows | CPU seconds | peak MB |",
        "|--:|--:|--:|--:|",
    ]
    spent = 0.0
    for times in (1, 2, 4, 8):
        table = folder / "stream.csv"
        n_rows = write(table, 0.05 * times)
        result = measure("fit", ["fit", table, "--target", "label", "-o", folder / "stream.baytree"], table, n_rows)
        cpu = result["cpu_seconds_so_far"] - spent
        spent += cpu
        lines.append(f"| {table.stat().st_size / 1e6:.0f} | {n_rows:,} | {cpu:.1f} | {result['peak_mb']} |")
    (Path(__file__).parent / "STREAM.md").write_text("\n".join(lines) + "\n")


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


def measure(name: str, words: list, table: Path, n_rows: int) -> dict:
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
    return result


if __name__ == "__main__":
    size = sys.argv[1] if len(sys.argv) > 1 else "2.0"
    with tempfile.TemporaryDirectory() as scratch:
        chosen = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(scratch)
        growth(chosen) if size == "growth" else main(float(size), chosen)
