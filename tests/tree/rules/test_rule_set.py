"""A rule set answers as the tree that it was made from, and keeps its predictions when it is simplified."""

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from baytree.tree.rules import holding, passing, rules
from shared_tables import kinds_of_columns

FRAME, LABEL = kinds_of_columns(300, seed=3)
NUMBER = FRAME.a.fillna(1).to_numpy() ** 2 + (FRAME.s == "S")
TREES = [
    (bt.DecisionTreeClassifier(max_depth=4), LABEL),
    (bt.DecisionTreeClassifier(missing="category", branching="multiway", min_leaf=5), LABEL),
    (bt.DecisionTreeClassifier(branching="merge"), LABEL),
    (bt.CHAIDClassifier(min_split=5, min_leaf=2), LABEL),
    (bt.DecisionTreeRegressor(max_depth=3), NUMBER),
]


@pytest.mark.parametrize(("model", "label"), TREES, ids=[repr(model) for model, _ in TREES])
def test_the_rules_of_a_tree_answer_as_the_tree(model, label):
    model.fit(FRAME, label)
    table = model._encoded(FRAME)
    assert np.array_equal(model.rules().predict(table), model.model_.predict(table))
    assert model.rules().predictions(table) == model.predict(FRAME).tolist()


@pytest.mark.parametrize(("model", "label"), TREES, ids=[repr(model) for model, _ in TREES])
def test_rules_hold_for_the_rows_that_pass_them(model, label):
    table = model.fit(FRAME, label)._encoded(FRAME)
    for rule in model.rules():
        passed = passing(rule.conditions, table, np.arange(len(FRAME)))
        assert np.array_equal(np.flatnonzero(holding(rule.conditions, table)), passed)


@pytest.mark.parametrize(("model", "label"), TREES, ids=[repr(model) for model, _ in TREES])
def test_simplified_rules_predict_the_given_rows_alike(model, label):
    model.fit(FRAME, label)
    table, every = model._encoded(FRAME), model.rules()
    fewer = model.rules(FRAME)
    assert fewer.predictions(table) == every.predictions(table)
    asked = sum(len(rule.conditions) for rule in every)
    assert len(fewer) <= len(every)
    assert sum(len(rule.conditions) for rule in fewer) < asked


def test_a_condition_that_keeps_nothing_out_is_dropped():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "z": [1.0, 1.0, 2.0, 2.0]})
    model = bt.DecisionTreeClassifier().fit(pd.concat([frame, frame]), ["a", "b", "b", "b"] * 2)
    assert str(model.rules(frame)) == "IF x ≤ 1.5 THEN a (probability 1.000; 2 rows, 25.0 %)"


def test_a_row_that_no_rule_covers_gets_the_answer_of_all_rows():
    model = bt.CARTClassifier(max_surrogates=1, min_split=2).fit(FRAME, LABEL)  # surrogates are no part of a rule
    table = model._encoded(pd.DataFrame({"a": [np.nan], "c": [None], "s": [None]}, dtype=object).astype({"a": float}))
    assert model.rules().apply(table)[0] == -1
    assert np.array_equal(model.rules().predict(table)[0], model.tree_.value[0])


def test_rules_are_data():
    model = bt.DecisionTreeClassifier(max_depth=2).fit(FRAME, LABEL)
    first = model.rules()[0].to_dict()
    assert list(first)[:7] == ["node", "conditions", "prediction", "probability", "rows", "weight", "share"]
    assert [test["column"] for test in first["tests"]] == [text.split()[0] for text in first["conditions"]]
    assert len(model.rules().to_dict()["rules"]) == len(model.rules()) == model.n_leaves_
    assert [str(rule) for rule in model.rules()] == str(model.rules()).splitlines()
    assert rules(model.tree_, model.schema_).rules[-1].covers(model._encoded(FRAME)).any()
