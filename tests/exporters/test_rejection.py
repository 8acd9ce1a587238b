"""Programs say nothing where `predict` says nothing."""

import shutil

import pytest
from export_cases import MIXED, NUMBERS, ROWS, fitted
from export_runners import NEEDS, RUNNERS

import baytree as bt

COSTS = {"ant": {"bee": 1, "cow": 9}, "bee": {"ant": 1, "cow": 1}, "cow": {"ant": 1, "bee": 1}}
MODELS = {
    "naive Bayes": (bt.NaiveBayesClassifier, MIXED, {}),
    "a tree whose answer need not be the likeliest class": (bt.CARTClassifier, MIXED, {"costs": COSTS}),
    "rows in parts": (bt.C45Classifier, MIXED, {}),
    "votes": (bt.C50Classifier, NUMBERS, {"trials": 3, "early_stopping": False}),
    "logistic regression": (bt.LogisticRegression, MIXED, {}),
}


@pytest.mark.parametrize("target", ["python", *(name for name in RUNNERS if name != "pmml")])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.slow
def test_a_program_answers_where_predict_does(target, name, tmp_path):
    if NEEDS.get(target) and not shutil.which(NEEDS[target]):
        pytest.skip(f"{NEEDS[target]} is not installed")
    estimator, columns, parameters = MODELS[name]
    model = fitted(estimator, columns, parameters)
    rows = [{column: row[column] for column in columns} for row in ROWS]
    expected = model.predict({column: [row[column] for row in rows] for column in columns}, reject=0.7).tolist()
    assert None in expected
    source = bt.export(model, target, reject=0.7)
    if target == "python":
        exec(source, made := {})
        found = [made["predict"](row) for row in rows]
    else:
        found, _ = RUNNERS[target](source, rows, [str(label) for label in model.classes_], tmp_path)
    assert [label or None for label in found] == expected


def test_what_cannot_be_silent_says_so():
    model = fitted(bt.CARTClassifier, NUMBERS, {})
    with pytest.raises(ValueError, match="PMML model predicts a class for every row"):
        bt.export(model, "pmml", reject=0.5)
    with pytest.raises(ValueError, match="'y' is numeric"):
        bt.export(bt.LinearRegression().fit({"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 4.0]}, "y"), "c", reject=0.5)
    with pytest.raises(ValueError, match="reject=2"):
        bt.export(model, "python", reject=2)
