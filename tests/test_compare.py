"""The comparison: same folds for all, true sentences, nothing lost at Ctrl-C, raw tables with no option but the target."""

from __future__ import annotations

import json
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import baytree as bt
from baytree.comparison.race import Progress

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


class Patient(DummyClassifier):
    """Learns only when it is told that it may."""

    may_learn = threading.Event()

    def fit(self, X, y):
        self.may_learn.wait(10)
        return super().fit(X, y)


def test_ctrl_c_keeps_the_models_that_are_finished_and_does_not_wait_for_the_others():
    def stop(progress: Progress) -> None:
        if progress.name == "patient":
            raise KeyboardInterrupt

    Patient.may_learn.clear()
    models = {"majority": DummyClassifier(), "bayes": GaussianNB(), "patient": Patient()}
    try:
        result = bt.compare(bands()[["noise", "label"]], "label", models, cv=3, progress=stop)
    finally:
        Patient.may_learn.set()
    assert {entry.short for entry in result.entries} == {"majority", "bayes"}
    assert result.is_interrupted
    assert "stopped before all models" in str(result)


def test_ctrl_c_before_any_model_is_finished_is_an_interrupt():
    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    Patient.may_learn.clear()
    with pytest.raises(KeyboardInterrupt):
        bt.compare(bands()[["noise", "label"]], "label", {"patient": Patient()}, cv=3, progress=stop)
    Patient.may_learn.set()


def test_the_number_of_threads_changes_no_result():
    results = [bt.compare(bands(), "label", cv=4, n_jobs=n).to_dict() for n in (1, 2, 5)]
    for result in results:
        for model in result["models"]:
            del model["seconds"]
    assert results[0] == results[1] == results[2]


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


def run(*words: str):
    from click.testing import CliRunner

    from baytree.cli.commands import main

    return CliRunner().invoke(main, list(words))


def test_the_command_prints_schema_leaderboard_and_model_and_saves_them(tmp_path):
    table = tmp_path / "rows.csv"
    bands().to_csv(table, index=False)
    done = run("compare", str(table), "--target", "label", "--models", "majority,nb", "-o", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    for words in ("numeric", "accuracy", "Recommended: ", "naive Bayes for label"):
        assert words in done.output
    assert max(len(line) for line in done.output.splitlines() if not line.startswith("saved")) <= 80
    assert bt.load(tmp_path / "out" / "model.baytree").predict({"x": [9.0], "noise": [0.0]}).tolist() == ["high"]
    assert json.loads((tmp_path / "out" / "results.json").read_text())["recommended"] == "nb"


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["--target", "lable"], "did you mean 'label'"),
        (["--target", "label", "--models", "forest"], "no model 'forest'"),
        (["--target", "label", "--cv", "1"], "--cv"),
    ],
)
def test_a_wrong_call_is_answered_with_a_sentence(tmp_path, words, answer):
    bands(20).to_csv(tmp_path / "rows.csv", index=False)
    done = run("compare", str(tmp_path / "rows.csv"), *words)
    assert done.exit_code == 2
    assert answer in done.output


def test_the_rank_command_prints_and_writes_the_ranking(tmp_path):
    bands().to_csv(tmp_path / "rows.csv", index=False)
    done = run("rank", str(tmp_path / "rows.csv"), "-t", "label", "--by", "anova", "-o", str(tmp_path / "rank.csv"))
    assert done.exit_code == 0, done.output
    assert list(pd.read_csv(tmp_path / "rank.csv")["column"]) == ["x", "noise"]
    assert run("rank", str(tmp_path / "rows.csv"), "-t", "label", "--by", "luck").exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize("table", ["titanic", "mushroom", "iris", "vote", "penguins", "tennis", "cpu", "autos"])
def test_raw_tables_need_no_option_but_the_target(table):
    import io

    import reference

    frame = pd.read_csv(io.BytesIO(reference.read(f"data/{table}.csv")))
    result = bt.compare(frame, frame.columns[-1], cv=3)
    assert len(result.entries) >= 3
    assert max(map(len, str(result).splitlines())) <= 80
