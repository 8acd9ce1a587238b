"""What a table looked like: sketches and profiles of parts add up to those of the whole, bit for bit."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import baytree as bt
from baytree import storage
from baytree.data.encoding import Table
from baytree.data.schema import Column, Kind, Schema, Target
from baytree.statistics.profile import EXACT_EXPONENT, MAX_BUCKETS, Histogram, Profile, sample_rows, sampling_step
from law_settings import settings

finite = st.floats(-1e300, 1e300)
close = st.one_of(st.floats(-1000, 1000), st.sampled_from([0.0, -0.0, np.nan, 1e9, -1e-300, np.inf]))
RANDOM = np.random.default_rng(3)


def sketch(values, label=None):
    label = np.zeros(len(values), np.int32) if label is None else label
    return Histogram.of(np.asarray(values, float), label, None, 2)


def is_same(left, right):
    return np.array_equal(left.edges, right.edges) and left.exponent == right.exponent and left.counts == right.counts


@given(arrays(np.float64, st.integers(0, 900), elements=st.one_of(close, finite)), st.integers(0, 900))
@settings(max_examples=60, deadline=None)
def test_sketches_of_parts_add_up_to_that_of_the_whole(values, cut):
    label = (np.arange(len(values)) % 2).astype(np.int32)
    parts = sketch(values[:cut], label[:cut]), sketch(values[cut:], label[cut:])
    whole = sketch(values, label)
    assert is_same(parts[0] + parts[1], whole)
    assert is_same(parts[1] + parts[0], whole)


@pytest.mark.parametrize("values", [RANDOM.normal(size=5000), RANDOM.lognormal(0, 4, 5000), RANDOM.normal(size=3000) + 1e12])
def test_a_sketch_has_few_buckets_and_no_more_than_it_must(values):
    seen = sketch(values)
    assert MAX_BUCKETS / 4 < len(seen.edges) <= MAX_BUCKETS
    assert seen.counts.known().sum() == len(values)


def test_few_distinct_numbers_stay_as_they_are_however_far_apart():
    seen = sketch([1e-300, 2.0, 2.0, 1e300] * 100)
    assert seen.exponent == EXACT_EXPONENT
    assert seen.edges.tolist() == [1e-300, 2.0, 1e300]


def test_a_part_can_be_taken_away_and_a_stranger_cannot():
    values = RANDOM.normal(size=1000)
    left = sketch(values) - sketch(values[:400])
    assert left.counts.known().sum() == 600
    with pytest.raises(ValueError, match="not in the histogram"):
        sketch(values) - sketch([1e6])


FRAME = pd.DataFrame({
    "size": RANDOM.normal(size=600),
    "kind": RANDOM.choice(["a", "b", "c"], 600),
    "y": RANDOM.choice(["no", "yes"], 600),
})  # fmt: skip


def same_profile(left, right):
    assert left.rows == right.rows
    for mine, theirs in zip(left.columns, right.columns, strict=True):
        assert is_same(mine, theirs) if isinstance(mine, Histogram) else mine == theirs


def test_batches_leave_the_profile_of_all_rows_and_forgetting_takes_rows_out_of_it():
    whole = bt.NaiveBayesClassifier().fit(FRAME, "y")
    batches = bt.NaiveBayesClassifier()
    for first in range(0, 600, 200):
        batches.partial_fit(FRAME[first : first + 200], "y")
    same_profile(batches.profile_, whole.profile_)
    merged = bt.NaiveBayesClassifier().fit(FRAME[:100], "y").merge(bt.NaiveBayesClassifier().fit(FRAME[100:], "y"))
    same_profile(merged.profile_, whole.profile_)
    forgot = whole.forget(FRAME[:100], "y")
    assert forgot.profile_.rows[0] == 500
    assert forgot.profile_.columns[1] == bt.NaiveBayesClassifier().fit(FRAME[100:], "y").profile_.columns[1]


def test_a_profile_survives_its_file_and_a_file_without_one_loads(tmp_path):
    model = bt.CARTClassifier().fit(FRAME, "y")
    bt.save(model, tmp_path / "m.baytree")
    same_profile(bt.load(tmp_path / "m.baytree").profile_, model.profile_)
    model.profile_ = None
    bt.save(model, tmp_path / "without.baytree")
    assert b'"profile": {' not in (tmp_path / "without.baytree").read_bytes()
    assert bt.load(tmp_path / "without.baytree").profile_ is None


def test_rows_in_another_order_leave_the_same_profile():
    shuffled = FRAME.sample(frac=1.0, random_state=1)
    same_profile(bt.CARTClassifier().fit(shuffled, "y").profile_, bt.CARTClassifier().fit(FRAME, "y").profile_)


def test_learning_from_very_many_columns_takes_no_time_for_a_profile():
    wide = np.zeros((300, 5000))
    assert bt.GaussianNB().fit(wide, np.arange(300) % 2).profile_ is None


@pytest.mark.parametrize("estimator", [bt.CARTClassifier, bt.NaiveBayesClassifier, bt.LogisticRegression])
def test_a_model_keeps_no_profile_where_none_is_wanted(estimator):
    model = estimator(profile=False).fit(FRAME, "y")
    assert model.profile_ is None
    assert storage.loads(storage.dumps(model)).profile is False
    with pytest.raises(ValueError, match=r"profile='no'"):
        estimator(profile="no").fit(FRAME, "y")


def test_batches_without_a_profile_stay_without():
    model = bt.NaiveBayesClassifier(profile=False).partial_fit(FRAME[:300], "y").partial_fit(FRAME[300:], "y")
    assert model.profile_ is None


LARGE = Table(
    Schema((Column("size", Kind.NUMERIC), Column("kind", Kind.NOMINAL, ("a", "b"))), Target("y", ("no", "yes"))),
    (RANDOM.normal(size=4000), (np.arange(4000) % 2).astype(np.int32)),
    np.ones(4000),
    (np.arange(4000) % 4 < 1).astype(np.int32),
    True,
)


@given(st.integers(0, 4000), st.sampled_from([2, 8, 64]))
@settings(max_examples=20, deadline=None)
def test_parts_of_a_large_table_choose_the_rows_that_the_whole_does(cut, step):
    parts = [sample_rows(step, LARGE.rows(*span)).values[0] for span in ((0, cut), (cut, 4000))]
    whole = sample_rows(step, LARGE).values[0]
    assert np.array_equal(np.concatenate(parts), whole)
    assert 4000 // step <= len(whole) <= -(-4000 // step)


def test_the_rows_that_are_looked_at_stand_for_all_whatever_the_rhythm_of_the_table():
    seen = Profile.from_sample(sample_rows(8, LARGE), 8, 4000)
    assert seen.rows[0] == 4000
    assert seen.n_sampled == 500
    weight = seen.columns[1].known()
    assert weight.sum() == 4000
    assert abs(weight[0].sum() - 2000) < 500
    assert abs(weight[:, 1].sum() - 1000) < 400


def test_of_a_million_cells_every_row_is_looked_at_and_of_more_a_bounded_number():
    assert [sampling_step(LARGE.schema, n) for n in (0, 1 << 19, (1 << 19) + 1, 1 << 20, 10_000_000)] == [1, 1, 32, 32, 512]


def test_profiles_of_some_rows_and_of_all_add_up():
    some, all_rows = Profile.from_sample(sample_rows(8, LARGE), 8, 4000), Profile.of(LARGE.rows(0, 100))
    both = some + all_rows
    assert (both.rows[0], both.n_sampled) == (4100, 600)
    assert both.columns[1].known().sum() == 4100


def test_a_profile_of_some_rows_cannot_forget_and_is_left_out(monkeypatch):
    for name in ("MAX_COMPLETE_CELLS", "MAX_SAMPLED_CELLS"):
        monkeypatch.setattr(f"baytree.statistics.profile.{name}", 100)
    model = bt.NaiveBayesClassifier().fit(FRAME, "y")
    assert model.profile_.n_sampled < 600
    assert model.forget(FRAME[:100], "y").profile_ is None
