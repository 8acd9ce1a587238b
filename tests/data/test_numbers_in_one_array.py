"""Numbers that lie in one array: what is told of them, and the models, are those of columns that are read one by one."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import baytree as bt
from baytree.data.frames import MatrixColumns, read
from baytree.data.inference import TableProfile, schema_of_array
from baytree.data.schema import Kind


def _strange(n_rows: int) -> dict[str, np.ndarray]:
    """Columns of which something is told, each beside one of which nothing is."""
    rng = np.random.default_rng(n_rows)
    rows = np.arange(n_rows)
    columns = {
        "count": rows + 1.0,
        "customer_id": rows * 7.0,
        "constant": np.full(n_rows, 2.5),
        "whole": rng.integers(0, 9, n_rows) * 1.0,
        "missing": np.where(rows % 3 == 0, np.nan, rng.normal(size=n_rows)),
        "first_missing": np.where(rows == 0, np.nan, rng.normal(size=n_rows)),
        "empty": np.full(n_rows, np.nan),
        "sentinel": np.where(rows == 3, -999.0, rng.normal(size=n_rows)),
        "far": np.where(rows == 3, 1e9, rng.normal(size=n_rows)),
        "often_far": np.where(rows % 5 == 3, 1e9, rng.normal(size=n_rows)),
        "two_values": np.where(rows % 2 == 0, 0.25, 0.75),
        "infinite": np.where(rows == 2, np.inf, rng.normal(size=n_rows)),
        "large": rng.normal(size=n_rows) * 1e307,
        "date": 20240101.0 + rows,
    }
    plain = {f"g{k}": rng.normal(size=n_rows) for k in range(2 * len(columns))}
    return {**plain, **columns, "twin": plain["g3"].copy(), "empty_twin": columns["missing"].copy()}


@pytest.mark.parametrize("n_rows", [2, 5, 17, 40, 5000])
@pytest.mark.parametrize("kind", [None, Kind.NUMERIC])
def test_a_schema_of_an_array_is_that_of_its_columns_one_by_one(n_rows: int, kind: Kind | None) -> None:
    columns = _strange(n_rows)
    frame = read(columns)
    array = MatrixColumns(np.column_stack(list(columns.values())), tuple(columns))
    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        one_by_one = TableProfile.of(frame, kind and dict.fromkeys(columns, kind)).schema()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        together = schema_of_array(frame, array, kind)
    assert together == one_by_one
    assert [str(each.message) for each in told] == [str(each.message) for each in expected]


def test_a_frame_of_numbers_only_that_number_rows_keeps_them() -> None:
    columns = {"a": np.arange(20.0), "b": np.arange(20.0) + 1}
    array = MatrixColumns(np.column_stack(list(columns.values())), tuple(columns))
    assert schema_of_array(read(columns), array) == TableProfile.of(read(columns)).schema()


@pytest.mark.parametrize("learner", [bt.GaussianNB, bt.NaiveBayesClassifier, bt.LinearDiscriminantAnalysis])
def test_a_frame_in_one_array_gives_the_model_of_its_columns(learner: type) -> None:
    rng = np.random.default_rng(4)
    numbers, label = rng.normal(size=(60, 30)), np.array(["no", "yes", "so"])[np.arange(60) % 3]
    names = [f"g{k}" for k in range(30)]
    frame = pd.DataFrame(numbers, columns=names)
    assert isinstance(read(frame).columns, MatrixColumns)
    apart = {name: numbers[:, k] for k, name in enumerate(names)}
    one, other = learner().fit(frame, label), learner().fit(apart, label)
    assert one.schema_ == other.schema_
    assert np.array_equal(one.predict_proba(frame), other.predict_proba(apart))
    few = one.predict_proba(frame.iloc[:3])
    assert np.allclose(few, one.predict_proba(frame)[:3], rtol=1e-12)
    assert np.array_equal(few, other.predict_proba(frame.iloc[:3]))
    swapped = frame[names[::-1]]
    assert np.array_equal(one.predict_proba(swapped), other.predict_proba({name: apart[name] for name in names[::-1]}))


def test_columns_that_pandas_holds_apart_are_read_one_by_one() -> None:
    frame = pd.DataFrame({"a": np.arange(30) / 7, "b": np.arange(30) / 3})
    frame["c"] = np.arange(30) / 5
    assert read(frame).columns["c"].values.tolist() == frame["c"].tolist()
    assert list(read(frame[["c", "a"]]).columns) == ["c", "a"]
