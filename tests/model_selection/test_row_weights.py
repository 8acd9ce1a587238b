"""Weights in cross-validation and comparison: in learning and in scoring; of weight 0 is not there, of weight 2 is twice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import baytree as bt

MODELS = {
    "nb": bt.NaiveBayesClassifier(),
    "kernels": bt.NaiveBayesClassifier(numeric="kernel"),
    "lda": bt.LinearDiscriminantAnalysis(),
    "logistic": bt.LogisticRegression(),
    "tree": bt.DecisionTreeClassifier(max_depth=3),
    "cart": bt.CARTClassifier(min_split=5),
    "scikit-learn": DecisionTreeClassifier(max_depth=3, random_state=0),
}


def weighted(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    label = rng.choice(["a", "b"], n)
    x = rng.normal(size=n) + (label == "a")
    return pd.DataFrame({"x": x, "z": rng.normal(size=n), "w": rng.integers(0, 4, n).astype(float), "label": label})


def folds(n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rows = np.arange(n)
    return [(rows[rows % 3 != k], rows[rows % 3 == k]) for k in range(3)]


def written_out(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[tuple[np.ndarray, np.ndarray]]]:
    """Every row as often as it weighs, and the same folds."""
    rows = np.repeat(np.arange(len(frame)), frame["w"].astype(int))
    fold = rows % 3
    pairs = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    return frame.iloc[rows].drop(columns="w").reset_index(drop=True), pairs


@pytest.mark.parametrize("name", MODELS)
def test_a_row_of_weight_two_is_a_row_twice_and_one_of_weight_zero_is_none(name):
    frame = weighted()
    columns = frame.drop(columns="w")
    often, pairs = written_out(frame)
    by_name = MODELS[name]
    results = [
        bt.cross_validate(by_name, columns, "label", cv=folds(60), sample_weight=frame["w"].to_numpy()),
        bt.cross_validate(by_name, frame, "label", cv=folds(60), sample_weight="w"),
    ]
    expected = bt.cross_validate(by_name, often, "label", cv=pairs)
    for result in results:
        for metric in expected.metrics:
            assert result.scores(metric) == pytest.approx(expected.scores(metric), rel=1e-6), metric
        assert np.array_equal(result.confusion, expected.confusion)


def test_a_comparison_weighs_the_rows_too():
    frame = weighted()
    often, pairs = written_out(frame)
    result = bt.compare(frame, "label", "majority,nb,tree", cv=folds(60), sample_weight="w")
    expected = bt.compare(often, "label", "majority,nb,tree", cv=pairs)
    scores = [{entry.short: entry.validation.mean("accuracy") for entry in found.entries} for found in (result, expected)]
    assert scores[0] == pytest.approx(scores[1])
    assert np.array_equal(result.best.predict(frame[["x", "z"]]), expected.best.predict(frame[["x", "z"]]))
    assert "w" not in result.best.schema_.names


def test_rows_that_do_not_count_are_taken_out_of_given_folds_and_groups():
    frame = weighted()
    frame.loc[[5, 9], "label"] = None
    with pytest.warns(UserWarning, match="2 rows have no value"):
        result = bt.cross_validate(bt.NaiveBayesClassifier(), frame, "label", cv=folds(60), sample_weight="w")
    kept = np.flatnonzero((frame["w"] > 0) & frame["label"].notna())
    assert [trial.rows.tolist() for trial in result.trials] == [np.flatnonzero(kept % 3 == k).tolist() for k in range(3)]
    with pytest.warns(UserWarning, match="2 rows have no value"):
        grouped = bt.cross_validate(bt.NaiveBayesClassifier(), frame, "label", cv=3, groups=np.arange(60) // 5)
    assert len(grouped.pooled[0]) == 58


def test_weights_that_cannot_be_are_refused():
    frame = weighted()
    nb = bt.NaiveBayesClassifier()
    with pytest.raises(ValueError, match="sample_weight='weight' is not a column"):
        bt.cross_validate(nb, frame, "label", sample_weight="weight")
    with pytest.raises(ValueError, match="one weight for each of the 60 rows"):
        bt.cross_validate(nb, frame, "label", sample_weight=[1.0, 2.0])
    with pytest.raises(ValueError, match="KNeighborsClassifier does not accept sample_weight"):
        bt.cross_validate(KNeighborsClassifier(), frame, "label", sample_weight="w")
