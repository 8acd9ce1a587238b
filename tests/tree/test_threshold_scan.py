"""The best cut of a column is the best of all cuts by the definition of the criterion."""

import numpy as np
import pytest

import baytree as bt

CRITERIA = ["gini", "entropy", "gain_ratio", "chi2", "likelihood_ratio", "twoing", "error"]


def masses_below(y, weight):
    """What each cut of sorted rows leaves of every class on its first side."""  # [n_cuts, n_classes]
    return np.cumsum(np.eye(y.max() + 1)[y] * weight[:, None], axis=0)[:-1]


def worths(criterion, left, whole):
    """What every cut is worth, from the definition of the criterion."""
    right, n = whole - left, whole.sum()
    below, above = left.sum(1), right.sum(1)

    def information(mass):
        share = mass / mass.sum(-1, keepdims=True)
        return -np.where(share > 0, mass * np.log2(np.where(share > 0, share, 1)), 0).sum(-1)

    def decrease(impurity):
        return impurity(whole) - impurity(left) - impurity(right)

    gain = decrease(information)
    apart = left / below[:, None] - right / above[:, None]
    expected = [side.sum(1, keepdims=True) * whole / n for side in (left, right)]
    return {
        "gini": lambda: decrease(lambda mass: mass.sum(-1) - (mass**2).sum(-1) / mass.sum(-1)),
        "error": lambda: decrease(lambda mass: mass.sum(-1) - mass.max(-1)),
        "entropy": lambda: gain,
        "likelihood_ratio": lambda: 2 * np.log(2) * gain,
        "gain_ratio": lambda: n * gain / information(np.stack([below, above], 1)),
        "twoing": lambda: below * above / n / 4 * np.abs(apart).sum(1) ** 2,
        "chi2": lambda: sum(((side - of) ** 2 / of).sum(1) for side, of in zip((left, right), expected, strict=True)),
    }[criterion]()


def labels(kind, n_rows, n_classes, rng):
    order = np.arange(n_rows)
    return {
        "alternating": lambda: order % n_classes,
        "random": lambda: rng.integers(0, n_classes, n_rows),
        "runs": lambda: np.repeat(rng.integers(0, n_classes, n_rows // 9 + 1), 9)[:n_rows],
        "rising": lambda: np.clip(order * n_classes // n_rows + rng.integers(-1, 2, n_rows), 0, n_classes - 1),
        "rare": lambda: np.where(rng.random(n_rows) < 0.01, 1 + order % (n_classes - 1), 0),
    }[kind]()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("kind", ["alternating", "random", "runs", "rising", "rare"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("weigh", ["rows", "weights"])
def test_the_best_of_many_cuts_is_the_best_of_all(criterion, kind, n_classes, weigh):
    rng = np.random.default_rng(n_classes)
    n_rows = 6000
    y = labels(kind, n_rows, n_classes, rng)
    y[:n_classes] = np.arange(n_classes)
    weight = np.ones(n_rows) if weigh == "rows" else rng.integers(1, 4, n_rows).astype(float)
    model = bt.DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(
        np.arange(float(n_rows))[:, None], y, sample_weight=weight
    )
    left = masses_below(y, weight)
    worth = worths(criterion, left, left[-1] + np.eye(n_classes)[y[-1]] * weight[-1])
    if worth.max() <= 1e-9:
        assert model.n_nodes_ == 1
        return
    assert model.tree_.gain[0] == pytest.approx(worth.max(), rel=1e-9)
    first = np.flatnonzero(worth >= worth.max() * (1 - 1e-9))[0]
    assert model.tree_.cut[0] == first + 0.5


@pytest.mark.parametrize("criterion", ["gini", "twoing", "entropy", "chi2"])
def test_a_chain_of_three_classes_takes_rows_off_the_ends(criterion):
    model = bt.DecisionTreeClassifier(criterion=criterion).fit(np.arange(3000.0)[:, None], np.arange(3000) % 3)
    assert model.n_leaves_ == 3000
    assert model.depth_ >= 2900
