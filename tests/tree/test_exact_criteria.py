"""B2: the split at the root is the true best one: column and threshold of an exact search, for every criterion.

Gini, error, chi² and squares are compared as fractions. Sums of n log n are compared as products of powers of whole
numbers, and gain ratios as decimals of sixty digits.
"""

from collections import Counter
from collections.abc import Callable
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import cache
from math import prod

import numpy as np
import pytest

import baytree as bt

getcontext().prec = 60
_EQUAL = Decimal(10) ** -40

Side = list
Worth = Callable[[Side, Side], Fraction | Decimal]


def _gini(left: Side, right: Side) -> Fraction:
    return sum(Fraction(sum(c * c for c in Counter(side).values()), len(side)) for side in (left, right))


def _error(left: Side, right: Side) -> Fraction:
    return Fraction(sum(max(Counter(side).values()) for side in (left, right)))


def _entropy(left: Side, right: Side) -> Fraction:
    """exp of the sum of c ln c over classes less n ln n over sides: it rises with the gain."""
    over = prod(c**c for side in (left, right) for c in Counter(side).values())
    return Fraction(over, prod(len(side) ** len(side) for side in (left, right)))


def _chi2(left: Side, right: Side) -> Fraction:
    both, n = Counter(left + right), len(left) + len(right)
    cells = [(Counter(side)[k], len(side), c) for side in (left, right) for k, c in both.items()]
    return sum(Fraction(seen * n - size * c) ** 2 / (n * size * c) for seen, size, c in cells)


@cache
def _ln(n: int) -> Decimal:
    return Decimal(n).ln()


def _information(sizes: list[int]) -> Decimal:
    n = sum(sizes)
    return sum((size * (_ln(n) - _ln(size)) for size in sizes), Decimal(0))


def _gain_ratio(left: Side, right: Side) -> Decimal:
    gain = _information(list(Counter(left + right).values()))
    gain -= sum(_information(list(Counter(side).values())) for side in (left, right))
    return gain / _information([len(left), len(right)])


def _squares(*sides: Side) -> Fraction:
    """Σ (sum of a side)² / size: it rises as the sum of squares about the means falls."""
    return sum(sum(map(Fraction, side)) ** 2 / len(side) for side in sides)


def _none(worth: Worth, y: Side) -> Fraction | Decimal:
    """The worth of no split at all."""
    counts = Counter(y)
    if worth is _gini:
        return Fraction(sum(c * c for c in counts.values()), len(y))
    if worth is _error:
        return Fraction(max(counts.values()))
    if worth is _entropy:
        return Fraction(prod(c**c for c in counts.values()), len(y) ** len(y))
    if worth is _squares:
        return _squares(y)
    return Decimal(0) if worth is _gain_ratio else Fraction(0)


def _is_better(a: Fraction | Decimal, b: Fraction | Decimal) -> bool:
    return a - b > _EQUAL if isinstance(a, Decimal) else a > b


def _best(worth: Worth, X: np.ndarray, y: Side) -> tuple[int, float] | None:
    """The column and the last value below the cut: the earlier column, then the lower cut, of equals."""
    best, found = _none(worth, y), None
    for j in range(X.shape[1]):
        for low in np.unique(X[:, j])[:-1]:
            below = X[:, j] <= low
            value = worth(*([v for v, b in zip(y, below, strict=True) if b == side] for side in (True, False)))
            if _is_better(value, best):
                best, found = value, (j, float(low))
    return found


def _agrees(tree, X: np.ndarray, found: tuple[int, float] | None) -> bool:
    if found is None:
        return bool(tree.column[0] < 0)
    column, low = found
    high = X[X[:, column] > low, column].min()
    return bool(tree.column[0] == column and low <= tree.cut[0] < high and (tree.impurity >= 0).all())


def _table(rng: np.random.Generator, n: int) -> np.ndarray:
    """Few or many distinct values, huge offsets, and neighbouring doubles."""
    kind = int(rng.integers(4))
    small = rng.integers(0, 6, (n, 3)).astype(float)
    if kind == 0:
        return small
    if kind == 1:
        return rng.normal(size=(n, 3))
    if kind == 2:
        return 1e15 + small
    start = np.float64(rng.choice([1.0, 1e9, 1e300, 5e-324, -3.7]))
    return (start.view(np.int64) + small.astype(np.int64)).view(np.float64)


CLASS_WORTHS = {"gini": _gini, "error": _error, "entropy": _entropy, "chi2": _chi2, "gain_ratio": _gain_ratio}


def check_classes(criterion: str, n_sets: int) -> None:
    rng = np.random.default_rng(n_sets)
    for _ in range(n_sets):
        n = int(rng.integers(2, 14))
        X, y = _table(rng, n), rng.integers(0, int(rng.integers(2, 5)), n)
        model = bt.DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y)
        assert _agrees(model.tree_, X, _best(CLASS_WORTHS[criterion], X, y.tolist())), (criterion, X.tolist(), y.tolist())


def check_many_classes(criterion: str, n_sets: int) -> None:
    """More classes than are looked at one by one, some of them once."""
    rng = np.random.default_rng(n_sets)
    for _ in range(n_sets):
        n, n_classes = int(rng.integers(24, 40)), int(rng.integers(17, 24))
        X = _table(rng, n)
        y = np.concatenate([np.arange(n_classes), rng.integers(0, int(rng.integers(2, n_classes)), n - n_classes)])
        model = bt.DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y)
        assert _agrees(model.tree_, X, _best(CLASS_WORTHS[criterion], X, y.tolist())), (criterion, X.tolist(), y.tolist())


def check_numbers(n_sets: int) -> None:
    rng = np.random.default_rng(n_sets)
    for _ in range(n_sets):
        n = int(rng.integers(2, 12))
        X = _table(rng, n)
        offset, scale = float(rng.choice([0.0, 1e12, -1e15, 1e8])), float(rng.choice([1.0, 1e-3, 1e6]))
        y = offset + scale * (rng.normal(size=n) if rng.random() < 0.7 else rng.integers(0, 4, n))
        tree = bt.DecisionTreeRegressor(max_depth=1).fit(X, y).tree_
        assert _agrees(tree, X, _best(_squares, X, y.tolist())), (X.tolist(), y.tolist())


# few sets always, hundreds in the whole suite, thousands in `make reliability`


@pytest.mark.parametrize("criterion", CLASS_WORTHS)
@pytest.mark.parametrize("n_sets", [30, pytest.param(150, marks=pytest.mark.slow)])
def test_the_root_is_the_best_split_of_an_exact_search(criterion, n_sets):
    check_classes(criterion, n_sets)


@pytest.mark.parametrize("criterion", CLASS_WORTHS)
@pytest.mark.parametrize("n_sets", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_the_root_of_many_classes_is_the_best_split_of_an_exact_search(criterion, n_sets):
    check_many_classes(criterion, n_sets)


@pytest.mark.parametrize("n_sets", [60, pytest.param(150, marks=pytest.mark.slow)])
def test_the_root_of_a_regression_is_the_best_split_of_an_exact_search(n_sets):
    check_numbers(n_sets)
