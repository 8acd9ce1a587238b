"""A model of scikit-learn that is taken over answers as before, and can do what models of this library can."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import baytree as bt
from law_settings import settings

OF_NUMBERS = [DecisionTreeClassifier(random_state=0), GaussianNB(), LinearDiscriminantAnalysis(), LogisticRegression()]
OF_COUNTS = [BernoulliNB(), MultinomialNB(), ComplementNB(), ComplementNB(norm=True), CategoricalNB()]
ENCODED = [DecisionTreeClassifier(random_state=0), LinearDiscriminantAnalysis(), LogisticRegression(max_iter=1000)]
SIZES = ["S", "M", "L"]


def answers_of(model, rows):
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)


def raw_table(seed, n=120):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": random.choice(SIZES, n),
            "length": random.normal(size=n),
            "colour": random.choice(["red", "green", "blue"], n),
            "count": random.integers(0, 4, n).astype(float),
        }
    )
    score = frame.length + (frame.colour == "red") + 0.4 * random.normal(size=n)
    return frame, np.select([score > 1, frame["count"] > 2], ["yes", "perhaps"], "no")


def encoder(**options):
    return ColumnTransformer(
        [("levels", OneHotEncoder(**options), ["colour"]), ("ranks", OrdinalEncoder(categories=[SIZES]), ["size"])],
        remainder="passthrough",
    )


@pytest.mark.parametrize("model", OF_NUMBERS, ids=lambda model: type(model).__name__)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4))
@settings(max_examples=10, deadline=None)
def test_a_model_of_numbers_answers_as_before(model, seed, n_classes):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(80, 3)), np.arange(80) % n_classes
    theirs = model.fit(X + y[:, None] * 0.5, y)
    new = random.normal(size=(200, 3)) * 2
    ours = bt.from_sklearn(theirs)
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), rtol=0, atol=1e-12)
    assert (ours.predict(new) == theirs.predict(new)).all()


@pytest.mark.parametrize("model", OF_COUNTS, ids=str)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_a_model_of_counts_answers_as_before(model, seed):
    random = np.random.default_rng(seed)
    X, y = random.integers(0, 4, (60, 4)), np.array(["a", "b", "c"])[np.arange(60) % 3]
    theirs = model.fit(X, y)
    np.testing.assert_allclose(bt.from_sklearn(theirs, X).predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-12)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_a_cut_is_that_of_numbers_that_are_rounded_to_float32(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(50, 1)).astype(np.float32)
    theirs = DecisionTreeRegressor(random_state=0).fit(X, np.arange(50.0))
    cuts = theirs.tree_.threshold[theirs.tree_.feature >= 0]
    near = np.concatenate([cuts * (1 + k * 2.0**-26) for k in range(-6, 7)])[:, None]
    np.testing.assert_array_equal(bt.from_sklearn(theirs).predict(near), theirs.predict(near))


@pytest.mark.parametrize("options", [{}, {"handle_unknown": "ignore"}, {"drop": "first"}, {"drop": "if_binary"}], ids=str)
@pytest.mark.parametrize("model", ENCODED, ids=lambda model: type(model).__name__)
def test_a_pipeline_with_encoders_answers_as_before_from_the_raw_table(model, options):
    frame, y = raw_table(0)
    theirs = make_pipeline(encoder(**options), model).fit(frame, y)
    new, _ = raw_table(1)
    ours = bt.from_sklearn(theirs, new)
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), rtol=0, atol=1e-12)
    assert ours.schema_["colour"].levels == ("blue", "green", "red")


def test_a_level_that_the_encoder_ignores_is_missing():
    frame, y = raw_table(0)
    new = raw_table(1)[0].assign(colour="violet")
    for model in ENCODED:
        theirs = make_pipeline(encoder(handle_unknown="ignore"), model).fit(frame, y)
        np.testing.assert_allclose(bt.from_sklearn(theirs).predict_proba(new), theirs.predict_proba(new), atol=1e-12)


def test_categorical_naive_bayes_behind_an_ordinal_encoder_takes_levels():
    frame, y = raw_table(0)
    levels = frame[["size", "colour"]]
    theirs = make_pipeline(ColumnTransformer([("codes", OrdinalEncoder(), ["colour", "size"])]), CategoricalNB()).fit(
        levels, y
    )
    np.testing.assert_allclose(
        bt.from_sklearn(theirs, levels).predict_proba(levels), theirs.predict_proba(levels), atol=1e-12
    )


def test_what_is_taken_over_explains_itself_and_leaves_and_is_saved(tmp_path):
    frame, y = raw_table(0)
    for model in ENCODED:
        ours = bt.from_sklearn(make_pipeline(encoder(), model).fit(frame, y))
        ledger = ours.explain(frame[:1])[0]
        assert ledger.prediction == ours.predict(frame[:1])[0]
        assert {line.column for line in ledger.evidence} <= set(frame.columns)
        assert "def " in ours.export("python")
        assert ours.report(path=tmp_path / "page.html").stat().st_size > 1000
        bt.save(ours, tmp_path / "m.baytree")
        assert (bt.load(tmp_path / "m.baytree").predict(frame) == ours.predict(frame)).all()


def test_a_regression_tree_is_taken_over():
    frame, _ = raw_table(0)
    theirs = make_pipeline(encoder(), DecisionTreeRegressor(max_depth=4, random_state=0)).fit(frame, frame.length**2)
    np.testing.assert_array_equal(bt.from_sklearn(theirs, frame).predict(frame), theirs.predict(frame))


def test_what_cannot_be_taken_over_is_named():
    frame, y = raw_table(0)
    with pytest.raises(TypeError, match="LinearRegression cannot be converted"):
        bt.from_sklearn(LinearRegression().fit([[1.0], [2.0]], [1.0, 2.0]))
    with pytest.raises(ValueError, match="not fitted"):
        bt.from_sklearn(LogisticRegression())
    scaled = make_pipeline(ColumnTransformer([("z", StandardScaler(), ["length"])]), LogisticRegression()).fit(frame, y)
    with pytest.raises(ValueError, match="step 'z' is a StandardScaler"):
        bt.from_sklearn(scaled)
    with pytest.raises(ValueError, match="3 outputs"):
        bt.from_sklearn(DecisionTreeRegressor().fit([[1.0], [2.0]], np.ones((2, 3))))
