"""Penalised fits are at least as optimal as glmnet's; unpenalised ones have the coefficients and errors of glm."""

import numpy as np
import pytest
import reference

import baytree as bt
from baytree.engine.partitions import LocalPartitions
from baytree.linear.logistic.objective import value, violations
from baytree.linear.logistic.problem import LogisticOptions, penalty_of, task_of

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
    table = model._prepare_rows(X, y, None).table
    options = LogisticOptions(l1_share=L1_SHARE[key], lambda_=at["lambda"], standardize="unst" not in key, ordinal="dummies")
    task = task_of(LocalPartitions(table), options, np.ones(table.n_classes))
    penalty = penalty_of(task, options)
    linear = model.model_.linear
    mine = in_task(linear.weight, linear.intercept, task)
    slope = task.rows.loss_gradient(mine)
    if violations(slope, penalty, mine).max() / at["lambda"] <= at["kkt_violation"]:
        return
    names = [name.replace("=", "") for name in task.design.names(table.schema.columns)]
    given = np.atleast_2d(np.array(at["coef"], float))
    raw = np.zeros((len(given), len(names)))
    raw[:, [names.index(name) for name in answer["x_columns"]]] = given[:, 1:]
    theirs = in_task(raw * task.design.scale, given[:, 0] + raw @ task.design.centre, task)
    assert value(slope, penalty, mine) <= value(task.rows.loss_gradient(theirs), penalty, theirs) + 1e-9


def in_task(weight, intercept, task):
    """Coefficients for the task's rows, whose one-hot features may not be centred."""
    return np.column_stack([weight, intercept - weight @ task.above[:-1]])


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
