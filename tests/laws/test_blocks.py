"""Columns of one array, all at once: what is seen of them is what is seen of each by itself."""

import numpy as np
import pytest

import baytree as bt
from baytree.data.encoding import DenseColumns
from baytree.statistics import exact_sum
from baytree.statistics.exact_sum import ExactSum
from baytree.statistics.moments import Moments
from baytree.statistics.profile import Histogram

RANDOM = np.random.default_rng(11)
Y = RANDOM.integers(0, 3, 60).astype(np.int32)
X = RANDOM.normal(size=(60, 9)) + Y[:, None]
X[::7, 2] = np.nan
APART = X * 2.0 ** RANDOM.integers(-400, 400, X.shape)


def by_columns(values: np.ndarray) -> dict:
    return {f"x{j}": values[:, j].copy() for j in range(values.shape[1])}


@pytest.mark.parametrize(
    "values", [X, APART, np.asfortranarray(X), X[:, ::2], X[::-1], X.astype(np.float32), np.round(X[:, 3:]).astype(int)]
)
@pytest.mark.filterwarnings("ignore:column")
def test_an_array_teaches_what_its_columns_teach_one_by_one(values):
    block, apart = bt.GaussianNB().fit(values, Y), bt.GaussianNB().fit(by_columns(values), Y)
    assert isinstance(block._encoded(values).values, DenseColumns)
    assert block.seen_.statistics == apart.seen_.statistics
    assert np.array_equal(block.theta_, apart.theta_)
    for one, other in zip(block.profile_.columns, apart.profile_.columns, strict=True):
        assert one.counts == other.counts
        assert np.array_equal(one.edges, other.edges)


def test_very_many_columns_have_the_moments_of_their_parts():
    values = np.tile(APART, 600)
    whole, part = Moments.of(values, Y, None, 3), Moments.of(APART, Y, None, 3)
    assert whole == Moments.joined([part] * 600)
    assert np.array_equal(whole.deviation(), np.tile(part.deviation(), 600))


@pytest.mark.parametrize("values", [X, APART, np.full((60, 2), np.nan), np.zeros((60, 2)), np.full((60, 2), 3.0)])
def test_moments_over_all_classes_are_those_of_the_pooled_ones(values):
    seen = Moments.of(values, Y, None, 3)
    assert np.array_equal(seen.mean_of_all(), seen.pooled().mean()[0], equal_nan=True)
    assert np.array_equal(seen.deviation_of_all(), seen.pooled().deviation()[0], equal_nan=True)


@pytest.mark.parametrize("size", [1 << 3, 1 << 40, 1 << 61])
def test_the_kernel_carries_as_the_short_way_does(size, monkeypatch):
    limbs = RANDOM.integers(-size, size, (5, 7, 4)) * RANDOM.integers(0, 2, (5, 7, 1))
    short = ExactSum.normalized(limbs, 90)
    monkeypatch.setattr(exact_sum, "_MIN_PARALLEL_LIMBS", 0)
    assert ExactSum.normalized(limbs, 90) == short
    assert ExactSum.normalized(np.zeros((5, 3), np.int64), 90) == ExactSum.zeros((5,))


def test_sketches_of_many_columns_are_those_of_each():
    for own, sketch in zip(X.T, Histogram.of_columns(X, Y, 3, 4), strict=True):
        alone = Histogram.of(np.ascontiguousarray(own), Y, None, 3).scale(4)
        assert sketch.counts == alone.counts
        assert np.array_equal(sketch.edges, alone.edges)
        assert np.array_equal(sketch.exponent, alone.exponent)
