"""Models that are fitted in a database equal those of memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree.storage import dumps
from remote_tables import mixed_table

COLUMNS = ["age", "colour", "size", "width", "y"]
SAME = {
    "naive Bayes": (lambda: bt.NaiveBayesClassifier(), COLUMNS),
    "naive Bayes with kernels": (lambda: bt.NaiveBayesClassifier(numeric="kernel"), COLUMNS),
    "naive Bayes with bins": (lambda: bt.NaiveBayesClassifier(numeric="discretized"), COLUMNS),
    "GaussianNB": (lambda: bt.GaussianNB(), ["age", "width", "y"]),
    "CategoricalNB": (lambda: bt.CategoricalNB(), ["colour", "size", "y"]),
    "joint table": (lambda: bt.JointDistribution(), ["colour", "size", "y"]),
    "open tree": (lambda: bt.DecisionTreeClassifier(max_depth=4), COLUMNS),
    "multiway tree": (lambda: bt.DecisionTreeClassifier(branching="multiway", max_depth=3), COLUMNS),
    "merged tree": (lambda: bt.DecisionTreeClassifier(branching="merge", criterion="gini", max_depth=3), COLUMNS),
    "CHAID": (lambda: bt.CHAIDClassifier(), COLUMNS),
}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return mixed_table()


@pytest.mark.parametrize("name", SAME)
@pytest.mark.filterwarnings("ignore::baytree.BaytreeWarning")
def test_a_model_of_counts_is_the_same_file_as_from_memory(name, stored: Callable[..., Any], table):
    make, columns = SAME[name]
    here = make().fit(table.select(columns), "y")
    there = make().fit(stored(table.select(columns)), "y")
    assert dumps(here) == dumps(there)
    assert here.schema_ == there.schema_


def test_weights_are_a_column_and_rows_of_weight_0_do_not_count(stored, table):
    here = bt.NaiveBayesClassifier(profile=False).fit(table.drop("w"), "y", sample_weight=table["w"])
    there = bt.NaiveBayesClassifier(profile=False).fit(stored(table), "y", sample_weight="w")
    assert dumps(here) == dumps(there)


def test_rows_without_a_label_are_left_out_and_counted(stored, table):
    gone = table.drop("w").with_columns(pl.when(pl.col("age") != 30).then(pl.col("y")).alias("y"))
    with pytest.warns(bt.BaytreeWarning, match=f"{gone['y'].null_count()} rows have no value in the target column 'y'"):
        there = bt.NaiveBayesClassifier().fit(stored(gone), "y")
    with pytest.warns(bt.BaytreeWarning):
        assert dumps(there) == dumps(bt.NaiveBayesClassifier().fit(gone, "y"))


def test_booleans_dates_and_integers_are_read_as_in_memory(database, stored):
    r = np.random.default_rng(4)
    days = np.array(["2024-01-01"], "datetime64[D]") + r.integers(0, 300, 400)
    frame = pl.DataFrame({"day": days, "visits": r.integers(0, 9, 400), "y": r.integers(0, 3, 400)})
    if database.dialect != "mysql" and database.dialect != "sqlite":  # they have no booleans
        frame = frame.with_columns(member=pl.Series(r.random(400) < 0.4))
    if database.dialect == "sqlite":  # it has no dates
        frame = frame.drop("day")
    here, there = (bt.NaiveBayesClassifier().fit(rows, "y") for rows in (frame, stored(frame)))
    assert dumps(here) == dumps(there)


def test_only_aggregates_leave_the_database(stored, table):
    model = bt.CHAIDClassifier().fit(stored(table.select("colour", "size", "y")), "y")
    assert max(query.rows for query in model.queries_) < 100
    assert all(query.sql.startswith(("WITH ", "SELECT ", "DESCRIBE ")) for query in model.queries_)


def test_a_model_that_needs_rows_is_refused_by_name_with_the_remedy(stored, table):
    rows = stored(table.drop("w"))
    for model in (bt.C45Classifier(), bt.CARTClassifier(), bt.NBTreeClassifier()):
        with pytest.raises(ValueError, match=f"{type(model).__name__} needs the rows themselves.*bt.scan"):
            model.fit(rows, "y")
