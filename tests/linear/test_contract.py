"""The contract of every linear estimator: scikit-learn's checks, the command line, threads, Ctrl-C."""

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_logistic import rows

import baytree as bt
from baytree.cli.main import main

CHECKED = [  # defaults are tried in test_estimator.py
    bt.LinearDiscriminantAnalysis(covariance="mle"),
    bt.LinearDiscriminantAnalysis(shrinkage=0.2),
    bt.LinearDiscriminantAnalysis(shrinkage="oas", n_jobs=1),
    bt.QuadraticDiscriminantAnalysis(covariance="mle"),
    bt.QuadraticDiscriminantAnalysis(shrinkage=0.2),
    bt.QuadraticDiscriminantAnalysis(shrinkage="oas", n_jobs=1),
    bt.LogisticRegression(penalty="l1"),
    bt.LogisticRegression(penalty="elasticnet", l1_ratio=0.5, multi_class="ovr"),
    bt.LogisticRegression(standardize=False, missing="mean", n_jobs=1),
    bt.LogisticRegression(solver="lbfgs", class_weight="balanced"),
    bt.LogisticRegressionCV(cv=3, Cs=3),
    bt.LogisticRegressionCV(penalty="l1", cv=2, Cs=[0.1, 10.0], rule="1se"),
    bt.LogisticRegressionCV(multi_class="ovr", cv=2, Cs=2),
    bt.LinearRegression(penalty="elasticnet", l1_ratio=0.5, lambda_=0.01, n_jobs=1),
    bt.LinearRegressionCV(cv=3, lambdas=5),
    bt.MARSClassifier(max_degree=2, n_jobs=1),
]


@pytest.mark.scikit_learn
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(CHECKED)
def test_scikit_learn_finds_nothing_to_complain_about(estimator, check):
    check(estimator)


def run(*words):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("model", ["lda", "qda", "logistic", "logistic-fixed", "mars"])
@pytest.mark.parametrize(("table", "target", "column"), [("penguins", "species", "island"), ("titanic", "survived", "sex")])
def test_the_command_line_fits_shows_explains_and_predicts_raw_tables(tmp_path, model, table, target, column):
    file = tmp_path / "m.baytree"
    run("fit", table, "--target", target, "--model", model, "-o", file)
    assert column in run("show", file)
    ledger = run("explain", file, table, "--row", 3)
    assert column in ledger
    assert "sum" in ledger
    answers = run("predict", file, table, "--proba").splitlines()
    assert answers[0].startswith("prediction,P(")
    assert len(answers) == len(bt.datasets.load(table)) + 1


def test_show_prints_errors_and_odds_of_an_unpenalised_regression(tmp_path):
    unpenalised = ("--model", "logistic-fixed", "--param", "penalty=none")
    run("fit", "titanic", "--target", "survived", *unpenalised, "-o", tmp_path / "m")
    shown = run("show", tmp_path / "m")
    words = ("estimate", "odds ratio", "std. error", "95 % interval", "against no", "sex=female")
    assert [word for word in words if word not in shown] == []


MODELS = [
    bt.LinearDiscriminantAnalysis,
    bt.QuadraticDiscriminantAnalysis,
    bt.LogisticRegression,
    lambda **more: bt.LogisticRegression(penalty="l1", C=0.01, **more),
    lambda **more: bt.LogisticRegressionCV(cv=3, Cs=3, **more),
    bt.LinearRegression,
    lambda **more: bt.LinearRegressionCV(penalty="l1", cv=3, lambdas=5, **more),
    lambda **more: bt.MARSRegressor(max_degree=2, max_terms=11, **more),
    lambda **more: bt.MARSClassifier(max_degree=2, max_terms=11, **more),
]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_number_of_threads_does_not_change_a_bit(tmp_path, model, classes):
    X, y = rows(9, n=20_000, classes=classes)
    files = set()
    for n_jobs in (1, 2, 3, 8):
        fitted = model(n_jobs=n_jobs).fit(X, y)
        fitted.set_params(n_jobs=None)
        bt.save(fitted, tmp_path / "m.baytree")
        files.add((tmp_path / "m.baytree").read_bytes())
    assert len(files) == 1


@pytest.mark.parametrize("wrong", [0, "all", 1.5])
def test_a_wrong_number_of_threads_is_refused_by_name(wrong):
    X, y = rows(1)
    for model in MODELS:
        with pytest.raises(ValueError, match="n_jobs"):
            model(n_jobs=wrong).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.2, 0.6])
def test_control_c_is_answered_soon(after, seconds_to_stop):
    random = np.random.default_rng(0)
    wide, long = random.normal(size=(4000, 1500)), random.normal(size=(400_000, 60))
    y, z = np.arange(4000) % 3, (long[:, 0] + random.normal(size=400_000) > 0).astype(int)
    works = [
        lambda: bt.LinearDiscriminantAnalysis().fit(wide, y),
        lambda: bt.QuadraticDiscriminantAnalysis().fit(wide, y),
        lambda: bt.LogisticRegression(penalty="l1").fit(wide, y),
        lambda: bt.LogisticRegressionCV().fit(long, z),
        lambda: bt.MARSClassifier(max_degree=2).fit(long, z),
        lambda: bt.MARSRegressor(max_degree=2).fit(long, long[:, 0] * long[:, 1]),
        lambda: bt.LinearRegressionCV(penalty="l1").fit(long, long[:, 0]),
    ]
    late = [seconds_to_stop(work, after) for work in works]
    assert max(each for each in late if each is not None) < 10  # long before the end; the figure is that of E6
