"""Any frame comes in, nothing is changed, and every library's missing values are missing."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from mixed_frames import COLUMNS, FRAMES, LABELS, PANDAS, RNG, N, fitted

import baytree as bt
from baytree.data.encoding import fit_encode
from baytree.data.frames import read
from baytree.data.inference import TableProfile


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


@pytest.mark.parametrize("name", ["pandas", "polars", "Arrow", "Arrow dictionary"])
def test_the_target_may_be_a_column_of_any_frame_and_no_rows_get_no_answers(name):
    rows = pl.DataFrame({**COLUMNS, "label": LABELS})
    frame = {"pandas": rows.to_pandas(), "polars": rows}.get(name, rows.to_arrow())
    if name == "Arrow dictionary":
        frame = frame.set_column(frame.num_columns - 1, "label", frame["label"].dictionary_encode())
    model = bt.NaiveBayesClassifier().fit(frame, "label")
    assert model.classes_.tolist() == ["u", "v"]
    assert model.predict(frame[:0]).tolist() == []
    assert model.predict_proba(frame[:0]).shape == (0, 2)


def test_every_kind_of_nothing_is_missing():
    nothings = [None, np.nan, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN")]
    for nothing in nothings:
        column = read({"x": [1.0, nothing, 2.0]}).columns["x"]
        assert np.isnan(column.values).tolist() == [False, True, False]
        levels = read({"x": ["a", nothing]}).columns["x"]
        assert (levels.factorise() if hasattr(levels, "factorise") else levels).codes.tolist() == [0, -1]
    masked = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    assert np.isnan(read(masked).columns["x1"].values[0])


def test_the_empty_string_is_missing_unless_its_column_is_declared():
    rows = {"x": ["", "a", "b", "a"], "y": [0, 1, 0, 1]}
    assert bt.NaiveBayesClassifier().fit(rows, "y").schema_["x"].levels == ("a", "b")
    assert bt.NaiveBayesClassifier(schema={"x": "nominal"}).fit(rows, "y").schema_["x"].levels == ("", "a", "b")


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
    _, values = fit_encode(read(matrix), TableProfile.of(read(matrix)).schema(False))
    assert all(np.shares_memory(column, matrix) for column in values)


def test_sparse_and_dense_give_the_same_model():
    dense = np.where(RNG.random((N, 6)) < 0.7, 0.0, RNG.normal(size=(N, 6)))
    expected = fitted(dense).predict_proba(dense)
    for form in (sp.csr_matrix, sp.csc_array, sp.coo_array):
        assert np.array_equal(fitted(form(dense)).predict_proba(form(dense)), expected)


def test_dates_keep_their_unit_and_answer_in_any_other():
    days = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-06-01", "2021-01-01", "2021-06-01"]), "y": [0, 0, 1, 1]})
    model = bt.NaiveBayesClassifier().fit(days, "y")
    asked = [dt.datetime(2020, 2, 1), dt.datetime(2021, 5, 1)]
    by_pandas = model.predict_proba(pd.DataFrame({"day": pd.to_datetime(asked)}))
    by_polars = model.predict_proba(pl.DataFrame({"day": [value.date() for value in asked]}))
    by_list = model.predict_proba({"day": asked})
    assert np.array_equal(by_pandas, by_polars)
    assert np.array_equal(by_pandas, by_list)
    assert "2020-04-29" in str(model)
    assert "days" in str(model)


WORDS = st.text(st.sampled_from("ab\u00e4\U0001f333 "), max_size=20)


@given(st.lists(st.lists(st.none() | WORDS, max_size=40), min_size=1, max_size=3), st.integers(0, 5))
def test_strings_get_the_codes_of_their_order_whatever_the_chunks_that_hold_them(chunks, first):
    series = pl.concat([pl.Series("x", chunk, pl.String) for chunk in chunks], rechunk=False)[first:]
    cells = series.to_list()
    codes = read(pl.DataFrame(series)).columns["x"].factorise()
    assert codes.levels == tuple(sorted({cell for cell in cells if cell is not None}))
    assert [None if code < 0 else codes.levels[code] for code in codes.codes.tolist()] == cells


def test_a_name_of_any_letters_is_one_column_of_strings():
    for name in ("", "\0", "a\0b", "é\n"):
        (column,) = read(pl.DataFrame({name: ["v", "u", None]})).columns.values()
        assert column.factorise().levels == ("u", "v")


@pytest.mark.parametrize("dtype", [pl.Int128, pl.UInt128])
def test_integers_of_128_bits_are_numbers_where_a_double_holds_them(dtype):
    values, labels = [3, 2**70, None, 5] * 10, ["a", "b"] * 20
    model = bt.CARTClassifier().fit(pl.DataFrame({"x": pl.Series(values, dtype=dtype), "y": labels}), "y")
    same = bt.CARTClassifier().fit({"x": [None if value is None else float(value) for value in values], "y": labels}, "y")
    assert str(model) == str(same)
    with pytest.raises(ValueError, match=r"column 'x', row 1: .* is beyond 2\^53 and has no exact double"):
        model.predict(pl.DataFrame({"x": pl.Series([1, 2**70 + 1], dtype=dtype)}))
