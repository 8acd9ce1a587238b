"""Separable, collinear and badly scaled rows end in a converged model, or in a warning that they do not."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

import baytree as bt
from law_settings import settings

SHAPES = ("plain", "separable", "nearly separable", "collinear", "offset", "scales", "far", "one value", "marks")


def hard_rows(seed, shape, classes):
    random = np.random.default_rng(seed)
    n, p = int(random.integers(20, 60)), int(random.integers(1, 5))
    x = random.normal(size=(n, p))
    y = np.argmax(x[:, :1] * np.arange(classes) - np.arange(classes) ** 2 / 3 + random.gumbel(size=(n, classes)), axis=1)
    if "separable" in shape:
        x[:, 0] = 3.0 * y + random.random(n) * (2.9 if shape == "separable" else 3.1)
    if shape == "collinear":
        x = np.column_stack([x, x[:, 0], x @ random.normal(size=p), x[:, 0] + 1e-7 * random.normal(size=n)])
    if shape == "offset":
        x = x + 1e9 * random.choice([-1, 0, 1], p)
    if shape == "scales":
        x = x * 10.0 ** random.integers(-12, 13, p)
    if shape == "far":
        x[random.integers(0, n, 3)] *= 1e4
    if shape == "one value":
        x[:, 0] = 7.25
    if shape == "marks":
        x = (x > 0.7).astype(float)
    return x, y


def standard(x):
    x = x.astype(np.longdouble)
    spread = x.std(axis=0)
    return (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1), spread.astype(float)


def gradient_norm(model, x, y, lambda_, share):
    """The largest violation of optimality, from nothing but the model's probabilities and coefficients."""
    z, spread = standard(x)
    b = model.coef_ * np.where(spread > 0, spread, 1)
    residual = (model.predict_proba(x) - np.eye(len(model.classes_))[y])[:, -len(b) :]
    gradient = (residual.T.astype(np.longdouble) @ z).astype(float) / len(y) + lambda_ * (1 - share) * b
    away = np.abs(gradient + lambda_ * share * np.sign(b))
    rest = np.maximum(np.abs(gradient) - lambda_ * share, 0)
    return max(np.where((b == 0) & (share > 0), rest, away).max(), np.abs(residual.mean(axis=0)).max())


def is_separable(x, y):
    """Whether some change of scores helps a row and harms none: a linear programme, Σ gain as large as can be."""
    z = np.column_stack([standard(x)[0].astype(float), np.ones(len(x))])
    truth, n_classes = np.eye(y.max() + 1)[y], y.max() + 1
    others = [np.roll(truth, turn, axis=1) for turn in range(1, n_classes)]
    gains = np.vstack([np.einsum("ik,ij->ikj", truth - other, z).reshape(len(y), -1) for other in others])
    found = linprog(-gains.sum(axis=0), A_ub=-gains, b_ub=np.zeros(len(gains)), bounds=(-1, 1))
    return -found.fun > 1e-6


def fitted(model, x, y):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(x, y)
    return model, any(issubclass(warning.category, ConvergenceWarning) for warning in told)


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    strength=st.floats(-6, 3),
    share=st.sampled_from([0.0, 0.5, 1.0]),
    classes=st.integers(2, 3),
)
def test_a_penalised_fit_is_optimal_or_says_that_it_is_not(shape, seed, strength, share, classes):
    x, y = hard_rows(seed, shape, classes)
    y = np.unique(y, return_inverse=True)[1]
    lambda_ = 10.0**strength
    model = bt.LogisticRegression(penalty="elasticnet", l1_ratio=share, lambda_=lambda_)
    model, is_told = fitted(model, x, y)
    assert is_told or model.gradient_norm_ <= 1e-8
    if len(model.classes_) > 1 and not is_told:
        assert gradient_norm(model, x, y, lambda_, share) <= 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), classes=st.integers(2, 3))
@example(seed=1785847599, classes=3)  # as "offset" separable along a direction of next to no curvature
@example(seed=2983963008, classes=3)  # as "far", too
def test_an_unpenalised_fit_is_optimal_or_says_that_it_is_not(shape, seed, classes):
    x, y = hard_rows(seed, shape, classes)
    y = np.unique(y, return_inverse=True)[1]
    model, is_told = fitted(bt.LogisticRegression(penalty=None), x, y)
    assert np.isfinite(model.predict_proba(x)).all()
    if len(model.classes_) == 1:
        return
    assert is_told == is_separable(x, y) or shape == "collinear"  # noise of 1e-7 separates only in theory
    if not is_told:
        assert model.gradient_norm_ <= 1e-8
        assert gradient_norm(model, x, y, 0.0, 0.0) <= 1e-7


@pytest.mark.slow
def test_more_levels_than_rows_without_a_penalty_are_learnt_with_a_warning():
    random = np.random.default_rng(0)
    n = 90
    y = random.integers(0, 6, n)
    names = {"model": [f"m{i}" for i in range(n)], "make": [f"k{i // 3}" for i in range(n)]}
    rows = {**names, "size": random.normal(size=n) + y}
    model = bt.LogisticRegression(penalty=None, schema={"model": "nominal", "make": "nominal"})
    with pytest.warns(ConvergenceWarning, match="separable"):
        model.fit(rows, y)
    assert model.score(rows, y) == 1.0
