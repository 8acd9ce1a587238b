"""How often `compare` recommends a model other than the baseline on tables of pure noise.

python benchmarks/noise.py [number of tables]

Targets are drawn apart from the columns: two or three classes, even or uneven, or numbers. Each table is compared with the
defaults and with cv=5, repeats=1. A tree of one leaf is the baseline under another name. Writes NOISE.md.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import baytree as bt


def noise(number: int) -> pd.DataFrame:
    """A table whose columns say nothing about its target."""
    rng = np.random.default_rng(number)
    n = int(rng.choice([60, 120, 250, 600]))
    frame = pd.DataFrame({f"x{k}": rng.normal(size=n) for k in range(rng.integers(2, 7))})
    for k in range(rng.integers(0, 4)):
        frame[f"c{k}"] = rng.choice(list("abcdefgh")[: rng.integers(2, 9)], n)
    kind = number % 4
    if kind == 3:
        return frame.assign(y=rng.normal(size=n))
    share = ([0.5, 0.5], [0.8, 0.2], [0.5, 0.3, 0.2])[kind]
    return frame.assign(y=rng.choice([f"class {c}" for c in range(len(share))], n, p=share))


def main() -> None:
    """Compare all tables twice, and write the page."""
    lines = [
        "# What `compare` recommends on noise",
        "",
        "Tables of 60 to 600 rows whose columns say nothing about the target.",
        "`python benchmarks/noise.py` makes this page anew.",
        "",
        "| options | tables | another model than the baseline | processor seconds |",
        "|---|--:|--:|--:|",
    ]
    n_tables = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for name, options in (("defaults", {}), ("cv=5, repeats=1", {"cv": 5, "repeats": 1})):
        start, others = time.process_time(), []
        for number in range(n_tables):
            found = bt.compare(noise(number), "y", **options)
            if found.recommendation.short not in ("majority", "mean") and found.recommendation.size.numbers > 1:
                others.append((number, found.recommendation.short, found.recommendation.size.words))
        seconds = time.process_time() - start
        print(name, f"{len(others)} of {n_tables}", f"{seconds:.0f} s", others, flush=True)
        lines.append(f"| {name} | {n_tables} | {len(others)} | {seconds:.0f} |")
    Path(__file__).with_name("NOISE.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
