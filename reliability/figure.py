"""A promise, how often it was tried, what was found, and whether that keeps it; results as JSON and as a table."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

import numpy
import sklearn

RESULTS = Path(__file__).parent / "results.json"
TABLE = Path(__file__).parent / "RESULTS.md"
Task = TypeVar("Task")
Found = TypeVar("Found")


@dataclass(frozen=True)
class Figure:
    code: str  # of the promise
    subject: str  # whose promise it is
    promise: str
    cases: int
    found: str
    is_kept: bool


@dataclass(frozen=True)
class Scope:
    """How far a run goes: a share of the full number of cases, and where its random numbers begin."""

    share: float
    seed: int

    def cases(self, full: int) -> int:
        return max(1, round(full * self.share))

    def seeds(self, full: int) -> range:
        return range(self.seed, self.seed + self.cases(full))


def each(work: Callable[[Task], Found], tasks: Iterable[Task]) -> Iterator[Found]:
    """The work done on every task by one process per core, in order."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(work, tasks)


def write(figure: Figure, scope: Scope) -> None:
    """Puts a figure in the place of the earlier one of the same promise and subject, and writes the table anew."""
    earlier = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    kept = {(row["code"], row["subject"]): row for row in earlier}
    kept[figure.code, figure.subject] = {**asdict(figure), "share": scope.share, "seed": scope.seed}
    rows = sorted(kept.values(), key=lambda row: row["code"])
    RESULTS.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    versions = f"Python {platform.python_version()}, numpy {numpy.__version__}, scikit-learn {sklearn.__version__}"
    TABLE.write_text(f"{table(rows)}\nMachine: {os.cpu_count()} cores, {versions}.\n")


def table(rows: list[dict]) -> str:
    lines = [
        "# Promises kept",
        "",
        "Made by `make reliability`, or by `python reliability/run.py --share S` for a share: the cases are those tried.",
        "`results.json` has the share and the figure of every subject; [PROMISES.md](PROMISES.md) lists all promises, also",
        "those that the suite tries, and those that nobody does.",
        "",
        "| | promise | subjects | cases | kept by | not kept |",
        "|---|---|--:|--:|--:|---|",
    ]
    groups: dict[tuple[str, str], list[dict]] = {}
    for row in rows:
        groups.setdefault((row["code"], row["promise"]), []).append(row)
    lines += [_line(code, promise, group) for (code, promise), group in groups.items()]
    return "\n".join([*lines, ""])


def _line(code: str, promise: str, group: list[dict]) -> str:
    broken = [f"{row['subject']}: {row['found']}" for row in group if not row["is_kept"]]
    cases = sum(row["cases"] for row in group)
    kept = f"{len(group) - len(broken)} of {len(group)}"
    return f"| {code} | {promise} | {len(group)} | {cases:,} | {kept} | {'; '.join(broken)} |"
