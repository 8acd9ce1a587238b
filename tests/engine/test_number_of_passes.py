"""How many rounds over rows elsewhere a model takes: what can be asked at once is asked at once."""

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree.engine import scan as scanning
from remote_tables import on_disk


@pytest.fixture
def rounds(monkeypatch):
    """The rounds after the first, one entry each."""
    made = []
    for name in ("map_reduce", "gather"):
        own = getattr(scanning.BlockStore, name)
        monkeypatch.setattr(scanning.BlockStore, name, lambda folder, work, own=own: made.append(1) or own(folder, work))
    return made


@pytest.mark.parametrize("make", [bt.GaussianNB, bt.LinearDiscriminantAnalysis, bt.NaiveBayesClassifier])
def test_an_additive_model_takes_one_round_after_the_first(make, table, tmp_path, rounds):
    make().fit(on_disk(table.select("age", "width", "y"), tmp_path, 3), "y")
    assert len(rounds) == 1


def test_logistic_regression_of_numbers_takes_two_rounds_and_at_most_two_for_each_step(tmp_path, rounds):
    r = np.random.default_rng(0)
    x = r.normal(size=(3000, 3))
    rows = pl.DataFrame(x, schema=["a", "b", "c"]).with_columns(y=pl.Series(x[:, 0] + r.logistic(size=3000) > 0))
    model = bt.LogisticRegression().fit(on_disk(rows, tmp_path, 3), "y")
    assert len(rounds) <= 3 + 2 * model.n_iter_[0]


def test_a_question_that_was_asked_in_time_is_answered_by_the_next_round(table, tmp_path, rounds):
    rows = bt.GaussianNB()._prepare_rows(on_disk(table.select("age", "y"), tmp_path, 3), "y", None).rows
    number, twice = rows.submit(len), rows.map_partitions(lambda part: part).submit(lambda part: 2 * len(part))
    assert rows.map_reduce(lambda part: np.array([len(part), 1]))[0] == number() == twice() / 2 == len(table)
    assert len(rounds) == 1
