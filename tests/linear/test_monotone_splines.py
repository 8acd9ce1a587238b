"""Laws of splines that follow columns: no answer falls with a column that it must rise with, and no better sum is within."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from baytree.linear.mars.coefficients import slope_constraints
from baytree.linear.mars.model import columns_of
from law_settings import settings

WAYS = {"a": "up", "b": "down", "rank": "up"}
RANKS = ["S", "M", "L", "XL"]
SEEDS = st.integers(0, 100_000)


def drawn(seed: int, n: int = 150) -> pd.DataFrame:
    """Columns that the target follows by halves only, with gaps."""
    random = np.random.default_rng(seed)
    rank = random.integers(0, 4, n)
    a, b, c = random.normal(size=(3, n))
    y = 2 * np.sin(2 * a) + a - np.abs(b - 0.5) + c**2 + 0.4 * np.abs(rank - 1) + 0.5 * random.normal(size=n)
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "rank": pd.Categorical.from_codes(rank, RANKS, ordered=True), "y": y})
    frame["a"] = frame.a.mask(random.random(n) < 0.1)
    return frame.assign(level=random.choice(["p", "q"], n))


def with_classes(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(y=np.where(frame.y > frame.y.median(), "yes", "no"))


def answers(model, rows: pd.DataFrame) -> np.ndarray:
    return model.predict_proba(rows)[:, 1] if hasattr(model, "predict_proba") else model.predict(rows)


def check(model, frame: pd.DataFrame) -> None:
    """Some rows with every value of a column, ascending, while the others stay."""
    rows = frame[:12]
    for column, way in WAYS.items():
        values = RANKS if column == "rank" else list(np.linspace(-6, 6, 200))
        every = rows.loc[rows.index.repeat(len(values))].assign(**{column: values * len(rows)})
        if column == "rank":
            every["rank"] = pd.Categorical(every["rank"], RANKS, ordered=True)
        found = answers(model, every).reshape(len(rows), len(values)) * (1 if way == "up" else -1)
        assert (np.diff(found, axis=1) >= -1e-12).all(), column


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, standardize=st.booleans(), prune=st.booleans())
def test_the_number_follows_whatever_the_other_columns_hold(seed, standardize, prune):
    frame = drawn(seed)
    check(bt.MARSRegressor(monotone=WAYS, standardize=standardize, prune=prune).fit(frame, "y"), frame)


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, weighted=st.booleans())
def test_the_probability_of_the_second_class_follows_whatever_the_other_columns_hold(seed, weighted):
    frame = with_classes(drawn(seed))
    weight = np.random.default_rng(seed).choice([0.5, 1.0, 2.25], len(frame)) if weighted else None
    check(bt.MARSClassifier(monotone=WAYS).fit(frame, "y", sample_weight=weight), frame)


def slope_and_pieces(free, bound, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, float]:
    """The derivative of the loss by the coefficients of all terms, at the solution under the wish; the pieces; and the
    derivative along the solution itself."""
    table = bound._encoded(frame.drop(columns="y"))
    terms = [free.model_.terms[k] for k in range(len(free.model_.terms))]
    basis = columns_of(terms, free.model_.features.of(table))
    truth = (frame.y == "yes").to_numpy(float) if hasattr(bound, "predict_proba") else frame.y.to_numpy()
    followed = tuple((name, 1 if way == "up" else -1) for name, way in WAYS.items())
    size = np.sqrt(np.square(basis).sum(axis=0))
    residual, scores = answers(bound, frame) - truth, bound.model_.scores(table)[:, -1]
    pieces = slope_constraints(terms, free.model_.features, table.schema, followed) / size
    return residual @ basis / size, pieces, float(residual @ scores) / np.sqrt(scores @ scores)


@pytest.mark.parametrize("kind", [bt.MARSRegressor, bt.MARSClassifier])
@settings(max_examples=12, deadline=None)
@given(seed=SEEDS)
def test_no_coefficients_of_the_same_terms_would_be_better_within(kind, seed):
    """The slope of the loss is a sum of pieces with multipliers of at least 0, and only those count that are flat."""
    from scipy.optimize import nnls

    frame = drawn(seed) if kind is bt.MARSRegressor else with_classes(drawn(seed))
    free, bound = kind().fit(frame, "y"), kind(monotone=WAYS).fit(frame, "y")
    slope, pieces, along = slope_and_pieces(free, bound, frame)
    size = np.maximum(np.abs(pieces).max(axis=1), 1e-300) if len(pieces) else np.ones(0)
    rest = nnls((pieces / size[:, None]).T, slope)[1] if len(pieces) else np.abs(slope).max()
    assert rest < 1e-5
    assert abs(along) < 1e-5
    assert bound.rss_ >= free.rss_ * (1 - 1e-12)


@settings(max_examples=10, deadline=None)
@given(seed=SEEDS, classes=st.booleans())
def test_what_is_followed_anyway_is_fitted_as_without_the_wish(seed, classes):
    random = np.random.default_rng(seed)
    x, other = random.uniform(-2, 2, (2, 200))
    y = np.maximum(0, x) * 3 + other + 0.3 * random.normal(size=200)
    frame = {"x": x, "other": other, "y": np.where(y > np.median(y), "yes", "no") if classes else y}
    kind = bt.MARSClassifier if classes else bt.MARSRegressor
    free = kind().fit(frame, "y")
    grid = {"x": np.linspace(-3, 3, 400), "other": np.zeros(400)}
    if (np.diff(answers(free, grid)) >= 0).all():
        bound = kind(monotone={"x": "up"}).fit(frame, "y")
        np.testing.assert_array_equal(bound.model_.coefficient, free.model_.coefficient)
        assert classes or bound.gcv_ == free.gcv_  # of classes it is that of least squares, which may need the bound


def test_a_column_against_the_wish_loses_its_terms():
    random = np.random.default_rng(0)
    x, other = random.uniform(-2, 2, (2, 300))
    frame = {"x": x, "other": other, "y": -2 * x + np.abs(other)}
    model = bt.MARSRegressor(monotone={"x": "up"}).fit(frame, "y")
    assert "not used (1): x" in str(model)
    assert np.ptp(model.predict({"x": np.linspace(-3, 3, 50), "other": np.zeros(50)})) == 0


def test_files_exports_and_rows_on_disk_say_the_same(tmp_path):
    frame = drawn(4, 400).drop(columns=["rank"])
    ways = {"a": "up", "b": "down"}
    model = bt.MARSRegressor(monotone=ways).fit(frame, "y")
    frame.to_parquet(tmp_path / "rows.parquet")
    scanned = bt.MARSRegressor(monotone=ways).fit(bt.scan(str(tmp_path / "rows.parquet")), "y")
    np.testing.assert_allclose(scanned.predict(frame), model.predict(frame), atol=1e-9)
    bt.save(model, tmp_path / "m.baytree")
    loaded = bt.load(tmp_path / "m.baytree")
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    assert loaded.monotone == ways
    scope: dict = {}
    exec(bt.export(model, "python"), scope)
    row = frame.iloc[0].drop("y").to_dict()
    assert scope["predict"](row) == pytest.approx(float(model.predict(frame[:1])[0]), abs=1e-12)


def test_wishes_that_cannot_be_met_are_refused_in_words():
    frame = drawn(1)
    with pytest.raises(ValueError, match=r"monotone needs max_degree=1, not 2.*use max_degree=1"):
        bt.MARSRegressor(max_degree=2, monotone=WAYS).fit(frame, "y")
    with pytest.raises(ValueError, match="the 4 classes of 'rank': each class has a score"):
        bt.MARSClassifier(monotone={"a": "up"}).fit(frame, "rank")
    with pytest.raises(ValueError, match="use ordinal='rank'"):
        bt.MARSRegressor(monotone=WAYS, ordinal="dummies").fit(frame, "y")
    with pytest.raises(ValueError, match="the levels of column 'level' have no order"):
        bt.MARSRegressor(monotone={"level": "up"}).fit(frame, "y")
