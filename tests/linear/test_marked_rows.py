"""Rows of numbers and marks say what the same rows say with all features side by side."""

from __future__ import annotations

import numpy as np
import pytest

import baytree as bt
from baytree.engine.parts import InMemory
from baytree.linear.design.feature_layout import features_of
from baytree.linear.design.spread import look_at, moments_by_counts, moments_of
from baytree.linear.logistic.rows import task_rows
from baytree.linear.logistic.rows.dense_piece import DensePiece
from baytree.linear.logistic.rows.marked_piece import MarkedPiece


def _twins(seed: int, n: int = 500) -> tuple[MarkedPiece, DensePiece]:
    """Two numbers, a column of six levels of which the first has no mark, and one of three with gaps."""
    rng = np.random.default_rng(seed)
    x, first, second = rng.normal(size=(n, 2)), rng.integers(0, 6, n), rng.integers(0, 3, n)
    order = np.array([3, 7, 0, 1, 2, 4, 5, 6, 8, 9])  # numbers among the marks
    slots = np.column_stack([np.where(first > 0, first - 1, 8), second + 5])
    mark = np.sort(slots, axis=1).astype(np.int32)
    dense = np.zeros((n, 10))
    dense[:, order[:2]] = x
    for slot in slots.T:
        has = np.flatnonzero(slot < 8)
        dense[has, order[2 + slot[has]]] = 1.0
    label, weight = rng.integers(0, 2, n).astype(np.int32), rng.random(n) * (rng.random(n) < 0.9)
    fold = rng.integers(0, 3, n)
    return MarkedPiece(x, mark, order, label, weight, 0, fold), DensePiece(dense, label, weight, 1, 0, fold)


@pytest.mark.parametrize("seed", range(3))
def test_marks_give_the_slope_and_curvature_of_features_side_by_side(seed):
    marked, dense = _twins(seed)
    coefficient, start = np.random.default_rng(9).normal(size=(1, 10)), np.array([0.3])
    own, other = marked.slope(coefficient, start), dense.slope(coefficient, start)
    assert own.loss == pytest.approx(other.loss, rel=1e-13)
    np.testing.assert_allclose(own.gradient, other.gradient, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(marked.curvature(coefficient, start), dense.curvature(coefficient, start), rtol=1e-12)


def test_marks_teach_several_problems_what_features_side_by_side_teach():
    marked, dense = _twins(1)
    rng = np.random.default_rng(2)
    given = np.arange(8, dtype=np.int64) % 3, rng.normal(size=(8, 10)), rng.normal(size=8)
    own, other = marked.lessons(*given), dense.lessons(*given)
    np.testing.assert_allclose(own.train, other.train, rtol=1e-12)
    np.testing.assert_allclose(own.held, other.held, rtol=1e-12)
    np.testing.assert_allclose(own.gradient, other.gradient, rtol=1e-10, atol=1e-11)


def test_marks_give_keys_moments_scores_and_sums_of_features_side_by_side():
    marked, dense = _twins(3)
    rng = np.random.default_rng(4)
    centre, scale, weight = rng.random(10), 0.5 + rng.random(10), rng.random(len(marked))
    assert np.array_equal(marked.keys(centre, scale), dense.keys(centre, scale))
    np.testing.assert_allclose(marked.moments(centre), dense.moments(centre), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(marked.weighted_sum(weight), dense.weighted_sum(weight), rtol=1e-12)
    coefficient, some = rng.normal(size=(1, 10)), weight < 0.5
    np.testing.assert_allclose(
        marked.scores(coefficient, np.ones(1), some), dense.scores(coefficient, np.ones(1), some), rtol=1e-12, atol=1e-13
    )
    features = np.array([0, 3, 8, 10])  # the constant last
    assert np.array_equal(marked.columns(features).x, dense.columns(features).x)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_the_penalty_and_coefficients_are_the_same_with_marks_and_side_by_side(penalty, monkeypatch):
    rng = np.random.default_rng(0)
    n = 600
    frame = {"a": rng.normal(size=n), "b": [f"b{k}" for k in rng.integers(0, 9, n)], "c": rng.integers(0, 5, n).astype(str)}
    frame["c"] = np.where(rng.random(n) < 0.1, None, frame["c"])
    frame["y"] = np.where(frame["a"] + rng.normal(size=n) + (np.array(frame["b"]) == "b3") > 0, "yes", "no")
    model = bt.LogisticRegressionCV(Cs=(0.01, 0.1, 1.0), cv=4, penalty=penalty)
    beside = model.fit(frame, "y")
    coef, curve = beside.coef_, beside.curve_
    monkeypatch.setattr(task_rows, "_MANY", 0)
    marked = bt.LogisticRegressionCV(Cs=(0.01, 0.1, 1.0), cv=4, penalty=penalty).fit(frame, "y")
    assert marked.C_ == beside.C_
    np.testing.assert_allclose(marked.coef_, coef, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(marked.curve_.mean, curve.mean, rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_mean_and_spread_of_marks_by_counting_are_those_of_marks_side_by_side(seed):
    rng = np.random.default_rng(seed)
    frame = {
        "a": np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300)),
        "b": [f"b{k}" for k in rng.zipf(1.5, 300) % 20],
    }
    weight = [np.ones(300), rng.integers(0, 3, 300).astype(float), rng.random(300)][seed]
    table = bt.LogisticRegression()._enter(frame, rng.integers(0, 2, 300), weight).table
    rows = InMemory(table)
    look = look_at(rows)
    layout = features_of(table.schema, "rank", look.gaps)
    for counted, written in zip(moments_by_counts(rows, layout, look), moments_of(rows, layout, look), strict=True):
        np.testing.assert_allclose(counted, written, rtol=1e-13, atol=1e-16)
