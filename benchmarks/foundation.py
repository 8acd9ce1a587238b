"""The door and naive Bayes: encoding, fitting and predicting beside one read of the memory and scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

import baytree as bt
from baytree.data.encoding import encode as door
from baytree.data.frames import read
from baytree.data.inference.infer import TableProfile
from harness import Growth, Row, Sized, best, growth
from tables import mixed, numbers


def encoding() -> Iterator[Row]:
    frame, _ = mixed()

    def encode():
        raw = read(frame)
        return door.fit_encode(raw, TableProfile.of(raw).schema())

    yield Row("encode 1M×20 (10 floats, 10 categoricals)", "a budget of 20 ms", 0.020, best(encode, 7), 1)
    strings = frame[[f"cat{i}" for i in range(10)]].astype(str)

    def factorise():
        for name in strings:
            pd.factorize(strings[name])

    def encode_strings():
        raw = read(strings)
        return door.fit_encode(raw, TableProfile.of(raw).schema())

    yield Row("encode 1M×10 strings", "pandas' own factorising", best(factorise, 5), best(encode_strings, 5), 1)


def gaussian() -> Iterator[Row]:
    from sklearn.naive_bayes import GaussianNB

    X, y = numbers(1_000_000, 50, 4)
    theirs = GaussianNB().fit(X, y)
    ours = bt.GaussianNB()
    seconds = best(lambda: ours.fit(X, y), 5)
    theirs_seconds = best(lambda: GaussianNB().fit(X, y), 2)
    sums = "limit: 20 vector instructions for a register of numbers, of 4 on AVX2, and one read"
    yield Row("Gaussian naive Bayes, fit 1M×50, 4 classes", "scikit-learn", theirs_seconds, seconds, 10, sums)
    yield Row("Gaussian naive Bayes, fit 1M×50, 4 classes", "one read (X.sum())", best(X.sum, 5), seconds, 0.33)
    agree = float(np.mean(theirs.predict(X[:100_000]) == ours.predict(X[:100_000])))
    yield Row(
        "Gaussian naive Bayes, predict 1M×50",
        "scikit-learn",
        best(lambda: theirs.predict(X), 1),
        best(lambda: ours.predict(X), 5),
        20,
        f"{agree:.4f} equal; limit: 4 instructions for a register of numbers and a class, and one read",
    )


def profiles() -> Iterator[Row]:
    X, y = numbers(100_000, 20, 3)
    plain, kept = bt.GaussianNB(profile=False), bt.GaussianNB()
    seconds = best(lambda: plain.fit(X, y), 15), best(lambda: kept.fit(X, y), 15)
    yield Row("Gaussian naive Bayes with a profile, fit 100k×20", "without a profile", *seconds, 0.8)
    batches = [(X[first : first + 10_000], y[first : first + 10_000]) for first in range(0, 100_000, 10_000)]

    def learn(keeps: bool) -> None:
        model = bt.GaussianNB(profile=keeps)
        for batch in batches:
            model.partial_fit(*batch)

    seconds = best(lambda: learn(False), 5), best(lambda: learn(True), 5)
    yield Row("Gaussian naive Bayes with a profile, 10 batches of 10k×20", "without a profile", *seconds, 0)


def growing() -> Iterator[Growth]:
    def fitted(n_rows: int, n_columns: int, n_classes: int) -> Sized:
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(n_rows, n_columns)), rng.integers(0, n_classes, n_rows)
        return Sized(lambda: bt.GaussianNB().fit(X, y), X.nbytes)

    name = "Gaussian naive Bayes, fit"
    yield growth(name, "rows", 62_500, lambda n: fitted(n, 50, 4), note="50 columns, 4 classes")
    yield growth(name, "columns", 25, lambda n: fitted(100_000, n, 4), note="100,000 rows, 4 classes")
    yield growth(name, "classes", 4, lambda n: fitted(100_000, 50, n), note="100,000 rows, 50 columns")

    def counted(n_levels: int) -> Sized:
        codes = np.random.default_rng(0).integers(0, n_levels, (200_000, 10))
        y = codes[:, 0] % 3
        return Sized(lambda: bt.CategoricalNB().fit(codes, y), codes.size * 4)

    yield growth("categorical naive Bayes, fit", "levels", 50, counted, note="200,000 rows, 10 columns")


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


WORKLOADS = [encoding, gaussian, profiles, categorical, leaving_one_out, growing]
