"""Runs the benchmarks that are named, or all of them, and writes results.json and RESULTS.md.

python benchmarks/run.py [module or workload ...]
"""

from __future__ import annotations

import importlib
import sys
import warnings
from pathlib import Path

import harness

MODULES = [
    "start",
    "foundation",
    "text",
    "trees",
    "c50",
    "linear",
    "splines",
    "choose",
    "exports",
    "serving",
    "spark",
    "engines",
]


def main(names: list[str]) -> None:
    warnings.filterwarnings("ignore")
    for module_name in MODULES:
        for workload in importlib.import_module(module_name).WORKLOADS:
            if names and module_name not in names and workload.__name__ not in names:
                continue
            rows = []
            for row in workload():
                rows.append(row)
                goal = f"goal {row.goal:g}×" if row.goal else ""
                print(f"{row.workload:52s} {row.peer:32s} {row.ratio:8.2f}×  {goal}  {row.note}", flush=True)
            harness.write(rows)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main(sys.argv[1:])
