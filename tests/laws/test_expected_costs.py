"""A classifier with costs predicts the class of least expected cost, wherever and however it predicts."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone

import baytree as bt
from baytree import sklearn as drop_ins
from baytree import storage
from baytree._registry import SKLEARN_MODULES
from baytree.storage import predictor_of
from baytree.uncertainty.decision import expected_costs, is_equal
from law_settings import settings

N_ROWS = 120
RNG = np.random.default_rng(5)
CLASS = RNG.integers(0, 3, N_ROWS)
LABELS = np.array(["ant", "bee", "cow"], object)
NUMBERS = {"size": np.round(RNG.normal(CLASS, 1.2), 2), "steps": RNG.integers(0, 4, N_ROWS) + CLASS.astype(float)}
LEVELS = {
    "grade": LABELS[(CLASS + RNG.integers(0, 2, N_ROWS)) % 3],
    "flag": np.array(["yes", "no"], object)[RNG.integers(0, 2, N_ROWS)],
}
COUNTS = {"steps": NUMBERS["steps"], "jumps": RNG.integers(0, 3, N_ROWS) + 2.0 * (CLASS == 1)}
MIXED = {**NUMBERS, "grade": [None if k % 9 == 0 else level for k, level in enumerate(LEVELS["grade"])]}
Y = LABELS[CLASS]

# by name: the estimator, its columns, and whether its learning uses costs
MODELS = {
    "naive Bayes": (bt.NaiveBayesClassifier(), MIXED, False),
    "GaussianNB": (bt.GaussianNB(), NUMBERS, False),
    "BernoulliNB": (bt.BernoulliNB(binarize=1.0), NUMBERS, False),
    "CategoricalNB": (bt.CategoricalNB(), LEVELS, False),
    "MultinomialNB": (bt.MultinomialNB(), COUNTS, False),
    "ComplementNB": (bt.ComplementNB(), COUNTS, False),
    "joint distribution": (bt.JointDistribution(alpha=0.5), LEVELS, False),
    "LDA": (bt.LinearDiscriminantAnalysis(), MIXED, False),
    "QDA": (bt.QuadraticDiscriminantAnalysis(), NUMBERS, False),
    "logistic": (bt.LogisticRegression(), MIXED, False),
    "logistic CV": (bt.LogisticRegressionCV(Cs=2, cv=3), NUMBERS, False),
    "MARS": (bt.MARSClassifier(), NUMBERS, False),
    "additive": (bt.AdditiveClassifier(interactions=2), MIXED, False),
    "ID3": (bt.ID3Classifier(), LEVELS, False),
    "C4.5": (bt.C45Classifier(), MIXED, False),
    "J48": (bt.C45Classifier(conventions="j48", laplace=True), MIXED, False),
    "CHAID": (bt.CHAIDClassifier(min_split=4, min_leaf=2), MIXED, False),
    "NBTree": (bt.NBTreeClassifier(min_bayes=5), MIXED, False),
    "optimal tree": (bt.OptimalTreeClassifier(max_depth=2), MIXED, True),
    "streaming tree": (bt.StreamingTreeClassifier(grace=10, confidence=0.1), MIXED, False),
    "multiway tree": (bt.DecisionTreeClassifier(branching="multiway"), MIXED, False),
    "tree with fractions": (bt.DecisionTreeClassifier(missing="fractional"), MIXED, False),
    "tree": (bt.DecisionTreeClassifier(min_leaf=5), MIXED, True),
    "CART": (bt.CARTClassifier(), MIXED, True),
    "C5.0": (bt.C50Classifier(), MIXED, True),
}
ONLY_DECIDING = {name: each for name, each in MODELS.items() if not each[2]}
COSTS = [[0, 1, 9], [2, 0, 1], [4, 7, 0]]
matrices = st.lists(st.integers(1, 20), min_size=6, max_size=6).map(
    lambda c: np.array([[0, c[0], c[1]], [c[2], 0, c[3]], [c[4], c[5], 0]], float)
)
_fits = {}


def fitted(name, costs=None):
    """The model, fitted once per matrix."""
    key = (name, json.dumps(costs))
    if key not in _fits:
        estimator, rows, _ = MODELS[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _fits[key] = clone(estimator).set_params(costs=costs).fit(rows, Y)
    return _fits[key], MODELS[name][1]


def least_costly(model, rows, costs):
    return model.classes_[np.argmin(expected_costs(model.predict_proba(rows), np.asarray(costs, float)), axis=1)]


def are_apart(model, rows, costs):
    """Whether the two cheapest classes of each row differ by more than rounding."""
    expected = np.sort(expected_costs(model.predict_proba(rows), costs), axis=1)
    return expected[:, 1] - expected[:, 0] > 1e-9 * np.max(costs)


@pytest.mark.parametrize("name", ONLY_DECIDING)
def test_predict_is_the_class_of_least_expected_cost_and_probabilities_are_unchanged(name):
    (plain, rows), (costly, _) = fitted(name), fitted(name, COSTS)
    assert np.array_equal(costly.predict_proba(rows), plain.predict_proba(rows))
    assert costly.predict(rows).tolist() == least_costly(costly, rows, COSTS).tolist()
    assert costly.predict(rows).tolist() != plain.predict(rows).tolist()


@pytest.mark.parametrize("name", ["tree", "CART", "optimal tree"])
def test_trees_that_learn_with_costs_predict_by_them(name):
    costly, rows = fitted(name, COSTS)
    is_apart = are_apart(costly, rows, np.array(COSTS, float))
    assert costly.predict(rows)[is_apart].tolist() == least_costly(costly, rows, COSTS)[is_apart].tolist()


@pytest.mark.parametrize("name", MODELS)
@given(costs=matrices)
@settings(max_examples=10, deadline=None)
def test_costs_given_to_predict_replace_those_of_the_model(name, costs):
    assume(not is_equal(costs))
    model, rows = fitted(name, COSTS)
    expected = least_costly(model, rows, costs)
    found = model.predict(rows, costs=costs)
    is_apart = are_apart(model, rows, costs)
    assert found[is_apart].tolist() == expected[is_apart].tolist()


@pytest.mark.parametrize("name", ONLY_DECIDING)
def test_equal_costs_change_nothing(name):
    (plain, rows), (equal, _) = fitted(name), fitted(name, [[0, 3, 3], [3, 0, 3], [3, 3, 0]])
    assert equal.predict(rows).tolist() == plain.predict(rows).tolist()
    for model in (plain, fitted(name, COSTS)[0]):
        assert model.predict(rows, costs=1 - np.eye(3)).tolist() == plain.predict(rows).tolist()


@pytest.mark.parametrize("name", MODELS)
@given(costs=matrices, factor=st.floats(1e-3, 1e3))
@settings(max_examples=10, deadline=None)
def test_the_unit_of_costs_does_not_matter(name, costs, factor):
    model, rows = fitted(name)
    here, there = model.predict(rows, costs=costs), model.predict(rows, costs=factor * costs)
    is_apart = are_apart(model, rows, costs)
    assert here[is_apart].tolist() == there[is_apart].tolist()


@given(costs=matrices)
@settings(max_examples=10, deadline=None)
def test_a_dict_by_label_is_the_matrix_in_the_order_of_the_classes(costs):
    model, rows = fitted("naive Bayes")
    by_label = {
        label: {other: costs[i, j] for j, other in reversed([*enumerate(LABELS)])}
        for i, label in reversed([*enumerate(LABELS)])
    }
    assert model.predict(rows, costs=by_label).tolist() == model.predict(rows, costs=costs).tolist()


@pytest.mark.parametrize("name", MODELS)
def test_a_row_alone_is_predicted_like_the_same_row_among_others(name):
    model, rows = fitted(name, COSTS)
    alone = [model.predict({column: [values[k]] for column, values in rows.items()})[0] for k in range(20)]
    assert alone == model.predict(rows)[:20].tolist()


def test_the_first_class_wins_ties():
    rows = {"x": ["a"] * 6, "y": ["bad", "good", "good", "good", "good", "good"]}  # P(bad) is 1/6
    model = bt.JointDistribution(costs={"bad": {"good": 1}, "good": {"bad": 0.2}}).fit(rows | {"x": ["a"] * 6}, "y")
    assert model.predict_proba({"x": ["a"]})[0, 0] == 1 / 6
    half = bt.JointDistribution(costs=[[0, 3, 1], [3, 0, 1], [9, 9, 0]]).fit(
        {"x": ["a"] * 4, "y": [1, 1, 2, 2]} | {"x": ["a", "a", "a", "a", "b"], "y": [1, 1, 2, 2, 3]}, "y"
    )
    assert half.predict({"x": ["a"]}).tolist() == [3]  # a class that no row of this kind has is a cheap answer
    tied = half.predict({"x": ["a"]}, costs=[[0, 3, 9], [3, 0, 9], [9, 9, 0]])
    assert tied.tolist() == [1]


@pytest.mark.parametrize("name", MODELS)
def test_costs_are_stored_and_a_loaded_model_predicts_the_same(name):
    model, rows = fitted(name, COSTS)
    content = storage.dumps(model)
    loaded, predictor = storage.loads(content), predictor_of(content)
    assert loaded.predict(rows).tolist() == model.predict(rows).tolist() == predictor.predict(rows).tolist()
    assert storage.dumps(loaded) == content
    stored = json.loads(content)["document"]["costs"]
    assert stored["amounts"]["values"] == np.ravel(COSTS).tolist()
    assert stored["by_model"] is MODELS[name][2]
    assert "costs" not in json.loads(storage.dumps(fitted(name)[0]))["document"]


@pytest.mark.parametrize("name", ["naive Bayes", "C4.5", "CART", "C5.0"])
def test_explanations_are_of_the_predicted_class(name):
    model, rows = fitted(name, COSTS)
    explanations = model.explain(rows)
    assert [each.prediction for each in explanations] == model.predict(rows).tolist()
    changed = next(each for each in explanations if each.prediction != LABELS[np.argmax(each.probability)])
    assert f"{changed.prediction}, with probability" in str(changed)
    assert "by least expected cost" in str(changed)
    assert model.explain(rows, costs=1 - np.eye(3))[0].prediction == least_costly(model, rows, 1 - np.eye(3))[0]


def test_a_rejection_compares_its_cost_with_the_expected_cost_of_the_prediction():
    model, rows = fitted("naive Bayes", COSTS)
    expected = expected_costs(model.predict_proba(rows), np.array(COSTS, float)).min(axis=1)
    answers = model.predict(rows, reject={"cost": 1.0})
    assert [answer is None for answer in answers] == (expected > 1.0).tolist()
    cheap = model.predict(rows, reject={"cost": 1.0}, costs=np.array(COSTS) / 100)
    assert None not in cheap.tolist()


def test_partial_fit_merge_and_forget_keep_the_costs():
    rows = {name: list(values) for name, values in NUMBERS.items()}
    first, second = ({name: values[part] for name, values in rows.items()} for part in (slice(60), slice(60, None)))
    whole = bt.GaussianNB(costs=COSTS).fit(rows, Y)
    halves = [bt.GaussianNB(costs=COSTS).fit(first, Y[:60]), bt.GaussianNB(costs=COSTS).fit(second, Y[60:])]
    assert halves[0].merge(halves[1]).predict(rows).tolist() == whole.predict(rows).tolist()
    assert halves[0].partial_fit(second, Y[60:]).predict(rows).tolist() == whole.predict(rows).tolist()


def test_a_batch_with_a_class_without_costs_leaves_the_model_as_it_was():
    model = bt.GaussianNB(costs=[[0, 1], [5, 0]]).fit({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "b"])
    with pytest.raises(ValueError, match="costs: shape"):
        model.partial_fit({"x": [9.0]}, ["c"])
    assert model.classes_.tolist() == ["a", "b"]
    assert model.predict({"x": [2.6]}).tolist() == ["b"]


@pytest.mark.parametrize("name", ["naive Bayes", "C4.5", "CART", "logistic"])
def test_an_interview_predicts_by_the_costs(name):
    model, rows = fitted(name, COSTS)
    belief = list(model.interview().belief.values())
    talk = model.interview()
    assert talk.prediction == LABELS[np.argmin(np.array(belief) @ COSTS)]
    while (question := talk.next()) is not None:
        talk.answer(rows[question.column][3])
    assert talk.prediction in LABELS


def test_the_price_of_a_question_is_question_costs():
    model, _ = fitted("naive Bayes", COSTS)
    dear = {model.interview().next().column: 1000.0}
    with pytest.warns(DeprecationWarning, match="costs is called question_costs now"):
        old = model.interview(costs=dear)
    assert old.next() == model.interview(question_costs=dear).next()
    assert old.question_costs == dear


@pytest.mark.parametrize("name", ["naive Bayes", "CART", "C4.5"])
def test_cross_validation_predicts_by_the_costs(name):
    estimator, rows, _ = MODELS[name]
    costly = clone(estimator).set_params(costs=COSTS)
    found = bt.cross_validate(costly, rows, Y, cv=3)
    apart = bt.cross_validate(costly, rows, Y, cv=[(fold.train, fold.test) for fold in _folds(found)])
    assert found.mean("accuracy") == apart.mean("accuracy")
    assert found.mean("accuracy") != bt.cross_validate(estimator, rows, Y, cv=3).mean("accuracy")


def _folds(result):
    from types import SimpleNamespace

    everything = np.arange(N_ROWS)
    return [SimpleNamespace(test=t.rows, train=np.setdiff1d(everything, t.rows)) for t in result.trials]


BAD = {
    "a row for each true class": [[0, 1], [1, 0]],
    "give finite costs of at least 0": [[0, -1, 1], [1, 0, 1], [1, 1, 0]],
    "give finite costs": [[0, np.nan, 1], [1, 0, 1], [1, 1, 0]],
    "put 0 on the diagonal": [[1, 1, 1], [1, 0, 1], [1, 1, 0]],
    "costs nothing, so it would never be predicted; give a cost": [[0, 0, 0], [1, 0, 1], [1, 1, 0]],
    "names 'fly', but the classes are 'ant', 'bee', 'cow'": {
        label: {other: 1 for other in (*LABELS, "fly") if other != label} for label in LABELS
    },
    "no row for class 'bee'": {"ant": {"bee": 1, "cow": 1}},
    "no cost for class 'cow'": {"ant": {"bee": 1}, "bee": {"ant": 1, "cow": 1}, "cow": {"ant": 1, "bee": 1}},
    "give numbers": [["a", "b", "c"]] * 3,
}


@pytest.mark.parametrize("words", BAD)
def test_bad_costs_are_refused_with_the_remedy_before_anything_is_learnt(words):
    model, rows = fitted("naive Bayes")
    with pytest.raises(ValueError, match=words):
        bt.NaiveBayesClassifier(costs=BAD[words]).fit(rows, Y)
    with pytest.raises(ValueError, match=words):
        model.predict(rows, costs=BAD[words])


@pytest.mark.parametrize("name", ["ID3", "CHAID", "optimal tree", "streaming tree"])
def test_the_nodes_and_rules_of_a_tree_name_the_class_that_is_predicted_there(name):
    model, rows = fitted(name, COSTS)
    by_id = {node["id"]: node["prediction"] for node in model.nodes()}
    predicted = model.predict(rows).tolist()
    assert [by_id[node] for node in model.apply(rows).tolist()] == predicted
    assert model.rules().predictions(model._predictor.encoded(rows)) == predicted
    assert [node.prediction for node in model._predictor.summary().nodes] != [
        node.prediction for node in fitted(name)[0]._predictor.summary().nodes
    ]


def test_a_printed_model_and_a_difference_name_the_costs():
    (plain, _), (costly, _) = fitted("naive Bayes"), fitted("naive Bayes", COSTS)
    words = "ant taken for cow costs 9, cow taken for bee 7, cow taken for ant 4"
    assert f"predicts the class of least expected cost: {words}" in str(costly)
    assert "cost" not in str(plain)
    (change,) = bt.diff(plain, costly).model
    assert (change.what, change.old) == ("costs", None)
    assert words in change.new


@pytest.mark.parametrize("name", SKLEARN_MODULES)
def test_drop_ins_have_the_parameters_of_scikit_learn_and_no_costs(name):
    assert "costs" not in getattr(drop_ins, name).parameter_names()
