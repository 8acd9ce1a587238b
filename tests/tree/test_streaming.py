"""Trees that go on learning: the same tree for any batches, late classes and levels, weights, drift, merging."""

import pickle
from itertools import pairwise

import msgspec
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import baytree as bt
from baytree.storage import document, dumps, loads
from baytree.storage.files import ModelFileError
from law_settings import settings

KINDS = {"x": "numeric", "colour": "nominal", "size": ["S", "M", "L"], "flat": "numeric"}
EAGER = {"grace": 20, "confidence": 0.01, "max_bins": 8}
LEAVES = st.sampled_from(["counts", "adaptive"])


def rows(seed: int, n: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers with gaps, names and ranks that come late, a third class in the last rows, and a concept that turns."""
    rng = np.random.default_rng(seed)
    x, turned = rng.normal(size=n).round(2), np.arange(n) > n / 2
    colour = rng.choice(["red", "blue", "green"], n).astype(object)
    colour[turned & (rng.random(n) < 0.3)] = "amber"
    size = rng.choice(["S", "M", "L"], n).astype(object)
    y = np.where(np.where(turned, x > 0, colour == "red") ^ (rng.random(n) < 0.1), "no", "yes").astype(object)
    y[(np.arange(n) > 0.7 * n) & (size == "L")] = "late"
    x[rng.random(n) < 0.1], colour[rng.random(n) < 0.1] = np.nan, None
    return pd.DataFrame({"x": x, "colour": colour, "size": size, "flat": 1.0}), y


def test_a_batch_makes_no_tree_until_somebody_asks_for_it():
    X, y = rows(3)
    model, whole = bt.StreamingTreeClassifier(**EAGER), bt.StreamingTreeClassifier(**EAGER).fit(X, y)
    for first, last in pairwise([0, 150, 400]):
        model.partial_fit(X[first:last], y[first:last])
        assert "model_" not in vars(model)
    assert (model.predict_proba(X) == whole.predict_proba(X)).all()
    assert "model_" in vars(model)


def test_a_tree_that_nobody_asked_for_is_pickled_and_its_parameters_are_those_of_its_batch():
    X, y = rows(4)
    model = bt.StreamingTreeClassifier(**EAGER).partial_fit(X, y)
    again = pickle.loads(pickle.dumps(bt.StreamingTreeClassifier(**EAGER).partial_fit(X, y)))
    assert dumps(again) == dumps(model)
    late = bt.StreamingTreeClassifier(**EAGER).partial_fit(X, y).set_params(criterion="gini")
    assert (late.tree_.impurity == model.tree_.impurity).all()


def in_batches(model, X, y, borders, weight=None):
    for first, last in pairwise([0, *borders, len(y)]):
        model = model.partial_fit(X[first:last], y[first:last], sample_weight=None if weight is None else weight[first:last])
    return model


@st.composite
def borders(draw, n: int = 400):
    return sorted(draw(st.lists(st.integers(1, n - 1), max_size=6, unique=True)))


@settings(max_examples=20)
@given(st.integers(0, 50), borders(), st.booleans(), st.sampled_from(["entropy", "gini"]), LEAVES)
def test_however_rows_are_cut_into_batches_the_file_is_the_same(seed, cuts, revise, criterion, leaves):
    X, y = rows(seed)
    model = bt.StreamingTreeClassifier(leaves=leaves, revise=revise, criterion=criterion, schema=KINDS, **EAGER)
    whole = dumps(bt.StreamingTreeClassifier(**model.get_params()).fit(X, y))
    assert dumps(in_batches(model, X, y, cuts)) == whole


@settings(max_examples=20)
@given(st.integers(0, 50), borders(), st.booleans(), LEAVES)
def test_a_loaded_or_pickled_tree_goes_on_as_if_nothing_had_been(seed, cuts, revise, leaves):
    X, y = rows(seed)
    model = bt.StreamingTreeClassifier(leaves=leaves, revise=revise, schema=KINDS, **EAGER)
    whole = dumps(bt.StreamingTreeClassifier(**model.get_params()).fit(X, y))
    for k, (first, last) in enumerate(pairwise([0, *cuts, len(y)])):
        model = model.partial_fit(X[first:last], y[first:last])
        model = loads(dumps(model)) if k % 2 else pickle.loads(pickle.dumps(model))
    assert dumps(model) == whole


@settings(max_examples=20)
@given(st.integers(0, 50), st.booleans(), LEAVES)
def test_a_row_of_weight_k_is_k_rows_in_its_place(seed, revise, leaves):
    X, y = rows(seed, 200)
    weight = np.random.default_rng(seed).choice([1, 2, 3, 40], 200)
    model = bt.StreamingTreeClassifier(leaves=leaves, revise=revise, schema=KINDS, profile=False, **EAGER)
    heavy = bt.StreamingTreeClassifier(**model.get_params()).fit(X, y, sample_weight=weight)
    again = np.repeat(np.arange(200), weight)
    many = model.fit(X.iloc[again], y[again])
    assert str(heavy) == str(many)
    for name in ("column", "cut", "own", "bin_mass", "level_mass", "gap", "next"):
        assert np.array_equal(getattr(heavy.seen_, name), getattr(many.seen_, name), equal_nan=True), name
    assert leaves == "counts" or np.array_equal(heavy.seen_.named, many.seen_.named)


@settings(max_examples=20)
@given(st.integers(0, 30), st.integers(0, 30), st.booleans(), LEAVES)
def test_merging_is_symmetric_and_the_merged_tree_goes_on(one, other, revise, leaves):
    model = bt.StreamingTreeClassifier(leaves=leaves, revise=revise, schema=KINDS, **EAGER)
    a, b = (bt.StreamingTreeClassifier(**model.get_params()).fit(*rows(seed)) for seed in (one, other))
    there, back = a.merge(b), b.merge(a)
    assert dumps(there) == dumps(back)
    assert there.n_seen_ == 800
    assert np.isfinite(there.predict_proba(rows(99)[0])).all()
    in_batches(there, *rows(7), [200])


def test_merged_leaves_are_the_leaf_of_all_rows():
    X, y = rows(0)
    model = bt.StreamingTreeClassifier(max_depth=0, schema=KINDS)
    parts = (slice(200), slice(200, 400), slice(400))
    a, b, whole = (bt.StreamingTreeClassifier(**model.get_params()).fit(X[part], y[part]) for part in parts)
    merged = a.merge(b)
    for name in ("exponent", "low", "n_bins"):
        assert np.array_equal(getattr(merged.seen_, name), getattr(whole.seen_, name))
    assert np.array_equal(merged.tree_.counts, whole.tree_.counts)


@settings(max_examples=20)
@given(st.integers(0, 50), st.booleans())
def test_the_leaves_hold_as_many_rows_of_each_class_as_were_learnt(seed, revise):
    X, y = rows(seed)
    model = bt.StreamingTreeClassifier(revise=revise, schema=KINDS, profile=False, **EAGER).fit(X, y)
    assert model.tree_.counts[0].tolist() == [(y == label).sum() for label in model.classes_]
    assert (model.tree_.counts == np.floor(model.tree_.counts)).all()


def test_rows_that_are_sorted_by_class_lose_none():
    penguins = bt.datasets.load("penguins").sort_values("species")
    assert bt.StreamingTreeClassifier(grace=30).fit(penguins, "species").score(penguins, "species") > 0.7


def test_two_halves_of_a_stream_find_together_what_neither_could_prove():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(240, 1))
    y = (x[:, 0] > 0) ^ (rng.random(240) < 0.25)
    halves = (slice(120), slice(120, 240))
    one, other = (bt.StreamingTreeClassifier(grace=100).fit(x[part], y[part]) for part in halves)
    assert (one.n_leaves_, other.n_leaves_) == (1, 1)
    assert one.merge(other).n_leaves_ == 2


def test_trees_by_other_rules_and_of_other_classes_are_not_merged():
    X, y = rows(0)
    model = bt.StreamingTreeClassifier(schema=KINDS).fit(X, y)
    with pytest.raises(ValueError, match="different parameters"):
        model.merge(bt.StreamingTreeClassifier(schema=KINDS, grace=100).fit(X, y))
    with pytest.raises(ValueError, match="no class in common"):
        model.merge(bt.StreamingTreeClassifier(schema=KINDS).fit(X, np.where(y == "yes", 1, 2)))


def test_a_split_is_taken_back_when_the_evidence_turns():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"old": rng.choice(["a", "b"], 12_000), "new": rng.choice(["p", "q"], 12_000)})
    y = np.where(np.arange(12_000) < 3000, X["old"] == "a", X["new"] == "p")
    revised, firm = (bt.StreamingTreeClassifier(revise=revise) for revise in (True, False))
    assert revised.partial_fit(X[:3000], y[:3000]).nodes()[0]["column"] == "old"
    revised.partial_fit(X[3000:], y[3000:])
    assert revised.nodes()[0]["column"] == "new"
    assert (revised.n_revisions_, revised.n_leaves_) == (1, 2)
    assert firm.fit(X, y).nodes()[0]["column"] == "old"
    assert firm.n_revisions_ == 0


def test_a_cut_moves_without_the_loss_of_what_is_below():
    rng = np.random.default_rng(1)
    x = rng.uniform(size=(20_000, 1))
    y = x[:, 0] < np.where(np.arange(20_000) < 1000, 0.3, 0.6)
    model = bt.StreamingTreeClassifier().fit(x, y)
    assert model.n_revisions_ == 0
    assert model.nodes()[0]["threshold"] == pytest.approx(0.6, abs=0.02)


def test_chance_is_not_split():
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(20_000, 4))).rename(columns=str)
    X["id"] = rng.integers(0, 2000, 20_000).astype(str)
    model = bt.StreamingTreeClassifier(schema={"id": "nominal"}).fit(X, rng.random(20_000) < 0.3)
    assert model.n_leaves_ == 1
    assert "no test is significant yet after 20,000 rows" in str(model)


def test_missing_values_take_the_side_where_they_are_better_placed():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=2000), np.zeros(2000, bool)
    y[:] = x > 0
    x[y & (rng.random(2000) < 0.3)] = np.nan
    model = bt.StreamingTreeClassifier().fit({"x": x}, y)
    assert model.predict({"x": [np.nan, -1.0, 1.0]}).tolist() == [True, False, True]


def test_missing_values_alone_may_be_a_branch():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=2000), rng.random(2000) < 0.5
    x[y] = np.nan
    model = bt.StreamingTreeClassifier().fit({"x": x}, y)
    assert model.predict({"x": [np.nan, np.inf, -np.inf]}).tolist() == [True, False, False]


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1.0, 1e12, 1e300])
def test_bins_suit_numbers_of_any_size(scale):
    x = np.random.default_rng(5).uniform(-1, 1, 5000) * scale
    model = bt.StreamingTreeClassifier().fit({"x": x}, x > 0.25 * scale)
    assert model.score({"x": x}, x > 0.25 * scale) > 0.97


@pytest.mark.filterwarnings("ignore:column 'x'. infinite")
def test_a_far_number_does_not_coarsen_the_others():
    x = np.append(np.random.default_rng(5).uniform(-1, 1, 5000), [1e300, -1e300, np.inf])
    model = bt.StreamingTreeClassifier(schema={"x": "numeric"}).fit({"x": x}, x > 0.25)
    assert model.score({"x": x}, x > 0.25) > 0.97


def test_declared_classes_that_never_come_are_answered_for():
    X, y = rows(0)
    model = bt.StreamingTreeClassifier(schema=KINDS).partial_fit(X[:100], y[:100], classes=["yes", "no", "maybe"])
    assert model.classes_.tolist() == ["maybe", "no", "yes"]
    assert (model.predict_proba(X[:100])[:, 0] == 0).all()


def test_a_batch_that_is_refused_leaves_the_tree_as_it_was():
    X, y = rows(0)
    model = bt.StreamingTreeClassifier(schema=KINDS).partial_fit(X[:200], y[:200])
    before = dumps(model)
    with pytest.raises(ValueError, match="colour"):
        model.partial_fit(X[200:].drop(columns="colour"), y[200:])
    assert dumps(model) == before


def test_parameters_that_are_set_on_the_way_count_from_then_on():
    X, y = rows(3)
    here = bt.StreamingTreeClassifier(schema=KINDS, max_depth=0).partial_fit(X[:200], y[:200])
    there = loads(dumps(here.set_params(**EAGER, max_depth=None)))
    assert here.partial_fit(X[200:], y[200:]).n_leaves_ > 1
    assert dumps(there.partial_fit(X[200:], y[200:])) == dumps(here)


@pytest.mark.parametrize("leaves", ["counts", "adaptive"])
@pytest.mark.parametrize("size", [1e-300, 1e-9, 1e9, 1e300])
def test_weights_of_any_size_are_learnt(size, leaves):
    X, y = rows(4, 150)  # a row of such a weight is learnt in many portions
    model = bt.StreamingTreeClassifier(leaves=leaves, schema=KINDS).fit(X, y, sample_weight=np.full(len(y), size))
    assert np.isfinite(model.predict_proba(X)).all()
    assert dumps(loads(dumps(model))) == dumps(model)


def test_damaged_statistics_are_refused_when_they_are_read():
    X, y = rows(1)
    seen = bt.StreamingTreeClassifier(leaves="adaptive", schema=KINDS, **EAGER).fit(X, y)
    for name, change in {
        "first": lambda a: a + 1,
        "missing": lambda a: a + 2,
        "own": lambda a: -a - 1,
        "low": lambda a: a[::-1].copy(),
        "gap": lambda a: a[1:],
        "exponent": lambda a: a * 0 + 5000,
        "classes": lambda a: a + 1,
        "n_bins": lambda a: a + 1,
        "branch_of": lambda a: a + 3,
        "next": lambda a: a * 0,
        "column": lambda a: a + 9,
        "cut": lambda a: a.astype(np.float32),
        "named": lambda a: a[1:],
    }.items():
        broken = msgspec.structs.replace(seen.seen_, **{name: change(getattr(seen.seen_, name))})
        with pytest.raises(ValueError, match="damaged"):
            broken.check(seen.schema_)


def test_a_file_without_the_statistics_is_refused():
    X, y = rows(1)
    _, held = document.read(dumps(bt.StreamingTreeClassifier(schema=KINDS).fit(X, y)), "m")
    with pytest.raises(ModelFileError, match="missing"):
        loads(document.write(msgspec.structs.replace(held, seen=msgspec.Raw(b"null"))))


def test_a_stream_of_files_is_learnt_with_a_checkpoint(tmp_path):
    X, y = rows(2, 600)
    for k in range(3):
        X[k * 200 : k * 200 + 200].assign(y=y[k * 200 : k * 200 + 200]).to_parquet(tmp_path / f"part-{k}.parquet")
    model = bt.StreamingTreeClassifier(schema=KINDS, **EAGER)
    there = bt.partial_fit(model, bt.scan(tmp_path / "*.parquet"), "y", tmp_path / "kept")
    here = bt.StreamingTreeClassifier(**model.get_params()).fit(X.assign(y=y), "y")
    assert np.array_equal(there.tree_.counts, here.tree_.counts)
    assert there.n_seen_ == 600


WRONG = {
    "confidence": 0,
    "grace": 0,
    "max_bins": 4,
    "criterion": "error",
    "tie": -1,
    "revise": 2,
    "max_depth": -1,
    "leaves": "bayes",
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters_are_named(name):
    with pytest.raises(ValueError, match=name):
        bt.StreamingTreeClassifier(**{name: WRONG[name]}).fit({"x": [1, 2], "y": ["a", "b"]}, "y")


def prequential(learn, answer, X, y, batch=500):
    right = 0
    for first in range(0, len(y), batch):
        part = slice(first, first + batch)
        right += (answer(X[part]) == y[part]).sum() if first else 0
        learn(X[part], y[part])
    return right / (len(y) - batch)


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["SEA", "Agrawal", "RandomRBF", "LED", "Hyperplane"])
def test_of_rivers_own_streams_more_is_right_than_its_majority_trees_get(stream):
    synth = pytest.importorskip("river.datasets.synth")
    from river import tree

    seeds = {"seed_model": 1, "seed_sample": 1} if stream == "RandomRBF" else {"seed": 1}
    taken = list(getattr(synth, stream)(**seeds).take(10_000))
    X, y = pd.DataFrame([x for x, _ in taken]).rename(columns=str).astype(float), np.array([label for _, label in taken])
    ours = bt.StreamingTreeClassifier(profile=False)
    theirs, right = tree.HoeffdingTreeClassifier(leaf_prediction="mc"), 0
    for k, (x, label) in enumerate(taken):
        right += k >= 500 and theirs.predict_one(x) == label
        theirs.learn_one(x, label)
    assert prequential(ours.partial_fit, ours.predict, X, y) >= right / (len(y) - 500)
