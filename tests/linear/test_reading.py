"""Printed linear models: a terminal of 80 columns, zeros counted instead of listed, and what the numbers compare."""

import numpy as np
import pytest

import baytree as bt

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
MODELS = [
    bt.LinearDiscriminantAnalysis(),
    bt.QuadraticDiscriminantAnalysis(),
    bt.LogisticRegression(),
    bt.LogisticRegression(penalty="l1", C=0.05),
    bt.LogisticRegressionCV(cv=3, Cs=3),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize(("name", "target"), [("penguins", "species"), ("titanic", "survived")])
def test_a_printed_model_fits_a_terminal_of_80_columns(model, name, target):
    shown = str(model.fit(bt.datasets.load(name), target))
    assert [line for line in shown.splitlines() if len(line) > 80] == []


def test_errors_and_intervals_of_two_classes_fit_it_too():
    shown = str(bt.LogisticRegression(penalty=None).fit(bt.datasets.load("titanic"), "survived"))
    assert max(map(len, shown.splitlines())) <= 80
    assert "estimates are log-odds of yes against no" in shown


def test_features_without_effect_are_counted_and_not_listed():
    model = bt.LogisticRegression(penalty="l1", C=0.05).fit(bt.datasets.load("penguins"), "species")
    shown = str(model)
    rests = (model.coef_ == 0).all(axis=0)
    names = np.array(model.model_.design.names(model.schema_.columns))
    assert f"zero coefficients, not used ({rests.sum()})" in shown
    table = shown.split("0 throughout")[0]
    listed = [name for name in names if any(line.startswith(f"{name} ") for line in table.splitlines())]
    assert listed == names[~rests].tolist()


def test_of_very_many_coefficients_the_largest_are_shown():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 60))
    y = (X[:, 57] * 3 + random.normal(size=400) > 0).astype(int)
    shown = str(bt.LogisticRegression().fit(X, y))
    assert "x57 " in shown
    assert "… 21 more with a smaller effect per standard deviation" in shown


def test_unpenalised_coefficients_of_several_classes_stand_under_the_classes_they_compare():
    frame = bt.datasets.load("penguins")[["body_mass_g", "species"]]
    shown = str(bt.LogisticRegression(penalty=None).fit(frame, "species"))
    assert "Chinstrap against Adelie" in shown
    assert "Gentoo against Adelie" in shown
