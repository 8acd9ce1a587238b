"""Exported programs predict the class of least expected cost, as `predict` does."""

import json
import shutil

import numpy as np
import pytest
from export_cases import A_FEW, COUNTS, LEVELS, MIXED, NUMBERS, ROWS, fitted
from export_runners import NEEDS, RUNNERS

import baytree as bt
from baytree.exporters import EXPORTERS
from baytree.uncertainty.decision import expected_costs

COSTS = [[0, 1, 9], [2, 0, 1], [4, 7, 0]]
MODELS = {
    "naive Bayes": (bt.NaiveBayesClassifier, A_FEW, {}),
    "GaussianNB": (bt.GaussianNB, NUMBERS, {}),
    "MultinomialNB": (bt.MultinomialNB, COUNTS, {}),
    "joint distribution": (bt.JointDistribution, ("grade", "colour", "flag"), {"alpha": 0.5}),
    "LDA": (bt.LinearDiscriminantAnalysis, MIXED, {}),
    "QDA": (bt.QuadraticDiscriminantAnalysis, NUMBERS, {}),
    "logistic": (bt.LogisticRegression, MIXED, {}),
    "MARS": (bt.MARSClassifier, NUMBERS, {}),
    "ID3": (bt.ID3Classifier, LEVELS, {}),
    "C4.5": (bt.C45Classifier, MIXED, {}),
    "CHAID": (bt.CHAIDClassifier, MIXED, {"alpha_split": 0.9, "min_split": 4, "min_leaf": 2}),
    "CART": (bt.CARTClassifier, MIXED, {}),
    "C5.0": (bt.C50Classifier, MIXED, {}),
    "NBTree": (bt.NBTreeClassifier, ("price", "day", "colour", "zip"), {"min_bayes": 5}),
    "averaged tree": (bt.DecisionTreeClassifier, MIXED, {"averaging": "prunings"}),
    "optimal tree": (bt.OptimalTreeClassifier, MIXED, {"max_depth": 1}),
    "streaming tree": (bt.StreamingTreeClassifier, MIXED, {"grace": 10, "confidence": 0.1}),
}
SOON = ("naive Bayes", "C4.5", "CHAID")  # in the fast suite
TARGETS = ["python", *RUNNERS]


def costly(name):
    estimator, columns, parameters = MODELS[name]
    return fitted(estimator, columns, {**parameters, "costs": COSTS}), columns


def answers(model, target, columns, folder, **options):
    rows = [{column: row[column] for column in columns} for row in ROWS]
    source = bt.export(model, target, **options)
    if target == "python":
        exec(source, program := {})
        return [program["predict"](row) for row in rows]
    return list(RUNNERS[target](source, rows, [str(label) for label in model.classes_], folder)[0])


def table_of(columns):
    return {column: [row[column] for row in ROWS] for column in columns}


CASES = [
    pytest.param(target, name, marks=[pytest.mark.databases] * (target == "pmml") + [pytest.mark.slow] * (name not in SOON))
    for target in TARGETS
    for name in MODELS
]


@pytest.mark.parametrize(("target", "name"), CASES)
def test_a_program_predicts_the_class_of_least_expected_cost(target, name, tmp_path):
    if NEEDS.get(target) and not shutil.which(NEEDS[target]):
        pytest.skip(f"{NEEDS[target]} is not installed")
    model, columns = costly(name)
    table = table_of(columns)
    expected, found = model.predict(table), answers(model, target, columns, tmp_path)
    cost = np.sort(expected_costs(model.predict_proba(table), np.array(COSTS, float)), axis=1)
    is_apart = cost[:, 1] - cost[:, 0] > 1e-9  # other languages have other logarithms
    assert is_apart.any()
    assert np.array(found, object)[is_apart].tolist() == expected[is_apart].tolist()
    if name in ("ID3", "C4.5", "CHAID", "CART"):  # proportions of counts are the same doubles everywhere
        assert found == expected.tolist()


@pytest.mark.parametrize("name", ["naive Bayes", "C4.5", "CHAID"])
def test_a_program_rejects_by_the_probability_of_the_class_of_least_expected_cost(name, tmp_path):
    model, columns = costly(name)
    found = answers(model, "python", columns, tmp_path, reject=0.4)
    assert found == model.predict(table_of(columns), reject=0.4).tolist()
    assert None in found


def test_every_target_is_run():
    assert {*TARGETS, "json", "xlsx"} == set(EXPORTERS)  # workbooks are run in test_workbooks.py


def test_the_records_of_a_formula_contain_the_costs():
    model, _ = costly("naive Bayes")
    document = json.loads(bt.export(model, "json"))
    assert document["choice"] == {"type": "first_highest", "of": {"type": "named", "step": len(document["steps"]) - 1}}
    gains = [factor["values"] for term in document["steps"][-1]["value"]["terms"] for factor in term["factors"][1:]]
    assert (-np.array(gains)).tolist() == COSTS


def test_equal_costs_do_not_change_a_program():
    estimator, columns, _ = MODELS["naive Bayes"]
    plain, equal = (fitted(estimator, columns, {"costs": costs}) for costs in (None, 2 - 2 * np.eye(3)))
    assert bt.export(plain, "sql") == bt.export(equal, "sql")
