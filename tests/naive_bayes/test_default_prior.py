"""What a class of numbers is believed to be beforehand: spread as classes are, and about the column's mean."""

import numpy as np
import pytest

import baytree as bt

IRIS = bt.datasets.load("iris", "pandas")
RNG = np.random.default_rng(0)


def test_a_class_of_fifty_rows_is_described_nearly_as_by_hand():
    setosa = IRIS.petal_length[IRIS.species == "setosa"]
    told = bt.NaiveBayesClassifier().fit(IRIS, "species").likelihood("petal_length").set_index("petal_length")["setosa"]
    assert abs(told["mean"] - setosa.mean()) < 0.01
    assert setosa.std() < told["scale"] < 1.15 * setosa.std()


@pytest.mark.slow
def test_three_rows_in_each_of_many_distant_classes_are_enough():
    place = np.arange(3000.0)[:, None] * [10.0, -10.0]
    X, y = np.repeat(place, 3, axis=0) + RNG.normal(size=(9000, 2)), np.repeat(np.arange(3000), 3)
    unseen = place + RNG.normal(size=place.shape)
    assert (bt.NaiveBayesClassifier().fit(X, y).predict(unseen) == np.arange(3000)).mean() > 0.99


def test_a_class_without_a_value_has_the_centre_and_the_spread_of_its_column():
    X = np.append(RNG.normal(5, 2, 40), np.nan)[:, None]
    told = bt.NaiveBayesClassifier().fit(X, ["a", "b"] * 20 + ["none"]).likelihood("x0").set_index("x0")["none"]
    assert told["mean"] == pytest.approx(np.nanmean(X))
    assert told["scale"] == pytest.approx(np.nanstd(X), rel=0.1)


@pytest.mark.parametrize("estimate", ["map", "bayes"])
def test_offset_and_unit_of_a_column_change_nothing(estimate):
    X, y = RNG.normal(size=(30, 3)) + np.arange(30)[:, None] % 3, np.arange(30) % 3
    answers = [bt.NaiveBayesClassifier(estimate=estimate).fit(Z, y).predict_proba(Z) for Z in (X, 1000 * X + 7)]
    assert np.allclose(*answers, atol=1e-9)


def test_the_print_names_the_prior():
    text = str(bt.NaiveBayesClassifier().fit(IRIS, "species"))
    assert "prior: a class's spread leans on that within all classes, as on 2 rows of its" in text
    assert "estimate: mle, without a prior" in str(bt.NaiveBayesClassifier(estimate="mle").fit(IRIS, "species"))
    assert "raised by 1e-09 of the column's" in str(bt.GaussianNB().fit(IRIS, "species"))


def test_a_prior_of_its_own_is_named_and_kept():
    own = {"petal_length": {"m0": 3.0, "k0": 1e9, "a0": 2.0, "b0": 1.0}}
    model = bt.NaiveBayesClassifier(priors=own).fit(IRIS, "species")
    assert "petal_length has its own" in str(model)
    assert np.allclose(model.likelihood("petal_length").iloc[0, 1:].astype(float), 3.0, atol=1e-5)
    other = bt.NaiveBayesClassifier().fit(IRIS, "species").likelihood("petal_width")
    assert model.likelihood("petal_width").equals(other)


# --- where a class is impossible ---------------------------------------------------------------------------------------

ROWS = {"a": ["x", "x", "y", "y"], "b": ["u", "v", "u", "u"], "c": ["k1", "k1", "k2", "k2"]}


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_ledger_without_a_possible_class_says_which_value_excludes_which_and_what_alpha_does():
    model = bt.NaiveBayesClassifier(estimate="mle").fit(ROWS, "c")
    (explanation,) = model.explain({"a": ["y"], "b": ["v"]})
    text = str(explanation)
    assert "a = y  excludes k1" in text
    assert "b = v  excludes k2" in text
    assert "every class is excluded" in text
    assert "alpha=1" in text
    assert "inf" not in text
    assert "nan" not in text
    assert [line["excludes"] for line in explanation.to_dict()["evidence"]] == [["k1"], ["k2"]]
    assert "every class is excluded" in explanation._repr_html_()


def test_a_ledger_with_one_possible_class_names_the_others():
    model = bt.NaiveBayesClassifier(estimate="mle").fit(ROWS, "c")
    text = str(model.explain({"a": ["x"], "b": ["v"]})[0])
    assert "a = x  excludes k2" in text
    assert "sum    without k2" in text


def test_with_alpha_nothing_is_impossible():
    text = str(bt.NaiveBayesClassifier().fit(ROWS, "c").explain({"a": ["y"], "b": ["v"]})[0])
    assert "excludes" not in text


def test_models_with_no_class_in_common_are_not_merged():
    other = bt.NaiveBayesClassifier().fit({**ROWS, "c": ["p", "p", "q", "q"]}, "c")
    with pytest.raises(ValueError, match=r"no class in common .k1, k2 and p, q."):
        bt.NaiveBayesClassifier().fit(ROWS, "c").merge(other)


@pytest.mark.parametrize(
    ("event", "prior"),
    [("gaussian", {"m0": 0.0}), ("poisson", {"shape": 0.0, "rate": 1.0}), ("bernoulli", 3.0), ("multinomial", -1.0)],
)
def test_what_is_no_prior_of_an_event_is_refused_before_a_row_is_counted(event, prior):
    schema = bt.NaiveBayesClassifier().fit({"x": [0.0, 1.0]}, ["a", "b"]).schema_
    with pytest.raises(ValueError, match=r"priors\['x'\]"):
        bt.NaiveBayesClassifier(events={"x": event}, priors={"x": prior})._learner(schema)
