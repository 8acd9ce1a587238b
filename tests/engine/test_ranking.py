"""Columns ranked where the rows are: the ranking of memory, and no row is brought here."""

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree.engine.remote import RemotePartitions
from baytree.feature_selection import column_counts

pytestmark = pytest.mark.filterwarnings("ignore::baytree.BaytreeWarning")


def ranked(rows, by, **options):
    return [
        (rank.column, rank.score, rank.p, rank.known, rank.how) for rank in bt.rank_features(rows, "y", by, **options).ranks
    ]


@pytest.mark.parametrize("by", ["information_gain", "gain_ratio", "symmetric_uncertainty", "chi2"])
@pytest.mark.usefixtures("no_gathering")
def test_counts_where_the_rows_are_rank_columns_as_in_memory(by, place, table):
    rows, order = table.drop("w"), {"size": ["S", "M", "L", "XL"]}
    for cuts in ("auto", "mdl"):
        here, there = (ranked(each, by, cuts=cuts, schema=order) for each in (rows, place(rows, 7)))
        assert repr(here) == repr(there)


@pytest.mark.parametrize("by", ["correlation", "spearman", "anova"])
@pytest.mark.usefixtures("no_gathering")
def test_tests_where_the_rows_are_agree_with_memory(by, place, table):
    here, there = (ranked(each, by) for each in (table.drop("w"), place(table.drop("w"))))
    assert [(name, how) for name, *_, how in here] == [(name, how) for name, *_, how in there]
    assert np.array([numbers[1:4] for numbers in here], float) == pytest.approx(
        np.array([numbers[1:4] for numbers in there], float), rel=1e-9, abs=1e-12, nan_ok=True
    )


@pytest.mark.usefixtures("no_gathering")
def test_words_are_counted_where_they_are(place):
    words = [f"{'good' if k % 2 else 'bad'} word{k % 7}" for k in range(60)]
    rows = pl.DataFrame({"review": words, "y": ["yes", "no"] * 30})
    here, there = (ranked(each, "chi2", schema={"review": "text"}, words=True) for each in (rows, place(rows)))
    assert here == there


def test_of_a_column_of_many_numbers_only_that_column_is_brought(place, table, monkeypatch):
    monkeypatch.setattr(column_counts, "MAX_DISTINCT_VALUES", 100)
    brought = []
    gather = RemotePartitions.gather
    monkeypatch.setattr(RemotePartitions, "gather", lambda *given: brought.append(gather(*given)) or brought[-1])
    here, there = (ranked(each, "information_gain") for each in (table.drop("w"), place(table.drop("w"))))
    assert repr(here) == repr(there)
    assert all(part.schema.names == ("width",) for part in brought)


@pytest.mark.parametrize("by", ["mrmr", "importance"])
def test_what_looks_at_columns_together_brings_its_rows(by, place, table):
    assert ranked(place(table.drop("w")), by) == ranked(table.drop("w"), by)


def test_numbers_to_predict_are_ranked_as_in_memory(place, table):
    rows = table.select("age", "colour", pl.col("width").alias("y")).drop_nulls()
    assert ranked(place(rows), "correlation") == ranked(rows, "correlation")


def test_a_target_that_is_not_there_is_named(place, table):
    with pytest.raises(ValueError, match="no target column 'z'"):
        bt.rank_features(place(table), "z")
