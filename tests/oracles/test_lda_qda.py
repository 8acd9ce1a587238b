"""Discriminant analysis gives the posteriors of MASS on every reference table."""

import numpy as np
import pytest
import reference

import baytree as bt

KEYS = {
    "lda": (bt.LinearDiscriminantAnalysis, {}),
    "lda_mle": (bt.LinearDiscriminantAnalysis, {"covariance": "mle"}),
    "lda_uniform_prior": (bt.LinearDiscriminantAnalysis, {}),
    "qda": (bt.QuadraticDiscriminantAnalysis, {}),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("table", reference.tables("lda_qda"))
def test_posteriors_equal_those_of_mass(table):
    answer = reference.expected("lda_qda", table)
    X, y = reference.columns_and_labels(table, None if answer["data_rows"] == "all" else answer["data_rows"])
    X = X[answer["variables"]]
    for key, (kind, parameters) in KEYS.items():
        fit = answer["fits"].get(key, {"error": "not run"})
        if "error" in fit:
            continue
        uniform = {label: 1 / len(answer["classes"]) for label in answer["classes"]}
        model = kind(**parameters, priors=uniform if "uniform" in key else None).fit(X, y)
        rows, theirs = reference.probabilities(fit)
        mine = reference.in_order(model, X, answer["classes"])[rows]
        assert np.abs(mine - theirs).max() <= 1e-8, key


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("table", ["iris", "wine", "vehicle", "pima"])
def test_axes_equal_those_of_mass_up_to_their_sign(table):
    answer = reference.expected("lda_qda", table)
    X, y = reference.columns_and_labels(table)
    model = bt.LinearDiscriminantAnalysis().fit(X[answer["variables"]], y)
    theirs = np.array(answer["fits"]["lda"]["scaling"])
    sign = np.sign((model.scalings_ * theirs).sum(axis=0))
    np.testing.assert_allclose(model.scalings_ * sign, theirs, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.model_.strength, answer["fits"]["lda"]["svd"], rtol=1e-8)


CROSS_VALIDATED = {  # of lda(Species ~ ., rows, CV = TRUE)$posterior and qda's in MASS 7.3: the second class of three rows
    bt.LinearDiscriminantAnalysis: [6.62338317023e-02, 9.99977663046e-01, 3.10738240170e-01],
    bt.QuadraticDiscriminantAnalysis: [1.07392601778e-01, 9.99956630045e-01, 6.10205634221e-02],
}


@pytest.mark.parametrize("kind", CROSS_VALIDATED)
def test_leave_one_out_with_fixed_priors_is_cv_true_of_mass(kind):
    iris = bt.datasets.load("iris", as_="pandas")
    rows = iris.iloc[[*range(80), *range(100, 140)]]
    priors = rows["species"].value_counts(normalize=True).to_dict()
    answer = kind(priors=priors).leave_one_out(rows, "species")
    np.testing.assert_allclose(answer[[70, 74, 99], 1], CROSS_VALIDATED[kind], rtol=1e-9)
