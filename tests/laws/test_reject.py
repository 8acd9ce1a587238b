"""Laws of saying nothing: what is asked for more strictly is answered less, and every silence has its reason."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

import baytree as bt
from baytree.estimators.prediction import typicality
from laws.metamorphic import SUBJECTS, complete, numbers

CLASSIFIERS = [name for name, subject in SUBJECTS.items() if is_classifier(subject.estimator)]


pytestmark = pytest.mark.filterwarnings("ignore")


def is_silent(answers):
    return np.array([answer is None for answer in answers])


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_who_asks_for_more_gets_fewer_answers_and_the_same_ones(name):
    rows = SUBJECTS[name].rows(0)
    model = clone(SUBJECTS[name].estimator).fit(rows.X, rows.y)
    plain, silent = model.predict(rows.X), None
    for least in (0.0, 0.4, 0.7, 0.9, 1.0):
        answers = model.predict(rows.X, reject=least)
        now = is_silent(answers)
        assert silent is None or (silent <= now).all()
        assert answers[~now].tolist() == plain[~now].tolist()
        silent = now
    assert not is_silent(model.predict(rows.X, reject=0.0)).any()


@pytest.mark.parametrize("rule", [0.8, {"cost": 0.2}, {"confidence": 0.8, "cost": 0.5}])
def test_every_silence_has_its_reason_in_the_ledger(rule):
    rows = complete(0)
    model = bt.NaiveBayesClassifier().fit(rows.X, rows.y)
    answers, ledgers = model.predict(rows.X, reject=rule), model.explain(rows.X, reject=rule)
    assert is_silent(answers).any()
    for answer, ledger, before in zip(answers, ledgers, model.explain(rows.X), strict=True):
        assert (answer is None) == bool(ledger.unanswered) == ("unanswered" in ledger.to_dict())
        assert ledger.prediction is answer if answer is None else ledger.prediction == answer
        assert str(ledger).startswith("rejected: ") == (answer is None)
        assert answer is None or str(ledger) == str(before)


def test_silence_that_costs_as_much_as_a_doubt_is_the_same_rule():
    rows = complete(0)
    model = bt.NaiveBayesClassifier().fit(rows.X, rows.y)
    by_cost, by_confidence = (model.predict(rows.X, reject=rule) for rule in ({"cost": 0.25}, {"confidence": 0.75}))
    assert by_cost.tolist() == by_confidence.tolist()


def test_a_models_own_costs_decide_when_silence_is_cheaper():
    X, y = np.array([[0.0], [0.0], [0.0], [1.0]]), np.array([0, 0, 1, 1])
    model = bt.CARTClassifier(costs=[[0, 1], [9, 0]], min_split=2, min_leaf=1).fit(X, y)
    expected = (model.predict_proba(X) @ np.array([[0, 1], [9, 0]]))[np.arange(4), model.predict(X)]
    assert is_silent(model.predict(X, reject={"cost": 0.5})).tolist() == (expected > 0.5).tolist()


def test_where_a_set_has_one_class_there_is_an_answer():
    rows = numbers(0)
    sets = bt.conformal(bt.GaussianNB(), rows.X, rows.y, alpha=0.2)
    model = bt.GaussianNB().fit(rows.X, rows.y)
    answered = ~is_silent(model.predict(rows.X, reject=sets))
    np.testing.assert_array_equal(answered, sets.predict_set(rows.X).sum(axis=1) == 1)


GENERATIVE = [
    bt.NaiveBayesClassifier(),
    bt.GaussianNB(),
    bt.LinearDiscriminantAnalysis(),
    bt.QuadraticDiscriminantAnalysis(),
]


@pytest.mark.parametrize("model", GENERATIVE, ids=lambda model: type(model).__name__)
def test_typicality_is_a_tail_and_falls_away_from_all_rows(model):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 2000)
    X = random.normal(size=(2000, 3)) + 3 * y[:, None]
    fitted = clone(model).fit(X, y)
    found = typicality(fitted, X)
    for share in (0.05, 0.25, 0.5):
        assert np.mean(found < share) == pytest.approx(share, abs=0.04)
    away = typicality(fitted, np.array([[3.0, 3.0, 3.0], [5.0, 5.0, 5.0], [9.0, 9.0, 9.0], [90.0, 90.0, 90.0]]))
    assert (np.diff(away) <= 0).all()
    assert away[-1] < 0.001 < away[0]


def test_a_row_is_as_typical_as_what_is_known_of_it():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 500)
    X = random.normal(size=(500, 2)) + 3 * y[:, None]
    model = bt.NaiveBayesClassifier().fit(X, y)
    known, half, nothing = typicality(model, np.array([[90.0, 0.0], [np.nan, 0.0], [np.nan, np.nan]]))
    assert known < 0.01 < half
    assert nothing == 1


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (2, "reject=2"),
        ("sure", "reject='sure'"),
        ({"doubt": 1}, "reject names 'doubt'"),
        ({"cost": -1}, "cost"),
        ({"sets": 3}, "bt.conformal"),
        ({"typicality": 0.1}, "typicality is not available for CARTClassifier"),
    ],
)
def test_a_rule_that_is_none_is_refused(rule, words):
    model = bt.CARTClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=words):
        model.predict([[0.0]], reject=rule)


def test_a_saved_model_is_as_silent(tmp_path):
    rows = numbers(0)
    model = bt.GaussianNB().fit(rows.X, rows.y)
    bt.save(model, tmp_path / "m.baytree")
    assert bt.load(tmp_path / "m.baytree").predict(rows.X, reject=0.7).tolist() == model.predict(rows.X, reject=0.7).tolist()


@pytest.mark.parametrize("by", ["confidence", "typicality"])
def test_the_curve_is_what_rejecting_at_each_threshold_gives(by):
    rows = numbers(3)
    model = bt.GaussianNB().fit(rows.X, rows.y)
    curve = bt.reject_curve(model, rows.X, rows.y, by=by)
    assert curve.share[-1] == 1
    assert curve.accuracy[-1] == pytest.approx(model.score(rows.X, rows.y))
    for least, share, accuracy in zip(curve.least, curve.share, curve.accuracy, strict=True):
        answers = model.predict(rows.X, reject={by: least})
        given = ~is_silent(answers)
        assert given.mean() == pytest.approx(share)
        assert (answers[given] == rows.y[given]).mean() == pytest.approx(accuracy)


def test_the_curve_leaves_out_rows_without_a_class_and_weighs_the_others():
    frame = {"x": [0.0, 0.1, 1.0, 1.1, 0.4], "y": ["a", "a", "b", "b", None]}
    model = bt.GaussianNB().fit({key: values[:4] for key, values in frame.items()}, "y")
    curve = bt.reject_curve(model, frame, sample_weight=[1, 1, 2, 2, 5])
    assert curve.accuracy[-1] == 1
    assert len(curve.to_frame()) == len(curve.share)
