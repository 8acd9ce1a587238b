"""The comparison: same folds for all, true sentences, nothing lost at Ctrl-C, raw tables with no option but the target."""

from __future__ import annotations

import json
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import baytree as bt
from baytree.comparison.compare import Progress
from baytree.comparison.contestants import CLASSIFIERS

sys.path.insert(0, __file__.rsplit("/", 1)[0] + "/oracles")


def bands(n: int = 120, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    label = rng.choice(["low", "high"], n)
    frame = pd.DataFrame({"x": rng.normal(size=n) + 2 * (label == "high"), "noise": rng.normal(size=n), "label": label})
    frame.loc[::7, "x"] = np.nan
    return frame


FAST = ["majority", "nb-mle", "nb"]


def test_every_model_answers_for_the_same_rows_in_the_same_folds():
    result = bt.compare(bands(), "label", FAST, cv=5)
    rows = [[trial.rows.tolist() for trial in entry.validation.trials] for entry in result.entries]
    assert all(other == rows[0] for other in rows)


def test_the_leaderboard_is_sorted_marked_and_fits_eighty_columns():
    result = bt.compare(bands(), "label", FAST, cv=5)
    means = [entry.validation.summary("accuracy").mean for entry in result.entries]
    assert means == sorted(means, reverse=True)
    assert max(map(len, str(result).splitlines())) <= 80
    assert result.entries[-1].short == "majority"
    assert result.entries[-1] not in result.contenders
    assert list(result.to_frame()["model"]) == [entry.name for entry in result.entries]


def test_the_recommendation_is_the_smallest_model_that_is_not_significantly_worse():
    result = bt.compare(bands(), "label", cv=5)
    chosen = result.recommendation
    assert chosen in result.contenders
    assert all(chosen.size.numbers <= entry.size.numbers for entry in result.contenders)
    assert chosen.name in result.sentence
    assert result.recommended.predict(bands().drop(columns="label")).shape == (120,)


def test_on_noise_the_majority_class_is_recommended():
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc")).assign(y=rng.choice(["n", "n", "y"], 200))
    assert bt.compare(noise, "y", FAST, cv=5).recommendation.short == "majority"


def test_selection_inside_a_model_sees_only_the_training_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 600)), np.arange(60) % 2
    models = {"chosen inside": make_pipeline(SelectKBest(k=5), GaussianNB()), "majority": DummyClassifier()}
    result = bt.compare(X, y, models, cv=5)
    score = next(entry for entry in result.entries if entry.short == "chosen inside").validation.summary("accuracy").mean
    assert score < 0.68


def test_ctrl_c_keeps_the_models_that_are_finished():
    def stop(progress: Progress) -> None:
        if progress.name == CLASSIFIERS["nb"].name and progress.done > 8:
            raise KeyboardInterrupt

    result = bt.compare(bands(), "label", FAST, cv=3, progress=stop)
    assert {entry.short for entry in result.entries} == {"majority", "nb-mle"}
    assert result.is_interrupted
    assert "stopped before all models" in str(result)


def test_progress_counts_to_the_end():
    told = []
    bt.compare(bands(), "label", FAST, cv=3, progress=told.append)
    assert told[-1].done == told[-1].total == 12
    assert told[-1].seconds_left == 0


def test_a_model_that_fails_is_named_and_the_others_go_on():
    class Broken(GaussianNB):
        def fit(self, X, y):
            raise ValueError("out of luck")

    result = bt.compare(bands()[["noise", "label"]], "label", {"broken": Broken(), "fine": GaussianNB()}, cv=3)
    assert [entry.short for entry in result.entries] == ["fine"]
    assert "left out: broken (out of luck)" in str(result)


def test_the_same_call_gives_the_same_result():
    first, second = (bt.compare(bands(), "label", FAST, cv=4).to_dict() for _ in range(2))
    for result in (first, second):
        for model in result["models"]:
            del model["seconds"]
    assert first == second


def test_results_are_valid_json_without_nan():
    text = bt.compare(bands(12), "label", FAST, cv="loo").to_json()
    assert json.loads(text)["recommended"] in FAST
    assert "NaN" not in text


def test_a_number_as_target_gets_the_regression_models():
    rng = np.random.default_rng(0)
    x = rng.random(80)
    result = bt.compare({"x": x, "price": np.where(x > 0.5, 10.5, 1.25) + rng.normal(size=80) * 0.1}, "price", cv=4)
    assert result.metric == "RMSE"
    assert result.entries[-1].short == "mean"


def test_unknown_models_are_named_with_those_that_there_are():
    with pytest.raises(ValueError, match="no model 'forest'; there is: majority"):
        bt.compare(bands(), "label", "forest")


def test_hostile_names_never_reach_the_terminal_raw():
    frame = bands().rename(columns={"label": "la\x1b[31mbel"})
    frame["text\x07"] = ["a", "b"] * 60
    assert "\x1b" not in str(bt.compare(frame, "la\x1b[31mbel", FAST, cv=3))


@pytest.mark.slow
@pytest.mark.parametrize("table", ["titanic", "mushroom", "iris", "vote", "penguins", "tennis", "cpu", "autos"])
def test_raw_tables_need_no_option_but_the_target(table):
    import io

    import reference

    frame = pd.read_csv(io.BytesIO(reference.read(f"data/{table}.csv")))
    result = bt.compare(frame, frame.columns[-1], cv=3)
    assert len(result.entries) >= 3
    assert max(map(len, str(result).splitlines())) <= 80
