"""Estimators of this library inside what scikit-learn has around estimators."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier
from sklearn.feature_selection import RFE, SequentialFeatureSelector
from sklearn.inspection import PartialDependenceDisplay, partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.tree import export_text, plot_tree

import baytree as bt
import baytree.sklearn as theirs


def numbers(n=90):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 4))
    return X, np.where(X[:, 0] + 0.3 * random.normal(size=n) > 0, "yes", "no")


def raw_table(n=90):
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"age": random.normal(40, 10, n), "town": random.choice(["Rome", "Oslo", "Bern"], n)})
    frame.loc[::7, "age"] = np.nan
    return frame, np.where((frame.town == "Rome") ^ (random.random(n) < 0.1), "yes", "no")


@pytest.mark.parametrize("model", [bt.LogisticRegression(), bt.CARTClassifier(), theirs.DecisionTreeClassifier()], ids=str)
def test_rfe_keeps_the_column_that_tells(model):
    X, y = numbers()
    assert RFE(model, n_features_to_select=1).fit(X, y).support_.tolist() == [True, False, False, False]


@pytest.mark.parametrize("model", [bt.GaussianNB(), theirs.GaussianNB(), bt.LinearDiscriminantAnalysis()], ids=str)
def test_sequential_selection_keeps_the_column_that_tells(model):
    X, y = numbers()
    assert SequentialFeatureSelector(model, n_features_to_select=1, cv=3).fit(X, y).get_support()[0]


STUMPS = [  # boosting gives weights that sum to 1, and sizes of ours are sums of weights
    bt.DecisionTreeClassifier(max_depth=1, min_split=0, min_leaf=0),
    theirs.DecisionTreeClassifier(max_depth=1),
]


@pytest.mark.parametrize("model", STUMPS, ids=str)
def test_boosted_stumps_beat_one(model):
    X, y = numbers(200)
    y = np.where((X[:, 0] > 0) ^ (X[:, 1] > 0.7), "yes", "no")
    boosted = AdaBoostClassifier(model, n_estimators=20, random_state=0).fit(X, y)
    assert boosted.score(X, y) > model.fit(X, y).score(X, y)


def test_a_bag_of_trees_that_draw_columns_by_seed_is_the_same_twice():
    X, y = numbers()
    bags = [BaggingClassifier(theirs.DecisionTreeClassifier(max_features=1), 5, random_state=3).fit(X, y) for _ in range(2)]
    np.testing.assert_array_equal(bags[0].predict_proba(X), bags[1].predict_proba(X))


@pytest.mark.parametrize("model", [bt.C45Classifier(), theirs.LogisticRegression()], ids=str)
def test_calibrated_probabilities_add_up(model):
    X, y = numbers()
    answers = CalibratedClassifierCV(model, cv=3).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(answers.sum(axis=1), 1.0)


def test_models_are_stacked_on_a_raw_table():
    frame, y = raw_table()
    stack = StackingClassifier(
        [("tree", bt.CARTClassifier()), ("bayes", bt.NaiveBayesClassifier())], bt.LogisticRegression(), cv=3
    )
    assert stack.fit(frame, y).score(frame, y) > 0.8


def test_a_transform_comes_as_a_frame_where_that_is_asked_for():
    X, y = numbers()
    for model in (bt.LinearDiscriminantAnalysis(), theirs.LinearDiscriminantAnalysis()):
        out = model.set_output(transform="pandas").fit(X, y).transform(X)
        assert list(out.columns) == ["lineardiscriminantanalysis0"]


def test_weights_are_routed_to_estimators_that_ask_for_them():
    X, y = numbers()
    weight = np.where(y == "yes", 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = bt.GaussianNB().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = GridSearchCV(model, {"var_smoothing": [1e-9]}, cv=3).fit(X, y, sample_weight=weight)
    share = weight[y == "yes"].sum() / weight.sum()
    assert search.best_estimator_.class_prior_[1] == pytest.approx(share)


def test_inspection_asks_models_of_raw_tables():
    frame, y = raw_table()
    model = bt.NaiveBayesClassifier().fit(frame, y)
    importance = permutation_importance(model, frame, y, n_repeats=3, random_state=0).importances_mean
    assert importance[1] > importance[0]
    curve = partial_dependence(model, frame, ["town"], categorical_features=["town"])
    assert curve["average"].shape == (1, 3)


def test_partial_dependence_is_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, y = numbers()
    PartialDependenceDisplay.from_estimator(
        theirs.DecisionTreeClassifier(max_depth=2).fit(X, y), X, [0], response_method="predict_proba"
    )


def test_skrub_vectorizes_in_front_of_a_drop_in():
    skrub = pytest.importorskip("skrub")
    frame, y = raw_table()
    model = make_pipeline(skrub.TableVectorizer(), theirs.DecisionTreeClassifier(max_depth=3)).fit(frame, y)
    assert model.score(frame, y) > 0.8


@pytest.mark.parametrize(
    ("model", "grid"),
    [
        (bt.CARTClassifier(), {"cp": [0.0, 0.5]}),
        (bt.C45Classifier(), {"confidence": [0.1, 0.5]}),
        (bt.NaiveBayesClassifier(), {"alpha": [0.5, 2.0]}),
        (bt.LogisticRegression(), {"C": [0.1, 10.0]}),
        (theirs.DecisionTreeClassifier(), {"max_depth": [1, 3]}),
        (theirs.LogisticRegression(), {"C": [0.1, 10.0]}),
    ],
    ids=lambda each: type(each).__name__ if not isinstance(each, dict) else next(iter(each)),
)
def test_a_grid_is_searched_on_a_raw_table(model, grid):
    frame, y = raw_table()
    assert GridSearchCV(model, grid, cv=3).fit(frame, y).best_score_ > 0.8


def test_cross_validation_of_a_drop_in_is_that_of_the_estimator():
    X, y = numbers()
    mine, other = (cross_validate(kind(), X, y, cv=3)["test_score"] for kind in (theirs.BernoulliNB, bt.BernoulliNB))
    np.testing.assert_array_equal(mine, other)


def test_trees_are_drawn_and_told_by_scikit_learn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, y = numbers()
    model = theirs.DecisionTreeClassifier(max_depth=1).fit(X, y)
    assert export_text(model).count("class:") == 2
    assert len(plot_tree(model)) >= 3


def test_shap_explains_a_tree():
    shap = pytest.importorskip("shap")
    X, _ = numbers()
    model = theirs.DecisionTreeRegressor(max_depth=3).fit(X, X[:, 0])
    explained = shap.TreeExplainer(model)(X)
    np.testing.assert_allclose(explained.values.sum(axis=1) + explained.base_values, model.predict(X), atol=1e-6)


@pytest.mark.parametrize("make", [lambda **p: bt.CARTClassifier(**p), lambda **p: bt.CARTClassifier().set_params(**p)])
def test_a_wrong_parameter_gets_the_one_that_was_meant(make):
    with pytest.raises((TypeError, ValueError), match=r"no parameter 'min_samples_leaf'; it is called min_leaf here"):
        make(min_samples_leaf=3)
