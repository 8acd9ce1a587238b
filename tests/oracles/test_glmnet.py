"""Penalised fits are at least as optimal as glmnet's; unpenalised ones have the coefficients and errors of glm."""

import numpy as np
import pytest
import reference

import baytree as bt

KEYS = {
    "lasso": {"penalty": "l1"},
    "ridge": {"penalty": "l2"},
    "elastic0.5": {"penalty": "elasticnet", "l1_ratio": 0.5},
    "lasso_unstandardized": {"penalty": "l1", "standardize": False},
}
L1_SHARE = {"lasso": 1.0, "ridge": 0.0, "elastic0.5": 0.5, "lasso_unstandardized": 1.0}
QUICK = ("iris", "pima", "kyphosis", "wine", "penguins", "titanic_class", "stagec", "etitanic")


def rows_of(table, answer):
    return reference.columns_and_labels(table, None if answer["data_rows"] == "all" else answer["data_rows"])


def check(table):
    answer = reference.expected("glmnet", table)
    X, y = rows_of(table, answer)
    for key, parameters in KEYS.items():
        fit = answer["fits"].get(key, {"error": "not run"})
        for at in [] if "error" in fit else fit["at"]:
            model = bt.LogisticRegression(lambda_=at["lambda"], ordinal="dummies", **parameters).fit(X, y)
            rows, theirs = reference.probabilities(at["prob"])
            mine = reference.in_order(model, X, answer["classes"])[rows]
            mine = mine[:, 1:2] if theirs.shape[1] == 1 else mine
            assert np.abs(mine - theirs).max() <= 1e-3, (key, at["lambda"])
            assert_is_as_optimal(model, X, y, key, at, answer)


def assert_is_as_optimal(model, X, y, key, at, answer):
    """Our violation of optimality is no larger than glmnet's, relative to lambda, or our objective is no higher."""
    linear, table = model.model_.linear, model._prepare_rows(X, y, None).table
    design, share = linear.design, L1_SHARE[key]
    unit = 1 / design.scale if "unst" in key else np.ones(len(design))  # a penalty is on coefficients of these units
    ridge, lasso = at["lambda"] * (1 - share) * unit**2, at["lambda"] * share * unit
    rows = (design.features(table), table.label, ridge, lasso)
    if violation(*rows, linear.weight, linear.intercept) / at["lambda"] <= at["kkt_violation"]:
        return
    names = [name.replace("=", "") for name in design.names(table.schema.columns)]
    given = np.atleast_2d(np.array(at["coef"], float))
    raw = np.zeros((len(given), len(names)))
    raw[:, [names.index(name) for name in answer["x_columns"]]] = given[:, 1:]
    theirs = raw * design.scale, given[:, 0] + raw @ design.centre
    assert objective(*rows, linear.weight, linear.intercept) <= objective(*rows, *theirs) + 1e-9


def objective(x, label, ridge, lasso, weight, intercept):
    """The mean log loss of the rows, plus the penalty."""
    score = scores(x, weight, intercept)
    loss = np.logaddexp.reduce(score, axis=1) - score[np.arange(len(x)), label]
    return loss.mean() + (ridge * weight**2).sum() / 2 + (lasso * np.abs(weight)).sum()


def violation(x, label, ridge, lasso, weight, intercept):
    """The largest subgradient of the objective that is smallest in absolute value, by a coefficient or an intercept."""
    score = scores(x, weight, intercept)
    residual = np.exp(score - np.logaddexp.reduce(score, axis=1)[:, None]) - np.eye(score.shape[1])[label]
    residual = residual[:, -len(weight) :] / len(x)
    gradient = residual.T @ x + ridge * weight
    inner = np.maximum(np.abs(gradient) - lasso, 0.0)
    wrong = np.where((weight == 0) & (lasso > 0), inner, np.abs(gradient + lasso * np.sign(weight)))
    return max(wrong.max(), np.abs(residual.sum(axis=0)).max())


def scores(x, weight, intercept):
    """A score for each class; of two classes the first has 0."""
    score = x @ weight.T + intercept
    return np.column_stack([np.zeros(len(x)), score]) if len(weight) == 1 else score


@pytest.mark.parametrize("table", QUICK)
def test_penalised_fits_are_as_optimal_as_those_of_glmnet(table):
    check(table)


@pytest.mark.slow
@pytest.mark.parametrize("table", sorted(set(reference.tables("glmnet")) - set(QUICK)))
def test_penalised_fits_are_as_optimal_as_those_of_glmnet_on_larger_tables(table):
    check(table)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", reference.tables("glmnet"))
def test_unpenalised_fits_equal_those_of_glm_and_multinom(table):
    answer = reference.expected("glmnet", table)
    stored = answer["unpenalised"] or {}
    if not stored or stored.get("separated") or not stored.get("prob"):
        pytest.skip("no finite unpenalised optimum in the reference")
    X, y = rows_of(table, answer)
    model = bt.LogisticRegression(penalty=None, ordinal="dummies").fit(X, y)
    rows, theirs = reference.probabilities(stored["prob"])
    mine = reference.in_order(model, X, answer["classes"])[rows]
    mine = mine[:, 1:2] if theirs.shape[1] == 1 else mine
    assert np.abs(mine - theirs).max() <= (1e-7 if answer["family"] == "binomial" else 1e-5)


@pytest.mark.parametrize("table", ["pima", "kyphosis", "stagec", "titanic", "titanic_class", "etitanic"])
def test_coefficients_and_their_errors_equal_those_of_glm(table):
    answer = reference.expected("glmnet", table)
    X, y = rows_of(table, answer)
    lines = bt.LogisticRegression(penalty=None, ordinal="dummies").fit(X, y).coefficients()
    mine = {line.feature.replace("=", ""): line for line in lines}
    names = ["(intercept)", *answer["x_columns"]]
    stored = answer["unpenalised"]
    np.testing.assert_allclose([mine[name].estimate for name in names], stored["coef"], rtol=1e-7)
    np.testing.assert_allclose([mine[name].standard_error for name in names], stored["se"], rtol=1e-6)


@pytest.mark.parametrize("table", ["crabs", "hepatitis", "tictactoe", "vote", "wdbc", "iris", "penguins", "wine"])
def test_separable_classes_are_told(table):
    answer = reference.expected("glmnet", table)
    X, y = rows_of(table, answer)
    with pytest.warns(bt_warning(), match="separable"):
        model = bt.LogisticRegression(penalty=None, ordinal="dummies").fit(X, y)
    assert np.isfinite(model.coef_).all()


def bt_warning():
    from sklearn.exceptions import ConvergenceWarning

    return ConvergenceWarning
