"""Timing beside the peers: best of several runs in one process, ratios and goals, a JSON file and a table."""

from __future__ import annotations

import gc
import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).parent / "results.json"
TABLE = Path(__file__).parent / "RESULTS.md"


@dataclass(frozen=True)
class Row:
    """One comparison: how long the peer and baytree took for the same work, and how much faster baytree should be."""

    workload: str
    peer: str
    peer_seconds: float
    seconds: float
    goal: float
    note: str = ""
    unit: str = "ms"  # of the two numbers: milliseconds, or MB of memory in thousands

    @property
    def ratio(self) -> float:
        return self.peer_seconds / self.seconds


def best(work: Callable[[], object], runs: int = 3) -> float:
    """The shortest time of several runs, in seconds."""
    times = []
    for _ in range(runs):
        gc.collect()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def processor(work: Callable[[], object], runs: int = 3) -> float:
    """The least processor time of several runs, in seconds: all threads together, whatever else the machine does."""
    times = []
    for _ in range(runs):
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def write(rows: list[Row]) -> None:
    """Adds rows to the results of earlier runs, replacing those of the same workload and peer, and writes the table anew."""
    kept = {(row["workload"], row["peer"]): row for row in _earlier()}
    kept.update({(row.workload, row.peer): {**asdict(row), "machine": _machine()} for row in rows})
    RESULTS.write_text(json.dumps(list(kept.values()), indent=1) + "\n")
    TABLE.write_text(_table(list(kept.values())))


def _earlier() -> list[dict]:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else []


def _machine() -> str:
    names = ("numpy", "scikit-learn", "lightgbm", "ydf", "pandas", "polars")
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, " + ", ".join(filter(None, map(_named, names)))


def _named(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return ""


def _table(rows: list[dict]) -> str:
    lines = [
        "# Speed beside the peers",
        "",
        "Best of several runs in one process; the ratio is the peer's time over baytree's. Made by `make bench`.",
        "",
        "| workload | peer | peer | baytree | ratio | goal | reached | note |",
        "|---|---|--:|--:|--:|--:|---|---|",
    ]
    for row in rows:
        ratio = row["peer_seconds"] / row["seconds"]
        cells = [
            row["workload"],
            row["peer"],
            _thousandths(row["peer_seconds"], row.get("unit", "ms")),
            _thousandths(row["seconds"], row.get("unit", "ms")),
            f"{ratio:.1f}×",
            f"{row['goal']:g}×" if row["goal"] else "",
            ("yes" if ratio >= row["goal"] else "**no**") if row["goal"] else "",
            row["note"],
        ]
        lines.append("| " + " | ".join(cells) + " |")
    machines = sorted({row["machine"] for row in rows})
    return "\n".join([*lines, "", "Machine: " + "; ".join(machines) + ".", ""])


def _thousandths(amount: float, unit: str) -> str:
    return f"{amount * 1e3:,.1f} {unit}"
