"""Optimal trees beside STreeD (the same tests, as bits) and ConTree (all thresholds of numeric columns), to the same costs.

Times are processor times of one thread of a whole fit, so that other work on the machine disturbs them little. Some tables
of numbers are outside the repository (`shared`); a missing table is skipped with a message.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import baytree as bt
from baytree.tree.optimal.candidate_tests import different_tests, tests_of
from baytree.tree.optimal.search_rows import integer_weights
from harness import Row, in_turn, processor

SHARED = Path(__file__).resolve().parents[2] / "shared"
FILES = {
    "banknote": "tables",
    "segment": "oracles/data",
    "pima": "oracles/data",
    "vehicle": "oracles/data",
    "glass": "oracles/data",
}
BUNDLED = {"mushroom": "class", "penguins": "species"}
OF_SKLEARN = {"breast cancer": load_breast_cancer, "wine": load_wine, "iris": load_iris}
MAX_TESTS = 4  # of a column: about as many bits as the tables have that such searches are tried on


def beside_streed() -> Iterator[Row]:
    from pystreed import STreeDClassifier

    for name in (*BUNDLED, "breast cancer", "wine"):
        X, y = bits(name)
        for max_depth, penalty in ((3, 0.0), (3, 0.01), (4, 0.0), (4, 0.01)):
            task = "cost-complex-accuracy" if penalty else "accuracy"
            given = {"cost_complexity": penalty, "time_limit": 300}
            peer = STreeDClassifier(task, max_depth=max_depth, **given)
            ours = bt.OptimalTreeClassifier(max_depth=max_depth, penalty=penalty, time_limit=300, profile=False, n_jobs=1)
            theirs = processor(lambda peer=peer, X=X, y=y: peer.fit(X, y), 2)
            seconds = processor(lambda ours=ours, X=X, y=y: ours.fit(X, y), 2)
            cost = float(np.mean(peer.predict(X) != y)) + penalty * peer.get_n_leaves()
            note = f"cost {ours.certificate_.objective:.5f}, STreeD {cost:.5f}"
            words = f"optimal tree, {name}, {len(y)}×{X.shape[1]} bits, depth {max_depth}, penalty {penalty:g}"
            yield Row(words, "STreeD, processor time", theirs, seconds, 1, note)


def beside_contree() -> Iterator[Row]:
    from pycontree.base import ConTree

    for name in (*OF_SKLEARN, *FILES):
        try:
            X, y = OF_SKLEARN[name](return_X_y=True) if name in OF_SKLEARN else numeric_table(name)
        except OSError:
            print(f"{name}: not found, skipped", flush=True)
            continue
        for max_depth in (2, 3):
            peer = ConTree(max_depth=max_depth)
            ours = bt.OptimalTreeClassifier(max_depth=max_depth, penalty=0.0, time_limit=None, profile=False, n_jobs=1)
            fits = lambda peer=peer, X=X, y=y: peer.fit(X, y), lambda ours=ours, X=X, y=y: ours.fit(X, y)
            theirs, seconds = in_turn(*fits, 5 if max_depth == 2 else 2)
            errors = round(ours.certificate_.objective * len(y)), int((peer.predict(X) != y).sum())
            words = f"optimal tree, {name}, {len(y)}×{X.shape[1]}, all thresholds, depth {max_depth}"
            yield Row(words, "ConTree, processor time", theirs, seconds, 1, f"errors {errors[0]}, ConTree {errors[1]}")


def bits(name: str) -> tuple[np.ndarray, np.ndarray]:
    """What the tests of a raw table say of its rows, and their classes."""
    given = (bt.datasets.load(name), BUNDLED[name]) if name in BUNDLED else OF_SKLEARN[name](return_X_y=True)
    rows = bt.OptimalTreeClassifier()._prepare_rows(*given, None).table
    weight = integer_weights(rows.weight).units
    sides = different_tests(tests_of(rows, weight, MAX_TESTS, None), weight > 0).sides(weight > 0)
    return sides.T.astype(np.int64), rows.label.astype(np.int64)


def numeric_table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The numeric columns of a table, and its classes: the column that is no number, or the last one."""
    frame = pd.read_csv(SHARED / FILES[name] / f"{name}.csv")
    target = next(iter(frame.select_dtypes(exclude="number").columns), frame.columns[-1])
    return frame.drop(columns=target).to_numpy(float), pd.factorize(frame[target])[0]


WORKLOADS = [beside_streed, beside_contree]
