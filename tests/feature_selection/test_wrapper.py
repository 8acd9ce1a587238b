"""Wrappers: adding log-likelihoods is refitting, the search is scikit-learn's, and the history tells everything."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

import baytree as bt
from baytree.feature_selection.subset_scores import AddingScorer, RefittingScorer, scorer
from baytree.model_selection.problem import SupervisedProblem
from law_settings import settings


def mixed(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    label = rng.choice(["a", "b", "c"], n)
    frame = pd.DataFrame({f"x{j}": rng.normal(size=n) + j * (label == "b") for j in range(3)})
    frame["colour"] = np.where(rng.random(n) < 0.5, label, rng.choice(["red", "rare"], n, p=[0.95, 0.05]))
    frame.loc[rng.random(n) < 0.2, "x1"] = np.nan
    frame["label"] = label
    return frame


@pytest.mark.slow
@given(st.integers(0, 40), st.sampled_from(["mle", "bayes"]))
@settings(max_examples=8, deadline=None)
def test_adding_log_likelihoods_scores_as_refitting_does(seed, estimate):
    problem = SupervisedProblem.of(mixed(40, seed), "label")
    folds = problem.folds(3).parts
    model = bt.NaiveBayesClassifier(estimate=estimate)
    fast, slow = scorer(model, problem, folds, "accuracy", 1), RefittingScorer(model, problem, folds, "accuracy")
    assert isinstance(fast, AddingScorer)
    assert np.allclose(fast.added([3, 0], [1, 2]), slow.added([3, 0], [1, 2]), atol=1e-12)
    assert np.allclose(fast.removed([3, 0, 2], [0, 2]), slow.removed([3, 0, 2], [0, 2]), atol=1e-12)


@pytest.mark.parametrize("name", ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"])
def test_every_naive_bayes_scores_as_refitting_does(name):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = np.minimum(rng.poisson(1.5, size=(60, 4)) + y[:, None] * (np.arange(4) % 2), 3)
    problem = SupervisedProblem.of(X, y)
    folds = problem.folds(4).parts
    model = getattr(bt, name)()
    expected = RefittingScorer(model, problem, folds, "accuracy").added([0], [1, 2, 3])
    assert np.allclose(scorer(model, problem, folds, "accuracy", 1).added([0], [1, 2, 3]), expected)


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 3])
def test_forward_selection_takes_the_columns_that_scikit_learn_takes(n_classes):
    X, y = make_classification(200, 8, n_informative=5, n_classes=n_classes, random_state=0)
    theirs = SequentialFeatureSelector(GaussianNB(), n_features_to_select=3, cv=4).fit(X, y).get_support()
    ours = bt.ForwardSelection(bt.NaiveBayesClassifier(estimate="mle"), k=3, cv=4).fit(X, y)
    assert np.array_equal(ours.get_support(), theirs)
    assert np.array_equal(bt.ForwardSelection(GaussianNB(), k=3, cv=4).fit(X, y).get_support(), theirs)


@pytest.mark.slow
def test_backward_selection_takes_the_columns_that_scikit_learn_takes():
    X, y = make_classification(200, 8, n_informative=4, random_state=1)
    theirs = SequentialFeatureSelector(GaussianNB(), n_features_to_select=3, direction="backward", cv=4).fit(X, y)
    ours = bt.BackwardSelection(bt.NaiveBayesClassifier(estimate="mle"), k=3, cv=4).fit(X, y)
    assert np.array_equal(ours.get_support(), theirs.get_support())


def test_the_number_of_threads_does_not_matter():
    frame = mixed(120, 0)
    model = bt.NaiveBayesClassifier()
    histories = {str(bt.ForwardSelection(model, n_jobs=n).fit(frame, "label").history_) for n in (1, 2, 3)}
    assert len(histories) == 1


def test_floating_is_never_worse_than_plain_steps():
    X, y = make_classification(250, 10, n_informative=4, n_redundant=4, random_state=3)
    model = bt.NaiveBayesClassifier()
    plain = bt.ForwardSelection(model, cv=4).fit(X, y).history_
    floating = bt.ForwardSelection(model, cv=4, floating=True).fit(X, y).history_
    assert max(step.mean for step in floating.steps) >= max(step.mean for step in plain.steps)


def test_one_standard_error_takes_no_more_columns_than_the_best():
    frame = mixed(150, 1)
    best, near = (bt.ForwardSelection(bt.NaiveBayesClassifier(), k=k).fit(frame, "label") for k in ("best", "1se"))
    assert near.support_.sum() <= best.support_.sum()
    history = best.history_
    assert near.history_[near.history_.taken].mean >= history[history.taken].mean - history[history.taken].standard_error


def test_the_history_holds_every_set_with_its_score():
    chosen = bt.BackwardSelection(bt.NaiveBayesClassifier()).fit(mixed(100, 2), "label")
    assert [len(step.columns) for step in chosen.history_.steps] == [4, 3, 2, 1]
    assert list(chosen.history_.to_frame()["taken"]).count(True) == 1
    assert "taken" in str(chosen.history_)


def test_a_number_is_selected_for_by_r_squared():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    chosen = bt.ForwardSelection(LinearRegression(), k="1se", cv=4).fit(X, 3 * X[:, 2] + 0.1 * rng.normal(size=80))
    assert chosen.get_support(indices=True).tolist() == [2]


def test_transform_keeps_the_frame_and_the_order_of_its_columns():
    frame = mixed(100, 0)
    chosen = bt.ForwardSelection(bt.NaiveBayesClassifier(), k=2).fit(frame, "label")
    kept = chosen.transform(frame)
    assert list(kept.columns) == list(chosen.get_feature_names_out())
    assert len(kept.columns) == 2


@pytest.mark.parametrize(
    ("options", "words"), [({"k": 9}, "k=9"), ({"k": 0}, "k=0"), ({"scoring": "luck"}, "scoring='luck'")]
)
def test_wrong_options_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        bt.ForwardSelection(bt.NaiveBayesClassifier(), **options).fit(mixed(40, 0), "label")


@pytest.mark.scikit_learn
@parametrize_with_checks(
    [
        bt.ForwardSelection(bt.NaiveBayesClassifier()),
        bt.ForwardSelection(bt.NaiveBayesClassifier(), k="1se", cv=3, floating=True),
        bt.ForwardSelection(GaussianNB(), k=1, cv=2),
        bt.BackwardSelection(GaussianNB(), cv=2),
        bt.BackwardSelection(bt.NaiveBayesClassifier(), k="1se", floating=True),
        bt.BackwardSelection(bt.NaiveBayesClassifier(), k=1, cv=3),
    ]
)
def test_scikit_learn_accepts_the_wrappers(estimator, check):
    check(estimator)


def test_a_fitted_selector_prints_what_it_chose():
    iris = bt.datasets.load("iris")
    assert str(bt.SelectFeatures(k=2)) == "SelectFeatures(k=2)"
    first, *table = str(bt.SelectFeatures(k=2).fit(iris, "species")).splitlines()
    assert first == "SelectFeatures: 2 of 4 columns by information_gain: petal_length, petal_width"
    assert len(table) == 2 + 4
    forward = bt.ForwardSelection(bt.NaiveBayesClassifier(), k=1).fit(iris, "species")
    first, *table = str(forward).splitlines()
    assert first == "ForwardSelection: 1 of 4 columns by accuracy 0.96 in cross-validation: petal_width"
    assert table == str(forward.history_).splitlines()
    assert str(bt.BackwardSelection(bt.NaiveBayesClassifier()).fit(iris, "species")).startswith("BackwardSelection: ")
    assert str(bt.SelectFeatures(threshold=9.0).fit(iris, "species")).startswith("SelectFeatures: 0 of 4 columns")
