"""The rows that two models answer otherwise, where they are not in memory."""

import polars as pl
import pytest

import baytree as bt


@pytest.mark.parametrize("pieces", [1, 7])
def test_flips_on_an_engine_are_those_of_memory(place, table: pl.DataFrame, pieces: int):
    rows = table.drop("w")
    old, new = bt.CARTClassifier().fit(rows, "y"), bt.NaiveBayesClassifier().fit(rows, "y")
    here, there = bt.diff(old, new, rows), bt.diff(old, new, place(rows, pieces=pieces))
    assert here.rows.n_flipped > 0
    assert there.to_dict() == here.to_dict()
