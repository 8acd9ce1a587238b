"""`branching="merge"`: CHAID's groups under any criterion that can judge several branches."""

import numpy as np
import pandas as pd
import pytest

import baytree as bt

RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.choice(list("abcdef"), 400), "x": RNG.normal(size=400)})
X.loc[::17, "a"] = None
X.loc[::13, "x"] = np.nan
Y = np.where(X.a.isin(["a", "b"]) ^ (X.x > 0.3), "p", "q")


@pytest.mark.parametrize("criterion", ["chi2", "likelihood_ratio", "gini", "entropy", "error", "gain_ratio"])
def test_levels_that_do_not_differ_share_a_branch(criterion):
    model = bt.DecisionTreeClassifier(criterion=criterion, branching="merge", alpha=0.01, trace=True).fit(X, Y)
    assert model.score(X, Y) > 0.95
    root_or_child = [node for node in model.nodes() if node["column"] == "a"]
    assert any(["a", "b"] in node["groups"] for node in root_or_child)
    assert {trial["column"] for trial in model.trace_} == {"a", "x"}


def test_merging_by_chi2_is_chaid():
    ours = bt.DecisionTreeClassifier(criterion="chi2", branching="merge", alpha=0.05, min_split=20, min_leaf=7).fit(X, Y)
    theirs = bt.CHAIDClassifier(min_prob=1.0).fit(X, Y)
    assert ours.export_text() == theirs.export_text()


def test_the_printed_tree_tells_the_p_values_of_its_splits():
    model = bt.CHAIDClassifier().fit(X, Y)
    assert str(model).count("adjusted p") == model.n_nodes_ - model.n_leaves_


def test_a_tree_cut_back_to_few_leaves_keeps_its_p_values():
    model = bt.DecisionTreeClassifier(branching="merge", max_leaves=3).fit(X, Y)
    assert model.n_leaves_ <= 3
    assert str(model).count("adjusted p") == model.n_nodes_ - model.n_leaves_


@pytest.mark.parametrize("parameters", [{"criterion": "twoing"}, {"missing": "surrogate"}, {"priors": [0.5, 0.5]}])
def test_what_does_not_go_with_merging_is_refused_with_a_remedy(parameters):
    with pytest.raises(ValueError, match="use"):
        bt.DecisionTreeClassifier(branching="merge", **parameters).fit(X, Y)
