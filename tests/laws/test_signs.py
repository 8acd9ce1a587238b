"""Laws of logistic regression that follows columns: the optimum under signs, judged by its own conditions and by scipy."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from law_settings import settings

WAYS = {"a": "up", "b": "down", "c": "up", "d": "down"}
SIGN = np.array([1, -1, 1, -1, 0])
PENALTIES = [("l2", None), ("l1", None), ("elasticnet", 0.4), (None, None)]
SEEDS = st.integers(0, 100_000)


def drawn(seed: int, n: int = 90) -> pd.DataFrame:
    """Five columns that go along with each other, some against the wish."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 5)) @ (np.eye(5) + 0.5 * random.normal(size=(5, 5)))
    score = x @ random.normal(size=5) + random.logistic(size=n) * 2
    return pd.DataFrame(x, columns=list("abcde")).assign(y=np.where(score > np.median(score), "yes", "no"))


def slopes(model, frame: pd.DataFrame, lambda_: float, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients in standard units and the derivative of the smooth part of the objective. [5], [5]"""
    x = frame[list("abcde")].to_numpy()
    unit = x.std(axis=0)
    b = model.coef_[0] * unit
    residual = model.predict_proba(frame)[:, 1] - (frame.y == "yes")
    return b, residual.to_numpy() @ ((x - x.mean(axis=0)) / unit) / len(x) + lambda_ * (1 - share) * b


@pytest.mark.parametrize(("penalty", "ratio"), PENALTIES)
@settings(max_examples=12, deadline=None)
@given(seed=SEEDS, lambda_=st.sampled_from([0.1, 0.01, 0.001]))
def test_no_coefficient_could_be_better_without_crossing_its_bound(penalty, ratio, seed, lambda_):
    frame = drawn(seed)
    model = bt.LogisticRegression(penalty=penalty, l1_ratio=ratio, lambda_=lambda_, monotone=WAYS).fit(frame, "y")
    lambda_, share = (lambda_ if penalty else 0.0), {"l1": 1.0, "elasticnet": 0.4}.get(penalty, 0.0)
    b, slope = slopes(model, frame, lambda_, share)
    assert (SIGN * b >= 0).all()
    away = np.abs(slope + lambda_ * share * np.sign(b))
    inwards = np.where(SIGN, -SIGN * slope, np.abs(slope)) - lambda_ * share
    assert np.where(b != 0, away, np.maximum(inwards, 0.0)).max() < 1e-9
    bound = [row.is_bound for row in model.coefficients()][1:]
    assert bound == ((SIGN != 0) & (b == 0) & (SIGN * slope > lambda_ * share)).tolist()


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_the_objective_is_that_of_a_bounded_optimiser(seed):
    from scipy.optimize import minimize

    frame, lambda_ = drawn(seed), 0.02
    x = frame[list("abcde")].to_numpy()
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    hit = (frame.y == "yes").to_numpy()

    def objective(b: np.ndarray) -> tuple[float, np.ndarray]:
        score = x @ b[:5] + b[5]
        residual = 1 / (1 + np.exp(-score)) - hit
        slope = np.append(residual @ x / len(x) + lambda_ * b[:5], residual.mean())
        return float(np.mean(np.logaddexp(0, score) - hit * score) + lambda_ * (b[:5] ** 2).sum() / 2), slope

    bounds = [{1: (0, None), -1: (None, 0), 0: (None, None)}[s] for s in [*SIGN, 0]]
    options = {"ftol": 1e-16, "gtol": 1e-12, "maxiter": 5000}
    found = minimize(objective, np.zeros(6), jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    model = bt.LogisticRegression(lambda_=lambda_, monotone=WAYS).fit(frame, "y")
    np.testing.assert_allclose(model.coef_[0] * frame[list("abcde")].to_numpy().std(axis=0), found.x[:5], atol=2e-6)


@pytest.mark.parametrize(("penalty", "ratio"), PENALTIES)
@settings(max_examples=8, deadline=None)
@given(seed=SEEDS)
def test_what_is_followed_anyway_is_fitted_as_without_the_wish(penalty, ratio, seed):
    frame = drawn(seed)
    free = bt.LogisticRegression(penalty=penalty, l1_ratio=ratio, lambda_=0.01).fit(frame, "y")
    ways = {name: "up" if c >= 0 else "down" for name, c in zip("abcde", free.coef_[0], strict=True)}
    bound = bt.LogisticRegression(penalty=penalty, l1_ratio=ratio, lambda_=0.01, monotone=ways).fit(frame, "y")
    np.testing.assert_array_equal(free.coef_, bound.coef_)
    assert str(free) == str(bound)


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "cd", "gradient_descent"])
def test_every_solver_finds_the_same(solver):
    frame = drawn(11)
    kinds = (bt.LogisticRegression(solver=each, monotone=WAYS, max_iter=20_000) for each in ("auto", solver))
    auto, own = (model.fit(frame, "y") for model in kinds)
    np.testing.assert_allclose(auto.coef_, own.coef_, atol=1e-6)


@settings(max_examples=8, deadline=None)
@given(seed=SEEDS, cv=st.booleans())
def test_the_probability_of_the_second_class_follows_whatever_the_other_columns_hold(seed, cv):
    random, frame = np.random.default_rng(seed), drawn(seed, 150)
    ranks = pd.Categorical.from_codes(random.integers(0, 4, 150), ["S", "M", "L", "XL"], ordered=True)
    frame = frame.assign(size=ranks, level=random.choice(["p", "q", "r"], 150))
    frame["a"] = frame.a.mask(random.random(150) < 0.15)
    ways = {**WAYS, "size": "down"}
    model = bt.LogisticRegressionCV(Cs=4, cv=3, monotone=ways) if cv else bt.LogisticRegression(monotone=ways)
    model.fit(frame, "y")
    rows = frame.sample(40, random_state=seed)
    for name, way in ways.items():
        other = frame[name].sample(40, random_state=seed + 1).set_axis(rows.index)
        known = (rows[name].notna() & other.notna()).to_numpy()
        changed = model.predict_proba(rows.assign(**{name: other}))[:, 1] - model.predict_proba(rows)[:, 1]
        order = [np.asarray(v.cat.codes if name == "size" else v, float) for v in (other, rows[name])]
        step = np.sign(order[0] - order[1]) * (1 if way == "up" else -1)
        assert (changed * step >= -1e-12)[known].all(), name


def test_a_gap_has_a_coefficient_of_its_own_that_nothing_bounds():
    random = np.random.default_rng(5)
    x, gap = random.normal(size=400), random.random(400) < 0.3
    hit = random.random(400) < np.where(gap, 0.1, 1 / (1 + np.exp(-x)))
    frame = pd.DataFrame({"x": np.where(gap, np.nan, x), "y": np.where(hit, "yes", "no")})
    model = bt.LogisticRegression(monotone={"x": "up"}).fit(frame, "y")
    value, missing = model.coef_[0]
    assert value > 0
    assert missing < -1


def test_cross_validation_judges_strengths_under_the_same_signs():
    frame = drawn(7, 200)
    model = bt.LogisticRegressionCV(Cs=[0.01, 0.1, 1.0], cv=4, monotone=WAYS).fit(frame, "y")
    assert all((SIGN * path[0] >= 0).all() for path in model.path_.coef)
    one = bt.LogisticRegression(C=model.C_, monotone=WAYS).fit(frame, "y")
    np.testing.assert_allclose(model.coef_, one.coef_, atol=1e-8)


def test_folds_of_the_encoded_table_give_what_refitting_the_frame_gives():
    frame = drawn(9, 120)
    rows = np.arange(120)
    pairs = [(rows[rows % 3 != k], rows[rows % 3 == k]) for k in range(3)]
    result = bt.cross_validate(bt.LogisticRegression(monotone=WAYS), frame, "y", cv=pairs)
    for (train, test), trial in zip(pairs, result.trials, strict=True):
        own = bt.LogisticRegression(monotone=WAYS).fit(frame.iloc[train], "y")
        np.testing.assert_allclose(trial.probability, own.predict_proba(frame.iloc[test]), rtol=0, atol=1e-12)


def test_engines_files_and_exports_say_the_same(tmp_path):
    frame = drawn(3, 600)
    model = bt.LogisticRegression(monotone=WAYS).fit(frame, "y")
    assert any(row.is_bound for row in model.coefficients())
    frame.to_parquet(tmp_path / "rows.parquet")
    scanned = bt.LogisticRegression(monotone=WAYS).fit(bt.scan(str(tmp_path / "rows.parquet")), "y")
    np.testing.assert_allclose(scanned.coef_, model.coef_, atol=1e-9)
    bt.save(model, tmp_path / "m.baytree")
    loaded = bt.load(tmp_path / "m.baytree")
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    assert str(loaded) == str(model)
    assert loaded.monotone == WAYS
    scope: dict = {}
    exec(bt.export(model, "python"), scope)
    row = frame.iloc[0].drop("y").to_dict()
    assert scope["predict_proba"](row)["yes"] == pytest.approx(model.predict_proba(frame[:1])[0, 1], abs=1e-12)


def test_errors_of_coefficients_take_a_bound_as_given_and_intervals_refuse():
    frame = drawn(3, 600)
    model = bt.LogisticRegression(penalty=None, monotone=WAYS).fit(frame, "y")
    bound = [row.feature for row in model.coefficients() if row.is_bound]
    assert bound
    without = bt.LogisticRegression(penalty=None).fit(frame.drop(columns=bound), "y")
    errors = {row.feature: row.standard_error for row in without.coefficients()}
    for row in model.coefficients():
        assert row.standard_error == (None if row.is_bound else pytest.approx(errors[row.feature], rel=1e-6))
    assert "held at 0 by" in str(model)
    with pytest.raises(ValueError, match="at its bound 0"):
        model.predict_interval(frame)


def test_wishes_that_cannot_be_met_are_refused_in_words():
    frame = drawn(1)
    frame["size"] = pd.Categorical.from_codes(np.arange(90) % 3, ["S", "M", "L"], ordered=True)

    def refused(words: str, target: str = "y", **parameters) -> None:
        with pytest.raises(ValueError, match=words):
            bt.LogisticRegression(**parameters).fit(frame, target)

    refused("monotone: there is no column 'f'", monotone={"f": "up"})
    refused("give one of 'up', 'down'", monotone={"a": "rising"})
    refused("each level of 'size' a coefficient; use ordinal='rank'", monotone={"size": "up"}, ordinal="dummies")
    refused(r"the 3 classes of 'size': each class has a score.*DecisionTreeClassifier", "size", monotone={"a": "up"})
