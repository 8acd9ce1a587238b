"""Best possible trees beside STreeD: the same tests, as bits, and trees of the same cost.

Both get the tests that baytree offers of a raw table, already made; what is timed is a fit with all that belongs to it.
Times are processor times of one thread, so that other work on the machine disturbs them little.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine

import baytree as bt
from baytree.tree.optimal.candidate_tests import tests_of
from baytree.tree.optimal.learner import integer_weights
from harness import Row, processor

BUNDLED = {"mushroom": "class", "penguins": "species"}
OF_SKLEARN = {"breast cancer": load_breast_cancer, "wine": load_wine}
MOST_TESTS = 4  # of a column: about as many bits as the tables have that such searches are tried on


def beside_streed() -> Iterator[Row]:
    from pystreed import STreeDClassifier

    for name in (*BUNDLED, *OF_SKLEARN):
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


def bits(name: str) -> tuple[np.ndarray, np.ndarray]:
    """What the tests of a raw table say of its rows, and their classes."""
    given = (bt.datasets.load(name), BUNDLED[name]) if name in BUNDLED else OF_SKLEARN[name](return_X_y=True)
    rows = bt.OptimalTreeClassifier()._prepare_rows(*given, None).table
    sides = tests_of(rows, integer_weights(rows).units, MOST_TESTS).is_second
    return sides.T.astype(np.int64), rows.label.astype(np.int64)


WORKLOADS = [beside_streed]
