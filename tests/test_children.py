"""Several threads may use one estimator, and processes may be forked or spawned from one that has learnt."""

from __future__ import annotations

import multiprocessing
import threading
from hashlib import sha256

import numpy as np
import pytest

import baytree as bt
from baytree import storage

MODELS = {
    "naive Bayes": bt.NaiveBayesClassifier,
    "CART": bt.CARTClassifier,
    "LDA": bt.LinearDiscriminantAnalysis,
    "logistic": bt.LogisticRegression,
}
WAIT = 120.0  # seconds, after which a process is taken to hang


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(n, 6))
    return X, np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0, "a", "b")


def digest(name: str) -> str:
    """Of the file of a model that threads have learnt."""
    return sha256(storage.dumps(MODELS[name](n_jobs=3).fit(*rows(20_000)))).hexdigest()


def digests_of_children(method: str) -> dict[str, str]:
    """The same models, learnt by two processes."""
    with multiprocessing.get_context(method).Pool(2) as pool:
        return dict(zip(MODELS, pool.map_async(digest, MODELS).get(WAIT), strict=True))


def learn_together(n_threads: int, n_batches: int) -> tuple[np.ndarray, np.ndarray]:
    """The answers of one estimator that threads taught batch by batch, and asked, and of one that learnt all at once."""
    X, y = rows(10 * n_threads * n_batches)
    shared = bt.GaussianNB().partial_fit(X[:10], y[:10], classes=["a", "b"])

    def learn(first: int) -> None:
        for start in range(10 + 10 * first, len(X), 10 * n_threads):
            shared.partial_fit(X[start : start + 10], y[start : start + 10])
            shared.predict(X[:20])

    together = [threading.Thread(target=learn, args=(k,)) for k in range(n_threads)]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join()
    return shared.predict_proba(X), bt.GaussianNB().fit(X, y).predict_proba(X)


@pytest.mark.slow
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_a_child_process_learns_the_same_models(method):
    here = {name: digest(name) for name in MODELS}
    assert digests_of_children(method) == here


def test_no_batch_is_lost_where_threads_teach_one_estimator():
    together, alone = learn_together(8, 10)
    assert np.array_equal(together, alone)
