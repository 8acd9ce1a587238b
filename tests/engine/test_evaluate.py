"""A model judged where the rows are: every score is that of memory, to the last bit."""

import numpy as np
import polars as pl
import pytest

import baytree as bt
from baytree.metrics import scores as metrics
from baytree.metrics.residuals import Residuals
from baytree.statistics import value_counts
from baytree.statistics.value_counts import WeightedProbabilities
from remote_tables import on_disk


@pytest.fixture(scope="module")
def models(table):
    rows = table.drop("w")
    known = rows.filter(pl.col("width").is_not_null())
    return {
        "three classes": (bt.NaiveBayesClassifier().fit(rows, "y"), rows),
        "two classes": (bt.DecisionTreeClassifier(max_depth=3).fit(rows.filter(pl.col("y") != "rare"), "y"), None),
        "numbers": (bt.DecisionTreeRegressor(max_depth=4).fit(known, "width"), known),
    }


@pytest.mark.parametrize("name", ["three classes", "two classes", "numbers"])
@pytest.mark.parametrize("weight", [None, "w"])
def test_the_scores_of_a_model_are_those_of_memory(name, weight, place, table, models):
    model, _ = models[name]
    rows = table.filter(pl.col("y") != "rare") if name == "two classes" else table
    if name == "numbers":
        rows = rows.filter(pl.col("width").is_not_null())
    here, there = (bt.evaluate(model, each, sample_weight=weight) for each in (rows, place(rows, 7)))
    assert here.scores == there.scores
    assert str(here) == str(there)
    if name != "numbers":
        assert np.array_equal(here.confusion, there.confusion)
        assert all(np.array_equal(mine, here.calibration()[key]) for key, mine in there.calibration().items())


@pytest.mark.parametrize("weight", [None, "w"])
def test_costs_and_decision_curves_are_those_of_memory(weight, place, table, models):
    model, costs = models["three classes"][0], np.array([[0, 1, 9], [3, 0, 2], [5, 8, 0]])
    here, there = (bt.evaluate(model, rows, sample_weight=weight, costs=costs) for rows in (table, place(table, 7)))
    assert here.scores["expected cost"] == there.scores["expected cost"]
    assert str(here) == str(there)
    for label in model.classes_:
        assert np.array_equal(here.decision_curve(label).model, there.decision_curve(label).model)


@pytest.mark.parametrize("weight", [None, "w"])
def test_sums_give_what_the_metrics_of_rows_give(weight, table, models):
    for name, (model, rows) in models.items():
        if rows is None:
            continue
        known = table.filter(pl.col("width").is_not_null()) if name == "numbers" else table
        known = known.filter(pl.col("w") > 0)
        target = "width" if name == "numbers" else "y"
        weights = None if weight is None else known["w"].to_numpy()
        if name == "numbers":
            answers = metrics.ScoredRows(known[target].to_numpy(), model.predict(known), None, weights)
        else:
            code = {label: k for k, label in enumerate(model.classes_)}
            truth, given = (np.array([code[label] for label in each]) for each in (known[target], model.predict(known)))
            answers = metrics.ScoredRows(truth, given, model.predict_proba(known), weights)
        found = bt.evaluate(model, known, sample_weight=weight).scores
        assert found == pytest.approx({metric: metrics.score(metric, answers) for metric in found}, rel=1e-12)


def test_rows_without_a_target_are_left_out_and_told(place, table, models):
    model, _ = models["three classes"]
    gone = table.with_columns(pl.when(pl.col("age") != 30).then(pl.col("y")).alias("y"))
    with pytest.warns(bt.BaytreeWarning, match=f"{gone['y'].null_count()} rows have no value in the target column 'y'"):
        found = bt.evaluate(model, place(gone))
    assert found.n_rows == len(table) - gone["y"].null_count()


def test_a_class_that_the_model_does_not_know_is_named(place, table, models):
    with pytest.raises(ValueError, match="class 'rare' was not seen in training"):
        bt.evaluate(models["two classes"][0], place(table))


def test_labels_apart_are_refused_by_name_where_rows_are_elsewhere(table, tmp_path, models):
    rows = on_disk(table, tmp_path, 2)
    with pytest.raises(ValueError, match="target as a column: give its name"):
        bt.evaluate(models["three classes"][0], rows, table["y"])
    with pytest.raises(ValueError, match="sample_weight as a column: give its name"):
        bt.evaluate(models["three classes"][0], rows, sample_weight=table["w"])
    with pytest.raises(ValueError, match="no target column 'z'"):
        bt.evaluate(models["three classes"][0], rows, "z")


def test_numbers_have_no_confusion(models):
    model, rows = models["numbers"]
    with pytest.raises(ValueError, match="no confusion"):
        _ = bt.evaluate(model, rows).confusion


def test_of_many_probabilities_the_first_digits_give_the_area_whatever_the_parts(monkeypatch):
    monkeypatch.setattr(value_counts, "MAX_DISTINCT_VALUES", 500)
    r = np.random.default_rng(0)
    score = 1 / (1 + np.exp(-r.normal(-2, 3, 20_000)))
    truth = r.random(20_000) < score
    exact = metrics.area_under_curve(truth, score)
    empty = WeightedProbabilities.of(score[:0], truth[:0], None, 2)
    parts = [np.array_split(np.arange(len(score)), n) for n in (1, 7, 100)]
    found = [sum((WeightedProbabilities.of(score[k], truth[k], None, 2) for k in each), start=empty) for each in parts]
    assert found[0].is_coarse
    assert all(np.array_equal(each.value, found[0].value) and each.cells == found[0].cells for each in found)
    assert metrics.area_of_counts(*found[0].weights().T[::-1]) == pytest.approx(exact, abs=1e-6)


def test_of_many_errors_the_first_digits_give_the_median(monkeypatch):
    monkeypatch.setattr(value_counts, "MAX_DISTINCT_VALUES", 500)
    r = np.random.default_rng(0)
    truth, answer = r.normal(1e6, 1, 5000), r.normal(1e6, 1, 5000)
    scores = Residuals.of(truth, answer).scores
    assert scores["median error"] == pytest.approx(np.median(np.abs(truth - answer)), rel=1e-3)
