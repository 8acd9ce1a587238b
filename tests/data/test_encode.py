"""Rows are encoded by names and levels, and every refusal names the column, the value and the remedy."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mixed_frames import PANDAS, N, fitted

import baytree as bt
from law_settings import settings

any_text = st.text(st.characters(codec=None), max_size=8)  # lone surrogates and NUL included


def test_the_order_of_columns_does_not_matter():
    model = fitted(PANDAS)
    shuffled = PANDAS[["day", "word", "flag", "whole", "number"]]
    assert np.array_equal(model.predict_proba(shuffled), model.predict_proba(PANDAS))
    assert np.array_equal(model.predict_proba(shuffled.assign(extra=1)), model.predict_proba(PANDAS))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.drop(columns="word"), ["'word'", "training data is missing"]),
        (lambda f: f.assign(word=7), ["'word'", "strings", "7"]),
        (lambda f: pd.concat([f, f[["flag"]]], axis=1), ["'flag'", "2 times"]),
        (lambda f: f.assign(day=3.5), ["'day'", "a date"]),
        (lambda f: f.assign(number=np.inf), ["'number'", "row 0", "infinity"]),
        (lambda f: f.assign(whole=2**53 + 1), ["'whole'", "2^53", "nominal"]),
        (lambda f: f.assign(word=[{"a": 1}] * N), ["'word'", "dict"]),
        (lambda f: f.to_numpy()[:, :2], ["2 features", "expecting 5"]),
    ],
)
def test_what_cannot_be_meant_is_refused_in_the_user_s_words(change, words):
    model = fitted(PANDAS)
    with pytest.raises((ValueError, TypeError)) as error:
        model.predict(change(PANDAS))
    assert all(word in str(error.value) for word in words), str(error.value)


def test_unseen_levels_are_missing_or_refused():
    new, none = PANDAS.assign(word="new"), PANDAS.assign(word=None)
    model = fitted(PANDAS)
    assert np.array_equal(model.predict_proba(new), model.predict_proba(none))
    with pytest.raises(ValueError, match=r"'word': level 'new' was not seen in training; use unseen='missing'"):
        fitted(PANDAS, unseen="error").predict(new)


@given(st.lists(any_text, min_size=2, max_size=12), st.lists(st.none() | any_text, min_size=1, max_size=12))
@settings(max_examples=300, deadline=None)
def test_any_strings_at_fit_and_any_at_predict_give_probabilities(seen, asked):
    labels = [k % 2 for k in range(len(seen))]
    model = bt.NaiveBayesClassifier(schema={"x": "nominal"}).fit({"x": seen}, labels)
    assert len(model.schema_["x"].levels) == len(set(seen))
    answer = model.predict_proba({"x": asked})
    assert np.allclose(answer.sum(axis=1), 1, atol=1e-12)


@pytest.mark.slow
@given(st.lists(st.floats(allow_nan=True, allow_infinity=False), min_size=4, max_size=12), st.floats(allow_infinity=False))
@settings(max_examples=300, deadline=None)
def test_any_double_gives_probabilities(values, asked):
    X = np.array(values).reshape(-1, 1)
    y = [k % 2 for k in range(len(values))]
    for estimate in ("mle", "bayes"):
        answer = bt.NaiveBayesClassifier(estimate=estimate).fit(X, y).predict_proba([[asked]])
        assert np.isfinite(answer).all()
        assert abs(answer.sum() - 1) < 1e-12
