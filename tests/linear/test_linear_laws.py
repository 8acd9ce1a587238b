"""Metamorphic laws: changes to a table that change nothing a linear model says, and weights as repetition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_logistic import rows

import baytree as bt
from baytree import _core
from law_settings import settings

MODELS = {
    "lda": bt.LinearDiscriminantAnalysis,
    "qda": bt.QuadraticDiscriminantAnalysis,
    "ridge": bt.LogisticRegression,
    "lasso": lambda: bt.LogisticRegression(penalty="l1", C=0.5),
    "elastic net": lambda: bt.LogisticRegression(penalty="elasticnet", l1_ratio=0.5, C=0.5),
    "unpenalised": lambda: bt.LogisticRegression(penalty=None),
    "one against rest": lambda: bt.LogisticRegression(multi_class="ovr"),
    "chosen": lambda: bt.LogisticRegressionCV(cv=2, Cs=[0.1, 1.0]),
}
every_model = pytest.mark.parametrize(
    "model",
    [pytest.param(make, id=name, marks=[pytest.mark.slow] if name == "chosen" else []) for name, make in MODELS.items()],
)
seeds = given(seed=st.integers(0, 10_000))
few = settings(max_examples=8, deadline=None)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def answer(model, X, y, at=None, **more):
    return model().fit(X, y, **more).predict_proba(X if at is None else at)


@every_model
@few
@seeds
def test_shift_and_scale_of_columns_change_nothing(model, seed):
    X, y = rows(seed, n=90)
    random = np.random.default_rng(seed)
    moved = X * 2.0 ** random.integers(-30, 30, X.shape[1]) + 0.0
    shifted = X + random.normal(size=X.shape[1]) * 100
    plain = answer(model, X, y)
    np.testing.assert_allclose(answer(model, moved, y), plain, atol=1e-12)
    np.testing.assert_allclose(answer(model, shifted, y), plain, atol=1e-8)


@every_model
@few
@seeds
def test_order_of_rows_and_columns_changes_nothing(model, seed):
    X, y = rows(seed, n=90)
    random = np.random.default_rng(seed)
    order, columns = random.permutation(len(X)), random.permutation(X.shape[1])
    other = answer(model, X[order][:, columns], y[order], X[:, columns])
    np.testing.assert_allclose(other, answer(model, X, y), atol=1e-12)


@every_model
@few
@seeds
def test_names_of_classes_change_nothing_but_the_names(model, seed):
    X, y = rows(seed, n=90)
    names = np.array(["zebra", "ant", "mole"])
    named = model().fit(X, names[y])
    place = [list(named.classes_).index(name) for name in names]
    np.testing.assert_allclose(named.predict_proba(X)[:, place], answer(model, X, y), atol=1e-12)


@pytest.mark.parametrize("model", [MODELS[name] for name in MODELS if name != "chosen"])
@few
@seeds
def test_a_table_twice_is_a_table_of_weight_two(model, seed):
    X, y = rows(seed, n=90)
    twice = answer(model, np.vstack([X, X]), np.append(y, y), X)
    np.testing.assert_allclose(answer(model, X, y, sample_weight=np.full(len(y), 2.0)), twice, atol=1e-12)


@every_model
@few
@seeds
def test_a_constant_column_changes_nothing(model, seed):
    X, y = rows(seed, n=90)
    wide = np.column_stack([X, np.full(len(X), 1e6)])
    np.testing.assert_allclose(answer(model, wide, y), answer(model, X, y), atol=1e-12)


@pytest.mark.parametrize("model", [MODELS["lda"], MODELS["lasso"], lambda: bt.LogisticRegression(penalty=None)])
@few
@seeds
def test_a_copied_column_changes_nothing_where_nobody_pays_for_squares(model, seed):
    X, y = rows(seed, n=90)
    np.testing.assert_allclose(answer(model, np.column_stack([X, X[:, 0]]), y), answer(model, X, y), atol=1e-6)


@every_model
@few
@seeds
def test_an_integer_weight_is_repetition_and_weight_zero_is_absence(model, seed):
    X, y = rows(seed, n=90)
    weight = np.random.default_rng(seed).integers(0, 4, len(X))
    weight[:9] = 1
    repeated = answer(model, np.repeat(X, weight, axis=0), np.repeat(y, weight), X)
    np.testing.assert_allclose(answer(model, X, y, X, sample_weight=weight), repeated, atol=1e-12)


@pytest.mark.parametrize("kind", [bt.LinearDiscriminantAnalysis, bt.QuadraticDiscriminantAnalysis])
@pytest.mark.parametrize("parts", [1, 2, 3, 7, 20])
def test_learning_in_any_parts_in_any_order_agrees_closely(kind, parts):
    X, y = rows(5, n=400)
    whole = kind().fit(X, y).predict_proba(X)
    order = np.random.default_rng(parts).permutation(parts)
    pieces = np.array_split(np.arange(len(X)), parts)
    model = kind()
    for piece in order:
        model.partial_fit(X[pieces[piece]], y[pieces[piece]], classes=[0, 1, 2])
    np.testing.assert_allclose(model.predict_proba(X), whole, atol=1e-12)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_the_hessian_of_mostly_zero_rows_is_that_of_any_rows(share):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(300, 17)) * (rng.random((300, 17)) < share)
    rows[:5] = 0.0
    out = np.zeros((17, 17))
    _core.sparse_squares(rows, out)
    np.testing.assert_allclose(out, rows.T @ rows, rtol=1e-12, atol=1e-12)
