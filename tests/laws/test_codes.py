"""Numbers as codes: the distinct ones in ascending order, whatever their type, range, strides and number of rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import baytree as bt
from baytree.data.frames import factorise_together, read
from law_settings import settings

small = st.integers(-40, 40)
far = st.one_of(small, st.integers(-(2**63), 2**63 - 1))
odd = st.sampled_from([0.0, -0.0, 5e-324, 65535.0, 65536.0, 1e300, np.nan])
numbers = st.one_of(small.map(float), st.floats(width=64), odd)
MATRICES = st.one_of(
    arrays(np.int64, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=small),
    arrays(np.int64, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=far),
    arrays(np.uint64, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=st.integers(0, 2**64 - 1)),
    arrays(np.int8, st.tuples(st.integers(1, 30), st.integers(1, 4))),
    arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=numbers),
)


@settings(max_examples=100, deadline=None)
@given(MATRICES, st.booleans())
def test_codes_name_the_distinct_numbers_in_ascending_order(matrix, is_turned):
    frame = read(np.asfortranarray(matrix) if is_turned else matrix)
    factorise_together(list(frame.columns.values()))
    for j, raw in enumerate(frame.columns.values()):
        codes, known = raw.factorise(), matrix[:, j][matrix[:, j] == matrix[:, j]]
        assert list(codes.levels) == np.unique(known).tolist()
        assert (codes.codes[matrix[:, j] != matrix[:, j]] == -1).all()
        assert [codes.levels[code] for code in codes.codes if code >= 0] == known.tolist()


@pytest.mark.parametrize("n_rows", [131_072, 131_073, 300_000])
def test_parts_of_a_long_column_share_their_codes(n_rows):
    random = np.random.default_rng(0)
    words = random.choice(["b", "a", "long string here", "c"], n_rows)
    words[-1] = "only at the end"
    distinct, codes = np.unique(words, return_inverse=True)
    model = bt.NaiveBayesClassifier().fit({"word": words}, np.where(codes > 1, "u", "v"))
    assert model.schema_.columns[0].levels == tuple(distinct.tolist())
    assert model.seen_.statistics[0].known().sum(axis=1).tolist() == np.bincount(codes).tolist()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict, lambda columns: np.stack(list(columns.values()), 1)])
def test_codes_beyond_the_doubles_stay_apart_where_they_are_nominal(make):
    code = np.array([2**53, 2**53 + 1] * 20)
    table = make({"x0": code, "x1": np.arange(40)})
    label = np.where(code % 2, "odd", "even")
    model = bt.NaiveBayesClassifier(schema={"x0": "nominal", "x1": "nominal"}).fit(table, label)
    assert model.schema_.columns[0].levels == (2**53, 2**53 + 1)
    assert (model.predict(table) == label).all()
