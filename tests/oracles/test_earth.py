"""MARS grows, prunes and weighs as earth 5.3.2 does: terms, cuts, every subset's RSS and GCV, probabilities, importances."""

import numpy as np
import pandas as pd
import pytest
import reference

import baytree as bt

KEYS = {
    "degree1": {}, "degree2": {"max_degree": 2}, "degree3": {"max_degree": 3}, "degree1_noprune": {"prune": False},
    "degree1_fastk0": {"fast_k": 0}, "degree2_fastk0": {"max_degree": 2, "fast_k": 0},
    "degree1_span1": {"fast_k": 0, "min_span": 1, "end_span": 1},
    "degree2_nk11_linpreds_off": {"max_degree": 2, "max_terms": 11, "auto_linear": False},
}  # fmt: skip
GLM = {"glm_degree1": {}, "glm_degree2": {"max_degree": 2}}
TABLES = (
    "airquality", "cpu", "cu_summary", "etitanic", "glass", "iris", "kyphosis", "mtcars", "ozone1", "penguins", "pima",
    "titanic", "trees", "vehicle", "wdbc", "wine",
)  # fmt: skip
SIDES = {1: "above", -1: "below", 2: "linear"}


def rows_of(table, stored):
    """The complete rows, ordinal columns as nominal ones, levels that occur."""
    X, y = reference.columns_and_labels(table, None if stored["data_rows"] == "all" else stored["data_rows"])
    X = X.reset_index(drop=True)
    for name in X.select_dtypes("category"):
        levels = [level for level in X[name].cat.categories if (X[name] == level).any()]
        X[name] = pd.Categorical(X[name].astype(object), categories=levels)
    return X, y


def fits(table, keys):
    """The model and the stored fit of each key."""
    stored = reference.expected("earth", table)
    X, y = rows_of(table, stored)
    classes = stored["classes"] or []
    for key, parameters in keys.items():
        fit = stored["fits"].get(key)
        if not fit or "error" in fit:
            continue
        if key in GLM or len(classes) > 2:
            yield key, bt.MARSClassifier(**parameters).fit(X, pd.Categorical(y, classes)), fit, X, classes
        else:
            number = (y == classes[1]).astype(float) if classes else y
            yield key, bt.MARSRegressor(**parameters).fit(X, number), fit, X, classes


def theirs(fit):
    """The selected terms as sets of (column or column + level, side, cut)."""
    return [
        {(fit["x_columns"][j], SIDES[d], None if d == 2 else fit["cuts"][k][j]) for j, d in enumerate(fit["dirs"][k]) if d}
        for k in fit["selected_terms"]
    ]


def ours(model):
    return [{(h["feature"].replace("=", ""), h["side"], h["cut"]) for h in term["hinges"]} for term in model.terms()]


@pytest.mark.parametrize("table", TABLES)
def test_the_terms_are_earth_s_and_so_are_rss_gcv_and_coefficients(table):
    for key, model, fit, _, classes in fits(table, KEYS):
        assert ours(model) == theirs(fit), key
        assert np.allclose([model.rss_, model.gcv_], [fit["rss"], fit["gcv"]], rtol=1e-8, atol=0), key
        if len(classes) <= 2:
            mine = np.array([term["coefficient"] for term in model.terms()])
            assert np.allclose(mine, np.ravel(fit["coefficients"]), rtol=1e-6, atol=0), key


@pytest.mark.parametrize("table", TABLES)
def test_the_glm_step_gives_earth_s_probabilities(table):
    for key, model, fit, X, classes in fits(table, GLM):
        rows, stored = reference.probabilities(fit["glm_response"])
        stored = np.hstack([1 - stored, stored]) if len(classes) == 2 else stored / stored.sum(axis=1, keepdims=True)
        assert np.abs(reference.in_order(model, X, classes)[rows] - stored).max() <= 1e-6, key


@pytest.mark.parametrize("table", TABLES)
def test_the_importances_are_those_of_evimp(table):
    for key, model, fit, _, _ in fits(table, KEYS):
        stored = fit.get("evimp")
        if not stored:
            continue
        mine = {row.feature.replace("=", ""): row for row in model.importances()}
        for k, name in enumerate(stored["columns"]):
            row = mine[name.removesuffix("-unused")]
            assert row.nsubsets == stored["nsubsets"][k], (key, name)
            assert np.allclose([row.gcv, row.rss], [stored["gcv"][k], stored["rss"][k]], rtol=1e-6, atol=1e-6), (key, name)


WITH_CONSTANT = {
    24: (0.110401494015, 0.143479354251),
    25: (0.117368131117, 0.112509047253),
    26: (0.085927511043, 0.096727103345),
}


@pytest.mark.parametrize("n", WITH_CONSTANT)
def test_a_constant_column_counts_in_the_spans_as_in_earth(n):
    """GCV of earth 5.3.2 without and with a constant predictor: minspan and endspan grow with the number of predictors."""
    i = np.arange(1, n + 1)
    a, b = (i * 37) % 61 / 10, (i * i) % 53 / 7
    y = np.abs(a - 3) + np.sin(b) + (i * 7) % 5 / 10
    found = [bt.MARSRegressor().fit(X, y).gcv_ for X in (np.c_[a, b], np.c_[a, b, np.ones(n)])]
    np.testing.assert_allclose(found, WITH_CONSTANT[n], rtol=1e-9)
