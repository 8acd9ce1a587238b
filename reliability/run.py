"""Tries what baytree promises, far more often than the test suite does, and writes results.json and RESULTS.md.

Hard rows of logistic regression (B7) are tests of the suite itself.

python reliability/run.py [A6 B4 ...] [--share 0.01] [--seed 0] [--subject LDA]
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("laws", "tree", "core", "storage", "")]

import clusters  # noqa: E402
import contract  # noqa: E402
import damage  # noqa: E402
import exactness  # noqa: E402
import files  # noqa: E402
import interrupts  # noqa: E402
import leaving  # noqa: E402
import load  # noqa: E402
import processes  # noqa: E402
import sameness  # noqa: E402
import serving  # noqa: E402
import trees  # noqa: E402
from figure import Scope, write  # noqa: E402
from metamorphic import SUBJECTS  # noqa: E402

MODULES = (contract, exactness, sameness, trees, files, interrupts, damage, clusters, serving, load, leaving, processes)
CHECKS = {code: check for module in MODULES for code, check in module.CHECKS.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("codes", nargs="*", metavar="CODE", help=f"of {', '.join(CHECKS)}; all of them if none is named")
    parser.add_argument("--share", type=float, default=1.0, help="of the full number of cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--subject", help="of the laws; all of them if none is named")
    given = parser.parse_args()
    if unknown := set(given.codes) - CHECKS.keys():
        parser.error(f"no check is called {', '.join(sorted(unknown))}; there are {', '.join(CHECKS)}")
    if given.subject:
        if given.subject not in SUBJECTS:
            parser.error(f"no subject is called {given.subject!r}; there are {', '.join(SUBJECTS)}")
        for name in SUBJECTS.keys() - {given.subject}:
            del SUBJECTS[name]
    scope, is_kept = Scope(given.share, given.seed), True
    for code in given.codes or CHECKS:
        start = time.perf_counter()
        for figure in CHECKS[code](scope):
            write(figure, scope)  # at once: an hour of cases must not be lost with the next one
            is_kept &= figure.is_kept
            verdict = "kept" if figure.is_kept else "BROKEN"
            print(f"{code}  {figure.subject:38s} {figure.cases:>9,} cases  {figure.found}: {verdict}", flush=True)
        print(f"{code}  {time.perf_counter() - start:.0f} s", flush=True)
    return 0 if is_kept else 1


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    sys.exit(main())
