"""The drop-ins have scikit-learn's parameters, attributes and numbers on ordinary rows, and are right where it is not."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import naive_bayes as peers
from sklearn.utils.estimator_checks import parametrize_with_checks

import baytree as bt

RNG = np.random.default_rng(7)
N = 120
LABELS = np.array(["a", "b", "c"])[RNG.integers(0, 3, N)]
NORMAL = RNG.normal(size=(N, 4)) + (LABELS == "b")[:, None]
COUNTS = RNG.poisson(1.0 + (LABELS == "c")[:, None] * np.arange(4), size=(N, 4)).astype(float)
WEIGHTS = RNG.integers(1, 4, N).astype(float)

COUNTING = [
    ("MultinomialNB", {}),
    ("MultinomialNB", {"alpha": 0.1, "fit_prior": False}),
    ("MultinomialNB", {"alpha": [0.1, 0.2, 0.3, 0.4]}),
    ("ComplementNB", {}),
    ("ComplementNB", {"norm": True}),
    ("BernoulliNB", {}),
    ("BernoulliNB", {"alpha": 0.5, "binarize": 1.0}),
    ("BernoulliNB", {"class_prior": [0.5, 0.2, 0.3]}),
]
ATTRIBUTES = ("class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_")


@pytest.mark.scikit_learn
@parametrize_with_checks(
    [bt.NaiveBayesClassifier(numeric="kernel"), bt.NaiveBayesClassifier(conventions="weka", numeric="discretized")]
)  # defaults are tried in test_estimator.py
def test_scikit_learn_has_no_complaint(estimator, check):
    check(estimator)


@pytest.mark.parametrize("weight", [None, WEIGHTS])
def test_gaussian_has_the_numbers_of_scikit_learn(weight):
    ours, theirs = (module.GaussianNB().fit(NORMAL, LABELS, sample_weight=weight) for module in (bt, peers))
    for name in ("class_count_", "class_prior_", "theta_", "var_"):
        assert np.allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8)
    assert np.allclose(ours.predict_proba(NORMAL), theirs.predict_proba(NORMAL), atol=1e-8)
    assert np.allclose(ours.predict_joint_log_proba(NORMAL), theirs.predict_joint_log_proba(NORMAL), rtol=1e-7)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("weight", [None, WEIGHTS])
@pytest.mark.parametrize(("name", "parameters"), COUNTING)
def test_counts_have_the_numbers_of_scikit_learn(name, parameters, weight, is_sparse):
    X = sp.csr_matrix(COUNTS) if is_sparse else COUNTS
    ours, theirs = (getattr(module, name)(**parameters).fit(X, LABELS, sample_weight=weight) for module in (bt, peers))
    for attribute in ATTRIBUTES:
        assert np.allclose(getattr(ours, attribute), getattr(theirs, attribute), rtol=1e-12)
    assert np.allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-11)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-13)


@pytest.mark.parametrize("parameters", [{}, {"alpha": 0.3}, {"min_categories": 12}, {"fit_prior": False}])
def test_categories_have_the_numbers_of_scikit_learn(parameters):
    codes = np.minimum(COUNTS, 6).astype(int)
    ours, theirs = (module.CategoricalNB(**parameters).fit(codes, LABELS) for module in (bt, peers))
    for name in ("category_count_", "feature_log_prob_"):
        for mine, other in zip(getattr(ours, name), getattr(theirs, name), strict=True):
            assert np.allclose(mine, other, rtol=1e-12)
    assert (ours.n_categories_ == theirs.n_categories_).all()
    assert np.allclose(ours.predict_proba(codes), theirs.predict_proba(codes), atol=1e-13)


def test_a_code_that_was_never_seen_below_the_largest_is_smoothed_as_in_scikit_learn():
    codes = np.array([[0], [0], [4], [4], [2]])
    ours, theirs = (module.CategoricalNB().fit(codes, [0, 0, 1, 1, 1]) for module in (bt, peers))
    assert np.allclose(ours.predict_proba([[1], [3]]), theirs.predict_proba([[1], [3]]), atol=1e-14)


def test_growing_codes_give_the_model_of_all_rows():
    codes = np.minimum(COUNTS, 6).astype(int)
    order = np.argsort(codes[:, 0], kind="stable")
    parts = bt.CategoricalNB()
    for rows in np.array_split(order, 4):
        parts.partial_fit(codes[rows], LABELS[rows], classes=["a", "b", "c"])
    assert (parts.predict_proba(codes) == bt.CategoricalNB().fit(codes, LABELS).predict_proba(codes)).all()


def test_a_huge_code_costs_no_memory_and_new_codes_are_missing():
    model = bt.CategoricalNB().fit([[0], [2_000_000_000], [0], [1]], [0, 1, 0, 1])
    assert model.n_categories_.tolist() == [3]
    assert model.predict([[2_000_000_000]]).tolist() == [1]
    assert np.allclose(model.predict_proba([[77]]), [[0.5, 0.5]])


def test_columns_of_small_scale_are_not_drowned():
    small = np.where(LABELS == "a", 1e-6, 2e-6) + RNG.normal(size=N) * 1e-8
    X = np.column_stack([small, RNG.normal(size=N) * 1e6])
    assert bt.GaussianNB().fit(X, LABELS == "a").score(X, LABELS == "a") == 1.0


def test_missing_and_enormous_numbers_give_probabilities():
    model = bt.GaussianNB().fit(NORMAL, LABELS)
    rows = np.array([[np.nan] * 4, [1e300, 0, 0, 0], [-1e300, 1e300, 0, 0], [1.7e308, np.nan, 0, 0]])
    answer = model.predict_proba(rows)
    assert np.isfinite(answer).all()
    assert np.allclose(answer.sum(axis=1), 1)
    assert np.allclose(answer[0], model.class_prior_)


def test_parts_are_the_whole_bit_by_bit():
    whole = bt.GaussianNB().fit(NORMAL, LABELS)
    parts = bt.GaussianNB()
    for rows in np.array_split(np.arange(N), 7):
        parts.partial_fit(NORMAL[rows], LABELS[rows])
    assert (parts.var_ == whole.var_).all()
    assert (parts.theta_ == whole.theta_).all()


def test_negative_counts_are_refused_by_name():
    wrong = COUNTS.copy()
    wrong[5, 2] = -1
    for name in ("MultinomialNB", "ComplementNB"):
        with pytest.raises(ValueError, match=r"Negative values.*'x2', row 5"):
            getattr(bt, name)().fit(wrong, LABELS)
    with pytest.raises(ValueError, match=r"Negative values.*'x2', row 5"):
        bt.MultinomialNB().fit(COUNTS, LABELS).predict(wrong)


@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.5, 0.2, 0.1], [-0.5, 1.0, 0.5]])
def test_priors_that_cannot_be_meant_are_refused(prior):
    with pytest.raises(ValueError, match="priors"):
        bt.GaussianNB(priors=prior).fit(NORMAL, LABELS)
