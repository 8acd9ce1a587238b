"""Choosing beside its peers: information gain, forward selection, and a whole comparison."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd

import baytree as bt
from harness import Row, best


def filters() -> Iterator[Row]:
    from sklearn.datasets import make_classification
    from sklearn.feature_selection import mutual_info_classif

    X, y = make_classification(100_000, 50, n_informative=25, random_state=0, flip_y=0.05)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(50)]).assign(y=y.astype(str))
    seconds = best(lambda: bt.rank_features(frame, "y"), 3)
    peer = best(lambda: mutual_info_classif(X, y, n_jobs=2), 1)
    yield Row("information gain, 100k×50 numbers", "mutual_info_classif", peer, seconds, 50)


def wrapper() -> Iterator[Row]:
    from sklearn.datasets import make_classification
    from sklearn.feature_selection import SequentialFeatureSelector
    from sklearn.naive_bayes import GaussianNB

    X, y = make_classification(20_000, 60, n_informative=30, random_state=0, flip_y=0.05)
    ours = bt.ForwardSelection(bt.GaussianNB(), k=10, cv=5)
    theirs = SequentialFeatureSelector(GaussianNB(), n_features_to_select=10, cv=5, n_jobs=2)
    seconds, peer = best(lambda: ours.fit(X, y), 3), best(lambda: theirs.fit(X, y), 1)
    note = "same columns" if np.array_equal(ours.get_support(), theirs.get_support()) else "other columns"
    yield Row("forward selection, 10 of 60, 20k rows, 5 folds", "SequentialFeatureSelector", peer, seconds, 200, note)


def comparison() -> Iterator[Row]:
    table = census(32_000)
    seconds = best(lambda: bt.compare(table, "income"), 1)
    yield Row("compare, 32k×14 with missing values, 10 folds", "20 seconds", 20.0, seconds, 1)


def small_comparisons() -> Iterator[Row]:
    for n_rows, n_columns in ((189, 8), (208, 60), (625, 4)):
        code = SMALL.format(n_rows=n_rows, n_columns=n_columns)
        seconds = best(lambda code=code: subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True), 3)
        yield Row(f"compare, {n_rows}×{n_columns}, 10 folds, import included", "3 seconds", 3.0, seconds, 1)


SMALL = """
import numpy as np, baytree as bt
rng = np.random.default_rng(0)
x = rng.normal(size=({n_rows}, {n_columns})).round(2)
frame = {{f"x{{j}}": x[:, j] for j in range({n_columns})}}
frame["y"] = np.where(x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size={n_rows}) > 0, "a", "b")
bt.compare(frame, "y")
"""


def census(n_rows: int, seed: int = 0) -> pd.DataFrame:
    """People as a census sees them, made up: six numbers, eight categories, values missing here and there."""
    rng = np.random.default_rng(seed)
    age = rng.integers(17, 90, n_rows)
    schooling = rng.integers(1, 17, n_rows)
    hours = np.clip(rng.normal(40, 12, n_rows).round(), 1, 99)
    gain = np.where(rng.random(n_rows) < 0.08, rng.lognormal(8, 1, n_rows).round(), 0.0)
    levels = {"work": 8, "marriage": 7, "occupation": 14, "kin": 6, "origin": 5, "sex": 2, "country": 41, "degree": 16}
    coded = {name: rng.zipf(1.6, n_rows) % n for name, n in levels.items()}
    score = 0.04 * (age - 40) - 0.0012 * (age - 45) ** 2 + 0.3 * (schooling - 10) + 0.03 * (hours - 40) + gain / 4000
    score += np.where(coded["marriage"] == 1, 1.2, -0.8) + 0.2 * (coded["occupation"] % 4) - 1
    income = np.where(rng.random(n_rows) < 1 / (1 + np.exp(-score)), "above", "below")
    frame = pd.DataFrame({"age": age, "weight": rng.lognormal(12, 0.5, n_rows).round(), "schooling": schooling})
    frame = frame.assign(gain=gain, loss=np.where(rng.random(n_rows) < 0.05, 1900.0, 0.0), hours=hours)
    for name, codes in coded.items():
        frame[name] = pd.Series([f"{name} {code}" for code in codes], dtype=object)
    for name in ("work", "occupation", "country"):
        frame.loc[rng.random(n_rows) < 0.05, name] = None
    return frame.assign(income=income)


WORKLOADS = [filters, wrapper, comparison, small_comparisons]
