"""A file read in batches teaches, and is answered, as if it had been read at once."""

import numpy as np
import pytest

import baytree as bt
from baytree import datasets
from baytree.data import files
from baytree.streaming import predict as batch_predict
from baytree.streaming.fit import FitRequest, learn


def test_batches_give_the_model_of_the_whole_file(tmp_path, monkeypatch):
    table = datasets.load("penguins", as_="polars").sample(fraction=1.0, shuffle=True, seed=1)
    table.write_csv(tmp_path / "p.csv")
    whole = bt.NaiveBayesClassifier().fit(bt.read(tmp_path / "p.csv"), "species")
    monkeypatch.setattr(files.blocks, "BLOCK_BYTES", 2000)
    source = files.source(tmp_path / "p.csv")
    assert len(list(source.batches())) > 5
    parts = learn({"classification": bt.NaiveBayesClassifier()}, source, FitRequest("species"))
    assert parts.schema_ == whole.schema_
    assert np.allclose(parts.predict_proba(table), whole.predict_proba(table), rtol=1e-12)


@pytest.mark.parametrize("order", ["species", "island", "sex"])
def test_sorted_rows_give_the_same_model_in_batches(tmp_path, monkeypatch, order):
    table = datasets.load("penguins", as_="polars").sort(order)
    table.write_csv(tmp_path / "p.csv")
    whole = bt.NaiveBayesClassifier().fit(bt.read(tmp_path / "p.csv"), "species")
    monkeypatch.setattr(files.blocks, "BLOCK_BYTES", 1000)
    nb = {"classification": bt.NaiveBayesClassifier()}
    parts = learn(nb, files.source(tmp_path / "p.csv"), FitRequest("species"))
    assert parts.schema_ == whole.schema_
    assert np.allclose(parts.predict_proba(table), whole.predict_proba(table), rtol=1e-12)


def test_rows_are_found_by_their_number_across_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(files.blocks, "BLOCK_BYTES", 8)
    (tmp_path / "t.csv").write_text("x\n" + "\n".join(map(str, range(1, 50))) + "\n")
    found = batch_predict.rows(files.source(tmp_path / "t.csv"), [1, 17, 49, 50])
    assert {at: frame["x"].to_list() for at, frame in found.items()} == {1: [1], 17: [17], 49: [49]}


def test_confusions_of_batches_add_up_to_those_of_all_rows(tmp_path, monkeypatch):
    table = datasets.load("penguins", as_="polars")
    table.write_csv(tmp_path / "p.csv")
    model = bt.NaiveBayesClassifier().fit(table, "species")
    monkeypatch.setattr(files.blocks, "BLOCK_BYTES", 2000)
    counted = batch_predict.evaluate_source(model._predictor, files.source(tmp_path / "p.csv"))
    assert counted.n_rows == len(table)
    assert np.trace(counted.counts) / len(table) == model.score(table, "species")


def test_answers_of_batches_are_those_of_all_rows(tmp_path, monkeypatch):
    table = datasets.load("penguins", as_="polars")
    table.write_csv(tmp_path / "p.csv")
    model = bt.NaiveBayesClassifier().fit(table, "species")
    monkeypatch.setattr(files.blocks, "BLOCK_BYTES", 2000)
    batches = batch_predict.answers(model._predictor, files.source(tmp_path / "p.csv"), True, extra_columns=["island"])
    columns = [{name: list(values) for name, values in each.items()} for each in batches]
    assert len(columns) > 5
    assert [label for each in columns for label in each["prediction"]] == model.predict(table).tolist()
    assert [island for each in columns for island in each["island"]] == table["island"].to_list()
    assert np.array_equal([p for each in columns for p in each["P(Gentoo)"]], model.predict_proba(table)[:, 2])


def test_words_are_not_taken_for_numbers_that_a_model_could_predict(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "1,a\n2,b\n" * 5)
    with pytest.raises(ValueError, match="'y' has classes, but this model is a regressor"):
        learn({"regression": bt.CARTRegressor()}, files.source(tmp_path / "t.csv"), FitRequest("y"))


def test_the_reasons_beside_an_answer_are_the_largest_of_its_ledger(tmp_path):
    table = datasets.load("penguins", as_="polars")[:20]
    table.write_csv(tmp_path / "p.csv")
    model = bt.NaiveBayesClassifier().fit(datasets.load("penguins", as_="polars"), "species")
    (columns,) = batch_predict.answers(model._predictor, files.source(tmp_path / "p.csv"), False, n_reasons=2)
    for row, ledger in enumerate(model.explain(table)):
        amounts = ledger.against_runner_up()[2][1:]
        largest = sorted(amounts, key=abs, reverse=True)
        assert [columns["effect 1"][row], columns["effect 2"][row]] == largest[:2]
        assert columns["reason 1"][row] == ledger.evidence[amounts.index(largest[0])].label


def test_rows_without_so_many_reasons_have_empty_ones(tmp_path):
    (tmp_path / "t.csv").write_text("wind\nweak\n")
    model = bt.ID3Classifier().fit({"wind": ["weak", "strong"], "y": ["a", "b"]}, "y")
    (columns,) = batch_predict.answers(model._predictor, files.source(tmp_path / "t.csv"), False, n_reasons=2)
    assert (columns["reason 1"], columns["reason 2"], columns["effect 2"]) == (["wind = weak"], [None], [None])


def test_a_class_of_too_small_a_probability_is_no_prediction(tmp_path):
    penguins = bt.datasets.load("penguins")
    penguins.to_csv(tmp_path / "p.csv", index=False)
    model = bt.NaiveBayesClassifier().fit(penguins[["island", "sex", "species"]], "species")
    source = files.source(tmp_path / "p.csv")
    (columns,) = batch_predict.answers(model._predictor, source, True, n_reasons=1, min_probability=0.7)
    expected = model.predict(penguins, reject=0.7).tolist()
    assert None in expected
    assert columns["prediction"].to_list() == expected
    assert columns["no prediction because"].is_null().to_list() == [label is not None for label in expected]
    assert list(columns)[:3] == ["prediction", "no prediction because", "P(Adelie)"]
