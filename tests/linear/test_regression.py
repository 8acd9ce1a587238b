"""Linear regression: optimality, errors as R's lm gives them, and everything that follows from an additive statistic."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import linear_model

import baytree as bt
from law_settings import settings

R_TREES = {
    "intercept": -57.98765891838095,
    "Height": (0.33925123424470127, 0.13015118070017481, 2.60659359692036663, 0.01449097452506438),
    "interval": (0.07264862618537982, 0.60585384230402273),
    "quality": (
        0.9479500377816746, 0.9442321833375086, 3.8818320381271354, 254.9723374106693,
        -84.4549864936351, 176.9099729872702, 182.6459218052108,
    ),
}  # fmt: skip
R_GLMNET = {
    "ridge": [-1.961939999233831, 2.056500184095561, 2.804256806469810],
    "half": [-0.6304379936422837, 1.7295806945555228, 2.7480716688093860],
    "lasso": [0.9256823449190534, 1.3374415164937306, 2.6929817042058666],
}
LONGLEY = [
    [83.0, 234289, 2356, 1590, 107608, 1947, 60323],
    [88.5, 259426, 2325, 1456, 108632, 1948, 61122],
    [88.2, 258054, 3682, 1616, 109773, 1949, 60171],
    [89.5, 284599, 3351, 1650, 110929, 1950, 61187],
    [96.2, 328975, 2099, 3099, 112075, 1951, 63221],
    [98.1, 346999, 1932, 3594, 113270, 1952, 63639],
    [99.0, 365385, 1870, 3547, 115094, 1953, 64989],
    [100.0, 363112, 3578, 3350, 116219, 1954, 63761],
    [101.2, 397469, 2904, 3048, 117388, 1955, 66019],
    [104.6, 419180, 2822, 2857, 118734, 1956, 67857],
    [108.4, 442769, 2936, 2798, 120445, 1957, 68169],
    [110.8, 444546, 4681, 2637, 121950, 1958, 66513],
    [112.6, 482704, 3813, 2552, 123366, 1959, 68655],
    [114.2, 502601, 3931, 2514, 125368, 1960, 69564],
    [115.7, 518173, 4806, 2572, 127852, 1961, 69331],
    [116.9, 554894, 4007, 2827, 130081, 1962, 70551],
]
few = settings(max_examples=5, deadline=None)
seeds = given(seed=st.integers(0, 10_000))
pytestmark = pytest.mark.filterwarnings("ignore:columns .* are constant")


def rows(seed: int, n: int = 80) -> pd.DataFrame:
    """Numbers, levels and an order, some of them missing, and a number that hangs on them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    frame["colour"] = rng.choice(["red", "green", "blue"], n)
    frame["size"] = pd.Categorical(rng.choice(["S", "M", "L"], n), categories=["S", "M", "L"], ordered=True)
    effect = frame.a - 2 * frame.b + (frame.colour == "red") + frame["size"].cat.codes
    frame["y"] = effect + rng.normal(size=n)
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    frame.loc[rng.random(n) < 0.1, "colour"] = None
    return frame


def matrix(frame: pd.DataFrame) -> np.ndarray:
    """The features of these rows, made by hand: a constant, numbers, marks and ranks."""
    colour = frame.colour.fillna("missing")
    marks = [(colour == level).astype(float) for level in ("green", "red", "missing") if (colour == level).any()]
    columns = [frame.a.fillna(frame.a.mean()), frame.a.isna().astype(float), frame.b, frame.c, *marks]
    return np.column_stack([np.ones(len(frame)), *columns, frame["size"].cat.codes.astype(float)])


MODELS = {
    "least squares": bt.LinearRegression(),
    "ridge": bt.LinearRegression(penalty="l2", lambda_=0.1),
    "lasso": bt.LinearRegression(penalty="l1", lambda_=0.1),
    "elastic net": bt.LinearRegression(penalty="elasticnet", l1_ratio=0.5, lambda_=0.1, standardize=False),
    "means for gaps": bt.LinearRegression(missing="mean"),
    "levels of an order": bt.LinearRegression(ordinal="dummies"),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


def fresh(model: bt.LinearRegression) -> bt.LinearRegression:
    return bt.LinearRegression(**model.get_params())


# --- least squares --------------------------------------------------------------------------------------------------------


@few
@seeds
def test_residuals_are_orthogonal_to_every_feature(seed):
    frame = rows(seed)
    model = bt.LinearRegression().fit(frame, "y")
    design = matrix(frame)
    residual = frame.y - model.predict(frame)
    assert np.abs(design.T @ residual).max() < 1e-9
    least = np.linalg.lstsq(design, frame.y, rcond=None)[0]
    np.testing.assert_allclose(design @ least, model.predict(frame), atol=1e-9)


def test_errors_and_quality_are_those_of_lm():
    """R 4.2.2: summary(lm(Volume ~ ., trees)), confint, logLik, AIC, BIC."""
    girth = [8.3, 8.6, 8.8, 10.5, 10.7, 10.8, 11, 11, 11.1, 11.2, 11.3, 11.4, 11.4, 11.7, 12, 12.9, 12.9, 13.3, 13.7, 13.8,
             14, 14.2, 14.5, 16, 16.3, 17.3, 17.5, 17.9, 18, 18, 20.6]  # fmt: skip
    height = [70, 65, 63, 72, 81, 83, 66, 75, 80, 75, 79, 76, 76, 69, 75, 74, 85, 86, 71, 64, 78, 80, 74, 72, 77, 81, 82, 80,
              80, 80, 87]  # fmt: skip
    volume = [10.3, 10.3, 10.2, 16.4, 18.8, 19.7, 15.6, 18.2, 22.6, 19.9, 24.2, 21, 21.4, 21.3, 19.1, 22.2, 33.8, 27.4,
              25.7, 24.9, 34.5, 31.7, 36.3, 38.3, 42.6, 55.4, 55.7, 58.3, 51.5, 51, 77]  # fmt: skip
    model = bt.LinearRegression().fit({"Girth": girth, "Height": height, "Volume": volume}, "Volume")
    intercept, _, tall = model.coefficients()
    assert intercept.estimate == pytest.approx(R_TREES["intercept"], rel=1e-12)
    assert (tall.estimate, tall.standard_error, tall.t, tall.p) == pytest.approx(R_TREES["Height"], rel=1e-10)
    assert tall.interval == pytest.approx(R_TREES["interval"], rel=1e-10)
    told = (model.r2_, model.adjusted_r2_, model.residual_error_, model.f_, model.log_likelihood_, model.aic_, model.bic_)
    assert told == pytest.approx(R_TREES["quality"], rel=1e-12)


def test_hard_numbers_of_the_nist_are_met():
    """Longley (1967): certified values of NIST's Statistical Reference Datasets."""
    rows = np.array(LONGLEY)
    model = bt.LinearRegression().fit(rows[:, :6], rows[:, 6])
    certified = [15.0618722713733, -0.0358191792925910, -2.02022980381683, -1.03322686717359, -0.0511041056535807,
                 1829.15146461355]  # fmt: skip
    assert model.coef_ == pytest.approx(certified, rel=1e-10)
    assert (model.intercept_, model.residual_error_) == pytest.approx((-3482258.63459582, 304.854073561965), rel=1e-12)


def test_later_ones_of_collinear_columns_are_named_and_not_used():
    frame = rows(1)[["b", "c", "y"]]
    wide = frame[["b", "c"]].assign(sum=frame.b + 2 * frame.c, one=1.0, y=frame.y)
    with pytest.warns(bt.BaytreeWarning, match="'sum' is collinear with 'b', 'c': it is not used"):
        model = bt.LinearRegression().fit(wide, "y")
    plain = bt.LinearRegression().fit(frame, "y")
    assert model.collinear_ == ["sum"]
    np.testing.assert_allclose(model.coef_, [*plain.coef_, 0.0, 0.0], atol=1e-12)
    assert (model.degrees_, model.aic_) == pytest.approx((plain.degrees_, plain.aic_))
    assert "linearly dependent on earlier features, not used (1): sum" in str(model)


def test_more_columns_than_rows_leave_no_errors_and_a_perfect_fit():
    X = np.random.default_rng(0).normal(size=(10, 20))
    with pytest.warns(bt.BaytreeWarning, match="collinear"):
        model = bt.LinearRegression().fit(X, X[:, 0] + 1)
    np.testing.assert_allclose(model.predict(X), X[:, 0] + 1, atol=1e-9)
    assert all(slope.standard_error is None for slope in model.coefficients())
    assert model.residual_error_ is None
    assert "a perfect fit up to rounding" in str(model)


# --- penalties ------------------------------------------------------------------------------------------------------------


@few
@given(seed=st.integers(0, 10_000), l1_ratio=st.sampled_from([0.0, 0.3, 1.0]), standardize=st.booleans())
def test_penalised_coefficients_are_optimal(seed, l1_ratio, standardize):
    frame = rows(seed).dropna()[["a", "b", "c", "y"]]
    model = bt.LinearRegression(penalty="elasticnet", l1_ratio=l1_ratio, lambda_=0.2, standardize=standardize)
    X, y = frame[["a", "b", "c"]].to_numpy(), frame.y.to_numpy()
    model.fit(X, y)
    size = X.std(axis=0) if standardize else np.ones(3)
    b = model.coef_ * size
    slope = -(X / size).T @ (y - model.predict(X)) / len(y) + 0.2 * (1 - l1_ratio) * b
    apart = np.where(b != 0, np.abs(slope + 0.2 * l1_ratio * np.sign(b)), np.maximum(np.abs(slope) - 0.2 * l1_ratio, 0))
    assert apart.max() < 1e-12
    assert abs((y - model.predict(X)).mean()) < 1e-12


def test_a_ridge_and_a_lasso_are_those_of_scikit_learn():
    frame = rows(3).dropna()
    X, y = frame[["a", "b", "c"]].to_numpy(), frame.y.to_numpy()
    ridge = bt.LinearRegression(penalty="l2", C=0.25, standardize=False).fit(X, y)
    np.testing.assert_allclose(ridge.coef_, linear_model.Ridge(alpha=4).fit(X, y).coef_, rtol=1e-10)
    lasso = bt.LinearRegression(penalty="l1", lambda_=0.3, standardize=False).fit(X, y)
    theirs = linear_model.Lasso(alpha=0.3, tol=1e-14, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(lasso.coef_, theirs.coef_, atol=1e-10)


@pytest.mark.parametrize(("l1_ratio", "expected"), [(0.0, "ridge"), (0.5, "half"), (1.0, "lasso")])
def test_the_conventions_of_glmnet_give_its_numbers(l1_ratio, expected):
    """R 4.2.2, glmnet 4.1-6: glmnet(x, y, alpha, lambda = 2, thresh = 1e-20)."""
    x = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 3.0], [5.0, 8.0], [6.0, 1.0]])
    y = np.array([3.0, 4.5, 20.0, 15.0, 33.0, 12.0])
    model = bt.LinearRegression(penalty="elasticnet", l1_ratio=l1_ratio, lambda_=2.0, conventions="glmnet").fit(x, y)
    assert [model.intercept_, *model.coef_] == pytest.approx(R_GLMNET[expected], rel=1e-8)


def test_a_path_ends_at_the_model_and_begins_with_nothing():
    model = bt.LinearRegression(penalty="l1", lambda_=0.05).fit(rows(4), "y")
    path = model.path_
    assert path.n_kept[0] == 0
    np.testing.assert_allclose(path.coef[-1, 0], model.coef_, atol=1e-10)
    with pytest.raises(AttributeError, match="penalty=None has no path"):
        _ = bt.LinearRegression().fit(rows(4), "y").path_


@pytest.mark.parametrize("missing", ["mean+indicator", "mean"])
@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_the_curve_has_the_errors_that_refitting_without_each_fold_gives(penalty, missing):
    frame = rows(5)
    fold = np.arange(len(frame)) % 4
    lambdas = [0.02, 0.2, 2.0]
    chosen = bt.LinearRegressionCV(penalty=penalty, lambdas=lambdas, cv=fold, missing=missing).fit(frame, "y")
    for i, lambda_ in enumerate(chosen.curve_.lambdas):
        for k in range(4):
            rest = bt.LinearRegression(penalty=penalty, lambda_=lambda_, missing=missing).fit(frame[fold != k], "y")
            held = frame[fold == k]
            error = np.mean((held.y - rest.predict(held)) ** 2)
            assert chosen.curve_.fold_loss[k, i] == pytest.approx(error, rel=1e-9)
    assert chosen.lambda_ == chosen.curve_.lambdas[chosen.curve_.best]


def test_one_standard_error_is_never_the_weaker_penalty():
    frame = rows(6)
    least, simple = (bt.LinearRegressionCV(penalty="l1", lambdas=20, rule=rule).fit(frame, "y") for rule in ("min", "1se"))
    assert simple.lambda_ >= least.lambda_
    assert np.count_nonzero(simple.coef_) <= np.count_nonzero(least.coef_)


# --- additive statistics --------------------------------------------------------------------------------------------------


@every_model
@few
@seeds
def test_learning_in_parts_merging_and_forgetting_agree_with_learning_at_once(model, seed):
    frame = rows(seed)
    first, second = frame[:50], frame[50:]
    whole = fresh(model).fit(frame, "y").predict(frame)
    parts = fresh(model).partial_fit(first, "y").partial_fit(second, "y")
    np.testing.assert_allclose(parts.predict(frame), whole, atol=1e-9)
    merged = fresh(model).fit(first, "y").merge(fresh(model).fit(second, "y"))
    np.testing.assert_allclose(merged.predict(frame), whole, atol=1e-9)
    left = fresh(model).fit(frame, "y").forget(second, "y")
    np.testing.assert_allclose(left.predict(frame), fresh(model).fit(first, "y").predict(frame), atol=1e-8)


@pytest.mark.slow
@every_model
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_leaving_each_row_out_is_what_refitting_without_it_gives(model, seed):
    frame = rows(seed, 24)
    answers = fresh(model).leave_one_out(frame, "y")
    for i in range(len(frame)):
        rest = fresh(model).fit(frame.drop(index=i), "y")
        assert answers[i] == pytest.approx(rest.predict(frame.iloc[[i]])[0], abs=1e-8)


def test_levels_that_come_later_and_go_again_leave_no_trace():
    frame = rows(7).assign(a=1.0)
    frame["b"] = np.arange(len(frame), dtype=float)
    first, second = frame[frame.colour != "red"], frame[frame.colour == "red"]
    model = bt.LinearRegression().fit(first, "y").partial_fit(second, "y")
    assert model.schema_["colour"].levels == ("blue", "green", "red")
    model.forget(second, "y")
    assert model.schema_["colour"].levels == ("blue", "green")
    np.testing.assert_allclose(model.coef_, bt.LinearRegression().fit(first, "y").coef_, atol=1e-9)


def test_only_learnt_rows_can_be_forgotten():
    frame = rows(8)
    model = bt.LinearRegression().fit(frame[:40], "y")
    with pytest.raises(ValueError, match="only learnt rows can be forgotten"):
        model.forget(frame[40:].assign(b=1e6), "y")
    with pytest.raises(ValueError, match="no data would be left"):
        model.forget(frame[:40], "y")


def test_a_row_of_weight_two_is_two_rows_also_for_the_errors():
    frame = rows(9, 30)
    weight = np.arange(30) % 3 + 1
    heavy = bt.LinearRegression().fit(frame, "y", sample_weight=weight)
    twice = bt.LinearRegression().fit(frame.loc[np.repeat(np.arange(30), weight)].reset_index(drop=True), "y")
    for mine, theirs in zip(heavy.coefficients(), twice.coefficients(), strict=True):
        assert mine.estimate == pytest.approx(theirs.estimate)
        assert (mine.standard_error, mine.p) == pytest.approx((theirs.standard_error, theirs.p))


@every_model
def test_a_row_of_which_nothing_is_known_gets_the_mean_where_all_columns_are_numbers(model):
    frame = rows(10).dropna()[["a", "b", "c", "y"]]
    nothing = fresh(model).fit(frame, "y").predict({"a": [None], "b": [None], "c": [None]})
    assert nothing[0] == pytest.approx(frame.y.mean())


# --- nasty numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", [*MODELS.values(), bt.LinearRegressionCV(penalty="l1", cv=3, lambdas=5)], ids=str)
@pytest.mark.parametrize("scale", [1.0, 1e12, 1e-12, 1e250, 1e-250])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_numbers_of_any_size_are_learnt_from(model, scale, offset):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, -2.0, 0.0] + 0.1 * rng.normal(size=60)
    model = type(model)(**{**model.get_params(), "missing": "mean+indicator"})
    if getattr(model, "lambda_", None):
        model.set_params(C=1e3, lambda_=None)
    for table in ((X + offset) * scale, np.column_stack([X[:, :2] * scale, X[:, 2]])):
        model.fit(table, y)
        assert np.isfinite(model.predict(table)).all()
        if getattr(model, "standardize", True):
            assert np.corrcoef(model.predict(table), y)[0, 1] > 0.99
        str(model)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e300])
def test_targets_of_any_size_are_learnt(scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X @ [1.0, -2.0] + 0.1 * rng.normal(size=60)
    plain, scaled = bt.LinearRegression().fit(X, y), bt.LinearRegression().fit(X, y * scale)
    np.testing.assert_allclose(scaled.predict(X) / scale, plain.predict(X), rtol=1e-9)
    for mine, theirs in zip(scaled.coefficients(), plain.coefficients(), strict=True):
        assert mine.p == pytest.approx(theirs.p, rel=1e-6, abs=1e-12)
    str(scaled)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "model", [bt.LinearRegression(), bt.LinearRegression(penalty="l1"), bt.LinearRegressionCV(cv=2, lambdas=5)], ids=str
)
@pytest.mark.parametrize(
    "table",
    [
        {"x": [1.0, 2.0, 3.0], "y": [5.0, 5.0, 5.0]},
        {"x": [1.0, 1.0, 1.0], "y": [1.0, 2.0, 3.0]},
        {"x": [1.0, 2.0], "y": [1.0, 2.0]},
        {"x": [None, None, None], "y": [1.0, 2.0, 4.0]},
        {"x": ["a", "b", "c"], "y": [1.0, 2.0, 4.0]},
        {"x": ["a", None, "b", None], "y": [1.0, 2.0, 4.0, 0.0]},
    ],
)
def test_tables_with_little_in_them_are_learnt_from(model, table):
    fitted = type(model)(**model.get_params()).fit(table, "y")
    assert np.isfinite(fitted.predict({"x": table["x"]})).all()
    str(fitted)
    str(fitted.explain({"x": table["x"]})[0])
    fitted.coefficients().to_dicts()


def test_text_and_gaps_that_are_errors_are_refused_by_name():
    with pytest.raises(ValueError, match="column 'note' is text"):
        bt.LinearRegression(schema={"note": "text"}).fit({"note": ["a b", "b c"], "y": [1.0, 2.0]}, "y")
    with pytest.raises(ValueError, match="column 'x' has missing values"):
        bt.LinearRegression(missing="error").fit({"x": [1.0, None, 2.0], "y": [1.0, 2.0, 3.0]}, "y")
    with pytest.raises(ValueError, match="use LinearRegression"):
        bt.LinearRegressionCV(penalty=None).fit({"x": [1.0, 2.0], "y": [1.0, 2.0]}, "y")


# --- how it reads ---------------------------------------------------------------------------------------------------------


def test_a_ledger_adds_up_to_the_prediction():
    frame = rows(11)
    model = bt.LinearRegression().fit(frame, "y")
    for line, answer in zip(model.explain(frame), model.predict(frame), strict=True):
        assert line.prediction == pytest.approx(answer)
    assert str(model.explain(frame[:1])[0]).startswith("y = ")


def test_the_text_tells_what_a_summary_of_lm_tells():
    text = str(bt.LinearRegression().fit(rows(12), "y"))
    words = ("std. error", "95 % interval", "colour=red", "a is missing", "reference levels: colour=blue")
    words += ("residual standard error", "degrees of freedom", "adjusted", "F = ", "AIC", "BIC")
    assert [word for word in words if word not in text] == []


def test_coefficients_are_a_frame_and_intervals_have_their_level():
    model = bt.LinearRegression().fit(pl.from_pandas(rows(13)), "y")
    frame = model.coefficients(level=0.99).to_frame()
    assert list(frame.columns) == [*["feature", "column", "estimate", "importance", "standard_error", "t", "p", "interval"]]
    assert "99 % interval" in str(model.coefficients(level=0.99))
    narrow, wide = (model.coefficients(level).rows[1].interval for level in (0.5, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_pictures_are_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    frame = rows(14)
    assert bt.LinearRegression().fit(frame, "y").plot().get_xlabel() == "change per standard deviation"
    chosen = bt.LinearRegressionCV(penalty="l1", lambdas=10).fit(frame, "y")
    assert chosen.plot_path().get_xlabel() == "log10 λ"
    assert chosen.plot_curve().get_ylabel() == "held-out loss"
    assert bt.LinearRegression(penalty="l1", lambda_=0.1).fit(frame, "y").plot_path().get_xlabel() == "log10 λ"
