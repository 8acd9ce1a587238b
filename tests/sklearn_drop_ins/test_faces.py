"""The drop-ins have scikit-learn's names, parameters, defaults and attributes, and refuse by name what they cannot do."""

import inspect

import numpy as np
import pandas as pd
import pytest
import sklearn.discriminant_analysis
import sklearn.linear_model
import sklearn.naive_bayes
import sklearn.tree
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

import baytree as bt
import baytree.sklearn as ours
from baytree.estimators.docstrings import entries

ROOMS = (sklearn.naive_bayes, sklearn.tree, sklearn.discriminant_analysis, sklearn.linear_model)
THEIRS = {name: next(getattr(room, name) for room in ROOMS if hasattr(room, name)) for name in ours.__all__}
QUIET = {
    "l1_ratios": (0,),
    "scoring": "accuracy",
    "use_legacy_attributes": False,
    "Cs": 2,
    "cv": 2,
}  # of LogisticRegressionCV
IRIS = load_iris()


def made(kind, name):
    return kind(**(QUIET if name == "LogisticRegressionCV" else {}))


def rows(name):
    return IRIS.data, IRIS.data[:, 3] if name.endswith("Regressor") else IRIS.target


def failed_by_scikit_learn(estimator):
    """The checks that its own class of this name fails."""
    if not isinstance(estimator, ours.LogisticRegressionCV):
        return {}
    names = ("check_sparsify_coefficients", "check_non_transformer_estimators_n_iter")
    return dict.fromkeys(names, "scikit-learn's own class fails it")


@pytest.mark.scikit_learn
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([getattr(ours, name)() for name in ours.__all__], expected_failed_checks=failed_by_scikit_learn)
def test_scikit_learn_s_checks_pass(estimator, check):
    check(estimator)


def test_quadratic_discriminant_analysis_offers_no_partial_fit():
    assert not hasattr(ours.QuadraticDiscriminantAnalysis(), "partial_fit")
    assert "sample_weight" not in inspect.signature(ours.QuadraticDiscriminantAnalysis.fit).parameters


@pytest.mark.parametrize("name", ["LogisticRegression", "LogisticRegressionCV", "QuadraticDiscriminantAnalysis"])
def test_nan_of_an_array_is_refused_and_gaps_of_a_frame_are_filled(name):
    X, y = IRIS.data.copy(), IRIS.target
    model = made(getattr(ours, name), name).fit(X, y)
    X[::20, 0] = np.nan
    for ask in (model.predict, model.predict_proba, model.decision_function, model.predict_log_proba):
        with pytest.raises(ValueError, match="Input X contains NaN"):
            ask(X)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.fit(X, y)
    if name != "QuadraticDiscriminantAnalysis":  # whose classes would be flat where a gap is marked
        assert model.fit(pd.DataFrame(X, columns=list("abcd")), y).score(pd.DataFrame(X, columns=list("abcd")), y) > 0.8


@pytest.mark.parametrize("name", ours.__all__)
def test_parameters_and_defaults_are_scikit_learn_s(name):
    mine, theirs = (inspect.signature(kind.__init__).parameters.values() for kind in (getattr(ours, name), THEIRS[name]))
    assert [(p.name, p.kind, p.default) for p in mine] == [(p.name, p.kind, p.default) for p in theirs]


@pytest.mark.parametrize("name", ours.__all__)
def test_every_parameter_and_attribute_is_described(name):
    kind = getattr(ours, name)
    text = inspect.getdoc(kind) or ""
    assert list(entries(text, "Parameters")) == list(inspect.signature(kind).parameters)
    assert "Examples" in text


@pytest.mark.parametrize("name", ours.__all__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fitted_attributes_are_scikit_learn_s(name):
    X, y = rows(name)
    mine, theirs = (made(kind, name).fit(X, y) for kind in (getattr(ours, name), THEIRS[name]))
    public = [each for each in dir(theirs) if each.endswith("_") and not each.startswith("_")]
    for each in public:
        try:
            expected = getattr(theirs, each)
        except AttributeError:
            continue
        assert isinstance(expected, list) or np.shape(getattr(mine, each)) == np.shape(expected), each


@pytest.mark.parametrize("name", [name for name in ours.__all__ if not name.startswith("Logistic")])
def test_numbers_are_scikit_learn_s(name):
    X, y = rows(name)
    mine, theirs = (made(kind, name).fit(X, y) for kind in (getattr(ours, name), THEIRS[name]))
    ask = "predict_proba" if hasattr(theirs, "predict_proba") else "predict"
    np.testing.assert_allclose(getattr(mine, ask)(X), getattr(theirs, ask)(X), atol=1e-12)


@pytest.mark.parametrize("name", ours.__all__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_column_that_numbers_the_rows_is_learnt_from_as_in_scikit_learn(name):
    X, y = rows(name)
    random, sizes = np.random.default_rng(0), np.round(10 * X[:, :2])
    frame = pd.DataFrame({"id": np.arange(1, len(X) + 1), "size": sizes[:, 0].astype(int), "width": sizes[:, 1]})
    frame, y = frame.assign(noise=random.normal(size=len(X)) ** 2), random.permutation(y)
    if name == "CategoricalNB":
        frame = frame.drop(columns="noise")
    as_numbers = pd.DataFrame(frame.to_numpy(float), columns=frame.columns)  # lies in one array
    for table in (frame, as_numbers):
        optimum = {"tol": 1e-8, "max_iter": 10_000} if name.startswith("Logistic") else {}
        both = (made(kind, name).set_params(**optimum) for kind in (getattr(ours, name), THEIRS[name]))
        mine, theirs = (each.fit(table, y) for each in both)
        assert mine.schema_.left_out == ()
        assert mine.feature_names_in_.tolist() == theirs.feature_names_in_.tolist()
        near = 1e-4 if name.startswith("Logistic") else 1e-9
        ask = "predict_proba" if hasattr(theirs, "predict_proba") else "predict"
        np.testing.assert_allclose(getattr(mine, ask)(table), getattr(theirs, ask)(table), atol=near)
        for attribute in ("coef_", "feature_importances_", "theta_", "means_", "feature_count_"):
            if hasattr(theirs, attribute):
                assert np.shape(getattr(mine, attribute)) == np.shape(getattr(theirs, attribute))


@pytest.mark.slow
def test_logistic_regression_finds_scikit_learn_s_optimum():
    for parameters in ({}, {"fit_intercept": False}, {"C": 0.01}, {"class_weight": "balanced"}):
        theirs = sklearn.linear_model.LogisticRegression(tol=1e-10, max_iter=10_000, **parameters).fit(
            IRIS.data, IRIS.target
        )
        mine = ours.LogisticRegression(**parameters).fit(IRIS.data, IRIS.target)
        np.testing.assert_allclose(mine.predict_proba(IRIS.data), theirs.predict_proba(IRIS.data), atol=1e-5)


@pytest.mark.parametrize("scaling", [1.0, 10.0])
def test_liblinear_penalises_the_intercept_as_there(scaling):
    X, y = IRIS.data[:100], IRIS.target[:100]
    options = {"solver": "liblinear", "intercept_scaling": scaling}
    theirs = sklearn.linear_model.LogisticRegression(tol=1e-10, max_iter=10_000, **options).fit(X, y)
    mine = ours.LogisticRegression(**options).fit(X, y)
    np.testing.assert_allclose([*mine.coef_[0], *mine.intercept_], [*theirs.coef_[0], *theirs.intercept_], atol=1e-5)


@pytest.mark.parametrize(
    "name", [name for name in ours.__all__ if name not in ("GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB")]
)
def test_raw_tables_are_welcome(name):
    frame = pd.DataFrame({"town": ["Rome", "Oslo"] * 20, "age": np.arange(40.0), "y": ["no"] * 20 + ["yes"] * 20})
    if name in ("CategoricalNB",):
        frame = frame[["town", "y"]]
    if name == "QuadraticDiscriminantAnalysis":
        frame = frame[["age", "y"]]
    if name.endswith("Regressor"):
        frame["y"] = frame["age"] ** 2
    model = made(getattr(ours, name), name).fit(frame, "y")
    assert len(model.predict(frame)) == 40


@pytest.mark.parametrize("name", ours.__all__)
def test_a_saved_drop_in_comes_back_as_itself(name, tmp_path):
    X, y = rows(name)
    model = made(getattr(ours, name), name).fit(X, y)
    bt.save(model, tmp_path / "m.baytree")
    back = bt.load(tmp_path / "m.baytree")
    assert type(back) is getattr(ours, name)
    np.testing.assert_array_equal(back.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"splitter": "random"}, "splitter='random' is not supported"),
        ({"monotonic_cst": [1, 0, 0, 0]}, "monotonic_cst is not supported"),
    ],
)
def test_what_a_tree_cannot_do_is_refused_by_name(parameters, said):
    with pytest.raises(ValueError, match=said):
        ours.DecisionTreeClassifier(**parameters).fit(*rows("DecisionTreeClassifier"))


def test_several_outputs_and_other_criteria_are_refused_by_name():
    with pytest.raises(ValueError, match="multi-output is not supported"):
        ours.DecisionTreeRegressor().fit(IRIS.data, IRIS.data)
    with pytest.raises(ValueError, match="criterion='poisson' is not supported"):
        ours.DecisionTreeRegressor(criterion="poisson").fit(IRIS.data, IRIS.target)


def test_rows_are_divided_where_nothing_gains():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    assert ours.DecisionTreeClassifier().fit(X, y).score(X, y) == 1.0


def test_columns_are_drawn_by_the_seed():
    X, y = IRIS.data, IRIS.target
    first = [ours.DecisionTreeClassifier(max_features=1, random_state=seed).fit(X, y).tree_.feature[0] for seed in range(20)]
    again = [ours.DecisionTreeClassifier(max_features=1, random_state=seed).fit(X, y).tree_.feature[0] for seed in range(20)]
    assert first == again
    assert len(set(first)) > 1


@pytest.mark.parametrize("alpha", [0.005, 0.02, 0.3])
def test_pruning_by_impurity_is_scikit_learn_s(alpha):
    mine, theirs = (
        kind(ccp_alpha=alpha, **more).fit(IRIS.data, IRIS.target)
        for kind, more in ((ours.DecisionTreeClassifier, {}), (sklearn.tree.DecisionTreeClassifier, {"random_state": 0}))
    )
    assert mine.get_n_leaves() == theirs.get_n_leaves()
    paths = [model.cost_complexity_pruning_path(IRIS.data, IRIS.target) for model in (mine, theirs)]
    np.testing.assert_allclose(paths[0].ccp_alphas, paths[1].ccp_alphas, atol=1e-12)
    np.testing.assert_allclose(paths[0].impurities, paths[1].impurities, atol=1e-12)


@pytest.mark.parametrize(
    "parameters", [{"max_depth": 3}, {"max_leaf_nodes": 5}, {"min_samples_leaf": 9}, {"class_weight": {0: 3.0}}]
)
def test_a_tree_is_scikit_learn_s_node_by_node(parameters):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 1))  # of several columns, ties are broken by chance there
    y = (X[:, 0] ** 2 + random.normal(size=200) > 0.5).astype(int)
    mine = ours.DecisionTreeClassifier(**parameters).fit(X, y)
    theirs = sklearn.tree.DecisionTreeClassifier(random_state=0, **parameters).fit(X, y)
    assert mine.get_n_leaves() == theirs.get_n_leaves()
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(mine.feature_importances_, theirs.feature_importances_, atol=1e-12)
    if "max_leaf_nodes" not in parameters:  # best-first trees have another order there
        for each in ("children_left", "feature", "n_node_samples", "threshold", "impurity"):
            np.testing.assert_allclose(getattr(mine.tree_, each), getattr(theirs.tree_, each), atol=1e-7)
        np.testing.assert_array_equal(mine.apply(X), theirs.apply(X))
        np.testing.assert_array_equal(mine.decision_path(X).toarray(), theirs.decision_path(X).toarray())
