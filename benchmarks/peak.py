"""Prints the bytes of an encoded table and the bytes that fitting a tree to its frame needs at its peak (Linux)."""

from __future__ import annotations

from pathlib import Path

import baytree as bt
from tables import mixed


def status(field: str) -> float:
    """A line of the process's own account, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * float(next(line for line in lines if line.startswith(field)).split()[1])


def main() -> None:
    frame, y = mixed()
    small = bt.DecisionTreeClassifier(max_depth=8).fit(frame.head(1000), y[:1000])  # what is imported is not counted
    encoded = len(frame) * (sum(8 if "num" in name else 4 for name in frame) + 4 + 8)  # columns, label, weight
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again
    before = status("VmRSS")
    small.fit(frame, y)
    print(encoded, status("VmHWM") - before)


if __name__ == "__main__":
    main()
