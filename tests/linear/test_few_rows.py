"""Few rows are solved in one call of the core: the optimum is that of the steps which take large tables."""

import numpy as np
import pytest

import baytree as bt
from baytree.linear.logistic import few_rows, learner


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


def of_classes(seed: int, n: int, p: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)).round(2)
    x[:, 0] = np.abs(x[:, 0]) > 1  # a mark
    score = x @ rng.normal(size=(p, k)) + rng.gumbel(size=(n, k))
    return x, score.argmax(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet"])
@pytest.mark.parametrize("shape", [(40, 2, 3), (150, 12, 4), (61, 40, 7)])
def test_several_classes_of_few_rows_have_the_optimum_path_and_choice_of_large_tables(penalty, shape, monkeypatch):
    x, y = of_classes(3, *shape)
    settings = {"penalty": penalty, "l1_ratio": 0.5 if penalty == "elasticnet" else None, "cv": 4}
    settings["Cs"] = [0.01, 0.1, 1.0, 10.0]
    at_once = bt.LogisticRegressionCV(**settings).fit(x, y)
    monkeypatch.setattr(few_rows, "_MOST_BY_CLASS", 0)
    step_by_step = bt.LogisticRegressionCV(**settings).fit(x, y)
    assert at_once.C_ == step_by_step.C_
    np.testing.assert_allclose(at_once.coef_, step_by_step.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(at_once.path_.coef, step_by_step.path_.coef, atol=1e-4)
    np.testing.assert_allclose(at_once.curve_.fold_loss, step_by_step.curve_.fold_loss, rtol=1e-3)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_several_classes_and_columns_that_say_the_same_have_an_optimum_that_no_order_changes(penalty):
    x, y = of_classes(4, 120, 5, 4)
    x = np.column_stack([x, 3 * x[:, 1], x[:, 2] - x[:, 3]])
    model = bt.LogisticRegression(penalty=penalty, C=5.0).fit(x, y)
    assert model.gradient_norm_ < 1e-12
    order = np.random.default_rng(5).permutation(len(x))
    other = bt.LogisticRegression(penalty=penalty, C=5.0).fit(x[order], y[order])
    np.testing.assert_allclose(other.predict_proba(x), model.predict_proba(x), rtol=1e-7)
    turned = bt.LogisticRegression(penalty=penalty, C=5.0).fit(x[:, ::-1], y)
    np.testing.assert_allclose(turned.predict_proba(x[:, ::-1]), model.predict_proba(x), rtol=1e-7)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_several_classes_of_rows_that_weigh_twice_are_rows_that_come_twice(penalty):
    x, y = of_classes(6, 60, 4, 3)
    weight = 1.0 + (np.arange(60) % 2)
    twice = np.repeat(np.arange(60), weight.astype(int))
    once = bt.LogisticRegression(penalty=penalty, C=0.5).fit(x, y, sample_weight=weight)
    repeated = bt.LogisticRegression(penalty=penalty, C=0.5).fit(x[twice], y[twice])
    np.testing.assert_allclose(once.coef_, repeated.coef_, rtol=1e-9, atol=1e-14)


def test_a_row_without_weight_says_nothing_about_several_classes():
    x, y = of_classes(7, 50, 3, 3)
    weight = np.where(np.arange(50) < 43, 1.0, 0.0)
    some = bt.LogisticRegression().fit(x[:43], y[:43])
    every = bt.LogisticRegression().fit(x, y, sample_weight=weight)
    np.testing.assert_allclose(every.coef_, some.coef_, rtol=1e-9)


def test_rows_that_weigh_twice_are_rows_that_come_twice():
    x, y = table(2, 60, 4)
    weight = 1.0 + (np.arange(60) % 2)
    twice = np.repeat(np.arange(60), weight.astype(int))
    once = bt.LogisticRegression(penalty="l1", C=0.5).fit(x, y, sample_weight=weight)
    repeated = bt.LogisticRegression(penalty="l1", C=0.5).fit(x[twice], y[twice])
    np.testing.assert_allclose(once.coef_, repeated.coef_, rtol=1e-9)


def test_held_out_losses_of_classes_that_can_be_told_apart_are_as_good_as_those_of_more_steps(monkeypatch):
    penguins = bt.datasets.load("penguins")[::2]
    settings = {"penalty": "l2", "cv": 5, "Cs": [1.0, 20.0, 100.0]}
    at_once = bt.LogisticRegressionCV(**settings).fit(penguins, "species")
    monkeypatch.setattr(learner, "_aim", lambda _: 1e-9)
    closer = bt.LogisticRegressionCV(**settings).fit(penguins, "species")
    np.testing.assert_allclose(at_once.curve_.fold_loss, closer.curve_.fold_loss, rtol=1e-3, atol=1e-6)
