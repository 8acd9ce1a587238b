"""`trace=True` keeps what every column could have done at every node, whatever the tree."""

import numpy as np
import pytest

import baytree as bt
from shared_tables import kinds_of_columns

FRAME, LABEL = kinds_of_columns(200, seed=5)
NUMBER = FRAME.a.fillna(1).to_numpy() ** 2 + FRAME.c.isin(["u", "v"])
TREES = {
    "id3": bt.ID3Classifier(),
    "c4.5": bt.C45Classifier(),
    "j48 in two": bt.C45Classifier(conventions="j48", binary=True),
    "c4.5 groups": bt.C45Classifier(subset=True),
    "cart": bt.CARTClassifier(),
    "cart by 1 SE": bt.CARTClassifier(cp=0, pruning="1se"),
    "chaid": bt.CHAIDClassifier(),
    **{
        f"{branching}, {missing}": bt.DecisionTreeClassifier(branching=branching, missing=missing, min_leaf=10)
        for branching, missing in [
            ("binary", "learned"), ("binary", "surrogate"), ("binary", "fractional"), ("multiway", "fractional"),
            ("multiway", "category"), ("multiway", "largest"), ("multiway", "learned"), ("merge", "category"),
        ]
    },
    "numbers": bt.DecisionTreeRegressor(min_leaf=10),
    "multiway numbers": bt.DecisionTreeRegressor(branching="multiway", min_leaf=10),
    "merged numbers": bt.DecisionTreeRegressor(branching="merge"),
    "cart of numbers": bt.CARTRegressor(),
    "chaid of numbers": bt.CHAIDRegressor(),
}  # fmt: skip


@pytest.mark.parametrize("name", TREES)
def test_every_split_is_among_the_candidates_of_its_node(name):
    model = TREES[name].set_params(trace=True)
    model.fit(FRAME, NUMBER if "number" in name else LABEL)
    tried = {(candidate["node"], candidate["column"]) for candidate in model.trace_}
    splits = {(node["id"], node["column"]) for node in model.nodes() if node["column"] is not None}
    assert splits
    assert splits <= tried
    assert {column for node, column in tried if node == 0} == {"a", "c", "s"}


@pytest.mark.parametrize("name", TREES)
def test_asking_for_candidates_changes_no_tree(name):
    model = TREES[name].set_params(trace=True)
    label = NUMBER if "number" in name else LABEL
    told = model.fit(FRAME, label).export_text()
    model.set_params(trace=False).fit(FRAME, label)
    assert model.export_text() == told
    assert model.trace_ == [] or "merge" in name or "chaid" in name  # these tell what they took


@pytest.mark.parametrize("kind", [bt.DecisionTreeRegressor, bt.DecisionTreeClassifier])
def test_the_column_that_was_taken_has_the_largest_gain(kind):
    model = kind(min_leaf=10, trace=True).fit(FRAME, NUMBER if kind is bt.DecisionTreeRegressor else LABEL)
    for node in {candidate["node"] for candidate in model.trace_ if candidate["is_taken"]}:
        here = [candidate for candidate in model.trace_ if candidate["node"] == node]
        best = max(here, key=lambda candidate: candidate["gain"])
        taken = next(candidate for candidate in here if candidate["is_taken"])
        assert taken["gain"] == pytest.approx(best["gain"])


TENNIS = bt.datasets.load("play-tennis")


@pytest.mark.parametrize(
    "model",
    [bt.ID3Classifier(), bt.C45Classifier(), bt.DecisionTreeClassifier(criterion="entropy", branching="multiway")],
    ids=repr,
)
def test_the_first_gain_on_play_tennis_is_a_quarter_of_a_bit_per_row(model):
    first = model.set_params(trace=True).fit(TENNIS, "PlayTennis").trace_[0]
    assert first["column"] == "Outlook"
    assert first["gain"] == pytest.approx(0.2467, abs=5e-5)


BINARY = {"gain": 0.22600, "groups": [{"Overcast"}, {"Rain", "Sunny"}]}


@pytest.mark.parametrize(
    "model",
    [
        bt.DecisionTreeClassifier(criterion="entropy"),
        bt.CARTClassifier(criterion="entropy", cp=0, min_split=2),
        bt.DecisionTreeClassifier(criterion="entropy", missing="surrogate"),
        bt.DecisionTreeClassifier(criterion="entropy", branching="merge"),
        bt.DecisionTreeClassifier(criterion="gain_ratio"),
    ],
    ids=repr,
)
def test_every_binary_split_of_outlook_gains_the_same_bits(model):
    first = model.set_params(trace=True).fit(TENNIS, "PlayTennis").trace_[0]
    assert first["gain"] == pytest.approx(BINARY["gain"], abs=5e-6)
    assert set(map(frozenset, first["groups"])) == set(map(frozenset, BINARY["groups"]))
    if model.criterion == "gain_ratio":
        assert first["ratio"] == pytest.approx(0.22600 / 0.86312, abs=1e-5)


def test_the_weight_of_rows_changes_no_gain_per_row():
    for model in (bt.DecisionTreeClassifier(trace=True), bt.CARTClassifier(trace=True, cp=0, min_split=2)):
        once, twice = (model.fit(TENNIS, "PlayTennis", np.full(14, w)).trace_[0]["gain"] for w in (1.0, 2.0))
        assert once == pytest.approx(twice)


def test_gains_of_numbers_are_squares_per_row():
    rows = {"x": [1.0, 1.0, 2.0, 2.0], "y": [0.0, 0.0, 4.0, 4.0]}
    for model in (bt.DecisionTreeRegressor(trace=True), bt.CARTRegressor(trace=True, min_split=2)):
        assert model.fit(rows, "y").trace_[0]["gain"] == pytest.approx(4.0)


def test_the_trace_of_a_pruned_tree_names_its_own_nodes():
    frame = FRAME.assign(y=LABEL)
    for branching in ("binary", "multiway", "merge"):
        model = bt.DecisionTreeClassifier(branching=branching, pruning="1se", trace=True).fit(frame, "y")
        nodes = {node["id"]: node["column"] for node in model.nodes()}
        assert {test["node"] for test in model.trace_} <= set(nodes)
        for test in model.trace_:
            if test.get("is_taken"):
                assert nodes[test["node"]] == test["column"]
