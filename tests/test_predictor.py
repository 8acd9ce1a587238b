"""A predictor answers as its estimator does, from a schema and a model alone."""

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from baytree.base.predictor import Predictor

RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": RANDOM.normal(size=50), "b": RANDOM.choice(["u", "v"], 50)})
CLASSES = np.where(FRAME.a + (FRAME.b == "u") > 0.5, "yes", "no")


def predictor_of(model) -> Predictor:
    return Predictor(model.schema_, model.model_, type(model).__name__)


@pytest.mark.parametrize("estimator", [bt.CARTClassifier(), bt.NaiveBayesClassifier(), bt.LogisticRegression()])
def test_classes_and_probabilities_are_the_estimator_s(estimator):
    model = estimator.fit(FRAME, CLASSES)
    predictor = predictor_of(model)
    assert np.array_equal(predictor.predict(FRAME), model.predict(FRAME))
    assert np.array_equal(predictor.predict_proba(FRAME), model.predict_proba(FRAME))
    assert predictor.describe() == str(model)
    assert [str(each) for each in predictor.explain(FRAME[:3])] == [str(each) for each in model.explain(FRAME[:3])]


def test_numbers_are_answered_with_numbers():
    model = bt.DecisionTreeRegressor(max_depth=2).fit(FRAME, FRAME.a)
    assert np.array_equal(predictor_of(model).predict(FRAME), model.predict(FRAME))


def test_costs_decide_the_class_and_not_the_largest_probability():
    costs = {"yes": {"no": 50.0}, "no": {"yes": 1.0}}
    model = bt.CARTClassifier(costs=costs, cp=0.2).fit(FRAME, CLASSES)
    predictor = predictor_of(model)
    assert np.array_equal(predictor.predict(FRAME), model.predict(FRAME))
    by_probability = predictor.classes[predictor.predict_proba(FRAME).argmax(axis=1)]
    assert (predictor.predict(FRAME) == "yes").sum() >= (by_probability == "yes").sum()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (FRAME[["a"]], "column 'b' of the training data is missing"),
        (np.zeros((2, 3)), "3 features"),
    ],
)
def test_rows_that_do_not_fit_are_refused_in_words(rows, words):
    with pytest.raises(ValueError, match=words):
        predictor_of(bt.CARTClassifier().fit(FRAME, CLASSES)).predict(rows)
