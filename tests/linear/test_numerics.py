"""Numbers inside linear models: moments of features, factors of matrices, tails of distributions."""

import numpy as np
import pytest

import baytree as bt
from baytree.engine.partitions import LocalPartitions
from baytree.linear.design.feature_layout import features_of
from baytree.linear.design.moments import moments_by_counts, moments_of, summarize_rows
from baytree.linear.discriminant.derive import inverse_factor
from baytree.linear.regression.fit_quality import f_tail, t_quantile, two_sided_p


@pytest.mark.parametrize("seed", range(3))
def test_the_mean_and_spread_of_indicators_from_counts_are_those_of_dense_columns(seed):
    rng = np.random.default_rng(seed)
    frame = {
        "a": np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300)),
        "b": [f"b{k}" for k in rng.zipf(1.5, 300) % 20],
    }
    weight = [np.ones(300), rng.integers(0, 3, 300).astype(float), rng.random(300)][seed]
    table = bt.LogisticRegression()._prepare_rows(frame, rng.integers(0, 2, 300), weight).table
    rows = LocalPartitions(table)
    look = summarize_rows(rows)
    layout = features_of(table.schema, "rank", look.gaps)
    for counted, written in zip(moments_by_counts(rows, layout, look), moments_of(rows, layout, look), strict=True):
        np.testing.assert_allclose(counted, written, rtol=1e-13, atol=1e-16)


def test_a_covariance_that_rounding_left_without_full_rank_is_still_whitened():
    root = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-16]])
    whiten = inverse_factor(root - 1e-13 * np.eye(2))
    assert np.isfinite(whiten).all()
    assert np.allclose((whiten @ root @ whiten.T)[0, 0], 1)


@pytest.mark.parametrize(("t", "degrees"), [(0.1, 1.0), (2.0, 3.5), (40.0, 7.0), (1.96, 1e4)])
def test_tails_and_quantiles_are_those_of_scipy(t, degrees):
    from scipy import stats

    assert two_sided_p(t, degrees) == pytest.approx(2 * stats.t.sf(t, degrees), rel=1e-10)
    assert f_tail(t, 3.0, degrees) == pytest.approx(stats.f.sf(t, 3, degrees), rel=1e-10)
    assert t_quantile(0.9, degrees) == pytest.approx(stats.t.ppf(0.95, degrees), rel=1e-10)
