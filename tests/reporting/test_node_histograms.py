"""Histograms in the cards of a tree: they count the rows of the node, and never a few rows."""

import numpy as np
import pytest

import baytree as bt
from baytree.reporting.model_page import model_page
from baytree.reporting.node_histograms import MAX_LEVELS, MIN_ROWS

PENGUINS = bt.datasets.load("penguins", as_="pandas")
TREES = {
    "cart": bt.CARTClassifier(cp=0.001),
    "c4.5": bt.C45Classifier(),
    "chaid": bt.CHAIDClassifier(),
    "open": bt.DecisionTreeClassifier(),
}


def tree_of(model, frame):
    return model_page(model, frame, None).payloads[0]["tree"]


@pytest.mark.parametrize("name", TREES)
def test_a_histogram_counts_the_rows_of_its_node_that_have_a_value(name):
    model = TREES[name].fit(PENGUINS, "species")
    ids, summary = model.apply(PENGUINS), model._predictor.summary()
    below = {node.id: {node.id} for node in summary.nodes}
    ancestors = []
    for node in summary.nodes:
        ancestors = [*ancestors[: node.depth], node.id]
        for each in ancestors:
            below[each].add(node.id)
    histograms = tree_of(model, PENGUINS)["histograms"]
    assert histograms
    for place, histogram in histograms.items():
        node = summary.nodes[place]
        inside = PENGUINS[np.isin(ids, list(below[node.id]))]
        known = inside[node.column].notna()
        counts = np.sum(histogram["weights"], axis=0)
        expected = inside.loc[known, "species"].astype(str).value_counts()
        classes = [str(model.classes_[code]) for code in histogram["classes"]]
        assert dict(zip(classes, counts, strict=True)) == expected[expected > 0].to_dict()


def test_nodes_of_few_rows_have_no_histogram():
    model = bt.DecisionTreeClassifier().fit(PENGUINS, "species")
    histograms = tree_of(model, PENGUINS)["histograms"]
    assert all(np.sum(each["weights"]) >= MIN_ROWS for each in histograms.values())
    assert tree_of(model, PENGUINS.head(MIN_ROWS - 1))["histograms"] == {}


def test_without_rows_a_page_has_no_histograms():
    assert "histograms" not in tree_of(bt.CARTClassifier().fit(PENGUINS, "species"), None)


def test_a_number_has_the_mean_and_deviation_of_the_target_in_each_bar():
    model = bt.CARTRegressor(cp=0.2).fit(PENGUINS[["species", "body_mass_g"]], "body_mass_g")
    root = tree_of(model, PENGUINS)["histograms"][0]
    known = PENGUINS[PENGUINS["body_mass_g"].notna()]
    levels = [model.schema_.columns[0].levels[code] for code in root["levels"]]
    for level, rows, mean, deviation in zip(levels, root["rows"], root["mean"], root["deviation"], strict=True):
        own = known.loc[known["species"] == level, "body_mass_g"]
        assert rows == len(own)
        assert mean == pytest.approx(own.mean(), rel=1e-4)
        assert deviation == pytest.approx(own.std(ddof=0), rel=1e-4)


def test_many_levels_are_pooled_into_one_bar():
    random = np.random.default_rng(0)
    level = random.integers(0, 30, 2000)
    frame = {"level": [f"l{k}" for k in level], "y": np.where(level % 3 == 0, "yes", "no")}
    root = tree_of(bt.CARTClassifier().fit(frame, "y"), frame)["histograms"][0]
    assert len(root["levels"]) == MAX_LEVELS
    assert len(root["weights"]) == MAX_LEVELS + 1
    assert np.sum(root["weights"]) == 2000


def test_numbers_whose_range_overflows_have_bars():
    frame = {"x": [-1.7e308] * 20 + [1.7e308] * 20, "y": ["a"] * 20 + ["b"] * 20}
    root = tree_of(bt.CARTClassifier().fit(frame, "y"), frame)["histograms"][0]
    assert root["weights"][0] == [20.0, 0.0]
    assert root["weights"][-1] == [0.0, 20.0]


def test_or_missing_stands_only_where_values_were_missing_in_training():
    complete = PENGUINS.dropna()
    words = [node[2] for node in tree_of(bt.CARTClassifier().fit(complete, "species"), complete)["nodes"]]
    assert not any("missing" in word for word in words)
