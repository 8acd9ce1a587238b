"""Laws of trees that follow columns: no answer falls with a column that it must rise with, whatever the others hold."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from law_settings import settings

WAYS = {"a": "up", "b": "down", "rank": "up"}
CLASSIFIERS = [
    *(
        bt.DecisionTreeClassifier(criterion=criterion, missing=missing, monotone=WAYS)
        for criterion, missing in (
            ("gini", "learned"),
            ("gini", "surrogate"),
            ("gini", "category"),
            ("entropy", "learned"),
            ("entropy", "largest"),
            ("twoing", "learned"),
            ("chi2", "category"),
        )
    ),
    bt.DecisionTreeClassifier(monotone=WAYS, averaging="prunings"),
    bt.DecisionTreeClassifier(monotone=WAYS, max_leaves=9, first_split="c"),
    bt.CARTClassifier(monotone=WAYS, cp=0.0, min_split=4),
    bt.CARTClassifier(monotone=WAYS, cp=0.0, min_split=4, criterion="entropy", use_surrogate=0),
    bt.CARTClassifier(monotone=WAYS, cp=0.0, min_split=4, pruning="min", cv=3),
]
REGRESSORS = [
    *(bt.DecisionTreeRegressor(missing=way, monotone=WAYS) for way in ("learned", "surrogate", "category", "largest")),
    bt.DecisionTreeRegressor(monotone=WAYS, averaging="prunings"),
    bt.CARTRegressor(monotone=WAYS, cp=0.0, min_split=4),
]
RANKS = ["S", "M", "L", "XL"]
SEEDS = st.integers(0, 100_000)


def drawn(seed: int, n: int = 80) -> pd.DataFrame:
    """Columns that the target follows by halves only, with gaps."""
    random = np.random.default_rng(seed)
    rank = random.integers(0, 4, n)
    frame = pd.DataFrame(
        {
            "a": random.normal(size=n).round(1),
            "b": random.integers(0, 9, n).astype(float),
            "c": random.normal(size=n).round(1),
            "level": random.choice(["p", "q", "r"], n),
            "rank": pd.Categorical.from_codes(rank, RANKS, ordered=True),
        }
    )
    score = np.sin(3 * frame.a) + frame.a - 0.2 * frame.b + 0.5 * rank * (frame.level == "p") + random.normal(size=n)
    for name in ("a", "b", "c"):
        frame[name] = frame[name].mask(pd.Series(random.random(n) < 0.1))
    return frame.assign(y=score)


def classes_of(frame: pd.DataFrame, n_classes: int) -> pd.Categorical:
    names = ["low", "middle", "high", "highest"][:n_classes]
    code = pd.qcut(frame.y, n_classes, labels=False)
    return pd.Categorical.from_codes(code, names, ordered=True)


def tails(model, rows: pd.DataFrame) -> np.ndarray:
    """What must follow: the probability of each class or any later one, or the number. [n_rows, n_tails]"""
    if not hasattr(model, "predict_proba"):
        return model.predict(rows)[:, None]
    return model.predict_proba(rows)[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]


def check(model, frame: pd.DataFrame) -> None:
    """Some rows with every value of a column, ascending, while the others stay."""
    rows = frame[:15]
    for column, way in WAYS.items():
        known = None if column == "rank" else frame[column].dropna()
        values = RANKS if known is None else [-np.inf, *np.unique([*known, *(known + 0.05), known.min() - 1]), np.inf]
        every = rows.loc[rows.index.repeat(len(values))].assign(**{column: values * len(rows)})
        if known is None:
            every["rank"] = pd.Categorical(every["rank"], RANKS, ordered=True)
        found = tails(model, every).reshape(len(rows), len(values), -1) * (1 if way == "up" else -1)
        assert (np.diff(found, axis=1) >= -1e-12).all(), column


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: repr(model).replace("\n", "")[:70])
@pytest.mark.parametrize("n_classes", [2, 4])
@settings(max_examples=4)
@given(seed=SEEDS)
def test_the_probability_of_later_classes_follows_whatever_the_other_columns_hold(model, n_classes, seed):
    frame = drawn(seed)
    frame["y"] = classes_of(frame, n_classes)
    check(model.fit(frame, "y"), frame.drop(columns="y"))


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: repr(model).replace("\n", "")[:70])
@settings(max_examples=4)
@given(seed=SEEDS)
def test_the_number_follows_whatever_the_other_columns_hold(model, seed):
    frame = drawn(seed)
    check(model.fit(frame, "y"), frame.drop(columns="y"))


@settings(max_examples=5)
@given(seed=SEEDS)
def test_the_answer_of_two_classes_follows_also_with_costs_and_priors(seed):
    frame = drawn(seed)
    frame["y"] = classes_of(frame, 2)
    options = {"costs": [[0, 3], [1, 0]], "priors": [0.3, 0.7], "monotone": WAYS}
    for model in (bt.DecisionTreeClassifier(**options), bt.CARTClassifier(cp=0.0, min_split=4, **options)):
        model.fit(frame, "y")
        check(model, frame.drop(columns="y"))
        rows = frame[:20].drop(columns="y")
        answers = np.array([model.predict(rows.assign(a=value)) == "middle" for value in np.linspace(-4, 4, 80)])
        assert (np.diff(answers.astype(int), axis=0) >= 0).all()


@settings(max_examples=5)
@given(seed=SEEDS)
def test_a_pruned_tree_still_follows(seed):
    frame = drawn(seed)
    model = bt.DecisionTreeRegressor(monotone=WAYS).fit(frame, "y")
    for smaller in (model.prune("max_leaves", 6), model.snip(int(model.tree_.first[0]))):
        check(smaller, frame.drop(columns="y"))


@settings(max_examples=20)
@given(seed=SEEDS)
def test_what_is_followed_anyway_is_grown_as_without_the_wish(seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=60)
    frame = {"x": x, "y": np.floor(3 * x)}
    free, bound = (bt.DecisionTreeRegressor(monotone=wish).fit(frame, "y") for wish in (None, {"x": "up"}))
    np.testing.assert_array_equal(free.tree_.cut, bound.tree_.cut)
    np.testing.assert_array_equal(free.predict({"x": x}), bound.predict({"x": x}))


@settings(max_examples=20)
@given(seed=SEEDS, n_classes=st.sampled_from([2, 3]), weighted=st.booleans())
def test_a_stump_is_the_best_cut_that_is_followed(seed, n_classes, weighted):
    random = np.random.default_rng(seed)
    x, y = random.integers(0, 12, 50).astype(float), random.integers(0, n_classes, 50)
    weight = random.choice([0.5, 1.0, 2.25], 50) if weighted else np.ones(50)
    model = bt.DecisionTreeClassifier(max_depth=1, monotone={"x": "up"}).fit({"x": x, "y": y}, "y", sample_weight=weight)
    gains = [_gain(x <= cut, y, weight, n_classes) for cut in np.unique(x)[:-1]]
    best = max((gain for gain in gains if gain is not None), default=0.0)
    assert float(model.tree_.gain[0]) == pytest.approx(best, abs=1e-9)


def _gain(is_left: np.ndarray, y: np.ndarray, weight: np.ndarray, n_classes: int) -> float | None:
    """The fall of gini in weight; None where a later class is likelier on the left."""
    left, right = (np.bincount(y[side], weight[side], n_classes) for side in (is_left, ~is_left))
    tails = [np.cumsum(side[::-1])[::-1][1:] / side.sum() for side in (left, right)]
    if (tails[0] > tails[1] + 1e-12).any():
        return None
    squares = [(side**2).sum() / side.sum() for side in (left, right, left + right)]
    return squares[0] + squares[1] - squares[2]


def test_threads_and_files_do_not_matter(tmp_path):
    frame = drawn(3, 3000)
    models = [bt.DecisionTreeRegressor(monotone=WAYS, n_jobs=n, max_depth=8).fit(frame, "y") for n in (1, 2)]
    np.testing.assert_array_equal(*(model.predict(frame) for model in models))
    bt.save(models[0], tmp_path / "m.baytree")
    loaded = bt.load(tmp_path / "m.baytree")
    np.testing.assert_array_equal(loaded.predict(frame), models[0].predict(frame))
    assert loaded.monotone == WAYS
