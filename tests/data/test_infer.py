"""What each column is taken for, and what can be declared instead."""

import warnings

import numpy as np
import pandas as pd
import pytest
from mixed_frames import PANDAS, N

import baytree as bt
from baytree.data.frames import read
from baytree.data.inference import TableProfile


def test_kinds_are_inferred_by_the_documented_rules():
    frame = PANDAS.assign(
        size=pd.Categorical(np.resize(["S", "M", "L"], N), ["S", "M", "L"], ordered=True),
        review=[f"a long free text about thing {k} that nobody wrote twice" for k in range(N)],
        key=[f"id-{k}" for k in range(N)],
    )
    with pytest.warns(UserWarning, match="'key' is left out"):
        schema = TableProfile.of(read(frame)).schema()
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
        parts = TableProfile.of(read(frame[:cut])) + TableProfile.of(read(frame[cut:]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert parts.schema() == TableProfile.of(read(frame)).schema()


def test_kinds_can_be_declared():
    zips = {"zip": [98101.0, 98102.0, np.nan, 98101.0], "size": ["S", "L", "M", "S"], "y": [0, 1, 0, 1]}
    model = bt.NaiveBayesClassifier(schema={"zip": "nominal", "size": ["S", "M", "L"]}).fit(zips, "y")
    assert model.schema_["zip"].levels == (98101, 98102)
    assert model.schema_["size"].kind == "ordinal"
    assert model.schema_["size"].levels == ("S", "M", "L")
    assert model.predict_proba({"zip": [98102], "size": ["M"]}).shape == (1, 2)
