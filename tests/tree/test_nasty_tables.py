"""Nasty tables: every tree gives the right answer on the rows it was grown from, or a clear error."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import baytree as bt

N = 200
SIGNAL = np.arange(N) // 20 % 2  # ten runs along the rows
LINE = np.arange(float(N))
NOISE = np.random.default_rng(0).normal(size=N)

NUMBERS = {
    "neighbouring doubles": np.where(SIGNAL == 1, np.nextafter(1.0, 2.0), 1.0),
    "a tiny step far from zero": 1e9 + 1e-6 * SIGNAL,
    "milliseconds": 1.7e12 + SIGNAL,
    "very small": 1e-300 * SIGNAL,
    "subnormal": 5e-324 * SIGNAL,
    "opposite extremes": np.where(SIGNAL == 1, 1.7e308, -1.7e308),
    "infinities": np.where(SIGNAL == 1, np.inf, -np.inf),
}
WEIGHTS = {
    "huge": np.full(N, 1e307),
    "tiny": np.full(N, 1e-300),
    "subnormal": np.full(N, 5e-324),
    "none for some": np.where(np.arange(N) < 3, 0.0, 1.0),
}
LABELS = {
    "far from zero": 1e12 + SIGNAL,
    "neighbouring doubles": np.where(SIGNAL == 1, np.nextafter(1.0, 2.0), 1.0),
    "huge": 1e300 * SIGNAL,
    "opposite extremes": np.where(SIGNAL == 1, 1.7e308, -1.7e308),
    "very small": 1e-300 * SIGNAL,
    "subnormal": 5e-324 * SIGNAL,
}
CLASSIFIERS = [
    bt.DecisionTreeClassifier(),
    bt.DecisionTreeClassifier(branching="multiway", criterion="entropy"),
    bt.DecisionTreeClassifier(branching="merge"),
    bt.DecisionTreeClassifier(missing="surrogate", criterion="chi2"),
    bt.DecisionTreeClassifier(missing="category", criterion="gain_ratio"),
    bt.CARTClassifier(cp=0, min_split=2),
    bt.C45Classifier(pruning=None),
    bt.C45Classifier(conventions="j48"),
    bt.C50Classifier(),
    bt.C50Classifier(trials=3, early_stopping=False),
    bt.CHAIDClassifier(),
    bt.ID3Classifier(),
    bt.OptimalTreeClassifier(),
    bt.StreamingTreeClassifier(grace=5, confidence=0.5),
]
ADAPTIVE = bt.StreamingTreeClassifier(leaves="adaptive", grace=5, confidence=0.5)  # refuses infinite numbers
REGRESSORS = [
    bt.DecisionTreeRegressor(),
    bt.DecisionTreeRegressor(branching="multiway"),
    bt.DecisionTreeRegressor(branching="merge"),
    bt.CARTRegressor(cp=0, min_split=2),
    bt.CHAIDRegressor(),
]


@pytest.fixture(autouse=True)
def no_number_is_lost_silently():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def is_sound(model):
    tree = model.tree_
    fields = (tree.impurity, tree.risk, tree.gain, tree.weight, tree.share, tree.complexity, tree.value)
    return all(np.isfinite(field).all() for field in fields) and bool((tree.impurity >= 0).all())


@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
@pytest.mark.parametrize("kind", NUMBERS)
def test_a_column_that_tells_the_classes_is_found(kind, model):
    X = np.column_stack([NOISE, NUMBERS[kind]])
    assert model.fit(X, SIGNAL).score(X, SIGNAL) == 1.0
    assert is_sound(model)


@pytest.mark.parametrize("kind", NUMBERS)
def test_rules_and_soft_thresholds_bear_numbers_of_any_size(kind):
    X = np.column_stack([NOISE, NUMBERS[kind]])
    assert bt.C50Classifier(rules=True).fit(X, SIGNAL).score(X, SIGNAL) == 1.0
    share = bt.C50Classifier(fuzzy=True, winnow=True).fit(X, SIGNAL).predict_proba(X)  # to seven digits, as C5.0 reads them
    assert np.allclose(share.sum(axis=1), 1)


@pytest.mark.parametrize("model", CLASSIFIERS[:-4], ids=repr)  # the others stop before ten runs are told apart
@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_of_any_size_give_the_tree_of_equal_weights(kind, model):
    X = np.column_stack([LINE, NOISE])
    right = model.fit(X, SIGNAL, sample_weight=WEIGHTS[kind]).score(X[3:], SIGNAL[3:])
    assert right >= (0.85 if "merge" in repr(model) else 1.0)  # tenths of the rows need not lie on the runs
    assert is_sound(model)


@pytest.mark.parametrize("model", REGRESSORS, ids=repr)
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_size_are_predicted_exactly(kind, model):
    X = np.column_stack([LINE, NOISE])
    assert np.array_equal(model.fit(X, LABELS[kind]).predict(X), LABELS[kind])
    assert np.array_equal(model.fit(X, LABELS[kind], sample_weight=WEIGHTS["huge"]).predict(X), LABELS[kind])
    assert is_sound(model)


@pytest.mark.parametrize("model", [*CLASSIFIERS, ADAPTIVE, bt.C45Classifier(pruning="reduced_error")], ids=repr)
def test_tables_with_nothing_to_learn_give_one_leaf(model):
    for X, y in (
        (np.full((N, 2), np.nan), SIGNAL),
        (np.ones((N, 2)), SIGNAL),
        (np.array([[1.0, 2.0]]), np.array(["only"])),
        (np.column_stack([LINE, NOISE]), np.zeros(N, int)),
    ):
        assert model.fit(X, y).n_leaves_ == 1
        assert np.allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("model", [*CLASSIFIERS, ADAPTIVE], ids=repr)
def test_odd_names_and_dates_are_told_apart_and_printed(model):
    names = np.array(["a\0", "a", "\ud800", "\u200b", ""], object)[np.arange(N) % 5]
    odd = pd.DataFrame({"\u202ename\n": pd.Series(names, dtype=object)})
    y = (np.arange(N) % 5 == 0).astype(int)
    assert model.fit(odd, y).score(odd, y) == 1.0
    assert "\u202e" not in str(model)
    dates = pd.DataFrame({"day": pd.Timestamp("2020-01-01") + pd.to_timedelta(SIGNAL, unit="ms")})
    assert model.fit(dates, SIGNAL).score(dates, SIGNAL) == 1.0
    assert "2020" in str(model)


def test_integers_that_are_no_doubles_are_refused_by_name():
    X = pd.DataFrame({"id": 2**53 + np.arange(N)})
    with pytest.raises(ValueError, match="'id'"):
        bt.DecisionTreeClassifier().fit(X, SIGNAL)


@pytest.mark.parametrize("model", [*CLASSIFIERS, ADAPTIVE, *REGRESSORS, bt.CARTClassifier(pruning="1se")], ids=repr)
def test_a_column_of_text_is_refused_with_its_name_and_a_remedy(model):
    frame = {"x": np.arange(4.0), "review": ["a good film", "a bad plot", "bad", "good"]}
    with pytest.raises(ValueError, match=r"column 'review' is text.*drop it.*nominal.*LogisticRegression"):
        clone(model).set_params(schema={"review": "text"}).fit(frame, [0.0, 1.0, 1.0, 0.0])


def identified(n_rows):
    """A column in which every row has a level of its own, and one that tells the classes."""
    rng = np.random.default_rng(2)
    ids = np.array([f"u{i}" for i in rng.permutation(n_rows)], object)
    x = rng.normal(size=n_rows)
    return pd.DataFrame({"id": ids, "x": x}), (x > 0.3).astype(int)


@pytest.mark.parametrize("model", [bt.C45Classifier(), bt.C45Classifier(binary=True), bt.CHAIDClassifier()], ids=repr)
def test_a_column_that_an_algorithm_has_no_test_for_is_named_in_a_warning(model):
    frame, y = identified(100_000)
    with pytest.warns(UserWarning, match=r"column 'id' is not used.*100000 levels.*drop the column"):
        fitted = clone(model).set_params(schema={"id": "nominal"}).fit(frame, y)
    assert "id" not in {node.get("column") for node in fitted.nodes()}
    assert fitted.score(frame, y) > 0.9


@pytest.mark.parametrize("model", [*CLASSIFIERS, ADAPTIVE], ids=repr)
def test_levels_that_have_rows_enough_are_used_without_a_word(model):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"shop": [f"s{i}" for i in rng.integers(0, 30, 2000)], "rare": ["a"] * 1999 + ["b"]})
    y = (frame["shop"].str[1:].astype(int) % 2).to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = clone(model).set_params(schema={"shop": "nominal", "rare": "nominal"}).fit(frame, y)
    assert fitted.score(frame, y) == 1.0


@pytest.mark.parametrize("model", [*CLASSIFIERS, bt.CARTClassifier(), bt.C45Classifier()], ids=repr)
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_infinities_are_the_largest_and_the_smallest_number(model, share):
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(2, 600))
    x[rng.random(600) < share], x[rng.random(600) < share] = np.inf, -np.inf
    y = ((x > 0.4) ^ (rng.random(600) < 0.05)).astype(int)
    finite = np.clip(x, -1e30, 1e30)
    beside, instead = (clone(model).fit(np.column_stack([z, each]), y) for each in (x, finite))
    assert np.array_equal(beside.predict(np.column_stack([z, x])), instead.predict(np.column_stack([z, finite])))
    assert beside.n_nodes_ == instead.n_nodes_
    assert is_sound(beside)
