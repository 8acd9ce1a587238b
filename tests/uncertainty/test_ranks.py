"""Ranks of new rows among those seen, and bounds of intervals: of arrays alone."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from baytree.uncertainty.intervals import (
    lower_bounds,
    proportion_intervals,
    proportion_moments,
    score_intervals,
    weight_up_to,
    widen_to_include,
)

ROWS = st.lists(st.integers(0, 9), min_size=1, max_size=12)


@given(ROWS, st.integers(0, 9))
def test_the_weight_up_to_a_value_counts_ties(seen, new):
    values = np.array(seen, float)
    weight = np.arange(1.0, len(seen) + 1)
    assert weight_up_to(values, weight, np.array([float(new)]))[0] == weight[values <= new].sum()


@given(ROWS, st.integers(1, 19))
def test_a_lower_bound_is_the_value_of_that_rank(seen, twentieths):
    alpha = twentieths / 20
    rank = int(np.floor(alpha * (len(seen) + 1) + 1e-9))
    expected = np.sort(seen)[rank - 1] if rank else -np.inf
    found = lower_bounds(np.array(seen, float)[:, None], np.ones(len(seen)), alpha)[0]
    assert found == (np.sort(seen)[min(rank, len(seen)) - 1] if rank else expected)


def test_a_class_without_others_is_certain():
    np.testing.assert_array_equal(score_intervals(np.zeros((2, 1)), np.ones((2, 1)), 0.95), np.ones((2, 1, 2)))


def test_independent_scores_are_those_of_a_diagonal_covariance():
    random = np.random.default_rng(0)
    mean, variance = random.normal(size=(5, 3)), random.random((5, 3))
    full = np.einsum("nk,kl->nkl", variance, np.eye(3))
    np.testing.assert_allclose(score_intervals(mean, variance, 0.9), score_intervals(mean, full, 0.9))


def test_no_row_of_a_class_leaves_0_possible_and_only_rows_of_it_1():
    found = proportion_intervals(*proportion_moments(np.array([[0.0, 10.0]])), 0.95)[0]
    assert found[0, 0] == 0
    assert found[1, 1] == 1
    assert 0.1 < found[0, 1] < 0.4


def test_an_interval_is_stretched_to_its_answer():
    np.testing.assert_array_equal(widen_to_include(np.array([[0.2, 0.4]]), np.array([0.5])), [[0.2, 0.5]])
