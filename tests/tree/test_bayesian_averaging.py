"""The average over all prunings of a tree, and the most probable one, beside a sum over every pruning."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from baytree.tree.pruning import prune_to
from law_settings import settings

N_COLUMNS = 3


def prunings(tree, node=0):
    """Every pruning of the subtree at a node, as the set of nodes that it splits."""
    yield frozenset()
    if tree.column[node] >= 0:
        children = range(tree.first[node], tree.first[node] + tree.branches[node])
        for below in itertools.product(*(list(prunings(tree, child)) for child in children)):
            yield frozenset({node}).union(*below)


def log_density_of_classes(tree, node):
    """Rows one after the other, each by the share of its class among those before and half a row of each class."""
    seen, total = np.full(tree.n_classes, 0.5), 0.0
    for code, weight in enumerate(tree.counts[node]):
        for _ in range(int(weight)):
            total += math.log(seen[code] / seen.sum())
            seen[code] += 1
    return total


def reached(tree, splits):
    """Nodes that a pruning has, and the leaf of the pruning above, or at, each node of the tree."""
    leaf, has = {0: 0}, {0}
    for node in range(len(tree)):
        if tree.column[node] < 0:
            continue
        for child in range(tree.first[node], tree.first[node] + tree.branches[node]):
            is_there = node in has and node in splits
            leaf[child] = child if is_there else leaf[node]
            if is_there:
                has.add(child)
    return has, leaf


def weighed(tree, n_columns):
    """Each pruning with the logarithm of its prior times the density of the rows."""
    split = 0.5 / n_columns
    for splits in prunings(tree):
        has, leaf = reached(tree, splits)
        stops = [node for node in has if node not in splits]
        prior = len(splits) * math.log(split) + sum(math.log(1 - split) for node in stops if tree.column[node] >= 0)
        yield splits, leaf, prior + sum(log_density_of_classes(tree, node) for node in stops)


def grown(seed, n):
    """A tree, the same with averages over its prunings, and the number of columns that vary."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (n, N_COLUMNS)).astype(float), rng.integers(0, 3, n)
    plain, averages = (bt.DecisionTreeClassifier(max_depth=3, averaging=each).fit(X, y) for each in (None, "prunings"))
    return plain, averages, np.count_nonzero(np.ptp(X, axis=0))


@given(st.integers(0, 10_000), st.integers(6, 30))
@settings(max_examples=15)
def test_the_average_is_that_of_every_pruning_with_its_weight(seed, n):
    plain, averages, n_columns = grown(seed, n)
    tree, ours = plain.tree_, averages.tree_
    cases = list(weighed(tree, n_columns))
    log_weight = np.array([weight for *_, weight in cases])
    share = np.exp(log_weight - np.logaddexp.reduce(log_weight))
    answer = (tree.counts + 0.5) / (tree.counts.sum(axis=1) + 0.5 * tree.n_classes)[:, None]
    assert same_tree(ours, tree)
    for node in np.flatnonzero(tree.is_leaf):
        expected = sum(part * answer[leaf[node]] for part, (_, leaf, _) in zip(share, cases, strict=True))
        np.testing.assert_allclose(ours.value[node], expected, rtol=1e-9)
    for node, probability in zip(ours.averaging.node, ours.averaging.kept, strict=True):
        there = [(part, node in splits) for part, (splits, leaf, _) in zip(share, cases, strict=True) if leaf[node] == node]
        splits_it, all_of_them = sum(part for part, is_split in there if is_split), sum(part for part, _ in there)
        assert probability == pytest.approx(splits_it / all_of_them, rel=1e-9)


@given(st.integers(0, 10_000), st.integers(6, 30))
@settings(max_examples=15)
def test_no_pruning_is_more_probable_than_the_one_that_is_found(seed, n):
    plain, _, n_columns = grown(seed, n)
    tree, chosen = plain.tree_, plain.prune("bayes").tree_
    cases = list(weighed(tree, n_columns))
    best = max(weight for *_, weight in cases)
    as_good = [splits for splits, _, weight in cases if weight > best - 1e-9]
    assert any(same_tree(chosen, prune_to(tree, np.isin(np.arange(len(tree)), list(splits)))) for splits in as_good)


def same_tree(one, other):
    return np.array_equal(one.counts, other.counts) and np.array_equal(one.column, other.column)


@pytest.mark.parametrize("missing", ["learned", "fractional"])
def test_noise_is_averaged_away_and_a_clear_split_is_kept(missing):
    rng = np.random.default_rng(0)
    noise = {"x": rng.normal(size=300), "z": rng.normal(size=300)}
    clear = {"x": rng.normal(size=300), "y": np.where(np.arange(300) < 150, "a", "b")}
    clear["x"][:150] += 20
    told = bt.DecisionTreeClassifier(averaging="prunings", missing=missing).fit(clear, "y")
    assert told.nodes()[0]["probability"] > 0.999
    guess = bt.DecisionTreeClassifier(averaging="prunings", missing=missing).fit(noise, rng.integers(0, 2, 300))
    plain = bt.DecisionTreeClassifier(missing=missing).fit(noise, rng.integers(0, 2, 300))
    assert np.abs(guess.predict_proba(noise) - 0.5).mean() < 0.3 < np.abs(plain.predict_proba(noise) - 0.5).mean()
    assert np.array_equal(guess.predict(noise), guess.classes_[guess.predict_proba(noise).argmax(axis=1)])


def test_numbers_of_a_leaf_move_towards_those_above_it_where_a_split_tells_little():
    rng = np.random.default_rng(0)
    rows = {"x": np.arange(80.0), "y": rng.normal(size=80) + np.repeat([0.0, 9.0], 40)}
    plain, averages = (bt.DecisionTreeRegressor(averaging=how).fit(rows, "y") for how in (None, "prunings"))
    step = np.repeat([0.0, 9.0], 40)
    assert averages.nodes()[0]["probability"] > 0.999
    assert np.mean((averages.predict(rows) - step) ** 2) < 0.5 * np.mean((plain.predict(rows) - step) ** 2)
    assert plain.prune("bayes").n_leaves_ == 2
    with pytest.raises(ValueError, match="averaging=None"):
        averages.prune("bayes")


def test_a_drop_in_is_pruned_to_the_most_probable_tree_too():
    from baytree.sklearn import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    X[:, 0] += 2 * y
    model = DecisionTreeClassifier().fit(X, y)
    assert model.prune("bayes").n_leaves_ < model.n_leaves_


def test_costs_choose_the_answer_of_an_averaged_tree():
    rows = {"x": [0.0] * 10 + [1.0] * 10, "y": ["ill"] * 4 + ["well"] * 6 + ["well"] * 10}
    costs = {"ill": {"well": 10.0}, "well": {"ill": 1.0}}
    model = bt.DecisionTreeClassifier(averaging="prunings", costs=costs).fit(rows, "y")
    assert model.predict({"x": [0.0]})[0] == "ill"
    assert model.predict_proba({"x": [0.0]})[0, 1] > 0.5


def test_the_probability_of_a_split_stands_in_the_text_and_on_the_card():
    rows = {"x": [0.0] * 30 + [1.0] * 30, "y": ["a"] * 30 + ["b"] * 30}
    model = bt.CARTClassifier(averaging="prunings").fit(rows, "y")
    assert "; split above 99 %" in str(model)
    assert "probability above 99 %" in model.to_svg()
    with pytest.raises(ValueError, match="averaging='trees'"):
        bt.CARTClassifier(averaging="trees").fit(rows, "y")
