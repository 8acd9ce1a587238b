"""Laws of intervals: what every `predict_interval` keeps to, whatever the model."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

import baytree as bt
from laws.metamorphic import SUBJECTS, complete

REFUSING = (
    "penalised",
    "boosted",
    "an average of",
    "votes",
    "MARS",
    "shrunk",
    "closed form",
    "no standard errors",
    "cannot be estimated",
    "one row",
)


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bt.BaytreeWarning)
        yield


def learnt(name, seed=0):
    subject = SUBJECTS[name]
    rows = subject.rows(seed)
    model = clone(subject.estimator)
    return model.fit(rows.X, rows.y if is_classifier(model) else rows.number), rows


def intervals_of(model, X, level=0.95):
    """The intervals, or a refusal that names the way out."""
    try:
        return model.predict_interval(X, level=level)
    except ValueError as refusal:
        assert "bt.conformal" in str(refusal)
        assert any(word in str(refusal) for word in REFUSING)
        pytest.skip(str(refusal))


@pytest.mark.parametrize("name", SUBJECTS)
def test_an_interval_holds_its_answer_and_a_surer_one_holds_it_too(name):
    model, rows = learnt(name)
    narrow, wide = (intervals_of(model, rows.X, level) for level in (0.5, 0.99))
    answers = model.predict_proba(rows.X) if is_classifier(model) else model.predict(rows.X)
    assert narrow.shape == (*answers.shape, 2)
    assert (narrow[..., 0] <= answers).all()
    assert (answers <= narrow[..., 1]).all()
    assert (wide[..., 0] <= narrow[..., 0] + 1e-12).all()
    assert (narrow[..., 1] <= wide[..., 1] + 1e-12).all()
    if is_classifier(model):
        assert (wide >= 0).all()
        assert (wide <= 1).all()


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_row_has_the_interval_that_it_has_among_others(name):
    model, rows = learnt(name)
    together, alone = intervals_of(model, rows.X), intervals_of(model, rows.X.iloc[[3]])
    np.testing.assert_allclose(alone[0], together[3], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_saved_model_gives_the_same_intervals(name, tmp_path):
    model, rows = learnt(name)
    before = intervals_of(model, rows.X)
    bt.save(model, tmp_path / "m.baytree")
    np.testing.assert_array_equal(bt.load(tmp_path / "m.baytree").predict_interval(rows.X), before)


ADDITIVE = [
    bt.NaiveBayesClassifier(),
    bt.LinearDiscriminantAnalysis(),
    bt.JointDistribution(),
    bt.LogisticRegression(penalty=None),
]


@pytest.mark.parametrize("model", ADDITIVE, ids=lambda model: type(model).__name__)
def test_twice_the_rows_are_surer_by_the_root_of_two(model):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 400)
    X = np.round(random.normal(size=(400, 2)) + 0.5 * y[:, None])
    schema = {"x0": "nominal", "x1": "nominal"} if isinstance(model, bt.JointDistribution) else None
    frame, twice = ({f"x{j}": np.tile(X[:, j], n) for j in range(2)} for n in (1, 2))
    once = clone(model).set_params(schema=schema).fit(frame, y)
    again = clone(model).set_params(schema=schema).fit(twice, np.tile(y, 2))
    weighed = clone(model).set_params(schema=schema).fit(frame, y, sample_weight=np.full(400, 2.0))
    width, half = (np.diff(m.predict_interval({k: v[:100] for k, v in frame.items()}))[..., 0] for m in (once, again))
    np.testing.assert_allclose(np.median(half / width), np.sqrt(0.5), rtol=0.05)  # cells of a few rows follow no root
    np.testing.assert_allclose(weighed.predict_interval(frame), again.predict_interval(frame), rtol=1e-6, atol=1e-9)


def test_without_rows_there_is_no_interval():
    model = bt.GaussianNB().fit([[0.0], [1.0]], [0, 1])
    assert model.predict_interval([]).shape == (0, 2, 2)


@pytest.mark.parametrize("level", [0, 1, "95", 1.5, None])
def test_a_level_lies_between_0_and_1(level):
    model = bt.GaussianNB().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="level="):
        model.predict_interval([[0.5]], level=level)


def test_a_column_that_is_missing_everywhere_leaves_the_interval_of_the_class_shares():
    rows = complete(0)
    model = bt.NaiveBayesClassifier().fit(rows.X, rows.y)
    found = model.predict_interval(rows.X.iloc[:1].assign(a=np.nan, b=np.nan, u=None, v=None))[0]
    share = np.bincount(rows.y) / len(rows.y)
    assert (found[:, 0] < share).all()
    assert (share < found[:, 1]).all()


NASTY = {
    "huge": lambda x, _: x * 1e300,
    "tiny": lambda x, _: x * 1e-300,
    "constant": lambda x, _: x * [0.0, 1.0],
    "missing": lambda x, _: np.where(x > 0.5, np.nan, x),
    "far": lambda x, _: np.where(np.arange(len(x))[:, None] == 0, 1e9, x),
    "separated": lambda x, y: 0.01 * x + 100 * y[:, None],
}


@pytest.mark.parametrize("table", NASTY)
@pytest.mark.parametrize(
    "model",
    [
        bt.NaiveBayesClassifier(),
        bt.NaiveBayesClassifier(estimate="mle"),
        bt.LinearDiscriminantAnalysis(),
        bt.QuadraticDiscriminantAnalysis(),
        bt.C45Classifier(),
        bt.DecisionTreeClassifier(averaging="prunings"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_intervals_of_any_numbers_are_bounds_of_probabilities(model, table):
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 40)
    X = NASTY[table](random.normal(size=(40, 2)), y)
    found = intervals_of(clone(model).fit(X, y), np.vstack([X, [[0.0, np.nan], [np.nan, np.nan]]]))
    assert ((found >= 0) & (found <= 1)).all()
    assert (found[..., 0] <= found[..., 1]).all()


# --- coverage: the truth is known, and so is what chance allows -----------------------------------------------


def covered(model, seed, n_tables=40, size=300):
    """The share of intervals that hold the truth, for two normal classes with one covariance."""
    random, held = np.random.default_rng(seed), []
    for _ in range(n_tables):
        y = random.integers(0, 2, size)
        X, new = random.normal(size=(size, 2)) + y[:, None], random.normal(size=(50, 2)) + 0.5
        truth = 1 / (1 + np.exp(-(new.sum(axis=1) - 1)))
        low, high = clone(model).fit(X, y).predict_interval(new)[:, 1].T
        held.append(((low <= truth) & (truth <= high)).mean())
    return np.mean(held), np.std(held) / np.sqrt(n_tables)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        bt.NaiveBayesClassifier(),
        bt.GaussianNB(),
        bt.LinearDiscriminantAnalysis(),
        bt.QuadraticDiscriminantAnalysis(),
        bt.LogisticRegression(penalty=None),
    ],
    ids=lambda model: type(model).__name__,
)
def test_intervals_hold_the_truth_as_often_as_they_say(model):
    share, error = covered(model, 0)
    assert abs(share - 0.95) < 0.02 + 3 * error


def test_leaves_counted_in_rows_held_out_hold_the_truth_as_often_as_they_say():
    random, held = np.random.default_rng(0), []
    for _ in range(60):
        X = random.integers(0, 4, (400, 3)).astype(float)
        truth = 0.2 + 0.15 * X[:, 0]
        frame = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": np.where(random.random(400) < truth, "yes", "no")}
        grown, other = ({k: v[rows] for k, v in frame.items()} for rows in (slice(200), slice(200, None)))
        model = bt.C45Classifier(pruning=None).fit(grown, "y")
        cells = np.stack(np.meshgrid(*[np.arange(4.0)] * 3), axis=-1).reshape(-1, 3)
        new = dict(zip("abc", cells.T, strict=True))
        low, high = model.predict_interval(new, held_out=other)[:, 1].T
        leaf = model.apply(new)
        mean = (np.bincount(leaf, 0.2 + 0.15 * cells[:, 0]) / np.maximum(np.bincount(leaf), 1))[leaf]
        held.append(((low <= mean) & (mean <= high)).mean())
    assert 0.92 < np.mean(held) < 0.99
