"""Laws of prediction sets: they are those of refitting, nested, and as often right as they promise."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from sklearn.tree import DecisionTreeRegressor as TheirTree

import baytree as bt
from baytree.base.learner import MergeableLearner
from baytree.estimators.learner_access import learner_of
from baytree.model_selection.cross_validate import problem_of
from laws.metamorphic import complete, mixed, numbers

pytestmark = pytest.mark.filterwarnings("ignore")


ADDITIVE = {
    "naive Bayes": (bt.NaiveBayesClassifier(), mixed),
    "naive Bayes by mle": (bt.NaiveBayesClassifier(estimate="mle"), complete),
    "naive Bayes by map": (bt.NaiveBayesClassifier(estimate="map", alpha=2.0), mixed),
    "Gaussian": (bt.GaussianNB(), numbers),
    "given priors": (bt.NaiveBayesClassifier(class_prior="equal"), mixed),
    "kernel": (bt.NaiveBayesClassifier(numeric="kernel"), numbers),
    "LDA": (bt.LinearDiscriminantAnalysis(), numbers),
    "QDA": (bt.QuadraticDiscriminantAnalysis(shrinkage=0.5), numbers),
    "joint table": (bt.JointDistribution(alpha=0.5), None),
}


def subject(name, seed=0):
    """The estimator, its columns under kinds that rows do not change, and classes as words."""
    estimator, rows = ADDITIVE[name]
    table = (rows or complete)(seed)
    X = table.X if rows else table.X[["u", "v"]]
    if name == "given priors":
        k = len(np.unique(table.y))
        estimator = clone(estimator).set_params(class_prior=np.full(k, 1 / k))
    return estimator, X, np.array([f"c{k}" for k in table.y])


def conformity(model, X, y):
    place = {label: k for k, label in enumerate(model.classes_)}
    return model.predict_proba(X)[np.arange(len(y)), [place[label] for label in y]]


def added(X, y, row, label):
    frame = X.iloc[[*range(len(X)), row]]
    return frame, np.append(y, label)


@pytest.mark.parametrize(
    "name",
    ["naive Bayes", "naive Bayes by mle", "naive Bayes by map", "Gaussian", "given priors", "LDA", "QDA", "joint table"],
)
def test_full_sets_are_those_of_refitting_with_every_class(name):
    estimator, X, y = subject(name)
    sets = bt.conformal(estimator, X, y, method="full")
    found = sets.p_values(X.iloc[:4])
    for row in range(4):
        for k, label in enumerate(sets.classes_):
            frame, labels = added(X, y, row, label)
            seen = conformity(clone(estimator).fit(frame, labels), frame, labels)
            assert found[row, k] == pytest.approx((seen <= seen[-1] * (1 + 1e-9)).mean())


@pytest.mark.parametrize("name", ["naive Bayes by mle", "Gaussian", "given priors", "kernel", "LDA", "joint table"])
def test_the_jackknife_is_that_of_refitting_without_each_row(name):
    estimator, X, y = subject(name, 1)
    sets = bt.conformal(estimator, X, y, method="cross", cv="loo")
    weight = np.zeros((5, len(sets.classes_)))
    for row in range(len(y)):
        rest = np.delete(np.arange(len(y)), row)
        model = clone(estimator).fit(X.iloc[rest], y[rest])
        weight += conformity(model, X.iloc[[row]], y[[row]]) <= model.predict_proba(X.iloc[:5]) * (1 + 1e-9)
    np.testing.assert_allclose(sets.p_values(X.iloc[:5]), (weight + 1) / (len(y) + 1))


def test_intervals_of_numbers_are_those_of_refitting_without_each_row():
    rows = numbers(0)
    X, y = rows.X.to_numpy(), rows.number
    found = bt.conformal(bt.LinearRegression(), X, y, alpha=0.2, cv="loo").predict(X[:5])
    low, high = [], []
    for row in range(len(y)):
        rest = np.delete(np.arange(len(y)), row)
        model = bt.LinearRegression().fit(X[rest], y[rest])
        miss = abs(y[row] - model.predict(X[[row]])[0])
        low.append(model.predict(X[:5]) - miss)
        high.append(model.predict(X[:5]) + miss)
    n = len(y)
    expected = [np.sort(low, axis=0)[int(0.2 * (n + 1)) - 1], np.sort(high, axis=0)[int(np.ceil(0.8 * (n + 1))) - 1]]
    np.testing.assert_allclose(found, np.stack(expected, axis=1), rtol=1e-9)


WAYS = {
    "full": {"method": "full"},
    "jackknife": {"method": "cross", "cv": "loo"},
    "folds": {"method": "cross", "cv": 5},
    "split": {"method": "cross", "cv": 0.5},
    "full, by class": {"method": "full", "by_class": True},
    "jackknife, by class": {"method": "cross", "cv": "loo", "by_class": True},
    "folds, by class": {"method": "cross", "cv": 5, "by_class": True},
}


@pytest.mark.parametrize("way", WAYS)
def test_who_may_miss_more_often_gets_smaller_sets(way):
    estimator, X, y = subject("naive Bayes")
    sets = bt.conformal(estimator, X, y, **WAYS[way])
    sizes = [sets.predict_set(X, alpha) for alpha in (0.01, 0.1, 0.3, 0.9)]
    assert all((smaller <= larger).all() for larger, smaller in itertools.pairwise(sizes))
    assert sizes[0].all(axis=1).any() or sizes[-1].sum() < sizes[0].sum()


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_sets_hold_the_truth_as_often_as_they_promise(way):
    random, held, rare = np.random.default_rng(7), [], []
    for _ in range(60):
        y = (random.random(90) < 0.3).astype(int)
        X = np.column_stack([random.normal(size=90) + y, random.exponential(size=90) * (1 + y)])  # not normal: no matter
        sets = bt.conformal(bt.NaiveBayesClassifier(), X[:60], y[:60], alpha=0.2, **WAYS[way])
        found = sets.coverage(X[60:], y[60:])
        held.append(found.share)
        rare.append(found.by_class.get(1, np.nan))
    allowed = 3 * np.std(held) / np.sqrt(len(held))
    assert 0.8 - allowed < np.mean(held) < 0.88 + allowed
    if WAYS[way].get("by_class"):
        assert np.nanmean(rare) > 0.8 - 3 * np.nanstd(rare) / np.sqrt(len(rare))


@pytest.mark.parametrize("way", ["full", "jackknife", "full, by class"])
def test_the_order_of_the_rows_changes_no_set(way):
    estimator, X, y = subject("naive Bayes")
    turned = np.random.default_rng(0).permutation(len(y))
    one, other = (bt.conformal(estimator, X.iloc[rows], y[rows], **WAYS[way]) for rows in (np.arange(len(y)), turned))
    np.testing.assert_allclose(one.p_values(X), other.p_values(X))


@pytest.mark.parametrize("way", ["full", "full, by class"])
def test_a_row_of_weight_two_is_the_row_twice(way):
    estimator, X, y = subject("naive Bayes")
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    every = np.repeat(np.arange(len(y)), weight)
    weighed = bt.conformal(estimator, X, y, sample_weight=weight, **WAYS[way])
    repeated = bt.conformal(estimator, X.iloc[every], y[every], **WAYS[way])
    np.testing.assert_allclose(weighed.p_values(X), repeated.p_values(X))


def test_a_row_of_which_nothing_is_known_conforms_as_its_class_is_common():
    estimator, X, y = subject("naive Bayes")
    sets = bt.conformal(estimator, X, y)
    nothing = X.iloc[:1].assign(a=np.nan, b=np.nan, u=None, v=None)
    assert np.argmax(sets.p_values(nothing)[0]) == np.argmax(np.unique(y, return_counts=True)[1])


@pytest.mark.parametrize("cv", [5, 0.3])
def test_what_is_not_ours_has_sets_too(cv):
    rows = numbers(0)
    theirs = bt.conformal(TheirGaussianNB(), rows.X, rows.y, alpha=0.2, cv=cv)
    ours = bt.conformal(bt.NaiveBayesClassifier(conventions="sklearn"), rows.X, rows.y, alpha=0.2, method="cross", cv=cv)
    np.testing.assert_allclose(theirs.p_values(rows.X), ours.p_values(rows.X))
    assert bt.conformal(TheirTree(random_state=0), rows.X, rows.number, cv=cv).predict(rows.X).shape == (len(rows.y), 2)


def test_a_model_that_was_fitted_before_is_compared_with_other_rows():
    rows, new = numbers(0), np.arange(0, len(numbers(0).y), 2)
    rest = np.setdiff1d(np.arange(len(rows.y)), new)
    model = bt.GaussianNB().fit(rows.X.iloc[rest], rows.y[rest])
    sets = bt.conformal(model, rows.X.iloc[new], rows.y[new], cv="fitted")
    split = bt.conformal(bt.GaussianNB(), rows.X, rows.y, method="cross", cv=[(rest, new)])
    np.testing.assert_allclose(sets.p_values(rows.X), split.p_values(rows.X))


def test_too_few_rows_make_a_set_of_everything():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1])
    assert bt.conformal(bt.GaussianNB(), X, y, alpha=0.01).predict_set(X).all()
    assert np.isinf(bt.conformal(bt.LinearRegression(), X, y * 1.0, alpha=0.01, cv="loo").predict(X)).all()


def test_without_rows_there_is_no_set():
    sets = bt.conformal(bt.GaussianNB(), [[0.0], [1.0]], [0, 1])
    assert sets.predict([]) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"alpha": 1.0}, "alpha=1.0"),
        ({"method": "half"}, "method='half'"),
        ({"by_class": "yes"}, "by_class"),
        ({"estimator": bt.C45Classifier(), "method": "full"}, "needs a mergeable learner"),
        ({"estimator": bt.LinearRegression(), "method": "full"}, "jackknife"),
        ({"estimator": bt.LinearRegression(), "by_class": True}, "needs classes, but the target"),
        ({"cv": [([0, 1, 2], [3])] * 2}, "never holds row"),
    ],
)
def test_what_cannot_be_promised_is_refused(arguments, words):
    given = {"estimator": bt.GaussianNB(), "method": "cross", **arguments}
    with pytest.raises(ValueError, match=words):
        bt.conformal(given.pop("estimator"), [[0.0], [1.0], [0.2], [0.8]], [0, 1, 0, 1], **given)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("is_weighed", [False, True])
@pytest.mark.parametrize("estimate", ["bayes", "map", "mle"])
def test_the_closed_form_of_a_row_more_or_less_is_what_deriving_anew_gives(estimate, is_weighed, sign):
    rows = mixed(2)
    X = rows.X.assign(same=1.0, once=np.arange(len(rows.y)) == 3, level="one")  # without row 3, `once` is constant
    weight = np.random.default_rng(0).integers(1, 4, len(rows.y)) if is_weighed else None
    model = bt.NaiveBayesClassifier(estimate=estimate, schema={"once": "numeric"}).fit(X, rows.y, sample_weight=weight)
    table = problem_of(model, X, rows.y, weight).table
    learner = learner_of(model, table.schema)
    seen = learner.observe(table)
    short = list(learner.predict_after(seen, table, sign, table))
    long = list(MergeableLearner.predict_after(learner, seen, table, sign, table))
    for name in ("own", "others"):
        found, expected = (np.concatenate([getattr(after, name) for after in way]) for way in (short, long))
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)
