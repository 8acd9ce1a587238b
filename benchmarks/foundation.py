"""The door and naive Bayes: encoding, fitting and predicting beside one read of the memory and scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import baytree as bt
from baytree.table import encode as door
from baytree.table.frames import read
from baytree.table.infer import Census
from harness import Row, best
from tables import mixed, numbers


def encoding() -> Iterator[Row]:
    frame, _ = mixed()

    def encode():
        raw = read(frame)
        return door.learn(raw, Census.of(raw).schema())

    yield Row("encode 1M×20 (10 floats, 10 categoricals)", "a budget of 20 ms", 0.020, best(encode, 7), 1)
    strings = frame[[f"cat{i}" for i in range(10)]].astype(str)

    def factorise():
        import pandas as pd

        for name in strings:
            pd.factorize(strings[name])

    def encode_strings():
        raw = read(strings)
        return door.learn(raw, Census.of(raw).schema())

    yield Row("encode 1M×10 strings", "pandas' own factorising", best(factorise, 5), best(encode_strings, 5), 1)


def gaussian() -> Iterator[Row]:
    from sklearn.naive_bayes import GaussianNB

    X, y = numbers(1_000_000, 50, 4)
    theirs = GaussianNB().fit(X, y)
    ours = bt.GaussianNB()
    seconds = best(lambda: ours.fit(X, y), 5)
    theirs_seconds = best(lambda: GaussianNB().fit(X, y), 2)
    yield Row("Gaussian naive Bayes, fit 1M×50, 4 classes", "scikit-learn", theirs_seconds, seconds, 10)
    yield Row("Gaussian naive Bayes, fit 1M×50, 4 classes", "one read (X.sum())", best(X.sum, 5), seconds, 0.5)
    agree = float(np.mean(theirs.predict(X[:100_000]) == ours.predict(X[:100_000])))
    yield Row(
        "Gaussian naive Bayes, predict 1M×50",
        "scikit-learn",
        best(lambda: theirs.predict(X), 1),
        best(lambda: ours.predict(X), 3),
        10,
        f"{agree:.4f} equal",
    )


def categorical() -> Iterator[Row]:
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.preprocessing import OrdinalEncoder

    frame, y = mixed()
    nominal = frame[[f"cat{i}" for i in range(10)]]
    codes = OrdinalEncoder().fit_transform(nominal).astype(np.int64)
    seconds = best(lambda: bt.NaiveBayesClassifier().fit(nominal, y), 3)
    whole = best(lambda: CategoricalNB().fit(OrdinalEncoder().fit_transform(nominal), y), 1)
    yield Row("categorical naive Bayes, fit 1M×10 from a frame", "OrdinalEncoder + CategoricalNB", whole, seconds, 30)
    alone, seconds = best(lambda: CategoricalNB().fit(codes, y), 1), best(lambda: bt.CategoricalNB().fit(codes, y), 3)
    yield Row("categorical naive Bayes, fit 1M×10 integer codes", "CategoricalNB", alone, seconds, 10)


def leaving_one_out() -> Iterator[Row]:
    X, y = numbers(100_000, 20, 3)
    for estimate in ("mle", "bayes"):
        model = bt.NaiveBayesClassifier(estimate=estimate).fit(X, y)
        fit, left_out = best(lambda m=model: m.fit(X, y), 7), best(lambda m=model: m.leave_one_out(X, y), 5)
        yield Row(f"exact leave-one-out, naive Bayes by {estimate}, 100k×20", "five fits", 5 * fit, left_out, 1)


WORKLOADS = [encoding, gaussian, categorical, leaving_one_out]
