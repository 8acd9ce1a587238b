"""The comparison: same folds for all, true sentences, nothing lost at Ctrl-C, raw tables with no option but the target."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import baytree as bt
from baytree.comparison.candidates import participants
from baytree.comparison.fold_tasks import Progress
from baytree.model_selection.problem import SupervisedProblem
from shared_tables import bands

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))


FAST = ["majority", "nb-mle", "nb"]


def test_every_model_answers_for_the_same_rows_in_the_same_folds():
    result = bt.compare(bands(), "label", FAST, cv=5)
    rows = [[trial.rows.tolist() for trial in entry.validation.trials] for entry in result.entries]
    assert all(other == rows[0] for other in rows)


def test_words_for_nothing_are_missing_values_for_those_who_take_part():
    frame = bands().assign(x=np.where(np.arange(120) % 40, "here", "NA"))[["x", "label"]]
    assert SupervisedProblem.of(frame, "label").missing == {"x": 3 / 120}
    assert ("ID3", "column 'x' has missing values") in bt.compare(frame, "label", ["id3", *FAST], cv=5).skipped


def test_the_leaderboard_is_sorted_marked_and_fits_eighty_columns():
    result = bt.compare(bands(), "label", FAST, cv=5)
    means = [entry.validation.mean("Brier score") for entry in result.entries]
    assert means == sorted(means)
    assert max(map(len, str(result).splitlines())) <= 80
    assert result.entries[-1].short == "majority"
    assert result.entries[-1] not in result.contenders
    assert list(result.to_frame()["model"]) == [entry.name for entry in result.entries]


@pytest.mark.slow
def test_the_recommendation_is_the_smallest_model_that_is_as_good_as_the_best():
    result = bt.compare(bands(), "label", cv=5, repeats=1)
    chosen = result.recommendation
    assert chosen in result.contenders
    assert all(chosen.size.numbers <= entry.size.numbers for entry in result.contenders)
    assert chosen.name in result.sentence
    assert result.recommended.predict(bands().drop(columns="label")).shape == (120,)
    assert result.models[chosen.short] is result.recommended


def test_on_noise_the_majority_class_is_recommended():
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc")).assign(y=rng.choice(["n", "n", "y"], 200))
    result = bt.compare(noise, "y", FAST, cv=5)
    assert result.recommendation.short == "majority"
    assert "No model is better than always predicting n" in result.sentence


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
    assert "interrupted before all models" in str(result)


def test_ctrl_c_before_any_model_is_finished_is_an_interrupt():
    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    Patient.may_learn.clear()
    with pytest.raises(KeyboardInterrupt):
        bt.compare(bands()[["noise", "label"]], "label", {"patient": Patient()}, cv=3, progress=stop)
    Patient.may_learn.set()


@pytest.mark.slow
def test_the_number_of_threads_changes_no_result():
    results = [bt.compare(bands(), "label", cv=4, repeats=1, n_jobs=n).to_dict() for n in (1, 2, 5)]
    for result in results:
        for model in result["models"]:
            del model["seconds"]
    assert results[0] == results[1] == results[2]


def test_progress_counts_to_the_end():
    told = []
    bt.compare(bands(), "label", FAST, cv=3, repeats=1, progress=told.append)
    assert told[-1].done == told[-1].total == 12
    assert told[-1].seconds_left == 0


def test_a_model_that_fails_is_named_and_the_others_go_on():
    class Broken(GaussianNB):
        def fit(self, X, y):
            raise ValueError("out of luck")

    result = bt.compare(bands()[["noise", "label"]], "label", {"broken": Broken(), "fine": GaussianNB()}, cv=3)
    assert [entry.short for entry in result.entries] == ["fine"]
    assert "left out: broken (out of luck)" in str(result)


def test_a_tree_and_its_rules_grow_together_what_each_grows_alone():
    frame = bands()
    both = {entry.short: entry for entry in bt.compare(frame, "label", ["c50", "c50-rules"], cv=4, repeats=1).entries}
    for short in ("c50", "c50-rules"):
        alone = bt.compare(frame, "label", [short], cv=4, repeats=1).entries[0]
        pairs = zip(both[short].validation.trials, alone.validation.trials, strict=True)
        assert all(np.array_equal(mine.probability, own.probability) for mine, own in pairs)
        assert both[short].fitted.export("python") == alone.fitted.export("python")


@pytest.fixture
def learner_of_c50():
    return bt.C50Classifier()._learner(bt.C50Classifier().fit(bands(), "label").schema_)


def test_models_that_begin_alike_grow_once_for_each_fold_and_once_for_all_rows(learner_of_c50, monkeypatch):
    grown, first_step = [], type(learner_of_c50.first_step)
    taken = first_step.run
    monkeypatch.setattr(first_step, "run", lambda step, rows: grown.append(rows.n_rows) or taken(step, rows))
    others = [bt.C50Classifier(rules=True, min_cases=5), bt.C50Classifier(trials=2), bt.C50Classifier(fuzzy=True)]
    bt.compare(bands(), "label", ["c50", "c50-rules"], cv=4, repeats=1)
    assert sorted(grown) == [90, 90, 90, 90, 120]
    grown.clear()
    bt.compare(bands(), "label", {"tree": bt.C50Classifier(), **dict(zip("abc", others, strict=True))}, cv=4, repeats=1)
    assert len(grown) == 4 * 5


def test_rules_that_fail_do_not_cost_the_tree_they_come_from(learner_of_c50, monkeypatch):
    learner = type(learner_of_c50)
    learnt = learner.learn_from_stage

    def trees_alone(self, begun):
        if self.rules:
            raise ValueError("no rules today")
        return learnt(self, begun)

    monkeypatch.setattr(learner, "learn_from_stage", trees_alone)
    result = bt.compare(bands(), "label", ["c50", "c50-rules", "nb"], cv=4, repeats=1)
    assert {entry.short for entry in result.entries} == {"c50", "nb"}
    assert result.skipped == (("C5.0, rules", "no rules today"),)


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


@pytest.mark.slow
def test_a_number_as_target_gets_the_regression_models():
    rng = np.random.default_rng(0)
    x = rng.random(80)
    result = bt.compare({"x": x, "price": np.where(x > 0.5, 10.5, 1.25) + rng.normal(size=80) * 0.1}, "price", cv=4)
    assert result.metric == "squared error"
    assert result.entries[-1].short == "mean"


def test_unknown_models_are_named_with_those_that_there_are():
    with pytest.raises(ValueError, match="no model 'forest'; there is: majority"):
        bt.compare(bands(), "label", "forest")


def test_hostile_names_never_reach_the_terminal_raw():
    frame = bands().rename(columns={"label": "la\x1b[31mbel"})
    frame["text\x07"] = ["a", "b"] * 60
    assert "\x1b" not in str(bt.compare(frame, "la\x1b[31mbel", FAST, cv=3))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"x": [1.0, 2.0] * 9, "y": ["a"] * 18}, "'a' in every row"),
        ({"x": [1.0, 2.0] * 9, "y": [2.5] * 18}, "2.5 in every row"),
        ({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]}, "3 rows are too few"),
        ({"y": ["a", "b"] * 9}, "no column besides the target 'y'"),
        ({"name": [f"n{i}" for i in range(20)], "y": ["a", "b"] * 10}, "no column to learn from: 'name'"),
        ({"x": [1.0] * 8, "y": [None] * 8}, "no row has a label"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_cannot_be_compared_is_refused_in_a_sentence(rows, words):
    with pytest.raises(ValueError, match=words):
        bt.compare(rows, "y", FAST)


def test_whole_numbers_rare_classes_and_few_rows_are_told():
    rng = np.random.default_rng(0)
    said = str(bt.compare({"x": rng.normal(size=41), "stars": [*rng.integers(1, 5, 40), 9]}, "stars", FAST, cv=5))
    assert "stars has 5 distinct whole numbers (at most 20)" in said
    assert "only 41 rows" in said
    assert "9 (1)" in said.replace("\n", " ")
    assert "note:" not in str(bt.compare(bands(), "label", FAST, cv=5))


def test_models_are_marked_by_one_standard_error_and_one_point_on_the_same_folds():
    result = bt.compare(bands(60), "label", FAST, cv=5)
    first = result.entries[0].validation
    for entry, standing in zip(result.entries[1:], result.advice.standings[1:], strict=True):
        test = entry.validation.against(first, "Brier score")
        assert standing.worse == pytest.approx(test.difference)
        assert min(standing.p, 1 - standing.p) == pytest.approx(test.corrected_t / 2)
        lost = first.mean("accuracy") - entry.validation.mean("accuracy")
        assert (entry in result.contenders) == (standing.worse <= standing.error and lost <= 0.01)


def test_of_two_classes_only_the_difference_of_the_weights_is_read():
    frame = bands()
    sizes = {entry.short: entry.size for entry in bt.compare(frame, "label", ["lda", "logistic"], cv=3).entries}
    assert sizes["lda"].words == sizes["logistic"].words


def test_text_is_left_to_the_models_that_take_it_and_the_largest_class_is_told():
    words = ["cheap prize claim now free money", "see you at home for dinner then", "call me when you are at work"]
    rows = {"text": [f"{words[i % 3]} {i}" for i in range(60)], "y": ["spam" if i % 3 == 0 else "ham" for i in range(60)]}
    result = bt.compare(rows, "y", ["majority", "c45", "cart", "nb", "lda"], cv=3, schema={"text": "text"})
    assert [entry.short for entry in result.entries] == ["nb", "majority"]
    assert "C4.5, CART, pruned by 1 SE, LDA (column 'text' is text" in str(result).replace("\n", " ")
    assert "always predicting ham: Brier score 0.222" in str(result)


def test_what_would_take_very_long_is_left_out_unless_it_is_named():
    rng = np.random.default_rng(0)
    rows = {"zip": [f"z{code}" for code in rng.integers(0, 900, 4000)], "y": rng.choice(["a", "b"], 4000)}
    problem = SupervisedProblem.of(rows, "y")
    there, skipped = participants(problem)
    assert {"lda", "qda", "logistic", "lasso"}.isdisjoint(participant.short for participant in there)
    assert "name the model in models to include it" in dict(skipped)["LDA"]
    assert [participant.short for participant in participants(problem, "lda")[0]] == ["lda"]


@pytest.mark.slow
def test_points_stand_below_each_other_in_the_scores_of_a_regression():
    rng = np.random.default_rng(0)
    x = rng.random(80)
    lines = str(bt.compare({"x": x, "price": 90 * (x > 0.5) + rng.normal(size=80)}, "price", cv=4)).splitlines()
    rows = lines[4 : lines.index("", 4)]
    assert len({line.index(".", 24) for line in rows}) == 1


def test_what_only_one_family_cannot_do_costs_the_others_nothing():
    class Odd(GaussianNB):
        def fit(self, X, y):
            raise TypeError("no such thing")

    result = bt.compare(bands()[["noise", "label"]], "label", {"odd": Odd(), "fine": GaussianNB()}, cv=3)
    assert "left out: odd (failed with TypeError: no such thing)" in str(result)


@pytest.mark.slow
@pytest.mark.parametrize("table", ["titanic", "mushroom", "iris", "vote", "penguins", "tennis", "cpu", "autos"])
def test_raw_tables_need_no_option_but_the_target(table):
    import io

    import reference

    frame = pd.read_csv(io.BytesIO(reference.read(f"data/{table}.csv")))
    frame = frame[::2] if table == "autos" else frame  # its 25 columns and six classes take longest by far
    result = bt.compare(frame, frame.columns[-1], cv=3, repeats=1)
    assert len(result.entries) >= 3
    assert max(map(len, str(result).splitlines())) <= 80


@pytest.mark.parametrize("columns", [["words"], ["words", "number"]])
def test_the_majority_class_is_listed_for_tables_with_text(columns):
    choice = np.random.default_rng(0)
    label = choice.integers(0, 3, 120) > 0
    words = [f"{'good fine' if yes else 'bad poor'} thing number {k}" for k, yes in enumerate(label)]
    table = pd.DataFrame({"words": words, "number": choice.normal(size=120), "label": np.where(label, "yes", "no")})
    result = bt.compare(table[[*columns, "label"]], "label", ["majority", "nb"], cv=3, schema={"words": "text"})
    assert [entry.short for entry in result.entries] == ["nb", "majority"]
    baseline = result.entries[1]
    assert baseline.name == "majority class"
    assert np.allclose(baseline.fitted.predict_proba(table[columns]), [1 - label.mean(), label.mean()])
    assert set(baseline.fitted.predict(table[columns])) == {"yes"}


def test_a_tree_with_tests_still_refuses_text():
    table = {"words": [f"thing number {k}" for k in range(30)], "y": ["a", "b"] * 15}
    for model in (bt.DecisionTreeClassifier(max_depth=1), bt.DecisionTreeClassifier(max_depth=0, branching="multiway")):
        with pytest.raises(ValueError, match="'words' is text"):
            model.set_params(schema={"words": "text"}).fit(table, "y")


def test_a_split_of_many_names_is_not_one_thing_to_read():
    name = np.arange(600) % 60
    rows = pd.DataFrame({"name": [f"n{k}" for k in name], "y": np.where(name % 3, "a", "b")})
    tree = bt.compare(rows, "y", ["cart"], cv=3).entries[0]
    assert tree.fitted.n_leaves_ == 2
    assert tree.size.numbers == 3 + 58
    assert tree.size.words == "60 levels"
    rules = bt.compare(rows, "y", ["c50-rules"], cv=3).entries[0]
    assert rules.size.numbers > 50


def test_a_split_of_single_levels_counts_its_nodes_only():
    rows = pd.DataFrame({"c": ["x", "y", "z"] * 40, "y": ["a", "b", "b"] * 40})
    assert bt.compare(rows, "y", ["c45"], cv=3).entries[0].size.numbers == 4


def test_r_squared_is_that_of_all_predictions_together():
    rng = np.random.default_rng(2)
    x = rng.normal(size=30)
    found = bt.compare({"x": x, "price": x + 0.5 * rng.normal(size=30)}, "price", ["linear"], cv=10, repeats=1)
    validation = found.entries[0].validation
    rows, answer, _ = validation.pooled
    y = validation.label.values[rows]
    pooled = 1 - ((y - answer) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert validation.overall("R²") == pytest.approx(pooled)
    assert validation.mean("R²") < pooled
    assert f"{pooled:.4f}" in str(found)
    assert found.to_dict()["models"][0]["R²"] == pytest.approx(pooled)
