"""What the benchmarks found, kept by kind of machine: results.json and RESULTS.md, and what fell since it was last measured.

Results of one kind of machine (instruction set and number of cores) never replace those of another.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from baytree import _core
from harness import Growth, Row

RESULTS = Path(__file__).parent / "results.json"
TABLE = Path(__file__).parent / "RESULTS.md"
MAX_LOST = 0.1  # of a ratio, before it is named


def machine_kind() -> str:
    """The instruction set of the vector loops and the number of cores: what figures can be compared within."""
    return f"{platform.machine()} {_core.simd_level()}, {len(os.sched_getaffinity(0))} cores"


def fallen(rows: Sequence[Row | Growth]) -> list[str]:
    """A sentence for each ratio that is more than a tenth below the one that is kept for this kind of machine."""
    kept = {_place(row): row for row in _earlier() if "ratio" in row}
    told = []
    for row in rows:
        before = kept.get(_place(_record(row)))
        if isinstance(row, Row) and before is not None and row.ratio < (1 - MAX_LOST) * before["ratio"]:
            told.append(f"{row.workload}, beside {row.peer}: {row.ratio:.2f}×, was {before['ratio']:.2f}×")
    return told


def write(rows: Sequence[Row | Growth]) -> None:
    """Adds to the results of earlier runs, replacing those of the same work on the same kind of machine."""
    new = [_record(row) for row in rows]
    works = {_work(row) for row in new}
    # results of 0.1 do not say what kind of machine they are from: they stay until there are others
    kept = {_place(row): row for row in _earlier() if row.get("kind") or _work(row) not in works}
    kept.update({_place(row): row for row in new})
    RESULTS.write_text(json.dumps(list(kept.values()), indent=1) + "\n")
    TABLE.write_text(page(list(kept.values())))


def _record(row: Row | Growth) -> dict:
    figure = {"ratio": row.ratio} if isinstance(row, Row) else {"exponent": row.exponent}
    return {**asdict(row), **figure, "kind": machine_kind(), "machine": _versions()}


def _work(row: dict) -> tuple[str, str]:
    return row["workload"], row.get("peer", row.get("axis", ""))


def _place(row: dict) -> tuple[str, str, str]:
    return *_work(row), row.get("kind", "")


def _earlier() -> list[dict]:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else []


def _versions() -> str:
    names = ("numpy", "scikit-learn", "lightgbm", "ydf", "pandas", "polars")
    return f"Python {platform.python_version()}, " + ", ".join(filter(None, map(_named, names)))


def _named(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return ""


def page(rows: list[dict]) -> str:
    lines = [
        "# Speed beside the peers",
        "",
        "Best of several runs in one process; the ratio is the peer's time over baytree's. Made by `make bench`, which",
        "names what fell by more than a tenth on the same kind of machine: instruction set of the vector loops and cores.",
        "",
        "| workload | peer | machine | peer | baytree | ratio | goal | reached | note |",
        "|---|---|---|--:|--:|--:|--:|---|---|",
        *(_compared(row) for row in rows if "peer" in row),
        "",
        "## How cost grows",
        "",
        "One thing doubles three times; the exponent is the slope of the logarithm of the time. Memory is the peak beside",
        "what there was before, over the encoded table.",
        "",
        "| workload | what doubles | machine | from | to | times | exponent | memory | note |",
        "|---|---|---|--:|--:|--:|--:|--:|---|",
        *(_grown(row) for row in rows if "axis" in row),
    ]
    return "\n".join([*lines, "", "Versions: " + "; ".join(sorted({row["machine"] for row in rows})) + ".", ""])


def _compared(row: dict) -> str:
    ratio = row["peer_seconds"] / row["seconds"]
    cells = [
        row["workload"],
        row["peer"],
        row.get("kind", "not recorded"),
        _thousandths(row["peer_seconds"], row.get("unit", "ms")),
        _thousandths(row["seconds"], row.get("unit", "ms")),
        f"{ratio:.1f}×",
        f"{row['goal']:g}×" if row["goal"] else "",
        ("yes" if ratio >= row["goal"] else "**no**") if row["goal"] else "",
        row["note"],
    ]
    return "| " + " | ".join(cells) + " |"


def _grown(row: dict) -> str:
    times = " · ".join(_thousandths(each, "ms") for each in row["seconds"])
    memory = " · ".join(f"{each:.1f}" for each in row["peaks"])
    sizes = f"{row['sizes'][0]:,}", f"{row['sizes'][-1]:,}"
    cells = [row["workload"], row["axis"], row["kind"], *sizes, times, f"{row['exponent']:.2f}", memory, row["note"]]
    return "| " + " | ".join(cells) + " |"


def _thousandths(amount: float, unit: str) -> str:
    return f"{amount * 1e3:,.1f} {unit}"
