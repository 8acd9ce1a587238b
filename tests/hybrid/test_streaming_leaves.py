"""Naive Bayes leaves of trees that go on learning: who answers, what it says, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from baytree.storage import dumps, loads


def slanted(seed: int, n: int = 6000) -> tuple[np.ndarray, np.ndarray]:
    """Two numbers and a border that no column sees alone."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 2))
    return x, np.where(x.sum(axis=1) + rng.normal(0, 0.05, n) > 1, "above", "below")


def stepped(seed: int, n: int = 6000) -> tuple[np.ndarray, np.ndarray]:
    """Classes that naive Bayes cannot tell apart, and one test after another can."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 2))
    return x, np.where((x[:, 0] < 0.3) ^ (x[:, 1] < 0.4), "odd", "even")


def test_where_borders_are_slanted_naive_bayes_answers_and_more_is_right():
    (x, y), (fresh, truth) = slanted(0), slanted(1)
    adaptive, counts = (bt.StreamingTreeClassifier(leaves=leaves).fit(x, y) for leaves in ("adaptive", "counts"))
    assert adaptive.naive_bayes_
    assert counts.naive_bayes_ == ()
    assert adaptive.score(fresh, truth) > counts.score(fresh, truth) + 0.02
    assert adaptive.n_leaves_ < counts.n_leaves_


@pytest.mark.parametrize("revise", [True, False])
def test_where_tests_tell_more_the_tree_answers(revise):
    x, y = stepped(0)
    adaptive, counts = (
        bt.StreamingTreeClassifier(leaves=leaves, revise=revise, confidence=0.01).fit(x, y)
        for leaves in ("adaptive", "counts")
    )
    assert adaptive.n_leaves_ > 1
    assert adaptive.score(x, y) >= counts.score(x, y) - 0.01


def test_the_numbers_of_a_leaf_are_those_of_its_rows():
    rng = np.random.default_rng(3)
    label = rng.integers(0, 2, 5000)
    x = rng.normal(10 + 3 * label, 1 + label)
    (bayes,) = (
        bt.StreamingTreeClassifier(leaves="adaptive", max_depth=0)
        .fit({"x": x, "z": rng.normal(size=5000) + label}, label)
        .model_.models
    )
    (normal,) = bayes.likelihoods
    for k in (0, 1):
        assert normal.mean[k, 0] == pytest.approx(x[label == k].mean(), abs=0.1)
        assert normal.scale[k, 0] == pytest.approx(x[label == k].std(), rel=0.1)
    np.testing.assert_allclose(np.exp(bayes.log_prior), np.bincount(label) / 5000)


def test_levels_of_a_leaf_have_one_more_than_they_occur_and_those_that_never_came_tell_nothing():
    rng = np.random.default_rng(4)
    label = rng.integers(0, 2, 2000)
    frame = pd.DataFrame({name: np.where(rng.random(2000) < 0.3 + 0.3 * label, "a", "b") for name in ("one", "two")})
    frame["one"] = pd.Categorical(frame["one"], ["a", "b", "never"])
    model = bt.StreamingTreeClassifier(leaves="adaptive", max_depth=0).fit(frame, label)
    (bayes,) = model.model_.models
    one = np.exp(bayes.likelihoods[0].log_probability)
    counts = np.array([[np.sum((frame["one"] == level) & (label == k)) for k in (0, 1)] for level in ("a", "b")])
    np.testing.assert_allclose(one[:2], (counts + 1) / (counts.sum(axis=0) + 2))
    assert one[2, 0] == one[2, 1]


def test_a_ledger_adds_up_and_a_row_without_values_gets_the_shares_of_its_leaf():
    x, y = slanted(2)
    model = bt.StreamingTreeClassifier(leaves="adaptive").fit(x, y)
    for why, answer in zip(model.explain(x[:50]), model.predict_proba(x[:50]), strict=True):
        np.testing.assert_allclose(why.start + sum(line.effect for line in why.evidence), answer, atol=1e-12)
    nothing = np.full((1, 2), np.nan)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], model.tree_.value[model.apply(nothing)[0]])


def test_what_only_counts_can_do_is_refused_with_the_way_out():
    x, y = slanted(0)
    model = bt.StreamingTreeClassifier(leaves="adaptive").fit(x, y)
    for refused in (model.rules, lambda: model.prune("bayes"), lambda: model.snip(0)):
        with pytest.raises(ValueError, match="leaves='counts'"):
            refused()
    with pytest.raises(ValueError, match="conformal"):
        model.predict_interval(x, held_out=pd.DataFrame(x).assign(y=y))
    x[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinit"):
        bt.StreamingTreeClassifier(leaves="adaptive").fit(x, y)
    with pytest.raises(ValueError, match="different parameters"):
        model.merge(bt.StreamingTreeClassifier().fit(*slanted(0)))


def test_leaves_may_change_on_the_way_and_files_go_along():
    x, y = slanted(5)
    here, there = (bt.StreamingTreeClassifier(profile=False).partial_fit(x[:2000], y[:2000]) for _ in range(2))
    for leaves, part in (("adaptive", slice(2000, 4000)), ("counts", slice(4000, 4500)), ("adaptive", slice(4500, 6000))):
        here.set_params(leaves=leaves).partial_fit(x[part], y[part])
        there = loads(dumps(there)).set_params(leaves=leaves).partial_fit(x[part], y[part])
        assert dumps(here) == dumps(there)
    assert here.naive_bayes_


def test_two_trees_merged_name_as_many_rows_as_both():
    one, other = (bt.StreamingTreeClassifier(leaves="adaptive", max_depth=0).fit(*slanted(seed)) for seed in (6, 7))
    merged = one.merge(other)
    np.testing.assert_array_equal(merged.seen_.named, one.seen_.named + other.seen_.named)
    assert merged.naive_bayes_ == (0,)


def test_numbers_next_to_the_largest_double_are_learnt_from():
    X = np.zeros((14, 2))
    X[0, 0] = float.fromhex("-0x1.ffffffffffffep+1023")
    model = bt.StreamingTreeClassifier(leaves="adaptive", grace=10, confidence=0.1).fit(X, np.arange(14) % 2)
    assert np.isfinite(model.predict_proba(X)).all()
