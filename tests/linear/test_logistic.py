"""Laws of logistic regression: the optimum is one, whoever finds it and however the rows come."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs

import baytree as bt
from baytree.linear.elastic_net import solve
from law_settings import settings

few = settings(max_examples=10, deadline=None)
PENALTIES = [{"penalty": "l2"}, {"penalty": "l1", "C": 0.3}, {"penalty": "elasticnet", "l1_ratio": 0.5, "C": 0.3}]


def rows(seed, n=150, p=4, classes=3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p)) @ (np.eye(p) + 0.3 * random.normal(size=(p, p)))
    score = X @ random.normal(size=(p, classes)) + random.gumbel(size=(n, classes)) * 1.5
    y = score.argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X, y


def raw_table(seed, n=150):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": random.normal(size=n),
            "colour": random.choice(["red", "green", "blue"], n),
            "grade": pd.Categorical(random.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
        }
    )
    y = np.where(frame["size"] + (frame["colour"] == "red") + random.normal(size=n) > 0.4, "yes", "no")
    frame.loc[random.random(n) < 0.15, "size"] = np.nan
    frame.loc[random.random(n) < 0.15, "colour"] = None
    return frame, y


@pytest.mark.parametrize("classes", [2, 3])
@few
@given(seed=st.integers(0, 10_000), C=st.sampled_from([0.01, 1.0, 100.0]))
def test_without_standardisation_the_numbers_are_those_of_scikit_learn(classes, seed, C):
    X, y = rows(seed, classes=classes)
    mine = bt.LogisticRegression(C=C, standardize=False).fit(X, y)
    theirs = Theirs(C=C, tol=1e-10, max_iter=5000, solver="newton-cholesky").fit(X, y)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    if classes == 2:
        np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("parameters", PENALTIES)
@few
@given(seed=st.integers(0, 10_000))
def test_weight_two_is_a_row_twice(parameters, seed):
    X, y = rows(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(X))
    weight[:3] = 1
    mine = bt.LogisticRegression(**parameters).fit(X, y, sample_weight=weight).predict_proba(X)
    twice = bt.LogisticRegression(**parameters).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).predict_proba(X)
    np.testing.assert_allclose(mine, twice, atol=1e-8)


@pytest.mark.parametrize("parameters", PENALTIES)
@few
@given(seed=st.integers(0, 10_000))
def test_order_scale_and_shift_do_not_matter(parameters, seed):
    X, y = rows(seed)
    random = np.random.default_rng(seed)
    order, columns = random.permutation(len(X)), random.permutation(X.shape[1])
    mine = bt.LogisticRegression(**parameters).fit(X, y).predict_proba(X)
    moved = X[:, columns] * [1e-12, 1e12, 3.0, 1.0] + [0.0, 0.0, 5000.0, -2.0]
    theirs = bt.LogisticRegression(**parameters).fit(moved[order], y[order]).predict_proba(moved)
    np.testing.assert_allclose(theirs, mine, atol=1e-8)


@pytest.mark.parametrize("parameters", PENALTIES)
def test_an_offset_of_a_billion_costs_only_the_digits_of_the_values_themselves(parameters):
    X, y = rows(1)
    shifted = X + 1e9
    exact = shifted - 1e9
    mine = bt.LogisticRegression(**parameters).fit(shifted, y).predict_proba(shifted)
    np.testing.assert_allclose(mine, bt.LogisticRegression(**parameters).fit(exact, y).predict_proba(exact), atol=1e-7)


@pytest.mark.parametrize("classes", [2, 3])
def test_every_solver_reaches_the_same_optimum(classes):
    X, y = rows(2, classes=classes)
    newton = bt.LogisticRegression(C=0.1).fit(X, y)
    for solver, more in (("lbfgs", {}), ("cd", {}), ("gradient_descent", {"max_iter": 20_000})):
        other = bt.LogisticRegression(C=0.1, solver=solver, **more).fit(X, y)
        np.testing.assert_allclose(other.predict_proba(X), newton.predict_proba(X), atol=1e-6, err_msg=solver)


def test_gradient_descent_keeps_a_falling_loss_curve_and_a_large_rate_does_not_converge():
    X, y = rows(3)
    model = bt.LogisticRegression(solver="gradient_descent", max_iter=20_000).fit(X, y)
    assert (np.diff(model.loss_curve_) <= 1e-15).all()
    for rate in (200.0, 1e4, 1e200):
        with pytest.warns(
            ConvergenceWarning, match="gradient descent diverges: .* smaller learning_rate than .*, or None"
        ) as told:
            bt.LogisticRegression(solver="gradient_descent", learning_rate=rate, max_iter=50).fit(X, y)
        assert len(told) == 1
        assert "max_iter" not in str(told[0].message)
    with pytest.warns(ConvergenceWarning, match="gradient norm .* raise max_iter"):
        bt.LogisticRegression(solver="gradient_descent", learning_rate=0.01, max_iter=50).fit(X, y)


def test_too_few_steps_are_told_with_the_gradient_norm():
    X, y = rows(4)
    with pytest.warns(ConvergenceWarning, match="gradient norm"):
        bt.LogisticRegression(max_iter=1).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("parameters", PENALTIES)
def test_sparse_rows_give_the_answer_of_dense_ones(parameters):
    random = np.random.default_rng(5)
    X = scipy.sparse.random(21_000, 100, density=0.05, random_state=5, format="csr")
    y = (X @ random.normal(size=(100, 3)) + random.gumbel(size=(21_000, 3)) * 0.3).argmax(axis=1)
    mine = bt.LogisticRegression(standardize=False, **parameters).fit(X, y)
    assert len(mine.model_.design) == 100
    dense = X.toarray()
    some = bt.LogisticRegression(standardize=False, **parameters).fit(dense, y)
    np.testing.assert_allclose(mine.predict_proba(X), some.predict_proba(dense), atol=1e-5)
    np.testing.assert_allclose(mine.predict_proba(X), mine.predict_proba(dense), atol=1e-12)


def test_text_columns_are_words_and_one_line_of_the_ledger():
    frame = pd.DataFrame({"note": ["good fun", "bad dull", "good good", "dull bad bad"] * 10, "size": np.arange(40.0) % 7})
    y = ["up", "down"] * 20
    model = bt.LogisticRegression(schema={"note": "text"}).fit(frame, y)
    assert model.predict(frame).tolist() == y
    ledger = model.explain(frame[:1])[0]
    assert [line.column for line in ledger.evidence] == ["note", "size"]


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
@pytest.mark.parametrize("missing", ["mean+indicator", "mean"])
def test_the_ledger_adds_up_to_the_scores_per_original_column(multi_class, missing):
    frame, y = raw_table(6)
    y = np.where(frame["grade"] == "L", "big", y)
    model = bt.LogisticRegression(multi_class=multi_class, missing=missing).fit(frame, y)
    scores = model.decision_function(frame[:20])
    for ledger, score in zip(model.explain(frame[:20]), scores, strict=True):
        assert [line.column for line in ledger.evidence] == list(frame.columns)
        np.testing.assert_allclose(ledger.scores, score, atol=1e-12)


def test_gaps_can_be_refused_by_the_name_of_their_column():
    frame, y = raw_table(7)
    with pytest.raises(ValueError, match="'size' has missing values"):
        bt.LogisticRegression(missing="error").fit(frame, y)


def test_the_reference_level_is_stated():
    frame, y = raw_table(8)
    model = bt.LogisticRegression(ordinal="dummies").fit(frame, y)
    assert dict(model.coefficients().references) == {"colour": "blue", "grade": "S"}
    assert "reference levels: colour=blue" in str(model)


@pytest.mark.parametrize("classes", [3, 4])
def test_equal_solutions_are_told_by_their_symmetric_one(classes):
    X, y = rows(9, classes=classes)
    ridge = bt.LogisticRegression().fit(X, y).model_.linear
    assert np.abs(ridge.weight.sum(axis=0)).max() < 1e-9
    lasso = bt.LogisticRegression(penalty="l1", C=0.2).fit(X, y).model_.linear
    assert np.abs(np.median(lasso.weight, axis=0)).max() < 1e-9
    assert abs(lasso.intercept.sum()) < 1e-9


@pytest.mark.parametrize("size", [1e4, 1e150, 1.7e308])
@pytest.mark.parametrize("parameters", [*PENALTIES, {"multi_class": "ovr"}])
def test_any_finite_value_gets_probabilities(size, parameters):
    X, y = rows(10)
    model = bt.LogisticRegression(**parameters).fit(X, y)
    answer = model.predict_proba(np.array([[size, -size, 0.0, 1.0], [-size, size, size, -size]]))
    assert np.isfinite(answer).all()
    np.testing.assert_allclose(answer.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("penalty", ["l2", None])
def test_collinear_and_constant_columns_end_in_a_finite_model(penalty):
    X, y = rows(11)
    wide = np.column_stack([X, X[:, 0], X[:, 1] * 2 - X[:, 2], np.full(len(X), 7.0)])
    mine = bt.LogisticRegression(penalty=penalty).fit(wide, y)
    assert np.isfinite(mine.coef_).all()
    if penalty is None:
        plain = bt.LogisticRegression(penalty=None).fit(X, y).predict_proba(X)
        np.testing.assert_allclose(mine.predict_proba(wide), plain, atol=1e-6)


def test_infinite_values_are_refused_by_column_and_row():
    X, y = rows(12)
    for bad in (np.inf, -np.inf):
        broken = X.copy()
        broken[5, 2] = bad
        with pytest.raises(ValueError, match=r"'x2', row 5.*infinity"):
            bt.LogisticRegression().fit(broken, y)
        with pytest.raises(ValueError, match=r"'x2', row 5.*infinity"):
            bt.LogisticRegression().fit(X, y).predict(broken)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_columns_at_the_edges_of_the_doubles_count_like_others(scale):
    X, y = rows(16)
    mine = bt.LogisticRegression().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(bt.LogisticRegression().fit(X * scale, y).predict_proba(X * scale), mine, atol=1e-8)


def test_class_weights_act_like_weights_of_their_rows():
    X, y = rows(13)
    mine = bt.LogisticRegression(class_weight={0: 2.0, 2: 0.5}).fit(X, y).predict_proba(X)
    weight = np.array([2.0, 1.0, 0.5])[y]
    np.testing.assert_allclose(mine, bt.LogisticRegression().fit(X, y, sample_weight=weight).predict_proba(X), atol=1e-9)


def test_a_warm_start_needs_fewer_steps():
    X, y = rows(14)
    model = bt.LogisticRegression(warm_start=True).fit(X, y)
    first = model.n_iter_[0]
    assert model.fit(X, y).n_iter_[0] < first


def test_inverting_a_matrix_scales_rows_not_columns():
    matrix = np.array([[4.0, 1.0, 0.0], [1.0, 900.0, 3.0], [0.0, 3.0, 0.25]])
    np.testing.assert_allclose(solve(matrix, np.eye(3)) @ matrix, np.eye(3), atol=1e-12)


@pytest.mark.parametrize(
    "wrong",
    [{"penalty": "l3"}, {"C": 0.0}, {"C": "1"}, {"lambda_": -1.0}, {"penalty": "elasticnet", "l1_ratio": None},
     {"solver": "saga"}, {"max_iter": 0}, {"class_weight": "even"}, {"missing": "drop"}, {"tol": -1.0}],
)  # fmt: skip
def test_wrong_parameters_are_refused_by_name(wrong):
    X, y = rows(15)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        bt.LogisticRegression(**wrong).fit(X, y)
