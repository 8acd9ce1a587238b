"""Regression trees with a branch for each level, and with merged levels."""

import numpy as np
import pandas as pd
import pytest

import baytree as bt

RNG = np.random.default_rng(1)
X = pd.DataFrame({"a": RNG.choice(list("abcd"), 300), "x": RNG.normal(size=300)})
X.loc[::17, "a"] = None
X.loc[::13, "x"] = np.nan
Y = X.a.map({"a": 1.0, "b": 5.0, "c": 2.0, "d": 9.0}).fillna(3.0) + 2 * (X.x > 0.3) + RNG.normal(size=300) / 10


@pytest.mark.parametrize("missing", ["learned", "category", "largest"])
@pytest.mark.parametrize("offset", [0.0, 1e12])
def test_every_level_has_a_branch_and_the_mean_of_its_rows(missing, offset):
    model = bt.DecisionTreeRegressor(branching="multiway", missing=missing, max_depth=1).fit(X, Y + offset)
    assert model.tree_.column[0] == 0
    assert model.n_leaves_ == 4 + (missing == "category")
    if missing != "largest":
        parts = Y.groupby(X.a.fillna("?" if missing == "category" else X.a)).mean()
        near = 0.6 if missing == "learned" else 1e-3
        assert model.predict(X[X.a == "d"])[0] - offset == pytest.approx(parts["d"], abs=near)


def test_the_gain_is_what_the_squares_fall_by():
    model = bt.DecisionTreeRegressor(branching="multiway", max_depth=1).fit(X[["a"]], Y)
    before = ((Y - Y.mean()) ** 2).sum()
    after = ((Y - model.predict(X[["a"]])) ** 2).sum()
    assert model.tree_.gain[0] == pytest.approx(before - after, rel=1e-12)


def test_a_weight_of_two_is_a_row_twice():
    weight = RNG.integers(0, 3, 300)
    twice = np.repeat(np.arange(300), weight)
    weighted = bt.DecisionTreeRegressor(branching="multiway").fit(X, Y, sample_weight=weight)
    repeated = bt.DecisionTreeRegressor(branching="multiway").fit(X.iloc[twice], Y.iloc[twice])
    assert np.allclose(weighted.predict(X), repeated.predict(X), rtol=1e-12)


def test_numbers_alone_give_the_binary_tree():
    ours = bt.DecisionTreeRegressor(branching="multiway", max_depth=4).fit(X[["x"]], Y)
    binary = bt.DecisionTreeRegressor(max_depth=4).fit(X[["x"]], Y)
    assert ours.export_text() == binary.export_text()


def large_table(n: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"a": rng.choice(list("abcdefghij"), n), "x": rng.normal(size=n), "b": rng.choice(["p", "q"], n)})
    return frame.mask(rng.random((n, 3)) < 0.05), rng.normal(size=n) + frame.x + frame.a.isin(["b", "e"])


def test_threads_and_large_nodes_change_no_bit():
    frame, y = large_table(40_000)
    trees = [bt.DecisionTreeRegressor(branching="multiway", min_leaf=200, n_jobs=n).fit(frame, y).tree_ for n in (1, 2)]
    for name in ("column", "first", "cut", "branch_of", "missing", "rows", "value", "risk", "gain"):
        assert getattr(trees[0], name).tobytes() == getattr(trees[1], name).tobytes()


@pytest.mark.parametrize("missing", ["learned", "category", "largest"])
def test_every_node_holds_the_rows_that_its_tests_send_there(missing):
    frame, y = large_table(2000)
    tree = bt.DecisionTreeRegressor(branching="multiway", missing=missing, min_leaf=10).fit(frame, y)
    for leaf, rows in pd.Series(range(2000)).groupby(tree.apply(frame)):
        assert tree.tree_.rows[leaf] == len(rows)
        assert tree.tree_.value[leaf, 0] == pytest.approx(y[rows].mean(), rel=1e-12)
        assert tree.tree_.risk[leaf] == pytest.approx(((y[rows] - y[rows].mean()) ** 2).sum(), rel=1e-9)


def test_the_means_of_a_tree_of_two_branches_are_those_of_many():
    frame, y = large_table(2000)
    many, two = (bt.DecisionTreeRegressor(branching=b, max_depth=0).fit(frame, y).tree_ for b in ("multiway", "binary"))
    assert many.value.tobytes() == two.value.tobytes()
    assert many.risk.tobytes() == two.risk.tobytes()


def test_merged_levels_are_those_of_chaid():
    ours = bt.DecisionTreeRegressor(branching="merge", min_split=20, min_leaf=7, max_depth=2).fit(X, Y)
    theirs = bt.CHAIDRegressor(min_prob=1.0, alpha_split=1.0, max_depth=2).fit(X, Y)
    assert ours.export_text() == theirs.export_text()


def test_roads_for_two_branches_are_refused():
    with pytest.raises(ValueError, match="use 'learned'"):
        bt.DecisionTreeRegressor(branching="multiway", missing="surrogate").fit(X, Y)
