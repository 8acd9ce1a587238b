"""Any frame comes in, nothing is changed, and every refusal names the column, the value and the remedy."""

import datetime as dt
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import baytree as bt
from baytree.table import encode as door
from baytree.table.frames import read
from baytree.table.infer import Census

N = 40
RNG = np.random.default_rng(0)
WORDS = RNG.choice(["a", "b", "c"], N)
COLUMNS = {
    "number": RNG.normal(size=N),
    "whole": RNG.integers(0, 5, N),
    "flag": RNG.random(N) > 0.5,
    "word": WORDS,
    "day": np.array("2020-01-01", "M8[D]") + RNG.integers(0, 100, N),
}
LABELS = RNG.choice(["u", "v"], N)
PANDAS = pd.DataFrame(COLUMNS)
FRAMES = {
    "pandas": PANDAS,
    "pandas nullable": PANDAS.convert_dtypes(),
    "pandas Arrow": PANDAS.convert_dtypes(dtype_backend="pyarrow"),
    "pandas object": PANDAS.astype(object),
    "pandas categorical": PANDAS.astype({"word": "category"}),
    "polars": pl.DataFrame(COLUMNS),
    "polars categorical": pl.DataFrame(COLUMNS).with_columns(pl.col("word").cast(pl.Categorical)),
    "polars enum": pl.DataFrame(COLUMNS).with_columns(pl.col("word").cast(pl.Enum(["a", "b", "c"]))),
    "Arrow": pa.table(COLUMNS),
    "Arrow dictionary": pa.table({**COLUMNS, "word": pa.array(WORDS.tolist()).dictionary_encode()}),
    "dict of arrays": COLUMNS,
    "dict of lists": {name: values.tolist() for name, values in COLUMNS.items()},
}


def fitted(frame, labels=LABELS, **parameters):
    return bt.NaiveBayesClassifier(**parameters).fit(frame, labels)


@pytest.mark.parametrize("name", FRAMES)
def test_every_frame_gives_the_same_model(name):
    expected = fitted(PANDAS)
    model = fitted(FRAMES[name])
    assert [column.kind for column in model.schema_] == [column.kind for column in expected.schema_]
    assert np.allclose(model.predict_proba(FRAMES[name]), expected.predict_proba(PANDAS), atol=1e-9, rtol=0)


@pytest.mark.parametrize("trained", ["pandas", "polars", "Arrow"])
@pytest.mark.parametrize("asked", ["pandas", "polars", "Arrow", "dict of lists"])
def test_a_model_answers_for_another_library_s_frame(trained, asked):
    model = fitted(FRAMES[trained])
    assert np.array_equal(model.predict_proba(FRAMES[asked]), model.predict_proba(FRAMES[trained]))


@pytest.mark.parametrize("name", FRAMES)
def test_missing_values_of_every_library_are_missing(name):
    frame = FRAMES[name]
    model = fitted(frame)
    prior = model.predict_proba({column: [None] for column in COLUMNS})
    assert np.allclose(prior, [[np.mean(LABELS == "u") * N + 1, np.mean(LABELS == "v") * N + 1]] / np.float64(N + 2))


def test_every_kind_of_nothing_is_missing():
    nothings = [None, np.nan, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN")]
    for nothing in nothings:
        column = read({"x": [1.0, nothing, 2.0]}).columns["x"]
        assert np.isnan(column.values).tolist() == [False, True, False]
        levels = read({"x": ["a", nothing]}).columns["x"]
        assert (levels.factorise() if hasattr(levels, "factorise") else levels).codes.tolist() == [0, -1]
    masked = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    assert np.isnan(read(masked).columns["x1"].values[0])


def test_the_empty_string_is_a_level():
    model = bt.NaiveBayesClassifier().fit({"x": ["", "a", "", "a"], "y": [0, 1, 0, 1]}, "y")
    assert model.schema_["x"].levels == ("", "a")


def test_what_is_given_is_never_changed():
    frame = PANDAS.astype({"word": "category"})
    copy = frame.copy(deep=True)
    matrix = RNG.normal(size=(N, 3))
    before = matrix.copy()
    matrix.flags.writeable = False
    fitted(frame).predict(frame)
    fitted(matrix).predict(matrix)
    pd.testing.assert_frame_equal(frame, copy)
    assert np.array_equal(matrix, before)


def test_a_matrix_is_not_copied():
    matrix = RNG.normal(size=(N, 3))
    _, values = door.learn(read(matrix), Census.of(read(matrix)).schema(False))
    assert all(np.shares_memory(column, matrix) for column in values)


def test_sparse_and_dense_give_the_same_model():
    dense = np.where(RNG.random((N, 6)) < 0.7, 0.0, RNG.normal(size=(N, 6)))
    expected = fitted(dense).predict_proba(dense)
    for form in (sp.csr_matrix, sp.csc_array, sp.coo_array):
        assert np.array_equal(fitted(form(dense)).predict_proba(form(dense)), expected)


def test_kinds_are_inferred_by_the_documented_rules():
    frame = PANDAS.assign(
        size=pd.Categorical(np.resize(["S", "M", "L"], N), ["S", "M", "L"], ordered=True),
        review=[f"a long free text about thing {k} that nobody wrote twice" for k in range(N)],
        key=[f"id-{k}" for k in range(N)],
    )
    with pytest.warns(UserWarning, match="'key' is left out"):
        schema = Census.of(read(frame)).schema()
    kinds = {column.name: column.kind.value for column in schema}
    assert kinds["number"] == kinds["whole"] == kinds["day"] == "numeric"
    assert kinds["flag"] == kinds["word"] == "nominal"
    assert kinds["size"] == "ordinal"
    assert kinds["review"] == "text"
    assert schema.left_out == ("key",)
    assert "key" in str(schema)
    assert "only identifies rows" in str(schema)


def test_the_census_of_parts_is_the_census_of_the_whole():
    frame = PANDAS.assign(key=[f"id-{k}" for k in range(N)])
    for cut in (1, 7, 20, 39):
        parts = Census.of(read(frame[:cut])) + Census.of(read(frame[cut:]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert parts.schema() == Census.of(read(frame)).schema()


def test_kinds_can_be_declared():
    zips = {"zip": [98101.0, 98102.0, np.nan, 98101.0], "size": ["S", "L", "M", "S"], "y": [0, 1, 0, 1]}
    model = bt.NaiveBayesClassifier(schema={"zip": "nominal", "size": ["S", "M", "L"]}).fit(zips, "y")
    assert model.schema_["zip"].levels == (98101, 98102)
    assert model.schema_["size"].kind == "ordinal"
    assert model.schema_["size"].levels == ("S", "M", "L")
    assert model.predict_proba({"zip": [98102], "size": ["M"]}).shape == (1, 2)


def test_dates_keep_their_unit_and_answer_in_any_other():
    days = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-06-01", "2021-01-01", "2021-06-01"]), "y": [0, 0, 1, 1]})
    model = bt.NaiveBayesClassifier().fit(days, "y")
    asked = [dt.datetime(2020, 2, 1), dt.datetime(2021, 5, 1)]
    by_pandas = model.predict_proba(pd.DataFrame({"day": pd.to_datetime(asked)}))
    by_polars = model.predict_proba(pl.DataFrame({"day": [value.date() for value in asked]}))
    by_list = model.predict_proba({"day": asked})
    assert np.array_equal(by_pandas, by_polars)
    assert np.array_equal(by_pandas, by_list)
    assert "2020-05-16" in str(model)
    assert "days" in str(model)


def test_the_order_of_columns_does_not_matter():
    model = fitted(PANDAS)
    shuffled = PANDAS[["day", "word", "flag", "whole", "number"]]
    assert np.array_equal(model.predict_proba(shuffled), model.predict_proba(PANDAS))
    assert np.array_equal(model.predict_proba(shuffled.assign(extra=1)), model.predict_proba(PANDAS))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.drop(columns="word"), ["'word'", "missing now"]),
        (lambda f: f.assign(number="seven"), ["'number'", "'seven'", "not a number"]),
        (lambda f: f.assign(word=7), ["'word'", "strings", "7"]),
        (lambda f: pd.concat([f, f[["flag"]]], axis=1), ["'flag'", "2 times"]),
        (lambda f: f.assign(day=3.5), ["'day'", "a date"]),
        (lambda f: f.assign(number=np.inf), ["'number'", "row 0", "infinity"]),
        (lambda f: f.assign(whole=2**53 + 1), ["'whole'", "2^53", "nominal"]),
        (lambda f: f.assign(word=[{"a": 1}] * N), ["'word'", "dict"]),
        (lambda f: f.to_numpy()[:, :2], ["2 features", "expecting 5"]),
    ],
)
def test_what_cannot_be_meant_is_refused_in_the_user_s_words(change, words):
    model = fitted(PANDAS)
    with pytest.raises((ValueError, TypeError)) as error:
        model.predict(change(PANDAS))
    assert all(word in str(error.value) for word in words), str(error.value)


def test_unseen_levels_are_missing_or_refused():
    new, none = PANDAS.assign(word="new"), PANDAS.assign(word=None)
    model = fitted(PANDAS)
    assert np.array_equal(model.predict_proba(new), model.predict_proba(none))
    with pytest.raises(ValueError, match=r"'word': level 'new' was not seen in training; use unseen='missing'"):
        fitted(PANDAS, unseen="error").predict(new)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([1, "1"] * 20, "1 and '1'"),
        (["a", 1] * 20, "'a' and 1"),
        ([None, "a"] * 20, "row 0 is missing"),
        ([0.5, 1.5] * 20, "Unknown label type: continuous"),
        (np.full(N, np.inf), "infinity"),
        (["a"] * 7, "40 rows, but y has 7"),
        (None, "requires y"),
    ],
)
def test_labels_that_cannot_be_meant_are_refused(labels, words):
    with pytest.raises(ValueError, match=r"(?s).*") as error:
        fitted(PANDAS, labels)
    assert words in str(error.value)


@pytest.mark.parametrize(
    "classes",
    [["a", "a\0"], [True, False], [1, 2], [1.0, 2.0], [("x", 1), ("x", 2)], ["", " "], [np.int8(1), np.int8(2)], ["é", "ë"]],
)
def test_labels_come_back_as_they_were(classes):
    labels = [classes[int(value > 0)] for value in COLUMNS["number"]]
    model = fitted(PANDAS, labels)
    assert set(model.classes_.tolist()) == set(classes)
    assert set(model.predict(PANDAS).tolist()) <= set(classes)
    assert model.score(PANDAS, labels) > 0.9


def test_rows_without_a_target_are_left_out_with_a_warning():
    frame = PANDAS.assign(target=np.where(np.arange(N) < 3, None, LABELS))
    with pytest.warns(UserWarning, match="3 rows have no value"):
        model = bt.NaiveBayesClassifier().fit(frame, "target")
    assert np.array_equal(model.predict_proba(PANDAS), fitted(PANDAS[3:], LABELS[3:]).predict_proba(PANDAS))


@pytest.mark.parametrize("wrong", [[-1.0] * N, [np.nan] * N, [np.inf] * N, [0.0] * N, np.ones((N, 2)), [1.0, 2.0]])
def test_weights_that_cannot_be_meant_are_refused(wrong):
    with pytest.raises(ValueError, match=r"(?i)weight"):
        bt.NaiveBayesClassifier().fit(PANDAS, LABELS, sample_weight=wrong)


@pytest.mark.parametrize("estimate", ["mle", "map", "bayes"])
def test_weight_two_is_the_row_twice_and_weight_zero_is_no_row(estimate):
    weight = RNG.integers(0, 3, N)
    rows = np.repeat(np.arange(N), weight)
    weighted = bt.NaiveBayesClassifier(estimate=estimate).fit(PANDAS, LABELS, sample_weight=weight)
    repeated = bt.NaiveBayesClassifier(estimate=estimate).fit(PANDAS.iloc[rows], LABELS[rows])
    assert weighted.seen_ == repeated.seen_
    assert np.array_equal(weighted.predict_proba(PANDAS), repeated.predict_proba(PANDAS))


@pytest.mark.parametrize("scale", [1e307, 1e-300, 2.0**-1074])
def test_weights_of_any_size_work(scale):
    by_mle = bt.NaiveBayesClassifier(estimate="mle")
    expected = by_mle.fit(PANDAS, LABELS).predict_proba(PANDAS)
    answer = by_mle.fit(PANDAS, LABELS, sample_weight=np.full(N, scale)).predict_proba(PANDAS)
    assert np.allclose(answer, expected, rtol=1e-12, atol=1e-300)
    assert np.isfinite(
        bt.NaiveBayesClassifier().fit(PANDAS, LABELS, sample_weight=np.full(N, scale)).predict_proba(PANDAS)
    ).all()


any_text = st.text(st.characters(codec=None), max_size=8)  # lone surrogates and NUL included


@given(st.lists(any_text, min_size=2, max_size=12), st.lists(st.none() | any_text, min_size=1, max_size=12))
@settings(max_examples=300, deadline=None)
def test_any_strings_at_fit_and_any_at_predict_give_probabilities(seen, asked):
    labels = [k % 2 for k in range(len(seen))]
    model = bt.NaiveBayesClassifier(schema={"x": "nominal"}).fit({"x": seen}, labels)
    assert len(model.schema_["x"].levels) == len(set(seen))
    answer = model.predict_proba({"x": asked})
    assert np.allclose(answer.sum(axis=1), 1, atol=1e-12)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=False), min_size=4, max_size=12), st.floats(allow_infinity=False))
@settings(max_examples=300, deadline=None)
def test_any_double_gives_probabilities(values, asked):
    X = np.array(values).reshape(-1, 1)
    y = [k % 2 for k in range(len(values))]
    for estimate in ("mle", "bayes"):
        answer = bt.NaiveBayesClassifier(estimate=estimate).fit(X, y).predict_proba([[asked]])
        assert np.isfinite(answer).all()
        assert abs(answer.sum() - 1) < 1e-12
