"""Few rows are solved in one call of the core: the optimum is that of the steps which take large tables."""

import numpy as np
import pytest

import baytree as bt
from baytree.linear.logistic.solvers import few_rows


def table(seed: int, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)).round(2)
    x[:, -1] = 3 * x[:, 0]  # collinear
    return x, np.where(x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=n) > 0, "yes", "no")


@pytest.mark.slow
@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet"])
@pytest.mark.parametrize("shape", [(20, 3), (189, 8), (90, 60)])
def test_few_rows_have_the_optimum_path_and_choice_of_large_tables(penalty, shape, monkeypatch):
    x, y = table(1, *shape)
    settings = {"penalty": penalty, "l1_ratio": 0.5 if penalty == "elasticnet" else None, "cv": 4}
    at_once = bt.LogisticRegressionCV(**settings).fit(x, y)
    monkeypatch.setattr(few_rows, "_MOST", 0)
    step_by_step = bt.LogisticRegressionCV(**settings).fit(x, y)
    assert at_once.C_ == step_by_step.C_
    np.testing.assert_allclose(at_once.coef_, step_by_step.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(at_once.curve_.fold_loss, step_by_step.curve_.fold_loss, rtol=1e-3)


def test_rows_that_weigh_twice_are_rows_that_come_twice():
    x, y = table(2, 60, 4)
    weight = 1.0 + (np.arange(60) % 2)
    twice = np.repeat(np.arange(60), weight.astype(int))
    once = bt.LogisticRegression(penalty="l1", C=0.5).fit(x, y, sample_weight=weight)
    repeated = bt.LogisticRegression(penalty="l1", C=0.5).fit(x[twice], y[twice])
    np.testing.assert_allclose(once.coef_, repeated.coef_, rtol=1e-9)
