"""Additive models validated where the rows are: the answers of memory, and no row is brought here."""

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import KFold

import baytree as bt
from remote_tables import on_disk, written

COLUMNS = ["age", "colour", "size", "width", "y"]
SAME = {
    "naive Bayes": (lambda: bt.NaiveBayesClassifier(), COLUMNS),
    "joint table": (lambda: bt.JointDistribution(), ["colour", "size", "y"]),
    "GaussianNB": (lambda: bt.GaussianNB(), ["age", "width", "y"]),
}
CLOSE = {
    "linear discriminant": (lambda: bt.LinearDiscriminantAnalysis(), COLUMNS, "y"),
    "quadratic discriminant": (lambda: bt.QuadraticDiscriminantAnalysis(), COLUMNS, "y"),
    "least squares": (lambda: bt.LinearRegression(), ["age", "colour", "size", "width"], "width"),
}
pytestmark = pytest.mark.filterwarnings("ignore::baytree.BaytreeWarning")


@pytest.mark.parametrize("name", SAME)
@pytest.mark.usefixtures("no_gathering")
def test_folds_where_the_rows_are_give_the_answers_of_memory(name, place, table):
    make, columns = SAME[name]
    here, there = (
        bt.cross_validate(make(), each, "y", cv=4) for each in (table.select(columns), place(table.select(columns), 7))
    )
    assert here.how == there.how
    for mine, theirs in zip(here.trials, there.trials, strict=True):
        assert np.array_equal(mine.rows, theirs.rows)
        assert np.array_equal(mine.answer, theirs.answer)
        assert np.array_equal(mine.probability, theirs.probability)
    assert str(here) == str(there)


@pytest.mark.parametrize("name", CLOSE)
@pytest.mark.usefixtures("no_gathering")
def test_folds_of_what_is_summed_in_doubles_agree_to_the_tenth_digit(name, place, table):
    make, columns, target = CLOSE[name]
    rows = table.select(columns).filter(pl.col(target).is_not_null())
    here, there = (bt.cross_validate(make(), each, target, cv=3).pooled for each in (rows, place(rows)))
    k = 1 if here[2] is None else 2
    assert np.abs(here[k] - there[k]).max() <= 1e-10


@pytest.mark.usefixtures("no_gathering")
def test_weights_and_a_share_that_is_held_out_travel_with_the_rows(place, table):
    for cv in (3, 0.25, KFold(3)):
        here, there = (
            bt.cross_validate(bt.NaiveBayesClassifier(), each, "y", cv=cv, sample_weight="w")
            for each in (table, place(table))
        )
        assert {m: here.mean(m) for m in here.metrics} == {m: there.mean(m) for m in there.metrics}


def test_what_does_not_add_up_is_brought_here_within_the_budget_or_refused(table, tmp_path):
    rows = table.drop("w")
    here = bt.cross_validate(bt.CARTClassifier(), rows, "y", cv=3).mean("accuracy")
    assert bt.cross_validate(bt.CARTClassifier(), on_disk(rows, tmp_path, 3), "y", cv=3).mean("accuracy") == here
    many = written(pl.concat([rows] * 10), tmp_path, 2)
    with pytest.raises(ValueError, match=r"at least .* GB.*memory=.*trains out of core"):
        bt.cross_validate(bt.CARTClassifier(), bt.scan(many / "*.parquet", memory="1MB"), "y", cv=3)
