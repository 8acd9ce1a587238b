"""Models of sums agree with memory to the tenth digit; predictions and evaluation happen in the database."""

from importlib import import_module

import numpy as np
import polars as pl
import pytest

import baytree as bt
from remote_tables import mixed_table

ENGINE = "baytree.engine.sql"
CLOSE = {
    "linear discriminant": lambda: bt.LinearDiscriminantAnalysis(),
    "quadratic discriminant": lambda: bt.QuadraticDiscriminantAnalysis(),
    "logistic regression": lambda: bt.LogisticRegression(),
    "balanced logistic regression": lambda: bt.LogisticRegression(class_weight="balanced"),
    "lasso": lambda: bt.LogisticRegression(penalty="l1", C=0.05),
}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return mixed_table().drop("w")


@pytest.mark.parametrize("name", CLOSE)
@pytest.mark.filterwarnings("ignore::baytree.BaytreeWarning")
def test_a_model_of_sums_is_the_same_to_the_tenth_digit(name, stored, table):
    here, there = (CLOSE[name]().fit(rows, "y").predict_proba(table) for rows in (table, stored(table)))
    assert np.abs(here - there).max() <= 1e-10


def test_two_classes_are_told_apart_by_one_score(stored, table):
    rows = table.filter(pl.col("y") != "rare")
    here, there = (bt.LogisticRegression().fit(each, "y").predict_proba(rows) for each in (rows, stored(rows)))
    assert np.abs(here - there).max() <= 1e-10


def test_numbers_are_predicted_the_same_to_the_tenth_digit(stored, table):
    rows = table.drop("y").filter(pl.col("width").is_not_null())
    here, there = (bt.LinearRegression().fit(each, "width").predict(rows) for each in (rows, stored(rows)))
    assert np.abs(here - there).max() <= 1e-10


def test_levels_of_too_many_combinations_are_grouped_in_pairs(stored, table, monkeypatch):
    monkeypatch.setattr(import_module(".products", ENGINE), "MAX_GROUPS", 5)
    for make in (CLOSE["quadratic discriminant"], CLOSE["logistic regression"]):
        here, there = (make().fit(rows, "y").predict_proba(table) for rows in (table, stored(table)))
        assert np.abs(here - there).max() <= 1e-10


@pytest.mark.parametrize("make", [bt.NaiveBayesClassifier, bt.DecisionTreeClassifier, bt.LinearDiscriminantAnalysis])
def test_columns_of_many_numbers_give_nearly_the_model_of_memory(make, stored, table, monkeypatch):
    monkeypatch.setattr(import_module(".frame", ENGINE), "MAX_VALUES", 100)  # width has more
    limits = {"max_depth": 3} if make is bt.DecisionTreeClassifier else {}
    here, there = (make(**limits).fit(rows, "y").predict_proba(table) for rows in (table, stored(table)))
    difference = np.abs(here - there)
    if limits:  # thresholds are quantiles
        assert np.quantile(difference.max(axis=1), 0.9) <= 0.1
    else:
        assert difference.max() <= 1e-10


def test_predictions_are_columns_of_a_relation(stored, table):
    model = bt.CHAIDClassifier().fit(table, "y")
    there = model.predict(stored(table)).fetch()
    assert list(there)[len(table.columns) :] == ["prediction", "P(high)", "P(low)", "P(rare)"]
    order = ("age", "colour", "size", "width")
    found = pl.DataFrame({name: there[name] for name in (*order, "prediction")}, strict=False)
    assert found["prediction"].to_list() == model.predict(found).tolist()


def test_a_table_is_written_only_where_it_is_named_and_replaced_only_on_request(database, stored, table):
    predicted = bt.CHAIDClassifier().fit(table, "y").predict(stored(table))
    predicted.into("scored_here", replace=True)
    with pytest.raises(ValueError, match=r"already exists|refused"):
        predicted.into("scored_here")
    predicted.into("scored_here", replace=True)
    cursor = database.connection.cursor()
    cursor.execute("SELECT COUNT(*) FROM scored_here")
    assert cursor.fetchall()[0][0] == len(table)


def test_evaluation_in_the_database_equals_that_of_memory(stored, table):
    model = bt.CHAIDClassifier().fit(table, "y")
    here, there = bt.evaluate(model, table), bt.evaluate(model, stored(table))
    assert there.scores == pytest.approx(here.scores, abs=1e-9)
    assert str(there.confusion) == str(here.confusion)


@pytest.mark.parametrize("by", ["information_gain", "chi2", "correlation", "anova"])
def test_a_ranking_of_columns_is_that_of_memory(by, stored, table):
    assert str(bt.rank_features(stored(table), "y", by=by)) == str(bt.rank_features(table, "y", by=by))
