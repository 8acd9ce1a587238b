"""New processes: how long it takes until the first answer of a saved model, beside what others import before theirs."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import baytree as bt
from harness import Row

WORKLOAD = "a new process loads a tree and predicts a row"


def processor_of(code: str, runs: int = 7) -> float:
    """The least processor time of a new process that runs this code, in seconds."""

    def one() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(one() for _ in range(runs))


def answering() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path, iris = Path(folder) / "m.baytree", bt.datasets.load("iris", as_="dict")
        bt.save(bt.CARTClassifier().fit(iris, "species"), path)
        row = {name: values[:1] for name, values in iris.items() if name != "species"}
        ours = processor_of(f"import baytree as bt; bt.load({str(path)!r}).predict({row!r})")
    yield Row(WORKLOAD, "import sklearn.tree, processor time", processor_of("import sklearn.tree"), ours, 4)
    yield Row(WORKLOAD, "import numpy, processor time", processor_of("import numpy"), ours, 0.4)
    yield Row(WORKLOAD, "a quarter of a second, processor time", 0.25, ours, 1)


WORKLOADS = [answering]
