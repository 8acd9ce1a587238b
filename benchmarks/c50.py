"""C5.0 beside our own C4.5 (R's C50 is no package of Debian), its trials beside one tree, and how its cost grows.

Times are processor times of one thread, so that other work on the machine disturbs them little.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import baytree as bt
from choose import census
from harness import Row, processor


def tree() -> Iterator[Row]:
    X, y = _rows(200_000)
    theirs = processor(lambda: bt.C45Classifier(n_jobs=1).fit(X, y), 2)
    one = processor(lambda: bt.C50Classifier(n_jobs=1).fit(X, y), 2)
    yield Row("C5.0 tree, 200k×20, 3 classes", "our C4.5, processor time", theirs, one, 0.5)
    ten = processor(lambda: bt.C50Classifier(trials=10, n_jobs=1).fit(X, y), 1)
    yield Row("C5.0, ten trials, 200k×20", "one C5.0 tree, processor time", one, ten, 1 / 12)


def growth() -> Iterator[Row]:
    before = None
    for n in (25_000, 50_000, 100_000, 200_000):
        X, y = _rows(n)
        seconds = processor(lambda X=X, y=y: bt.C50Classifier(n_jobs=1).fit(X, y), 2)
        if before:
            yield Row(f"C5.0 tree, {n // 1000}k×20", "half the rows, processor time", before, seconds, 0.4)
        before = seconds


def in_comparison() -> Iterator[Row]:
    table = census(3_000)
    new = ["c50", "c50-rules", "mars"]
    every = [entry.short for entry in bt.compare(table[:300], "income", cv=2).entries]
    others = [key for key in every if key not in new]
    whole, without, alone = (
        processor(lambda models=models: bt.compare(table, "income", models=models, cv=5, n_jobs=1), 1)
        for models in (every, others, new)
    )
    note = f"C5.0, its rules and MARS are {alone / whole:.0%} of the whole"
    yield Row("compare, 3k×14, 5 folds", "without C5.0 and MARS + these alone", without + alone, whole, 0.9, note)


def _rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns, three classes by cuts of a score with a product in it."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 20))
    score = X[:, 0] + 0.5 * X[:, 1] * X[:, 2] - X[:, 3] + random.normal(size=n)
    return X, np.digitize(score, [-0.7, 0.7])


WORKLOADS = [tree, growth, in_comparison]
