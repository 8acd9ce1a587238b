"""Trees that must follow columns, and trees whose first question is given."""

import numpy as np
import pytest

import baytree as bt

PENGUINS = bt.datasets.load("penguins")
TREES = [
    bt.DecisionTreeClassifier(max_depth=3),
    bt.DecisionTreeClassifier(max_depth=3, criterion="entropy", missing="category"),
    bt.CARTClassifier(),
]


@pytest.mark.parametrize("model", TREES, ids=lambda model: repr(model)[:50])
@pytest.mark.parametrize("column", ["island", "sex", "bill_depth_mm", "body_mass_g"])
def test_the_root_asks_for_the_column_that_was_named(model, column):
    fitted = model.set_params(first_split=column).fit(PENGUINS, "species")
    assert fitted.nodes()[0]["column"] == column
    model.set_params(first_split=None)


def test_the_first_split_is_the_best_of_its_column():
    stump = bt.DecisionTreeClassifier(max_depth=1).fit(PENGUINS[["body_mass_g", "species"]], "species")
    forced = bt.DecisionTreeClassifier(first_split="body_mass_g").fit(PENGUINS, "species")
    assert forced.tree_.cut[0] == stump.tree_.cut[0]
    assert forced.tree_.gain[0] == stump.tree_.gain[0]


def test_below_the_first_split_every_column_may_follow():
    forced = bt.DecisionTreeClassifier(first_split="sex", max_depth=3).fit(PENGUINS, "species")
    assert len({node["column"] for node in forced.nodes() if node["column"]}) > 1


def test_the_best_column_as_the_first_changes_nothing():
    free = bt.DecisionTreeClassifier().fit(PENGUINS, "species")
    forced = bt.DecisionTreeClassifier(first_split=free.nodes()[0]["column"]).fit(PENGUINS, "species")
    assert str(free) == str(forced)


def test_a_column_that_cannot_split_leaves_a_leaf():
    rows = {"same": [1.0] * 6, "x": [1.0, 2, 3, 4, 5, 6], "y": ["a", "a", "a", "b", "b", "b"]}
    assert bt.DecisionTreeClassifier(first_split="same", schema={"same": "numeric"}).fit(rows, "y").n_nodes_ == 1


def test_the_trace_tells_what_every_column_could_have_done():
    model = bt.DecisionTreeClassifier(first_split="sex", max_depth=2, monotone={"body_mass_g": "up"}, trace=True)
    assert len(model.fit(PENGUINS.assign(species=PENGUINS.species == "Gentoo"), "species").trace_) > 4


def test_wishes_that_cannot_be_met_are_refused_in_words():
    def refused(words: str, **parameters) -> None:
        with pytest.raises(ValueError, match=words):
            bt.DecisionTreeClassifier(**parameters).fit(PENGUINS, "species")

    refused("first_split: there is no column 'ísland'; did you mean 'island'", first_split="ísland")
    two = PENGUINS.assign(species=PENGUINS.species == "Gentoo")
    with pytest.raises(ValueError, match="monotone: there is no column 'mass'"):
        bt.CARTClassifier(monotone={"mass": "up"}).fit(two, "species")
    with pytest.raises(ValueError, match="levels of column 'island' have no order"):
        bt.CARTClassifier(monotone={"island": "up"}).fit(two, "species")
    with pytest.raises(ValueError, match=r"monotone\['year'\]='rising': give one of 'up', 'down'"):
        bt.CARTClassifier(monotone={"year": "rising"}).fit(two, "species")
    with pytest.raises(ValueError, match="give a dict of 'up' or 'down' by column"):
        bt.CARTClassifier(monotone=["year"]).fit(two, "species")
    refused("the 3 classes of 'species' have no order; declare it", monotone={"year": "up"})
    for other in ({"branching": "multiway"}, {"branching": "merge"}, {"missing": "fractional"}):
        refused("monotone needs binary splits", monotone={"year": "up"}, **other)
    refused("first_split is not available with branching='merge'", first_split="island", branching="merge")


@pytest.mark.parametrize("column", ["island", "bill_depth_mm"])
@pytest.mark.parametrize("missing", ["learned", "fractional", "category"])
def test_multiway_trees_begin_with_the_named_column(column, missing):
    model = bt.DecisionTreeClassifier(branching="multiway", missing=missing, first_split=column, max_depth=2)
    fitted = model.fit(PENGUINS, "species")
    assert fitted.nodes()[0]["column"] == column
    assert {node["column"] for node in fitted.nodes()} - {column, None}
    if missing != "fractional":
        number = bt.DecisionTreeRegressor(branching="multiway", missing=missing, first_split=column, max_depth=2)
        assert number.fit(PENGUINS.dropna(subset="body_mass_g"), "body_mass_g").nodes()[0]["column"] == column


def test_exports_and_ledgers_follow_the_model():
    rows = PENGUINS.dropna()
    model = bt.CARTRegressor(monotone={"flipper_length_mm": "up", "year": "down"}, cp=0.0).fit(rows, "body_mass_g")
    inputs = rows.drop(columns="body_mass_g")
    names: dict = {}
    exec(model.export("python"), names)
    told = [names["predict"](row) for row in inputs[:40].to_dict("records")]
    np.testing.assert_allclose(told, model.predict(inputs[:40]))
    for ledger, answer in zip(model.explain(inputs[:40]), model.predict(inputs[:40]), strict=True):
        assert ledger.prediction == pytest.approx(answer)
