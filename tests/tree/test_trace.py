"""`trace=True` keeps what every column could have done at every node, whatever the tree."""

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
