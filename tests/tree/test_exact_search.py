"""The split that the machine finds is the split that exact rational arithmetic finds."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from law_settings import settings


def _cuts(x: np.ndarray) -> list[tuple[float, np.ndarray]]:
    values = np.unique(x)
    return [(a, x <= a) for a in values[:-1]]


def _gini(y: list) -> Fraction:
    n = len(y)
    return n - sum(Fraction(y.count(k) ** 2, n) for k in set(y))


def _squares(y: list) -> Fraction:
    exact = [Fraction(v) for v in y]
    mean = sum(exact) / len(exact)
    return sum((v - mean) ** 2 for v in exact)


def _error(y: list) -> Fraction:
    return Fraction(len(y) - max(y.count(k) for k in set(y)))


def _chi2(parts: list[list]) -> Fraction:
    both = parts[0] + parts[1]
    expected = {(i, k): Fraction(len(p) * both.count(k), len(both)) for i, p in enumerate(parts) for k in set(both)}
    return sum((parts[i].count(k) - e) ** 2 / e for (i, k), e in expected.items())


def _gain(impurity, y: list, mask: np.ndarray) -> Fraction:
    left, right = [v for v, m in zip(y, mask, strict=True) if m], [v for v, m in zip(y, mask, strict=True) if not m]
    return _chi2([left, right]) if impurity is _chi2 else impurity(y) - impurity(left) - impurity(right)


def _best(impurity, X: np.ndarray, y: list) -> tuple[int, float] | None:
    best, found = Fraction(0), None
    for j in range(X.shape[1]):
        for low, mask in _cuts(X[:, j]):
            gain = _gain(impurity, y, mask)
            if gain > best:
                best, found = gain, (j, low)
    return found


def _same_split(model, X: np.ndarray, found: tuple[int, float] | None) -> bool:
    tree = model.tree_
    if found is None:
        return tree.column[0] < 0
    column, low = found
    high = X[X[:, column] > low, column].min()
    return tree.column[0] == column and low <= tree.cut[0] < high


@pytest.mark.slow
@pytest.mark.parametrize(("criterion", "impurity"), [("gini", _gini), ("error", _error), ("chi2", _chi2)])
def test_the_root_is_the_best_split_in_rational_arithmetic(criterion, impurity):
    rng = np.random.default_rng(7)
    for _ in range(150):
        n, n_classes = int(rng.integers(2, 14)), int(rng.integers(2, 5))
        X = rng.integers(0, 5, (n, 3)).astype(float)
        y = rng.integers(0, n_classes, n)
        model = bt.DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y)
        assert _same_split(model, X, _best(impurity, X, y.tolist())), (X, y)


@pytest.mark.slow
@pytest.mark.parametrize("offset", [0.0, 1e12, -1e15])
def test_least_squares_finds_the_best_split_far_from_zero(offset):
    rng = np.random.default_rng(3)
    for _ in range(100):
        n = int(rng.integers(2, 12))
        X = rng.integers(0, 6, (n, 2)).astype(float)
        y = offset + rng.normal(size=n)
        model = bt.DecisionTreeRegressor(max_depth=1).fit(X, y)
        assert _same_split(model, X, _best(_squares, X, y.tolist())), (X, y)
        assert (model.tree_.impurity >= 0).all()


def test_neighbouring_doubles_are_told_apart():
    low = 1e9
    x = np.array([low, np.nextafter(low, np.inf)] * 10)
    model = bt.DecisionTreeClassifier().fit(x[:, None], (x > low).astype(int))
    assert model.score(x[:, None], (x > low).astype(int)) == 1.0
    assert low <= model.tree_.cut[0] < np.nextafter(low, np.inf)


def test_values_whose_sum_overflows_and_infinities_have_a_cut_between_them():
    x = np.array([-np.inf, -1.7e308, 1.6e308, 1.7e308, np.inf])
    y = np.array([0, 1, 0, 1, 0])
    model = bt.DecisionTreeClassifier().fit(x[:, None], y)
    assert model.score(x[:, None], y) == 1.0
    assert bt.CARTClassifier(min_split=2, min_leaf=1, cp=0).fit(x[:, None], y).score(x[:, None], y) == 1.0


@pytest.mark.parametrize(("offset", "step"), [(1e9, 1e-6), (0.0, 1e-9), (2.0**52, 1.0), (1e-300, 1e-305)])
def test_signals_that_float32_cannot_see_are_found(offset, step):
    X, y = (offset + step * np.arange(40.0))[:, None], (np.arange(40) % 8 < 4).astype(int)
    assert bt.DecisionTreeClassifier().fit(X, y).score(X, y) == 1.0


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.integers(2, 4), st.integers(0, 10_000))
def test_trying_all_groupings_beats_every_grouping(n_levels, n_classes, seed):
    rng = np.random.default_rng(seed)
    level, y = rng.integers(0, n_levels, 20), rng.integers(0, n_classes, 20)
    names = np.array([f"v{i}" for i in level], object)[:, None]
    model = bt.DecisionTreeClassifier(max_depth=1, schema={"x0": "nominal"}).fit(names, y)
    best = max(
        (
            _gain(_gini, y.tolist(), np.isin(level, [i for i in range(n_levels) if bits >> i & 1]))
            for bits in range(1, 2**n_levels - 1)
            if 0 < np.isin(level, [i for i in range(n_levels) if bits >> i & 1]).sum() < 20
        ),
        default=Fraction(0),
    )
    assert model.tree_.gain[0] == pytest.approx(float(best), abs=1e-12)


def test_the_textbook_case_ties_by_error_and_not_by_gini_or_entropy():
    y = np.repeat([0, 1], 100)
    first = np.concatenate([np.zeros(20), np.ones(80), np.zeros(80), np.ones(20)])  # (20, 80) + (80, 20)
    second = np.concatenate([np.zeros(40), np.ones(60), np.zeros(100)])  # (40, 100) + (60, 0)
    X = np.column_stack([first, second])
    chosen = {c: bt.DecisionTreeClassifier(criterion=c, max_depth=1).fit(X, y) for c in ("error", "gini", "entropy")}
    assert chosen["error"].tree_.gain[0] == 60
    assert chosen["error"].tree_.column[0] == 0
    assert chosen["gini"].tree_.column[0] == 1
    assert chosen["entropy"].tree_.column[0] == 1
