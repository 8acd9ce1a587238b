"""Weights are finite, not negative, of any size; a column may name them."""

import numpy as np
import pytest
from mixed_frames import LABELS, PANDAS, RNG, N

import baytree as bt


@pytest.mark.parametrize("wrong", [[-1.0] * N, [np.nan] * N, [np.inf] * N, [0.0] * N, np.ones((N, 2)), [1.0, 2.0]])
def test_weights_that_cannot_be_meant_are_refused(wrong):
    with pytest.raises(ValueError, match=r"(?i)weight"):
        bt.NaiveBayesClassifier().fit(PANDAS, LABELS, sample_weight=wrong)


@pytest.mark.parametrize("estimate", ["mle", "map", "bayes"])
def test_weight_two_is_the_row_twice_and_weight_zero_is_no_row(estimate):
    weight = RNG.integers(0, 3, N)
    rows = np.repeat(np.arange(N), weight)
    weighted = bt.NaiveBayesClassifier(estimate=estimate).fit(PANDAS, LABELS, sample_weight=weight)
    repeated = bt.NaiveBayesClassifier(estimate=estimate).fit(PANDAS.iloc[rows], LABELS[rows])
    assert weighted.seen_ == repeated.seen_
    assert np.array_equal(weighted.predict_proba(PANDAS), repeated.predict_proba(PANDAS))


@pytest.mark.parametrize("scale", [1e307, 1e-300, 2.0**-1074])
def test_weights_of_any_size_work(scale):
    by_mle = bt.NaiveBayesClassifier(estimate="mle")
    expected = by_mle.fit(PANDAS, LABELS).predict_proba(PANDAS)
    answer = by_mle.fit(PANDAS, LABELS, sample_weight=np.full(N, scale)).predict_proba(PANDAS)
    assert np.allclose(answer, expected, rtol=1e-12, atol=1e-300)
    assert np.isfinite(
        bt.NaiveBayesClassifier().fit(PANDAS, LABELS, sample_weight=np.full(N, scale)).predict_proba(PANDAS)
    ).all()


def test_a_column_may_name_the_weights():
    weight = RNG.integers(0, 3, N).astype(float)
    frame = PANDAS.assign(times=weight, answer=LABELS)
    named = bt.NaiveBayesClassifier().fit(frame, "answer", sample_weight="times")
    given_apart = bt.NaiveBayesClassifier().fit(PANDAS, LABELS, sample_weight=weight)
    assert "times" not in named.schema_.names
    assert np.array_equal(named.predict_proba(PANDAS), given_apart.predict_proba(PANDAS))
    assert named.score(frame, "answer", sample_weight="times") == given_apart.score(PANDAS, LABELS, weight)


@pytest.mark.parametrize(("name", "words"), [("nobody", "is not a column"), ("word", "is not numeric")])
def test_a_name_that_is_no_column_of_weights_is_refused(name, words):
    with pytest.raises(ValueError, match=words):
        bt.NaiveBayesClassifier().fit(PANDAS, LABELS, sample_weight=name)
