"""The core solves problems on rows of this process: the optimum is that of the method for partitions, dense or sparse."""

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from baytree.linear.logistic import build_rows, core_rows, learner, newton


@pytest.fixture
def without_core(monkeypatch):
    """Leave all rows to the method for partitions."""
    return lambda: monkeypatch.setattr(core_rows.CoreRows, "of", classmethod(lambda *_: None))


def table(seed: int, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)).round(2)
    x[:, -1] = 3 * x[:, 0]  # collinear
    return x, np.where(x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=n) > 0, "yes", "no")


@pytest.mark.slow
@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet"])
@pytest.mark.parametrize("shape", [(20, 3), (189, 8), (90, 60)])
def test_the_core_has_the_optimum_path_and_choice_of_the_method_for_partitions(penalty, shape, without_core):
    x, y = table(1, *shape)
    settings = {"penalty": penalty, "l1_ratio": 0.5 if penalty == "elasticnet" else None, "cv": 4}
    in_core = bt.LogisticRegressionCV(**settings).fit(x, y)
    without_core()
    in_parts = bt.LogisticRegressionCV(**settings).fit(x, y)
    assert in_core.C_ == in_parts.C_
    # a lasso of equal columns has many optima, which predict the same
    np.testing.assert_allclose(in_core.predict_proba(x), in_parts.predict_proba(x), rtol=1e-9)
    # folds stop at a violation of a hundredth of the penalty
    np.testing.assert_allclose(in_core.curve_.fold_loss, in_parts.curve_.fold_loss, rtol=5e-3)


def of_classes(seed: int, n: int, p: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)).round(2)
    x[:, 0] = np.abs(x[:, 0]) > 1
    score = x @ rng.normal(size=(p, k)) + rng.gumbel(size=(n, k))
    return x, score.argmax(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet"])
@pytest.mark.parametrize("shape", [(40, 2, 3), (150, 12, 4), (61, 40, 7)])
def test_with_several_classes_too(penalty, shape, without_core):
    x, y = of_classes(3, *shape)
    settings = {"penalty": penalty, "l1_ratio": 0.5 if penalty == "elasticnet" else None, "cv": 4}
    settings["Cs"] = [0.01, 0.1, 1.0, 10.0]
    in_core = bt.LogisticRegressionCV(**settings).fit(x, y)
    without_core()
    in_parts = bt.LogisticRegressionCV(**settings).fit(x, y)
    assert in_core.C_ == in_parts.C_
    np.testing.assert_allclose(in_core.coef_, in_parts.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(in_core.path_.coef, in_parts.path_.coef, atol=1e-4)
    np.testing.assert_allclose(in_core.curve_.fold_loss, in_parts.curve_.fold_loss, rtol=1e-3)


def nominal(seed: int, n: int, k: int) -> pd.DataFrame:
    """Three nominal columns, a number with missing values, and a class."""
    rng = np.random.default_rng(seed)
    level = rng.integers(0, [4, 7, 9], size=(n, 3))
    x = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n) + 50)
    score = rng.normal(size=(9, 3, k))[level, np.arange(3)].sum(axis=1) + np.nan_to_num(x - 50)[:, None] * rng.normal(size=k)
    frame = pd.DataFrame({f"c{j}": [f"v{v}" for v in level[:, j]] for j in range(3)})
    return frame.assign(x=x, y=[f"class {c}" for c in (score + rng.gumbel(size=(n, k))).argmax(axis=1)])


@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet"])
@pytest.mark.parametrize("k", [2, 3, 6])
def test_sparse_rows_have_the_optimum_folds_and_choice_of_dense_rows(penalty, k, monkeypatch):
    frame = nominal(5, 240, k)
    weight = 1.0 + np.arange(240) % 3
    settings = {"penalty": penalty, "l1_ratio": 0.5 if penalty == "elasticnet" else None, "cv": 4}
    settings["Cs"] = [0.01, 0.1, 1.0, 10.0]
    fits = []
    for density in (1.0, 0.0):
        monkeypatch.setattr(build_rows, "_MAX_DENSITY", density)
        fits.append(bt.LogisticRegressionCV(**settings).fit(frame, "y", sample_weight=weight))
    sparse, dense = fits
    assert sparse.C_ == dense.C_
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(sparse.intercept_, dense.intercept_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(sparse.curve_.fold_loss, dense.curve_.fold_loss, rtol=1e-4)


def test_a_lasso_whose_steps_the_core_makes_is_that_of_steps_by_eigenvectors(monkeypatch):
    rng = np.random.default_rng(7)
    level, other_level = rng.zipf(1.5, 700) % 30, rng.integers(0, 5, 700)
    frame = pd.DataFrame({"a": rng.normal(size=700), "b": level.astype(str), "c": other_level.astype(str)})
    y = frame["a"] + rng.normal(size=700) + (level == 1) > 0
    monkeypatch.setattr(core_rows, "_MAX_HESSIAN_WORK", 0)
    monkeypatch.setattr(build_rows, "_MAX_DENSITY", 0.0)
    core = bt.LogisticRegression(penalty="l1", C=0.3).fit(frame, y)
    monkeypatch.setattr(newton, "_FEW", 0)
    other = bt.LogisticRegression(penalty="l1", C=0.3).fit(frame, y)
    np.testing.assert_allclose(core.coef_, other.coef_, rtol=1e-9, atol=1e-11)


def test_a_wide_nominal_table_is_solved_by_the_diagonal_of_the_hessian():
    rng = np.random.default_rng(8)
    code = rng.integers(0, 1500, size=4000)
    frame = pd.DataFrame({"c": [f"v{c}" for c in code], "x": rng.normal(size=4000)})
    y = (code % 3 + rng.integers(0, 2, 4000)) % 3
    model = bt.LogisticRegression(C=0.5).fit(frame, y)
    assert model.coef_.shape[1] > 1000
    assert model.gradient_norm_ <= 1e-8


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_collinear_columns_and_several_classes_have_an_optimum_that_no_order_changes(penalty):
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
def test_a_row_of_weight_two_counts_as_two_rows_with_several_classes(penalty):
    x, y = of_classes(6, 60, 4, 3)
    weight = 1.0 + (np.arange(60) % 2)
    twice = np.repeat(np.arange(60), weight.astype(int))
    once = bt.LogisticRegression(penalty=penalty, C=0.5).fit(x, y, sample_weight=weight)
    repeated = bt.LogisticRegression(penalty=penalty, C=0.5).fit(x[twice], y[twice])
    np.testing.assert_allclose(once.coef_, repeated.coef_, rtol=1e-9, atol=1e-14)


def test_a_row_of_weight_zero_does_not_count_with_several_classes():
    x, y = of_classes(7, 50, 3, 3)
    weight = np.where(np.arange(50) < 43, 1.0, 0.0)
    some = bt.LogisticRegression().fit(x[:43], y[:43])
    every = bt.LogisticRegression().fit(x, y, sample_weight=weight)
    np.testing.assert_allclose(every.coef_, some.coef_, rtol=1e-9)


def test_a_row_of_weight_two_counts_as_two_rows():
    x, y = table(2, 60, 4)
    weight = 1.0 + (np.arange(60) % 2)
    twice = np.repeat(np.arange(60), weight.astype(int))
    once = bt.LogisticRegression(penalty="l1", C=0.5).fit(x, y, sample_weight=weight)
    repeated = bt.LogisticRegression(penalty="l1", C=0.5).fit(x[twice], y[twice])
    np.testing.assert_allclose(once.coef_, repeated.coef_, rtol=1e-9)


def test_held_out_losses_of_separable_classes_are_as_exact_as_those_of_more_steps(monkeypatch):
    penguins = bt.datasets.load("penguins")[::2]
    settings = {"penalty": "l2", "cv": 5, "Cs": [1.0, 20.0, 100.0]}
    coarse = bt.LogisticRegressionCV(**settings).fit(penguins, "species")
    monkeypatch.setattr(learner, "_aim", lambda _: 1e-9)
    closer = bt.LogisticRegressionCV(**settings).fit(penguins, "species")
    np.testing.assert_allclose(coarse.curve_.fold_loss, closer.curve_.fold_loss, rtol=1e-3, atol=1e-6)
