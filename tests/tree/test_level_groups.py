"""The groups of levels that CART finds by bounds are those of trying all groupings one by one, as rpart does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from baytree.tree.search import sorted as sorted_search
from law_settings import settings

PRIORS = {0: 0.5, 1: 0.25, 2: 0.125, 3: 0.125}
COSTS = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [1, 2, 0, 1], [2, 1, 1, 0]])


def _stump(max_exhaustive_levels: int, level: np.ndarray, y: np.ndarray, weight: np.ndarray | None, **settings: object):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_search, "MAX_EXHAUSTIVE_LEVELS", max_exhaustive_levels)
        model = bt.CARTClassifier(max_depth=1, min_split=2, cp=0, pruning=None, schema={"x0": "nominal"}, **settings)
        names = np.array([f"v{i:02d}" for i in level], object)[:, None]
        return model.fit(names, y, sample_weight=weight).tree_


@settings(max_examples=150, deadline=None)
@given(
    st.integers(3, 14),
    st.integers(0, 100_000),
    st.sampled_from(["gini", "entropy"]),
    st.sampled_from(["plain", "priors", "costs", "weights"]),
    st.sampled_from([1, 3, 12]),
)
def test_bounds_find_the_first_of_the_best_groupings(n_levels, seed, criterion, variant, min_leaf):
    # Class sizes, priors and costs are powers of two, so that scaled masses are exact and the order of sums is no matter.
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(4), 16)
    level = np.where(
        rng.random(64) < rng.random(), rng.integers(0, n_levels, 64), (y * 5 + rng.integers(0, 3, 64)) % n_levels
    )
    given = {"priors": {"priors": PRIORS}, "costs": {"costs": COSTS}}.get(variant, {})
    weight = np.tile([1.0, 1.0, 2.0, 4.0], 16) if variant == "weights" else None
    given |= {"criterion": criterion, "min_leaf": min_leaf}
    tried, bounded = (_stump(most, level, y, weight, **given) for most in (25, 1))
    np.testing.assert_array_equal(bounded.column, tried.column)
    np.testing.assert_allclose(bounded.gain, tried.gain, rtol=1e-13)
    if criterion == "gini":  # logarithms round, so that groupings of equal worth may differ in the last bit of a sum
        np.testing.assert_array_equal(bounded.branch_of, tried.branch_of)


@settings(max_examples=100, deadline=None)
@given(st.integers(3, 14), st.integers(3, 7), st.integers(0, 100_000), st.sampled_from(["gini", "entropy"]), st.booleans())
def test_bounds_find_the_gain_of_the_best_grouping_under_any_weights_and_priors(
    n_levels, n_classes, seed, criterion, has_priors
):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 200))
    level, y = rng.integers(0, n_levels, n), np.r_[np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]
    prior = rng.dirichlet(np.ones(n_classes))
    given = (
        {"priors": dict(enumerate(prior / prior.sum()))}
        if has_priors
        else {"costs": rng.uniform(0.5, 3, (n_classes, n_classes)) * (1 - np.eye(n_classes))}
    )
    given |= {"criterion": criterion, "min_leaf": int(rng.choice([1, 5]))}
    weight = rng.uniform(0.2, 3, n)
    tried, bounded = (_stump(most, level, y, weight, **given) for most in (25, 1))
    np.testing.assert_array_equal(bounded.column, tried.column)
    np.testing.assert_allclose(bounded.gain, tried.gain, rtol=1e-9)


def test_levels_with_equal_classes_do_not_multiply_the_work():
    level, y = np.repeat(np.arange(25), 6), np.tile([0, 1, 2, 1], 38)[:150]
    y[level < 9] = 0
    tree = _stump(12, level, y, None, min_leaf=20)
    assert tree.branch_of.tolist() == [0] * 9 + [1] * 16
