"""Shortcuts of large nodes: counted rows, bounds over blocks and tallies of siblings find what the plain road finds."""

import numpy as np
import pandas as pd
import pytest

import baytree as bt

RNG = np.random.default_rng(11)
N = 40_000


def table(n_classes):
    X = pd.DataFrame({f"x{i}": RNG.normal(size=N) for i in range(3)})
    X["few"] = RNG.integers(0, 9, N).astype(float)
    X["skewed"] = np.exp(8 * RNG.normal(size=N))
    X["cents"] = np.round(RNG.gamma(2.0, 30.0, N), 2)
    for name, n_levels in (("a", 2), ("b", 40), ("c", 900)):
        X[name] = pd.Categorical.from_codes(RNG.integers(0, n_levels, N), [f"v{i}" for i in range(n_levels)])
    score = X.x0 + (X.b.cat.codes % 3) + X.x1 * X.a.cat.codes + np.log(X.skewed) / 8 + RNG.normal(size=N)
    X.loc[RNG.random(N) < 0.1, "x1"] = np.nan
    X.loc[RNG.random(N) < 0.1, "b"] = None
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    return X, y


def splits(model):
    tree = model.tree_
    arrays = (tree.column, tree.first, np.nan_to_num(tree.cut), tree.branch_of, tree.rows)
    return [array.tolist() for array in arrays]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("missing", ["learned", "largest", "category"])
def test_rows_that_count_two_each_give_the_tree_of_rows_that_count_one(n_classes, missing):
    X, y = table(n_classes)
    model = bt.DecisionTreeClassifier(max_depth=5, missing=missing).fit(X, y)
    double = bt.DecisionTreeClassifier(max_depth=5, missing=missing).fit(X, y, sample_weight=np.full(N, 2.0))
    assert splits(model) == splits(double)
    alone = bt.DecisionTreeClassifier(max_depth=5, missing=missing, n_jobs=1).fit(X, y)
    assert splits(model) == splits(alone)


@pytest.mark.parametrize("criterion", ["entropy", "error", "chi2"])
@pytest.mark.parametrize("n_classes", [2, 40])
def test_cuts_that_are_looked_at_are_the_best_under_every_criterion(criterion, n_classes):
    X, y = table(n_classes)
    X = X[["x0", "x1", "few", "cents"]]
    model = bt.DecisionTreeClassifier(criterion=criterion, max_depth=5).fit(X, y)
    double = bt.DecisionTreeClassifier(criterion=criterion, max_depth=5).fit(X, y, sample_weight=np.full(N, 2.0))
    assert splits(model) == splits(double)


@pytest.mark.parametrize("criterion", ["entropy", "gain_ratio", "chi2"])
@pytest.mark.parametrize("kind", ["random", "runs", "rare", "ties", "missing", "drift"])
def test_no_cut_of_a_long_column_is_missed(criterion, kind):
    random, n = np.random.default_rng(len(kind)), 12_345
    x = np.arange(float(n))
    y = (random.random(n) < {"rare": 0.01, "drift": np.sin(x / 900) / 3 + 0.5}.get(kind, 0.4)).astype(int)
    if kind == "runs":
        y = np.cumsum(random.random(n) < 0.01) % 2
    x = np.floor(x / 7) if kind == "ties" else np.where(random.random(n) < 0.1, np.nan, x) if kind == "missing" else x
    model = bt.DecisionTreeClassifier(criterion=criterion, max_depth=12).fit(x[:, None], y)
    double = bt.DecisionTreeClassifier(criterion=criterion, max_depth=12).fit(x[:, None], y, sample_weight=np.full(n, 2.0))
    assert splits(model) == splits(double)


def test_the_order_of_the_rows_does_not_matter():
    X, y = table(2)
    mixed = RNG.permutation(N)
    assert splits(bt.DecisionTreeClassifier(max_depth=6).fit(X, y)) == splits(
        bt.DecisionTreeClassifier(max_depth=6).fit(X.iloc[mixed], y[mixed])
    )


@pytest.mark.parametrize("kind", ["normal", "heavy tails", "whole", "two far groups", "few", "cents", "tiny", "signs"])
def test_columns_of_every_shape_are_sorted(kind):
    x = {
        "normal": RNG.normal(size=30_000),
        "heavy tails": RNG.standard_cauchy(30_000) ** 3,
        "whole": RNG.integers(-(2**40), 2**40, 30_000).astype(float),
        "two far groups": np.where(RNG.random(30_000) < 0.5, 1e-9, 1e9) * RNG.random(30_000),
        "few": RNG.integers(0, 3, 30_000).astype(float),
        "cents": np.round(RNG.gamma(2.0, 30.0, 30_000), 2),
        "tiny": RNG.random(30_000) * 5e-310,
        "signs": np.where(RNG.random(30_000) < 0.5, -1.0, 1.0) * np.exp(50 * RNG.normal(size=30_000)),
    }[kind]
    middle = np.sort(x)[12_345]
    y = (x <= middle).astype(int)
    y[x > np.sort(x)[25_000]] = 1
    model = bt.DecisionTreeClassifier().fit(x[:, None], y)
    assert model.score(x[:, None], y) == 1.0
    assert model.n_leaves_ <= 3
