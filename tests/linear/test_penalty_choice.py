"""Cross-validation of the penalty, paths, tables of coefficients, files and pictures of linear models."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, PredefinedSplit
from test_logistic import raw_table, rows

import baytree as bt
from baytree.linear.regularization_path import choose

matplotlib.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def test_the_chosen_strength_is_refitted_on_all_rows():
    X, y = rows(1)
    chosen = bt.LogisticRegressionCV(Cs=[0.01, 0.1, 1.0], cv=3).fit(X, y)
    assert np.isclose(chosen.C_, [0.01, 0.1, 1.0]).any()
    plain = bt.LogisticRegression(C=chosen.C_).fit(X, y)
    np.testing.assert_allclose(chosen.predict_proba(X), plain.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_held_out_losses_are_those_of_models_that_never_saw_the_fold(penalty):
    X, y = rows(2)
    splits = list(KFold(3).split(X))
    model = bt.LogisticRegressionCV(penalty=penalty, Cs=[0.1, 1.0], cv=splits).fit(X, y)
    for f, (train, test) in enumerate(splits):
        for i, lambda_ in enumerate(model.curve_.lambdas):
            plain = bt.LogisticRegression(penalty=penalty, lambda_=lambda_).fit(X[train], y[train])
            loss = -np.log(plain.predict_proba(X[test])[np.arange(len(test)), y[test]]).mean()
            assert model.curve_.fold_loss[f, i] == pytest.approx(loss, rel=1e-4)


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_weak_penalty_on_separable_rows_does_not_let_a_model_remember_its_fold(penalty, classes):
    X, y = rows(2, n=60, p=20, classes=classes)
    splits = list(KFold(3).split(X))
    model = bt.LogisticRegressionCV(penalty=penalty, Cs=[1e4], cv=splits).fit(X, y)
    for f, (train, test) in enumerate(splits):
        plain = bt.LogisticRegression(penalty=penalty, lambda_=model.curve_.lambdas[0]).fit(X[train], y[train])
        loss = -np.log(plain.predict_proba(X[test])[np.arange(len(test)), y[test]]).mean()
        assert model.curve_.fold_loss[f, 0] == pytest.approx(loss, rel=0.05)


def test_one_standard_error_takes_the_strongest_penalty_not_the_weakest():
    lambdas = np.array([1.0, 0.1, 0.01, 0.001])
    loss = np.array([[0.90, 0.52, 0.50, 0.51], [0.95, 0.56, 0.54, 0.57], [0.85, 0.48, 0.46, 0.45]])
    curve = choose(lambdas, loss, np.ones(3))
    assert (curve.best, curve.one_se) == (2, 1)


def test_folds_depend_on_the_rows_alone():
    X, y = rows(3)
    order = np.random.default_rng(0).permutation(len(X))
    one = bt.LogisticRegressionCV(cv=4).fit(X, y)
    other = bt.LogisticRegressionCV(cv=4).fit(X[order], y[order])
    np.testing.assert_allclose(one.curve_.fold_loss, other.curve_.fold_loss, atol=1e-5)


def test_equal_rows_are_spread_over_the_folds_as_chance_would_have_them():
    frame = bt.datasets.load("titanic")
    chosen = bt.LogisticRegressionCV().fit(frame, "survived")
    assert chosen.curve_.mean[-1] < chosen.curve_.mean[0] - 0.05
    plain = bt.LogisticRegression(penalty=None).fit(frame, "survived")
    np.testing.assert_allclose(chosen.coef_, plain.coef_, atol=0.1)


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_a_weighted_row_is_folded_like_its_copies(penalty):
    X, y = rows(10, n=60)
    weight = np.random.default_rng(10).integers(1, 4, len(X))
    one = bt.LogisticRegressionCV(penalty=penalty, cv=3, Cs=4).fit(X, y, sample_weight=weight)
    other = bt.LogisticRegressionCV(penalty=penalty, cv=3, Cs=4).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(one.curve_.fold_loss, other.curve_.fold_loss, atol=1e-6)
    assert one.C_ == other.C_


def test_a_lasso_path_starts_empty_and_ends_at_the_fit():
    X, y = rows(4)
    model = bt.LogisticRegression(penalty="l1", C=0.5, path=12).fit(X, y)
    path = model.path_
    assert path.n_kept[0] == 0
    assert (np.diff(path.lambdas) < 0).all()
    np.testing.assert_allclose(path.coef[-1], model.coef_, atol=1e-6)


def test_penalised_coefficients_claim_no_certainty():
    frame, y = raw_table(5)
    assert all(line.p is None for line in bt.LogisticRegression().fit(frame, y).coefficients())
    lines = bt.LogisticRegression(penalty=None).fit(frame, y).coefficients()
    assert all(0 <= line.p <= 1 and line.interval[0] < line.estimate < line.interval[1] for line in lines)
    assert isinstance(lines.to_frame(), pd.DataFrame)


ESTIMATORS = [
    bt.LinearDiscriminantAnalysis(),
    bt.QuadraticDiscriminantAnalysis(),
    bt.LogisticRegression(),
    bt.LogisticRegression(penalty=None),
    bt.LogisticRegression(penalty="l1", C=0.1),
    bt.LogisticRegressionCV(cv=3, Cs=3),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_a_loaded_model_answers_bit_for_bit(estimator, tmp_path):
    frame, y = raw_table(6)
    estimator.fit(frame, y)
    bt.save(estimator, tmp_path / "m.baytree")
    again = bt.load(tmp_path / "m.baytree")
    assert (again.predict_proba(frame) == estimator.predict_proba(frame)).all()
    assert str(again) == str(estimator)


def test_a_loaded_discriminant_goes_on_learning(tmp_path):
    frame, y = raw_table(7)
    bt.save(bt.LinearDiscriminantAnalysis().fit(frame[:90], y[:90]), tmp_path / "m.baytree")
    more = bt.load(tmp_path / "m.baytree").partial_fit(frame[90:], y[90:])
    whole = bt.LinearDiscriminantAnalysis().fit(frame, y)
    np.testing.assert_allclose(more.predict_proba(frame), whole.predict_proba(frame), atol=1e-9)


def test_pictures_are_drawn():
    X, y = rows(8)
    chosen = bt.LogisticRegressionCV(penalty="l1", cv=3, Cs=4).fit(X, y)
    assert chosen.plot_curve().get_ylabel() == "held-out loss"
    assert len(chosen.plot_path().lines) == 3 * X.shape[1]
    assert bt.LinearDiscriminantAnalysis().fit(X, y).plot(X, y).get_xlabel() == "discriminant axis 1"


def test_the_loss_of_gradient_descent_is_drawn_step_by_step():
    X, y = rows(8)
    taught = bt.LogisticRegression(solver="gradient_descent", max_iter=50, tol=1e-3).fit(X, y)
    line = taught.plot_loss().lines[0].get_ydata()
    assert len(line) == taught.n_iter_[0] + 1
    assert len(bt.LogisticRegression(multi_class="ovr").fit(X, y).plot_loss().lines) == 3


def regions(model, resolution=60):
    X, y = rows(11, n=300, p=2)
    grid = np.stack(np.meshgrid(*[np.linspace(-4, 4, resolution)] * 2), axis=-1).reshape(-1, 2)
    return model.fit(X, y).predict(grid).reshape(resolution, resolution)


@pytest.mark.parametrize("model", [bt.LinearDiscriminantAnalysis(), bt.LogisticRegression()])
def test_regions_of_linear_models_are_convex(model):
    said = regions(model)
    for line in [*said, *said.T, *(said.diagonal(d) for d in range(-50, 51))]:
        changes = np.flatnonzero(np.diff(line))
        assert len(changes) <= len(np.unique(line)) - 1  # no class is left and met again along a straight line


def test_a_region_of_a_quadratic_model_can_surround_another():
    random = np.random.default_rng(0)
    y = np.arange(400) % 2
    X = random.normal(size=(400, 2)) * np.where(y == 1, 3.0, 0.5)[:, None]
    across = bt.QuadraticDiscriminantAnalysis().fit(X, y).predict(np.column_stack([np.linspace(-9, 9, 61), np.zeros(61)]))
    assert across[[0, 30, 60]].tolist() == [1, 0, 1]
    assert len(np.flatnonzero(np.diff(across))) == 2


def test_models_are_compared_by_what_they_assume():
    found = bt.compare_assumptions(bt.datasets.load("iris"), "species", cv=3)
    assert {row.model: row.parameters for row in found.rows} == {
        "NaiveBayesClassifier": 26,
        "LinearDiscriminantAnalysis": 24,
        "QuadraticDiscriminantAnalysis": 44,
        "LogisticRegression": 10,
    }
    assert "generative" in str(found)


def test_the_same_rows_give_the_same_bits():
    X, y = rows(9, n=30_000)
    for kind in (bt.LinearDiscriminantAnalysis, bt.LogisticRegression):
        answers = {kind().fit(X, y).predict_proba(X[:100]).tobytes() for _ in range(3)}
        assert len(answers) == 1


def test_folds_can_be_given_in_every_way():
    X, y = rows(8)
    fold = np.arange(len(y)) % 3
    pairs = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]
    masks = [(fold != f, fold == f) for f in range(3)]
    ways = (fold, pairs, masks, PredefinedSplit(fold))
    losses = [bt.LogisticRegressionCV(Cs=3, cv=cv).fit(X, y).curve_.fold_loss for cv in ways]
    assert all(np.array_equal(loss, losses[0]) for loss in losses)


def test_given_folds_are_those_of_the_rows_that_count():
    X, y = rows(9)
    frame = pd.DataFrame(X).add_prefix("x").assign(y=pd.Series(y, dtype=object))
    frame.loc[[0, 7, 8], "y"] = None
    fold, weight = np.arange(len(y)) % 3, np.ones(len(y))
    weight[[3, 5]] = 0
    with pytest.warns(UserWarning, match="3 rows have no value"):
        model = bt.LogisticRegressionCV(Cs=3, cv=fold).fit(frame, "y", sample_weight=weight)
    kept = (weight > 0) & frame.y.notna().to_numpy()
    other = bt.LogisticRegressionCV(Cs=3, cv=fold[kept]).fit(frame[kept], "y")
    assert np.array_equal(model.curve_.fold_loss, other.curve_.fold_loss)


def test_cross_validation_takes_a_splitter_but_no_folds_of_other_rows():
    X, y = rows(10)
    assert len(bt.cross_validate(bt.LogisticRegressionCV(Cs=2, cv=KFold(3)), X, y, cv=2).trials) == 2
    with pytest.raises(ValueError, match="names rows of another table"):
        bt.cross_validate(bt.LogisticRegressionCV(Cs=2, cv=np.arange(len(y)) % 3), X, y, cv=2)
