"""Nasty inputs: linear models learn from them what can be learnt, or refuse them by name; never silently something else."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import baytree as bt
from law_settings import settings

MODELS = {
    "lda": bt.LinearDiscriminantAnalysis,
    "qda": bt.QuadraticDiscriminantAnalysis,
    "ridge": bt.LogisticRegression,
    "lasso": lambda: bt.LogisticRegression(penalty="l1"),
    "unpenalised": lambda: bt.LogisticRegression(penalty=None),
    "one against rest": lambda: bt.LogisticRegression(multi_class="ovr"),
    "chosen": lambda: bt.LogisticRegressionCV(cv=3, Cs=4),
    "splines": lambda: bt.MARSClassifier(max_degree=2, max_terms=11, standardize=True),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.filterwarnings("error::RuntimeWarning")]


def signal(n=120, seed=0):
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return np.column_stack([np.where(y == 1, 1.5, -1.5) + random.normal(size=n), random.normal(size=n)]), y


X, Y = signal()
FLIP = np.random.default_rng(1).random(len(Y)) < 0.05
SIDE = np.where((Y == 1) ^ FLIP, 1.0, -1.0)
SETS = {
    "offset 1e9": X + 1e9,
    "offset 1e15": X * 100 + 1e15,
    "scale 1e12": X * 1e12,
    "scale 1e-12": X * 1e-12,
    "scale 1e300": X * 1e300,
    "scale 1e-300": X * 1e-300,
    "both at once": X * [1e300, 1e-300],
    "to the largest double": X / np.abs(X).max() * 1.7e308,
    "plus and minus 1.7e308": np.column_stack([SIDE * 1.7e308, X[:, 1]]),
    "offset 1e300": X * 1e290 + 1e300,
    "denormal": np.round(X * 1000) * 5e-324,
    "one denormal": np.column_stack([np.where(SIDE > 0, 5e-324, 0.0), X[:, 1]]),
    "one bit apart": np.column_stack([1 + np.round(X[:, 0] * 8) * 2.0**-52, X[:, 1]]),
    "constant": np.column_stack([X, np.full(len(X), 7.0)]),
    "constant 1.7e308": np.column_stack([X, np.full(len(X), 1.7e308)]),
    "ten copies": np.repeat(X, 10, axis=1),
    "copies of a yes-no column": np.repeat(SIDE[:, None], 3, axis=1),
    "collinear": np.column_stack([X, X @ [1.0, 2.0]]),
    "nothing but gaps": np.column_stack([X, np.full(len(X), np.nan)]),
    "half gaps": np.column_stack([X, np.where(np.arange(len(X)) % 3 == 0, 1e308, np.nan)]),
    "more columns than rows": np.column_stack([X, np.random.default_rng(2).normal(size=(len(X), 150))]),
    "separable": np.column_stack([SIDE * 10 + X[:, 1] * 0.1, X[:, 1]]),
    "integers beyond 2^53": (2**53 + np.round(X * 8).astype(np.int64) * 4),
}


def check_probabilities(model, rows):
    answer = model.predict_proba(rows)
    assert np.isfinite(answer).all()
    assert np.abs(answer.sum(axis=1) - 1).max() < 1e-12
    assert (model.classes_[answer.argmax(axis=1)] == model.predict(rows)).all()


@every_model
@pytest.mark.parametrize("name", SETS)
def test_a_signal_is_learnt_whatever_the_numbers_look_like(model, name):
    table = SETS[name]
    fitted = model().fit(table, Y)
    check_probabilities(fitted, table)
    assert fitted.score(table, Y) > 0.88
    str(fitted)
    assert len(fitted.explain(table[:2])) == 2


@every_model
def test_scores_of_ten_thousand_are_still_probabilities(model):
    fitted = model().fit(X, Y)
    check_probabilities(fitted, X * 1e4)
    check_probabilities(fitted, np.array([[1.7e308, -1.7e308], [-1.7e308, 5e-324], [0.0, 1e200]]))


@every_model
@settings(max_examples=25, deadline=None)
@given(rows=hnp.arrays(np.float64, (5, 2), elements=st.floats(allow_nan=True, allow_infinity=False)))
def test_any_finite_row_gets_probabilities(model, rows):
    check_probabilities(FITTED[model], rows)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    FITTED = {model: model().fit(X, Y) for model in MODELS.values()}


@every_model
@settings(max_examples=15, deadline=None)
@given(rows=hnp.arrays(np.float64, (8, 2), elements=st.floats(allow_nan=True, allow_infinity=False)))
def test_any_finite_table_gives_a_model_of_finite_probabilities(model, rows):
    fitted = model().fit(rows, ["a", "b"] * 4)
    check_probabilities(fitted, rows)


@every_model
@pytest.mark.parametrize("weight", [1e307, 1e-300, 1e-12, 3.0])
def test_the_size_of_equal_weights_does_not_break_anything(model, weight):
    fitted = model().fit(X, Y, sample_weight=np.full(len(Y), weight))
    check_probabilities(fitted, X)
    if weight >= 1:  # a penalty C counts rows: with weights of nothing, it is all there is
        assert fitted.score(X, Y) > 0.88


@every_model
def test_one_heavy_row_among_light_ones_leaves_finite_probabilities(model):
    weight = np.full(len(Y), 1e-300)
    weight[:2] = 1e307
    check_probabilities(model().fit(X, Y, sample_weight=weight), X)


@every_model
def test_one_class_is_always_predicted(model):
    fitted = model().fit(X, np.zeros(len(X), int))
    assert (fitted.predict(X) == 0).all()
    check_probabilities(fitted, X)


@every_model
def test_one_row_is_a_model_or_a_refusal_in_words(model):
    try:
        check_probabilities(model().fit(X[:1], Y[:1]), X)
    except ValueError as error:
        assert any(word in str(error) for word in ("row", "sample", "only one class"))


@every_model
def test_level_names_may_be_any_text(model):
    levels = np.array(["", " ", "a\0", "a", "=1+1", "\u202e", "é", "e\u0301", "💥", "NaN", "x" * 10_000], dtype=object)
    codes = np.random.default_rng(3).integers(0, len(levels), 400)
    frame = pd.DataFrame({"level": levels[codes], "size": np.random.default_rng(4).normal(size=400)})
    fitted = model().fit(frame, np.where(codes % 2, "odd", "even"))
    check_probabilities(fitted, frame)
    assert fitted.score(frame, np.where(codes % 2, "odd", "even")) > 0.9


@pytest.mark.slow
def test_a_hundred_thousand_levels_are_learnt_in_bounded_memory_or_refused():
    n = 200_000
    frame = pd.DataFrame({"id": [f"u{i}" for i in np.arange(n) // 2], "size": np.random.default_rng(5).normal(size=n)})
    y = np.where(frame["size"] > 0, "up", "down")
    fitted = bt.LogisticRegression(schema={"id": "nominal"}).fit(frame, y)
    assert fitted.score(frame, y) > 0.9
    for kind in (bt.LinearDiscriminantAnalysis, bt.QuadraticDiscriminantAnalysis):
        with pytest.raises(ValueError, match="'id'"):
            kind(schema={"id": "nominal"}).fit(frame, y)


def test_folds_never_lack_a_class_because_its_rows_are_equal():
    y = np.arange(90) % 3
    table = np.repeat((y == 0).astype(float)[:, None], 2, axis=1)
    chosen = bt.LogisticRegressionCV().fit(table, y)
    assert chosen.predict_proba(table)[y == 0, 0].min() > 0.9


@pytest.mark.parametrize("weight", [5e-324, 1e-300, 1e307])
@pytest.mark.parametrize("name", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "LogisticRegression"])
def test_weights_of_any_size_are_learnt_from(name, weight):
    model = getattr(bt, name)()
    y = np.arange(90) % 2
    X = (np.arange(90) % 7 + 5 * y).reshape(-1, 1).astype(float)
    assert model.fit(X, y, sample_weight=np.full(90, weight)).score(X, y) > 0.8
