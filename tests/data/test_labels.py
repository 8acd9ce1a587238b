"""Labels go in and come back as they were, in sorted or declared order; what cannot be meant is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from mixed_frames import COLUMNS, LABELS, PANDAS, N, fitted

import baytree as bt


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([1, "1"] * 20, "1 and '1'"),
        (["a", 1] * 20, "'a' and 1"),
        ([None, "a"] * 20, "row 0 is missing"),
        ([0.5, 1.5] * 20, "Unknown label type: continuous"),
        (np.full(N, np.inf), "infinity"),
        ([2**70, -(2**70)] * 20, "beyond 64 bits; give its classes as strings"),
        (pl.Series("y", [2**70, -(2**70)] * 20, pl.Int128), "beyond 64 bits; give its classes as strings"),
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


DECLARED = {
    "pandas": lambda: pd.Categorical(LABELS, ["v", "u"]),
    "pandas ordered": lambda: pd.Categorical(LABELS, ["v", "u"], ordered=True),
    "pandas series": lambda: pd.Series(pd.Categorical(LABELS, ["none", "v", "u"])),
    "polars enum": lambda: pl.Series("y", LABELS, dtype=pl.Enum(["v", "u"])),
    "Arrow dictionary": lambda: pa.DictionaryArray.from_arrays(pa.array((LABELS == "u").astype("int8")), ["v", "u"]),
}


@pytest.mark.parametrize("name", DECLARED)
def test_a_target_with_declared_levels_keeps_their_order(name):
    model = bt.NaiveBayesClassifier().fit(PANDAS, DECLARED[name]())
    expected = fitted(PANDAS)
    assert model.classes_.tolist() == ["v", "u"]
    assert np.array_equal(model.predict_proba(PANDAS), expected.predict_proba(PANDAS)[:, ::-1])
    assert np.array_equal(model.predict(PANDAS), expected.predict(PANDAS))


def test_the_schema_may_declare_the_order_of_the_classes():
    frame = PANDAS.assign(answer=LABELS)
    model = bt.NaiveBayesClassifier(schema={"answer": ["v", "none", "u"]}).fit(frame, "answer")
    assert model.classes_.tolist() == ["v", "u"]
    assert bt.NaiveBayesClassifier(schema={"y": ["v", "u"]}).fit(PANDAS, LABELS).classes_.tolist() == ["v", "u"]
    with pytest.raises(ValueError, match=r"'answer' has the class 'u' that schema does not declare; it names 'v', 'w'"):
        bt.NaiveBayesClassifier(schema={"answer": ["v", "w"]}).fit(frame, "answer")


def test_declared_classes_keep_their_order_whichever_batch_brings_them_first():
    labels = pd.Categorical(np.repeat(["low", "high", "middle", "high"], N // 4), ["low", "middle", "high"])
    whole = bt.NaiveBayesClassifier().fit(PANDAS, labels)
    batches = bt.NaiveBayesClassifier()
    for first in range(0, N, N // 4):
        batches.partial_fit(PANDAS[first : first + N // 4], labels[first : first + N // 4])
    assert batches.classes_.tolist() == whole.classes_.tolist() == ["low", "middle", "high"]
    assert np.array_equal(batches.predict_proba(PANDAS), whole.predict_proba(PANDAS))


def test_labels_that_come_apart_are_told_from_a_column_of_their_name():
    model = bt.JointDistribution().fit({"y": ["u", "v", "u", "v"]}, ["a", "b", "a", "b"])
    assert model.schema_.target.name == "y (target)"
    assert model.predict({"y": ["v", "u"]}).tolist() == ["b", "a"]
