"""Probabilities of events under naive Bayes, dependence of columns, and joint distributions without a target."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import baytree as bt
from law_settings import settings

TENNIS = bt.datasets.load("play-tennis")
LEVELS = {"a": ["u", "v", "w"], "b": ["x", "y"], "y": ["no", "yes"]}


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    n = draw(st.integers(4, 40))
    columns = {name: draw(st.lists(st.sampled_from(levels), min_size=n, max_size=n)) for name, levels in LEVELS.items()}
    return pd.DataFrame(columns)


@settings(max_examples=30)
@given(tables(), st.sampled_from(["mle", "bayes"]))
def test_the_full_table_sums_to_one_and_gives_every_probability(frame: pd.DataFrame, estimate: str):
    if frame["y"].nunique() < 2:
        return
    model = bt.NaiveBayesClassifier(estimate=estimate).fit(frame, "y")
    table = model.table()
    assert table["probability"].sum() == pytest.approx(1)
    for a, y in product(frame["a"].unique(), frame["y"].unique()):
        both = table.loc[(table["a"] == a) & (table["y"] == y), "probability"].sum()
        of_a = table.loc[table["a"] == a, "probability"].sum()
        assert model.probability({"a": a, "y": y}) == pytest.approx(both)
        assert model.probability({"y": y}, given={"a": a}) == pytest.approx(both / of_a)
        predicted = model.predict_proba(pd.DataFrame({"a": [a], "b": [None]}))[0]
        assert model.probability({"y": y}, given={"a": a}) == pytest.approx(predicted[list(model.classes_).index(y)])


def test_probabilities_of_play_tennis():
    model = bt.NaiveBayesClassifier(estimate="mle").fit(TENNIS, "PlayTennis")
    assert model.probability({"PlayTennis": "Yes"}) == pytest.approx(9 / 14)
    assert model.probability({"Outlook": "Sunny"}, given={"PlayTennis": "Yes"}) == pytest.approx(2 / 9)
    assert model.probability({"Outlook": ["Sunny", "Rain"]}, given={"PlayTennis": "Yes"}) == pytest.approx(5 / 9)
    assert model.probability({"Outlook": "Sunny"}, given={"Outlook": "Rain"}) == 0


def test_a_numeric_column_has_no_probability_of_a_single_value():
    model = bt.NaiveBayesClassifier().fit(bt.datasets.load("penguins"), "species")
    with pytest.raises(ValueError, match="'body_mass_g' is numeric"):
        model.probability({"body_mass_g": 3000})
    with pytest.raises(ValueError, match="is numeric"):
        model.table()
    with pytest.raises(ValueError, match="has no level 'Mars'"):
        model.probability({"island": "Mars"})


@settings(max_examples=30)
@given(tables())
def test_dependence_is_the_g_test_within_classes(frame: pd.DataFrame):
    if frame["y"].nunique() < 2:
        return
    (pair,) = bt.NaiveBayesClassifier().fit(frame, "y").dependence(frame).pairs
    statistic = degrees = 0
    for _, rows in frame.groupby("y"):
        counts = pd.crosstab(rows["a"], rows["b"]).to_numpy()
        if min(counts.shape) > 1:
            test = stats.chi2_contingency(counts, correction=False, lambda_="log-likelihood")
            statistic, degrees = statistic + test.statistic, degrees + test.dof
    assert 2 * len(frame) * np.log(2) * pair.bits == pytest.approx(statistic, abs=1e-9)
    assert pair.p == pytest.approx(stats.chi2.sf(statistic, degrees) if degrees else 1, abs=1e-9)


def test_dependence_finds_the_copied_column_first_and_refuses_unlabelled_rows():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({name: random.normal(size=300) for name in "abc"})
    frame["twin"] = frame["b"] + random.normal(scale=0.1, size=300)
    frame["y"] = np.where(frame["a"] > 0, "yes", "no")
    model = bt.NaiveBayesClassifier().fit(frame, "y")
    found = model.dependence(frame)
    assert found.pairs[0].columns == ("b", "twin")
    assert found.pairs[0].fdr < 1e-6 < found.pairs[1].fdr
    assert "b, twin" in str(found)
    assert "b, twin" in found._repr_html_()
    assert len(found.to_frame()) == 6
    with pytest.raises(ValueError, match="no target column 'y'"):
        model.dependence(frame.drop(columns="y"))


def test_the_joint_distribution_of_columns_alone():
    model = bt.JointDistribution().fit(TENNIS)
    assert model.probability({"PlayTennis": "Yes"}) == pytest.approx(9 / 14)
    assert model.probability({"PlayTennis": "Yes"}, given={"Outlook": "Overcast"}) == 1
    assert list(model.table().columns) == [*TENNIS.columns, "probability"]
    assert list(model.sample(3, random_state=0).columns) == list(TENNIS.columns)


def test_a_joint_distribution_without_a_target_refuses_to_predict(tmp_path):
    model = bt.JointDistribution().fit(TENNIS)
    bt.save(model, tmp_path / "joint.baytree")
    loaded = bt.load(tmp_path / "joint.baytree")
    assert loaded.probability({"PlayTennis": "No"}) == pytest.approx(5 / 14)
    calls = [
        lambda: model.predict(TENNIS),
        lambda: bt.load(tmp_path / "joint.baytree").predict_proba(TENNIS),
        lambda: model.export("python"),
        lambda: model.report(path=tmp_path / "page.html"),
        lambda: model.interview(),
        lambda: bt.evaluate(model, TENNIS),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="fitted without a target"):
            call()
    with pytest.raises(ValueError, match="no target"):
        model.partial_fit(TENNIS, "PlayTennis")
    model.partial_fit(TENNIS).forget(TENNIS)
    assert model.probability({"PlayTennis": "Yes"}) == pytest.approx(9 / 14)


def test_categorical_estimates_of_the_text():
    estimates = bt.estimate_categorical(counts={"red": 5, "blue": 0, "green": 7}, alpha=1.0)
    assert list(estimates.mean.values()) == pytest.approx([6 / 15, 1 / 15, 8 / 15])
    assert estimates.mle["blue"] == 0
    assert bt.estimate_categorical(["a", "b", "a", None]).mle == {"a": pytest.approx(2 / 3), "b": pytest.approx(1 / 3)}
    assert bt.estimate_categorical(["a"], alpha={"c": 1}).mean == {"a": 0.5, "c": 0.5}
    for wrong in ({}, {"counts": {"a": -1}}, {"counts": {}}, {"values": [None]}):
        with pytest.raises(ValueError, match=r"give|no levels"):
            bt.estimate_categorical(**wrong)
