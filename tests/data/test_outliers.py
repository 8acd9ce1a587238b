"""A value that alone makes a column's spread is named; long tails are not."""

import warnings

import numpy as np
import pandas as pd
import pytest

import baytree as bt

RNG = np.random.default_rng(0)
Y = np.arange(400) % 2
MEASURE_BY_SPREAD = [
    bt.GaussianNB(),
    bt.NaiveBayesClassifier(),
    bt.NaiveBayesClassifier(conventions="e1071"),
    bt.LinearDiscriminantAnalysis(),
    bt.QuadraticDiscriminantAnalysis(),
    bt.LogisticRegression(),
]


def with_far_value(value):
    income = RNG.normal(size=400) + Y
    income[7] = value
    return pd.DataFrame({"age": RNG.normal(size=400), "income": income})


@pytest.mark.parametrize("model", MEASURE_BY_SPREAD, ids=repr)
@pytest.mark.parametrize("value", [1e6, -1e300])
def test_a_value_that_hides_all_others_is_named(model, value):
    with pytest.warns(UserWarning, match=rf"column 'income': the value {value:g} ".replace("+", r"\+")):
        model.fit(with_far_value(value), Y)


@pytest.mark.parametrize("model", MEASURE_BY_SPREAD, ids=repr)
def test_long_tails_and_rare_values_are_no_outliers(model):
    tails = np.column_stack([RNG.lognormal(0, 2, 400), RNG.standard_cauchy(400), np.where(RNG.random(400) < 0.02, 1e6, 0.0)])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*so far from the others")
        model.fit(tails, Y)
