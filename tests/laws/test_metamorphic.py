"""Laws that hold for every classifier: of probabilities, order, names, repetition and weights."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import baytree as bt

CLASSIFIERS = {
    "GaussianNB": bt.GaussianNB(),
    "naive Bayes, mle": bt.NaiveBayesClassifier(estimate="mle"),
    "naive Bayes, map": bt.NaiveBayesClassifier(estimate="map", alpha=2.0),
    "naive Bayes, bayes": bt.NaiveBayesClassifier(),
    "LDA": bt.LinearDiscriminantAnalysis(),
    "QDA": bt.QuadraticDiscriminantAnalysis(),
    "logistic": bt.LogisticRegression(),
    "tree": bt.DecisionTreeClassifier(),
    "CART": bt.CARTClassifier(cp=0.0, min_split=2, min_leaf=1),
    "C4.5": bt.C45Classifier(),
    "CHAID": bt.CHAIDClassifier(),
}
TREES = ("tree", "CART", "C4.5", "CHAID")
BITWISE = ("GaussianNB", "naive Bayes, mle", "naive Bayes, map", "naive Bayes, bayes", *TREES)
every = pytest.mark.parametrize("name", CLASSIFIERS)
SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def table(seed, n=40, d=3):
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n)
    X = random.normal(size=(n, d)) + y[:, None] * random.random(d)
    return np.round(X * 8) / 8, y, random  # eighths: sums and cuts of them are exact, and values repeat


def answer(name, X, y, rows, **given):
    from sklearn.base import clone

    return clone(CLASSIFIERS[name]).fit(X, y, **given).predict_proba(rows)


def assert_same(name, left, right, atol=1e-9):
    if name in BITWISE:
        assert np.array_equal(left, right)
    else:
        assert np.allclose(left, right, rtol=0, atol=atol)


wild = st.floats(allow_nan=False, allow_infinity=False, width=64)


@every
@settings(max_examples=25, deadline=None)
@given(X=arrays(np.float64, (14, 2), elements=wild), rows=arrays(np.float64, (6, 2), elements=wild))
def test_probabilities_are_probabilities_for_all_finite_numbers(name, X, rows):
    from sklearn.base import clone

    model = clone(CLASSIFIERS[name]).fit(X, np.arange(14) % 2)
    proba = model.predict_proba(rows)
    assert np.isfinite(proba).all()
    assert (proba >= 0).all()
    assert np.allclose(proba.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert (model.predict(rows) == model.classes_[proba.argmax(axis=1)]).all()


@every
@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_the_order_of_rows_does_not_matter(name, seed):
    X, y, random = table(seed)
    order = random.permutation(len(y))
    assert_same(name, answer(name, X, y, X), answer(name, X[order], y[order], X))


@every
@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_the_names_of_classes_do_not_matter(name, seed):
    X, y, _ = table(seed)
    assert_same(name, answer(name, X, y, X), answer(name, X, np.array(["a", "b", "c"])[y], X))


@every
@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_a_weight_of_two_is_the_row_twice_and_of_zero_no_row(name, seed):
    X, y, random = table(seed)
    weight = random.integers(0, 3, len(y)).astype(float)
    weight[:6] = 1
    twice = np.repeat(np.arange(len(y)), weight.astype(int))
    if len(np.unique(y[twice])) < 2:
        return
    given = answer(name, X, y, X, sample_weight=weight)
    repeated = answer(name, X[twice], y[twice], X)
    assert given.shape == repeated.shape
    assert np.allclose(given, repeated, rtol=0, atol=1e-12 if name in BITWISE else 1e-7)


@every
@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_a_constant_column_changes_nothing(name, seed):
    X, y, _ = table(seed)
    wider = np.column_stack([X, np.full(len(y), 7.25)])
    assert np.allclose(answer(name, X, y, X), answer(name, wider, y, wider), rtol=0, atol=1e-7)


@pytest.mark.parametrize("name", TREES)
@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_a_copied_column_and_monotone_scales_change_no_tree(name, seed):
    X, y, _ = table(seed)
    plain = answer(name, X, y, X)
    wider = np.column_stack([X, X[:, 0]])
    assert np.array_equal(plain, answer(name, wider, y, wider))
    assert np.array_equal(plain, answer(name, 4 * X, y, 4 * X))


@every
@settings(max_examples=10, deadline=None)
@given(SEEDS)
def test_a_shift_by_a_whole_number_changes_no_answer(name, seed):
    X, y, _ = table(seed)
    assert np.allclose(answer(name, X, y, X), answer(name, X + 1024, y, X + 1024), rtol=0, atol=1e-7)
