"""Optimality of penalised logistic regression, judged by itself: no table has to be known beforehand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import baytree as bt
from law_settings import settings

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def table(seed, n=80, classes=3):
    """Numbers of all sizes, a factor of one level, a rare level, a copy, and a class of two rows."""
    random = np.random.default_rng(seed)
    y = random.integers(0, classes - 1, n)
    y[:2] = classes - 1
    frame = pd.DataFrame(
        {
            "near": random.normal(size=n) + y,
            "large": random.normal(size=n) * 1e6 + 1e7,
            "single": ["only"] * n,
            "rare": np.where(np.arange(n) % 40 == 3, "rare", "common"),
        }
    )
    frame["copy"] = frame["near"]
    return frame, y, random.integers(1, 4, n).astype(float)


def violation(model, frame, y, weight, lambda_, share):
    """The largest violation of the optimality conditions in standard units, relative to the penalty."""
    x = np.column_stack([frame["near"], frame["large"], frame["rare"] == "rare", frame["copy"]]).astype(float)
    weight = weight / weight.sum()
    spread = np.sqrt(weight @ (x - weight @ x) ** 2)
    b = model.coef_ * spread
    residual = model.predict_proba(frame) - np.eye(model.coef_.shape[0] if len(model.coef_) > 1 else 2)[y]
    residual = residual if len(b) > 1 else residual[:, 1:]
    gradient = (residual * weight[:, None]).T @ ((x - weight @ x) / spread) + lambda_ * (1 - share) * b
    active = np.abs(gradient + lambda_ * share * np.sign(b))
    resting = np.maximum(np.abs(gradient) - lambda_ * share, 0.0)
    wrong = np.where((b == 0) & (share > 0), resting, active)
    return max(wrong.max(), np.abs((residual * weight[:, None]).sum(axis=0)).max()) / lambda_


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("classes", [2, 3])
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), lambda_=st.sampled_from([0.1, 0.01, 0.001]))
@example(seed=162, lambda_=0.001)  # the support of a lasso changes until the last step
def test_no_coefficient_could_be_better(share, classes, seed, lambda_):
    frame, y, weight = table(seed, classes=classes)
    model = bt.LogisticRegression(penalty="elasticnet", l1_ratio=share, lambda_=lambda_).fit(frame, y, sample_weight=weight)
    assert list(model.coefficients().references) == [("single", "only"), ("rare", "common")]
    assert violation(model, frame, y, weight, lambda_, share) < 1e-9


@pytest.mark.parametrize("kind", [bt.LinearDiscriminantAnalysis, bt.QuadraticDiscriminantAnalysis])
def test_discriminants_answer_for_tables_with_a_class_of_two_rows(kind):
    frame, y, weight = table(0)
    answer = kind().fit(frame, y, sample_weight=weight).predict_proba(frame)
    assert np.isfinite(answer).all()
    assert (answer.argmax(axis=1) == y).mean() > 0.5
