"""ROC, precision–recall and lift curves: equal to scikit-learn's, and the same from parts of the rows."""

import numpy as np
import pytest
from sklearn import metrics

import baytree as bt
from baytree.metrics.evaluation import evaluate_rows

TITANIC = bt.datasets.load("titanic")
IRIS = bt.datasets.load("iris")


@pytest.fixture(scope="module")
def binary():
    return bt.LogisticRegression().fit(TITANIC, "survived")


def truth_of(frame, target, label):
    return np.array([value == label for value in frame[target]])


@pytest.mark.parametrize("label", ["yes", "no"])
def test_the_roc_curve_of_either_class_is_that_of_scikit_learn(binary, label):
    probability = binary.predict_proba(TITANIC)[:, binary.classes_.tolist().index(label)]
    expected = metrics.roc_curve(truth_of(TITANIC, "survived", label), probability, drop_intermediate=False)
    curve = bt.evaluate(binary, TITANIC).roc(label)
    assert np.allclose(curve["false_positive_rate"], expected[0])
    assert np.allclose(curve["true_positive_rate"], expected[1])
    assert np.allclose(curve["threshold"][1:], expected[2][1:])


@pytest.mark.parametrize("label", ["setosa", "versicolor", "virginica"])
def test_precision_and_recall_are_those_of_scikit_learn(label):
    model = bt.NaiveBayesClassifier().fit(IRIS, "species")
    probability = model.predict_proba(IRIS)[:, model.classes_.tolist().index(label)]
    precision, recall, threshold = metrics.precision_recall_curve(truth_of(IRIS, "species", label), probability)
    curve = bt.evaluate(model, IRIS).precision_recall(label)
    assert np.allclose(curve["precision"][::-1], precision[:-1])
    assert np.allclose(curve["recall"][::-1], recall[:-1])
    assert np.allclose(curve["threshold"][::-1], threshold)


def test_the_area_under_the_drawn_curve_is_the_auc(binary):
    evaluation = bt.evaluate(binary, TITANIC)
    curve = evaluation.roc()
    assert np.trapezoid(curve["true_positive_rate"], curve["false_positive_rate"]) == pytest.approx(evaluation.scores["AUC"])


def test_curves_of_parts_are_those_of_the_whole():
    model = bt.NaiveBayesClassifier().fit(TITANIC, "survived")
    predictor = model._predictor
    parts = [evaluate_rows(predictor, "survived", None, None, TITANIC[a:b]) for a, b in ((0, 700), (700, 701), (701, 2201))]
    whole, joined = bt.evaluate(model, TITANIC).counted, parts[0] + parts[1] + parts[2]
    for name in ("roc", "precision_recall", "lift"):
        for key, values in getattr(whole, name)(1).items():
            assert np.array_equal(values, getattr(joined, name)(1)[key])


def test_the_lift_of_all_rows_is_one(binary):
    lift = bt.evaluate(binary, TITANIC).counted.lift(1)
    assert lift["proportion"][-1] == 1
    assert lift["lift"][-1] == pytest.approx(1)


def test_the_roc_of_a_number_is_refused_with_its_reason():
    model = bt.LinearRegression().fit(IRIS, "petal_width")
    with pytest.raises(ValueError, match="predicts numbers"):
        bt.evaluate(model, IRIS).roc()
