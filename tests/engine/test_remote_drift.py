"""The drift of rows that are not in memory: the same counts, made where the rows are."""

import polars as pl
import pytest

import baytree as bt


@pytest.mark.parametrize("pieces", [1, 7])
def test_drift_on_an_engine_is_that_of_memory(place, table: pl.DataFrame, pieces: int):
    model = bt.CARTClassifier().fit(table.drop("w"), "y")
    changed = table.drop("w", "colour").with_columns(pl.col("age") / 10, pl.col("size").replace("L", "huge"))
    here, there = bt.drift(model, changed), bt.drift(model, place(changed, pieces=pieces))
    assert there.to_dict() == here.to_dict()
    assert {"age", "size", "colour"} <= set(there.alarms)


def test_days_on_an_engine_add_up(place, table: pl.DataFrame):
    model = bt.NaiveBayesClassifier().fit(table.drop("w"), "y")
    days = [bt.drift(model, place(part)) for part in (table[:400].drop("w"), table[400:].drop("w"))]
    assert (days[0] + days[1]).to_dict() == bt.drift(model, table.drop("w")).to_dict()
