"""Runs the benchmarks that are named, or all of them, and writes results.json and RESULTS.md.

python benchmarks/run.py [module or workload ...]

Ends with status 1 where something is more than a tenth slower beside its peer than it was on this kind of machine.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import records
from harness import Growth, Row

MODULES = [
    "start",
    "foundation",
    "text",
    "trees",
    "c50",
    "optimal",
    "linear",
    "several_classes",
    "splines",
    "choose",
    "exports",
    "serving",
    "spark",
    "engines",
]


def main(names: list[str]) -> int:
    warnings.filterwarnings("ignore")
    print(f"machine: {records.machine_kind()}", flush=True)
    lost: list[str] = []
    for module_name in MODULES:
        for workload in importlib.import_module(module_name).WORKLOADS:
            if names and module_name not in names and workload.__name__ not in names:
                continue
            rows = measured(workload)
            lost += records.fallen(rows)
            records.write(rows)
    print(*(f"fell: {told}" for told in lost), sep="\n")
    return bool(lost)


def measured(workload: Callable[[], Iterable[Row | Growth]]) -> list[Row | Growth]:
    """The rows of a workload, run once more where one of them fell: another process may have been in the way."""
    rows = [told(row) for row in workload()]
    if not records.fallen(rows):
        return rows
    print("   once more, since something fell:", flush=True)
    pairs = zip(rows, (told(row) for row in workload()), strict=True)
    return [max(pair, key=lambda row: row.ratio) if isinstance(pair[0], Row) else pair[0] for pair in pairs]


def told(row: Row | Growth) -> Row | Growth:
    if isinstance(row, Growth):
        times = ", ".join(f"{each * 1e3:.1f}" for each in row.seconds)
        print(f"{row.workload:52s} {row.axis:32s} time ~ size^{row.exponent:.2f}  {times} ms", flush=True)
        return row
    goal = f"goal {row.goal:g}×" if row.goal else ""
    print(f"{row.workload:52s} {row.peer:32s} {row.ratio:8.2f}×  {goal}  {row.note}", flush=True)
    return row


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main(sys.argv[1:]))
