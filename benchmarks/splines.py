"""MARS beside R's earth, where Rscript and earth are installed: processor time of the whole fit, on one thread."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import baytree as bt
from harness import Row, processor

_EARTH = """
suppressMessages(library(earth)); path <- commandArgs(TRUE)[1]
rows <- matrix(readBin(path, "double", file.size(path) / 8), ncol = 21)
once <- function() sum(system.time(earth(rows[, 1:20], rows[, 21], degree = 2, nk = 41, thresh = 0))[1:2])
cat(min(replicate(3, once())))
"""


def mars() -> Iterator[Row]:
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 20))
    bends = 10 * np.sin(X[:, 0] * X[:, 1]) + 5 * np.maximum(0, X[:, 2]) * X[:, 3] + X[:, 4] ** 2
    y = bends + 2 * X[:, 5] + random.normal(size=len(X))
    theirs = _earth(np.column_stack([X, y]))
    if theirs is None:
        return
    model = bt.MARSRegressor(max_degree=2, max_terms=41, threshold=0.0, n_jobs=1)
    yield Row("MARS 20k×20, degree 2, 41 terms", "earth, processor time", theirs, processor(lambda: model.fit(X, y)), 4)


def _earth(rows: np.ndarray) -> float | None:
    """The processor time of earth, None where it is not installed."""
    if shutil.which("Rscript") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        np.asfortranarray(rows).T.tofile(path)
        ran = subprocess.run(["Rscript", "-e", _EARTH, str(path)], capture_output=True, text=True, check=False)
    return float(ran.stdout) if ran.returncode == 0 else None


WORKLOADS = [mars]
