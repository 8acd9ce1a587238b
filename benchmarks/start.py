"""First and single answers: a new process with a saved model, beside what others import before theirs, and one row."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

import baytree as bt
from harness import Row, best
from tables import numbers

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


def one_row() -> Iterator[Row]:
    from sklearn.tree import DecisionTreeClassifier

    X, y = numbers(20_000, 20, 2)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(20)])
    named, bare = (bt.DecisionTreeClassifier(max_depth=8).fit(table, y) for table in (frame, X))
    their_named, their_bare = (DecisionTreeClassifier(max_depth=8).fit(table, y) for table in (frame, X))
    one, row, given = frame[:1], X[:1], frame.iloc[0].to_dict()
    ours = _one(lambda: bare.predict_proba(row))
    yield Row("one row of a tree, numpy", "scikit-learn", _one(lambda: their_bare.predict_proba(row)), ours, 4)
    yield Row("one row of a tree, numpy", "0.05 ms", 0.00005, ours, 1)
    ours = _one(lambda: named.predict_proba(one))
    yield Row("one row of a tree, pandas", "scikit-learn", _one(lambda: their_named.predict_proba(one)), ours, 4)
    yield Row("one row of a tree, pandas", "0.5 ms", 0.0005, ours, 1)
    yield Row("one row of a tree, dict", "0.1 ms", 0.0001, _one(lambda: named.predict_proba(given)), 1)


def _one(answer: Callable[[], object]) -> float:
    return best(lambda: [answer() for _ in range(200)], 7) / 200


WORKLOADS = [answering, one_row]
