"""Laws of discriminant analysis: one statistic, however the rows come."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import datasets

import baytree as bt
from law_settings import settings

KINDS = [bt.LinearDiscriminantAnalysis, bt.QuadraticDiscriminantAnalysis]
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
few = settings(max_examples=15, deadline=None)


def rows(seed, n=80, p=4, classes=3):
    random = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = random.normal(size=(n, p)) @ random.normal(size=(p, p)) + random.normal(size=(classes, p))[y]
    return X, y


def raw_table(seed, n=120):
    """Numbers, levels, ranks and gaps."""
    random = np.random.default_rng(seed)
    y = random.choice(["a", "b", "c"], n)
    frame = pd.DataFrame(
        {
            "size": random.normal(size=n) + (y == "a"),
            "colour": random.choice(["red", "green", "blue"], n),
            "grade": pd.Categorical(random.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
            "age": random.normal(size=n) * 10 + 40,
        }
    )
    frame.loc[random.random(n) < 0.15, "age"] = np.nan
    frame.loc[random.random(n) < 0.15, "colour"] = None
    return frame, y


@pytest.mark.parametrize("kind", KINDS)
@few
@given(seed=st.integers(0, 10_000), cut=st.integers(20, 60))
def test_learning_in_parts_equals_learning_at_once(kind, seed, cut):
    X, y = rows(seed)
    whole = kind().fit(X, y).predict_proba(X)
    parts = kind().partial_fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:])
    merged = kind().fit(X[:cut], y[:cut]).merge(kind().fit(X[cut:], y[cut:]))
    np.testing.assert_allclose(parts.predict_proba(X), whole, atol=1e-9)
    np.testing.assert_allclose(merged.predict_proba(X), whole, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@few
@given(seed=st.integers(0, 10_000), cut=st.integers(30, 70))
def test_forgetting_rows_equals_never_having_seen_them(kind, seed, cut):
    X, y = rows(seed)
    kept = kind().fit(X[:cut], y[:cut])
    forgot = kind().fit(X, y).forget(X[cut:], y[cut:])
    np.testing.assert_allclose(forgot.predict_proba(X), kept.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strangers", [np.full((3, 1), 99.0), np.full((200, 1), 0.0)], ids=["far away", "too many"])
def test_rows_that_were_never_learnt_are_not_forgotten(kind, strangers):
    X, y = rows(0)
    model = kind().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="only learnt rows can be forgotten"):
        model.forget(strangers + np.zeros(X.shape[1]), y[np.zeros(len(strangers), int)])
    assert (model.predict_proba(X) == before).all()


@pytest.mark.parametrize("kind", KINDS)
@few
@given(seed=st.integers(0, 10_000))
def test_raw_tables_merge_though_levels_and_gaps_come_late(kind, seed):
    frame, y = raw_table(seed)
    frame.loc[:59, "colour"] = frame.loc[:59, "colour"].replace("red", "blue")
    frame.loc[:59, "age"] = frame.loc[:59, "age"].fillna(41.0)
    whole = kind().fit(frame, y)
    parts = kind().partial_fit(frame[:60], y[:60]).partial_fit(frame[60:], y[60:])
    np.testing.assert_allclose(parts.predict_proba(frame), whole.predict_proba(frame), atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@few
@given(seed=st.integers(0, 10_000))
def test_weight_two_is_a_row_twice_and_weight_zero_is_none(kind, seed):
    X, y = rows(seed)
    weight = np.random.default_rng(seed).integers(0, 4, len(X))
    weight[:12] = 2
    repeated = kind().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).predict_proba(X)
    np.testing.assert_allclose(kind().fit(X, y, sample_weight=weight).predict_proba(X), repeated, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@few
@given(seed=st.integers(0, 10_000))
def test_order_of_rows_and_columns_does_not_matter(kind, seed):
    X, y = rows(seed)
    random = np.random.default_rng(seed)
    order, columns = random.permutation(len(X)), random.permutation(X.shape[1])
    mine = kind().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(kind().fit(X[order], y[order]).predict_proba(X), mine, atol=1e-9)
    np.testing.assert_allclose(kind().fit(X[:, columns], y).predict_proba(X[:, columns]), mine, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1e-200, 1e-12, 1e12, 1e150])
def test_scale_does_not_matter(kind, scale):
    X, y = rows(1)
    mine = kind().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(kind().fit(X * scale, y).predict_proba(X * scale), mine, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_an_offset_of_a_billion_costs_only_the_digits_of_the_values_themselves(kind):
    X, y = rows(2)
    shifted = X + 1e9
    exact = shifted - 1e9  # what the doubles at 1e9 still tell
    mine = kind().fit(shifted, y).predict_proba(shifted)
    np.testing.assert_allclose(mine, kind().fit(exact, y).predict_proba(exact), atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("covariance", ["unbiased", "mle"])
def test_leave_one_out_equals_refitting_without_each_row(kind, covariance):
    X, y = rows(3, n=60)
    quick = kind(covariance=covariance).leave_one_out(X, y)
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        slow = kind(covariance=covariance).fit(X[others], y[others]).predict_proba(X[i : i + 1])
        np.testing.assert_allclose(quick[i : i + 1], slow, atol=1e-9)


def animals(seed, n=60):
    """One mark is the same within each class, two are so only together, one row alone has a level, a class has few rows."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 3
    y[y == 2] = np.where(np.arange(n)[y == 2] < 9, 2, random.integers(0, 2, (y == 2).sum()))
    legs = random.integers(0, 2, n)
    frame = pd.DataFrame({"milk": np.where(y == 0, "yes", "no"), "legs": legs, "arms": 4 - legs - (y == 1)})
    frame["skin"] = np.where(np.arange(n) == 7, "scales", random.choice(["fur", "hair"], n))
    return frame.assign(size=random.normal(size=n) + y), np.array(["cow", "fish", "bird"])[y]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_leave_one_out_is_exact_where_one_row_carries_a_column_and_where_columns_do_not_vary_within_classes(kind, seed):
    frame, y = animals(seed)
    quick = kind().leave_one_out(frame, y)
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        model = kind().fit(frame[others], y[others])
        np.testing.assert_allclose(quick[i : i + 1], model.predict_proba(frame[i : i + 1]), atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_columns_that_do_not_vary_within_classes_are_learnt_in_parts_and_forgotten_too(kind, seed):
    frame, y = animals(seed)
    whole = kind().fit(frame, y).predict_proba(frame)
    parts = kind().partial_fit(frame[:25], y[:25], classes=["bird", "cow", "fish"]).partial_fit(frame[25:], y[25:])
    np.testing.assert_allclose(parts.predict_proba(frame), whole, atol=1e-9)
    more, labels = animals(seed + 10)
    both = kind().fit(pd.concat([frame, more], ignore_index=True), np.append(y, labels)).forget(more, labels)
    np.testing.assert_allclose(both.predict_proba(frame), whole, atol=1e-8)


def test_columns_that_do_not_vary_within_classes_decide_but_do_not_silence_the_others():
    frame, y = animals(1, n=200)
    with pytest.warns(UserWarning, match=r"'milk'.*constant within each class.* set to 1/200"):
        model = bt.LinearDiscriminantAnalysis().fit(frame, y)
    assert model.score(frame, y) > 0.98
    odd = frame[y == "fish"].assign(milk="yes")  # so no fish was ever seen
    assert len(np.unique(model.predict_proba(odd).round(12), axis=0)) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_constant_column_changes_nothing_even_for_a_class_that_borrows(kind):
    frame, y = animals(2)
    wider = frame.assign(same=7.25)
    for shrinkage in (None, 0.2, "oas", "ledoit_wolf"):
        plain = kind(shrinkage=shrinkage).fit(frame, y).predict_proba(frame)
        np.testing.assert_allclose(kind(shrinkage=shrinkage).fit(wider, y).predict_proba(wider), plain, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_collinear_and_constant_columns_are_named_and_never_break_the_fit(kind):
    X, y = rows(4)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(twin=X[:, 0] * 2 + X[:, 1], same=7.0)
    with pytest.warns(UserWarning, match=r"'same'.*constant"):
        model = kind().fit(frame, y)
    assert np.isfinite(model.predict_proba(frame)).all()


def test_collinear_columns_do_not_change_the_linear_rule():
    X, y = rows(5)
    twin = np.column_stack([X, X[:, 0] * 2 + X[:, 1]])
    with pytest.warns(UserWarning, match="collinear"):
        mine = bt.LinearDiscriminantAnalysis().fit(twin, y).predict_proba(twin)
    np.testing.assert_allclose(mine, bt.LinearDiscriminantAnalysis().fit(X, y).predict_proba(X), atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_more_columns_than_rows_still_give_probabilities(kind):
    X, y = rows(6, n=12, p=30)
    answer = kind().fit(X, y).predict_proba(X)
    assert np.isfinite(answer).all()
    np.testing.assert_allclose(answer.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_any_finite_value_gets_probabilities(kind):
    X, y = rows(7)
    model = kind().fit(X, y)
    far = np.array([[1.7e308, -1.7e308, 1e300, 0.0], [1e-308, 1e200, -1e200, 1e9]])
    answer = model.predict_proba(far)
    assert np.isfinite(answer).all()
    np.testing.assert_allclose(answer.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_ledger_adds_up_to_the_scores_per_original_column(kind):
    frame, y = raw_table(8)
    model = kind().fit(frame, y)
    for i, ledger in enumerate(model.explain(frame[:20])):
        assert [line.column for line in ledger.evidence] == list(frame.columns)
        shares = np.exp(ledger.scores - ledger.scores.max())
        np.testing.assert_allclose(shares / shares.sum(), model.predict_proba(frame[i : i + 1])[0], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shrinkage", [0.3, "oas", "ledoit_wolf"])
def test_shrinkage_makes_wide_tables_learnable(kind, shrinkage):
    X, y = rows(9, n=30, p=40)
    assert kind(shrinkage=shrinkage).fit(X, y).score(X, y) > 0.8


def test_ledoit_wolf_on_standardised_rows_is_that_of_scikit_learn():
    from sklearn.covariance import ledoit_wolf_shrinkage

    X, y = rows(10, classes=1)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    model = bt.LinearDiscriminantAnalysis(shrinkage="ledoit_wolf").fit(X, y)
    theirs = ledoit_wolf_shrinkage(X)
    mine = 1 - model.model_.correlation[0, 1] / np.corrcoef(X.T)[0, 1]
    assert mine == pytest.approx(theirs, abs=1e-9)


def test_ledoit_wolf_refuses_to_learn_in_parts():
    X, y = rows(11)
    with pytest.raises(ValueError, match="cannot be trained in batches"):
        bt.LinearDiscriminantAnalysis(shrinkage="ledoit_wolf").partial_fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_cross_validation_with_ledoit_wolf_is_refitting(kind):
    X, y = rows(13)
    model = kind(shrinkage="ledoit_wolf")
    for trial in bt.cross_validate(model, X, y, cv=3).trials:
        rest = np.setdiff1d(np.arange(len(y)), trial.rows)
        expected = kind(shrinkage="ledoit_wolf").fit(X[rest], y[rest]).predict_proba(X[trial.rows])
        assert np.array_equal(trial.probability, expected)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_selected_with_ledoit_wolf(kind):
    X, y = rows(14)
    assert bt.ForwardSelection(kind(shrinkage="ledoit_wolf"), k=1, cv=3).fit(X, y).get_support().sum() == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("scale", "amount"), [(1e250, 0.0), (1e-250, 1.0)])
def test_ledoit_wolf_shrinks_the_more_the_fewer_rows_there_are(kind, scale, amount):
    X, y = rows(15)
    weight = np.random.default_rng(0).integers(1, 4, len(y)) * scale
    model = kind("mle", "ledoit_wolf").fit(X, y, sample_weight=weight)
    other = kind("mle", amount).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("load", [datasets.load_iris, datasets.load_wine])
def test_diagonal_qda_is_gaussian_naive_bayes(load):
    X, y = load(return_X_y=True)
    diagonal = bt.QuadraticDiscriminantAnalysis(diagonal=True, covariance="mle").fit(X, y)
    naive = bt.NaiveBayesClassifier(estimate="mle").fit(X, y)
    assert np.allclose(diagonal.predict_proba(X), naive.predict_proba(X), rtol=0, atol=1e-12)
    assert np.allclose(diagonal.means_, naive.theta_)
    assert np.allclose([np.diag(each) for each in diagonal.covariances_], naive.var_)
    assert np.allclose(diagonal.priors_, naive.class_prior_)
    for refused in (lambda: diagonal.leave_one_out(X, y), lambda: diagonal.predict_interval(X)):
        with pytest.raises(ValueError, match="use NaiveBayesClassifier, which is the same model"):
            refused()
    with pytest.raises(ValueError, match="diagonal='yes': give True or False"):
        bt.QuadraticDiscriminantAnalysis(diagonal="yes").fit(X, y)


def test_fitted_parameters_are_in_the_units_of_the_columns():
    X, y = datasets.load_wine(return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(row=np.arange(len(X)) + 1, y=y)
    quadratic = bt.QuadraticDiscriminantAnalysis().fit(frame, "y")
    linear = bt.LinearDiscriminantAnalysis(covariance="mle", priors=[0.2, 0.3, 0.5]).fit(frame, "y")
    means = [X[y == k].mean(axis=0) for k in range(3)]
    assert np.allclose(quadratic.means_[:, :-1], means)
    assert np.allclose(linear.means_[:, :-1], means)
    assert np.isnan(linear.means_[:, -1]).all()  # the column that numbers the rows
    assert np.allclose(quadratic.covariances_[:, :-1, :-1], [np.cov(X[y == k].T) for k in range(3)])
    pooled = sum(np.cov(X[y == k].T, bias=True) * (y == k).mean() for k in range(3))
    assert np.allclose(linear.covariance_[:-1, :-1], pooled)
    assert linear.priors_.tolist() == [0.2, 0.3, 0.5]


@pytest.mark.parametrize("kind", KINDS)
def test_samples_look_like_the_rows(kind):
    frame, y = raw_table(12, n=600)
    drawn = kind().fit(frame, y).sample(4000, random_state=0)
    assert set(drawn.columns) == {*frame.columns, "y"}
    assert abs(drawn["size"].mean() - frame["size"].mean()) < 0.15
    assert set(drawn["grade"].dropna()) <= {"S", "M", "L"}


def test_text_is_refused_with_a_remedy():
    with pytest.raises(ValueError, match=r"'note' is text.*LogisticRegression"):
        bt.LinearDiscriminantAnalysis(schema={"note": "text"}).fit({"note": ["a b", "b c", "c d"]}, ["x", "y", "x"])


@pytest.mark.parametrize(
    "wrong", [{"priors": {"nobody": 1.0}}, {"priors": [1.0]}, {"shrinkage": 2}, {"covariance": "robust"}]
)
def test_wrong_parameters_are_refused_by_name(wrong):
    X, y = rows(13)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        bt.LinearDiscriminantAnalysis(**wrong).fit(X, y)
