"""Every public estimator is a scikit-learn estimator, and a failed fit leaves the old model."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import baytree as bt

PARAMETERS = {
    "NaiveBayesClassifier": [
        {"estimate": "mle"},
        {"estimate": "map", "alpha": 2.0},
        {"alpha": 0.5, "n_jobs": 2},
        {"conventions": "e1071"},
        {"conventions": "weka"},
        {"conventions": "sklearn"},
    ],
    "GaussianNB": [{"var_smoothing": 1e-3}, {"var_smoothing": 0.0}],
    "BernoulliNB": [{"alpha": 0.1}, {"binarize": None, "fit_prior": False}],
    "MultinomialNB": [{"alpha": 0.5}, {"fit_prior": False}],
    "ComplementNB": [{"norm": True}, {"alpha": 0.3}],
    "CategoricalNB": [{"alpha": 0.2}, {"min_categories": 4}],
    "JointDistribution": [{"alpha": 0.5}, {"alpha": 2.0}],
    "C50Classifier": [{"rules": True}, {"trials": 3, "fuzzy": True}, {"winnow": True, "subset": False}],
    "MARSRegressor": [{"max_degree": 2, "standardize": True}],
    "MARSClassifier": [{"max_degree": 2}],
    "LinearRegression": [{"penalty": "l2"}],
    "AdditiveClassifier": [{"interactions": 0, "smooth": 1.0}],
    "AdditiveRegressor": [{"max_bins": 8}],
    "Scorecard": [{"select": "stepwise", "max_bins": 3}],
}


def estimators():
    """Every public estimator that needs no inner estimator, with its defaults and its further parameter sets."""
    for name in bt.__all__:
        kind = getattr(bt, name)
        if (
            inspect.isclass(kind)
            and issubclass(kind, BaseEstimator)
            and "estimator" not in inspect.signature(kind).parameters
        ):
            yield kind()
            yield from (kind(**parameters) for parameters in PARAMETERS.get(name, []))


def departures(estimator):
    """Where an estimator departs from scikit-learn, and why."""
    if isinstance(estimator, bt.StreamingTreeClassifier):
        return {"check_classifiers_train": "its 300 rows are too few: no leaf is judged before 200 have come to it"}
    if not isinstance(estimator, bt.C50Classifier):
        return {}
    why = "C5.0 divides case weights by their mean, so that a weight of 2 is not the row twice"
    return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")}


@pytest.mark.scikit_learn
@parametrize_with_checks(list(estimators()), expected_failed_checks=departures)
def test_scikit_learn_s_checks_pass_but_for_stated_departures(estimator, check):
    check(estimator)


RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=120), "b": RNG.normal(size=120), "c": RNG.choice(["x", "y"], 120)})
Y = np.where(X.a + (X.c == "x") + RNG.normal(size=120) / 2 > 0.5, "yes", "no")


def test_it_works_inside_scikit_learn_s_machinery():
    model = bt.NaiveBayesClassifier()
    assert cross_val_score(model, X, Y, cv=3).mean() > 0.7
    grid = GridSearchCV(model, {"alpha": [0.1, 1.0], "estimate": ["mle", "bayes"]}, cv=3).fit(X, Y)
    assert grid.best_score_ > 0.7
    scaled = make_pipeline(make_column_transformer((StandardScaler(), ["a", "b"]), remainder="passthrough"), model)
    scaled.set_output(transform="pandas")
    assert scaled.fit(X, Y).score(X, Y) > 0.7
    calibrated = CalibratedClassifierCV(model, cv=3).fit(X, Y)
    assert calibrated.predict_proba(X).shape == (120, 2)


def test_a_clone_and_a_pickle_are_the_same_estimator():
    model = bt.NaiveBayesClassifier(alpha=0.5, schema={"c": "nominal"}).fit(X, Y)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_failed_fit_leaves_the_old_model():
    model = bt.NaiveBayesClassifier().fit(X, Y)
    before = model.predict_proba(X)
    for X_bad, y_bad, weight in ((X, Y[:5], None), (X.assign(a=np.inf), Y, None), (X, Y, -np.ones(120))):
        with pytest.raises(ValueError):
            model.fit(X_bad, y_bad, sample_weight=weight)
        with pytest.raises(ValueError):
            model.partial_fit(X_bad, y_bad, sample_weight=weight)
        assert np.array_equal(model.predict_proba(X), before)


def test_print_shows_parameters_before_and_the_model_after_fit():
    model = bt.NaiveBayesClassifier(alpha=0.5)
    assert str(model) == repr(model) == "NaiveBayesClassifier(alpha=0.5)"
    text = str(model.fit(X, Y))
    assert "prior" in text
    assert "c = x" in text
    assert "NaiveBayesClassifier" in model._repr_html_()


def test_the_ledger_adds_up_exactly():
    model = bt.NaiveBayesClassifier().fit(X, Y)
    for ledger, probability in zip(model.explain(X), model.predict_proba(X), strict=True):
        total = ledger.start
        for line in ledger.evidence:
            total = total + line.effect
        assert np.array_equal(total, ledger.scores)
        assert np.allclose(np.exp(total) / np.exp(total).sum(), probability, atol=1e-12)
        assert str(ledger.prediction) in str(ledger)
        assert ledger.to_dict()["scores"] == total.tolist()


def test_importing_baytree_and_predicting_from_a_file_do_not_import_scikit_learn(tmp_path):
    import subprocess
    import sys

    path = tmp_path / "m.baytree"
    bt.save(bt.NaiveBayesClassifier().fit(X, Y), path)
    code = (
        "import sys, baytree; from baytree.storage import read_predictor\n"
        f"print(read_predictor({str(path)!r}).predict({{'a': [0.0], 'b': [1.0], 'c': ['x']}})[0])\n"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('sklearn', 'scipy', 'pandas', 'polars')))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split("\n")
    assert answer[0] in ("yes", "no")
    assert answer[1] == "[]"


@pytest.mark.parametrize(
    ("kind", "regressor"),
    [
        (bt.CARTClassifier, "CARTRegressor"),
        (bt.CHAIDClassifier, "CHAIDRegressor"),
        (bt.LogisticRegression, "LinearRegression"),
        (bt.NaiveBayesClassifier, "DecisionTreeRegressor"),
    ],
)
def test_a_classifier_of_many_numbers_names_the_regressor(kind, regressor):
    rng = np.random.default_rng(0)
    X, many = rng.normal(size=(200, 2)), rng.integers(0, 25, 200)
    with pytest.warns(
        bt.BaytreeWarning, match=rf"the target 'y' has 25 different numbers.* use {regressor}; if they are labels"
    ):
        model = kind().fit(X, many)
    assert model.classes_.dtype.kind == "i"
    assert model.predict(X).dtype.kind == "i"


@pytest.mark.filterwarnings("error::baytree.BaytreeWarning")
def test_labels_and_few_numbers_are_classes_without_a_warning():
    rng = np.random.default_rng(0)
    X, many = rng.normal(size=(200, 2)), rng.integers(0, 25, 200)
    for y in (many.astype(str), many % 20):
        bt.CARTClassifier().fit(X, y)
    table = pd.DataFrame({"a": X[:, 0], "y": many})
    bt.CARTClassifier(schema={"y": list(range(25))}).fit(table, "y")
    from baytree.sklearn import DecisionTreeClassifier

    DecisionTreeClassifier(max_depth=2).fit(X, many)
