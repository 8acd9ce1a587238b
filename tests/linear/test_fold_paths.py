"""The paths of all folds, solved together, are those of each problem by itself."""

from __future__ import annotations

import numpy as np
import pytest

import baytree as bt
from baytree.linear.logistic import held_out_loss
from baytree.linear.logistic.solvers import few_rows, fold_paths, newton

SETTINGS = {"Cs": (0.001, 0.01, 0.1, 1.0, 30.0), "cv": 4, "max_iter": 100}
PENALTIES = [{"penalty": "l1"}, {"penalty": "l2"}, {"penalty": "elasticnet", "l1_ratio": 0.5}]


def mixed(seed: int, n: int = 700) -> dict[str, object]:
    """A number, two columns of levels of which some have a row or two, and a gap here and there."""
    rng = np.random.default_rng(seed)
    level = rng.zipf(1.5, n) % 30
    frame = {"a": rng.normal(size=n), "b": [f"b{k}" for k in level], "c": rng.integers(0, 5, n).astype(str).astype(object)}
    frame["c"][rng.random(n) < 0.1] = None
    frame["y"] = np.where(frame["a"] + rng.normal(size=n) + (level == 1) > 0, "yes", "no")
    return frame


def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each problem by itself, as closely as doubles tell."""

    def none(_task, _weight, penalties, fits, _max_iter):
        return np.zeros((len(penalties), len(fits))), np.zeros((len(penalties), len(fits)), bool)

    monkeypatch.setattr(held_out_loss, "_together", none)
    monkeypatch.setattr(held_out_loss, "_aim", lambda _: 1e-11)


@pytest.fixture(autouse=True)
def steps_by_rounds(monkeypatch):
    """Small tables go the way of large ones."""
    monkeypatch.setattr(few_rows, "_MOST", 0)


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda each: each["penalty"])
@pytest.mark.parametrize("seed", range(2))
def test_held_out_losses_of_numbers_and_levels_are_those_of_each_problem_by_itself(penalty, seed, monkeypatch):
    frame = mixed(seed)
    weight = None if seed else np.random.default_rng(9).integers(0, 3, 700).astype(float)
    together = bt.LogisticRegressionCV(**SETTINGS, **penalty).fit(frame, "y", sample_weight=weight)
    one_by_one(monkeypatch)
    alone = bt.LogisticRegressionCV(**SETTINGS, **penalty).fit(frame, "y", sample_weight=weight)
    assert together.C_ == alone.C_
    np.testing.assert_allclose(together.curve_.fold_loss, alone.curve_.fold_loss, rtol=1e-3)
    np.testing.assert_allclose(together.curve_.fold_loss[:, :3], alone.curve_.fold_loss[:, :3], rtol=2e-5)


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda each: each["penalty"])
@pytest.mark.parametrize("most", [64, 0], ids=["curvatures of the others", "curvatures of all rows"])
def test_held_out_losses_of_numbers_are_those_of_each_problem_by_itself(penalty, most, monkeypatch):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 6))
    y = x @ [1.0, 0.5, 0, 0, 0, -1] + rng.normal(size=400) > 0
    monkeypatch.setattr(fold_paths, "_FEW", most)
    together = bt.LogisticRegressionCV(**SETTINGS, **penalty).fit(x, y)
    one_by_one(monkeypatch)
    alone = bt.LogisticRegressionCV(**SETTINGS, **penalty).fit(x, y)
    assert together.C_ == alone.C_
    np.testing.assert_allclose(together.curve_.fold_loss, alone.curve_.fold_loss, rtol=1e-5)


def test_columns_that_say_the_same_are_left_to_the_solver_of_one_problem(monkeypatch):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(300, 4))
    x[:, 3] = 2 * x[:, 0]
    y = x[:, 0] + rng.normal(size=300) > 0
    together = bt.LogisticRegressionCV(**SETTINGS, penalty="l1").fit(x, y)
    one_by_one(monkeypatch)
    alone = bt.LogisticRegressionCV(**SETTINGS, penalty="l1").fit(x, y)
    np.testing.assert_allclose(together.curve_.fold_loss, alone.curve_.fold_loss, rtol=1e-5)


def test_a_lasso_whose_steps_the_core_makes_is_that_of_steps_by_eigenvectors(monkeypatch):
    frame = mixed(7)
    core = bt.LogisticRegression(penalty="l1", C=0.3).fit(frame, "y")
    monkeypatch.setattr(newton, "_FEW", 0)
    other = bt.LogisticRegression(penalty="l1", C=0.3).fit(frame, "y")
    np.testing.assert_allclose(core.coef_, other.coef_, rtol=1e-9, atol=1e-11)
